"""What a comparison of reports shows, in tables and in words."""

from collections.abc import Iterator, Sequence
from typing import Final

from mipaudit.commands.compare.queries.page import signed
from mipaudit.commands.compare.reports.report import (
    Change,
    CompareReportsDesign,
    MatchedScore,
    ReportComparison,
    ReportedFigure,
)
from mipaudit.formats.document import (
    AT_LEAST,
    AT_MOST,
    BEST_ESTIMATE,
    STATUS,
    Document,
    Grid,
    Heading,
    Note,
    Paragraph,
    Section,
    class_grids,
    short_class,
)
from mipaudit.formats.policy.blocks import judged_document
from mipaudit.report.verdict_sentence import judged
from mipaudit.statements.text.named import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
)

_FEW: Final = 12  # more scores are not all shown in full: nobody would read the page
# They say the same as the advantage; the report for programs has them.
_RESTATED: Final = frozenset({"excess", "eta", "accuracy"})
CHANGED: Final = {"increase": "increased", "decrease": "decreased", "open": "not shown"}
_MOST_NAMED: Final = 3
_ONLY_THESE: Final = (
    "The limits concern the scores that both reports have. Another score, or an attacker who sees "
    "more, may tell more."
)
_AT_ITS_WORD: Final = "A report is taken at its word: nothing is computed from data again."
_STORED: Final = (
    "A change is limited by the limits that the reports hold, whatever records they share. It is "
    "much less precise than to compare the score files themselves (mipaudit compare "
    "old=v1.parquet new=v2.parquet)."
)
_FLOORS: Final = (
    "A report of estimate has no lower limit of the advantage within a class of attackers. That "
    "of blind guessing stands for it, or, where the class holds attackers with one threshold, "
    "what follows from the TPR at the largest FPR in the report."
)
_CEILINGS: Final = (
    "For all attackers there is no upper limit on a continuous score, and so none on its change. "
    "Bins, grids and learned scores are each report's own."
)
_JOINT: Final = (
    "The limits of one quantity and class hold jointly over all scores and reports. Different "
    "quantities, classes and tables are not joint."
)
_BEFOREHAND: Final = (
    "Choose the old report, the class of attackers and the limit before you see the new report. "
    "To make several and keep the best makes the limits untrue."
)
REPORT_LIMITATIONS: Final = (
    _ONLY_THESE,
    _AT_ITS_WORD,
    _STORED,
    _FLOORS,
    _CEILINGS,
    _JOINT,
    _BEFOREHAND,
)


def compare_reports_document(report: ReportComparison) -> Document:
    """Return the report as a document."""
    several = report.several
    return judged_document(
        report,
        _sections(report),
        caption="How much the advantage of each score may have grown, and what was found",
        head=["score", *["report"] * several],
        row=lambda one: [safe_name(one.score), *[safe_name(one.report)] * several],
        case=lambda one: (
            one.score,
            (
                f"increase from {safe_name(one.versus)} to {safe_name(one.report)} "
                f"{number_text(one.limit)}"
            ),
        ),
        title="mipaudit compare: old and new reports",
    )


def _sections(report: ReportComparison) -> Iterator[Section]:
    yield _reports(report)
    yield _scores(report)
    yield from _changes(report)
    yield _beside_any(report)


def _reports(report: ReportComparison) -> Section:
    grid = Grid(
        caption="The reports",
        head=("report", "made", "verdict", "confidence", "members", "holdout"),
        rows=tuple(
            (
                _report_name(report, one.name),
                safe_name(one.created),
                STATUS.get(one.verdict, "no policy"),
                percent_text(one.confidence),
                count_text(one.n_members),
                count_text(one.n_holdout),
            )
            for one in report.design.reports
        ),
        words=3,
    )
    text = f"All at prior {number_text(report.design.prior)}."
    return (Heading(text="Reports"), grid, Note(text=text))


def _report_name(report: ReportComparison, name: str) -> str:
    """Return a report's name, and that it is the old one where the name does not say so."""
    old = name == report.design.baseline and name != "old"
    return safe_name(name) + " (old)" * old


def _scores(report: ReportComparison) -> Section:
    alone = [one for one in report.scores if one.status != "in both"]
    if not alone:
        return ()
    grid = Grid(
        caption="Scores that only one report has",
        head=("score", "report", "status"),
        rows=tuple((safe_name(one.score), safe_name(one.report), one.status) for one in alone),
        words=3,
    )
    return (Heading(text="Scores that only one report has"), grid)


def _changes(report: ReportComparison) -> Iterator[Section]:
    shown = [one for one in report.changes if one.quantity not in _RESTATED and _limited(one)]
    pairs = list(dict.fromkeys((one.score, one.report) for one in shown))
    for score, name in pairs[:_FEW]:
        rows = [one for one in shown if (one.score, one.report) == (score, name)]
        yield _changed(report, rows)
        yield _stored(rows)
    if len(pairs) > _FEW:
        text = (
            f"The first {_FEW} of {count_text(len(pairs))} scores are shown; the rest is in the "
            "report for programs (-f json, or csv)."
        )
        yield (Paragraph(text=text),)


def _limited(one: Change) -> bool:
    """Whether a row says anything: metrics often have limits on neither side."""
    return one.metric is None or not one.lower is one.upper is None


