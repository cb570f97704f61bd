"""The lower limit of epsilon from independent runs: one score per trained model, or counts of them.

All rows are judged. Which attacks are judged on them, and with what share of the error, follows
from the scores without a look at the labels; bands of the ROC hold at every threshold at once.
No draw settles anything. Of counts the attack was fixed before, and answered on every run. A
claimed trade-off curve assumes nothing of the mechanism: the claim bounds every attacker's rates.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.commands.epsilon.report import EpsilonRow
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
    usual_slack,
)
from mipaudit.maths.epsilon.rates import clopper_pearson_epsilon, gaussian_lower, rate_limits
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import TradeOff, refuted_epsilon, refuted_mu
from mipaudit.model.message import Message
from mipaudit.model.row import Row, Validity
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from mipaudit.commands.epsilon.inputs import ScoredRows
    from mipaudit.commands.epsilon.options import EpsilonOptions
    from mipaudit.data.source import ScoreSource
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.summaries.seed import SeedChoice

    Scores = NDArray[np.floating]

Method = Literal["conditional", "clopper-pearson", "bands", "gdp"]
# Fewer runs in all, fixed beforehand, are apart by chance more often than independent labels say.
_LEAST_RUNS: Final = 8
_DELTAS: Final = (0.0, *np.geomspace(1e-10, 0.9, 100).tolist())


def _row(
    limits: tuple[float, float],
    estimate: float,
    counts: GuessCounts,
    numerator: Numerator,
    confidence: float,
    *,
    members_high: bool | None = None,
    mu: float | None = None,
) -> EpsilonRow:
    """Return the limit by an attack, whose guesses of a class count.

    Args:
        limits: at delta, and at 0, of a limit that delta can take away.
        estimate: for the attack.
        counts: of its guesses.
        numerator: the class.
        confidence: of the limit.
        members_high: the end of the score where members are; None for counts.
        mu: the limit as mu, where that is assumed.
    """
    (lower, pure), reason = limits, None
    if not lower > 0:
        close = estimate or members_high is None
        reason = Message("difference_within_chance" if close else "no_difference_found")
        reason = Message.of("delta_allows", pure=pure) if pure > 0 else reason
    ends: dict[bool | None, Literal["high", "low"]] = {True: "high", False: "low"}
    return EpsilonRow(
        quantity="epsilon",
        value=estimate,
        lower=lower,
        lower_reason=reason,
        validity="finite-sample" if mu is None else "assumes-gdp",
        confidence=confidence,
        n_members=counts.n_members,
        n_holdout=counts.n_holdout,
        side=ends.get(members_high),
        selection=numerator,
        counts={"tp": counts.tp, "fp": counts.fp, "tn": counts.tn, "fn": counts.fn},
        mu_lower=mu,
    )


def _table(counts: GuessCounts) -> tuple[int, int, int, int]:
    """Return the guesses of an attack that answers always: of members, then of holdout records."""
    return counts.tp, counts.fn, counts.fp, counts.tn


def _exposed(counts: GuessCounts, numerator: Numerator) -> int:
    """Return how many rows delta may expose among the guesses that count."""
    return counts.n_members * (numerator != "holdout") + counts.n_holdout * (numerator != "member")


def counts_statements(counts: GuessCounts, asked: EpsilonOptions) -> tuple[EpsilonRow, ...]:
    """Return the limit that decides, and the others after it, of an attack on every run."""
    methods: list[Method] = ["conditional", "clopper-pearson"]
    if asked.assume_gdp:
        methods.insert(0 if asked.method == "gdp" else 2, "gdp")
    return tuple(replace(_of_counts(counts, asked, one), method=one) for one in methods)


def _of_counts(counts: GuessCounts, asked: EpsilonOptions, method: Method) -> EpsilonRow:
    alpha, delta, mu = 1 - asked.confidence, asked.delta, None
    numerator: Numerator = "both"
    estimate = estimate_from_counts(counts, delta=delta)
    if method == "gdp":
        mu = refuted_mu(*rate_limits(*_table(counts), alpha=alpha))
        lower, pure = GaussianDP(mu=mu).epsilon_at(delta), 0.0
        estimate = gaussian_estimate(counts, delta=delta)
    elif method == "clopper-pearson":
        lower, pure = (
            clopper_pearson_epsilon(*_table(counts), delta=one, alpha=alpha) for one in (delta, 0.0)
        )
    else:
        (lower, numerator), (pure, _) = (
            conditional_from_counts(counts, numerator=asked.counted_class, delta=one, alpha=alpha)
            for one in (delta, 0.0)
        )
    return _row((lower, pure), estimate, counts, numerator, asked.confidence, mu=mu)


def conditional_from_counts(
    counts: GuessCounts, *, numerator: Numerator | Literal["either"], delta: float, alpha: float
) -> tuple[float, Numerator]:
    """Return the lower limit of epsilon, and the class whose right guesses gave it.

    Args:
        counts: an answer on each of at least one run of each kind.
        numerator: the guesses that count, settled beforehand; ``either`` tries those of
            *member* and those of *holdout*, each with half of the error.
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).
    """
    tried: tuple[Numerator, ...] = ("member", "holdout") if numerator == "either" else (numerator,)
    made: dict[Numerator, GuessCounts] = {
        "member": counts._replace(tn=0, fn=0),
        "holdout": counts._replace(tp=0, fp=0),
        "both": counts,
    }
    found = []
    for one in tried:
        slack = usual_slack(_exposed(counts, one), delta, alpha / len(tried))
        found.append((conditional_lower(made[one], slack), one))
    return max(found, key=lambda pair: pair[0])


def smoothed_rates(counts: GuessCounts) -> tuple[float, float]:
    """Return TPR and FPR with half a run of each kind added: neither is 0 or 1."""
    return (counts.tp + 0.5) / (counts.n_members + 1), (counts.fp + 0.5) / (counts.n_holdout + 1)


def estimate_from_counts(counts: GuessCounts, *, delta: float) -> float:
    """Return the plug-in epsilon of the smoothed rates: finite."""
    return refuted_epsilon(*smoothed_rates(counts), delta)


def gaussian_estimate(counts: GuessCounts, *, delta: float) -> float:
    """Return the same for the mechanism of mu-GDP that has these rates."""
    return GaussianDP(mu=refuted_mu(*smoothed_rates(counts))).epsilon_at(delta)


def _refuting_class(counts: GuessCounts, delta: float) -> Numerator:
    """Return the class whose inequality refutes the greater epsilon."""
    tpr, fpr = smoothed_rates(counts)
    found = (tpr - delta) * (1 - tpr)
    return "member" if found >= (1 - fpr - delta) * fpr else "holdout"


def counts_refute_curve(counts: GuessCounts, curve: TradeOff, *, confidence: float) -> bool:
    """Tell whether the guesses of an attack that was fixed beforehand contradict ``curve``.

    Args:
        counts: an answer on each of at least one run of each kind.
        curve: symmetric.
        confidence: in (0, 1).
    """
    tpr, fpr = rate_limits(*_table(counts), alpha=1 - confidence)
    return tpr > curve.tpr(fpr)


def pooled_limit() -> Callable[[int, int, int, int, float, float], float]:
    """Return the conditional limit as a function of right and wrong guesses.

    Its arguments are those of `mipaudit.commands.epsilon.power.CountLimit`. Guesses
    of *member* and of *holdout* count together in the conditional limit, so equally many
    runs of both kinds, with mirrored sets, are one set with twice the runs.
    """
    slack_of = lru_cache(maxsize=64)(usual_slack)

    def limit(tp: int, n_num: int, fp: int, n_den: int, delta: float, alpha: float, /) -> float:
        counts = GuessCounts(tp=tp, fp=fp, tn=0, fn=0, n_members=n_num, n_holdout=n_den)
        return conditional_lower(counts, slack_of(n_num, delta, alpha))

    return limit


def epsilon_runs(
    members: Scores,
    holdout: Scores,
    *,
    delta: float,
    confidence: float,
    method: Method,
    score: str = "",
) -> EpsilonRow:
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
    found = find(members, holdout, delta, confidence)
    if found is None:  # too few runs
        why, gaussian = Message.of("nothing_to_judge", fewest=_LEAST_RUNS), method == "gdp"
        validity: Validity = "assumes-gdp" if gaussian else "finite-sample"
        found = EpsilonRow(
            quantity="epsilon",
            lower=0.0,
            lower_reason=why,
            confidence=confidence,
            validity=validity,
        )
    return replace(found, method=method, score=score)


def _in_order(members: Scores, holdout: Scores) -> tuple[Scores, Scores, Scores]:
    """Return the scores of members, of holdout and of both together, in rising order."""
    one, two = np.sort(members), np.sort(holdout)
    return one, two, np.sort(np.concatenate([one, two]), kind="stable")


def _conditional(
    members: Scores, holdout: Scores, delta: float, confidence: float
) -> EpsilonRow | None:
    """Judge the planned attacks, both ways round, and return the one with the greatest limit."""
    (one, two, ordered), alpha = _in_order(members, holdout), 1 - confidence
    if ordered.size < _LEAST_RUNS:
        return None
    exposed, left = most_exposed(members.size, holdout.size, delta, alpha)
    best: tuple[float, float, Attack, bool, GuessCounts] | None = None
    for attack in planned_attacks(ordered, (one.size, two.size)):
        upright = guess_counts(attack, ordered, one, two)
        for high in attack.ways:
            counts = upright if high else upright.reversed
            beat = best[0] if best else 0.0
            lower = _lower(attack, counts, exposed, left, beat=beat)
            rank = lower, _lead(counts)
            if best is None or rank > best[:2]:
                best = *rank, attack, high, counts
    if best is None:
        return None
    lower, _, attack, high, counts = best
    numerator: Numerator = "member" if bool(attack.above) == high else "holdout"
    if attack.above and attack.below:
        numerator = "both"
    pure = _lower(attack, counts, Exposed(), alpha)
    estimate = conditional_estimate(counts, delta, _exposed(counts, numerator))
    return _row((lower, pure), estimate, counts, numerator, confidence, members_high=high)


def _lower(
    attack: Attack, counts: GuessCounts, exposed: Exposed, error: float, *, beat: float = 0.0
) -> float:
    """Return the limit at the attack's share of an error, which is for both ways if both are."""
    alpha = attack.share * error
    if len(attack.ways) > 1:
        return lower_either_way(counts, exposed, alpha, beat=beat)
    return conditional_lower(counts, exposed.slack(counts, alpha), beat=beat)


