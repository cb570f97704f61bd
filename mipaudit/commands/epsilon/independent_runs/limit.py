"""The lower limit of epsilon from independent runs: one score per trained model.

All rows are judged. Which attacks are judged on them, and with what share of the error, follows
from the scores without a look at the labels; bands of the ROC hold at every threshold at once.
No draw settles anything.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal, NamedTuple

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
from mipaudit.commands.epsilon.inputs import ScoredRows
from mipaudit.commands.epsilon.options import EpsilonOptions, MethodName
from mipaudit.commands.epsilon.report import EpsilonStatement, JudgedAttack
from mipaudit.counting.scores import count_columns
from mipaudit.data.source import ScoreSource
from mipaudit.engine.workers import Engine, Workers
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.maths.epsilon.attacks import (
    Attack,
    Numerator,
    guess_counts,
    planned_attacks,
    planned_cuts,
)
from mipaudit.maths.epsilon.bands import RocBand, roc_band
from mipaudit.maths.epsilon.conditional import (
    Exposed,
    GuessCounts,
    conditional_estimate,
    conditional_lower,
    lower_either_way,
    most_exposed,
)
from mipaudit.maths.epsilon.rates import gaussian_lower
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import TradeOff, refuted_epsilon
from mipaudit.model.message import Message
from mipaudit.model.row import Row
from mipaudit.statements.printable_names import safe_name
from mipaudit.summaries.seed import SeedChoice

Scores = NDArray[np.floating]
Method = Literal["conditional", "bands", "gdp"]
# Fewer runs in all, fixed beforehand, are apart by chance more often than independent labels say.
_LEAST_RUNS: Final = 8
_DELTAS: Final = (0.0, *np.geomspace(1e-10, 0.9, 100).tolist())


class _Finding(NamedTuple):
    lower: float
    pure: float  # the same guesses' limit at delta 0, of a limit that delta can take away
    estimate: float
    attack: JudgedAttack
    mu: float | None = None


class _Guesses(NamedTuple):
    """What an attack guessed on all rows, one way round, with its share of the error.

    The share is for the other way round, too, where ``either`` is tried.
    """

    counts: GuessCounts
    numerator: Numerator
    members_high: bool
    share: float
    either: bool


def epsilon_runs(
    members: Scores,
    holdout: Scores,
    *,
    delta: float,
    confidence: float,
    method: Method,
    score: str | None = None,
) -> EpsilonStatement:
    """Return a lower limit of epsilon at delta from independent runs.

    It is infinite only with ``gdp`` at delta 0, where no mu above 0 has an epsilon.

    Args:
        members: scores of runs with the record, shape (n1,), n1 above 0; no NaN, ties and
            infinities are ordinary values.
        holdout: scores of runs without it, shape (n0,), n0 above 0.
        delta: in [0, 1].
        confidence: one-sided, in (0, 1).
        method: ``conditional`` assumes nothing; ``gdp`` is valid for Gaussian noise only. ``bands``
            is weaker, and holds at every delta at once: for `runs_profile` and `mipaudit validate`.
        score: what the scores are called.
    """
    find = {"conditional": _conditional, "gdp": _gaussian, "bands": _from_band}[method]
    found = find(members, holdout, delta, 1 - confidence)
    return EpsilonStatement(
        score=score,
        method=method,
        validity="assumes-gdp" if method == "gdp" else "finite-sample",
        decides=True,
        lower=found.lower if found else 0.0,
        lower_reason=_reason(found),
        estimate=found.estimate if found else None,
        mu_lower=found.mu if found else None,
        confidence=confidence,
        attack=found.attack if found else None,
        guesses=None,
    )


def _judged(members: Scores, holdout: Scores) -> Iterator[_Guesses]:
    """Yield what the planned attacks guessed, both ways round; nothing where runs are too few."""
    one, two, ordered = _in_order(members, holdout)
    if ordered.size < _LEAST_RUNS:
        return
    for attack in planned_attacks(ordered, (one.size, two.size)):
        counts = guess_counts(attack, ordered, one, two)
        either = len(attack.ways) > 1
        for high in attack.ways:
            made = counts if high else counts.reversed
            yield _Guesses(made, _guessed(attack, high=high), high, attack.share, either)


def _in_order(members: Scores, holdout: Scores) -> tuple[Scores, Scores, Scores]:
    """Return the scores of members, of holdout and of both together, in rising order."""
    one, two = np.sort(members), np.sort(holdout)
    return one, two, np.sort(np.concatenate([one, two]), kind="stable")


def _guessed(attack: Attack, *, high: bool) -> Numerator:
    if attack.above and attack.below:
        return "both"
    return "member" if bool(attack.above) == high else "holdout"


def _conditional(members: Scores, holdout: Scores, delta: float, alpha: float) -> _Finding | None:
    exposed, left = most_exposed(members.size, holdout.size, delta, alpha)
    best: tuple[float, float, _Guesses] | None = None
    for made in _judged(members, holdout):
        lower = _lower(made, exposed, made.share * left, beat=best[0] if best else 0.0)
        rank = lower, _lead(made.counts)
        if best is None or rank > best[:2]:
            best = *rank, made
    return None if best is None else _found_by(best[2], best[0], delta, alpha)


def _lower(made: _Guesses, exposed: Exposed, alpha: float, *, beat: float = 0.0) -> float:
    if made.either:
        return lower_either_way(made.counts, exposed, alpha, beat=beat)
    return conditional_lower(made.counts, exposed.slack(made.counts, alpha), beat=beat)


def _lead(counts: GuessCounts) -> float:
    """Return how many more guesses are right than there would be among alike rows."""
    share = counts.n_members / (counts.n_members + counts.n_holdout)
    return counts.correct - share * (counts.tp + counts.fp) - (1 - share) * (counts.tn + counts.fn)


def _found_by(made: _Guesses, lower: float, delta: float, alpha: float) -> _Finding:
    counts = made.counts
    exposed = counts.n_members * (made.numerator != "holdout")
    exposed += counts.n_holdout * (made.numerator != "member")
    return _Finding(
        lower=lower,
        pure=_lower(made, Exposed(), made.share * alpha),
        estimate=conditional_estimate(counts, delta, exposed),
        attack=JudgedAttack(
            direction="high" if made.members_high else "low",
            numerator=made.numerator,
            **counts._asdict(),
        ),
    )


def _answers(members: Scores, holdout: Scores) -> Iterator[tuple[AttackTable, bool, float]]:
    """Yield guesses at planned thresholds, whether members are high, and a share of the error."""
    one, two, ordered = _in_order(members, holdout)
    for cut in planned_cuts(ordered, (one.size, two.size)):
        made = guess_counts(cut, ordered, one, two)
        table = AttackTable(tp=made.tp, fn=one.size - made.tp, fp=made.fp, tn=two.size - made.fp)
        opposite = AttackTable(tp=table.fn, fn=table.tp, fp=table.tn, tn=table.fp)
        yield table, True, cut.share / 2
        yield opposite, False, cut.share / 2


def _gaussian(members: Scores, holdout: Scores, delta: float, alpha: float) -> _Finding | None:
    best: tuple[float, float, JudgedAttack] | None = None
    for table, high, share in _answers(members, holdout):
        beat = best[0] if best else 0.0
        mu = gaussian_lower(*table, alpha=share * alpha, beat=beat)
        rank = mu, gaussian_estimate(table, delta=delta)
        if best is None or rank > best[:2]:
            best = *rank, judged_attack(table, "both", members_high=high)
    if best is None:
        return None
    mu, estimate, attack = best
    lower = GaussianDP(mu=mu).epsilon_at(delta)
    return _Finding(lower=lower, pure=0.0, estimate=estimate, attack=attack, mu=mu)


def _from_band(members: Scores, holdout: Scores, delta: float, alpha: float) -> _Finding:
    band = roc_band(members, holdout, alpha=alpha)
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


def _reason(chosen: _Finding | None) -> Message | None:
    if chosen is None:
        return Message.of("nothing_to_judge", fewest=_LEAST_RUNS)
    if chosen.lower > 0:
        return None
    if chosen.pure > 0:
        return Message.of("delta_allows", pure=chosen.pure)
    if chosen.estimate > 0:
        return Message("difference_within_chance")
    return Message("no_difference_found")


def estimate_of_band(band: RocBand, delta: float, n_members: int, n_holdout: int) -> float:
    """Return the plug-in epsilon at the point of the ROC that gave the limit."""
    best = int(band.refuted(delta).argmax())
    return estimate_from_counts(_at(band, best, n_members, n_holdout), delta=delta)


def runs_refute_curve(
    members: Scores, holdout: Scores, curve: TradeOff, *, confidence: float
) -> bool:
    """Tell whether the runs contradict that no attacker exceeds ``curve``.

    At thresholds that share the error, the lower limit of TPR is compared with the curve at the
    upper limit of FPR.

    Args:
        members: scores of runs with the record, shape (n1,), n1 above 0; no NaN.
        holdout: scores of runs without it, shape (n0,), n0 above 0.
        curve: symmetric, for the neighbours that the runs differ in.
        confidence: in (0, 1).
    """
    return any(
        counts_refute_curve(table, curve, confidence=1 - share * (1 - confidence))
        for table, _, share in _answers(members, holdout)
    )


def runs_statements(rows: ScoredRows, asked: EpsilonOptions) -> tuple[EpsilonStatement, ...]:
    """Return a limit for each score, and one under the Gaussian assumption if asked for."""
    methods: list[MethodName] = [asked.method, "gdp"] if asked.assume_gdp else [asked.method]
    found = (
        epsilon_runs(
            members,
            holdout,
            delta=asked.delta,
            confidence=asked.confidence_of_one(len(rows.names)),
            method=method,
            score=safe_name(name),
        )
        for method in dict.fromkeys(methods)
        for name, members, holdout in rows.columns()
    )
    return tuple(replace(one, decides=one.method == asked.method) for one in found)


def curve_is_refuted(rows: ScoredRows, asked: EpsilonOptions) -> bool:
    """Tell whether the runs refute a claimed mu or trade-off curve, if there is one."""
    curve, confidence = asked.tradeoff, asked.confidence_of_one(len(rows.names))
    return curve is not None and any(
        runs_refute_curve(members, holdout, curve, confidence=confidence)
        for _, members, holdout in rows.columns()
    )


def runs_profile(rows: ScoredRows, asked: EpsilonOptions) -> tuple[Row, ...]:
    """Return epsilon at many deltas, the named one among them."""
    deltas = sorted({*_DELTAS, asked.delta})
    points: list[Row] = []
    for name, members, holdout in rows.columns():
        confidence = asked.confidence_of_one(len(rows.names))
        band = roc_band(members, holdout, alpha=1 - confidence)
        points.extend(
            Row(
                quantity="epsilon",
                score=safe_name(name),
                confidence=confidence,
                delta=delta,
                lower=float(band.epsilon(delta)),
                value=estimate_of_band(band, delta, members.size, holdout.size),
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


def _advantage(evidence: Evidence, asked: EpsilonOptions, confidence: float) -> EpsilonStatement:
    lower = _implied(evidence.lower(1 - confidence), asked.delta)
    return EpsilonStatement(
        score=safe_name(evidence.score),
        method="advantage",
        validity="if-exchangeable",
        decides=False,
        lower=lower,
        lower_reason=None if lower else Message("advantage_within_chance"),
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
