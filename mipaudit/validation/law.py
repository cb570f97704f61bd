"""Laws: how the scores of both classes are distributed, and what is true of them.

Each class is a mixture of simple parts. A part is either continuous or a set of atoms; it draws
its scores in one way and states its distribution function in another, so that tests can compare
them.

Every truth is computed from a ladder: the two distributions, cut into ordered rungs. A rung is an
atom, or a narrow cell of the continuous parts. An attacker's guess may change only between rungs,
except for the true positive rate at a false positive rate, which is interpolated inside a cell.
What that loses is of the order of the square of a cell's mass, because an optimal attacker changes
his guess in few cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from mipaudit.maths.arrays import Bools, Floats, Places

Function = Callable[[Floats], Floats]
# Takes how many, and returns as many independent scores.
Draw = Callable[[np.random.Generator, int], Floats]

_TAIL_STEPS: Final = 24
_REACH: Final = 40.0  # standard deviations: no draw is further from its mean
_HALVINGS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Continuous:
    """A part without atoms.

    Attributes:
        draw: independent scores.
        cdf: P(score <= x) for each x; infinities are allowed.
        quantile: the scores at levels, each in (0, 1).
        kinks: the scores where the density is not smooth.
    """

    draw: Draw
    cdf: Function
    quantile: Function
    kinks: Sequence[float] | Floats = ()

    def edges(self, cells: int) -> Floats:
        """Return points that cut the part into cells of at most 1/``cells`` of its mass.

        The two outermost cells are halved again and again, for low false-positive rates.
        """
        inner = np.arange(1, cells) / cells
        tail = np.exp2(-np.arange(1, _TAIL_STEPS + 1)) / cells
        return np.concatenate([self.quantile(np.concatenate([tail, inner, 1 - tail])), self.kinks])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Discrete:
    """A part of atoms only.

    Attributes:
        draw: independent scores.
        values: of the atoms, increasing.
        table: returns their masses, which sum to 1, and P(score <= value) after a 0.
    """

    draw: Draw
    values: Floats
    table: Callable[[], tuple[Floats, Floats]]

    def cdf(self, x: Floats) -> Floats:
        """Return P(score <= x)."""
        return self.table()[1][np.searchsorted(self.values, x, side="right")]

    def atoms(self) -> tuple[Floats, Floats]:
        """Return the increasing values and their masses, which sum to 1."""
        return self.values, self.table()[0]


Part = Continuous | Discrete


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mixture:
    """Parts with weights that sum to 1."""

    parts: tuple[Part, ...]
    weights: tuple[float, ...]

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Return ``size`` independent scores, in no particular order of parts."""
        if len(self.parts) == 1:
            return self.parts[0].draw(rng, size)
        source = rng.choice(len(self.parts), size, p=self.weights)
        scores = np.empty(size)
        for index, part in enumerate(self.parts):
            chosen = source == index
            scores[chosen] = part.draw(rng, int(chosen.sum()))
        return scores

    def cdf(self, x: Floats) -> Floats:
        """Return P(score <= x), atoms at x included."""
        total = np.zeros(x.shape)
        for part, weight in zip(self.parts, self.weights, strict=True):
            total += weight * part.cdf(x)
        return total

    def continuous_cdf(self, x: Floats) -> Floats:
        """Return the mass at or below x of the continuous parts alone."""
        total = np.zeros(x.shape)
        for part, weight in zip(self.parts, self.weights, strict=True):
            if isinstance(part, Continuous):
                total += weight * part.cdf(x)
        return total

    def edges(self, cells: int) -> Floats:
        """Return the cell edges of all continuous parts; empty if there is none."""
        found = [part.edges(cells) for part in self.parts if isinstance(part, Continuous)]
        return np.concatenate([np.empty(0), *found])

    def atoms(self) -> tuple[Floats, Floats]:
        """Return all atoms, as values (a value may repeat) and masses."""
        values, masses = [np.empty(0)], [np.empty(0)]
        for part, weight in zip(self.parts, self.weights, strict=True):
            if isinstance(part, Discrete):
                at, mass = part.atoms()
                values.append(at)
                masses.append(weight * mass)
        return np.concatenate(values), np.concatenate(masses)


