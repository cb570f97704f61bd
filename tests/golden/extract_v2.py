"""Figures, verdicts and codes of a JSON report of format `/2`, whatever its command.

Written once, before the work that it holds to account, and not changed since. Every number and
every decision of a report is taken, by walking through it: none can be forgotten here. The tables
below only say under which key, and what passes with the machine and the day.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tests.golden.result import Extract, Figure, Key

# The names of what a row is about, and their places in a key.
SLOTS = {
    "score": "score",
    "query": "score",
    "score_column": "score",
    "group": "group",
    "attackers": "attackers",
    "against": "attackers",
    "short_against": "attackers",
    "adversary": "attackers",
    "confidence": "confidence",
}
# Other names of what a row is about.
APART = {
    *("adjacency", "aspect", "calibration", "column", "direction", "drawn", "estimand", "figure"),
    *("game", "kind", "label", "mechanism", "metric", "name", "numerator", "of", "order", "part"),
    *("protects", "quantity", "report", "role", "scaled_by", "scenario", "scope", "shape", "sides"),
    *("source", "subject", "treated", "validity", "versus", "what"),
}
# Names that tell rows apart in some lists alone. The method of an estimate is a sentence.
WORDS = {
    "epsilon.statements": ("method",),
    "bounds.refuted.limits": ("method",),
    "validation.limits": ("side",),
    "validation.rows": ("side",),
    "validation.failures": ("side",),
    "validation.exact": ("side",),
}
# Numbers by which rows are told apart. All others are figures.
NUMBERS = {
    "report.estimates": ("fpr",),
    "report.claims": ("epsilon", "delta"),
    "report.policy": ("limit", "fpr", "prior"),
    "report.mace_cells": ("cell",),
    "report.curves.roc": ("fpr",),
    "report.blind.limits": ("error",),
    "attack.optimum": ("fpr",),
    "bounds.attacker": ("prior",),
    "bounds.other_readings": ("prior",),
    "bounds.needed": ("delta", "sensitivity"),
    "bounds.tuned": ("runs",),
    "bounds.refuted.limits": ("sides",),
    "compare.advantages": ("fpr",),
    "compare.policy": ("limit",),
    "compare-reports.changes": ("fpr",),
    "compare-reports.policy": ("limit",),
    "epsilon.profile": ("delta",),
    "epsilon.claim.power": ("true_epsilon",),
    "history.advantages": ("prior",),
    "query.approximate.found": ("neighbours",),
    "query.curves.roc": ("fpr",),
    "model-query.curves.roc": ("fpr",),
    "records.estimates": ("fpr",),
    "records.bands": ("low", "high"),
    "records.cells": ("cell",),
    "records.top": ("row",),
    "records.policy": ("limit", "fpr", "prior"),
    "shift.estimates": ("fpr",),
    "shift.limits": ("error",),
    "shift.policy": ("limit", "fpr", "prior"),
    "attack.policy": ("limit",),
    "attribute.policy": ("limit",),
    "truth.truths": ("fpr", "delta"),
    "validation.limits": ("records",),
    "validation.rows": ("n_members", "n_holdout", "prior"),
    "validation.failures": ("n_members", "n_holdout", "prior"),
    "validation.exact": ("records", "prior"),
    "validation.detectable": ("replications",),
}
# What the rows of a list are about, where no field of theirs says it.
QUANTITIES = {
    "report.mace_cells": "risk",
    "report.curves.roc": "tpr_at_fpr",
    "attack.attacks": "advantage",
    "attack.groups": "advantage",
    "attack.together": "advantage",
    "attack.gaps": "generalization_gap",
    "attribute.by_value": "attribute_advantage",
    "compare.ranking": "rank",
    "epsilon.statements": "epsilon",
    "epsilon.profile": "epsilon",
    "history.advantages": "advantage",
    "records.cells": "risk",
    "records.top": "risk",
    "records.groups": "advantage",
    "query.curves.roc": "tpr_at_fpr",
    "model-query.curves.roc": "tpr_at_fpr",
}
# Lower limit, value and upper limit, by their fields: the first that a row has.
LIMITS = (
    ("lower", "value", "upper"),
    ("lower", "risk", "upper"),
    ("lower", "estimate", "upper"),
    ("lower", "tpr", "upper"),
    ("at_least", None, "at_most"),
    ("lower", None, "upper"),
)
# Further figures with limits of the same row: what they are of, and their fields.
FURTHER = {
    "pointwise": ("lower_pointwise", None, "upper_pointwise"),
    "adjusted": ("adjusted_lower", None, "adjusted_upper"),
    "difference": ("difference_lower", "difference", "difference_upper"),
    "short": ("short_lower", None, "short_upper"),
    "epsilon": ("epsilon_lower", None, "epsilon_upper"),
    "mu": ("mu_lower", None, "mu_upper"),
}
# Words that decide or promise something.
DECIDED = {
    *("status", "verdict", "differs", "speaks_for", "shown", "side", "judged_on", "rests_on"),
    *("lower_from", "entropy", "on_inconclusive"),
}
# Numbers that are no figures: compared only between reports of one format.
COUNTED = {
    *("curves.bins", "design", "rejudged", "query.columns", "query.tables", "truth.parameters"),
    *("truth.rows", "scenarios", "steps", "reports", "approximate.lists", "approximate.probes"),
    "verification.parts",
}
# Passes with the machine and the day, or is text; the seeds and rows of provenance are taken.
PASSING = {
    *("schema", "provenance", "summary", "text", "reason", "created", "mipaudit", "following"),
    *("seconds", "memory_bytes", "processors", "temporary_bytes", "libraries", "bytes"),
    *("report_sha256", "carried_sha256", "sha256", "inputs", "settings", "release", "until"),
    *("findings", "limitations", "reasons", "rests_on", "installed"),
}


def extract(report: dict) -> Extract:
    """Return what a report of format `/2` says."""
    kind = report["schema"].removeprefix("mipaudit.").removesuffix("/2")
    found = Extract()
    design = report.get("design") or {}
    start = Key(
        confidence=_number(design.get("confidence")) if kind != "validation" else "",
        score=design.get("score_column", ""),
    )
    _row(report, kind, start, found)
    if design.get("alone") is not None:
        key = replace(start, quantity="alone", score=design["score_columns"][0])
        found.figures.append(Figure(str(key), design["alone"], None, None))
    for finding in report.get("findings", ()):
        found.codes.append(f"finding:{finding['code']}")
        if finding.get("serious"):
            found.codes.append(f"serious:{finding['code']}")
    origin = report["provenance"]
    for seed in origin.get("seeds", ()):
        found.verdicts.append((f"seed|{seed['score'] or ''}|{seed['decides']}", seed["seed"]))
    for place, file in enumerate(origin["inputs"]):
        found.others.append((f"input {place} rows", str(file["rows"])))
    found.figures = _told_apart(found.figures)
    return found


def _row(row: dict, path: str, key: Key, found: Extract) -> None:
    """Take what a row has, and what is in it."""
    key = _key_of(row, path, key)
    taken = set(NUMBERS.get(path, ()))
    limits = [each for each in LIMITS if set(filter(None, each)) <= set(row)]
    limits = limits or [each for each in LIMITS[:1] if {"lower", "upper"} & set(row)]
    if isinstance(row.get("confidence"), float):
        taken.add("confidence")  # it is in the key
    if path != kind_of(path):
        taken.update(("n_members", "n_holdout"))  # likewise
    if limits and not _counted(path):
        _figure(row, limits[0], key, found)
        taken.update(filter(None, limits[0]))
    for name, further in FURTHER.items():
        if set(row) & set(further) - taken and set(filter(None, further)) <= set(row):
            of = replace(key, quantity=f"{key.quantity}.{name}")
            _figure(row, further, of, found)
            taken.update(filter(None, further))
    for name, value in row.items():
        if name == "sha256" and path.endswith(".scores"):
            found.others.append((f"{key}|{name}", str(value)))
        elif name not in PASSING | taken:
            _field(name, value, path, key, found)


def _field(name: str, value: object, path: str, key: Key, found: Extract) -> None:
    """Take one field of a row: a decision, a name that is in its key, or what is within."""
    if name in WORDS.get(path, ()):
        return
    if isinstance(value, bool) or (name in DECIDED and isinstance(value, str)):
        place = found.others if _counted(path) else found.verdicts
        place.append((f"{key}|{name}", str(value).lower()))
    elif name in ("waived", "expired") and not isinstance(value, int):
        found.verdicts.append((f"{key}|{name}", "yes" if value else "no"))
    elif not isinstance(value, str):
        _within(value, f"{path}.{name}", _named(key, name), found)


def _within(value: object, path: str, key: Key, found: Extract) -> None:
    """Take a number, or all that a list or a table of numbers has."""
    if isinstance(value, dict):
        if all(isinstance(each, (int, float)) for each in value.values()):
            for name, each in value.items():
                _within(each, path, replace(key, apart=(*key.apart, f"at={name}")), found)
        else:
            _row(value, path, key, found)
    elif isinstance(value, list):
        for place, each in enumerate(value):
            if isinstance(each, dict):
                _row(each, path, _at(key, place) if path.endswith(".bins") else key, found)
            elif isinstance(each, str):
                found.others.append((f"{_at(key, place)}|{path}", each))
            else:
                _within(each, path, _at(key, place), found)
    elif isinstance(value, (int, float)):
        if _counted(path):
            found.others.append((f"{key}|{path}", _number(value)))
        else:
            found.figures.append(Figure(str(key), None, value, None))


def _key_of(row: dict, path: str, key: Key) -> Key:
    """Return the key of a row within what it stands in."""
    named = {slot: row[name] for name, slot in SLOTS.items() if isinstance(row.get(name), str)}
    if isinstance(row.get("confidence"), float):
        named["confidence"] = _number(row["confidence"])
    if {"n_members", "n_holdout"} <= set(row) and path != kind_of(path):
        named["n"] = f"{row['n_members']}/{row['n_holdout']}"
    names = APART.union(WORDS.get(path, ()))
    apart = [
        f"{name}={row[name]}" for name in names - {"quantity"} if isinstance(row.get(name), str)
    ]
    for name in NUMBERS.get(path, ()):
        if name in ("epsilon", "delta"):
            named[name] = _number(row[name])
        elif row.get(name) is not None:
            apart.append(f"{name}={_number(row[name])}")
    quantity = row.get("quantity") or QUANTITIES.get(path)
    if quantity:
        named["quantity"] = quantity
    return replace(key, **named, apart=(*key.apart, *apart))


def _figure(row: dict, limits: tuple, key: Key, found: Extract) -> None:
    lower, value, upper = (None if name is None else row.get(name) for name in limits)
    found.figures.append(Figure(str(key), lower, value, upper))


def _named(key: Key, name: str) -> Key:
    return replace(key, quantity=f"{key.quantity}.{name}".removeprefix("."))


def kind_of(path: str) -> str:
    """Return the kind of report in which a path begins: the path of the report itself."""
    return path.split(".", maxsplit=1)[0]


def _at(key: Key, place: int) -> Key:
    return replace(key, apart=(*key.apart, f"place={place}"))


def _counted(path: str) -> bool:
    return any(f".{each}." in f".{path}." for each in COUNTED)


def _number(value: object) -> str:
    return "" if value is None else repr(value)


def _told_apart(figures: list[Figure]) -> list[Figure]:
    """Number figures of one key by their size: a figure said twice has a key of its own."""
    seen: Counter[str] = Counter()
    numbered = []
    for figure in sorted(figures, key=lambda each: (each.key, *map(_size, _limits(each)))):
        seen[figure.key] += 1
        number = seen[figure.key]
        key = figure.key if number == 1 else f"{figure.key}#{number}"
        numbered.append(replace(figure, key=key))
    return numbered


def _limits(figure: Figure) -> tuple[float | None, ...]:
    return figure.lower, figure.value, figure.upper


def _size(value: float | None) -> tuple[bool, float]:
    return value is not None, value or 0.0
