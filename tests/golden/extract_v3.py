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
    found = extract_v2(before | {"schema": f"mipaudit.{kind}/2"})
    # What `/2` did not have, such as the sizes of rows that said none, is held against `/3`.
    for name, value in report.items():
        for place, row in enumerate(value if isinstance(value, list) else ()):
            if isinstance(row, dict) and {"lower", "upper"} <= row.keys():
                found.others += [
                    (f"{name} {place} {each}", repr(number))
                    for each, number in row.items()
                    if isinstance(number, (int, float))
                ]
    return found


ATTACK_FIGURES = ("tpr", "fpr", "same_rows", "predicted")


def _limits(row: Fields) -> Fields:
    return {name: row[name] for name in ("lower", "value", "upper")}


def _subject(row: Fields) -> tuple[Any, ...]:
    return row["score"], row["attackers"], row["group"]


def _by_subject(rows: list[Fields]) -> dict[tuple[Any, ...], dict[str, Fields]]:
    """Return rows by what they are about, and then by their quantity."""
    found: dict[tuple[Any, ...], dict[str, Fields]] = {}
    for row in rows:
        found.setdefault(_subject(row), {})[row["quantity"]] = row
    return found


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
    details = _by_subject(report["details"])

    def attack(row: Fields) -> Fields:
        beside = details.get(_subject(row), {})
        short = beside.get("shortfall", {})
        known = {name: beside.get(name, {}).get("value") for name in ATTACK_FIGURES}
        return (
            _limits(row)
            | known
            | {
                "score": row["score"],
                "adversary": row["attackers"],
                "source": row["method"],
                "group": row["group"],
                "validity": row["validity"],
                "judged_on": row["selection"],
                "n_members": row["n_members"],
                "n_holdout": row["n_holdout"],
                "short_lower": short.get("lower"),
                "short_upper": short.get("upper"),
                "short_against": short.get("versus"),
            }
        )

    bound = report["design"]["loss_bound"]
    return _checks(report, "against") | {
        "attacks": [attack(row) for row in report["attacks"]],
        "groups": [attack(row) for row in report["groups"]],
        "details": [],
        "gaps": [
            _limits(row) | {"score": row["score"], "bound": bound, "order": row["method"]}
            for row in report["gaps"]
        ],
        "together": [
            {"score": row["score"], "lower": row["lower"], "rests_on": row["method"]}
            for row in report["together"]
        ],
    }


def _attribute(report: Fields) -> Fields:
    shares = _by_subject(report["shares"])

    def value(row: Fields) -> Fields:
        beside = shares.get(_subject(row), {})
        return _limits(row) | {
            "name": row["group"],
            "n_members": row["n_members"],
            "n_holdout": row["n_holdout"],
            "right_members": beside.get("right_of_members", {}).get("value"),
            "right_holdout": beside.get("right_of_holdout", {}).get("value"),
        }

    return _checks(report, "quantity") | {
        "figures": [_limits(row) | {"quantity": row["quantity"]} for row in report["figures"]],
        "by_value": [value(row) for row in report["by_value"]],
        "shares": [],
    }


def _compare(report: Fields) -> Fields:
    ranking = [
        _without(row, "lower", "value", "upper") | {"estimate": row["value"]}
        for row in report["ranking"]
    ]
    return _checks(report, None) | {"ranking": ranking}


NOTHING = dict.fromkeys(("lower", "value", "upper", "lower_reason"))
# By what a message says.
LOWER_FROM = {
    "not in the report: the figure of blind guessing is used instead": "trivial",
    "not in the report: computed from the TPR at the report's largest FPR": "tpr_at_fpr",
}


