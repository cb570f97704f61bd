"""Compares what two programs gave for one list of runs, and knows what may differ."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Why a figure may differ: LESS.md, "What stays".
REASONS = {
    "learner": "metrics, vectors and differences under the one learner",
    "blind": "blind verdicts",
    "refused": "numbers that are refused",
    "reordered": "streamed files that the one regime reorders, never up to 2^21 rows",
    "went": "what an item of what goes removed",
    "told": "a caveat that had not been told",
}
# Codes that every format has; limitations and reasons have none in `/2`.
CODES = ("finding:", "serious:", "error:", "says:", "before:")
NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Fault:
    """One difference: in which run, of what, and both sides as text; empty where it is not."""

    run: str
    what: str
    old: str
    new: str

    def __str__(self) -> str:
        """Return the difference as a line."""
        return f"{self.run}: {self.what}: {self.old or 'nothing'} -> {self.new or 'nothing'}"


def differences(old: dict, new: dict, *, near: bool = False) -> list[Fault]:
    """Return how the results of `new` differ from those of `old`, both by the names of runs.

    Floats must be the same to the last bit, or, with `near`, within 1e-9, as on another processor.
    """
    found = [Fault(name, "run", "there", "") for name in old if name not in new]
    found += [Fault(name, "run", "", "there") for name in new if name not in old]
    for name, result in old.items():
        if name in new:
            found += _of_run(name, result, new[name], near=near)
    return found


def _of_run(name: str, old: dict, new: dict, *, near: bool) -> Iterator[Fault]:
    if old["exit"] != new["exit"]:
        yield Fault(name, "exit", str(old["exit"]), str(new["exit"]))
    yield from _figures(name, old["figures"], new["figures"], near=near)
    yield from _counted(name, "verdict", map(tuple, old["verdicts"]), map(tuple, new["verdicts"]))
    alike = old["format"] == new["format"]
    codes = (
        [(code, "there") for code in each["codes"] if alike or code.startswith(CODES)]
        for each in (old, new)
    )
    yield from _counted(name, "code", *codes)
    if alike and not near:
        yield from _counted(name, "other", map(tuple, old["others"]), map(tuple, new["others"]))
    if not near:
        yield from _counted(name, "file", old["files"].items(), new["files"].items())


def _figures(name: str, old: list, new: list, *, near: bool) -> Iterator[Fault]:
    """Hold every old figure against the one new figure of its key."""
    before = {key: limits for key, *limits in old}
    seen = Counter(key for key, *_ in new)
    after = {key: limits for key, *limits in new}
    for key in before.keys() - after.keys():
        yield Fault(name, f"figure {key}", _text(before[key]), "")
    for key, times in sorted(seen.items()):
        if key not in before or times > 1:
            doubled = times > 1 or key.partition("#")[0] in before
            what = "doubled" if doubled else "extra"
            yield Fault(name, f"{what} figure {key}", "", _text(after[key]))
        elif not all(map(_near if near else _same, before[key], after[key])):
            yield Fault(name, f"figure {key}", _text(before[key]), _text(after[key]))


def _counted(name: str, what: str, old, new) -> Iterator[Fault]:
    """Hold two bags of (key, word) against each other."""
    before, after = Counter(old), Counter(new)
    gone, come = before - after, after - before
    changed, had = dict(come.keys()), dict(gone.keys())
    for key, word in sorted(gone.elements()):
        yield Fault(name, f"{what} {key}", word, changed.get(key, ""))
    for key, word in sorted(come.elements()):
        if key not in had:
            yield Fault(name, f"{what} {key}", "", word)


def _same(old: float | None, new: float | None) -> bool:
    return _hex(old) == _hex(new)


def _near(old: float | None, new: float | None) -> bool:
    if old is None or new is None:
        return old is new
    return math.isclose(old, new, rel_tol=NEAR, abs_tol=NEAR)


def _hex(value: float | None) -> str:
    return "none" if value is None else float(value).hex()


def _text(limits: list[float | None]) -> str:
    """Return lower limit, value and upper limit so that no bit is lost."""
    return " ".join("none" if value is None else repr(float(value)) for value in limits)


def read_changes(path: Path) -> list[dict[str, str]]:
    """Return the differences that are meant.

    Raises:
        ValueError: an entry has another reason, or leaves open what it is about.
    """
    changes = tomllib.loads(path.read_text("utf-8")).get("change", [])
    for change in changes:
        if change.get("reason") not in REASONS:
            raise ValueError(f"{path.name}: the reason of {change} is none of {', '.join(REASONS)}")
        whole = {"run"} if change["reason"] == "went" else {"run", "what", "old", "new"}
        if not whole <= set(change) <= {"run", "what", "old", "new", "reason"}:
            raise ValueError(f"{path.name}: {change} must have run, what, old, new and reason")
        if change["run"] == "*" and not change.get("what", "").startswith("code "):
            raise ValueError(f"{path.name}: only a code may go from all runs, not {change}")
    return changes


def unexpected(faults: list[Fault], changes: list[dict[str, str]]) -> list[str]:
    """Return the faults that no entry names, and the entries that nothing needs, as lines."""
    used = [False] * len(changes)
    left = []
    for fault in faults:
        places = [place for place, change in enumerate(changes) if _names(change, fault)]
        for place in places:
            used[place] = True
        left.extend([] if places else [str(fault)])
    idle = (change for change, needed in zip(changes, used, strict=True) if not needed)
    return left + [f"changed.toml: does not occur: {change}" for change in idle]


def _names(change: dict[str, str], fault: Fault) -> bool:
    if change["run"] not in (fault.run, "*"):
        return False
    if change["reason"] == "went" and "what" in change and "new" not in change:
        # Nothing may stand in the place of what went. A last star names all that begin so.
        if fault.new or not change["what"].endswith("*"):
            return change["what"] == fault.what and not fault.new
        return fault.what.startswith(change["what"][:-1])
    given = ((each, getattr(fault, each)) for each in ("what", "old", "new"))
    return all(change.get(name, text) == text for name, text in given)
