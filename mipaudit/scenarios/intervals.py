"""Every interval that ``estimate`` prints, in the form that a coverage run checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.audit.evidence import BINS, Evidence
from mipaudit.scenarios.coverage import Estimand, Interval
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.audit.estimate import Attackers

ALPHA: Final = 0.05
ONE_SIDED: Final = 1 - ALPHA / 2
_FPRS: Final = (0.01, 0.1)
_FIXED_CLASSES: Final[tuple[tuple[Attackers, Estimand, tuple[int, ...]], ...]] = (
    ("thresholds", "advantage_thresholds", ()),
    ("intervals-1", "advantage_intervals", (1,)),
    ("intervals-4", "advantage_intervals", (4,)),
)


def evidence_of(
    member: NDArray[np.bool_],
    score: NDArray[np.float64],
    prior: float,
    seed: int,
    *,
    strict: bool = False,
) -> tuple[Evidence, NDArray[np.float64]]:
    """Return the evidence of one score column held in memory, and its cut points."""
    rows = Rows(
        first_row=0,
        source_rows=member.size,
        kept=None,
        keys=None,
        member=member,
        scores=(score,),
    )
    sample = BurnInSample(1, seed)
    sample.add(rows)
    sample.settle()
    plan = make_plan(sample, ["float"], prior=prior, discrete=False, seed=seed)
    tally = Tally(plan)
    tally.add(rows)
    (counts,) = tally.counts()
    evidence = Evidence(score="score", counts=counts, prior=prior, strict=strict, seed=seed)
    return evidence, plan.columns[0].cells.edges


def default_intervals(
    member: NDArray[np.bool_], score: NDArray[np.float64], prior: float, seed: int
) -> list[Interval]:
    """Return every interval of the default methods at 95% confidence."""
    return _intervals(member, score, prior, seed, strict=False)


def strict_intervals(
    member: NDArray[np.bool_], score: NDArray[np.float64], prior: float, seed: int
) -> list[Interval]:
    """Return every interval of the finite-sample methods at 95% confidence."""
    return _intervals(member, score, prior, seed, strict=True)


def _intervals(
    member: NDArray[np.bool_], score: NDArray[np.float64], prior: float, seed: int, *, strict: bool
) -> list[Interval]:
    evidence, edges = evidence_of(member, score, prior, seed, strict=strict)
    alpha = ALPHA / 2
    found = [
        Interval(
            estimand="advantage",
            lower=evidence.lower(alpha),
            upper=evidence.upper("any", alpha),
            nominal=ONE_SIDED,
        ),
        *(
            Interval(
                estimand=estimand,
                lower=None,
                upper=evidence.upper(attackers, alpha),
                nominal=ONE_SIDED,
                estimand_args=args,
            )
            for attackers, estimand, args in _FIXED_CLASSES
        ),
        Interval(
            estimand="advantage_bins",
            lower=None,
            upper=evidence.upper("bins-16", alpha),
            nominal=ONE_SIDED,
            estimand_args=tuple(edges[evidence.bin_ends(BINS)]),
            label="bins-16",
        ),
    ]
    return [*found, *_one_sided(evidence, alpha)]


def _one_sided(evidence: Evidence, alpha: float) -> list[Interval]:
    """Return AUC, and TPR at FPR: a lower limit on the chosen side, an upper on both."""
    area = evidence.auc(ALPHA)
    high = evidence.side == "high"
    found = [
        Interval(
            estimand="auc",
            lower=area.lower if high else 1 - area.upper,
            upper=area.upper if high else 1 - area.lower,
            nominal=ONE_SIDED,
            label="auc",
        )
    ]
    for fpr in _FPRS:
        upper = evidence.tpr_upper(fpr, alpha)
        point = evidence.tpr(fpr, alpha)
        found.extend(
            Interval(
                estimand="tpr_at_fpr",
                lower=point.lower if side == evidence.side else None,
                upper=upper,
                nominal=ONE_SIDED,
                estimand_args=(fpr, side),
                label=f"tpr@{fpr:g} {side}",
            )
            for side in ("high", "low")
        )
    return found
