"""What ``epsilon`` returns, prints and writes: the JSON format ``mipaudit.epsilon/3``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from mipaudit.model.message import Message, fields_of
from mipaudit.model.row import Row
from mipaudit.statements.any_report import AnyReport
from mipaudit.statements.copies import COPIES
from mipaudit.statements.verdict import LEFT_OUT

DesignKind = Literal["independent-runs", "one-run", "one-model"]
_KINDS: Final = ("member", "holdout", "both")
# Limits that certify nothing; coins are in doubt where the number of canaries included is.
_ASSUMED: Final = frozenset({"assumes-gdp", "if-exchangeable", "if-fair-coins"})
ClaimStatus = Literal["refuted", "not_refuted", "not_certifiable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonDesign:
    """How the scores came about, and what was asked of them.

    Attributes:
        kind: the design; it settles what can be proved.
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
class EpsilonRow(Row):
    """A lower limit of epsilon by one method from one score, and the guesses that gave it.

    No smaller epsilon at delta is true. The value is the best estimate for the attack that was
    judged, no certificate. Of independent runs ``selection`` says whose right guesses count against
    whose wrong ones: *member*, *holdout*, or *both*.

    Attributes:
        mu_lower: the limit as mu of Gaussian differential privacy, where that is assumed.
        standing: what the limit assumes, or else whether it decides; None where all are alike.
        counts: of independent runs the guesses *member* (``tp``, ``fp``) and *holdout* (``tn``,
            ``fn``: less than the rest where the attack may abstain); of one run its ``canaries``,
            the ``guesses``, how many are ``correct`` and, where that is known, say *included*
            (``guessed_in``) and *left out*, and how many numbers of guesses and directions were
            ``tried``.
    """

    mu_lower: float | None = None
    standing: Message | None = None
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def worth(self) -> Message | None:
        """What the limit assumes; None of one that holds without."""
        return Message(self.validity) if self.validity in _ASSUMED else None

    @property
    def judged(self) -> Message | None:
        """How many guesses were right, of how many, and whose; None where none count."""
        made = self.counts
        if "canaries" in made:
            known = {name: made.get(name) for name in ("guesses", "guessed_in", "guessed_out")}
            known |= {
                "right": made["correct"],
                "tried": made["tried"] if made["tried"] > 1 else None,
            }
            return Message.of("guesses_of_canaries", direction=self.side, **known)
        if not made:
            return None
        kinds = _KINDS[:2] if self.selection == _KINDS[2] else (self.selection,)
        right = sum(made[{"member": "tp", "holdout": "tn"}[kind]] for kind in kinds)
        wrong = sum(made[{"member": "fp", "holdout": "fn"}[kind]] for kind in kinds)
        values = {"right": right, "guesses": right + wrong, "direction": self.side}
        return Message.of(f"guesses_of_{self.selection}", **values)


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
        ruled_out: they hardly can stray so far, so that nothing is proved.
        rate: of the coins, if stated; if not, the limit holds for all rates near the one seen.
    """

    canaries: int
    included: int
    p_value: float
    ruled_out: bool = False
    rate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EpsilonReport(AnyReport):
    """The largest epsilon that the data refute, and the evidence for it.

    Attributes:
        statements: the limits, the deciding ones first, the largest of them at the top.
        coin: how canaries were included, for one run from scores.
        profile: epsilon at many deltas, if asked for: lower limits that hold for all of them
            jointly, and estimates.
        rests_on: the assumptions.
    """

    design: EpsilonDesign
    statements: tuple[EpsilonRow, ...]
    claim: ClaimVerdict | None
    coin: CoinCheck | None
    profile: tuple[Row, ...] | None
    rests_on: tuple[Message, ...]


_PLAINLY: Final = {
    "refuted": "promise_broken",
    "not_refuted": "promise_not_broken",
    "not_certifiable": "promise_not_tested",
}


def answer(report: EpsilonReport) -> Message:
    """Return what became of the claim, and which epsilon is refuted."""
    claim, limit = report.claim, _limit(report)
    if claim is None:
        return Message.of("epsilon_limited", limit=limit, plainly=_broken(report))
    # A claim of another kind can be refuted where no epsilon is.
    idle = claim.status == "refuted" and not report.statements[0].lower
    codes = {one.code for one in report.findings}
    return Message.of(
        f"claim_{claim.status}",
        reason=claim.reason,
        limit=None if idle or claim.status == "not_certifiable" else limit,
        plainly=claim.reason.with_values(_PLAINLY[claim.status], reason=claim.reason),
        copies=(COPIES in codes) or None,
        left_out=(LEFT_OUT in codes) or None,
    )


def remarks(report: EpsilonReport) -> Iterator[Message]:
    """Yield why no more is shown, and what would show it."""
    top, claim, coin = report.statements[0], report.claim, report.coin
    if not top.lower and top.lower_reason:
        yield Message.of("why_no_more", reason=top.lower_reason)
    if claim is not None and claim.p_value is not None:
        yield Message.of("claim_p_value", p=claim.p_value)
    if claim is not None and claim.status != "refuted" and claim.power:
        first = claim.power[0]
        yield Message.of(
            "no_size_would_refute" if first.needed is None else "size_would_refute",
            true=first.true_epsilon,
            needed=first.needed,
            canaries=(first.needed_guesses is not None) or None,
            power=first.power,
            mechanism=first.mechanism,
        )
    if report.design.kind == "one-model":
        yield Message("to_certify")
    if coin is not None:
        yield Message.of(
            "coins_seen", **fields_of(coin, "included", "canaries", "rate"), p=coin.p_value
        )


def seen(report: EpsilonReport) -> Message:
    """Return what was judged."""
    design, counts = report.design, report.statements[0].counts
    if "canaries" in counts:
        return Message.of("one_run_seen", runs=design.runs, canaries=counts["canaries"])
    return Message.of(
        "one_model_seen" if design.kind == "one-model" else "runs_seen",
        members=design.n_members,
        holdout=design.n_holdout,
    )


def common(report: EpsilonReport) -> Message | None:
    """Return what all limits assume; None where that differs, or they hold without."""
    first, *others = report.statements
    return first.worth if all(one.validity == first.validity for one in others) else None


def _limit(report: EpsilonReport) -> Message:
    """Return which epsilon is refuted, as the rows that decide have it."""
    design, top = report.design, report.statements[0]
    if design.kind == "one-model":
        found = next((one for one in report.statements if one.method == "advantage"), top)
        return Message.of("no_epsilon_certified", lower=found.lower or None, delta=design.delta)
    others = [one for one in report.statements if one.lower]
    if not others:
        return Message.of("no_epsilon_refuted", delta=design.delta)
    found = top if top.lower else max(others, key=lambda one: one.lower or 0.0)
    return Message.of(
        "epsilons_refuted" if top.lower else "epsilons_refuted_beside",
        lower=found.lower,
        delta=design.delta,
        worth=found.worth,
        confidence=design.confidence,
    )


def _broken(report: EpsilonReport) -> Message:
    """Return which promises would be broken, for everybody."""
    top = report.statements[0]
    if report.design.kind == "one-model":
        return Message("one_model_breaks_none")
    if not top.lower:
        return Message("no_promise_would_break")
    return Message.of(
        "promise_would_break", lower=top.lower, delta=report.design.delta, worth=top.worth
    )
