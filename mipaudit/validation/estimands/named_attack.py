"""Attackers that are named beforehand, as ``attack`` states what they achieve.

The adversary learns a threshold on the burn-in; the truth is that of the threshold that it
learned, which the arguments carry. Where the score counts as a loss, it is low for members and
has a bound that was known before: what lies outside of 0 to the bound counts as the end that it
passes.

The attribute advantage and its reduction to membership are those of ``attribute``: each record
is given a value of an attribute by chance, whatever its class, and the guess of it is right
where the score is above the value's cut, at rates that the law of the score knows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.commands.attack.adversaries import (
    Cut,
    Labelled,
    best_cut,
    bounded_loss_guesses,
    top_cut,
)
from mipaudit.commands.attribute.run import (
    ValueGuesses,
    attribute_advantage,
    membership_advantage,
    summed,
)
from mipaudit.commands.epsilon.independent_runs import Method, epsilon_runs
from mipaudit.commands.epsilon.one_run import limit_one_run, one_run_from_scores
from mipaudit.evidence.named_attack import (
    JudgedRows,
    Limits,
    achieved,
    at_most_short,
    mean_difference,
    surely_short,
)
from mipaudit.maths.advantage import advantage
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import refuted_epsilon, refuted_mu
from mipaudit.summaries.rows import micro_blocks, position_bytes
from mipaudit.validation.estimands.estimand import (
    ATTACK_CUT,
    CONFIDENCE,
    ONE_SIDED,
    AuditedFile,
    Estimand,
    Interval,
)
from mipaudit.validation.scenario import mechanism_curve

if TYPE_CHECKING:
    from mipaudit.validation.law import Law, Mixture

_ALPHA: Final = 1 - CONFIDENCE
_HALF: Final = 0.5
# Values of the attribute: the score above which each is guessed, and how often it occurs.
CUTS: Final = (0.5, 0.0, 1.5, -0.5)
_SHARES: Final = (0.6, 0.3, 0.08, 0.02)
_STREAM: Final = 7  # of the values, apart from all other random numbers
# Of a loss.
BOUND: Final = 2.0
# The middles of so many steps: each mean is then within BOUND / 2^17 of the truth.
_STEPS: Final = 1 << 16


def _attack_rows(audited: AuditedFile) -> Iterator[Interval]:
    # As `attack` does: two values have one cut, which all rows judge.
    for said, rows in _adversaries(audited, on_all=audited.evidence.one_cut):
        guesses = rows.takes.astype(np.bool_)
        found = achieved(guesses, rows.member, prior=audited.prior, alpha=_ALPHA)
        if found is not None:
            yield replace(said, lower=found.advantage.lower, upper=found.advantage.upper)


def _shortfall_rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield a lower limit of what the best of all attackers has more."""
    counts = audited.evidence.counts
    for said, rows in _adversaries(audited):
        yield replace(said, lower=surely_short(rows, counts, audited.prior, _ALPHA / 2))


def _threshold_rows(audited: AuditedFile) -> Iterator[Interval]:
    """Yield an upper limit of what the best threshold has more."""
    for said, rows in _adversaries(audited):
        upper = at_most_short(rows, "thresholds", audited.prior, _ALPHA / 2)
        if upper is not None:
            yield replace(said, upper=upper)


def _adversaries(
    audited: AuditedFile, *, on_all: bool = False
) -> Iterator[tuple[Interval, JudgedRows]]:
    """Yield each adversary that the file lets learn: no limits yet, and its guesses of rows.

    The arguments are the cut, who is called a member, and the side of the members.
    """
    ordered, seed = audited.in_order
    score, member = ordered.scores[0], ordered.member
    # The blocks are those of the evidence beside which the adversary is put.
    blocks = micro_blocks(position_bytes(seed, 0, member.size))
    late = blocks >= audited.evidence.counts.burn_in
    judged = late | on_all
    side = audited.evidence.trained_side
    loss = score if side == "low" else -score
    for name, cut in _cuts(Labelled(loss=loss[~late], member=member[~late]), audited.prior):
        rows = JudgedRows(
            takes=cut.guesses(loss[judged]).astype(np.float64),
            member=member[judged],
            scores=score[judged],
            cell=np.searchsorted(audited.cell_edges, score[judged], side="left"),
            blocks=blocks[judged],
        )
        args = (cut.at, "low" if cut.below else "nobody", side)
        yield Interval(args=args, label=f"({name})"), rows


def _cuts(taught: Labelled, prior: float) -> Iterator[tuple[str, Cut]]:
    yield "best-threshold", best_cut(taught, prior)
    if taught.loss.size:
        yield "top-half", top_cut(taught.loss, _HALF)
    if taught.members.size and np.isfinite(taught.members).all():
        yield "mean", Cut(at=float(taught.members.mean()))


def _achieved(law: Law, prior: float, *cut: Any) -> float:  # noqa: ANN401 - as `_rates`
    return advantage(*_rates(law, *cut), prior)