def mixture(*weighted: tuple[float, Part]) -> Mixture:
    """Return the mixture of (weight, part) pairs; the weights sum to 1."""
    return Mixture(
        parts=tuple(part for _, part in weighted), weights=tuple(weight for weight, _ in weighted)
    )


def atoms(values: Floats, masses: Floats) -> Discrete:
    """Return finitely many increasing values (infinity allowed), with masses that sum to 1."""
    return Discrete(
        draw=lambda rng, size: rng.choice(values, size, p=masses),
        values=values,
        table=lambda: (masses, np.concatenate([[0.0], np.cumsum(masses)])),
    )


def rounded(base: Continuous, values: Floats) -> Discrete:
    """Return continuous scores rounded to the nearest of some increasing, finite values."""
    middles = (values[1:] + values[:-1]) / 2

    def table() -> tuple[Floats, Floats]:
        levels = np.concatenate([[0.0], base.cdf(middles), [1.0]])
        return np.diff(levels), levels

    return Discrete(
        draw=lambda rng, size: values[np.searchsorted(middles, base.draw(rng, size))],
        values=values,
        table=table,
    )


def _special() -> Any:  # noqa: ANN401 - a module without types
    from scipy import special

    return special


def normal(mean: float = 0.0, sd: float = 1.0) -> Continuous:
    """Return normal scores."""
    return Continuous(
        draw=lambda rng, size: rng.normal(mean, sd, size),
        cdf=lambda x: np.asarray(_special().ndtr((x - mean) / sd)),
        quantile=lambda level: np.asarray(mean + sd * _special().ndtri(level)),
    )


def drift(start: float, stop: float) -> Continuous:
    """Return normal scores whose mean moves evenly along the rows; their law is the mean of all."""

    def draw(rng: np.random.Generator, size: int) -> Floats:
        along = (np.arange(size) + 1 / 2) / max(size, 1)
        return rng.normal(start + (stop - start) * along)

    def cdf(x: Floats) -> Floats:
        middle, half = (start + stop) / 2, (stop - start) / 2
        # By symmetry the lower tail serves for both, so that neither is lost in rounding.
        z = np.maximum(-np.abs(x - middle), -_REACH)[:, None] + [half, -half]
        sums = z * _special().ndtr(z) + np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        tail = (sums[:, 0] - sums[:, 1]) / (2 * half)
        return np.asarray(np.where(x > middle, 1 - tail, tail))

    def quantile(level: Floats) -> Floats:
        # By halving.
        step = stop - start + 2 * _REACH
        found = np.full(level.shape, start - _REACH)
        for _ in range(_HALVINGS):
            step /= 2
            found += np.where(cdf(found + step) < level, step, 0.0)
        return found

    return Continuous(draw=draw, cdf=cdf, quantile=quantile)


def half_normal(sd: float) -> Continuous:
    """Return absolute values of normal scores about 0: the errors of a regression."""
    scale = sd * math.sqrt(2)
    return Continuous(
        draw=lambda rng, size: np.abs(rng.normal(0.0, sd, size)),
        cdf=lambda x: np.asarray(_special().erf(np.maximum(x, 0.0) / scale)),
        quantile=lambda level: np.asarray(scale * _special().erfinv(level)),
        kinks=(0.0,),
    )


def log_normal(log_mean: float = 0.0, log_sd: float = 1.0) -> Continuous:
    """Return exponentials of normal scores."""
    logs = normal(log_mean, log_sd)

    def cdf(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return logs.cdf(np.log(np.maximum(x, 0.0)))

    return Continuous(
        draw=lambda rng, size: rng.lognormal(log_mean, log_sd, size),
        cdf=cdf,
        quantile=lambda level: np.asarray(np.exp(logs.quantile(level))),
    )


def laplace(centre: float = 0.0, scale: float = 1.0) -> Continuous:
    """Return Laplace scores: what the Laplace mechanism releases."""

    def cdf(x: Floats) -> Floats:
        z = (x - centre) / scale
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, tail, 1 - tail)

    def quantile(level: Floats) -> Floats:
        distance = -np.log(2 * np.minimum(level, 1 - level))
        return np.asarray(centre + scale * np.sign(level - 0.5) * distance)

    return Continuous(
        draw=lambda rng, size: rng.laplace(centre, scale, size),
        cdf=cdf,
        quantile=quantile,
        kinks=(centre,),
    )


