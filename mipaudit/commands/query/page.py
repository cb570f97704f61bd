"""What the reports of ``query``, ``query losses`` and ``query lira`` show.

Their pictures: where members and holdout records stand on each score.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from mipaudit.commands.query.report import ExactCopies, ModelQueryReport, QueryReport
from mipaudit.commands.query.words import copied_words
from mipaudit.evidence.scores.curves import ScoreCurves
from mipaudit.formats.brief import Brief, short_names
from mipaudit.formats.document import (
    Case,
    Document,
    Grid,
    Heading,
    Pairs,
    Paragraph,
    Picture,
    Section,
    bulleted,
    framed,
    plain,
    quoted,
)
from mipaudit.formats.drawing import spread
from mipaudit.formats.policy.blocks import no_policy
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text, number_text

_MOST: Final = 3
_DISTANCES: Final = frozenset({"nn", "kth"})
_FAR: Final = "distance to released records, near to far"
_LOW: Final = "scores from low to high"
_WHERE: Final = {"low": "left", "high": "right"}
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
    grid = Grid.of(
        report.scores,
        ("column", lambda one: one.score),
        ("members are", lambda one: one.side),
        ("radius", lambda one: _short(one.radius)),
        ("what it says", lambda one: one.says),
        caption="Which query gave which column",
        words=2,
        prose=True,
    )
    yield (Heading(text="The scores"), grid)
    yield (Heading(text="What was read"), Pairs(pairs=tuple(_read(report))))
    grid = Grid.of(
        report.columns,
        ("column", lambda one: safe_name(one.column)),
        ("taken as", lambda one: one.treated),
        ("1 is", lambda one: one.scale),
        ("words", lambda one: "" if one.levels is None else count_text(one.levels)),
        ("missing", lambda one: count_text(one.missing)),
        ("unseen", lambda one: count_text(one.unseen)),
        caption="The columns that were compared",
        words=3,
    )
    yield (Heading(text="How each column was compared"), grid)
    yield bulleted("Not compared", [f"{safe_name(name)}: {why}" for name, why in report.skipped])


def _short(radius: float | None) -> str:
    return "" if radius is None else number_text(float(f"{radius:.4g}"))


def _read(report: QueryReport) -> Iterator[tuple[str, str]]:
    for table in report.tables:
        yield table.role, f"{count_text(table.rows)} {_ROLES[table.role]}"
    yield "metric", _METRICS[report.metric]
    yield "scales from", f"the {report.encoded_on} table alone"
    yield "neighbours by", _SEARCHES.get(report.run.search, report.run.search)
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
    table = Grid.of(
        report.scores,
        ("column", lambda one: names[one.score]),
        ("members are", lambda one: one.side),
        ("what it is", lambda one: one.says.partition(" (")[0]),
        caption="The scores that were made",
        words=3,
    )
    return Brief(
        answer=_copied(report.copies),
        mood="bad" if copied else "plain",
        about=f"{', '.join(rows)}; {count_text(columns)} column{'s' * (columns != 1)} "
        f"compared{more}.",
        tables=(table,),
        notes=("These are scores, not an audit: how much they leak is not said yet.",),
        following=f"Next: {report.following}",
        told=("exact_copies",),
    )


def _copied(copies: tuple[ExactCopies, ...]) -> str:
    """Say how many records of each class are in the synthetic table, as they are."""
    if not any(one.copied for one in copies):
        whole = " and ".join(f"none of {count_text(one.rows)} {_ROLES[one.role]}" for one in copies)
        return f"No exact copies: {whole} stands in the synthetic table word for word."
    return f"Exact copies: {copied_words(copies)} stand in the synthetic table word for word."


def model_query_brief(report: ModelQueryReport) -> Brief:
    """Return which scores were made, of how many records, and what to run next."""
    made = len(report.scores)
    names = short_names(one.name for one in report.scores)
    of = (
        f"the outputs of a model with {count_text(report.classes)} classes"
        if report.classes
        else f"{count_text(report.models or 0)} shadow models"
    )
    grid = Grid.of(
        report.scores,
        ("column", lambda one: names[one.name]),
        ("what it is", lambda one: plain(one.meaning)),
        ("infinite", lambda one: count_text(one.infinite)),
        caption="",
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


def query_pictures(report: QueryReport) -> Iterator[Picture]:
    """Yield the distances to released records, and the other scores, the first ones asked for."""
    kinds = {one.score: one.query for one in report.scores}
    yield from _drawn(report.curves, {name for name, kind in kinds.items() if kind in _DISTANCES})


def model_query_pictures(report: ModelQueryReport) -> Iterator[Picture]:
    """Yield the scores that were made, the first ones."""
    yield from _drawn(report.curves, frozenset())


def _drawn(
    curves: Sequence[ScoreCurves], distances: frozenset[str] | set[str]
) -> Iterator[Picture]:
    told = [one for one in curves if len(one.bins) > 1]  # else all records look alike
    for number, one in enumerate(told[:_MOST], start=1):
        far = one.score in distances
        name, along = quoted(one.score), _FAR if far else _LOW
        yield spread(
            [(each.members, each.holdout) for each in one.bins],
            name=f"bins{number}",
            of=f"{name} ({along})",
            axis=along,
            caption=f"{name}, {along}, in bins of about equal size: where members and holdout "
            f"records differ, membership shows{_expected(one)}. How sure that is, is not said "
            "here.",
        )


def _expected(one: ScoreCurves) -> str:
    return f"; members are expected on the {_WHERE[one.side]}" if one.side else ""
