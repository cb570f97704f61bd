"""What is shown of each score column, in words and rounded numbers; no layout."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

from mipaudit.formats.document import AT_LEAST, AT_MOST, ATTACKERS, BEST_ESTIMATE, Grid, plain
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mipaudit.commands.estimate.report import Report
    from mipaudit.statements.estimate import Design, Estimate

_NO_LOWER: Final = "-"
_NO_VALUE: Final = "-"
_OTHER_FORMS: Final = {
    "excess": "advantage over blind guessing (excess)",
    "eta": "accuracy over blind guessing (eta)",
    "accuracy": "accuracy",
}
_THRESHOLD_KINDS: Final = {
    "auc": "AUC",
    "tpr_at_fpr": "TPR at FPR",
    "any_difference": "any difference",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSection:
    """All that is shown of one score column; empty text where there is nothing to say."""

    score: str
    tables: tuple[Grid, ...]
    remarks: tuple[str, ...]


@dataclass(slots=True)
class Footnotes:
    """Reasons, each numbered once in order of first use."""

    _numbers: dict[str, int] = field(default_factory=dict)

    @property
    def texts(self) -> tuple[str, ...]:
        """The reasons, the first to be used first."""
        return tuple(self._numbers)

    def mark(self, word: str, reason: str | None) -> str:
        """Return ``word`` with the number of its reason, if it has one."""
        if reason is None:
            return word
        number = self._numbers.setdefault(plain(reason), len(self._numbers) + 1)
        return f"{word} [{number}]"


def section(contents: Contents, score: str, notes: Footnotes) -> ScoreSection:
    """Return what is shown of one score column; reasons go to ``notes``."""
    design = contents.design
    found = contents.limits(score)
    tables = (
        _table(
            _advantage_heading(design),
            [e for e in found if e.quantity == "advantage" and e.attackers != "noised-query"],
            lambda e: ATTACKERS[e.attackers],
            notes,
        ),
        _table(
            "Advantage with Gaussian noise on the score",
            [e for e in found if e.quantity == "advantage" and e.attackers == "noised-query"],
            _noise_label,
            notes,
        ),
        _table(
            "The same, in other terms",
            [e for e in found if e.quantity in _OTHER_FORMS and _worth_showing(e, design)],
            lambda e: _OTHER_FORMS[e.quantity],
            notes,
        ),
        _table(
            "With one threshold, in detail",
            [e for e in found if e.quantity in {"auc", "tpr_at_fpr"}],
            _threshold_label,
            notes,
        ),
        _table(
            "Metrics (larger: a better attacker)",
            [e for e in found if e.quantity == "metric"],
            lambda e: f"{plain(str(e.metric))}, {ATTACKERS[e.attackers]}",
            notes,
        ),
        _table(
            "Any difference at all (membership, or another)",
            [e for e in found if e.quantity == "any_difference"],
            lambda _: "p-value (small: they differ)",
            notes,
        ),
        _table(
            "As published: not a valid interval",
            contents.published(score),
            _published_label,
            notes,
        ),
    )
    shown = tuple(table for table in tables if table.rows)
    return ScoreSection(score=score, tables=shown, remarks=_remarks(contents, score))


def lower_word(estimate: Estimate, notes: Footnotes) -> str:
    """Return the lower limit as text, or a dash with its reason as a footnote."""
    if estimate.lower is not None:
        return lower_text(estimate.lower)
    return notes.mark(_NO_LOWER, estimate.lower_reason) if estimate.lower_reason else ""


def upper_word(estimate: Estimate, notes: Footnotes) -> str:
    """Return the upper limit as text, or that there is none with the reason as a footnote."""
    if estimate.upper is not None:
        return upper_text(estimate.upper)
    return notes.mark(estimate.unlimited, estimate.upper_reason) if estimate.upper_reason else ""


def value_word(estimate: Estimate, notes: Footnotes) -> str:
    """Return the best estimate as text, or a dash with its reason as a footnote."""
    if estimate.value is not None:
        return value_text(estimate.value)
    return notes.mark(_NO_VALUE, estimate.value_reason) if estimate.value_reason else ""


def methods(report: Report) -> tuple[str, ...]:
    """Return the methods behind each kind of row, each with how far it can be trusted."""
    named: dict[str, dict[str, None]] = {}
    for estimate in report.estimates:
        if estimate.validity != "not-an-interval":
            method = f"{plain(estimate.method)} ({estimate.validity})"
            named.setdefault(_kind(estimate), {})[method] = None
    return tuple(f"{kind}: {'; '.join(found)}" for kind, found in named.items())


def _kind(estimate: Estimate) -> str:
    if estimate.quantity == "metric":
        return "metrics, any attacker" if estimate.attackers == "any" else "metrics, named kinds"
    if estimate.quantity in _THRESHOLD_KINDS:
        return _THRESHOLD_KINDS[estimate.quantity]
    return "any attacker" if estimate.attackers == "any" else "attackers of a named kind"


def _table(
    heading: str,
    estimates: Sequence[Estimate],
    label: Callable[[Estimate], str],
    notes: Footnotes,
) -> Grid:
    return Grid(
        caption=heading,
        head=("", AT_LEAST, BEST_ESTIMATE, AT_MOST),
        rows=tuple(
            (label(e), lower_word(e, notes), value_word(e, notes), upper_word(e, notes))
            for e in estimates
        ),
        words=1,
    )


def judged_on(n_members: int, n_holdout: int) -> str:
    """Return how many rows a lower limit rests on, and what the others are for."""
    members, holdout = count_text(n_members), count_text(n_holdout)
    return f"{members} members, {holdout} holdout records; the rest chose the attackers"


def _advantage_heading(design: Design) -> str:
    baseline = design.baseline
    if baseline == 0:
        return "Advantage"
    return f"Advantage (blind guessing has {value_text(baseline)})"


def _worth_showing(estimate: Estimate, design: Design) -> bool:
    # At an even prior the excess is the advantage once more.
    return estimate.quantity != "excess" or design.baseline > 0


def _threshold_label(estimate: Estimate) -> str:
    if estimate.quantity == "auc":
        return "AUC (0.5: no better than chance)"
    share = percent_text(estimate.fpr) if estimate.fpr is not None else "?"
    return f"TPR at FPR {share}"


def _noise_label(estimate: Estimate) -> str:
    if estimate.bandwidth is None:
        return "noise of any s.d."
    return f"noise of s.d. {number_text(estimate.bandwidth)}"


def _published_label(estimate: Estimate) -> str:
    kind = estimate.method.partition(",")[0]
    return f"{plain(estimate.metric or estimate.quantity)}, {plain(kind)}"


def _remarks(contents: Contents, score: str) -> tuple[str, ...]:
    design = contents.design
    main = contents.advantage(score)
    if main is None:
        return ()
    remarks = []
    if main.lower is not None and main.lower <= design.baseline:
        remarks.append("No leak is shown: blind guessing achieves the 'at least' figure too.")
    if main.plugin is not None:
        remarks.append(
            f"Chosen and judged on the same rows, the best attacker has {value_text(main.plugin)}: "
            "too high on average."
        )
    everyone = (design.n_members, design.n_holdout)
    if contents.judged is None and (main.n_members, main.n_holdout) != everyone:
        remarks.append(f"Judged on {judged_on(main.n_members, main.n_holdout)}.")
    sides = {e.side for e in contents.limits(score) if e.side is not None}
    if len(sides) == 1:
        remarks.append(f'TPR at FPR guesses "member" where the score is {sides.pop()}.')
    return tuple(remarks)


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What there is to show of every score column.

    Looking through all estimates for each column would take minutes where there are
    hundreds of columns.

    Attributes:
        design: of the report.
        by_score: the estimates of each score column in the order of the report, the
            strongest column first.
    """

    design: Design
    by_score: Mapping[str, Sequence[Estimate]]

    @classmethod
    def of(cls, report: Report) -> Self:
        """Gather the estimates of a report."""
        gathered: dict[str, list[Estimate]] = {}
        for estimate in report.estimates:
            gathered.setdefault(estimate.score, []).append(estimate)
        return cls(design=report.design, by_score=gathered)

    @cached_property
    def judged(self) -> tuple[int, int] | None:
        """(Members, holdout records) that every main lower limit rests on.

        None where that is everybody or differs from score to score.
        """
        mains = map(self.advantage, self.scores)
        sizes = {(main.n_members, main.n_holdout) for main in mains if main is not None}
        if len(sizes) != 1 or sizes == {(self.design.n_members, self.design.n_holdout)}:
            return None
        return sizes.pop()

    @property
    def scores(self) -> tuple[str, ...]:
        """The score columns, the strongest first."""
        return tuple(self.by_score)

    def limits(self, score: str) -> list[Estimate]:
        """Return the estimates whose limits are intervals."""
        return [e for e in self.by_score[score] if e.validity != "not-an-interval"]

    def published(self, score: str) -> list[Estimate]:
        """Return the estimates as published, whose limits are no intervals."""
        return [e for e in self.by_score[score] if e.validity == "not-an-interval"]

    def advantage(self, score: str, attackers: str = "any") -> Estimate | None:
        """Return the main estimate of a score's advantage, not the published one."""
        found = (e for e in self.limits(score) if e.quantity == "advantage")
        return next((e for e in found if e.attackers == attackers), None)

    def auc(self, score: str) -> Estimate | None:
        """Return the AUC of a score."""
        return next((e for e in self.limits(score) if e.quantity == "auc"), None)
