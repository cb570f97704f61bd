"""What a report of ``estimate`` says in words, of the scores and of what the records alone tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from mipaudit.model.message import Finding, Message
from mipaudit.statements.rounding import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.evidence.judgement.blind import Blind
    from mipaudit.model.row import Row
    from mipaudit.summaries.seed import SeedOrigin

_JUDGED: Final = "advantage"


def asserted_words(blind: Blind | None) -> str | None:
    """Return what the user asserts of the records, to follow "assuming that"; None for nothing."""
    if blind is None or blind.bound is None:
        return None
    return "nobody who sees the records alone has an advantage above " + number_text(blind.bound)


def blind_limitations(blind: Blind) -> tuple[Message, ...]:
    """Return what the figures on the records alone do not show."""
    if blind.bound is not None:
        return (Message.of("blind_asserted", bound=blind.bound), Message("blind_dependent"))
    codes = ("blind_seen", "blind_dependent", *(() if blind.lower > 0 else ("blind_not_shown",)))
    return tuple(map(Message, codes))


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
    estimates: Sequence[Row],
    *,
    columns: int,
    published: bool,
    blind: Blind | None = None,
    strict_seed: SeedOrigin | Literal["summaries"] | None = None,
    joint: bool = False,
) -> tuple[Message, ...]:
    """Return what the numbers do not show.

    ``strict_seed`` says where the seed of a strict audit comes from, or that each summary has
    its own; None for any other audit.
    """
    extra = [] if blind is None else [*blind_limitations(blind)]
    if any(e.quantity == _JUDGED and e.attackers == "any" and e.upper is None for e in estimates):
        extra.append(Message("continuous"))
    extra.append(Message("joint" if joint else "not_joint"))
    if columns > 1:
        extra.append(Message.of("error_over_columns", columns=columns))
    if strict_seed != "stated" and any(e.validity == "approximate" for e in estimates):
        extra.append(Message("approximate"))
    if strict_seed is not None:
        case = strict_seed if strict_seed in {"fresh", "summaries"} else "stated"
        extra.append(Message.of("strict_limits", case=case))
    if any(e.attackers == "noised-query" for e in estimates):
        extra.append(Message("noised"))
    if published:
        extra.append(Message("published"))
    first = (Message("one_query"), Message("alike"), Message("average"))
    return (*first, *extra, Message("one_run"))
