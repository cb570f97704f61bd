"""The lower limit for any attacker: many assignments of the rows to blocks, averaged.

Attackers are fitted on the past and judged on the next block, so that the mean of each
assignment is at most the optimum (after Luedtke and van der Laan 2016). The answer must not
hang on one of them: it is the mean over all. Later blocks, whose attackers have seen more,
weigh more.

The mean is what each row adds to it: its variance is that of these shares, at least what one
attacker who was fixed beforehand and judged on all rows would have, and at most that of one
assignment. Of several scores of the same rows, where one attacker at a time is on whichever
score has gained most, the shares are not known, as nothing tells in which cells of two scores a
row is: the variance is that of one attacker drawn from all that were used, which is no less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.evidence.scores.assignments import (
    BLOCKS,
    HALVES,
    HOLDOUT,
    MEMBER,
    ROWS_AT_ONCE,
    TURNS,
    Assigned,
    assigned,
    assigned_among,
    assigned_blocks,
    few_cells,
)
from mipaudit.evidence.scores.attacker_choice import (
    Sums,
    by_gain,
    caution_of,
    chosen,
    learnt,
    sums_of,
    write_guesses,
)
from mipaudit.evidence.scores.attacker_families import Family, Lessons, families
from mipaudit.maths.advantage import advantage, baseline
from mipaudit.maths.arrays import Floats, Ints, Places
from mipaudit.maths.binomial import MeanRate, folded_lower

if TYPE_CHECKING:
    from mipaudit.model.row import Attackers
    from mipaudit.summaries.counts import RankedRows

Learner = Callable[[Lessons, Floats], tuple[Floats, Floats, Floats, Floats]]

# Cells of audits that learn together: tables of a megabyte.
_CELLS_AT_ONCE: Final = 1 << 9
# Assignments that learn together, and cells of all of them: tables of one audit with many
# values would leave the cache.
_FEWEST_AT_ONCE: Final = 8
_MOST_AT_ONCE: Final = 1 << 13
_KEPT_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaged:
    """Rates of attackers fixed before the rows that they are judged on, over all assignments.

    Attributes:
        tpr: share of members guessed to be members.
        fpr: likewise of holdout records.
        prior: p in (0, 1).
        assignments: how many the rates are means of.
        n_members: that are judged in any of them.
        n_holdout: likewise.
        several: attackers on several scores of the same rows competed, and two may gain as much.
    """

    tpr: MeanRate
    fpr: MeanRate
    prior: float
    assignments: int
    n_members: int
    n_holdout: int
    several: bool = False

    @property
    def method(self) -> str:
        """Name the method of the lower limit."""
        return f"prequential, {self.assignments} assignments averaged, folded score limit"

    @property
    def value(self) -> float:
        """Return the estimate, clipped at the baseline: biased downward."""
        p = self.prior
        value = advantage(self.tpr.value, self.fpr.value, p)
        return max(baseline(p), value)

    @property
    def standard_error(self) -> float:
        """Return the standard error of the value; above 0 at rates of 0 and 1, too."""
        p = self.prior
        spread = (p * p * self.tpr.cautious, (1 - p) ** 2 * self.fpr.cautious)
        return min(1.0, 2 * math.sqrt(sum(spread)))

    def lower(self, alpha: float) -> float:
        """Return the lower limit at one-sided error alpha, at least the baseline."""
        return folded_lower(
            self.tpr, self.fpr, prior=self.prior, alpha=alpha, anywhere=self.several
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares:
    """What each row adds to the mean of the assignments, in the order of the rows.

    Attributes:
        rates: the means.
        added: to the mean of its class, shape (n,); of several scores for each, shares that add
            up, with a row for each place in its table.
        counted: what it would add if it were always guessed to be a member, likewise.
    """

    rates: Averaged
    added: tuple[Floats, ...]
    counted: Floats


def averaged(rows: RankedRows, prior: float) -> Averaged:
    """Return the mean held-out rates over all assignments.

    Args:
        rows: of both classes.
        prior: p in (0, 1).
    """
    return averaged_each([rows], prior)[0]


def averaged_blocks(blocks: Ints, burn_in: int, prior: float) -> Averaged:
    """Return the mean held-out rates over several orders of blocks of counted rows.

    Args:
        blocks: int64, shape (64, K, 2), by micro-block, cell and (holdout, member).
        burn_in: micro-blocks that only train.
        prior: p in (0, 1).
    """
    return shares_of([assigned_blocks(blocks, burn_in)], prior)[0].rates


def averaged_among(tables: Iterable[Ints], burn_in: int, prior: float) -> Averaged:
    """Return the mean held-out rates of one attacker at a time, chosen among several scores.

    A lower limit of the advantage of all the scores seen together, and of the largest of their
    advantages, without a share of the error for the choice.

    Args:
        tables: as for `averaged_blocks`, one for each score of the *same rows*; K may differ.
        burn_in: micro-blocks that only train, in every order.
        prior: p in (0, 1).
    """
    scores = assigned_among(tables, burn_in)
    run = next(scores)
    found = _counted(run, prior)
    for one in scores:
        found += _counted(one, prior)[1:]  # the constant attackers are the same on any score
    found.sort(key=lambda one: one[1] is not None)  # sets first
    return _among(run, found, prior)[0]


def shares_among(tables: Sequence[Ints], burn_in: int, prior: float) -> Shares:
    """Return what rows add where one attacker at a time, a set, is chosen among several scores.

    Args:
        tables: as for `averaged_among`.
        burn_in: micro-blocks that only train.
        prior: p in (0, 1).
    """
    runs = list(assigned_among(tables, burn_in))
    found: list[tuple[int, Family]] = []
    for score, run in enumerate(runs):
        lessons = Lessons(counts=run.counts, prior=prior, even=run.even, among="any")
        own = islice(families(lessons), 1 if found else 0, None)  # the constant ones but once
        found += [(score, family) for family in own]
    run, sums = runs[0], [(family.hits, family.unsure) for _, family in found]
    rates, best, each = _among(run, sums, prior)
    guesses = [np.zeros((TURNS, BLOCKS, one.counts.shape[-1])) for one in runs]
    first = 0
    for score, family in found:
        first += write_guesses(family, best, first, guesses[score])
    return Shares(
        rates=rates,
        added=tuple(_added(one, own, each) for one, own in zip(runs, guesses, strict=True)),
        counted=_share(run, each),
    )


def _among(run: Assigned, found: list[Sums], prior: float) -> tuple[Averaged, Places, Floats]:
    """Return the rates of those chosen among several scores, who they are, and what a row adds.

    Args:
        run: the rows, by any of the scores.
        found: of the families on all scores, sets first.
        prior: p in (0, 1).
    """
    sizes = run.counts.sum(axis=-1)
    pick = by_gain(np.full(TURNS, caution_of(*run.sizes)), prior)
    best, squared, weights = learnt(found, sizes, prior, pick)
    each = _each(weights, sizes[:, HALVES:])
    hits = sums_of([one for one, _ in found], best)
    share, rates, judged = _share(run, each), [], []
    for side, rows in ((MEMBER, run.member), (HOLDOUT, ~run.member)):
        part, times = share[rows], run.times[rows]
        value = min(float((each * hits)[..., side].sum()), 1.0)
        within = max(float((each * squared)[..., side].sum()) - value * value, 0.0)
        weight = float(part * part @ times)
        rates.append(MeanRate(value=value, variance=within * weight, squares=weight))
        judged.append(int(times @ (part > 0)))
    means = Averaged(
        tpr=rates[0],
        fpr=rates[1],
        prior=prior,
        assignments=TURNS,
        n_members=judged[0],
        n_holdout=judged[1],
        several=True,
    )
    return means, best, each


def _counted(run: Assigned, prior: float) -> list[Sums]:
    """Return the sums of each family."""
    lessons = Lessons(counts=run.counts, prior=prior, even=run.even)
    return [(one.hits, one.unsure) for one in families(lessons)]


def averaged_each(audits: Sequence[RankedRows], prior: float) -> list[Averaged]:
    """Return the mean held-out rates of many audits, each as if it were alone.

    Audits that have as many cells learn together: one call does for all.
    """
    # What glibc has freed once in one piece it keeps from then on, and does not return and
    # fetch again, page by page, the tables of every call. No page of this is touched.
    np.empty(_KEPT_BYTES, dtype=np.uint8)
    runs = [assigned(rows, prior) for rows in audits]
    alike: dict[tuple[int, bool, bool], list[int]] = {}
    for index, run in enumerate(runs):
        few = few_cells(run.counts) is not None
        alike.setdefault((run.counts.shape[-1], run.even, few), []).append(index)
    found: dict[int, Averaged] = {}
    for (cells, *_), indices in alike.items():
        for together in _stacks(indices, cells):
            stacked = [runs[index] for index in together]
            means = shares_of(stacked, prior)
            found.update(zip(together, (one.rates for one in means), strict=True))
    return [found[index] for index in range(len(audits))]


def _stacks(indices: list[int], cells: int) -> Iterator[list[int]]:
    """Yield as many at once as stay in the processor's cache."""
    step = max(1, _CELLS_AT_ONCE // cells)
    for first in range(0, len(indices), step):
        yield indices[first : first + step]


def shares_of(
    runs: list[Assigned], prior: float, among: Attackers | None = None, learn: Learner = chosen
) -> list[Shares]:
    """Return what each row of several audits with as many cells adds.

    Args:
        runs: the audits.
        prior: p in (0, 1).
        among: the class whose sets alone guess; None for all attackers.
        learn: says who guesses, with standard errors that a choice takes off a gain, (Z,).
    """
    counts = np.concatenate([run.counts for run in runs])
    caution = np.repeat([caution_of(*run.sizes) for run in runs], [len(run.counts) for run in runs])
    step = max(_FEWEST_AT_ONCE, _MOST_AT_ONCE // counts.shape[-1])
    few = [slice(first, first + step) for first in range(0, len(counts), step)]
    learnt = [
        learn(Lessons(counts=counts[at], prior=prior, even=runs[0].even, among=among), caution[at])
        for at in few
    ]
    ends = np.cumsum([len(run.counts) for run in runs])[:-1]
    split = (np.split(np.concatenate(one), ends) for one in zip(*learnt, strict=True))
    return [_mean(run, *found, prior=prior) for run, *found in zip(runs, *split, strict=True)]


def _mean(
    run: Assigned, sizes: Floats, guesses: Floats, squared: Floats, weights: Floats, *, prior: float
) -> Shares:
    """Return the mean rates, from what each row adds to them."""
    each = _each(weights, sizes)
    few = few_cells(run.counts) is not None
    if few:
        added, counted = _as_one(run, guesses, weights)
    else:
        added, counted = _added(run, guesses, each), _share(run, each)
    squares = (each * squared).sum(axis=(0, 1))
    one = (weights[..., None] ** 2 / np.maximum(sizes, 1)).sum(axis=1).mean(axis=0)
    rates, judged = [], []
    for side, rows in ((MEMBER, run.member), (HOLDOUT, ~run.member)):
        at = np.flatnonzero(rows)
        share, part, times = added.take(at), counted.take(at), run.times.take(at)
        judged.append(int(times @ (part > 0)))
        value = min(float(share @ times), 1.0)
        left = share - part * value
        size = max(judged[-1], 1)
        seen = size / max(size - 1, 1) * float(left * left @ times)
        within = max((value if few else float(squares[side])) - value * value, 0.0)
        variance = min(max(seen, within / size), within * (1 / size if few else float(one[side])))
        weight = float(part * part @ times)
        rates.append(MeanRate(value=value, variance=variance, squares=weight))
    means = Averaged(
        tpr=rates[0],
        fpr=rates[1],
        prior=prior,
        assignments=len(weights),
        n_members=judged[0],
        n_holdout=judged[1],
    )
    return Shares(rates=means, added=(added,), counted=counted)


def _as_one(run: Assigned, guesses: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return what rows add and would add to the mean of one attacker, who is judged on all rows.

    It guesses as all that were chosen do on average, in both classes alike: weights of rows, which
    differ between the classes, would make two constant guesses differ, too.

    Args:
        run: the rows.
        guesses: of those who were chosen, in the cells, shape (S, BLOCKS, K).
        weights: of the blocks, shape (S, BLOCKS).
    """
    cells = guesses.shape[-1]
    mixed = np.einsum("sb,sbk->sk", weights, guesses)
    places = run.place % cells + np.arange(len(mixed), dtype=np.int32)[:, None] * cells
    guessed = mixed.take(places).mean(axis=0)
    sizes = np.bincount(run.member, weights=run.times, minlength=2)
    counted = bool(weights.any()) / np.maximum(sizes, 1)[run.member.astype(np.intp)]
    return guessed * counted, counted


def _each(weights: Floats, sizes: Floats) -> Floats:
    """Return what one row of a block and class adds to the mean, shape (S, BLOCKS, 2)."""
    return np.asarray(weights[..., None] / np.maximum(sizes, 1) / len(weights))


def _added(run: Assigned, guesses: Floats, each: Floats) -> Floats:
    """Return what each row adds to the mean by guesses in the cells, (S, BLOCKS, K)."""
    table = np.zeros(run.counts.shape)
    np.multiply(guesses[:, :, None], each[..., None], out=table[:, HALVES:])
    # Of many rows one assignment after the other, within the cache; the sum is the same.
    whole = run.place.size <= ROWS_AT_ONCE
    flat, added = table.ravel(), np.zeros(run.member.size)
    for place in run.place[None] if whole else run.place[:, None]:
        added += flat.take(place, mode="clip").sum(axis=0)
    return added


def _share(run: Assigned, each: Floats) -> Floats:
    """Return what each row would add to the mean if it were always guessed, shape (n,).

    Args:
        run: the rows.
        each: what one row of a block and class adds, shape (S, BLOCKS, 2).
    """
    lines = np.zeros(run.counts.shape[:-1])
    lines[:, HALVES:] = each
    by_label = lines.ravel()[run.lines].sum(axis=1)
    looked_up = [one.take(label) for one, label in zip(by_label, run.labels, strict=True)]
    return np.asarray(np.sum(looked_up, axis=0))