def cauchy(centre: float = 0.0) -> Continuous:
    """Return Cauchy scores: no mean, so equal-width bins see nothing."""
    return Continuous(
        draw=lambda rng, size: centre + rng.standard_cauchy(size),
        cdf=lambda x: 0.5 + np.arctan(x - centre) / math.pi,
        quantile=lambda level: centre + np.tan(math.pi * (level - 0.5)),
    )


def pareto(index: float, shift: float = 0.0) -> Continuous:
    """Return ``shift`` plus a Pareto score, which is at least 1."""
    return Continuous(
        draw=lambda rng, size: shift + 1.0 + rng.pareto(index, size),
        cdf=lambda x: -np.expm1(-index * np.log(np.maximum(x - shift, 1.0))),
        quantile=lambda level: np.asarray(shift + np.exp(-np.log1p(-level) / index)),
        kinks=(shift + 1.0,),
    )


def beta(a: float, b: float) -> Continuous:
    """Return beta scores, as a classifier's confidence in the true label."""
    return Continuous(
        draw=lambda rng, size: rng.beta(a, b, size),
        cdf=lambda x: np.asarray(_special().betainc(a, b, np.clip(x, 0.0, 1.0))),
        quantile=lambda level: np.asarray(_special().betaincinv(a, b, level)),
    )


def steps(masses: Sequence[float] | Floats, start: float = 0.0, stop: float = 1.0) -> Continuous:
    """Return a density constant on equal steps of [start, stop], with these positive masses."""
    ends = np.linspace(start, stop, len(masses) + 1)
    levels = np.concatenate([[0.0], np.cumsum(masses)])

    def draw(rng: np.random.Generator, size: int) -> Floats:
        step = rng.choice(len(masses), size, p=masses)
        return start + (stop - start) / len(masses) * (step + rng.random(size))

    return Continuous(
        draw=draw,
        cdf=lambda x: np.interp(x, ends, levels),
        quantile=lambda level: np.interp(level, levels, ends),
        kinks=ends,
    )


Side = Literal["high", "low"]
# Cumulative masses of up to 10^6 rungs are exact to about this much.
_ROUNDING: Final = 1e-11
# Four times as many change no truth by more than 1e-8 (a test says so).
CELLS: Final = 2**15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ladder:
    """Masses of both classes on rungs in increasing order of score.

    Attributes:
        members: float64[J], sums to 1.
        holdout: float64[J], sums to 1.
        atom: bool[J], True where the rung is one value and cannot be cut.
        upper: float64[J], where each rung ends; the value of an atom. May be empty.
    """

    members: Floats
    holdout: Floats
    atom: Bools
    upper: Floats = field(default_factory=lambda: np.empty(0))

    def gains(self, prior: float) -> Floats:
        """Return p P_j - (1-p) Q_j per rung."""
        return prior * self.members - (1 - prior) * self.holdout

    def advantage(self, prior: float) -> float:
        """Return the advantage of the best of all attackers, in [|2p-1|, 1]."""
        return float(np.abs(self.gains(prior)).sum())

    def advantage_thresholds(self, prior: float) -> float:
        """Return the best advantage of a threshold in either direction, or constant guess."""
        above = np.concatenate([[0.0], np.cumsum(self.gains(prior))])
        best = max(float(above.max()), float(above[-1] - above.min()))
        return 1 - 2 * prior + 2 * best

    def advantage_intervals(self, prior: float, k: int) -> float:
        """Return the best advantage of at most ``k`` intervals, or the complement of such."""
        gains = self.gains(prior)
        best = max(best_union(gains, k), 2 * prior - 1 + best_union(-gains, k))
        return 1 - 2 * prior + 2 * best

    def auc(self) -> float:
        """Return P(member > holdout) + P(tie)/2."""
        below = np.cumsum(self.holdout) - self.holdout
        return float(np.dot(self.members, below + self.holdout / 2))

    def tpr_at_fpr(self, fpr: float, side: Side) -> float:
        """Return the TPR at an FPR of a threshold on this side, a coin tossed among ties."""
        order = slice(None, None, -1) if side == "high" else slice(None)
        members, holdout = self.members[order], self.holdout[order]
        false, true = np.cumsum(holdout), np.cumsum(members)
        whole = int(np.searchsorted(false, fpr + _ROUNDING, side="right"))
        tpr = float(true[whole - 1]) if whole else 0.0
        if whole == len(false):
            return min(tpr, 1.0)
        spare = max(0.0, fpr - float(false[whole] - holdout[whole]))
        return min(1.0, tpr + float(members[whole]) * spare / float(holdout[whole]))