def _lead(counts: GuessCounts) -> float:
    """Return how many more guesses are right than there would be among alike rows."""
    share = counts.n_members / (counts.n_members + counts.n_holdout)
    return counts.correct - share * (counts.tp + counts.fp) - (1 - share) * (counts.tn + counts.fn)


def _answers(members: Scores, holdout: Scores) -> Iterator[tuple[GuessCounts, bool, float]]:
    """Yield guesses at planned thresholds, whether members are high, and a share of the error."""
    one, two, ordered = _in_order(members, holdout)
    for cut in planned_cuts(ordered, (one.size, two.size)):
        made = guess_counts(cut, ordered, one, two)
        made = made._replace(fn=one.size - made.tp, tn=two.size - made.fp)
        yield made, True, cut.share / 2
        yield made.reversed, False, cut.share / 2


def _gaussian(
    members: Scores, holdout: Scores, delta: float, confidence: float
) -> EpsilonRow | None:
    best: tuple[float, float, GuessCounts, bool] | None = None
    for counts, high, share in _answers(members, holdout):
        beat = best[0] if best else 0.0
        mu = gaussian_lower(*_table(counts), alpha=share * (1 - confidence), beat=beat)
        rank = mu, gaussian_estimate(counts, delta=delta)
        if best is None or rank > best[:2]:
            best = *rank, counts, high
    if best is None:
        return None
    mu, estimate, counts, high = best
    lower = GaussianDP(mu=mu).epsilon_at(delta)
    return _row((lower, 0.0), estimate, counts, "both", confidence, members_high=high, mu=mu)


