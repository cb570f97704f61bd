"""What the reports of ``query``, ``query losses`` and ``query lira`` show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mipaudit.formats.brief import Brief, short_names
from mipaudit.formats.document import (
    Case,
    Document,
    Grid,
    Heading,
    Pairs,
    Paragraph,
    Section,
    bulleted,
    framed,
    plain,
)
from mipaudit.formats.policy.blocks import no_policy
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text, number_text, percent_text

if TYPE_CHECKING:
    from mipaudit.commands.query.report import ExactCopies, ModelQueryReport, QueryReport
    from mipaudit.commands.query.search.approximate import ApproximateNeighbours


_ROLES: Final = {
    "members": "members",
    "holdout": "holdout records",
    "synthetic": "synthetic records",
    "reference": "reference records",
}
_METRICS: Final = {
    "euclidean": "Euclidean: numbers by their scale, categories in one-hot columns",
    "gower": "Gower: the mean over columns of differences by scale, and of mismatches",
}
_SEARCHES: Final = {
    "none": "no search: no query asked for neighbours",
    "matrix products": "matrix products, all pairs, exact",
    "k-d tree": "a k-d tree, exact",
}


def query_document(report: QueryReport) -> Document:
    """Return the report as a document."""
    nothing = "scores were made, and nothing was judged"
    following = Paragraph(text=plain(report.following), hyphens=False)
    return framed(
        report,
        tuple(_sections(report)),
        cases=(Case(group="query", name="verdict", status="skipped", text=nothing),),
        following=(Heading(text="What to run next"), following),
    )


def _sections(report: QueryReport) -> Iterator[Section]:
    grid = Grid(
        caption="Which query gave which column",
        head=("column", "members are", "radius", "what it says"),
        rows=tuple((one.score, one.side, _short(one.radius), one.says) for one in report.scores),
        words=2,
        prose=True,
    )
    yield (Heading(text="The scores"), grid)
    if report.approximate is not None:
        yield _approximate(report.approximate)
    yield (Heading(text="What was read"), Pairs(pairs=tuple(_read(report))))
    grid = Grid(
        caption="The columns that were compared",
        head=("column", "taken as", "1 is", "words", "missing", "unseen"),
        rows=tuple(
            (
                safe_name(one.column),
                one.treated,
                one.scale,
                "" if one.levels is None else count_text(one.levels),
                count_text(one.missing),
                count_text(one.unseen),
            )
            for one in report.columns
        ),
        words=3,
    )
    yield (Heading(text="How each column was compared"), grid)
    yield bulleted("Not compared", [f"{safe_name(name)}: {why}" for name, why in report.skipped])


def _approximate(search: ApproximateNeighbours) -> Section:
    return (
        Heading(text="What the approximate search found"),
        Grid(
            caption="Beside an exact search of some of the records, drawn by the seed",
            head=("neighbour", "records", "found", "of all (95%)", "too long by", "95% within"),
            rows=tuple(
                (
                    str(one.neighbours),
                    count_text(one.records),
                    count_text(one.right),
                    f"{percent_text(one.share[0])} to {percent_text(one.share[1])}",
                    percent_text(float(f"{one.excess_mean:.3g}")),
                    percent_text(float(f"{one.excess_95:.3g}")),
                )
                for one in search.found
            ),
            words=1,
        ),
    )


def _short(radius: float | None) -> str:
    return "" if radius is None else number_text(float(f"{radius:.4g}"))


def _read(report: QueryReport) -> Iterator[tuple[str, str]]:
    for table in report.tables:
        yield table.role, f"{count_text(table.rows)} {_ROLES[table.role]}"
    yield "metric", _METRICS[report.metric]
    yield "scales from", f"the {report.encoded_on} table alone"
    if report.approximate is None:
        yield "neighbours by", _SEARCHES.get(report.run.search, report.run.search)
    else:
        lists = f"{report.approximate.probes} of {report.approximate.lists} lists looked at"
        yield "neighbours by", f"approximate search, {plain(report.approximate.library)}, {lists}"
    if report.run.classifier is not None:
        yield "classifier", plain(report.run.classifier)
    if report.run.seconds is not None:
        yield "seconds", f"{report.run.seconds:.1f}"


def model_query_document(report: ModelQueryReport) -> Document:
    """Return the report as a document."""
    pairs = tuple(
        (
            one.name,
            f"{one.meaning}{f'; infinite in {count_text(one.infinite)} rows' * bool(one.infinite)}",
        )
        for one in report.scores
    )
    scores = (Paragraph(text="The scores:"), Pairs(pairs=pairs))
    return framed(report, (scores,), cases=(no_policy(report.command),))


def query_brief(report: QueryReport) -> Brief:
    """Return how many records were released word for word, the scores, and what to run next."""
    copied = any(one.copied for one in report.copies)
    rows = (f"{count_text(table.rows)} {_ROLES[table.role]}" for table in report.tables)
    columns = len(report.columns)
    names = short_names(one.score for one in report.scores)
    left_out = len(report.skipped)
    more = f"; {count_text(left_out)} not compared" if left_out else ""
    return Brief(
        answer=_copied(report.copies),
        mood="bad" if copied else "plain",
        about=f"{', '.join(rows)}; {count_text(columns)} column{'s' * (columns != 1)} "
        f"compared{more}.",
        tables=(
            Grid(
                caption="The scores that were made",
                head=("column", "members are", "what it is"),
                rows=tuple(
                    (names[one.score], one.side, one.says.partition(" (")[0])
                    for one in report.scores
                ),
                words=3,
            ),
        ),
        notes=("These are scores, not an audit: how much they leak is not said yet.",),
        following=f"Next: {report.following}",
        told=("exact_copies",),
    )


def _copied(copies: tuple[ExactCopies, ...]) -> str:
    """Say how many records of each class are in the synthetic table, as they are."""
    if not any(one.copied for one in copies):
        whole = " and ".join(f"none of {count_text(one.rows)} {_ROLES[one.role]}" for one in copies)
        return f"No exact copies: {whole} stands in the synthetic table word for word."
    parts = (
        f"{count_text(one.copied)} of {count_text(one.rows)} {_ROLES[one.role]} "
        f"({percent_text(round(one.copied / one.rows, 4))})"
        for one in copies
    )
    return f"Exact copies: {' and '.join(parts)} stand in the synthetic table word for word."


def model_query_brief(report: ModelQueryReport) -> Brief:
    """Return which scores were made, of how many records, and what to run next."""
    made = len(report.scores)
    names = short_names(one.name for one in report.scores)
    of = (
        f"the outputs of a model with {count_text(report.classes)} classes"
        if report.classes
        else f"{count_text(report.models or 0)} shadow models"
    )
    grid = Grid(
        caption="",
        head=("column", "what it is", "infinite"),
        rows=tuple(
            (names[one.name], plain(one.meaning), count_text(one.infinite)) for one in report.scores
        ),
        words=2,
    )
    return Brief(
        answer=f"{count_text(made)} score{'s' * (made != 1)} made of "
        f"{count_text(report.n_members)} members and {count_text(report.n_holdout)} holdout "
        "records. How much they leak is not said yet.",
        mood="plain",
        about=f"Made of {of}.",
        tables=(grid,),
        following="Next: mipaudit estimate FILE, with the file of these scores",
    )
