"""What a report of ``check`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.brief import Brief, short_names
from mipaudit.formats.document import Bullets, Case, Document, Grid, Heading, Pairs
from mipaudit.formats.origin_sections import taken
from mipaudit.report.messages.told import told
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.check.report import CheckReport, ColumnProfile
    from mipaudit.formats.document import Section

_FIT: Final = "The input can be audited."
_HEAD: Final = ("score", "treated as", "distinct", "repeated", "tied rows", "infinite")
_LEGEND: Final = (
    ("repeated", "values that many records share; they are treated on their own"),
    ("tied rows", "records that share their value with another record"),
)
_UNCOUNTED: Final = (("-", "not counted: there are too many rows"),)


def check_document(report: CheckReport) -> Document:
    """Return the report as a document."""
    return Document(
        title="mipaudit check",
        headline=_FIT,
        mood="plain",
        summary="",
        sections=tuple(_sections(report)),
        cases=(Case(group="check", name="input", status="passed", text=_FIT),),
        created=report.provenance.created,
    )


def _sections(report: CheckReport) -> Iterator[Section]:
    pairs = tuple(taken(report.design, report.provenance))
    yield (Heading(text="What was taken"), Pairs(pairs=pairs))
    yield (
        Heading(text="Score columns"),
        Grid(
            caption="What each score column holds",
            head=_HEAD,
            rows=tuple(
                (
                    safe_name(one.score),
                    _kind(one),
                    *map(_count, (one.distinct, one.atoms, one.tied_rows, one.infinite)),
                )
                for one in report.columns
            ),
            words=2,
        ),
        Pairs(pairs=(*_LEGEND, *(_UNCOUNTED if _is_large(report) else ()))),
    )
    if report.findings:
        found = tuple(f"{told(one)} [{one.code}]" for one in report.findings)
        yield (Heading(text="Worth knowing about the input"), Bullets(texts=found))


def check_brief(report: CheckReport) -> Brief:
    """Return that the input can be audited, and what each column was taken for."""
    design = report.design
    scores = len(report.columns)
    by = "" if design.member_column is None else f", told by '{safe_name(design.member_column)}'"
    unused = dict.fromkeys((*design.skipped_columns, *report.provenance.unused_columns))
    names = short_names((*(one.score for one in report.columns), *unused))
    return Brief(
        answer=f"{_FIT} It holds {count_text(design.n_members)} members and "
        f"{count_text(design.n_holdout)} holdout records{by}, and {count_text(scores)} "
        f"score{'s' * (scores != 1)}.",
        mood="plain",
        tables=(
            Grid(
                caption="What each column was taken for",
                head=("column", "taken for", "distinct", "repeated", "tied rows", "infinite"),
                rows=(
                    *(
                        (
                            names[one.score],
                            f"{'discrete' if one.discrete else 'continuous'} score",
                            *map(_count, (one.distinct, one.atoms, one.tied_rows, one.infinite)),
                        )
                        for one in report.columns
                    ),
                    *((names[name], "not used", "", "", "", "") for name in unused),
                ),
                words=2,
            ),
        ),
        notes=("Nothing was audited yet: mipaudit estimate does that.",),
    )


def _is_large(report: CheckReport) -> bool:
    return any(column.distinct is None for column in report.columns)


def _kind(column: ColumnProfile) -> str:
    """Return how a column is treated, and what it holds."""
    return f"{'discrete' if column.discrete else 'continuous'} ({column.kind})"


def _count(number: int | None) -> str:
    """Return a count, or a dash where there were too many rows to count."""
    return "-" if number is None else count_text(number)
