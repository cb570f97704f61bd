"""The lower limit of epsilon from independent runs: one score per trained model.

Every method is valid after its own search. Most look for the attack on a random part of
the rows, the burn-in, and judge it on the rest; two use all rows, with limits that hold
at every threshold at once.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.epsilon.given import AttackTable
from mipaudit.commands.epsilon.independent_runs.counted import (
    counts_refute_curve,
    estimate_from_counts,
    gaussian_estimate,
    judged_attack,
    refuting_class,
)
from mipaudit.commands.epsilon.independent_runs.split import (
    LEAST_ROWS,
    Split,
    divide,
    settled_margin,
)
from mipaudit.commands.epsilon.report import EpsilonStatement, JudgedAttack, ProfilePoint
from mipaudit.counting.scores import count_columns
from mipaudit.engine.workers import Engine, Workers
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.maths.epsilon.bands import RocBand, grid_band, roc_band
from mipaudit.maths.epsilon.choice import Attack, Numerator, choose_attacks, choose_slack
from mipaudit.maths.epsilon.conditional import (
    Slack,
    conditional_estimate,
    conditional_lower,
    slacks,
    usual_slack,
)
from mipaudit.maths.epsilon.rates import (
    Criterion,
    choose_threshold,
    clopper_pearson_epsilon,
    curve_criterion,
    gdp_criterion,
    rate_limits,
    ratio_criterion,
)
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import TradeOff, refuted_epsilon, refuted_mu
from mipaudit.statements.policy import delta_reason
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.epsilon.inputs import ScoredRows
    from mipaudit.commands.epsilon.options import EpsilonOptions, MethodName
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.summaries.identity.seed import SeedChoice


Method = Literal["conditional", "grid-cp", "split-cp", "bands", "gdp"]
_COMBINABLE: Final = frozenset({"conditional", "split-cp", "gdp"})
_DELTAS: Final = (0.0, *np.geomspace(1e-10, 0.9, 100).tolist())


class _Finding(NamedTuple):
    lower: float
    pure: float  # the same guesses' limit at delta 0, of a limit that delta can take away
    estimate: float
    attack: JudgedAttack
    mu: float | None = None


def epsilon_runs(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    *,
    delta: float,
    confidence: float,
    method: Method,
    rng: np.random.Generator,
    splits: int = 1,
    score: str | None = None,
) -> EpsilonStatement:
    """Return a lower limit of epsilon at delta from independent runs.

    It is infinite only with ``gdp`` at delta 0, where no mu above 0 has an epsilon. There is
    no attack where there are too few rows to choose one.

    Args:
        members: scores of runs with the record, shape (n1,), n1 above 0; no NaN, ties and
            infinities are ordinary values.
        holdout: scores of runs without it, shape (n0,), n0 above 0.
        delta: in [0, 1].
        confidence: one-sided, in (0, 1).
        method: ``conditional`` is the strongest that assumes nothing; ``gdp`` is valid
            for Gaussian differential privacy only. ``split-cp`` and ``grid-cp`` are weaker:
            `mipaudit validate` runs them for comparison.
        rng: settles which rows choose the attack.
        splits: at least 1; more than 1 repeats the split and combines the limits in a
            way that is valid however they depend (Rüger 1978). It makes the answer
            depend less on the split, not greater.
        score: what the scores are called.

    Raises:
        ValueError: ``splits`` above 1 with a method that has no split to repeat, or
            whose limits have no valid combination.
    """
    if splits > 1 and method not in _COMBINABLE:
        raise ValueError(f"splits above 1 are for {', '.join(sorted(_COMBINABLE))}")
    # At least ceil(S/2) of S limits at this level reject only with probability alpha.
    needed = (splits + 1) // 2
    alpha = (1 - confidence) * needed / splits
    found = [_find(members, holdout, delta, alpha, method, rng) for _ in range(splits)]
    made = sorted((one for one in found if one is not None), key=lambda one: -one.lower)
    chosen = made[needed - 1] if made else None
    return EpsilonStatement(
        score=score,
        method=method,
        validity="assumes-gdp" if method == "gdp" else "finite-sample",
        decides=True,
        lower=chosen.lower if chosen else 0.0,
        lower_reason=_reason(chosen),
        estimate=chosen.estimate if chosen else None,
        mu_lower=chosen.mu if chosen else None,
        confidence=confidence,
        attack=chosen.attack if chosen else None,
        guesses=None,
    )


def _find(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    delta: float,
    alpha: float,
    method: Method,
    rng: np.random.Generator,
) -> _Finding | None:
    if method == "bands":
        return _from_band(roc_band(members, holdout, alpha=alpha), members, holdout, delta)
    if method == "grid-cp":
        return _from_band(grid_band(members, holdout, alpha=alpha), members, holdout, delta)
    if min(members.size, holdout.size) < LEAST_ROWS:
        return None
    split = divide(members, holdout, rng)
    match method:
        case "conditional":
            return _conditional(split, delta, alpha, rng)
        case "split-cp":
            return _rates(split, delta, alpha)
        case "gdp":
            return _gaussian(split, delta, alpha)
        case _:
            assert_never(method)


def _conditional(split: Split, delta: float, alpha: float, rng: np.random.Generator) -> _Finding:
    sizes = split.sizes
    members, holdout = sizes.judged
    # What delta may have made of right guesses, by the classes that are guessed.
    usual: dict[Numerator, Slack] = {
        "member": usual_slack(members, delta, alpha),
        "holdout": usual_slack(holdout, delta, alpha),
        "both": usual_slack(members + holdout, delta, alpha),
    }
    margin = settled_margin(split, usual, rng)
    (attack,) = choose_attacks(*split.burn_in.candidates(), sizes, usual, (margin,))
    counts = split.guesses(attack)
    exposed = attack.exposed(*sizes.judged)
    slack = choose_slack(
        slacks(exposed, delta, alpha), attack, split.burn_in.seen(attack), sizes.judged
    )
    return _Finding(
        lower=conditional_lower(counts, slack),
        pure=conditional_lower(counts, Slack(guesses=0, alpha=alpha)),
        estimate=conditional_estimate(counts, delta, exposed),
        attack=JudgedAttack(
            direction="high" if attack.members_high else "low",
            numerator=attack.numerator,
            **counts._asdict(),
        ),
    )


def _answers(split: Split, criterion: Criterion) -> tuple[Attack, AttackTable]:
    """Return the threshold that the criterion prefers, and its guesses on the judged rows."""
    attack = choose_threshold(*split.burn_in.candidates(), split.sizes, criterion)
    return attack, split.answers(attack)


def _rates(split: Split, delta: float, alpha: float) -> _Finding:
    attack, table = _answers(split, ratio_criterion(split.sizes, delta, alpha))
    return _Finding(
        lower=clopper_pearson_epsilon(*table, delta=delta, alpha=alpha),
        pure=clopper_pearson_epsilon(*table, delta=0.0, alpha=alpha),
        estimate=estimate_from_counts(table, delta=delta),
        attack=judged_attack(table, refuting_class(table, delta), members_high=attack.members_high),
    )


def _gaussian(split: Split, delta: float, alpha: float) -> _Finding:
    attack, table = _answers(split, gdp_criterion(split.sizes, alpha))
    mu = refuted_mu(*rate_limits(*table, alpha=alpha))
    return _Finding(
        lower=GaussianDP(mu=mu).epsilon_at(delta),
        pure=0.0,
        estimate=gaussian_estimate(table, delta=delta),
        attack=judged_attack(table, "both", members_high=attack.members_high),
        mu=mu,
    )


def _from_band(
    band: RocBand, members: NDArray[np.floating], holdout: NDArray[np.floating], delta: float
) -> _Finding:
    refuted, pure = band.refuted(delta), band.refuted(0.0)
    best = int((refuted if refuted.any() else pure).argmax())
    table = _at(band, best, members.size, holdout.size)
    high = bool(band.members_high[best])
    return _Finding(
        lower=float(refuted[best]),
        pure=float(pure[best]),
        estimate=estimate_from_counts(table, delta=delta),
        attack=judged_attack(table, refuting_class(table, delta), members_high=high),
    )


def _at(band: RocBand, place: int, n_members: int, n_holdout: int) -> AttackTable:
    """Return the guesses at a point of the ROC."""
    tp, fp = int(band.tp[place]), int(band.fp[place])
    return AttackTable(tp=tp, fn=n_members - tp, fp=fp, tn=n_holdout - fp)


def _reason(chosen: _Finding | None) -> str | None:
    if chosen is None:
        return f"a class of fewer than {LEAST_ROWS} rows can be either searched or judged"
    if chosen.lower > 0:
        return None
    if chosen.pure > 0:
        return delta_reason(chosen.pure)
    if chosen.estimate > 0:
        return "the difference that was found is within chance"
    return "no difference between members and holdout was found on the judged rows"


def estimate_of_band(band: RocBand, delta: float, n_members: int, n_holdout: int) -> float:
    """Return the plug-in epsilon at the point of the ROC that gave the limit."""
    best = int(band.refuted(delta).argmax())
    return estimate_from_counts(_at(band, best, n_members, n_holdout), delta=delta)


def runs_refute_curve(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    curve: TradeOff,
    *,
    confidence: float,
    rng: np.random.Generator,
    splits: int = 1,
) -> bool:
    """Tell whether the runs contradict that no attacker exceeds ``curve``.

    A random part of the rows chooses a threshold; on the rest the lower limit of its
    TPR is compared with the curve at the upper limit of its FPR.

    Args:
        members: scores of runs with the record, shape (n1,), n1 above 0; no NaN.
        holdout: scores of runs without it, shape (n0,), n0 above 0.
        curve: symmetric, for the neighbours that the runs differ in.
        confidence: in (0, 1).
        rng: settles which rows choose the threshold.
        splits: repeat the split: half of the tests, at half of the error, must refute
            (Rüger 1978).
    """
    if min(members.size, holdout.size) < LEAST_ROWS:
        return False
    needed = (splits + 1) // 2
    alpha = (1 - confidence) * needed / splits
    refuted = 0
    for _ in range(splits):
        split = divide(members, holdout, rng)
        gaussian = isinstance(curve, GaussianDP)
        sizes = split.sizes
        criterion = (
            gdp_criterion(sizes, alpha) if gaussian else curve_criterion(sizes, alpha, curve)
        )
        _, table = _answers(split, criterion)
        refuted += counts_refute_curve(table, curve, confidence=1 - alpha)
    return refuted >= needed


def runs_statements(rows: ScoredRows, asked: EpsilonOptions) -> tuple[EpsilonStatement, ...]:
    """Return a limit for each score, and one under the Gaussian assumption if asked for."""
    beside: list[MethodName] = ["gdp"] if asked.assume_gdp and asked.method != "gdp" else []
    deciding = _limits(rows, asked, asked.method)
    others = (one for method in beside for one in _limits(rows, asked, method))
    return (*deciding, *(replace(one, decides=False) for one in others))


def _limits(
    rows: ScoredRows, asked: EpsilonOptions, method: MethodName
) -> Iterator[EpsilonStatement]:
    for (name, members, holdout), seed in zip(rows.columns(), rows.seeds, strict=True):
        yield epsilon_runs(
            members,
            holdout,
            delta=asked.delta,
            confidence=asked.confidence_of_one(len(rows.names)),
            method=method,
            rng=np.random.default_rng(seed),
            splits=asked.splits,
            score=safe_name(name),
        )


def curve_is_refuted(rows: ScoredRows, asked: EpsilonOptions) -> bool:
    """Tell whether the runs refute a claimed mu or trade-off curve, if there is one."""
    curve = asked.tradeoff
    return curve is not None and any(
        runs_refute_curve(
            members,
            holdout,
            curve,
            confidence=asked.confidence_of_one(len(rows.names)),
            rng=np.random.default_rng(seed),
            splits=asked.splits,
        )
        for (_, members, holdout), seed in zip(rows.columns(), rows.seeds, strict=True)
    )


def runs_profile(rows: ScoredRows, asked: EpsilonOptions) -> tuple[ProfilePoint, ...]:
    """Return epsilon at many deltas, the named one among them."""
    deltas = sorted({*_DELTAS, asked.delta})
    points: list[ProfilePoint] = []
    for name, members, holdout in rows.columns():
        confidence = asked.confidence_of_one(len(rows.names))
        band = roc_band(members, holdout, alpha=1 - confidence)
        points.extend(
            ProfilePoint(
                score=safe_name(name),
                delta=delta,
                lower=float(band.epsilon(delta)),
                estimate=estimate_of_band(band, delta, members.size, holdout.size),
            )
            for delta in deltas
        )
    return tuple(points)


def advantage_statements(
    source: ScoreSource, asked: EpsilonOptions, seed: SeedChoice
) -> tuple[EpsilonStatement, ...]:
    """Return the epsilon that the lower limit of each score's advantage implies."""
    counts = count_columns(source, seed=seed, workers=Workers(Engine(jobs=asked.jobs)))
    confidence = asked.confidence_of_one(len(source.columns))
    return tuple(
        _advantage(Evidence(score=column.name, counts=one, prior=0.5, seed=used), asked, confidence)
        for column, one, used in zip(source.columns, counts.columns, counts.seeds, strict=True)
    )


def hypothetical(statements: tuple[EpsilonStatement, ...]) -> tuple[EpsilonStatement, ...]:
    """Return limits for independent runs as what they are for the records of one model."""
    return tuple(
        replace(statement, validity="if-exchangeable", decides=False) for statement in statements
    )


def _advantage(evidence: Evidence, asked: EpsilonOptions, confidence: float) -> EpsilonStatement:
    lower = _implied(evidence.lower(1 - confidence), asked.delta)
    return EpsilonStatement(
        score=safe_name(evidence.score),
        method="advantage",
        validity="if-exchangeable",
        decides=False,
        lower=lower,
        lower_reason=None if lower else "the advantage that was found is within chance",
        estimate=_implied(evidence.held_out.value, asked.delta),
        mu_lower=None,
        confidence=confidence,
        attack=None,
        guesses=None,
    )


def _implied(advantage: float, delta: float) -> float | None:
    """Return log((1 + A - 2 delta) / (1 - A)), at least 0; None at an advantage of 1."""
    epsilon = refuted_epsilon((1 + advantage) / 2, (1 - advantage) / 2, delta)
    return epsilon if math.isfinite(epsilon) else None
