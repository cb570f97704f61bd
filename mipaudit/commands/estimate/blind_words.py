"""What a report of ``estimate`` says of what the records alone tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.statements.estimate import Finding
from mipaudit.statements.policy import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import lower_text, number_text, percent_text, upper_text

if TYPE_CHECKING:
    from mipaudit.evidence.judgement.blind import Blind

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
_TRY: Final = (
    "Draw members and holdout anew, at random from the same records; or group the columns of the "
    "tables into few values each, so that mipaudit shift can limit every attacker; or, if you know "
    "how the groups came about, assert with --blind-bound what the records tell at most."
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
        text = (
            f"It is asserted (--blind-bound) that {asserted_words(blind)}. Whatever is concluded "
            "here is no better than that."
        )
        return [Finding(code="blind_bound", text=text)]
    if blind.limit(alpha / 4) is not None:
        return []
    hides = (
        " Nor is anything shown to be met, since a difference can hide a leak."
        if blind.differs(alpha / 2)
        else ""
    )
    text = (
        "No limit holds for every attacker on the records alone, who may explain all of an "
        f"advantage: nothing is held against the model.{hides} {_TRY}"
    )
    return [Finding(code="blind_open", text=text)]


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
    most = blind.limit((1 - blind.confidence) / 2)
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
    most = blind.limit((1 - blind.confidence) / 2)
    if most is not None:
        return f"{least}; at most {upper_text(most)} for any attacker on the columns compared"
    if blind.attackers == "any":
        return f"{least}; no upper limit"
    return (
        f"{least}; no upper limit for every attacker, {upper_text(blind.upper)} "
        f"{against_phrase(blind.attackers)} on what was learned, which decides nothing"
    )
