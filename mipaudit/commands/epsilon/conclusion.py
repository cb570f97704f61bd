"""What an audit of epsilon concludes: its answer and its remarks as codes, a line a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.commands.epsilon.answer import worth
from mipaudit.model.message import Message
from mipaudit.statements.verdict import COPIES, LEFT_OUT

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.report import EpsilonReport, EpsilonStatement

_PLAINLY: Final = {
    "refuted": "promise_broken",
    "not_refuted": "promise_not_broken",
    "not_certifiable": "promise_not_tested",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A limit of epsilon in a line: what it is worth, and the guesses behind it."""

    score: str | None
    method: str
    standing: Message | None
    lower: float | None
    value: float | None
    upper: None = None
    lower_reason: Message | None
    mu_lower: float | None
    judged: Message | None


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
            "coins_seen",
            included=coin.included,
            canaries=coin.canaries,
            rate=coin.rate,
            p=coin.p_value,
        )


def seen(report: EpsilonReport) -> Message:
    """Return what was judged."""
    design, guesses = report.design, report.statements[0].guesses
    if guesses is not None:
        return Message.of("one_run_seen", runs=design.runs, canaries=guesses.canaries)
    return Message.of(
        "one_model_seen" if design.kind == "one-model" else "runs_seen",
        members=design.n_members,
        holdout=design.n_holdout,
    )


def lines(report: EpsilonReport) -> tuple[Line, ...]:
    """Return a line for each limit, the deciding ones first; what all are worth is `common`."""
    several = len({_standing(one).code for one in report.statements}) > 1
    return tuple(
        Line(
            score=one.score,
            method=one.method,
            standing=_standing(one) if several else None,
            lower=one.lower,
            value=one.estimate,
            lower_reason=one.lower_reason,
            mu_lower=one.mu_lower,
            judged=_judged(one),
        )
        for one in report.statements
    )


def common(report: EpsilonReport) -> Message | None:
    """Return what all limits assume; None where that differs, or they hold without."""
    first, *others = report.statements
    return worth(first) if all(one.validity == first.validity for one in others) else None


def _standing(statement: EpsilonStatement) -> Message:
    return worth(statement) or Message("decides" if statement.decides else "beside_it")


def _judged(statement: EpsilonStatement) -> Message | None:
    """Return how many guesses were right, of how many, and whose; None where none count."""
    attack, guesses = statement.attack, statement.guesses
    if attack is not None:
        members, holdout = (attack.tp, attack.fp), (attack.tn, attack.fn)
        both = (attack.tp + attack.tn, attack.fp + attack.fn)
        right, wrong = {"member": members, "holdout": holdout, "both": both}[attack.numerator]
        return Message.of(
            f"guesses_of_{attack.numerator}",
            right=right,
            guesses=right + wrong,
            direction=attack.direction,
        )
    if guesses is None:
        return None
    return Message.of(
        "guesses_of_canaries",
        right=guesses.correct,
        guesses=guesses.guesses,
        guessed_in=guesses.guessed_in,
        guessed_out=guesses.guessed_out,
        direction=guesses.direction,
        tried=guesses.tried if guesses.tried > 1 else None,
    )


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
        worth=worth(found),
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
        "promise_would_break", lower=top.lower, delta=report.design.delta, worth=worth(top)
    )
