"""What a report of ``estimate`` says of what the records alone tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.audit.figures import lower_text, percent_text, upper_text
from mipaudit.audit.policy import against_phrase
from mipaudit.report.names import safe_name

if TYPE_CHECKING:
    from mipaudit.audit.blind import Blind

BLIND_LIMITATION: Final = (
    "What the records alone tell is limited for named attackers on the columns of the tables "
    "that mipaudit shift saw. Columns that it did not see, or attackers that look at them in "
    "another way, may explain more of the advantage; clusters and families are not seen at all. A "
    "difference between the classes can hide a leak as well as feign one: a limit that is met is "
    "met for these members and this holdout, not for records that are alike."
)


def blind_words(blind: Blind, prior: float) -> str:
    """Return what the records alone tell, and what of the strongest score goes beyond it.

    Args:
        blind: with what goes beyond it.
        prior: of the audit.
    """
    who = against_phrase(blind.attackers)
    if not blind.limits:
        known = (
            "The report of mipaudit shift has no upper limit on what the records alone tell: all "
            "of the advantage may be theirs."
        )
    elif blind.lower > 0:
        known = (
            "Members and holdout differ by themselves: without the model they can be told apart "
            f"with an advantage of at least {lower_text(blind.lower)}, and of at most "
            f"{upper_text(blind.upper)} {who} on what was learned of the records."
        )
    else:
        known = (
            "Without the model, members and holdout are not shown to differ; what was learned of "
            f"the records gives an advantage of at most {upper_text(blind.upper)} {who}."
        )
    if not blind.excess:
        return known
    excess = blind.excess[0]
    name, off = safe_name(excess.score), upper_text(excess.taken_off)
    held = f"{known} Only what goes beyond that is held against the model: with {off} taken off, "
    if excess.lower <= abs(2 * prior - 1):
        return f"{held}'{name}' is not shown to do better than blind guessing."
    return f"{held}'{name}' still has an advantage of at least {lower_text(excess.lower)}."


def blind_line(blind: Blind) -> str:
    """Return in a line what was taken for what the records alone tell."""
    sure = percent_text(blind.confidence)
    if not blind.limits:
        return f"at least {lower_text(blind.lower)} ({sure} confidence); no upper limit"
    return (
        f"at least {lower_text(blind.lower)}, at most {upper_text(blind.upper)} "
        f"{against_phrase(blind.attackers)} on what was learned ({sure} confidence)"
    )
