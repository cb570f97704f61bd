"""What a report on bounds shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.bounds.readings import BY_PRESENCE, BY_SUBSTITUTION, BY_TWO_STEPS
from mipaudit.formats.brief import Brief
from mipaudit.formats.document import Case, Document, Grid, Note, Paragraph, framed
from mipaudit.maths.privacy.renyi import ORDERS
from mipaudit.statements.text.rounding import lower_figure, number_text, percent_text, upper_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mipaudit.commands.bounds.attacks import CountingQueries, Refutation, RefutedLimits
    from mipaudit.commands.bounds.readings import Allowance, Guarantee
    from mipaudit.commands.bounds.report import BoundsReport
    from mipaudit.commands.bounds.requirement import Requirement, Target
    from mipaudit.commands.bounds.tuned import Tuned
    from mipaudit.formats.document import Section

_STATEMENT: Final = {
    "approximate-dp": "({epsilon}, {delta})-differential privacy",
    "gaussian-dp": "{mu}-Gaussian differential privacy",
    "zero-concentrated-dp": "{rho}-zero-concentrated differential privacy",
    "renyi-dp": "Renyi differential privacy at {orders} orders",
    "tuned-runs": "the best of {best_of} tuned runs",
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
# On what release a baseline is reached, by reading.
_REFERENCE: Final = {
    BY_SUBSTITUTION: "with another record in its place",
    BY_TWO_STEPS: "with another record in its place",
    BY_PRESENCE: "without the record",
}
_SUCCESS_NOTE: Final = (
    "Present or absent, success without the record is from a release made without it; else from "
    "one made with another in its place."
)
_DRAWN: Final = {
    "fixed": "{}, chosen: all count as published",
    "poisson": "{} on average, Poisson",
    "geometric": "{} on average, geometric",
    "logarithmic": "{} on average, logarithmic",
}
_MOST_ORDERS: Final = 12
_MOST_ALIKE: Final = 1000
READINGS: Final = {
    BY_SUBSTITUTION: "one record exchanged",
    BY_TWO_STEPS: "added or removed",
    BY_PRESENCE: "present or absent",
}


def bounds_document(report: BoundsReport) -> Document:
    """Return the report as a document; it decides nothing, so no pipeline can wait for it."""
    nothing = "bounds say what could happen, and judge nothing"
    case = Case(group="bounds", name="verdict", status="skipped", text=nothing)
    return framed(report, _sections(report), cases=(case,))


def _sections(report: BoundsReport) -> Iterator[Section]:
    if report.guarantee is not None and report.attacker is not None:
        allowed = (report.attacker, *report.other_readings)
        yield (_guarantee(report.guarantee), *map(Paragraph, success_sentences(allowed)))
        yield _allowances(allowed)
        if report.tuned:
            yield _tuned(report.tuned, report.guarantee.delta)
        if report.guarantee.renyi:
            yield (_renyi(report.guarantee),)
        yield (_bounds(report),)
    if report.counting_queries is not None:
        yield _counting_queries(report.counting_queries)
    if report.target is not None:
        yield _needed(report.target, report.needed)
    if report.refuted is not None:
        yield from _refuted(report.refuted)


def bounds_brief(report: BoundsReport) -> Brief:
    """Return the answer to the question that was asked, and its figures."""
    sections = [part for part in _sections(report) if part]
    tables = tuple(block for part in sections for block in part if isinstance(block, Grid))
    if report.guarantee is None or report.attacker is None:
        said = (block for part in sections for block in part if isinstance(block, Paragraph))
        return Brief(answer=next(said).text, mood="plain", tables=tables)
    prior = number_text(report.attacker.prior)
    most = " or ".join(
        upper_figure(one.advantage) + (f" ({READINGS[one.game]})" if report.other_readings else "")
        for one in (report.attacker, *report.other_readings)
    )
    answer = f"No attacker exceeds a membership advantage of {most} at prior {prior}."
    answer = " ".join(success_sentences((report.attacker, *report.other_readings))) or answer
    tight = ", ".join(bound.name for bound in report.bounds if bound.tight)
    return Brief(
        answer=answer,
        mood="plain",
        about=_guarantee(report.guarantee).text,
        tables=(tables[0]._replace(caption=""), *(tables[1:2] if report.tuned else ())),
        notes=(
            *_of_one_step((report.attacker, *report.other_readings)),
            f"Published bounds that say as much: {tight}." if tight else "",
            "The release was not looked at: this holds if the guarantee does.",
        ),
    )


def success_sentences(allowed: tuple[Allowance, ...]) -> tuple[str, ...]:
    """Return how often something about a person is guessed right, a sentence for each baseline."""
    return tuple(_success(baseline, allowed) for baseline in allowed[0].success_at)


def _success(baseline: str, allowed: tuple[Allowance, ...]) -> str:
    """Return a sentence for one baseline: of each reading, or of the only one."""
    share = float(baseline)
    alike = round(1 / share) if share * _MOST_ALIKE >= 1 else 0
    known = alike > 1 and number_text(1 / alike) == baseline
    example = f" (which of {alike} equally likely diagnoses a person has, say)" if known else ""
    figures = " or ".join(
        f"{upper_figure(100 * one.success_at[baseline])}%"
        + (f" ({READINGS[one.game]})" if len(allowed) > 1 else "")
        for one in allowed
    )
    references = " or ".join(dict.fromkeys(_REFERENCE[one.game] for one in allowed))
    return (
        f"What is guessed right in {percent_text(share)} of cases{example} from a release made "
        f"{references} is guessed right in at most {figures} from this one."
    )


def guarantee_name(stated: Guarantee) -> str:
    """Return what was promised, with its numbers."""
    numbers = {name: number_text(value) for name, value in stated.parameters.items()}
    return _STATEMENT[stated.kind].format(**numbers)


def _guarantee(stated: Guarantee) -> Paragraph:
    text = f"Guarantee: {guarantee_name(stated)}."
    if stated.kind not in {"approximate-dp", "randomized-response"}:
        text += f" {_epsilon(stated)}"
    if stated.adjacency_assumed:
        text += (
            " Which neighbours it is about was not said (`adjacency`): both readings are shown, "
            "and the harsher one, added or removed, is used below."
        )
    elif stated.kind != "counting-queries":
        text += f" Neighbours: {_NEIGHBOURS[stated.adjacency]}."
    return Paragraph(text=text)


def _epsilon(stated: Guarantee) -> str:
    at = f"delta {number_text(stated.delta)}"
    if stated.epsilon is None:
        return f"At {at} no epsilon holds."
    return f"At {at} its epsilon is {upper_figure(stated.epsilon)}."


def _allowances(allowances: tuple[Allowance, ...]) -> Section:
    first = allowances[0]
    prior = number_text(first.prior)
    readings: list[tuple[str, Callable[[Allowance], float]]] = [
        (f"advantage at prior {prior}", lambda a: a.advantage),
        (f"  above blind guessing's {number_text(first.baseline)}", lambda a: a.excess),
        ("accuracy", lambda a: a.accuracy),
        ("eta (accuracy above guessing)", lambda a: a.eta),
        *((f"TPR at FPR {percent_text(float(fpr))}", _tpr(fpr)) for fpr in first.tpr_at_fpr),
        *(
            (f"success where {percent_text(float(b))} succeed", _success_at(b))
            for b in first.success_at
        ),
        (
            f"precision (PPV) at recall {percent_text(first.recall_floor)} or more",
            lambda a: a.precision,
        ),
        ("certainty about one record, at worst", lambda a: a.posterior_limit),
    ]
    several = len(allowances) > 1
    numbers = [READINGS[a.game] if several else "" for a in allowances]
    table = Grid(
        caption="What the guarantee allows",
        head=("no attacker can exceed", *numbers),
        rows=tuple((name, *(upper_figure(read(a)) for a in allowances)) for name, read in readings),
        words=1,
    )
    notes = (Note(text=f"{READINGS[a.game]}: {a.game}") for a in allowances if several)
    return (table, *notes, *(Note(text) for text in _of_one_step(allowances)))


def _of_one_step(allowances: tuple[Allowance, ...]) -> tuple[str, ...]:
    """Return what the figures of success are by a reading that has no column."""
    first = allowances[0]
    if not (first.success_at and first.game == BY_SUBSTITUTION and len(allowances) > 1):
        return ()
    return (
        "By add or remove, success from a release without the record is the first figure, too.",
    )


def _tpr(fpr: str) -> Callable[[Allowance], float]:
    return lambda allowed: allowed.tpr_at_fpr[fpr]


def _success_at(baseline: str) -> Callable[[Allowance], float]:
    return lambda allowed: allowed.success_at[baseline]


def _tuned(ways: tuple[Tuned, ...], delta: float) -> Section:
    """Return what is guaranteed by how the number of runs came about."""
    table = Grid(
        caption="The best of several runs",
        head=("how many runs", f"epsilon at delta {number_text(delta)}", "advantage"),
        rows=tuple(
            (
                ("one" if one.runs == 1 else _DRAWN[one.drawn].format(one.runs))
                + (" (asked)" if one.asked else ""),
                _figure(one.epsilon, upper_figure),
                upper_figure(one.advantage),
            )
            for one in ways
        ),
        words=1,
    )
    return (table, Note(text="By one step of the neighbours, at prior 0.5."))


def _renyi(stated: Guarantee) -> Grid:
    orders = list(stated.renyi)
    shown = [number_text(one) for one in ORDERS] if len(orders) > _MOST_ORDERS else orders
    return Grid(
        caption="Renyi divergences, by the neighbours of the guarantee",
        head=("order", "at most"),
        rows=tuple(
            (order, upper_figure(stated.renyi[order])) for order in shown if order in stated.renyi
        ),
        words=0,
    )


def _bounds(report: BoundsReport) -> Grid:
    return Grid(
        caption="Published bounds of the advantage",
        head=("published bound", "advantage", "is", "source and assumptions"),
        rows=tuple(
            (
                bound.name,
                upper_figure(bound.value),
                "tight" if bound.tight else "loose",
                f"{bound.source}; {bound.assumes}",
            )
            for bound in report.bounds
        ),
        words=3,
        prose=True,
    )


def _counting_queries(attack: CountingQueries) -> Section:
    rows = (
        ("mu of Gaussian differential privacy", upper_figure(attack.mu)),
        ("TPR of the averaging attack at threshold k/n", number_text(attack.tpr)),
        ("  its FPR", upper_figure(attack.fpr)),
        ("  the tail bound exp(-k / (2 n^2 sd^2)) of its FPR", upper_figure(attack.fpr_bound)),
    )
    source = "The attack of Tramer's lecture notes, Theorem 2, against all other answers 0:"
    table = Grid(caption="The averaging attack", head=("", ""), rows=rows, words=1)
    return (Paragraph(text=source), table)


def _needed(target: Target, needed: tuple[Requirement, ...]) -> Section:
    first = needed[0]
    sensitivity = f"for a sensitivity of {number_text(first.sensitivity)}"
    epsilons = (_figure(n.epsilon, lower_figure) for n in needed)
    mus = (_figure(n.mu, lower_figure) for n in needed)
    deviations = (_figure(n.gaussian_sd, upper_figure) for n in needed)
    wanted = target.quantity == "delta"
    rows = [
        *(
            []
            if wanted
            else [(f"epsilon, at delta {number_text(first.delta)}, at most", *epsilons)]
        ),
        ("mu of Gaussian differential privacy, at most", *mus),
        (f"Gaussian noise {sensitivity}: sd at least", *deviations),
    ]
    if any(n.laplace_scale is not None for n in needed):
        scales = (_figure(n.laplace_scale, upper_figure) for n in needed)
        rows.append((f"Laplace noise {sensitivity}: scale at least", *scales))
    reasons = dict.fromkeys(
        f"No {what}: {reason}."
        for n in needed
        for what, reason in (("epsilon", n.epsilon_reason), ("mu", n.mu_reason))
        if reason
    )
    table = Grid(
        caption="What keeps the limit",
        head=("", *(_column(target, n) for n in needed)),
        rows=tuple(rows),
        words=1,
    )
    return (
        Paragraph(text=f"{_to_keep(target)}, any of these does:"),
        table,
        *(Note(text=reason) for reason in reasons),
        *([Note(text=_SUCCESS_NOTE)] if target.quantity == "success" else []),
    )


def _column(target: Target, needed: Requirement) -> str:
    if needed.one_step and needed.adjacency == "add-remove" and target.quantity == "success":
        return READINGS[BY_PRESENCE]
    return f"by {needed.adjacency}" if needed.adjacency else "needs"


def _to_keep(target: Target) -> str:
    """Return what is wanted, up to what does it."""
    value = number_text(target.value)
    match target.quantity:
        case "delta":
            return f"For ({number_text(target.epsilon or 0.0)}, {value})-differential privacy"
        case "success":
            known = f"{percent_text(target.baseline or 0.0)} of cases without the record"
            return (
                f"To keep what is guessed right in {known} at {percent_text(target.value)} or below"
            )
        case "tpr_at_fpr":
            return f"To keep TPR at FPR {percent_text(target.fpr or 0.0)} at {value} or below"
        case name:
            return f"To keep {name} (prior {number_text(target.prior)}) at {value} or below"


def _figure(number: float | None, rounded: Callable[[float], str], missing: str = "none") -> str:
    return missing if number is None else rounded(number)


def _refuted(refuted: Refutation) -> Iterator[Section]:
    rates = f"TPR {number_text(refuted.tpr)} at FPR {number_text(refuted.fpr)}"
    text = (
        f"An attack with {rates} rules out every epsilon{_below(refuted.epsilon)} at delta "
        f"{number_text(refuted.delta)}, and every mu{_below(refuted.mu)} of Gaussian differential "
        "privacy, if these are its true rates."
    )
    if refuted.reason:
        text += f" {refuted.reason[0].upper()}{refuted.reason[1:]}."
    yield (Paragraph(text=text),)
    if not refuted.limits:
        return
    percent = percent_text(refuted.limits[0].confidence)
    table = Grid(
        caption="What the counts rule out",
        head=(f"with {percent} confidence", "", "epsilon from", "to", "mu from", "to"),
        rows=tuple(_limit_row(limit) for limit in refuted.limits),
        words=2,
    )
    legend = (
        "From: no smaller value holds for the mechanism. To: what this attack may still show; "
        "a better attack may show more. Jeffreys limits are approximate."
    )
    yield (table, Note(text=legend))


def _below(number: float | None) -> str:
    return "" if number is None else f" below {lower_figure(number)}"


def _limit_row(limit: RefutedLimits) -> tuple[str, ...]:
    two_sided = limit.upper_reason != "one-sided"
    return (
        limit.method,
        "two-sided" if two_sided else "one-sided",
        lower_figure(limit.epsilon_lower),
        _figure(limit.epsilon_upper, upper_figure, "no limit") if two_sided else "",
        lower_figure(limit.mu_lower),
        _figure(limit.mu_upper, upper_figure, "no limit") if two_sided else "",
    )