def _from_band(members: Scores, holdout: Scores, delta: float, confidence: float) -> EpsilonRow:
    band = roc_band(members, holdout, alpha=1 - confidence)
    refuted, pure = band.refuted(delta), band.refuted(0.0)
    best = int((refuted if refuted.any() else pure).argmax())
    counts = _at(band, best, members.size, holdout.size)
    numerator, high = _refuting_class(counts, delta), bool(band.members_high[best])
    limits, estimate = (
        (float(refuted[best]), float(pure[best])),
        estimate_from_counts(counts, delta=delta),
    )
    return _row(limits, estimate, counts, numerator, confidence, members_high=high)


def _at(band: RocBand, place: int, n_members: int, n_holdout: int) -> GuessCounts:
    """Return the guesses at a point of the ROC."""
    tp, fp = int(band.tp[place]), int(band.fp[place])
    return GuessCounts(tp, fp, n_holdout - fp, n_members - tp, n_members, n_holdout)


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
        counts_refute_curve(counts, curve, confidence=1 - share * (1 - confidence))
        for counts, _, share in _answers(members, holdout)
    )


def runs_statements(rows: ScoredRows, asked: EpsilonOptions) -> tuple[EpsilonRow, ...]:
    """Return a limit for each score, and one under the Gaussian assumption if asked for."""
    confidence = asked.confidence_of_one(len(rows.names))
    methods: list[Method] = [asked.method, "gdp"] if asked.assume_gdp else [asked.method]
    return tuple(
        epsilon_runs(
            members,
            holdout,
            delta=asked.delta,
            confidence=confidence,
            method=method,
            score=safe_name(name),
        )
        for method in dict.fromkeys(methods)
        for name, members, holdout in rows.columns()
    )


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
    confidence = asked.confidence_of_one(len(rows.names))
    return tuple(
        Row(
            quantity="epsilon",
            score=safe_name(name),
            confidence=confidence,
            delta=delta,
            lower=float(band.epsilon(delta)),
            value=_estimate_of_band(band, delta, members.size, holdout.size),
        )
        for name, members, holdout in rows.columns()
        for band in [roc_band(members, holdout, alpha=1 - confidence)]
        for delta in deltas
    )


