"""The sentences of a report on epsilon."""

from collections.abc import Sequence
from typing import Final, assert_never

from mipaudit.commands.epsilon.options import EpsilonOptions
from mipaudit.commands.epsilon.report import (
    ClaimStatus,
    ClaimVerdict,
    EpsilonDesign,
    EpsilonStatement,
    StatementValidity,
)
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.statements.text.rounding import count_text, lower_figure, number_text, percent_text

_NEIGHBOURS: Final = (
    "With the record against without it measures epsilon by adding or removing a record; one "
    "record against another in its place measures it by substitution. Nothing is converted, so "
    "compare only with a claim about the same neighbours."
)
_CANARY_NEIGHBOURS: Final = (
    "Epsilon is that of adding or removing one canary. Nothing is converted, so compare only "
    "with a claim about the same neighbours."
)
_METHODS: Final = {
    "conditional": "All rows are judged, by attacks that were settled without a look at which rows "
    "have the record and that share the error; the limit holds at every sample size, whatever the "
    "mechanism.",
    "gdp": "The mechanism is taken to be Gaussian (its best attacker's ROC that of mu-GDP for some "
    "mu). Where it is not, the limit may exceed the truth.",
}
_OUTCOMES: Final[dict[ClaimStatus, str]] = {
    "refuted": "Claim refuted.",
    "not_refuted": "Claim not refuted.",
    "not_certifiable": "Nothing is certified.",
}
_COUNTED: Final = "The attack was fixed before its guesses were counted."
_INDEPENDENT: Final = "independent of all else"
_BLIND_GUESSES: Final = (
    "Guesses were settled without a look at the coins: how many in all, and by scores of the "
    "run's output alone."
)
_NOTHING: Final = (
    "Nothing is certified. Members and holdout of one model share that model, and which record "
    "is a member was not decided by coins: the rows are no independent trials of a mechanism, "
    "and any other difference between the classes counts as leakage."
)
_FIGURE_OF_SPEECH: Final = (
    "The figures would hold if each row were an independent trial. Take them as a way to say "
    "how well members can be told apart, in units of epsilon."
)
_LOWER: Final = (
    "These are lower limits. A better attack or a worse record may show more; a limit of 0, or "
    "a claim that is not refuted, is no evidence of privacy."
)
_NOT_JOINT: Final = (
    "Limits by different methods hold one by one, not jointly; the verdict rests on the one "
    "that was asked for."
)
_ESTIMATE: Final = "A best estimate is that of the attack that was judged. It certifies nothing."
_KEEP_BEST: Final = (
    "Auditing again with other seeds, scores or settings and keeping the best makes a limit "
    "untrue. Several score columns in one audit share the error."
)
_PROFILE: Final = (
    "The limits of the curve hold jointly for every delta, and apart from the one above."
)
_POWER: Final = (
    "What could have been found is approximate, for the best thresholds on two mechanisms; "
    "others may be harder."
)


def claim_reason(
    status: ClaimStatus, design: EpsilonDesign, name: str, validity: StatementValidity
) -> str:
    """Return a verdict on the claim called ``name`` in a sentence."""
    match status:
        case "refuted":
            return f"{_sure(design, validity)} this mechanism is not {name}."
        case "not_refuted":
            agrees = f"The data do not contradict that this mechanism is {name}."
            return f"{agrees} This does not verify it."
        case "not_certifiable" if design.kind == "one-run":
            doubt = "The canaries were not included by fair coins, so this run can neither"
            return f"{doubt} refute nor verify that the mechanism is {name}."
        case "not_certifiable":
            both = "Members and holdout of one model can neither refute nor verify"
            return f"{both} that its training is {name}."
        case _:
            assert_never(status)


def claim_name(epsilon: float | None, mu: float | None, curve: str | None, delta: float) -> str:
    """Return a claim as the reader knows it."""
    if curve is not None:
        return f"within the claimed trade-off curve ({curve})"
    if epsilon is not None:
        return f"({number_text(epsilon)}, {number_text(delta)})-differentially private"
    return f"{number_text(mu or 0.0)}-Gaussian differentially private"


def epsilon_summary(
    design: EpsilonDesign, statements: Sequence[EpsilonStatement], *, claim: ClaimVerdict | None
) -> str:
    """Return the plain paragraph; the verdict on a claim comes first."""
    reason = None if claim is None else claim.reason
    top = statements[0]
    if design.kind == "one-model":
        return _one_model(design, statements, reason)
    said = [_limit(design, top)]
    if claim is not None:
        if claim.status == "refuted" and claim.epsilon is not None:
            said = [f"Nor is it for any epsilon below {lower_figure(top.lower or 0.0)}."]
        said = [_OUTCOMES[claim.status], claim.reason, *said]
    return " ".join([*said, _data(design, top)])


