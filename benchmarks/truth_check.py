"""Every truth of a scenario against draws: how many standard errors off each one is.

A truth is the reach of the best attacker of some class. That attacker is worked out from
the laws and then judged on draws, where the share of members that it catches is a
binomial: a truth that is too high or too low shows, and so does a sampler that does not
draw from its law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.normal import density, quantile
from mipaudit.validation.law import ladder_of
from mipaudit.validation.scenario import GROUP, RELEASE, Scenario, View
from mipaudit.validation.scenarios import drawn_chunks

if TYPE_CHECKING:
    from mipaudit.validation.law import Ladder, Side
    from mipaudit.validation.scenario import Attack, Columns
    from mipaudit.validation.truth import Truth

    # By what is seen, of which group, and what its advantage is called.
    Counts = Mapping[tuple[str | None, str | None, str], "RungCounts"]

# Exact where the draws cannot differ: probabilities 0 and 1, less rounding.
_NOTHING: Final = 1e-9
# Ratios of the tiny masses in the tails are known to about this much.
_RATIO: Final = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One truth beside its estimate from draws.

    Attributes:
        what: the truth.
        truth: its value; for an epsilon, the delta at which it holds.
        found: the estimate.
        error: the estimate's standard error, by the laws.
    """

    what: str
    truth: float
    found: float
    error: float

    @property
    def z(self) -> float:
        """How many standard errors off it is; infinite if there should be no error."""
        gap = abs(self.found - self.truth)
        if self.error > 0:
            return max(0.0, gap - _NOTHING) / self.error
        return 0.0 if gap <= _NOTHING else math.inf


def check_truths(scenario: Scenario, *, rows: int, prior: float, seed: int) -> list[Check]:
    """Draw a scenario and compare each of its truths that draws can tell.

    Args:
        scenario: what to check.
        rows: how many to draw in all; half of them members.
        prior: of the truths, in (0, 1).
        seed: of the draws.
    """
    if scenario.kind == "splits":
        return list(_split_checks(scenario, rows, seed))
    return list(_record_checks(scenario, rows, prior, seed))


def _split_checks(scenario: Scenario, rows: int, seed: int) -> Iterator[Check]:
    known = scenario.moments()
    drawn = drawn_chunks(scenario, {"splits": rows}, "shuffled", seed)
    released = np.concatenate([chunk[RELEASE] for chunk in drawn])
    for what, truth, sample in (
        ("sigma_1", known["sigma_1"], np.abs(released - known["median"])),
        ("sigma_2 squared", known["sigma_2"] ** 2, (released - known["mean"]) ** 2),
    ):
        error = float(sample.std()) / math.sqrt(rows)
        yield Check(what=what, truth=truth, found=float(sample.mean()), error=error)