def _rates(law: Law, at: float, below: str, side: str) -> tuple[float, float]:
    """Return the true TPR and FPR of a threshold."""
    if below == "nobody":
        return 0.0, 0.0
    if side == "low":
        cuts = np.array([at])
        return float(law.members.cdf(cuts)[0]), float(law.holdout.cdf(cuts)[0])
    # Called a member at -score <= at: not below -at.
    cuts = np.array([np.nextafter(-at, -np.inf)])
    return 1 - float(law.members.cdf(cuts)[0]), 1 - float(law.holdout.cdf(cuts)[0])


def _bounded_loss(law: Law, prior: float) -> float:
    # It calls a record a member with probability 1 - loss/bound.
    return advantage(1 - _mean(law.members) / BOUND, 1 - _mean(law.holdout) / BOUND, prior)


def _bounded_loss_row(audited: AuditedFile) -> Iterator[Interval]:
    guesses = bounded_loss_guesses(audited.score, BOUND)
    found = achieved(guesses, audited.member, prior=audited.prior, alpha=_ALPHA)
    if found is not None:
        yield _limits(found.advantage)


def _gap_row(audited: AuditedFile) -> Iterator[Interval]:
    """Yield the limits of two means."""
    terms = np.clip(audited.score, 0.0, BOUND) / BOUND
    lower, upper = mean_difference(terms[~audited.member], terms[audited.member], _ALPHA)
    yield Interval(lower=lower * BOUND, upper=upper * BOUND)


def _limits(found: Limits, *args: float) -> Interval:
    return Interval(lower=found.lower, upper=found.upper, value=found.value, args=args)


def _mean(part: Mixture) -> float:
    """Return the mean of a clipped loss: the integral of P(loss > x) from 0 to the bound."""
    step = BOUND / _STEPS
    middles = np.asarray(step * (np.arange(_STEPS) + 0.5), dtype=np.float64)
    return float((1 - part.cdf(middles)).sum() * step)


def _attribute_advantage(law: Law, _prior: float, *shares: float) -> float:
    right, wrong = _rates_by_value(law)
    return float(np.array(shares) @ (right - wrong))


def _attribute_row(audited: AuditedFile) -> Iterator[Interval]:
    values = _guesses(audited)
    found = attribute_advantage([one for one in values if one.records], _ALPHA)
    if found is not None:
        yield _limits(found, *(one.records / audited.member.size for one in values))


def _attribute_membership(law: Law, prior: float) -> float:
    right, wrong = _rates_by_value(law)
    shares = np.array(_SHARES)
    return advantage(float(shares @ right), float(shares @ wrong), prior)


def _membership_row(audited: AuditedFile) -> Iterator[Interval]:
    yield _limits(membership_advantage(summed(_guesses(audited)), audited.prior, _ALPHA))


def _rates_by_value(law: Law) -> tuple[Floats, Floats]:
    """Return P(guessed right) by value, of members and of holdout records."""
    cuts = np.array(CUTS)
    return 1 - law.members.cdf(cuts), 1 - law.holdout.cdf(cuts)


def _guesses(audited: AuditedFile) -> list[ValueGuesses]:
    """Return the counts of right guesses by value."""
    rng = np.random.default_rng([audited.seed % 2**63, _STREAM])
    value = rng.choice(len(CUTS), audited.member.size, p=_SHARES)
    right = audited.score > np.array(CUTS)[value]
    mine, theirs = audited.member, ~audited.member
    counts = [
        np.bincount(value[rows], minlength=len(CUTS))
        for rows in (right & mine, mine, right & theirs, theirs)
    ]
    return [ValueGuesses(*one) for one in np.stack(counts, axis=1).tolist()]


NAMED: Final = (
    # The advantage of an adversary that learned a threshold.
    Estimand(name="named_attack", truth=_achieved, said=_attack_rows, dear=True),
    # How much more the best of all attackers has, and the best threshold.
    Estimand(
        name="named_shortfall",
        truth=lambda law, prior, *cut: law.advantage(prior) - _achieved(law, prior, *cut),
        said=_shortfall_rows,
        dear=True,
    ),
    Estimand(
        name="named_shortfall_thresholds",
        truth=lambda law, prior, *cut: (
            law.advantage_thresholds(prior) - _achieved(law, prior, *cut)
        ),
        said=_threshold_rows,
        dear=True,
    ),
    # Of Yeom's bounded-loss adversary.
    Estimand(name="bounded_loss", truth=_bounded_loss, said=_bounded_loss_row, dear=True),
    # Mean loss of the holdout less that of the members, of the clipped loss.
    Estimand(
        name="generalization_gap",
        truth=lambda law, _prior: _mean(law.holdout) - _mean(law.members),
        said=_gap_row,
        dear=True,
    ),
    # Definition 5 of Yeom et al.; the arguments are the values' shares in the file.
    Estimand(
        name="attribute_advantage", truth=_attribute_advantage, said=_attribute_row, dear=True
    ),
    # Of calling a record a member where its attribute was guessed right.
    Estimand(
        name="attribute_membership", truth=_attribute_membership, said=_membership_row, dear=True
    ),
)