def _estimate_of_band(band: RocBand, delta: float, n_members: int, n_holdout: int) -> float:
    """Return the plug-in epsilon at the point of the ROC that gave the limit."""
    best = int(band.refuted(delta).argmax())
    return estimate_from_counts(_at(band, best, n_members, n_holdout), delta=delta)


def advantage_statements(
    source: ScoreSource, asked: EpsilonOptions, seed: SeedChoice
) -> tuple[EpsilonRow, ...]:
    """Return the epsilon that the lower limit of each score's advantage implies."""
    from mipaudit.counting.counts import How
    from mipaudit.counting.scores import count_all
    from mipaudit.engine.workers import Engine, Workers
    from mipaudit.evidence.scores.evidence import Evidence

    counts = count_all(source, How(), seed=seed, workers=Workers(Engine(jobs=asked.jobs)))
    confidence = asked.confidence_of_one(len(source.columns))
    return tuple(
        _advantage(Evidence(score=column.name, counts=one, prior=0.5, seed=used), asked, confidence)
        for column, one, used in zip(source.columns, counts.columns, counts.seeds, strict=True)
    )


def _advantage(evidence: Evidence, asked: EpsilonOptions, confidence: float) -> EpsilonRow:
    lower = _implied(evidence.lower(1 - confidence), asked.delta)
    return EpsilonRow(
        quantity="epsilon",
        score=safe_name(evidence.score),
        method="advantage",
        validity="if-exchangeable",
        lower=lower,
        lower_reason=None if lower else Message("advantage_within_chance"),
        value=_implied(evidence.held_out.value, asked.delta),
        confidence=confidence,
    )


def _implied(advantage: float, delta: float) -> float | None:
    """Return log((1 + A - 2 delta) / (1 - A)), at least 0; None at an advantage of 1."""
    epsilon = refuted_epsilon((1 + advantage) / 2, (1 - advantage) / 2, delta)
    return epsilon if math.isfinite(epsilon) else None
