"""From a report and the same computed again to what agrees and what does not, value by value."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from mipaudit.commands.verify.report import VerifiedPart, VerifyReport
from mipaudit.model.message import Finding, Message
from mipaudit.options.public import without_effect
from mipaudit.report.codec import indented, is_page, taken_out, to_json
from mipaudit.statements.printable_names import first_names, safe_name
from mipaudit.statements.provenance import (
    Declaration,
    Provenance,
    as_of,
    provenance,
    time_of,
    waiver_day,
)
from mipaudit.statements.rounding import count_text
from mipaudit.statements.verdict import stale_waiver

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mipaudit.statements.any_report import AnyReport

_DRAWING: Final = rb'(?s)<div class="drawn".*?</div>'
TOLERANCE: Final = 1e-9
# What a JSON document holds.
Json: TypeAlias = Any
_ABSENT: Final = object()
_NAMED_PLACES: Final = 5
# The fields of a reason, a finding or a limitation.
_SAID: Final = {"text", "code", "values"}
_WORST_FIRST: Final = ("differs", "unknown", "added", "near", "equal")
_AS_STATED: Final = (
    "made at, by version, sources and places of settings, the policy's path{} are as stated, not "
    "checked"
)
_ADDED: Final = "{} was added to the format after the report was made"
LIMITATIONS: Final = (
    Message("verify_follows"),
    Message.of("verify_as_stated", declared=", ".join(one.name for one in fields(Declaration))),
    Message("verify_other_versions"),
)


def verification(data: bytes, report: AnyReport, again: AnyReport, *, digest: str) -> VerifyReport:
    """Return what agrees between a report and the same computed again.

    Args:
        data: the report's file: what this version would not read is compared too.
        report: what it holds.
        again: the same, computed again.
        digest: sha256 of the file.
    """
    then, now = report.provenance, again.provenance
    carried = json.loads(taken_out(data))
    same_version = then.mipaudit == now.mipaudit
    parts = (
        *_of_input(then, now),
        *_settings(report),
        *_values(carried, json.loads(to_json(again)), same_version=same_version),
        *_elsewhere(report),
        *_page(data, report, same_version=same_version),
        _as_stated(then),
        _versions(then, now),
    )
    return VerifyReport(
        command="verify",
        agrees=agree(parts),
        verified=report.command,
        report_sha256=digest,
        carried_sha256=sha256(indented(carried)).hexdigest() if is_page(data) else None,
        tolerance=TOLERANCE,
        made=then.created,
        made_by=then.mipaudit,
        parts=parts,
        findings=stale(report),
        limitations=LIMITATIONS,
        provenance=provenance(seed=now.seed, inputs=now.inputs, settings=()),
    )


def stale(report: AnyReport) -> tuple[Finding, ...]:
    """Return that a waiver of the report has expired since, which `render` says too."""
    found = stale_waiver(report)
    return () if found is None else (found,)


def agree(parts: Sequence[VerifiedPart]) -> bool:
    """Tell whether everything that counts agrees."""
    return all(part.status != "differs" for part in parts)


def compared_part(
    part: str, compared: int, differing: int, text: str, *, noted: bool = False
) -> VerifiedPart:
    """Return a part that agrees if nothing in it differs; what is noted does not count."""
    return VerifiedPart(
        part=part,
        status="noted" if noted else "differs" if differing else "agrees",
        compared=compared,
        differing=differing,
        text=text,
    )


def noted_part(part: str, text: str) -> VerifiedPart:
    """Return what is told, of which nothing was compared."""
    return compared_part(part, 0, 0, text, noted=True)


def _of_input(then: Provenance, now: Provenance) -> Iterator[VerifiedPart]:
    """Compare what was read, and the seeds that follow from it.

    Of an input its content and its rows count, not its name, which a copy need not keep.
    """
    old, new = (
        [(one.rows, one.bytes, one.sha256, one.fingerprint) for one in made.inputs]
        for made in (then, now)
    )
    lacking, count = abs(len(old) - len(new)), count_text(len(old))
    changed = [one.name for one, was, is_ in zip(then.inputs, old, new, strict=False) if was != is_]
    text = f"{count} read, of the same sha256 or fingerprint, and as many rows"
    if lacking:
        text = f"files in the report: {count}; read now: {count_text(len(new))}"
    elif changed:
        text = f"another content than the report's: {_few(changed)}"
    elif any(sha256 is None and fingerprint is None for *_, sha256, fingerprint in old):
        text = f"{count} read; data in memory and standard input may have no sha256"
    if old or new:
        yield compared_part("inputs", max(len(old), len(new)), lacking or len(changed), text)
    if then.seeds and then.seeds != now.seeds:
        text = "the seeds in use are not those that follow from the input and the settings"
        # Of fewer seeds none need be another one.
        differing = len(set(now.seeds) - set(then.seeds)) or 1
        yield compared_part("seeds in use", len(now.seeds), differing, text)
    if (then.seed, then.seed_origin) != (now.seed, now.seed_origin):
        yield compared_part("seed", 1, 1, "the seed is not that of the settings")


def _settings(report: AnyReport) -> Iterator[VerifiedPart]:
    """Tell which settings are stated that had no part in what was computed now."""
    stated = report.provenance.settings
    wrong = without_effect(report.command, stated)
    rejudged = getattr(report, "rejudged", None)
    if rejudged is not None:
        wrong += without_effect("rejudge", rejudged.settings)
    if getattr(report, "blind", None) is None:
        wrong += [one.name for one in stated if one.name == "blind" and one.value is not None]
    if wrong:
        text = "unknown, stated twice or stated falsely, and nothing follows from them: "
        text += _few(dict.fromkeys(wrong))
        yield compared_part("settings", len(stated), len(wrong), text)


def _values(then: Json, now: Json, *, same_version: bool) -> Iterator[VerifiedPart]:
    """Compare the two documents, but for the provenance, part by part."""
    for name in dict.fromkeys((*then, *now)):
        if name == "provenance":
            continue
        if name not in then and not same_version:
            yield noted_part(name, _ADDED.format("the part"))
        # A part that is empty in both is one that this report does not have.
        elif name not in then or name not in now or then[name] or now[name]:
            # An absent part is compared as a field of the whole: it is told apart from null.
            old, new = ({name: one[name]} if name in one else {} for one in (then, now))
            yield values_part(name, old, new, same_version=same_version)


def _elsewhere(report: AnyReport) -> Iterator[VerifiedPart]:
    """Say what was not computed again: what the records alone tell."""
    blind = getattr(report, "blind", None)
    if blind is not None:
        sha = blind.report_sha256
        which = "" if sha is None else f", of sha256 {safe_name(sha)}"
        text = f"taken from this report; the report of mipaudit shift{which}, is verified by itself"
        yield noted_part("records alone", text)


def _page(data: bytes, report: AnyReport, *, same_version: bool) -> Iterator[VerifiedPart]:
    """Compare what a page shows with what its report says: a reader sees the page alone."""
    if not is_page(data):
        return
    words = re.sub(_DRAWING, b"", data)
    again = (one for one in _drawn_again(report) if re.sub(_DRAWING, b"", one) == words)
    drawn = next(again, None)
    if drawn == data:
        yield compared_part("page", 1, 0, "drawn again from the report that it carries: the same")
    elif not same_version:
        text = "drawn by another version: what it shows was not compared with what it carries"
        yield noted_part("page", text)
    elif drawn is not None:
        text = "its words are those of its report; its pictures were drawn otherwise, not compared"
        yield noted_part("page", text)
    else:
        yield compared_part("page", 1, 1, "it does not show what the report that it carries says")


def _drawn_again(report: AnyReport) -> Iterator[bytes]:
    """Yield the pages that may show a report: while its waivers held, or since; folded, or whole.

    The likeliest comes first, since a page takes a while to draw.
    """
    from mipaudit.report.forms import report_as

    made = time_of((getattr(report, "rejudged", None) or report.provenance).created)
    for day in dict.fromkeys((made.date(), waiver_day())):
        for full in (False, True):
            with as_of(made, day):
                page = report_as(report, "html", full=full).encode()
            yield page


def _as_stated(then: Provenance) -> VerifiedPart:
    names = " and input names" if then.declared is None else ", input names and what was declared"
    return noted_part("as stated", _AS_STATED.format(names))


def _versions(then: Provenance, now: Provenance) -> VerifiedPart:
    """Tell what ran then and runs now, where it is not the same."""
    old, new = (
        {"mipaudit": one.mipaudit, "Python": one.python, **one.libraries, "platform": one.platform}
        for one in (then, now)
    )
    both = [name for name in old if None not in (old[name], new.get(name))]
    changed = [
        f"{safe_name(name)} {safe_name(str(old[name]))} then, {new[name]} now"
        for name in both
        if old[name] != new[name]
    ]
    text = "; ".join(changed) or "the same then and now"
    return compared_part("versions", len(both), len(changed), text, noted=bool(changed))


class Pair(NamedTuple):
    """One value of a report and of the other.

    Attributes:
        place: where, as ``estimates[3].lower``.
        status: ``equal``, ``near`` (numbers within the tolerance), ``differs``, ``added`` (the
            other has a field that the report lacks) or ``unknown`` (the other way round).
        gap: between two numbers that are not equal.
    """

    place: str
    status: str
    gap: float | None = None


def values_part(name: str, then: Json, now: Json, *, same_version: bool) -> VerifiedPart:
    """Return whether the values of a part are the same, and where they are not.

    What a later version added to the format is told, and is no difference.
    """
    found = [*pairs(then, now, "")]
    times = Counter(one.status for one in found)
    counting = {"differs", "unknown", "added"} if same_version else {"differs", "unknown"}
    wrong = [one for one in found if one.status in counting]
    told = 0 if same_version else times["added"]
    near, compared = times["near"], len(found) - told
    text = "1 value" if compared == 1 else f"{count_text(compared)} values"
    if wrong:
        # A field's name may come from a file that anybody wrote.
        text = f"{count_text(len(wrong))} of {text}: {_few(one.place[1:] for one in wrong)}"
        gaps = [one.gap for one in wrong if one.gap is not None]
        text += f" (numbers by up to {max(gaps):.3g})" if gaps else ""
    else:
        text += " the same"
        text += f", {count_text(near)} of them within {TOLERANCE:g}" if near else ""
        text += f"; {_ADDED.format(f'{count_text(told)} more')}" if told else ""
    return compared_part(name, compared, len(wrong), text)


def _few(names: Iterable[str]) -> str:
    return first_names([*map(safe_name, names)], _NAMED_PLACES)


def pairs(report: Json, other: Json, place: str) -> Iterator[Pair]:
    """Yield every value of two parsed JSON documents, leaf by leaf.

    An empty list or object is a leaf. A field of one document alone is one pair. What is said
    is one value: its code, what it names and its sentence; but for how grave it is.
    """
    if report is _ABSENT or other is _ABSENT:
        yield Pair(place, "added" if report is _ABSENT else "unknown")
    elif isinstance(report, dict) and isinstance(other, dict) and (report or other):
        is_said = report.keys() & other.keys() >= _SAID
        said: list[Pair] = []
        for name in dict.fromkeys((*report, *other)):
            one, another = report.get(name, _ABSENT), other.get(name, _ABSENT)
            found = pairs(one, another, f"{place}.{name}")
            if is_said and not ("serious" in other and name in {"code", "serious"}):
                said += found
            else:
                yield from found
        yield from sorted(said, key=lambda one: _WORST_FIRST.index(one.status))[:1]
    elif isinstance(report, list) and isinstance(other, list) and (report or other):
        for at, (one, another) in enumerate(zip(report, other, strict=False)):
            yield from pairs(one, another, f"{place}[{at}]")
        # A row more or less is no field that a later version added.
        for at in range(*sorted((len(report), len(other)))):
            yield Pair(f"{place}[{at}]", "differs")
    else:
        yield _leaf(report, other, place)


def _leaf(report: Json, other: Json, place: str) -> Pair:
    if not (_is_number(report) and _is_number(other)):
        same = type(report) is type(other) and report == other
        return Pair(place, "equal" if same else "differs")
    if report == other:
        return Pair(place, "equal")
    near = math.isclose(report, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    # A count is a count: 20,000 records are not 20,001.
    near = near and not (isinstance(report, int) and isinstance(other, int))
    return Pair(place, "near" if near else "differs", abs(report - other))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
