"""The exact share of wrong limits where few different files exist.

A score of two values: a member has the value 1 with probability T, a holdout record with
probability F. A file of so many rows is then one of few contents, each with a known probability,
and each is audited once. No file is drawn, and a seed that follows from the content is
the one that it has in use. Where T is 1 there are N + 1 contents.

For each limit the share of wrong ones is a function of F that jumps just beyond every limit that
is printed: its largest value is found there, and no grid misses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.estimands.estimand import AuditedFile
from mipaudit.validation.estimands.methods import ESTIMANDS
from mipaudit.validation.law import coin, law_of
from mipaudit.validation.replications import results
from mipaudit.validation.report import ExactRow

if TYPE_CHECKING:
    from mipaudit.validation.estimands.estimand import Args, Interval, Side
    from mipaudit.validation.law import Law
    from mipaudit.validation.replications import Form

Floats = NDArray[np.float64]

# Rows of a class, with T: each in every content.
_SIZES: Final[dict[Form, tuple[tuple[int, float], ...]]] = {
    "quick": ((30, 1.0), (75, 1.0)),
    "full": (
        *((size, 1.0) for size in (*range(20, 131), 150, 200, 250, 300, 400, 1_500)),
        *((size, tpr) for tpr in (0.97, 0.95) for size in (20, 40)),
    ),
}
# Whatever `estimate` and `records` print of one score, and what an attack achieves.
_ASKED: Final = (
    *("advantage", "advantage_thresholds", "advantage_intervals", "advantage_bins"),
    *("auc", "tpr_at_fpr", "metric", "record_risk", "largest_risk", "named_attack"),
)
# Sizes and priors at which lower limits were once wrong: of those alone.
_LARGER: Final[dict[Form, tuple[tuple[int, float], ...]]] = {
    "quick": ((150, 0.5),),
    "full": ((83, 0.1), (250, 0.1), (1_500, 0.1)),
}
_PRIORS: Final = (0.5, 0.1, 0.9)
# Priors other than the first at sizes that this divides.
_SOME: Final = 20
# What is approximate may miss by so much more than it says; what is proved by nothing.
_TOLERATED: Final = 1.1
_ROUNDING: Final = 1e-6
_SEEDS: Final = 4
_NEAR: Final = 1e-6
_SIDES: Final[tuple[Side, ...]] = ("lower", "upper")
_BELOW: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Files of one size and prior, in every content.

    Attributes:
        size: rows of each class.
        tpr: T.
        prior: p in (0, 1).
        strict: whether the finite-sample methods are asked for; they hold over seeds, too.
        asked: names of estimands.
    """

    size: int
    tpr: float
    prior: float
    strict: bool
    asked: tuple[str, ...] = _ASKED


def settings_of(form: Form, *, strict: bool) -> list[Setting]:
    """Return what is enumerated in a form of the run."""
    every = [
        Setting(size=size, tpr=tpr, prior=prior, strict=strict)
        for size, tpr in _SIZES[form]
        for prior in _PRIORS
        if prior == _PRIORS[0] or size % _SOME == 0
    ]
    larger = [
        Setting(size=size, tpr=1.0, prior=prior, strict=strict, asked=("advantage", "metric"))
        for size, prior in _LARGER[form]
    ]
    return every + larger


def enumerated(form: Form, *, strict: bool, jobs: int) -> tuple[ExactRow, ...]:
    """Return the rows of all settings of a form, the largest files first to be begun.

    Args:
        form: of the run, which says how many sizes.
        strict: whether the finite-sample methods are asked for.
        jobs: processes, at least 1; 1 runs here.
    """
    settings = settings_of(form, strict=strict)
    found = results(exact_rows, [(one,) for one in reversed(settings)], jobs=jobs)
    return tuple(row for rows in reversed([*found]) for row in rows)


