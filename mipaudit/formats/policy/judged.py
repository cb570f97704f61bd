"""The verdict in a screenful: first in a sentence, then limit by limit, last in few words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.formats.brief import short_names
from mipaudit.formats.document import AT_LEAST, AT_MOST, STATUS, Grid
from mipaudit.formats.policy.blocks import check_limits, limit_name, policy_mood
from mipaudit.model.message import Message
from mipaudit.report.messages.told import told
from mipaudit.report.verdict_sentence import left_out_note, verdict_note
from mipaudit.statements.policy import limits_copies
from mipaudit.statements.text.rounding import count_text
from mipaudit.statements.verdict import PARTS_SKIPPED, SITES_MISSING, UNLIMITED, Verdict

if TYPE_CHECKING:
    from typing import TypeVar

    from mipaudit.formats.brief import Brief
    from mipaudit.formats.policy.blocks import Check, Judged
    from mipaudit.statements.policy import PolicyCheck

    CheckT = TypeVar("CheckT", bound=Check)

# What a page says of a verdict that is open.
UNDECIDED: Final = "this test neither passes nor fails the release."
# What settles an answer that is open, and the page on it, where a report says nothing else.
SETTLES: Final = ("more records", "choose-a-limit")
_LACKING: Final = {
    SITES_MISSING: "the summaries of the missing sites",
    PARTS_SKIPPED: "the files that cannot be read, whole",
}
_SAID: Final = {"not_met": "not met", "inconclusive": "open", "met": "met"}
_GRAVEST_FIRST: Final = tuple(_SAID)


def judged_brief(
    report: Judged[Check],
    brief: Brief,
    *,
    unshown: Sequence[PolicyCheck] = (),
    score: str | None = None,
    settles: tuple[str, str] = SETTLES,
) -> Brief:
    """Return the few lines of a report with its verdict; without one as they are.

    Args:
        report: with a policy, or without.
        brief: what it says where no limit was given.
        unshown: checks of which its tables do not tell.
        score: the only one that was audited, which need not be named.
        settles: what may settle an answer that is open, and the page on it.
    """
    verdict, checks = report.verdict, report.policy
    if verdict.status == "no_policy":
        return brief
    return brief._replace(
        answer=_answer(verdict, checks, score=score),
        mood=policy_mood(verdict),
        tables=(*brief.tables[:1], *_limits(verdict, unshown), *brief.tables[1:]),
        again=_again(verdict, checks),
        following=_next(verdict, checks, *_settling(report, settles)),
    )


def verdict_head(report: Judged[Check], told: str = "") -> str:
    """Return the verdict as a page begins, with what must be said beside it.

    Args:
        report: with a verdict.
        told: code of a finding that the page tells before it.
    """
    findings = [one for one in report.findings if one.code != told]
    note = verdict_note(report.verdict) + left_out_note(findings)
    return f"{STATUS[report.verdict.status]}{note}"


def deciding(report: Judged[CheckT]) -> CheckT | None:
    """Return the check that the verdict names first; of limits that are kept, the one used most.

    None where something else than a limit decides.
    """
    alike = [one for one in report.policy if one.status == report.verdict.status]
    return max(alike, key=_used, default=None) if report.verdict.status == "met" else _first(alike)


def _first(checks: Sequence[CheckT]) -> CheckT | None:
    return checks[0] if checks else None


def _settling(report: Judged[Check], settles: tuple[str, str]) -> tuple[str, str]:
    """Return what may settle an open answer: first what the input lacks, and the page on it."""
    codes = {one.code for one in report.findings}
    if UNLIMITED in {one.code for one in report.verdict.reasons}:
        return "how many copies are accepted, which `max_copies` says", "synthetic-data"
    # What leaks among the records that are here leaks whatever the others have.
    if report.verdict.status == "inconclusive" and codes & _LACKING.keys():
        return next(words for code, words in _LACKING.items() if code in codes), "scale"
    return settles


def _limits(verdict: Verdict, checks: Sequence[PolicyCheck]) -> Iterator[Grid]:
    """Yield a line for each limit that is not kept; where all are, for each the closest score.

    Nothing where there is one alone, which the answer names.
    """
    shown = sorted((one for one in checks if one.status != "met"), key=_place)
    if verdict.status == "met":
        nearest = sorted(checks, key=lambda one: (one.status != "met", _used(one)))
        shown = [*{limit_name(one): one for one in nearest}.values()][::-1]
    if len(shown) > 1:
        yield _lines(verdict, shown)


def _lines(verdict: Verdict, checks: Sequence[PolicyCheck]) -> Grid:
    """Return a line for each limit, of one that is open with what would settle it."""
    several = len(set(map(_is, checks))) > 1
    known = any(one.records_to_settle is not None for one in checks)
    plans = known and verdict.status == "inconclusive"
    names = short_names(one.score for one in checks)
    caption = f"Limits that are {'not met or open' if several else _is(checks[0])}."
    if verdict.status == "met":
        caption = "Each limit, and the score that comes closest to it."
    if plans:
        caption += " Records: about how many in all would settle each."
    return Grid(
        caption=caption,
        head=(
            *("limit", "score", *["is"] * several, "against", AT_LEAST, AT_MOST),
            *["records"] * plans,
        ),
        rows=tuple(
            (
                *(limit_name(one), names[one.score], *[_is(one)] * several, one.against),
                *(*check_limits(one), *[_planned(one)] * plans),
            )
            for one in checks
        ),
        words=3 + several,
    )


def _planned(check: PolicyCheck) -> str:
    return "-" if check.records_to_settle is None else count_text(check.records_to_settle)


def _place(check: PolicyCheck) -> tuple[bool, int]:
    """Return where a check stands among others, the gravest first."""
    return check.waived is not None, _GRAVEST_FIRST.index(_status(check))


def _is(check: PolicyCheck) -> str:
    """Return in a word or two whether a limit is kept, and whether a waiver bears on it."""
    said = _SAID[check.status]
    if check.waived is not None:
        return f"{said}, waived"
    return f"{said}, waiver expired" if check.expired is not None else said


def _status(check: Check) -> str:
    """Return what a check does to the verdict: with a waiver that has expired it fails."""
    return "not_met" if getattr(check, "expired", None) is not None else check.status


def _answer(verdict: Verdict, checks: Sequence[Check], *, score: str | None) -> str:
    """Return the verdict, and what decided it; of one that is met, what is closest."""
    deciding = [one for one in checks if getattr(one, "waived", None) is None]
    reason = verdict.reasons[0]
    if verdict.status == "met" and deciding:
        reason = verdict.reasons[max(range(len(deciding)), key=lambda at: _used(deciding[at]))]
    if reason.code == "of_score":
        inner = reason.values.get("reason")
        if reason.values.get("score") == score and isinstance(inner, Message):
            reason = inner
        else:
            reason = replace(reason, code="of_named")
    return f"{_state(verdict, checks)}{verdict_note(verdict)}: {told(reason)}."


def _again(verdict: Verdict, checks: Sequence[Check]) -> str:
    """Return the verdict in few words; empty where no limit was given."""
    if not checks:
        return ""
    count = verdict.waived
    waived = f", with {count} waiver{'s' * (count > 1)}" if count else ""
    return f"{_state(verdict, checks)}{waived}."


def _next(verdict: Verdict, checks: Sequence[Check], helps: str, topic: str) -> str:
    """Return what to look at where a limit is not met or open, in a line; empty for neither."""
    deciding = [one for one in checks if one.status == verdict.status]
    match verdict.status:
        case "not_met" if limits_copies(deciding):
            what, topic = "leave the copies out of the release", "synthetic-data"
        case "not_met":
            what = "more records do not help; what may"
        case "inconclusive" if any(getattr(one, "blind", None) is not None for one in deciding):
            what, topic = "what the records explain", "members-and-holdout"
        case "inconclusive" if any(one.upper is None for one in deciding):
            what = "what may settle it"
        case "inconclusive":
            what = helps
        case _:
            return ""
    return f"Next: {what}: mipaudit help {topic}."


def _state(verdict: Verdict, checks: Sequence[Check]) -> str:
    """Return the status, of whom it speaks, and how many of several limits came out so."""
    alike = [_status(one) for one in checks].count(verdict.status)
    of = f" ({alike} of {len(checks)} limits)" if alike and len(checks) > 1 else ""
    return f"{STATUS[verdict.status]}{of}"


def _used(check: Check) -> float:
    """Return how much of a limit that is kept is used up."""
    return 0.0 if check.upper is None or not check.limit else check.upper / check.limit
