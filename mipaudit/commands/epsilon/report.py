"""What ``epsilon`` returns, prints and writes: the JSON format ``mipaudit.epsilon/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.maths.one_run.p_value import CanaryCount
from mipaudit.model.message import Message
from mipaudit.model.row import Row
from mipaudit.statements.reports.any_report import AnyReport

DesignKind = Literal["independent-runs", "one-run", "one-model"]
StatementValidity = Literal[
    "finite-sample", "credible", "assumes-gdp", "if-exchangeable", "if-fair-coins"
]
ClaimStatus = Literal["refuted", "not_refuted", "not_certifiable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonDesign:
    """How the scores came about, and what was asked of them.

    Attributes:
        kind: the design; it settles what can be certified.
        n_members: rows with the record (runs, canaries included or members), if known.
        n_holdout: rows without it.
        delta: in [0, 1], of every epsilon in the report.
        confidence: in [0.5, 1), joint over the score columns, each limit one-sided.
        score_columns: the columns that were audited; empty for counts.
        member_column: where membership was read; None for two inputs or counts.
        skipped_columns: columns that were not taken.
        runs: how many runs the canaries are of, if several were named.
    """

    kind: DesignKind
    n_members: int | None
    n_holdout: int | None
    delta: float
    confidence: float
    score_columns: tuple[str, ...]
    member_column: str | None
    skipped_columns: tuple[str, ...]
    runs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAttack:
    """The attack on independent runs whose guesses gave a limit.

    Attributes:
        direction: the end of the score where it guesses *member*; None for counts.
        numerator: whose right guesses count against whose wrong ones.
        tp: members guessed to be members.
        fp: holdout records guessed to be members.
        tn: holdout records guessed to be holdout; less than the rest: it may abstain.
        fn: members guessed to be holdout.
        n_members: members judged, with or without a guess.
        n_holdout: holdout records judged.
    """

    direction: Literal["high", "low"] | None
    numerator: Literal["member", "holdout", "both"]
    tp: int
    fp: int
    tn: int
    fn: int
    n_members: int
    n_holdout: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryGuesses(CanaryCount):
    """The guesses about canaries of one run that gave a limit.

    Attributes:
        canaries: m.
        guesses: r.
        correct: v.
        guessed_in: of the guesses, how many say *included*; None for counts.
        guessed_out: how many say *left out*.
        direction: the end of the score that was taken to speak for inclusion.
        tried: numbers of guesses and directions that share the error.
    """

    guessed_out: int | None
    direction: Literal["high", "low"] | None
    tried: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonStatement:
    """A lower limit of epsilon by one method from one score.

    Attributes:
        score: its column; None for counts.
        method: how it was found.
        validity: what the confidence means; ``if-exchangeable`` certifies nothing, nor does
            ``if-fair-coins``, where the number of canaries included speaks against them.
        decides: whether the headline and the verdict rest on it.
        lower: no smaller epsilon at delta is true; at least 0.
        lower_reason: why it is 0, or why there is none.
        estimate: best estimate for the attack that was judged; no certificate.
        mu_lower: the limit as mu of Gaussian differential privacy, where that is assumed.
        confidence: of this limit alone.
        attack: for independent runs.
        guesses: for one run.
    """

    score: str | None
    method: str
    validity: StatementValidity
    decides: bool
    lower: float | None
    lower_reason: Message | None
    estimate: float | None
    mu_lower: float | None
    confidence: float
    attack: JudgedAttack | None
    guesses: CanaryGuesses | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionPower:
    """What the design can detect where the mechanism is of one kind, by the best threshold.

    Attributes:
        mechanism: the kind.
        power: the probability of refuting the claim.
        refutable_epsilon: the least true epsilon at delta that is found so often.
        refutable_reason: why there is none.
        true_epsilon: for which the next is planned.
        needed: runs of each kind, or canaries, that find it so often.
        needed_guesses: how many of these canaries to guess.
        needed_reason: why there is no such number.
    """

    mechanism: Literal["gaussian", "laplace"]
    power: float
    refutable_epsilon: float | None
    refutable_reason: Message | None
    true_epsilon: float
    needed: int | None
    needed_guesses: int | None
    needed_reason: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVerdict:
    """A claim beside the data.

    Attributes:
        epsilon: what was claimed, at the design's delta; or
        mu: Gaussian differential privacy; or
        curve: the file with the points of a trade-off curve.
        status: ``not_refuted`` verifies nothing.
        p_value: of the claim, over all scores, for one run; None elsewhere.
        reason: what that rests on.
        power: what the design could have found, for a claimed epsilon.
    """

    epsilon: float | None
    mu: float | None
    status: ClaimStatus
    p_value: float | None
    reason: Message
    power: tuple[DetectionPower, ...]
    curve: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinCheck:
    """How many canaries were included, and how likely coins are to stray so far.

    Attributes:
        canaries: m.
        included: how many of them were.
        p_value: of that number, if the coins have the stated rate, or are fair.
        ruled_out: they hardly can stray so far, so that nothing is certified.
        rate: of the coins, if stated; if not, the limit holds for all rates near the one seen.
    """

    canaries: int
    included: int
    p_value: float
    ruled_out: bool = False
    rate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EpsilonReport(AnyReport):
    """The largest epsilon that the data refute, and what that rests on.

    Attributes:
        statements: the limits, the deciding ones first, the largest of them at the top.
        coin: how canaries were included, for one run from scores.
        profile: epsilon at many deltas, if asked for: lower limits that hold for all of them
            jointly, and estimates.
        rests_on: the assumptions.
    """

    design: EpsilonDesign
    statements: tuple[EpsilonStatement, ...]
    claim: ClaimVerdict | None
    coin: CoinCheck | None
    profile: tuple[Row, ...] | None
    rests_on: tuple[Message, ...]