def exact_rows(of: Setting) -> list[ExactRow]:
    """Return a row for each limit and side in a setting."""
    seeds = range(_SEEDS if of.strict else 1)
    # What each limit of a label says of a content: so many of either class have the value 1.
    stated: dict[tuple[str, Side], list[tuple[int, int, Interval]]] = {}
    for hits in range(of.size if of.tpr == 1 else 0, of.size + 1):
        for alarms, seed in product(range(of.size + 1), seeds):
            for one in _said(of, hits, alarms, seed):
                for side in _SIDES:
                    if not np.isnan(one.limit(side)):
                        stated.setdefault((one.label, side), []).append((hits, alarms, one))
    return [_row(side, said, of, len(seeds)) for (_, side), said in stated.items()]


def _said(of: Setting, hits: int, alarms: int, seed: int) -> Iterator[Interval]:
    """Yield what is stated of a content, and of the same rows where they are counted."""
    size = of.size
    member = np.arange(2 * size) < size
    score = np.concatenate([np.arange(size) < hits, np.arange(size) < alarms]).astype(np.float64)
    kept = AuditedFile(
        member=member, score=score, prior=of.prior, seed=seed, strict=of.strict, discrete=True
    )
    for name in of.asked:
        yield from ESTIMANDS[name].intervals(kept)
    counted = replace(kept, counted=True)
    for name in of.asked:
        if not ESTIMANDS[name].by_name_only:
            for found in ESTIMANDS[name].intervals(counted):
                yield replace(found, label=f"{found.label}, counted")


def _row(
    side: Side, stated: Sequence[tuple[int, int, Interval]], of: Setting, seeds: int
) -> ExactRow:
    """Return the worst that a limit does at any F up to T."""
    from scipy.stats import binom

    size, tpr, prior = of.size, of.tpr, of.prior
    at = _places(tpr)
    hits, alarms, said = zip(*stated, strict=True)
    gaps = np.array([_gap(one, side, tpr, prior) for one in said])
    share = binom.pmf(hits, size, tpr) / seeds
    worst, where = 0.0, 0.0
    for fpr, before, part in _jumps(gaps, at):
        between = gaps[:, before] * (1 - part) + gaps[:, before + 1] * part
        missed = float((share * binom.pmf(alarms, size, fpr))[between < -_BELOW].sum())
        if missed > worst:
            worst, where = missed, fpr
    first = said[0]
    error = 1 - first.nominal
    return ExactRow(
        label=first.label,
        side=side,
        records=2 * size,
        prior=prior,
        tpr=tpr,
        fpr=where,
        nominal=first.nominal,
        coverage=1 - worst,
        finite_sample=first.finite_sample,
        falls_short=worst > error * ((1 if first.finite_sample else _TOLERATED) + _ROUNDING),
    )


def _jumps(gaps: Floats, at: Floats) -> Iterator[tuple[float, int, float]]:
    """Yield where a limit begins to miss: F, the place before it, and the part of the way on."""
    wrong = gaps < 0
    for content, before in np.argwhere(wrong[:, 1:] != wrong[:, :-1]).tolist():
        left, right = gaps[content, before], gaps[content, before + 1]
        part = left / (left - right) if np.isfinite(left - right) else 0.5
        # A hair beyond, on the side where it misses.
        part += (_NEAR if right < left else -_NEAR) / (at[before + 1] - at[before])
        part = float(np.clip(part, 0, 1))
        yield float(at[before] * (1 - part) + at[before + 1] * part), before, part


@cache
def _places(tpr: float) -> Floats:
    """Return values of F from 0 to T, closer where a rate is rare."""
    return np.concatenate([[0.0], np.geomspace(1e-5, 0.05, 100), np.linspace(0.05, tpr, 200)[1:]])


def _gap(one: Interval, side: Side, tpr: float, prior: float) -> Floats:
    """Return how far the limit is on its side of the truth at each place."""
    truth, limit = _truths(one.estimand, one.args, tpr, prior), one.limit(side)
    return np.asarray(truth - limit if side == "lower" else limit - truth)


@cache
def _truths(estimand: str, args: Args, tpr: float, prior: float) -> Floats:
    return np.array([ESTIMANDS[estimand].truth(law, prior, *args) for law in _laws(tpr)])


@cache
def _laws(tpr: float) -> tuple[Law, ...]:
    return tuple(law_of("two-valued", "", coin(tpr), coin(fpr)) for fpr in _places(tpr).tolist())
