"""Figures as one flat object of names and numbers, as MLflow and DVC take them."""

from __future__ import annotations

import json
import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from mipaudit.report.exchange.stored import figures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.report.exchange.stored import Figure, Stored

# MLflow takes these and a slash, at most 250 characters, and nothing that a path would shorten.
_PLAIN: Final = re.compile(r"\w[\w.-]{0,39}", re.ASCII)
_OTHER: Final = re.compile(r"[^A-Za-z0-9_.-]+|^\.+")
_LONGEST: Final = 31
_LONGEST_WORD: Final = 60
_OF_DATA: Final = frozenset({"score", "group", "versus", "report", "name"})
# What a case is called here: nobody can tell yet whether an open one is met; a skipped one is let
# pass, or there was nothing to judge.
_CASES: Final = {"passed": "met", "failed": "not_met"}
_STATUSES: Final = ("passed", "failed", "open", "waived", "skipped")


def metrics(stored: Stored) -> str:
    """Return one JSON object: a name for each number, none for a limit that there is not.

    A name is the quantity, what tells it apart (score, class of attackers), and ``at_least``,
    ``best_estimate``, ``at_most`` or, of what is known, ``value``. ``confidence`` is the least
    that a limit holds with, ``limits/met`` and its like count the limits of the policy.
    """
    found = figures(stored.report)
    sure = [one.confidence for one in found if one.confidence is not None]
    statuses = Counter(str(case.status) for case in stored.walk.cases)
    numbers = dict(_named(found))
    if sure:
        numbers["confidence"] = min(sure)
    numbers |= {f"limits/{_CASES.get(one, one)}": statuses[one] for one in _STATUSES}
    return json.dumps(numbers, indent=2, allow_nan=False) + "\n"


def _named(found: tuple[Figure, ...]) -> Iterator[tuple[str, float]]:
    """Yield names and numbers; figures that would have one name are numbered from the second.

    Capitals do not tell names apart: MLflow makes files of them, which some systems do not.
    """
    taken: Counter[str] = Counter()
    for one in found:
        name = "/".join((_word(one.of), *(_part(*label) for label in one.labels)))
        taken[plain := name.lower()] += 1
        name += f"/{taken[plain]}" if taken[plain] > 1 else ""
        for column, number in one.numbers:
            yield f"{name}/{column.replace(' ', '_') or 'value'}", number


def _part(label: str, text: str) -> str:
    """Return a part of a name; one of the data that has to change ends in a digest: none meet."""
    if label not in _OF_DATA or _PLAIN.fullmatch(text):
        return _word(text)
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_OTHER.sub('_', text)[:_LONGEST]}-{digest}"


def _word(text: str) -> str:
    return _OTHER.sub("_", text)[:_LONGEST_WORD] or "_"
