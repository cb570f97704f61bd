"""The plain paragraph on what changed between reports, and what the numbers do not show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.statements.policy import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import lower_text, percent_text
from mipaudit.statements.verdict import judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.compare.reports.change import Change
    from mipaudit.commands.compare.reports.increase import ScoreIncrease
    from mipaudit.commands.compare.reports.report import CompareReportsDesign, MatchedScore
    from mipaudit.statements.verdict import Verdict
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


def reports_summary(
    design: CompareReportsDesign,
    scores: Sequence[MatchedScore],
    changes: Sequence[Change],
    checks: Sequence[ScoreIncrease],
    verdict: Verdict,
) -> str:
    """Return what certainly changed, which scores could not be compared, and the verdict."""
    parts = [
        _compared(design, scores),
        _changed(design, changes),
        _alone(scores),
        judged(verdict),
        _advice(checks, verdict),
    ]
    return " ".join(part for part in parts if part)


def _compared(design: CompareReportsDesign, scores: Sequence[MatchedScore]) -> str:
    others = [one.name for one in design.reports if one.name != design.baseline]
    both = len({one.score for one in scores if one.status == "in both"})
    several = "s" if both > 1 else ""
    return (
        f"{_listed(others)} {'were' if len(others) > 1 else 'was'} compared with "
        f"'{safe_name(design.baseline)}', the old report, on {both} score{several}, "
        f"{against_phrase(design.against)}."
    )


def _changed(design: CompareReportsDesign, changes: Sequence[Change]) -> str:
    sure = f"With {percent_text(design.confidence)} confidence, jointly over scores and reports,"
    facts = [
        _fact(one, several=len(design.reports) > 2)  # noqa: PLR2004 - an old and a new one
        for one in changes
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
        parts.append(f"The old report does not have {_listed(new)}.")
    if missing:
        parts.append(f"A new report does not have {_listed(missing)}.")
    return " ".join(parts)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{safe_name(name)}'" for name in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _advice(checks: Sequence[ScoreIncrease], verdict: Verdict) -> str:
    """Say what would settle it, where limits leave it open rather than a missing score."""
    wide = any(one.status == "inconclusive" and one.upper is not None for one in checks)
    if verdict.status != "inconclusive" or not wide:
        return ""
    return "To compare the score files themselves is more precise."
