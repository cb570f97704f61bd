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
from mipaudit.formats.brief import Axis, Brief, Interval, short_names
from mipaudit.formats.document import (
    AT_LEAST,
    Case,
    Document,
    Grid,
    Mood,
    Note,
    Paragraph,
    Section,
    best,
    bulleted,
    framed,
)
from mipaudit.report.verdict_sentence import left_out_note
from mipaudit.statements.text.rounding import (
    count_text,
    lower_figure,
    number_text,
    percent_text,
    upper_figure,
)

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
_METHODS: Final = {"advantage": "from the advantage", "one-run gdp": "one-run, f-DP"}
_WHOSE: Final = {
    "member": "guesses of runs with the record",
    "holdout": "guesses of runs without it",
    "both": "guesses of both kinds",
}
_NONE: Final = "none"
_NO_CLAIM: Final = "No claim was given: no verdict."
_OUTCOMES: Final = {
    "refuted": "CLAIM REFUTED",
    "not_refuted": "CLAIM NOT REFUTED",
    "not_certifiable": "NOTHING CERTIFIED",
}
_MOODS: Final[Mapping[str, Mood]] = {"refuted": "bad", "not_certifiable": "open"}
WORTH: Final = {
    "assumes-gdp": "if the noise is Gaussian",
    "if-exchangeable": "if rows were trials",
    "if-fair-coins": "if coins were fair",
}


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
    grid = Grid.of(
        report.statements,
        *[("score", lambda one: f"{one.score}")] * named,
        ("method", lambda one: _METHODS.get(one.method, one.method) + _VALIDITY[one.validity]),
        ("epsilon at least", lambda one: _lower(one.lower, _NONE)),
        ("best estimate", lambda one: best(one.estimate)),
        *[("mu at least", lambda one: _lower(one.mu_lower))] * with_mu,
        ("what was found", _how),
        caption="Lower limits of epsilon",
        words=1 + named,
        prose=True,
    )
    return (grid, Note(text=_confidence(report)))


def _lower(limit: float | None, missing: str = "-") -> str:
    return missing if limit is None else lower_figure(limit)


def _confidence(report: EpsilonReport) -> str:
    percent = percent_text(report.design.confidence)
    shared = len(report.design.score_columns)
    joint = f", jointly for the {shared} scores" if shared > 1 else ""
    delta = number_text(report.design.delta)
    return f"Epsilon at delta {delta}; one-sided limits, {percent} confidence{joint}, rounded down."


def guesses_behind(statement: EpsilonStatement) -> str:
    """Return how many guesses were right, of how many: ``460 of 480``; empty where none count."""
    if statement.attack is not None:
        a = statement.attack
        right, wrong = a.tp + a.tn, a.fp + a.fn
        if a.numerator != "both":
            right, wrong = (a.tp, a.fp) if a.numerator == "member" else (a.tn, a.fn)
        return f"{count_text(right)} of {count_text(right + wrong)}"
    if statement.guesses is not None:
        return f"{count_text(statement.guesses.correct)} of {count_text(statement.guesses.guesses)}"
    return ""