def best_union(gains: Floats, k: int) -> float:
    """Return the greatest sum of ``gains`` over at most ``k`` runs of neighbours.

    Dynamic programming on prefix sums, O(k J); the empty union counts, with sum 0.
    """
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    best = np.zeros(len(sums))
    for _ in range(k):
        opened = np.maximum.accumulate(best - sums)
        best = np.maximum.accumulate(opened + sums)
    return float(best[-1])


def build_ladder(members: Mixture, holdout: Mixture, cells: int) -> Ladder:
    """Cut both classes at the quantiles of all their parts, and at every atom.

    Args:
        members: law of member scores.
        holdout: law of holdout scores.
        cells: cells per continuous part, above 1.
    """
    values, member_atoms, holdout_atoms = _common_atoms(members, holdout)
    inner = np.concatenate([members.edges(cells), holdout.edges(cells)])
    edges = np.unique(np.concatenate([inner, values, [-np.inf, np.inf]]))
    if inner.size == 0:
        edges = np.empty(0)
    # A cell ends below its upper edge, so it comes before an atom there.
    position = np.concatenate([edges[1:], values])
    atom = np.arange(len(position)) >= len(position) - len(values)
    order = np.lexsort((atom, position))
    return Ladder(
        members=np.concatenate([np.diff(members.continuous_cdf(edges)), member_atoms])[order],
        holdout=np.concatenate([np.diff(holdout.continuous_cdf(edges)), holdout_atoms])[order],
        atom=atom[order],
        upper=position[order],
    )


def _common_atoms(members: Mixture, holdout: Mixture) -> tuple[Floats, Floats, Floats]:
    """Return the atoms of both classes, and the mass of each class at each."""
    member_values, member_masses = members.atoms()
    holdout_values, holdout_masses = holdout.atoms()
    values, rank = np.unique(np.concatenate([member_values, holdout_values]), return_inverse=True)
    split = len(member_values)
    at_members = np.zeros(len(values))
    at_holdout = np.zeros(len(values))
    np.add.at(at_members, rank[:split], member_masses)
    np.add.at(at_holdout, rank[split:], holdout_masses)
    return values, at_members, at_holdout


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Law:
    """A joint law of independent member and holdout scores, with its truths.

    Attributes:
        name: stable, lower case, with hyphens.
        description: one line.
        discrete: whether the scores come from a small alphabet known beforehand.
        members: law of a member's score.
        holdout: law of a holdout record's score.
    """

    name: str
    description: str
    discrete: bool
    members: Mixture
    holdout: Mixture

    @property
    def width(self) -> int:
        """Return how many numbers a score has; see `VectorLaw`."""
        return 1

    def sample(
        self, rng: np.random.Generator, n_members: int, n_holdout: int
    ) -> tuple[Floats, Floats]:
        """Return independent member scores and holdout scores."""
        return self.members.draw(rng, n_members), self.holdout.draw(rng, n_holdout)

    def advantage(self, prior: float) -> float:
        """Return the advantage of the best of all attackers at this prior, in [|2p-1|, 1]."""
        return ladder_of(self).advantage(prior)

    def advantage_thresholds(self, prior: float) -> float:
        """Return the best advantage of a threshold in either direction, or constant guess."""
        return ladder_of(self).advantage_thresholds(prior)

    def advantage_intervals(self, prior: float, k: int) -> float:
        """Return the best advantage of at most ``k`` intervals, or the complement of such."""
        return ladder_of(self).advantage_intervals(prior, k)

    def advantage_bins(self, prior: float, edges: Sequence[float]) -> float:
        """Return the best advantage when only the bin is seen.

        Args:
            prior: p in (0, 1).
            edges: increasing cut points e_i: the bins are (e_i-1, e_i], and an open one
                at each end.
        """
        cuts = np.asarray(edges, dtype=np.float64)
        members = np.diff(self.members.cdf(cuts), prepend=0.0, append=1.0)
        holdout = np.diff(self.holdout.cdf(cuts), prepend=0.0, append=1.0)
        return float(np.abs(prior * members - (1 - prior) * holdout).sum())

    def auc(self) -> float:
        """Return P(member > holdout) + P(tie)/2."""
        return ladder_of(self).auc()

    def tpr_at_fpr(self, fpr: float, side: Side = "high") -> float:
        """Return the TPR at an FPR of a threshold on this side, a coin tossed among ties."""
        return ladder_of(self).tpr_at_fpr(fpr, side)


