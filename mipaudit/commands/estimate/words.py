"""What a report of ``estimate`` says in words, of the scores and of what the records alone tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.evidence.judgement.blind import Blind
    from mipaudit.statements.estimate import Estimate
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
_JUDGED: Final = "advantage"
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