def _changed(report: ReportComparison, rows: Sequence[Change]) -> Section:
    first = rows[0]
    what = f"{safe_name(first.report)} less {safe_name(first.versus)}"
    grid = Grid(
        caption=f"Change of score {safe_name(first.score)}: {what}",
        head=("", "change", AT_LEAST, BEST_ESTIMATE, AT_MOST),
        rows=tuple(
            (
                change_of(one),
                CHANGED[one.shown],
                *signed(one),
            )
            for one in rows
        ),
        words=2,
        marked=frozenset(at for at, one in enumerate(rows) if one.shown == "increase"),
    )
    silent = sum(
        (one.score, one.report) == (first.score, first.report) and not _limited(one)
        for one in report.changes
    )
    rest = f" {silent} metrics that have no limits are left out." if silent else ""
    over = ", over all scores and reports" if len(report.scores) > 1 else ""
    text = f"Each row holds with {percent_text(report.design.confidence)} confidence{over}.{rest}"
    return (Heading(text=f'Score "{safe_name(first.score)}": {what}'), grid, Note(text=text))


def change_of(one: Change) -> str:
    """Return what a change is of, beside its score."""
    if one.quantity == "auc":
        return "AUC"
    if one.quantity == "tpr_at_fpr" and one.fpr is not None:
        return f"TPR at FPR {percent_text(one.fpr)}"
    if one.metric is not None:
        return f"{safe_name(one.metric)}, {short_class(one.attackers)}"
    if one.quantity == "advantage":
        return short_class(one.attackers)
    return f"{one.quantity}, {short_class(one.attackers)}"


def _stored(rows: Sequence[Change]) -> Section:
    first = rows[0]
    grid = Grid(
        caption=f"The limits of score {safe_name(first.score)} that the change follows from",
        head=("", "old at least", "old at most", "new at least", "new at most"),
        rows=tuple((change_of(one), *_limits(one.old), *_limits(one.new)) for one in rows),
        words=1,
    )
    derived = any(
        side.lower_from not in {None, "stored"} for one in rows for side in (one.old, one.new)
    )
    if not derived:
        return (grid,)
    text = "* is not in the report as such, but follows from it."
    return (grid, Note(text=text))


def _limits(figure: ReportedFigure) -> tuple[str, str]:
    mark = "" if figure.lower_from in {None, "stored"} else "*"
    return (
        "-" if figure.lower is None else mark + lower_text(figure.lower),
        "none" if figure.upper is None else upper_text(figure.upper),
    )


def _beside_any(report: ReportComparison) -> Section:
    rows = [
        (
            _where(report, one.score, one.report),
            one.attackers,
            (
                "none" if one.at_most is None else upper_text(one.at_most),
                "none" if one.at_least is None else lower_text(one.at_least),
            ),
        )
        for one in report.beside_any
    ]
    if not rows:
        return ()
    text = (
        "A class of attackers beside any attacker. (a) The class has at most this much more on the "
        "new scores than some attacker surely has on the old ones. (b) Some attacker on the new "
        "scores surely has at least this much more than the class can have on the old ones. "
        "Neither decides the verdict: they are of different attackers."
    )
    grids = class_grids(
        "A class of attackers beside any attacker", "score", ("(a) at most", "(b) at least"), rows
    )
    return (Heading(text="Across classes"), Paragraph(text=text), *grids)


def _where(report: ReportComparison, score: str, name: str) -> str:
    return f"{safe_name(score)} in {safe_name(name)}" if report.several else safe_name(score)


def reports_summary(report: ReportComparison) -> str:
    """Return what certainly changed, which scores could not be compared, and the verdict."""
    parts = [
        _compared(report.design, report.scores),
        _surely_changed(report),
        _alone(report.scores),
        judged(report.verdict),
        _advice(report),
    ]
    return " ".join(part for part in parts if part)


def _compared(design: CompareReportsDesign, scores: Sequence[MatchedScore]) -> str:
    others = [one.name for one in design.reports if one.name != design.baseline]
    both = len({one.score for one in scores if one.status == "in both"})
    several = "s" if both > 1 else ""
    return (
        f"{listed(others)} {'were' if len(others) > 1 else 'was'} compared with "
        f"'{safe_name(design.baseline)}', the old report, on {both} score{several}, "
        f"{against_phrase(design.against)}."
    )


def _surely_changed(report: ReportComparison) -> str:
    design = report.design
    sure = f"With {percent_text(design.confidence)} confidence, jointly over scores and reports,"
    facts = [
        _fact(one, several=report.several)
        for one in report.changes
        if one.quantity == "advantage" and one.attackers == design.against and one.shown != "open"
    ]
    if not facts:
        return f"{sure} no advantage is shown to have changed."
    more = len(facts) - _MOST_NAMED
    rest = f"; and {more} more such changes" if more > 0 else ""
    return f"{sure} {'; '.join(facts[:_MOST_NAMED])}{rest}."


def _fact(change: Change, *, several: bool) -> str:
    where = f" in '{safe_name(change.report)}'" if several else ""
    score = f"the advantage of '{safe_name(change.score)}'{where}"
    if change.lower is not None and change.shown == "increase":
        return f"{score} is at least {lower_text(change.lower)} larger"
    return f"{score} is at least {lower_text(-(change.upper or 0.0))} smaller"


def _alone(scores: Sequence[MatchedScore]) -> str:
    new = list(dict.fromkeys(one.score for one in scores if one.status == "new"))
    missing = list(dict.fromkeys(one.score for one in scores if one.status == "missing"))
    parts = []
    if new:
        parts.append(f"The old report does not have {listed(new)}.")
    if missing:
        parts.append(f"A new report does not have {listed(missing)}.")
    return " ".join(parts)


def listed(names: Sequence[str]) -> str:
    """Return the first names, and how many there are more."""
    shown = ", ".join(f"'{safe_name(name)}'" for name in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _advice(report: ReportComparison) -> str:
    """Say what would settle it, where limits leave it open rather than a missing score."""
    wide = any(one.status == "inconclusive" and one.upper is not None for one in report.policy)
    if report.verdict.status != "inconclusive" or not wide:
        return ""
    return "To compare the score files themselves is more precise."