@lru_cache(maxsize=64)
def ladder_of(law: Law, cells: int = CELLS) -> Ladder:
    """Return the law's ladder with this many cells per continuous part."""
    return build_ladder(law.members, law.holdout, cells)


# Takes random numbers and who is a member, and returns as many vectors, shape (n, width).
DrawVectors: TypeAlias = Callable[[np.random.Generator, Bools], Floats]
Edges: TypeAlias = Sequence[Floats]
BothMasses: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorLaw(Law):
    """A joint law of vectors; ``members`` and ``holdout`` are those of a sufficient number.

    The best attacker on that number is the best of all on the vector.

    Attributes:
        width: how many numbers a score has.
        draw: returns independent scores of records with this membership, shape (n, width).
        masses: takes the cut points of a grid of two axes, and returns the masses of members and
            of holdout records in its cells; None where they are not known.
    """

    width: int
    draw: DrawVectors
    masses: Callable[[Edges], BothMasses | None]

    def sample(
        self, rng: np.random.Generator, n_members: int, n_holdout: int
    ) -> tuple[Floats, Floats]:
        """Return independent scores of members and of holdout records, one in a row."""
        drawn = self.draw(rng, np.arange(n_members + n_holdout) < n_members)
        return drawn[:n_members], drawn[n_members:]

    def advantage_cells(self, prior: float, edges: Edges) -> float | None:
        """Return the best advantage of who sees the cell of a grid alone, if it is known."""
        masses = self.masses(edges)
        if masses is None:
            return None
        return float(np.abs(prior * masses[0] - (1 - prior) * masses[1]).sum())


def law_of(name: str, description: str, members: Part | Mixture, holdout: Part | Mixture) -> Law:
    """Return a law; its alphabet counts as known if it consists of atoms."""
    p, q = mixed(members), mixed(holdout)
    discrete = all(isinstance(part, Discrete) for part in (*p.parts, *q.parts))
    return Law(name=name, description=description, discrete=discrete, members=p, holdout=q)


def mixed(law: Part | Mixture) -> Mixture:
    """Return a part as a mixture of one."""
    return law if isinstance(law, Mixture) else mixture((1.0, law))


def cells(masses: Floats) -> Discrete:
    """Return atoms at 0, 1, 2, ... with masses in these proportions."""
    return atoms(np.arange(len(masses), dtype=np.float64), masses / masses.sum())


def coin(mass: float) -> Discrete:
    """Return an atom of this mass at 1, and the rest at 0."""
    return cells(np.array([1 - mass, mass]))


def scattered_order(size: int) -> Places:
    """Return the numbers below ``size``, scattered by a fixed rule: no interval collects them."""
    return np.argsort((np.arange(size) * 0.6180339887498949) % 1.0)


def scattered_signs(size: int) -> Floats:
    """Return as many signs of each kind, scattered: no interval collects them."""
    order = scattered_order(size)
    signs = np.ones(size)
    signs[order[::2]] = -1.0
    return signs
