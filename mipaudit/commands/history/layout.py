"""What a report of ``history`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Column, Layout, Table

_REPORT: Final = Column("report", "{report:short}")

LAYOUT: Final = Layout(
    about="{verdicts}",
    tables=(
        Table(
            "The reports, the newest first. The day is the one written in each.",
            "reports",
            (
                Column("report", "[{release}][{name:short}{release:unless}]"),
                Column("day", "{created:day}"),
                Column("command", "{of}"),
                Column("verdict", "{verdict:verdict}[{note}]"),
                Column("waived", "[{waived:count} until {until}]"),
                Column("members", "{n_members:counted}"),
                Column("holdout", "{n_holdout:counted}"),
            ),
            short=None,
            marked=("verdict", ("not_met", "waived")),
        ),
        Table(
            "Membership advantage, the newest report first",
            "advantages",
            (
                _REPORT,
                Column("score", "{score:short}"),
                Column("at least", "[{lower:least}][none{lower:unless}]"),
                Column("best", "{value:value}"),
                Column("at most", "{upper:upper}"),
                Column("limit", "[{limit:number}][-{limit:unless}]"),
            ),
            by=("against", "prior"),
            caption="Advantage at prior {row.prior:number}. 'At most' holds {row.against:class}.",
            legend="Advantage at prior {row.prior:number}. At most: for {row.against:attackers}.",
            short=None,
            picture="intervals",
            allowed=("limit", "the limit"),
        ),
        Table(
            "Settings that differ from those of the report before",
            "steps",
            (
                _REPORT,
                Column("earlier report", "{versus:short}"),
                Column("setting", "{what:changed}"),
                Column("earlier", "{before:text}"),
                Column("now", "{after:text}"),
            ),
            short=None,
        ),
    ),
    following="[compare two of them: mipaudit compare OLD NEW shows whether one surely leaks "
    "more.{several:said}]",
    untold="a history judges nothing",
    title="The history of releases",
)
