"""The advantage of the best of all attackers and of the best of a class, on one number or several.

What thresholds on one side of the score reach belongs to it: the AUC, and the TPR at an FPR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.validation.estimands.estimand import Estimand, Interval, interval_of, trivial
from mipaudit.validation.laws.law import Law

if TYPE_CHECKING:
    from mipaudit.model.row import Attackers
    from mipaudit.validation.estimands.audited_file import AuditedFile, AuditedVector
    from mipaudit.validation.laws.law import Side

_INTERVALS: Final[Mapping[Attackers, int]] = {"intervals-1": 1, "intervals-4": 4}
_GUESSING: Final = 0.5  # the AUC of a score that tells nothing


def _excess(law: Law, prior: float) -> float:
    return law.advantage(prior) - trivial(prior)


def _interval_rows(audited: AuditedFile) -> Iterator[Interval]:
    for attackers, k in _INTERVALS.items():
        for estimate in audited.stated("advantage", attackers):
            yield interval_of(estimate, k, label=f"({k})")


def _bin_rows(audited: AuditedFile) -> Iterator[Interval]:
    for estimate in audited.stated("advantage", "bins-16"):
        yield interval_of(estimate, audited.bin_edges)


def _auc(law: Law, _prior: float, side: str) -> float:
    high = law.auc()
    return {"high": high, "low": 1 - high, "either": max(high, 1 - high)}[side]


def _auc_rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield the AUC of the side that its lower limit is stated of.

    A lower limit of 1/2 is one of the better side, whichever that is.
    """
    for estimate in audited.stated("auc", "thresholds"):
        shown = estimate.lower is not None and estimate.lower > _GUESSING
        yield interval_of(estimate, str(estimate.side) if shown else "either")


def _tpr(law: Law, _prior: float, fpr: float, side: str) -> float:
    sides: tuple[Side, ...] = ("high", "low")
    return max(law.tpr_at_fpr(fpr, one) for one in sides if side in {one, "either"})


def _tpr_rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield the lower limit on the chosen side, and the upper one for both."""
    for estimate in audited.stated("tpr_at_fpr", "thresholds"):
        fpr = float(estimate.fpr or 0)
        one = interval_of(estimate, fpr, str(estimate.side), label=f"@{fpr:g}")
        yield replace(one, upper=None)
        label = f"{one.label}, either side"
        yield replace(one, lower=None, value=None, args=(fpr, "either"), label=label)


def _vector(law: Law, prior: float, fitted: float | None = None) -> float:
    return law.advantage(prior) if fitted is None else fitted


def _vector_rows(audited: AuditedVector) -> Iterator[Interval]:
    """Yield what is stated of any attacker, of the learned score and of the grid.

    Which score was learned, and which cells were cut, differs from file to file, and so does
    what the best of these attackers has: the argument is that.
    """
    for estimate in audited.stated("advantage", "any"):
        yield interval_of(estimate)
    for estimate in audited.stated("advantage", "learned"):
        yield interval_of(estimate, audited.learned_truth, label=", learned")
    for estimate in audited.stated("advantage", "product-grid"):
        if audited.grid_truth is not None:
            yield interval_of(estimate, audited.grid_truth, label=", product grid")


ADVANTAGE: Final = (
    Estimand(
        name="advantage",
        truth=Law.advantage,
        statements=(("advantage", "any"),),
        baseline=trivial,
    ),
    # The advantage on three other scales, whose limits miss exactly when its own do.
    Estimand(name="excess", truth=_excess, statements=(("excess", "any"),), by_name_only=True),
    Estimand(
        name="eta",
        truth=lambda law, prior: 0.5 * _excess(law, prior),
        statements=(("eta", "any"),),
        by_name_only=True,
    ),
    Estimand(
        name="accuracy",
        truth=lambda law, prior: (1 + law.advantage(prior)) / 2,
        statements=(("accuracy", "any"),),
        baseline=lambda prior: (1 + trivial(prior)) / 2,
        by_name_only=True,
    ),
    Estimand(
        name="advantage_thresholds",
        truth=Law.advantage_thresholds,
        statements=(("advantage", "thresholds"),),
        baseline=trivial,
    ),
    # Of the best union of at most k intervals, or its complement.
    Estimand(
        name="advantage_intervals",
        truth=Law.advantage_intervals,
        statements=tuple(("advantage", attackers) for attackers in _INTERVALS),
        said=_interval_rows,
        baseline=trivial,
    ),
    # Where only the bin is seen, of those that the burn-in cut.
    Estimand(
        name="advantage_bins",
        truth=Law.advantage_bins,
        statements=(("advantage", "bins-16"),),
        said=_bin_rows,
        baseline=trivial,
    ),
    Estimand(
        name="auc",
        truth=_auc,
        statements=(("auc", "thresholds"),),
        said=_auc_rows,
        baseline=lambda *_: _GUESSING,
    ),
    Estimand(
        name="tpr_at_fpr",
        title="tpr",
        truth=_tpr,
        statements=(("tpr_at_fpr", "thresholds"),),
        said=_tpr_rows,
        baseline=lambda _prior, fpr, _side: fpr,
    ),
    Estimand(
        name="advantage_vector",
        truth=_vector,
        said=_vector_rows,
        baseline=trivial,
        vectorial=True,
        by_name_only=True,
    ),
)
