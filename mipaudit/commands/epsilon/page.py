"""What a report on epsilon shows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from mipaudit.commands.epsilon.report import (
    ClaimStatus,
    CoinCheck,
    DetectionPower,
    EpsilonReport,
    EpsilonStatement,
)
from mipaudit.formats.document import (
    Case,
    Document,
    Grid,
    Mood,
    Note,
    Paragraph,
    Section,
    bulleted,
    framed,
)
from mipaudit.statements.text.rounding import (
    count_text,
    lower_figure,
    number_text,
    percent_text,
    upper_figure,
    value_text,
)
from mipaudit.statements.verdict import left_out_note

_VALIDITY: Final = {
    "finite-sample": "",
    "credible": " (credible)",
    "assumes-gdp": " (if Gaussian)",
    "if-exchangeable": " (if rows were trials)",
    "if-fair-coins": " (if coins were fair)",
}
# The headline, its mood, and what a pipeline is told.
_VERDICTS: Final[Mapping[ClaimStatus, tuple[str, Mood, Literal["passed", "failed", "skipped"]]]] = {
    "refuted": ("REFUTED", "bad", "failed"),
    "not_refuted": ("NOT REFUTED (which does not prove it)", "plain", "passed"),
    "not_certifiable": ("NOT TESTED (nothing can be certified)", "open", "skipped"),
}
_METHODS: Final = {
    "advantage": "from the advantage",
    "one-run gdp": "one-run, f-DP",
}
_WHOSE: Final = {
    "member": "guesses of runs with the record",
    "holdout": "guesses of runs without it",
    "both": "guesses of both kinds",
}
_NONE: Final = "none"


def epsilon_document(report: EpsilonReport) -> Document:
    """Return the report as a document."""
    headline, mood = _headline(report)
    document = framed(
        report, _sections(report), cases=(_case(report),), headline=headline, mood=mood
    )
    return document._replace(leads=True)


def _headline(report: EpsilonReport) -> tuple[str, Mood]:
    if report.claim is None:
        return "No claim was given, so there is no verdict.", "plain"
    text, mood, _ = _VERDICTS[report.claim.status]
    return f"Claim: {text}{left_out_note(report.findings)}.", mood


def _case(report: EpsilonReport) -> Case:
    claim = report.claim
    status = "skipped" if claim is None else _VERDICTS[claim.status][2]
    text = "no claim was given to refute" if claim is None else claim.reason
    return Case(group="epsilon", name="claim", status=status, text=text)


def _sections(report: EpsilonReport) -> Iterator[Section]:
    yield _statements(report)
    if report.coin is not None:
        yield (_coin(report.coin),)
    if report.claim is not None and report.claim.p_value is not None:
        p_value = upper_figure(report.claim.p_value, digits=3)
        yield (Paragraph(text=f"The p-value of the claim is {p_value}."),)
    if report.claim is not None and report.claim.power:
        yield _power(report, report.claim.power)
    yield bulleted("What it rests on", report.rests_on)


def _statements(report: EpsilonReport) -> Section:
    named = any(s.score is not None for s in report.statements)
    with_mu = any(s.mu_lower is not None for s in report.statements)
    heads = ["epsilon at least", "best estimate", *["mu at least"] * with_mu]
    words = [*["score"] * named, "method"]
    return (
        Grid(
            caption="Lower limits of epsilon",
            head=(*words, *heads, "what was found"),
            rows=tuple(_row(s, named=named, with_mu=with_mu) for s in report.statements),
            words=len(words),
            prose=True,
        ),
        Note(text=_confidence(report)),
    )


def _confidence(report: EpsilonReport) -> str:
    percent = percent_text(report.design.confidence)
    shared = len(report.design.score_columns)
    joint = f", jointly for the {shared} scores" if shared > 1 else ""
    delta = number_text(report.design.delta)
    return f"Epsilon at delta {delta}; one-sided limits, {percent} confidence{joint}, rounded down."


def _row(statement: EpsilonStatement, *, named: bool, with_mu: bool) -> tuple[str, ...]:
    method = _METHODS.get(statement.method, statement.method)
    lower, estimate, mu = statement.lower, statement.estimate, statement.mu_lower
    return (
        *[f"{statement.score}"] * named,
        method + _VALIDITY[statement.validity],
        _NONE if lower is None else lower_figure(lower),
        "-" if estimate is None else value_text(estimate),
        *[("-" if mu is None else lower_figure(mu))] * with_mu,
        _how(statement),
    )


def _how(statement: EpsilonStatement) -> str:
    """Return the guesses behind a limit, or why there is none."""
    parts = []
    if statement.attack is not None:
        a = statement.attack
        right, wrong = a.tp + a.tn, a.fp + a.fn
        if a.numerator != "both":
            right, wrong = (a.tp, a.fp) if a.numerator == "member" else (a.tn, a.fn)
        side = f", members {a.direction}" if a.direction else ""
        parts.append(
            f"{count_text(right)} of {count_text(right + wrong)} {_WHOSE[a.numerator]} right{side}"
        )
    if statement.guesses is not None:
        g = statement.guesses
        ends = ""
        if g.guessed_in is not None and g.guessed_out is not None:
            ends = f" ({count_text(g.guessed_in)} in, {count_text(g.guessed_out)} out)"
        side = f", included {g.direction}" if g.direction else ""
        tried = f", best of {g.tried} tries" if g.tried > 1 else ""
        parts.append(
            f"{count_text(g.correct)} of {count_text(g.guesses)} guesses right{ends}{side}{tried}"
        )
    if not statement.lower and statement.lower_reason:
        parts.append(statement.lower_reason)
    return "; ".join(parts)


def _coin(coin: CoinCheck) -> Paragraph:
    coins = "Fair coins" if coin.rate is None else f"Coins of rate {number_text(coin.rate)}"
    text = (
        f"Included: {count_text(coin.included)} of {count_text(coin.canaries)} canaries. {coins} "
        f"stray so far or further with probability {upper_figure(coin.p_value, digits=2)}."
    )
    return Paragraph(text=text)


def _power(report: EpsilonReport, power: Sequence[DetectionPower]) -> Section:
    first = power[0]
    one_run = report.design.kind == "one-run"
    what = "canaries" if one_run else "runs of each kind"
    true = number_text(first.true_epsilon)
    percent = percent_text(first.power)
    text = (
        "What this audit could have found: the least true epsilon with which the claim is refuted "
        f"with probability {percent}, and the {what} that it takes if the truth is {true}."
    )
    grid = Grid(
        caption="What could have been found",
        head=(
            "If the noise is",
            f"refuted in {percent} from epsilon",
            f"{what} for epsilon {true}",
        ),
        rows=tuple((one.mechanism.capitalize(), _refutable(one), _needed(one)) for one in power),
        words=3,
    )
    return (Paragraph(text=text), grid)


def _refutable(one: DetectionPower) -> str:
    if one.refutable_epsilon is None:
        return f"none: {one.refutable_reason}"
    return upper_figure(one.refutable_epsilon, digits=3)


def _needed(one: DetectionPower) -> str:
    if one.needed is None:
        return "-" if one.needed_reason == one.refutable_reason else f"none: {one.needed_reason}"
    guesses = "" if one.needed_guesses is None else f", {count_text(one.needed_guesses)} guesses"
    return f"{count_text(one.needed)}{guesses}"
