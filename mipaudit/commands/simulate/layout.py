"""What is shown of a simulated file's truth, and of the list of scenarios."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Column, Layout, Table

_NOTHING: Final = "a simulation states what is true, and judges nothing"
_PRIOR: Final = "[ at prior {prior:number}]"

LAYOUT: Final = Layout(
    about="{size}[, {order}]; columns {columns:names}.",
    tables=(
        Table(
            "What is true" + _PRIOR,
            "truths",
            (
                Column(
                    "",
                    "{quantity:true_of}[ at FPR {fpr:percent}, members score {side}]"
                    "[ at delta {delta:number}][, {attackers:whose}]",
                ),
                Column("", "[{value:six_digits}][none{value:unless}]"),
            ),
            by=("sees", "group"),
            caption="What is true of {row.sees:quoted}[ of the group {row.group:quoted}]" + _PRIOR,
            short=None,
        ),
    ),
    untold=_NOTHING,
)
SCENARIOS: Final = Layout(
    tables=(
        Table(
            "All scenarios",
            "scenarios",
            (Column("", "{name}"), Column("", "{summary:text}")),
            by=("heading",),
            caption="{row.heading:text}",
            prose=True,
            short=None,
        ),
        Table(
            "What the numbers in a name may be",
            "numbered",
            (
                Column("Names with numbers, for example", "{example}"),
                Column("number", "{name}"),
                Column("from", "{lowest:number}"),
                Column("to", "{highest:number}"),
                Column("", "[whole{whole:said}][even{even:said}]"),
            ),
            short=None,
        ),
    ),
    untold=_NOTHING,
    lists=True,
)
