"""The table of ``epsilon``, in plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.audit.figures import (
    count_text,
    lower_figure,
    number_text,
    percent_text,
    upper_figure,
    value_text,
)
from mipaudit.render.plain import annotated, columns, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.report.epsilon import (
        CoinCheck,
        DetectionPower,
        EpsilonReport,
        EpsilonStatement,
    )

_VALIDITY: Final = {
    "finite-sample": "",
    "credible": " (credible)",
    "assumes-gdp": " (if Gaussian)",
    "if-exchangeable": " (if rows were trials)",
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


def render_epsilon(report: EpsilonReport, *, width: int) -> str:
    """Return the report as text for people, lines up to ``width`` where prose allows."""
    return "\n".join(section for section in _sections(report, width) if section)


def _sections(report: EpsilonReport, width: int) -> Iterator[str]:
    yield paragraph(report.summary, width=width, hyphens=False)
    yield _statements(report, width)
    if report.coin is not None:
        yield _coin(report.coin, width)
    if report.claim is not None and report.claim.p_value is not None:
        p_value = upper_figure(report.claim.p_value, digits=3)
        yield paragraph(f"The p-value of the claim is {p_value}.", width=width)
    if report.claim is not None and report.claim.power:
        yield _power(report, report.claim.power, width)
    yield _bullets("What it rests on", report.rests_on, width)
    yield _bullets("Findings", [f"{f.code}: {f.text}" for f in report.findings], width)
    yield _bullets("Keep in mind", report.limitations, width)


def _statements(report: EpsilonReport, width: int) -> str:
    named = any(s.score is not None for s in report.statements)
    with_mu = any(s.mu_lower is not None for s in report.statements)
    rows = [_row(s, named=named, with_mu=with_mu) for s in report.statements]
    heads = ["epsilon at least", "best estimate", *["mu at least"] * with_mu]
    header = [*["score"] * named, "method", *heads, "what was found"]
    table = annotated(rows, header=header, width=width, numbers=len(heads))
    return table + paragraph(_confidence(report), width=width, indent="  ")


def _confidence(report: EpsilonReport) -> str:
    percent = percent_text(report.design.confidence)
    shared = len(report.design.score_columns)
    joint = f", jointly for the {shared} scores" if shared > 1 else ""
    delta = number_text(report.design.delta)
    return f"Epsilon at delta {delta}; one-sided limits, {percent} confidence{joint}, rounded down."


def _row(statement: EpsilonStatement, *, named: bool, with_mu: bool) -> list[str]:
    method = _METHODS.get(statement.method, statement.method)
    lower, estimate, mu = statement.lower, statement.estimate, statement.mu_lower
    return [
        *[f"{statement.score}"] * named,
        method + _VALIDITY[statement.validity],
        _NONE if lower is None else lower_figure(lower),
        "-" if estimate is None else value_text(estimate),
        *[("-" if mu is None else lower_figure(mu))] * with_mu,
        _how(statement),
    ]


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


def _coin(coin: CoinCheck, width: int) -> str:
    text = (
        f"Included: {count_text(coin.included)} of {count_text(coin.canaries)} canaries. Fair "
        f"coins stray so far or further with probability {upper_figure(coin.p_value, digits=2)}."
    )
    return paragraph(text, width=width)


def _power(report: EpsilonReport, power: Sequence[DetectionPower], width: int) -> str:
    first = power[0]
    one_run = report.design.kind == "one-run"
    what = "canaries" if one_run else "runs of each kind"
    true = number_text(first.true_epsilon)
    rows = [[one.mechanism.capitalize(), _refutable(one), _needed(one)] for one in power]
    percent = percent_text(first.power)
    header = ["If the noise is", f"refuted in {percent} from epsilon", f"{what} for epsilon {true}"]
    text = (
        "What this audit could have found: the least true epsilon with which the claim is refuted "
        f"with probability {percent}, and the {what} that it takes if the truth is {true}."
    )
    return paragraph(text, width=width) + columns(rows, header=header)


def _refutable(one: DetectionPower) -> str:
    if one.refutable_epsilon is None:
        return f"none: {one.refutable_reason}"
    return upper_figure(one.refutable_epsilon, digits=3)


def _needed(one: DetectionPower) -> str:
    if one.needed is None:
        return "-" if one.needed_reason == one.refutable_reason else f"none: {one.needed_reason}"
    guesses = "" if one.needed_guesses is None else f", {count_text(one.needed_guesses)} guesses"
    return f"{count_text(one.needed)}{guesses}"


def _bullets(title: str, texts: Sequence[str], width: int) -> str:
    if not texts:
        return ""
    return f"{title}\n" + "".join(
        paragraph(text, width=width, indent="    ", first="  - ") for text in texts
    )
