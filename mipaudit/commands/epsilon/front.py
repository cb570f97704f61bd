"""What a page of ``epsilon`` shows first, to who never heard of differential privacy.

Its answer in plain words; and its picture: what the claim allows, and the attack that was judged.
"""

from collections.abc import Iterator
from typing import Final

from mipaudit.commands.epsilon.page import WORTH
from mipaudit.commands.epsilon.report import EpsilonReport
from mipaudit.formats.brief import Brief
from mipaudit.formats.document import Picture
from mipaudit.formats.html_page import Front, confidence_words
from mipaudit.formats.promised import Point, Promise, promise_name, promised
from mipaudit.statements.text.rounding import lower_figure, number_text

_NO_CLAIM: Final = "No promise was named, so this page neither confirms nor refutes one."
_FEW: Final = 3
_EPSILON: Final = (
    "how far a release may move the odds that a record was used: by a factor of at most e to the "
    "power of epsilon. 0 is not at all, 1 is a factor of 2.7, 5 one of 148."
)
_DELTA: Final = "how likely that may fail."


def epsilon_front(report: EpsilonReport, brief: Brief) -> Front:
    """Return whether the promise is broken, or which promise would be.

    Args:
        report: as answered.
        brief: its answer for a terminal.
    """
    design = report.design
    limited = design.kind != "one-model" and report.statements[0].lower
    return Front(
        answer=_claimed(report) or f"{_found(report)} {_NO_CLAIM}",
        mood=brief.mood,
        also=(_found(report),) if report.claim is not None and limited else (),
        figures=brief.answer,
        facts=(("promised", _promise(report)),),
        terms=(("Epsilon", _EPSILON), ("Delta", _DELTA), confidence_words(design.confidence)),
        unsaid=tuple(report.limitations[:_FEW]),
    )


def _promise(report: EpsilonReport) -> str:
    claim = report.claim
    if claim is None:
        return "nothing was named"
    if claim.epsilon is not None:
        return f"epsilon {number_text(claim.epsilon)} at delta {number_text(report.design.delta)}"
    if claim.mu is not None:
        return f"Gaussian differential privacy with mu {number_text(claim.mu)}"
    return "a curve that attacks do not pass"


def _claimed(report: EpsilonReport) -> str:
    """Return what became of the promise; empty where there is none."""
    claim = report.claim
    if claim is None:
        return ""
    match claim.status:
        case "refuted":
            return f"REFUTED{_given(report)}: the promise that was made is not kept. {claim.reason}"
        case "not_refuted":
            return (
                "NOT REFUTED: this test found nothing against the promise that was made. That does "
                "not show that it is kept."
            )
        case "not_certifiable":
            return f"NOT TESTED: nothing can be said of the promise that was made. {claim.reason}"


def _given(report: EpsilonReport) -> str:
    """Return on what the row rests by which the promise is refuted."""
    top, claim = report.statements[0], report.claim
    rests = top.validity == "if-fair-coins" or (claim is not None and claim.epsilon is not None)
    return f", {WORTH[top.validity]}" if rests and top.validity in WORTH else ""


def _found(report: EpsilonReport) -> str:
    """Return which promises would be broken, at the confidence of the row that decides."""
    top, delta = report.statements[0], number_text(report.design.delta)
    if report.design.kind == "one-model":
        return (
            "Records of one model cannot break a promise: they are no repeated trials of how it "
            "was made."
        )
    if not top.lower:
        return "This test would break no promise. That is no evidence of privacy."
    worth = f", {WORTH[top.validity]}" if top.validity in WORTH else ""
    return (
        f"A promise of an epsilon below {lower_figure(top.lower)} at delta {delta} would not be "
        f"kept{worth}."
    )


def epsilon_pictures(report: EpsilonReport) -> Iterator[Picture]:
    """Yield the trade-off of what is claimed and of what is shown, where there is either."""
    delta = report.design.delta
    promises = []
    claim = report.claim
    if claim is not None and claim.epsilon is not None:
        claimed = Promise(claim.epsilon, delta)
        promises.append((f"claimed: {promise_name(claimed)}", claimed))
    deciding = [one for one in report.statements if one.decides and one.lower]
    if deciding:
        shown = Promise(max(one.lower or 0.0 for one in deciding), delta)
        promises.append((f"not kept below: {promise_name(shown)}", shown))
    points = [
        Point(one.fp / (one.fp + one.tn), one.tp / (one.tp + one.fn), "the attack")
        for one in (statement.attack for statement in deciding[:1])
        if one is not None and one.fp + one.tn and one.tp + one.fn
    ]
    if promises:
        yield promised(
            promises,
            points,
            caption="No attacker is above the solid line if the promise is kept. Shares of the "
            "attack are those that were counted, without their limits.",
        )