def rests_on(asked: EpsilonOptions, design: EpsilonDesign, method: str) -> tuple[str, ...]:
    """Return the assumptions of the deciding limit, which is by a method."""
    match design.kind:
        case "independent-runs":
            runs = (
                "Each run of the mechanism is independent of the others and alike but for the "
                "record: trained anew or drawn anew, with it or without it."
            )
            worth = _METHODS[method]
            if asked.counted and method == "conditional":
                worth = "The limit holds at every sample size, whatever the mechanism."
            return (runs, f"{_COUNTED} {worth}" if asked.counted else worth, _NEIGHBOURS)
        case "one-run":
            return (_coins(asked, design.runs), _BLIND_GUESSES, _CANARY_NEIGHBOURS)
        case "one-model":
            return (_NOTHING, _FIGURE_OF_SPEECH)
        case _:
            assert_never(design.kind)


def _coins(asked: EpsilonOptions, runs: int | None) -> str:
    start = "Each canary was included in the one run by its own"
    if runs is not None:
        start = (
            f"The {count_text(runs)} runs, whose number was fixed beforehand, are of one mechanism "
            "on the same other data. Each canary was included in each run, anew, by its own"
        )
    rate = asked.inclusion_rate
    if rate is not None:
        return f"{start} coin of the stated probability {number_text(rate)}, {_INDEPENDENT}."
    if asked.counted:
        return f"{start} fair coin, {_INDEPENDENT} (`inclusion_rate` states another)."
    return (
        f"{start} coin, {_INDEPENDENT}, with one probability for all. It was not stated: the limit "
        "holds for every probability that the number of canaries included does not speak against, "
        "at a fiftieth of the error (`inclusion_rate` states it)."
    )


def epsilon_limitations(
    design: EpsilonDesign, statements: Sequence[EpsilonStatement], *, profile: bool, power: bool
) -> tuple[str, ...]:
    """Return what the figures do not say."""
    found = [_LOWER] if design.kind != "one-model" else []
    if design.kind == "one-run":
        found.append(
            "One run cannot reach the epsilon of every mechanism, however many canaries it has "
            "(Keinan et al. 2025): the limit may stay far below the truth."
        )
    if any(s.estimate is not None for s in statements):
        found.append(_ESTIMATE)
    if len({s.method for s in statements}) > 1 and design.kind != "one-model":
        found.append(_NOT_JOINT)
    if design.score_columns:
        found.append(_KEEP_BEST)
    found += [_PROFILE] * profile + [_POWER] * power
    return tuple(found)


def _limit(design: EpsilonDesign, top: EpsilonStatement) -> str:
    """Return the limit in plain words."""
    delta = number_text(design.delta)
    if not top.lower:
        reason = f" ({top.lower_reason})" if top.lower_reason else ""
        return (
            f"No epsilon is refuted at delta {delta}{reason}. That is no evidence of privacy: "
            "it says that these data cannot tell."
        )
    return (
        f"{_sure(design, top.validity)} this mechanism is not (epsilon, {delta})-differentially "
        f"private for any epsilon below {lower_figure(top.lower)}."
    )


def _sure(design: EpsilonDesign, validity: StatementValidity) -> str:
    percent = percent_text(design.confidence)
    match validity:
        case "assumes-gdp":
            return f"If it is Gaussian, then with {percent} confidence"
        case "if-fair-coins":
            coins = "If independent fair coins had included the canaries"
            return f"{coins}, then with {percent} confidence"
        case _:
            return f"With {percent} confidence"


def _data(design: EpsilonDesign, top: EpsilonStatement) -> str:
    where = (
        f"Found in {quoted_name(top.score)} of" if top.score is not None and top.lower else "From"
    )
    if top.guesses is not None:
        g = top.guesses
        runs = "one run with" if design.runs is None else f"{count_text(design.runs)} runs with"
        all_in = "" if design.runs is None else " in all"
        return (
            f"{where} {runs} {count_text(g.canaries)} canaries{all_in}: {count_text(g.correct)} of "
            f"{count_text(g.guesses)} guesses right."
        )
    members, holdout = design.n_members or 0, design.n_holdout or 0
    runs = "run" if members == 1 else "runs"
    return (
        f"{where} {count_text(members)} independent {runs} with the record and "
        f"{count_text(holdout)} without."
    )


def _one_model(
    design: EpsilonDesign, statements: Sequence[EpsilonStatement], reason: str | None
) -> str:
    start = f"{reason} " if reason else ""
    top = next((s for s in statements if s.method == "advantage"), statements[0])
    return (
        f"{start}No epsilon is certified: {count_text(design.n_members or 0)} members and "
        f"{count_text(design.n_holdout or 0)} holdout records of one model are no independent "
        "trials. If each were one, the advantage would imply an epsilon of at least "
        f"{lower_figure(top.lower or 0.0)} at delta {number_text(design.delta)}. To certify an "
        "epsilon, train many times with and without a record (`design` independent-runs), or once "
        "with canaries that coins include (`design` one-run)."
    )
