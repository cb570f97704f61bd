"""What is shown of each score column, in words and rounded numbers; no layout."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mipaudit.audit.figures import (
    count_text,
    lower_text,
    percent_text,
    upper_text,
    value_text,
)
from mipaudit.render.wording import ATTACKERS, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.audit.estimate import Estimate
    from mipaudit.report.model import Report

_NO_UPPER: Final = "none"
_NO_LOWER: Final = "-"
_NO_VALUE: Final = "-"
_OTHER_FORMS: Final = {
    "excess": "advantage over blind guessing (excess)",
    "eta": "accuracy over blind guessing (eta)",
    "accuracy": "accuracy",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a section's table; empty text where there is nothing to say."""

    label: str
    lower: str
    value: str
    upper: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows under one heading."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """All that is shown of one score column."""

    score: str
    groups: tuple[Group, ...]
    remarks: tuple[str, ...]


@dataclass(slots=True)
class Footnotes:
    """Reasons, each numbered once in order of first use."""

    texts: list[str] = field(default_factory=list)

    def mark(self, word: str, reason: str | None) -> str:
        """Return ``word`` with the number of its reason, if it has one."""
        if reason is None:
            return word
        text = plain(reason)
        if text not in self.texts:
            self.texts.append(text)
        return f"{word} [{self.texts.index(text) + 1}]"


def scores_in_order(report: Report) -> tuple[str, ...]:
    """Return the score columns in the order of their estimates: the strongest first."""
    return tuple(dict.fromkeys(estimate.score for estimate in report.estimates))


def advantage_of(report: Report, score: str, attackers: str = "any") -> Estimate | None:
    """Return the main estimate of a score's advantage, not the published one."""
    for estimate in _of(report, score):
        if estimate.quantity == "advantage" and estimate.attackers == attackers:
            return estimate
    return None


def auc_of(report: Report, score: str) -> Estimate | None:
    """Return the AUC of a score."""
    return next((e for e in _of(report, score) if e.quantity == "auc"), None)


def section(report: Report, score: str, notes: Footnotes) -> Section:
    """Return what is shown of one score column; reasons go to ``notes``."""
    found = _of(report, score)
    published = tuple(
        e for e in report.estimates if e.score == score and e.validity == "not-an-interval"
    )
    groups = (
        _group(
            _advantage_heading(report),
            [e for e in found if e.quantity == "advantage"],
            lambda e: ATTACKERS[e.attackers],
            notes,
        ),
        _group(
            "The same, in other terms",
            [e for e in found if e.quantity in _OTHER_FORMS and _worth_showing(e, report)],
            lambda e: _OTHER_FORMS[e.quantity],
            notes,
        ),
        _group(
            "With one threshold, in detail",
            [e for e in found if e.quantity in {"auc", "tpr_at_fpr"}],
            _threshold_label,
            notes,
        ),
        _group("As published: not a valid interval", published, _published_label, notes),
    )
    shown = tuple(group for group in groups if group.rows)
    return Section(score=score, groups=shown, remarks=_remarks(report, score))


def lower_word(estimate: Estimate, notes: Footnotes) -> str:
    """Return the lower limit as text, or a dash with its reason as a footnote."""
    if estimate.lower is not None:
        return lower_text(estimate.lower)
    return notes.mark(_NO_LOWER, estimate.lower_reason) if estimate.lower_reason else ""


def upper_word(estimate: Estimate, notes: Footnotes) -> str:
    """Return the upper limit as text, or that there is none with the reason as a footnote."""
    if estimate.upper is not None:
        return upper_text(estimate.upper)
    return notes.mark(_NO_UPPER, estimate.upper_reason) if estimate.upper_reason else ""


def value_word(estimate: Estimate, notes: Footnotes) -> str:
    """Return the best estimate as text, or a dash with its reason as a footnote."""
    if estimate.value is not None:
        return value_text(estimate.value)
    return notes.mark(_NO_VALUE, estimate.value_reason) if estimate.value_reason else ""


def judged_rows(report: Report) -> str | None:
    """Return how many rows the lower limits rest on, or None where all or it varies."""
    mains = [advantage_of(report, score) for score in scores_in_order(report)]
    sizes = {(main.n_members, main.n_holdout) for main in mains if main is not None}
    if len(sizes) != 1 or sizes == {(report.design.n_members, report.design.n_holdout)}:
        return None
    return _judged_on(*sizes.pop())


def methods(report: Report) -> str:
    """Return the methods behind the limits, each with how far it can be trusted."""
    named = dict.fromkeys(
        f"{plain(e.method)} ({e.validity})"
        for e in report.estimates
        if e.validity != "not-an-interval"
    )
    return "; ".join(named)


def _of(report: Report, score: str) -> tuple[Estimate, ...]:
    return tuple(
        e for e in report.estimates if e.score == score and e.validity != "not-an-interval"
    )


def _group(
    heading: str,
    estimates: list[Estimate] | tuple[Estimate, ...],
    label: Callable[[Estimate], str],
    notes: Footnotes,
) -> Group:
    return Group(heading=heading, rows=tuple(_row(e, label(e), notes) for e in estimates))


def _row(estimate: Estimate, label: str, notes: Footnotes) -> Row:
    return Row(
        label=label,
        lower=lower_word(estimate, notes),
        value=value_word(estimate, notes),
        upper=upper_word(estimate, notes),
    )


def _judged_on(n_members: int, n_holdout: int) -> str:
    members, holdout = count_text(n_members), count_text(n_holdout)
    return f"{members} members, {holdout} holdout records; the rest chose the attackers"


def _advantage_heading(report: Report) -> str:
    baseline = report.design.baseline
    if baseline == 0:
        return "Advantage"
    return f"Advantage (blind guessing has {value_text(baseline)})"


def _worth_showing(estimate: Estimate, report: Report) -> bool:
    # At an even prior the excess is the advantage once more.
    return estimate.quantity != "excess" or report.design.baseline > 0


def _threshold_label(estimate: Estimate) -> str:
    if estimate.quantity == "auc":
        return "AUC (0.5: no better than chance)"
    share = percent_text(estimate.fpr) if estimate.fpr is not None else "?"
    return f"TPR at FPR {share}"


def _published_label(estimate: Estimate) -> str:
    kind = estimate.method.partition(",")[0]
    return f"{estimate.quantity}, {plain(kind)}"


def _remarks(report: Report, score: str) -> tuple[str, ...]:
    main = advantage_of(report, score)
    if main is None:
        return ()
    remarks = []
    if main.lower is not None and main.lower <= report.design.baseline:
        remarks.append("No leak is shown: blind guessing achieves the 'at least' figure too.")
    if main.plugin is not None:
        remarks.append(
            f"Chosen and judged on the same rows, the best attacker has {value_text(main.plugin)}: "
            "too high on average."
        )
    everyone = (report.design.n_members, report.design.n_holdout)
    if judged_rows(report) is None and (main.n_members, main.n_holdout) != everyone:
        remarks.append(f"Judged on {_judged_on(main.n_members, main.n_holdout)}.")
    sides = {e.side for e in _of(report, score) if e.side is not None}
    if len(sides) == 1:
        remarks.append(f'TPR at FPR guesses "member" where the score is {sides.pop()}.')
    return tuple(remarks)
