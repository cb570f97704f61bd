"""Figures, verdicts and codes of a JSON report of format `/3`: rows and checks are of one type.

Each row and each check is given the names that its kind had in `/2`, and is then taken as there:
so every old figure must be found, once, and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.golden.extract_v2 import extract as extract_v2

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.golden.result import Extract

Fields = dict[str, Any]


def extract(report: Fields) -> Extract:
    """Return what a report of format `/3` says."""
    kind = report["schema"].removeprefix("mipaudit.").removesuffix("/3")
    before = BEFORE.get(kind, dict)(report)
    return extract_v2(before | {"schema": f"mipaudit.{kind}/2"})


def _without(row: Fields, *names: str) -> Fields:
    return {name: value for name, value in row.items() if name not in names}


def _checks(report: Fields, subject: str | None) -> Fields:
    """Return a report whose checks nobody can waive, with what they limit as `subject`."""
    drop = ("quantity", "waived", "expired", *(("against",) if subject else ()))
    policy = [
        _without(one, *drop) | ({"subject": one[subject]} if subject else {})
        for one in report["policy"]
    ]
    return report | {"policy": policy}


def _attack(report: Fields) -> Fields:
    return _checks(report, "against")


def _attribute(report: Fields) -> Fields:
    return _checks(report, "quantity")


def _compare(report: Fields) -> Fields:
    return _checks(report, None)


# By kind: from a report to the same with the names of `/2`.
BEFORE: dict[str, Callable[[Fields], Fields]] = {
    "attack": _attack,
    "attribute": _attribute,
    "compare": _compare,
    "compare-reports": _compare,
}