def _record_checks(scenario: Scenario, rows: int, prior: float, seed: int) -> Iterator[Check]:
    views = scenario.views
    counts = [RungCounts.empty(ladder_of(view.law), view.attacks) for view in views]
    sizes = (
        {"canaries": rows}
        if scenario.kind == "canaries"
        else {"members": rows // 2, "holdout": rows - rows // 2}
    )
    for chunk in drawn_chunks(scenario, sizes, "shuffled", seed):
        member = chunk[scenario.columns[1]]
        for view, count in zip(views, counts, strict=True):
            count.add(*_seen(view, chunk, member))
    by_view: Counts = {
        (view.sees, view.group, view.quantity): count
        for view, count in zip(views, counts, strict=True)
    }
    for count in counts:
        yield from _distribution(count)
    for truth in scenario.truths(prior):
        yield from _checked(truth, by_view, scenario, prior)


def _seen(
    view: View, chunk: Columns, member: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what an attacker sees of members and of holdout records."""
    values = view.read(chunk)
    if view.group is not None:
        rows = chunk[GROUP] == view.group
        values, member = values[rows], member[rows]
    return values[member], values[~member]


def _checked(
    truth: Truth,
    counts: Counts,
    scenario: Scenario,
    prior: float,
) -> Iterator[Check]:
    if truth.value is None:
        return
    quantity = truth.quantity if truth.quantity == "blind_advantage" else "advantage"
    count = counts.get((truth.sees, truth.group, quantity))
    if count is None:
        yield _with_groups(truth, truth.value, counts, scenario, prior)
        return
    match truth.quantity:
        case "advantage" | "blind_advantage" | "excess" | "eta" | "accuracy" if truth.attackers:
            yield _advantage(truth, truth.value, count, prior)
        case "auc":
            found, error = count.auc()
            yield Check(what="auc", truth=truth.value, found=found, error=error)
        case "tpr_at_fpr":
            yield from _operating_point(truth, truth.value, count)
        case "epsilon":
            yield _epsilon(truth, truth.value, count)
        case "mu":
            yield _mu(truth.value, count)
        case "tpr" | "fpr" | "tpr_minus_fpr":
            yield _attack(truth, truth.value, count)
        case _:
            return  # the baseline is arithmetic


def _advantage(truth: Truth, value: float, count: RungCounts, prior: float) -> Check:
    guess = best_guess(count.ladder, prior, truth.attackers or "any")
    found, error = _advantage_of(count, guess, prior)
    baseline = abs(2 * prior - 1)
    shift, scale = {
        "excess": (-baseline, 1.0),
        "eta": (-baseline, 0.5),
        "accuracy": (1.0, 0.5),
    }.get(truth.quantity, (0.0, 1.0))
    return Check(
        what=_label(truth), truth=value, found=(found + shift) * scale, error=error * scale
    )


def _advantage_of(count: RungCounts, guess: NDArray[np.bool_], prior: float) -> tuple[float, float]:
    found, true = count.rates(guess), oracle_rates(count.ladder, guess)
    value = 1 - 2 * prior + 2 * (prior * found.tpr - (1 - prior) * found.fpr)
    error = 2 * math.hypot(
        prior * _spread(true.tpr, count.n_members), (1 - prior) * _spread(true.fpr, count.n_holdout)
    )
    return value, error


def _with_groups(
    truth: Truth,
    value: float,
    counts: Counts,
    scenario: Scenario,
    prior: float,
) -> Check:
    """Check the advantage of who sees the group too."""
    parts: list[tuple[float, float]] = []
    for view in scenario.views:
        if view.group is not None:
            count = counts["score", view.group, "advantage"]
            found, error = _advantage_of(count, best_guess(count.ladder, prior, "any"), prior)
            parts.append((view.share * found, view.share * error))
    return Check(
        what=_label(truth),
        truth=value,
        found=sum(part for part, _ in parts),
        error=math.hypot(*(error for _, error in parts)),
    )


def _operating_point(truth: Truth, value: float, count: RungCounts) -> Iterator[Check]:
    """Check TPR and FPR at the threshold, a coin tossed among ties."""
    if truth.fpr is None or truth.side is None:
        raise NotImplementedError
    found = count.at_fpr(truth.fpr, truth.side)
    for name, rate, target, size in (
        ("TPR", found.tpr, value, count.n_members),
        ("FPR", found.fpr, truth.fpr, count.n_holdout),
    ):
        what = f"{name} at FPR {truth.fpr:g}"
        yield Check(what=what, truth=target, found=rate, error=_spread(target, size))


def _epsilon(truth: Truth, value: float, count: RungCounts) -> Check:
    """Check that the set with likelihood ratio above e^epsilon has just delta to spare."""
    guess = count.ladder.members > math.exp(value) * (1 - _RATIO) * count.ladder.holdout
    found, true = count.rates(guess), oracle_rates(count.ladder, guess)
    factor = math.exp(value)
    error = math.hypot(
        _spread(true.tpr, count.n_members), factor * _spread(true.fpr, count.n_holdout)
    )
    spare = found.tpr - factor * found.fpr
    return Check(what=_label(truth), truth=truth.delta or 0.0, found=spare, error=error)


def _mu(value: float, count: RungCounts) -> Check:
    guess = best_guess(count.ladder, 0.5, "any")
    found, true = count.rates(guess), oracle_rates(count.ladder, guess)
    error = math.hypot(
        *(
            _spread(rate, size) / density(quantile(rate))
            for rate, size in ((true.tpr, count.n_members), (true.fpr, count.n_holdout))
        )
    )
    return Check(
        what="mu", truth=value, found=quantile(found.tpr) - quantile(found.fpr), error=error
    )


def _attack(truth: Truth, value: float, count: RungCounts) -> Check:
    attack, found = next(pair for pair in count.attacks() if pair[0].name == truth.attackers)
    spreads = {
        "tpr": _spread(attack.tpr, count.n_members),
        "fpr": _spread(attack.fpr, count.n_holdout),
    }
    rates = {"tpr": found.tpr, "fpr": found.fpr, "tpr_minus_fpr": found.tpr - found.fpr}
    error = spreads.get(truth.quantity, math.hypot(*spreads.values()))
    return Check(what=_label(truth), truth=value, found=rates[truth.quantity], error=error)


def _distribution(count: RungCounts) -> Iterator[Check]:
    """Check both distribution functions everywhere at once: Kolmogorov and Smirnov's test."""
    for name, distance in (("members", count.distances()[0]), ("holdout", count.distances()[1])):
        yield Check(what=f"distribution of {name}", truth=0.0, found=distance, error=1.0)


def _spread(rate: float, size: int) -> float:
    return math.sqrt(max(0.0, rate * (1 - rate)) / size)


def _label(truth: Truth) -> str:
    parts = [truth.quantity, truth.attackers, truth.sees, truth.group]
    if truth.delta is not None:
        parts.append(f"delta {truth.delta:g}")
    return ", ".join(part for part in parts if part)


def worst(checks: Sequence[Check]) -> Check:
    """Return the check that is most standard errors off."""
    return max(checks, key=lambda check: check.z)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """True and false positives of an attacker."""

    tpr: float
    fpr: float


@dataclass(slots=True, kw_only=True, eq=False)
class RungCounts:
    """How many draws fell on each rung, and whom named attacks called members.

    Attributes:
        ladder: of the law.
        members: int64[J].
        holdout: int64[J].
    """

    ladder: Ladder
    members: NDArray[np.int64]
    holdout: NDArray[np.int64]
    _attacks: tuple[Attack, ...] = ()
    _caught: list[list[int]] = field(default_factory=list)

    @classmethod
    def empty(cls, ladder: Ladder, attacks: tuple[Attack, ...] = ()) -> Self:
        """Return counts of nothing."""
        rungs = len(ladder.members)
        return cls(
            ladder=ladder,
            members=np.zeros(rungs, dtype=np.int64),
            holdout=np.zeros(rungs, dtype=np.int64),
            _attacks=attacks,
            _caught=[[0, 0] for _ in attacks],
        )

    @property
    def n_members(self) -> int:
        """Members counted."""
        return int(self.members.sum())

    @property
    def n_holdout(self) -> int:
        """Holdout records counted."""
        return int(self.holdout.sum())

    def add(self, members: NDArray[np.float64], holdout: NDArray[np.float64]) -> None:
        """Count scores of members and of holdout records."""
        self.members += _on_rungs(self.ladder, members)
        self.holdout += _on_rungs(self.ladder, holdout)
        for attack, caught in zip(self._attacks, self._caught, strict=True):
            caught[0] += int(attack.guesses(members).sum())
            caught[1] += int(attack.guesses(holdout).sum())

    def rates(self, guess: NDArray[np.bool_]) -> Rates:
        """Return the rates of who guesses "member" on these rungs."""
        return Rates(
            tpr=int(self.members[guess].sum()) / self.n_members,
            fpr=int(self.holdout[guess].sum()) / self.n_holdout,
        )

    def attacks(self) -> list[tuple[Attack, Rates]]:
        """Return the named attacks with their rates."""
        return [
            (attack, Rates(tpr=caught[0] / self.n_members, fpr=caught[1] / self.n_holdout))
            for attack, caught in zip(self._attacks, self._caught, strict=True)
        ]

    def auc(self) -> tuple[float, float]:
        """Return the AUC of the draws, and its standard error by the laws."""
        below = np.cumsum(self.holdout) - self.holdout / 2
        found = float(np.dot(self.members, below)) / self.n_members / self.n_holdout
        p, q = self.ladder.members, self.ladder.holdout
        of_members, of_holdout = np.cumsum(q) - q / 2, 1 - np.cumsum(p) + p / 2
        variance = _variance(of_members, p) / self.n_members
        variance += _variance(of_holdout, q) / self.n_holdout
        return found, math.sqrt(variance)

    def at_fpr(self, fpr: float, side: Side) -> Rates:
        """Return the rates of the threshold that has this FPR by the law."""
        order = slice(None, None, -1) if side == "high" else slice(None)
        law = np.cumsum(self.ladder.holdout[order])
        whole = int(np.searchsorted(law, fpr + 1e-11, side="right"))
        weight = np.zeros(len(law))
        weight[:whole] = 1.0
        if whole < len(law):
            before = float(law[whole - 1]) if whole else 0.0
            weight[whole] = max(0.0, fpr - before) / float(law[whole] - before)
        return Rates(
            tpr=float(np.dot(weight, self.members[order])) / self.n_members,
            fpr=float(np.dot(weight, self.holdout[order])) / self.n_holdout,
        )

    def distances(self) -> tuple[float, float]:
        """Return both classes' distances from the law, as normal deviates of equal p-value."""
        return (
            _deviate(self.members, self.ladder.members),
            _deviate(self.holdout, self.ladder.holdout),
        )


def best_guess(ladder: Ladder, prior: float, attackers: str) -> NDArray[np.bool_]:
    """Return where the best attacker of a class guesses "member".

    Args:
        ladder: of the law.
        prior: p in (0, 1).
        attackers: ``any``, ``thresholds`` or ``intervals-K``.
    """
    gains = ladder.gains(prior)
    if attackers == "any":
        return gains > 0
    if attackers == "thresholds":
        return _best_threshold(gains)
    k = int(attackers.removeprefix("intervals-"))
    inside, outside = best_runs(gains, k), best_runs(-gains, k)
    gain_inside, gain_outside = gains[inside].sum(), gains[~outside].sum()
    return inside if gain_inside >= gain_outside else ~outside


def oracle_rates(ladder: Ladder, guess: NDArray[np.bool_]) -> Rates:
    """Return the true rates of who guesses "member" on these rungs."""
    return Rates(tpr=float(ladder.members[guess].sum()), fpr=float(ladder.holdout[guess].sum()))


def best_runs(gains: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """Return at most ``k`` runs of neighbours that have the greatest sum together."""
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    levels = [np.zeros(len(sums))]
    for _ in range(k):
        opened = np.maximum.accumulate(levels[-1] - sums)
        levels.append(np.maximum.accumulate(opened + sums))
    chosen = np.zeros(len(gains), dtype=bool)
    end = len(gains)
    for level in range(k, 0, -1):
        opened = np.maximum.accumulate(levels[level - 1] - sums)
        end = int((opened + sums)[: end + 1].argmax())
        start = int((levels[level - 1] - sums)[: end + 1].argmax())
        chosen[start:end] = True
        end = start
    return chosen


def _best_threshold(gains: NDArray[np.float64]) -> NDArray[np.bool_]:
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    rungs = np.arange(len(gains))
    if sums.max() >= sums[-1] - sums.min():
        return rungs < int(sums.argmax())
    return rungs >= int(sums.argmin())


def _on_rungs(ladder: Ladder, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count scores on rungs."""
    ordered = np.sort(scores)
    below = np.where(
        ladder.atom,
        np.searchsorted(ordered, ladder.upper, side="right"),
        np.searchsorted(ordered, ladder.upper, side="left"),
    )
    if below.size == 0 or below[-1] != len(scores):
        raise ValueError("scores beyond the law's support")
    return np.diff(below, prepend=0)


def _variance(values: NDArray[np.float64], masses: NDArray[np.float64]) -> float:
    mean = float(np.dot(values, masses))
    return max(0.0, float(np.dot((values - mean) ** 2, masses)))


def _deviate(counts: NDArray[np.int64], masses: NDArray[np.float64]) -> float:
    """Return the normal deviate with the p-value of the Kolmogorov-Smirnov test."""
    from scipy.special import kolmogorov, ndtri

    total = int(counts.sum())
    distance = float(np.abs(np.cumsum(counts) / total - np.cumsum(masses)).max())
    p_value = float(kolmogorov(math.sqrt(total) * distance))
    return float(-ndtri(max(p_value, 1e-300) / 2))