def _compare_reports(report: Fields) -> Fields:
    def key(row: Fields, name: str) -> tuple[Any, ...]:
        return (name, *(row[each] for each in ("score", "quantity", "attackers", "fpr", "metric")))

    figures = {key(row, row["report"]): row for row in report["figures"]}

    def figure(row: Fields) -> Fields:
        reason = row["lower_reason"]
        reason = reason["text"] if isinstance(reason, dict) else reason
        stored = None if row["lower"] is None else "stored"
        return _limits(row) | {"lower_from": LOWER_FROM[reason] if reason else stored}

    def change(row: Fields) -> Fields:
        lower, upper = row["lower"], row["upper"]
        more, less = (lower or 0) > 0, (upper or 0) < 0
        return _without(row, "n_members", "n_holdout", "side", "confidence", "plugin") | {
            "old": figure(figures.get(key(row, row["versus"]), NOTHING)),
            "new": figure(figures.get(key(row, row["report"]), NOTHING)),
            "shown": "increase" if more else "decrease" if less else "open",
        }

    beside: dict[tuple[str, ...], Fields] = {}
    names = {"class_beside_any": ("at_most", "upper"), "any_beside_class": ("at_least", "lower")}
    for row in report["beside_any"]:
        of = {each: row[each] for each in ("score", "report", "versus", "attackers")}
        old, new = names[row["quantity"]]
        beside.setdefault(tuple(of.values()), of)[old] = row[new]
    return _checks(report, None) | {
        "changes": [change(row) for row in report["changes"]],
        "figures": [],
        "beside_any": list(beside.values()),
    }


def _estimate(report: Fields) -> Fields:
    cells = [
        {name: row[name] for name in ("score", "cell", "lower", "upper")}
        | {"members": row["n_members"], "holdout": row["n_holdout"], "risk": row["value"]}
        for row in report["mace_cells"]
    ]
    return report | {"mace_cells": cells}


def _bounds(report: Fields) -> Fields:
    bounds = [_without(one, "advantage") | {"value": one["advantage"]} for one in report["bounds"]]
    return report | {"bounds": bounds}


TRIED = ("canaries", "guesses", "correct", "guessed_in", "guessed_out", "tried")


def _epsilon(report: Fields) -> Fields:
    points = [
        {name: row[name] for name in ("score", "delta", "lower")} | {"estimate": row["value"]}
        for row in report["profile"] or ()
    ]
    first = report["statements"][0]["method"] if report["design"]["kind"] != "one-model" else None

    def statement(row: Fields) -> Fields:
        counts, of_run = row["counts"], "canaries" in row["counts"]
        made = {name: counts.get(name) for name in TRIED if of_run} | {"direction": row["side"]}
        judged = counts | {name: row[name] for name in ("n_members", "n_holdout")}
        judged |= {"direction": row["side"], "numerator": row["selection"]}
        return {name: row[name] for name in ("method", "validity", "lower", "mu_lower")} | {
            "score": row["score"] or None,
            "decides": row["method"] == first,
            "lower_reason": row["lower_reason"],
            "estimate": row["value"],
            "confidence": row["confidence"],
            "attack": judged if counts and not of_run else None,
            "guesses": made if of_run else None,
        }

    statements = list(map(statement, report["statements"]))
    return report | {"profile": points or None, "statements": statements}


def _records(report: Fields) -> Fields:
    found = {row["group"]: row for row in report["estimates"] if row["quantity"] == "difference"}

    def group(row: Fields) -> Fields:
        other = found.get(row["group"], {})
        lower, upper = (other.get(name) for name in ("lower", "upper"))
        more, less = (lower or 0) > 0, (upper or 0) < 0
        return {
            "group": row["group"],
            "members": row["n_members"],
            "holdout": row["n_holdout"],
            "lower": row["lower"],
            "value": row["value"],
            "difference": other.get("value"),
            "difference_lower": lower,
            "difference_upper": upper,
            "differs": "higher" if more else "lower" if less else "not shown",
        }

    return report | {"groups": [group(row) for row in report["groups"]]}


# By kind: from a report to the same with the names of `/2`.
def _noise(report: Fields) -> Fields:
    if report.get("entropy") is None:
        return report
    applied = {"entropy": report["entropy"], "n_coordinates": report["dimension"]}
    return _without(report, "entropy") | {"applied": applied}


BEFORE: dict[str, Callable[[Fields], Fields]] = {
    "report": _estimate,
    "bounds": _bounds,
    "epsilon": _epsilon,
    "records": _records,
    "noise": _noise,
    "attack": _attack,
    "attribute": _attribute,
    "compare": _compare,
    "compare-reports": _compare_reports,
}