def _how(statement: EpsilonStatement) -> str:
    """Return the guesses behind a limit, or why there is none."""
    parts = []
    right = guesses_behind(statement)
    if statement.attack is not None:
        a = statement.attack
        side = f", members {a.direction}" if a.direction else ""
        parts.append(f"{right} {_WHOSE[a.numerator]} right{side}")
    if statement.guesses is not None:
        g = statement.guesses
        ends = ""
        if g.guessed_in is not None and g.guessed_out is not None:
            ends = f" ({count_text(g.guessed_in)} in, {count_text(g.guessed_out)} out)"
        side = f", included {g.direction}" if g.direction else ""
        tried = f", best of {g.tried} tries" if g.tried > 1 else ""
        parts.append(f"{right} guesses right{ends}{side}{tried}")
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
    grid = Grid.of(
        power,
        ("If the noise is", lambda one: one.mechanism.capitalize()),
        (f"refuted in {percent} from epsilon", _refutable),
        (f"{what} for epsilon {true}", _needed),
        caption="What could have been found",
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


def epsilon_brief(report: EpsilonReport) -> Brief:
    """Return the outcome of the claim, the limit, and the claim drawn beside it."""
    claim = report.claim
    return Brief(
        answer=_answer(report),
        mood=_MOODS.get(claim.status, "plain") if claim is not None else "plain",
        about=_about(report),
        tables=(_drawn(report),),
        notes=tuple(_notes(report)),
        again="" if claim is None else f"{_OUTCOMES[claim.status]}.",
    )


def _answer(report: EpsilonReport) -> str:
    claim, limit = report.claim, _limit(report)
    if claim is None:
        return f"{limit} {_NO_CLAIM}"
    answer = f"{_OUTCOMES[claim.status]}: {claim.reason}"
    # A claim of another kind can be refuted where no epsilon is.
    idle = claim.status == "refuted" and not report.statements[0].lower
    return answer if idle or claim.status == "not_certifiable" else f"{answer} {limit}"


def _limit(report: EpsilonReport) -> str:
    """Return which epsilon is refuted, as the rows that decide have it."""
    design, top = report.design, report.statements[0]
    delta, sure = number_text(design.delta), percent_text(design.confidence)
    if design.kind == "one-model":
        implied = next((one for one in report.statements if one.method == "advantage"), top)
        trials = (
            f" If each row were one, epsilon would be at least {lower_figure(implied.lower)} at "
            f"delta {delta}."
            if implied.lower
            else ""
        )
        return (
            "No epsilon is certified: members and holdout of one model are no independent trials."
            f"{trials}"
        )
    if top.lower:
        worth = f" {WORTH[top.validity]}," if top.validity in WORTH else ""
        return (
            f"Every epsilon below {lower_figure(top.lower)} is refuted at delta {delta},{worth} "
            f"with {sure} confidence."
        )
    others = [one for one in report.statements if one.lower]
    if others:
        other = max(others, key=lambda one: one.lower or 0.0)
        worth = f", {WORTH[other.validity]}" if other.validity in WORTH else ""
        return (
            f"The limit that decides refutes no epsilon at delta {delta}; another, by itself, "
            f"refutes those below {lower_figure(other.lower or 0.0)}{worth}."
        )
    return f"No epsilon is refuted at delta {delta}, which is no evidence of privacy."


def _about(report: EpsilonReport) -> str:
    design, top = report.design, report.statements[0]
    if top.guesses is not None:
        runs = "One run" if design.runs is None else f"{count_text(design.runs)} runs"
        what = f"{runs} with {count_text(top.guesses.canaries)} canaries"
    elif design.kind == "one-model":
        what = (
            f"{count_text(design.n_members or 0)} members and {count_text(design.n_holdout or 0)} "
            "holdout records of one model"
        )
    else:
        what = (
            f"{count_text(design.n_members or 0)} independent runs with the record, "
            f"{count_text(design.n_holdout or 0)} without"
        )
    return f"{what}; {percent_text(design.confidence)} confidence, each limit one-sided."


def _drawn(report: EpsilonReport) -> Grid:
    rows = report.statements
    named = any(one.score is not None for one in rows)
    graded = len({_standing(one) for one in rows}) > 1
    twice = len({(one.score, _standing(one)) for one in rows}) < len(rows)
    claimed = report.claim.epsilon if report.claim is not None else None
    marks = [] if claimed is None else [claimed]
    axis = Axis.over(map(_interval, rows), [*marks, *(one.lower or 0.0 for one in rows)])
    claim = "" if claimed is None else f" ┃ claim: {number_text(claimed)}."
    stands = ", as if rows were trials" if report.design.kind == "one-model" else ", lower limits"
    names = short_names(one.score or "" for one in rows)

    def line(one: EpsilonStatement) -> str:
        return "no limit" if one.lower is None else axis.drawn(_interval(one), claimed)

    return Grid.of(
        rows,
        *[("score", lambda one: names[one.score or ""])] * named,
        *[("", _standing)] * graded,
        *[("from", _source)] * twice,
        (axis.head, line),
        (AT_LEAST, lambda one: _lower(one.lower, _NONE)),
        ("best", lambda one: best(one.estimate)),
        ("right guesses", lambda one: guesses_behind(one) or "-"),
        caption=f"Epsilon at delta {number_text(report.design.delta)}{stands}.{claim}",
        words=1 + named + graded + twice,
    )


def _interval(one: EpsilonStatement) -> Interval:
    return Interval(one.lower, one.estimate, None)


def _source(one: EpsilonStatement) -> str:
    """Return what a limit follows from, in two words."""
    return {"advantage": "advantage", "conditional": "surest guesses"}.get(one.method, one.method)


def _standing(one: EpsilonStatement) -> str:
    if one.decides and one.validity not in WORTH:
        return "decides"
    return WORTH.get(one.validity, "beside it")


def _notes(report: EpsilonReport) -> Iterator[str]:
    top, claim = report.statements[0], report.claim
    if not top.lower and top.lower_reason:
        yield f"Why no more is shown: {top.lower_reason}."
    if claim is not None and claim.p_value is not None:
        yield f"The p-value of the claim is {upper_figure(claim.p_value, digits=3)}."
    if claim is not None and claim.status != "refuted":
        yield from map(_settling, claim.power[:1])
    if report.design.kind == "one-model":
        yield (
            "To certify one: many runs with and without a record (`design` independent-runs), or "
            "one with canaries that coins include (`design` one-run)."
        )


def _settling(power: DetectionPower) -> str:
    """Say what would refute the claim, if the truth is as planned for."""
    what = "canaries" if power.needed_guesses is not None else "runs of each kind"
    if power.needed is None:
        return f"If the truth is epsilon {number_text(power.true_epsilon)}: no size settles it."
    return (
        f"If the truth is epsilon {number_text(power.true_epsilon)}, about "
        f"{count_text(power.needed)} {what} would refute the claim in "
        f"{percent_text(power.power)} of audits ({power.mechanism.capitalize()} noise)."
    )
