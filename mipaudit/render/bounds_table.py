"""The table of ``bounds``, in plain text: it is there before rich could be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.audit.figures import (
    lower_figure,
    number_text,
    percent_text,
    upper_figure,
)
from mipaudit.render.plain import annotated, columns, paragraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mipaudit.audit.allowance import Allowance
    from mipaudit.audit.counting_queries import CountingQueries
    from mipaudit.audit.guarantee import Guarantee
    from mipaudit.audit.refutation import Refutation, RefutedLimits
    from mipaudit.audit.requirement import Requirement, Target
    from mipaudit.report.bounds import BoundsReport

_STATEMENT: Final = {
    "approximate-dp": "({epsilon}, {delta})-differential privacy",
    "gaussian-dp": "{mu}-Gaussian differential privacy",
    "zero-concentrated-dp": "{rho}-zero-concentrated differential privacy",
    "gaussian-noise": "Gaussian noise of standard deviation {noise_sd} for a sensitivity of "
    "{sensitivity}",
    "laplace-noise": "Laplace noise of scale {scale} for a sensitivity of {sensitivity}",
    "geometric-noise": "two-sided geometric noise of scale {geometric_scale} for a sensitivity "
    "of {sensitivity}",
    "randomized-response": "randomized response, true with probability {truth}, among "
    "{categories} answers",
    "dp-sgd": "DP-SGD with noise multiplier {noise_multiplier}, sampling rate {q}, {steps} steps",
    "composition": "a composition of {parts} kinds of releases",
    "counting-queries": "{queries} averages over {records} records, each with Gaussian noise of "
    "standard deviation {noise_sd}",
}
_NEIGHBOURS: Final = {
    "substitution": "one record is exchanged for another",
    "add-remove": "one record is added or removed",
}
_NONE: Final = "none"


def render_bounds(report: BoundsReport, *, width: int) -> str:
    """Return the report as text for people, lines up to ``width`` where prose allows."""
    return "\n".join(section for section in _sections(report, width) if section)


def _sections(report: BoundsReport, width: int) -> Iterator[str]:
    if report.guarantee is not None and report.attacker is not None:
        yield _guarantee(report.guarantee, width)
        yield _allowances((report.attacker, *report.other_readings), width)
        yield _bounds(report, width)
    if report.counting_queries is not None:
        yield _counting_queries(report.counting_queries, width)
    if report.target is not None:
        yield _needed(report.target, report.needed, width)
    if report.refuted is not None:
        yield _refuted(report.refuted, width)
    yield "Keep in mind\n" + "".join(
        paragraph(text, width=width, indent="    ", first="  - ") for text in report.limitations
    )


def _guarantee(stated: Guarantee, width: int) -> str:
    numbers = {name: number_text(value) for name, value in stated.parameters.items()}
    text = f"Guarantee: {_STATEMENT[stated.kind].format(**numbers)}."
    if stated.kind not in {"approximate-dp", "randomized-response"}:
        text += f" {_epsilon(stated)}"
    if stated.adjacency_assumed:
        text += (
            " Which neighbours it is about was not said (--adjacency): both readings are shown, "
            "and the first is used below."
        )
    elif stated.kind != "counting-queries":
        text += f" Neighbours: {_NEIGHBOURS[stated.adjacency]}."
    return paragraph(text, width=width)


def _epsilon(stated: Guarantee) -> str:
    at = f"delta {number_text(stated.delta)}"
    if stated.epsilon is None:
        return f"At {at} no epsilon holds."
    return f"At {at} its epsilon is {upper_figure(stated.epsilon)}."


def _allowances(allowances: tuple[Allowance, ...], width: int) -> str:
    first = allowances[0]
    prior = number_text(first.prior)
    readings: list[tuple[str, Callable[[Allowance], float]]] = [
        (f"advantage at prior {prior}", lambda a: a.advantage),
        (f"  above the trivial attacker's {number_text(first.baseline)}", lambda a: a.excess),
        ("accuracy", lambda a: a.accuracy),
        ("eta (accuracy above guessing)", lambda a: a.eta),
        *((f"TPR at FPR {percent_text(float(fpr))}", _tpr(fpr)) for fpr in first.tpr_at_fpr),
        (
            f"precision (PPV) at recall {percent_text(first.recall_floor)} or more",
            lambda a: a.precision,
        ),
        ("certainty about one record, at worst", lambda a: a.posterior_limit),
    ]
    rows = [[name, *(upper_figure(read(a)) for a in allowances)] for name, read in readings]
    header = ["no attacker can exceed", *(_reading(i) for i in range(1, len(allowances) + 1))]
    if len(allowances) == 1:
        header = ["no attacker can exceed", ""]
    notes = [f"({i}) {a.game}" for i, a in enumerate(allowances, 1)]
    legend = "".join(paragraph(text, width=width, indent="  ") for text in notes)
    return columns(rows, header=header, numbers=len(allowances)) + legend * (len(allowances) > 1)


def _tpr(fpr: str) -> Callable[[Allowance], float]:
    return lambda allowed: allowed.tpr_at_fpr[fpr]


def _reading(number: int) -> str:
    return f"({number})"


def _bounds(report: BoundsReport, width: int) -> str:
    rows = [
        [
            bound.name,
            upper_figure(bound.value),
            "tight" if bound.tight else "loose",
            f"{bound.source}; {bound.assumes}",
        ]
        for bound in report.bounds
    ]
    header = ["bounds of the advantage", "", "", "source and assumptions"]
    return annotated(rows, header=header, width=width)


def _counting_queries(attack: CountingQueries, width: int) -> str:
    rows = [
        ["mu of Gaussian differential privacy", upper_figure(attack.mu)],
        ["TPR of the averaging attack at threshold k/n", number_text(attack.tpr)],
        ["  its FPR", upper_figure(attack.fpr)],
        ["  the tail bound exp(-k / (2 n^2 sd^2)) of its FPR", upper_figure(attack.fpr_bound)],
    ]
    source = "The attack of Tramer's lecture notes, Theorem 2, against all other answers 0:"
    return paragraph(source, width=width) + columns(rows, numbers=1)


def _needed(target: Target, needed: tuple[Requirement, ...], width: int) -> str:
    at = "" if target.fpr is None else f" at FPR {percent_text(target.fpr)}"
    name = "TPR" if target.quantity == "tpr_at_fpr" else target.quantity
    prior = "" if target.fpr is not None else f" (prior {number_text(target.prior)})"
    title = f"To keep {name}{at}{prior} at {number_text(target.value)} or below, any of these does:"
    first = needed[0]
    rows = [
        [f"epsilon, at delta {number_text(first.delta)}, at most", *map(_epsilon_needed, needed)],
        ["mu of Gaussian differential privacy, at most", *map(_mu_needed, needed)],
    ]
    sensitivity = f"for a sensitivity of {number_text(first.sensitivity)}"
    rows.append(
        [f"Gaussian noise {sensitivity}: sd at least", *(_noise(n.gaussian_sd) for n in needed)]
    )
    if any(n.laplace_scale is not None for n in needed):
        rows.append(
            [
                f"Laplace noise {sensitivity}: scale at least",
                *(_noise(n.laplace_scale) for n in needed),
            ]
        )
    header = ["", *(f"by {n.adjacency}" for n in needed)]
    reasons = dict.fromkeys(
        f"No {what}: {reason}."
        for n in needed
        for what, reason in (("epsilon", n.epsilon_reason), ("mu", n.mu_reason))
        if reason
    )
    return (
        paragraph(title, width=width)
        + columns(rows, header=header, numbers=len(needed))
        + "".join(paragraph(reason, width=width, indent="  ") for reason in reasons)
    )


def _epsilon_needed(needed: Requirement) -> str:
    return _NONE if needed.epsilon is None else lower_figure(needed.epsilon)


def _mu_needed(needed: Requirement) -> str:
    return _NONE if needed.mu is None else lower_figure(needed.mu)


def _noise(scale: float | None) -> str:
    return _NONE if scale is None else upper_figure(scale)


def _refuted(refuted: Refutation, width: int) -> str:
    rates = f"TPR {number_text(refuted.tpr)} at FPR {number_text(refuted.fpr)}"
    text = (
        f"An attack with {rates} rules out every epsilon{_below(refuted.epsilon)} at delta "
        f"{number_text(refuted.delta)}, and every mu{_below(refuted.mu)} of Gaussian differential "
        "privacy, if these are its true rates."
    )
    if refuted.reason:
        text += f" {refuted.reason[0].upper()}{refuted.reason[1:]}."
    if not refuted.limits:
        return paragraph(text, width=width)
    percent = percent_text(refuted.limits[0].confidence)
    header = [f"with {percent} confidence", "", "epsilon from", "to", "mu from", "to"]
    table = columns([_limit_row(limit) for limit in refuted.limits], header=header, numbers=4)
    legend = (
        "From: no smaller value holds for the mechanism. To: what this attack may still show; "
        "a better attack may show more. Jeffreys limits are approximate."
    )
    return paragraph(text, width=width) + "\n" + table + paragraph(legend, width=width, indent="  ")


def _below(number: float | None) -> str:
    return "" if number is None else f" below {lower_figure(number)}"


def _limit_row(limit: RefutedLimits) -> list[str]:
    two_sided = limit.upper_reason != "one-sided"
    return [
        limit.method,
        "two-sided" if two_sided else "one-sided",
        lower_figure(limit.epsilon_lower),
        _upper(limit.epsilon_upper) if two_sided else "",
        lower_figure(limit.mu_lower),
        _upper(limit.mu_upper) if two_sided else "",
    ]


def _upper(number: float | None) -> str:
    return "no limit" if number is None else upper_figure(number)
