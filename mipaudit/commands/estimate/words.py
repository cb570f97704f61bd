"""What a report of ``estimate`` says in words, of the scores and of what the records alone tell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.evidence.judgement.implication import strongest_implication
from mipaudit.evidence.scores.rows import joint_p_value
from mipaudit.report.verdict_sentence import SKIPPED, judged
from mipaudit.statements.claim import gravest_claim
from mipaudit.statements.estimate import Finding
from mipaudit.statements.policy import against_phrase, shared_note
from mipaudit.statements.text.printable_names import quoted_name, safe_name
from mipaudit.statements.text.rounding import (
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.evidence.judgement.blind import Blind
    from mipaudit.evidence.judgement.implication import Implication
    from mipaudit.statements.claim import Claim
    from mipaudit.statements.estimate import Design, Estimate
    from mipaudit.statements.policy import PolicyCheck
    from mipaudit.statements.verdict import Verdict
    from mipaudit.summaries.identity.seed import SeedOrigin

_SEEN: Final = (
    "What the records alone tell was looked for in the columns of the tables that mipaudit shift "
    "saw. Columns that it did not see may explain more of the advantage."
)
_DEPENDENT: Final = (
    "Records are taken to be independent: families, clusters, or several records of a person can "
    "be told apart although both groups have one law."
)
_NOT_SHOWN: Final = (
    "That no difference between members and holdout is shown does not prove that there is none. "
    "A difference that was not seen can hide a leak: what is met is met for these members and "
    "this holdout."
)
_ASSERTED: Final = (
    "The verdict rests on an assertion that no data here prove: that nobody who sees the records "
    "alone has an advantage above {}."
)
_CLAIMED: Final = {
    "contradicted": "contradicted: more leaks than it allows",
    "consistent": "consistent with the scores, which does not prove it",
    "vacuous": "vacuous: it allows nearly everything, so the scores cannot test it",
    "not_comparable": "not comparable: its adjacency is not known",
}
_JUDGED: Final = "advantage"
# Limits on these are limits on the advantage, in other units.
SAME: Final = frozenset({"advantage", "excess", "eta", "accuracy"})
_ONE_QUERY: Final = (
    "The limits concern this score of this release. Another query, or an attacker who "
    "sees more than the score, may learn more."
)
_ALIKE: Final = (
    "Members and holdout records are taken to be independent draws, and alike but for "
    "membership. If they differ in other ways, the advantage includes that difference."
)
AVERAGE: Final = "The advantage is an average over records. A few records can be exposed far more."
_CONTINUOUS: Final = (
    "A continuous score has no upper limit that holds for every attacker: each 'at most' "
    "names its class of attackers."
)
_PUBLISHED: Final = (
    "The MACE rows and cells are as published, each at the full error; they are no valid "
    "intervals and decide nothing."
)
_NOISED: Final = (
    "A limit for the score with noise is about a release that adds that noise to the score, "
    "drawn once for each record and never again; two answers about one record, or another score "
    "of it, tell more. It says nothing of the score as it is."
)
_ONE_RUN: Final = (
    "The limits are those of one run. Running again with other seeds or settings and "
    "keeping the best makes them untrue."
)
_NOT_JOINT: Final = (
    "The confidence holds for each quantity, jointly over the score columns; different "
    "quantities are not joint."
)
_JOINT: Final = (
    "The confidence holds for all rows together (`joint`); the p-values of any difference are "
    "apart from it."
)
_APPROXIMATE: Final = (
    "Limits marked 'approximate' are not proved at every sample size; their measured "
    "coverage is in the documentation. `strict` gives finite-sample limits of the advantage."
)
_PROVED: Final = (
    "Limits marked 'finite-sample' are proved over the draw of the seed, which was taken from "
    "the operating system for this run."
)
_PROVED_OF_SUMMARIES: Final = (
    "Limits marked 'finite-sample' are proved over the draw of the seed of each summary, where it "
    "was drawn; over a stated one they hold as a mean over seeds, of which it is one."
)
_STATED: Final = (
    "The seed was stated. The limits of `strict` then hold as a mean over seeds, of which this is "
    "one; without `seed`, `strict` draws one that nobody could choose."
)


def asserted_words(blind: Blind | None) -> str | None:
    """Return what the user asserts of the records, to follow "assuming that"; None for nothing."""
    if blind is None or blind.bound is None:
        return None
    return "nobody who sees the records alone has an advantage above " + number_text(blind.bound)


def blind_limitations(blind: Blind) -> tuple[str, ...]:
    """Return what the figures on the records alone do not show."""
    if blind.bound is not None:
        return (_ASSERTED.format(number_text(blind.bound)), _DEPENDENT)
    return (_SEEN, _DEPENDENT, *(() if blind.lower > 0 else (_NOT_SHOWN,)))


def blind_findings(blind: Blind | None, alpha: float) -> list[Finding]:
    """Return what a reader must know of the records alone.

    Args:
        blind: what is known of them; None where nobody asked.
        alpha: two-sided error of the audit.
    """
    if blind is None:
        return []
    if blind.bound is not None:
        return [Finding.of("blind_bound", bound=blind.bound)]
    if blind.everyone is not None:
        return []
    return [Finding.of("blind_open", differ=blind.differs(alpha / 2))]


def blind_words(blind: Blind, prior: float) -> str:
    """Return what the records alone tell, and what of the strongest score goes beyond it.

    Args:
        blind: with what goes beyond it.
        prior: of the audit.
    """
    return f"{_known(blind)} {_beyond(blind, prior)}".rstrip()


def _known(blind: Blind) -> str:
    """Say what is known of the records alone."""
    least = lower_text(blind.lower)
    if blind.lower > 0:
        differ = (
            "Members and holdout differ by themselves: without the model they can be told apart "
            f"with an advantage of at least {least}"
        )
    elif blind.differs((1 - blind.confidence) / 2):
        differ = "Members and holdout differ by themselves, in a column at least"
    else:
        differ = "Without the model, members and holdout are not shown to differ"
    if blind.bound is not None:
        return f"{differ}; it is asserted that {asserted_words(blind)}."
    most = blind.everyone
    if most is None:
        return (
            f"{differ}, and no upper limit holds for every attacker who sees the records: all of "
            "the advantage may be theirs."
        )
    return (
        f"{differ}; on the columns compared, no attacker has an advantage above {upper_text(most)}."
    )


def _beyond(blind: Blind, prior: float) -> str:
    """Say what of the strongest score goes beyond the records."""
    if not blind.excess:
        return ""
    excess = blind.excess[0]
    held = (
        "Only what goes beyond that is held against the model: among records as likely in either "
        f"group, '{safe_name(excess.score)}'"
    )
    if excess.lower <= abs(2 * prior - 1):
        return f"{held} is not shown to do better than blind guessing."
    return f"{held} still has an advantage of at least {lower_text(excess.lower)}."


def blind_line(blind: Blind) -> str:
    """Return in a line what was taken for what the records alone tell."""
    sure = percent_text(blind.confidence)
    least = f"at least {lower_text(blind.lower)} ({sure} confidence)"
    if blind.bound is not None:
        return f"{least}; at most {number_text(blind.bound)}, asserted"
    most = blind.everyone
    if most is not None:
        return f"{least}; at most {upper_text(most)} for any attacker on the columns compared"
    if blind.attackers == "any":
        return f"{least}; no upper limit"
    return (
        f"{least}; no upper limit for every attacker, {upper_text(blind.upper)} "
        f"{against_phrase(blind.attackers)} on what was learned, which decides nothing"
    )


def summary(
    design: Design,
    estimates: Sequence[Estimate],
    claims: Sequence[Claim],
    policy: Sequence[PolicyCheck],
    verdict: Verdict,
    *,
    blind: str = "",
    incomplete: bool = False,
) -> str:
    """Return what was measured, how sure, against what limit, and what was not tested.

    The estimates come strongest score first; ``blind`` says what the records alone tell, and
    ``incomplete`` that files were skipped.
    """
    first = estimates[0]
    implied = strongest_implication(estimates, design.prior)
    parts = [
        SKIPPED if incomplete else "",
        _measured(design, first, len(design.score_columns), implied),
        _at_most(estimates, first),
        "" if implied is None else _implied(design, first, implied),
        _tested(design, first, estimates, implied),
        blind,
        judged(verdict, given="limits"),
        shared_note(_judged_of(estimates, first.score), policy),
        *_claimed(claims),
        "Only these scores were tested.",
    ]
    return " ".join(part for part in parts if part)


def _judged_of(estimates: Sequence[Estimate], score: str) -> list[Estimate]:
    return [one for one in estimates if (one.score, one.quantity) == (score, _JUDGED)]


def limitations(
    estimates: Sequence[Estimate],
    *,
    columns: int,
    published: bool,
    blind: Blind | None = None,
    strict_seed: SeedOrigin | Literal["summaries"] | None = None,
    joint: bool = False,
) -> tuple[str, ...]:
    """Return what the numbers do not show.

    ``strict_seed`` says where the seed of a strict audit comes from, or that each summary has
    its own; None for any other audit.
    """
    extra = [] if blind is None else [*blind_limitations(blind)]
    if any(e.quantity == _JUDGED and e.attackers == "any" and e.upper is None for e in estimates):
        extra.append(_CONTINUOUS)
    extra.append(_JOINT if joint else _NOT_JOINT)
    if columns > 1:
        extra.append(f"Every limit shares its error over the {columns} score columns.")
    if strict_seed != "stated" and any(e.validity == "approximate" for e in estimates):
        extra.append(_APPROXIMATE)
    if strict_seed is not None:
        proved = {"fresh": _PROVED, "summaries": _PROVED_OF_SUMMARIES}
        extra.append(proved.get(strict_seed, _STATED))
    if any(e.attackers == "noised-query" for e in estimates):
        extra.append(_NOISED)
    if published:
        extra.append(_PUBLISHED)
    return (_ONE_QUERY, _ALIKE, AVERAGE, *extra, _ONE_RUN)


def _measured(
    design: Design, first: Estimate, columns: int, implied: Implication | None = None
) -> str:
    """Say what the strongest score shows, and how sure that is."""
    rows = f"{design.n_members:,} members and {design.n_holdout:,} holdout records"
    name = f"'{safe_name(first.score)}'"
    score = f"the score {name}" if columns == 1 else f"{name}, the strongest of {columns} scores,"
    lower, value = first.lower or 0.0, first.value or 0.0
    figures = f"best estimate {value_text(value)}, blind guessing {value_text(design.baseline)}"
    figures += f"; {design.shared()}" if design.shared() else ""
    sure = f"{percent_text(design.confidence)} confidence"
    if lower <= design.baseline and implied is not None:
        return (
            f"From {rows}: at {sure}, the lower limit for any attacker on {score} is not above "
            f"blind guessing (advantage: {figures})."
        )
    if lower <= design.baseline:
        return (
            f"From {rows}: at {sure}, {score} does not show that membership leaks (advantage: "
            f"{figures}). This does not prove that it does not leak."
        )
    accuracy = math.floor(500 * (1 + lower)) / 10
    return (
        f"From {rows}: with {sure}, somebody who sees {score} can reach a membership advantage "
        f"of at least {lower_text(lower)} ({figures}). They would guess membership right at "
        f"least {accuracy:.1f}% of the time where {percent_text(design.prior)} of the challenged "
        "records are members."
    )


def _implied(design: Design, first: Estimate, implied: Implication) -> str:
    """Say what a row shows that the first limit does not; empty where it shows no more.

    A row shows something where it is above chance although the first limit is not, and more
    where it implies a larger advantage.
    """
    row, lower = implied.row, first.lower or 0.0
    silent = lower <= design.baseline
    more = implied.advantage > max(lower, design.baseline)
    if not silent and not more:
        return ""
    name = f"the score '{safe_name(row.score)}'"
    what = (
        f"The AUC of {name} is at least {lower_text(row.lower or 0.0)}, above chance"
        if row.quantity == "auc"
        else f"The TPR of {name} at an FPR of {number_text(row.fpr or 0.0)} is at least "
        f"{lower_text(row.lower or 0.0)}, above chance"
    )
    shows = ": its values differ between members and holdout records" if silent else ""
    own = ", jointly with all rows" if design.joint else " of its own, not jointly with other rows"
    rests = f"at {percent_text(row.confidence)} confidence{own}"
    if not more:
        return f"{what}{shows}, {rests}; at this prior it implies no advantage over blind guessing."
    return (
        f"{what}{shows}. It implies a membership advantage of at least "
        f"{lower_text(implied.advantage)}, {rests}."
    )


def _tested(
    design: Design, first: Estimate, estimates: Sequence[Estimate], implied: Implication | None
) -> str:
    """Say where limits show nothing and the exact test of any difference does."""
    joint = joint_p_value(estimates)
    silent = (first.lower or 0.0) <= design.baseline
    if joint is None or not silent or joint > 1 - design.confidence:
        return ""
    but = "An" if implied is not None else "But an"
    over = "" if len(design.score_columns) == 1 else ", over all scores"
    return (
        f"{but} exact test finds that members and holdout records differ (p = "
        f"{upper_text(joint)}{over}): membership, or another difference of the groups. How much "
        "leaks is open, and this is not 'no leak'."
    )


def _at_most(estimates: Sequence[Estimate], first: Estimate) -> str:
    """Return the widest upper limit of the strongest score, in one sentence."""
    limits = [
        (e.attackers == "any", e.upper, e.attackers)
        for e in estimates
        if e.score == first.score and e.quantity == "advantage" and e.upper is not None
    ]
    if not limits:
        return ""
    _, upper, attackers = max(limits)
    return f"It is at most {upper_text(upper)} {against_phrase(attackers)}."


def shared_line(design: Design, policy: Sequence[PolicyCheck]) -> str:
    """Say by how many limits the error of a verdict on the advantage is shared; or nothing."""
    checks = [one for one in policy if one.quantity != "copies"]
    told = design.shared(len(checks))
    if not told or not any(one.quantity in SAME for one in checks):
        return ""
    return f"The error of 'at least' is {told} ({quoted_name(design.score_columns[0])})."


def _claimed(claims: Sequence[Claim]) -> list[str]:
    if not claims:
        return []
    claim = gravest_claim(claims)
    return [f"The claim of epsilon {number_text(claim.epsilon)} is {_CLAIMED[claim.status]}."]
