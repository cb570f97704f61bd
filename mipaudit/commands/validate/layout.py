"""What a report of ``validate`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Cases, Column, Layout, Table

_MARK: Final = "[!{falls_short:said}]"
_PROMISED: Final = Column("promised", "{nominal:rounded}")
_OVERALL: Final = (
    Column("limit", "{label}"),
    Column("side", "{side}"),
    _PROMISED,
    Column("worst coverage", "{value:least}" + _MARK),
    Column("false alarms", "[{false_alarms:most}][-{false_alarms:unless}]"),
    Column("mean gap to truth", "{mean_gap:value}"),
)
_OURS: Final = (("source", ("mipaudit",)),)

LAYOUT: Final = Layout(
    about=(
        "Form: {design.form}, {methods}. Scenarios: {scenarios:count}. Records per file: "
        "{design.sizes:counts}. Priors: {design.priors:numbers}. Files per cell: "
        "{design.replications:count}. With mipaudit {provenance.mipaudit}, Python "
        "{provenance.python}[, {numeric:names}]."
    ),
    tables=(
        Table(
            "Falls short",
            "failures",
            (
                Column("limit", "{label}"),
                Column("side", "{side}"),
                Column("scenario", "{scenario}"),
                Column("order", "{order}"),
                Column("records", "{n_members:count}+{n_holdout:count}"),
                Column("prior", "{prior:number}"),
                _PROMISED,
                Column("coverage", "{coverage:least}"),
                Column("misses", "{misses:count}"),
                Column("files", "{replications:count}"),
                Column("p", "{p_value:two_digits}"),
            ),
            short=None,
        ),
        Table(
            "Limits that mipaudit prints (slightly less than promised can be chance)",
            "ours",
            _OVERALL,
            short=None,
            picture="intervals",
            of="how often the limit was right",
            allowed=("nominal", "the promise"),
        ),
        Table("Other methods on the same files", "theirs", _OVERALL, short=3),
        Table(
            "Methods that are known to be invalid, on files without any leak",
            "controls",
            (
                Column("method", "{label}"),
                Column("caught", "[yes{caught:said}][NO{caught:unless}]"),
                _PROMISED,
                Column("misses", "{misses:count}"),
                Column("files", "{replications:count}"),
                Column("what it does", "{description:text}"),
            ),
            prose=True,
            marked=("caught", (False,)),
        ),
        Table(
            "Where few files exist, over all of them: members have the value 1 with probability T, "
            "holdout records with F",
            "exact_worst",
            (
                Column("limit", "{label}"),
                Column("side", "{side}"),
                _PROMISED,
                Column("least coverage", "{coverage:least}" + _MARK),
                Column("records", "{records:count}"),
                Column("prior", "{prior:number}"),
                Column("T", "{tpr:number}"),
                Column("F", "{fpr:best}"),
                Column(
                    "says", "[finite-sample{finite_sample:said}][approximate{finite_sample:unless}]"
                ),
            ),
            short=3,
        ),
        Table(
            "Cell by cell",
            "cells",
            (
                Column("scenario", "{scenario}"),
                Column("prior", "{prior:number}"),
                Column("records", "{sizes:sizes}"),
                Column("coverage", "{coverage:each_least}" + _MARK),
                Column("median gap", "{gaps:each_value}"),
            ),
            by=("label", "side"),
            caption="{row.label}, {row.side} (promises {row.nominal:rounded})",
            marked=("falls_short", (True,)),
        ),
    ),
    terms=(
        ("coverage", "share of the files in which the limit was on the right side of the truth"),
        (
            "false alarms",
            "share of the files with nothing to find whose lower limit found something",
        ),
        ("gap", "distance from the truth to the limit: smaller is tighter; below 0, it misses"),
        ("!", "less than promised; where two numbers of records are added, the first are members"),
    ),
    cases=(
        Cases(
            "limits",
            "{estimand}",
            "{label}, {side}, {records:count} records",
            "least coverage {least_coverage:rough_share} of {nominal:rounded} promised, over "
            "{cells:count} {cells:cell|cells}",
            status="falls_short",
            fails=True,
            where=_OURS,
        ),
        Cases(
            "failures",
            "{estimand}",
            "{label}, {side}, {scenario}",
            "covers {coverage:rough_share} of {nominal:rounded} promised; of a method that is "
            "known to be valid: the truths or the run are wrong",
            status="falls_short",
            fails=True,
            where=(("source", ("valid",)),),
        ),
        Cases(
            "exact",
            "exact",
            "{label}, {side}, {records:count} {records:record|records}",
            "covers {coverage:rough_share} of {nominal:rounded} promised",
            status="falls_short",
            fails=True,
            where=(("falls_short", (True,)),),
        ),
        Cases(
            "controls",
            "controls",
            "{label}",
            "{misses:count} {misses:miss|misses} in {replications:count} files",
            status="caught",
        ),
    ),
)