DELTA: Final = 1e-5
# Standard errors of a fair coin between the canaries that are drawn and those at hand.
_SPARE: Final = 5.0


def _leaks_nothing(law: Law) -> bool:
    return law.name.startswith("null-") or law.name == "constant"


def _is_mechanism(law: Law) -> bool:
    return _leaks_nothing(law) or mechanism_curve(law.name) is not None


def _is_gaussian(law: Law) -> bool:
    return _leaks_nothing(law) or isinstance(mechanism_curve(law.name), GaussianDP)


def _epsilon(law: Law, _prior: float) -> float:
    """Return the epsilon of a mechanism, for adding or removing a record."""
    curve = mechanism_curve(law.name)
    return 0.0 if curve is None else curve.epsilon_at(DELTA)


def _of_runs(audited: AuditedFile, method: Method, label: str = "") -> Interval:
    """Return the limit where each row is one run of the mechanism."""
    found = epsilon_runs(
        audited.score[audited.member],
        audited.score[~audited.member],
        delta=DELTA,
        confidence=CONFIDENCE,
        method=method,
    )
    return Interval(lower=found.lower, value=found.value, nominal=found.confidence, label=label)


def _of_one_run(audited: AuditedFile) -> Iterator[Interval]:
    """Yield the limits of one run: guesses tried over a grid, and a number fixed before.

    Each row is a canary, included by its own fair coin.
    """
    included, scores = _canaries(audited)
    for label, guesses in (("", None), (", guesses fixed", scores.size // 4)):
        run = one_run_from_scores(included, scores, guesses=guesses, seed=audited.seed)
        found = limit_one_run(run, delta=DELTA, confidence=CONFIDENCE)
        yield Interval(lower=found.lower, nominal=found.confidence, label=label)


def _canaries(audited: AuditedFile) -> tuple[Bools, Floats]:
    """Return canaries that fair coins included, drawn from a file of given class sizes."""
    rng = np.random.default_rng([audited.seed, 3])
    fewer = min(audited.n_members, audited.n_holdout)
    # So few that the coins never ask for more of a class than there are.
    canaries = max(1, math.floor(2 * fewer - _SPARE * math.sqrt(2 * fewer)))
    inside = int(np.clip(rng.binomial(canaries, 0.5), canaries - fewer, fewer))
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(side), count, replace=False)
            for side, count in ((audited.member, inside), (~audited.member, canaries - inside))
        ]
    )
    rng.shuffle(rows)
    return audited.member[rows], audited.score[rows]


def _attack_epsilon(law: Law, _prior: float = 0.5) -> float:
    return refuted_epsilon(*_cut_rates(law), 0.0)


def _attack_mu(law: Law, _prior: float = 0.5) -> float:
    return refuted_mu(*_cut_rates(law))


def _cut_rates(law: Law) -> tuple[float, float]:
    """Return the true TPR and FPR of the attack at `ATTACK_CUT`."""
    cut = np.array([ATTACK_CUT])
    return 1 - float(law.members.cdf(cut)[0]), 1 - float(law.holdout.cdf(cut)[0])


def _ruled_out(audited: AuditedFile, parameter: str) -> Iterator[Interval]:
    """Yield the Clopper-Pearson limits of the attack's parameter, two-sided and one-sided."""
    for limits in audited.refuted.limits:
        two_sided = limits.sides == 2  # noqa: PLR2004
        yield Interval(
            lower=getattr(limits, f"{parameter}_lower"),
            upper=getattr(limits, f"{parameter}_upper"),
            value=getattr(audited.refuted, parameter),
            nominal=ONE_SIDED if two_sided else limits.confidence,
            label="" if two_sided else ", one-sided",
        )


EPSILON: Final = (
    # Where the attack leaves any finite value standing.
    Estimand(
        name="attack_epsilon",
        truth=_attack_epsilon,
        said=lambda audited: _ruled_out(audited, "epsilon"),
        has_truth=lambda law: math.isfinite(_attack_epsilon(law)),
    ),
    Estimand(
        name="attack_mu",
        truth=_attack_mu,
        said=lambda audited: _ruled_out(audited, "mu"),
        has_truth=lambda law: math.isfinite(_attack_mu(law)),
    ),
    # Of another command, and dear: run when asked for by name. Every method that is valid for
    # all mechanisms, the default first.
    Estimand(
        name="epsilon_runs",
        truth=_epsilon,
        said=lambda audited: (
            _of_runs(audited, "conditional"),
            _of_runs(audited, "bands", ", bands"),
        ),
        has_truth=_is_mechanism,
        by_name_only=True,
    ),
    # The method that is valid for Gaussian mechanisms only.
    Estimand(
        name="epsilon_gdp",
        truth=_epsilon,
        said=lambda audited: (_of_runs(audited, "gdp"),),
        has_truth=_is_gaussian,
        by_name_only=True,
    ),
    Estimand(
        name="epsilon_one_run",
        truth=_epsilon,
        said=_of_one_run,
        has_truth=_is_mechanism,
        by_name_only=True,
    ),
)
