"""What an audit of scores answers and remarks."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_NO_VERDICT: Final = " No limit was given: no verdict."
_NEITHER: Final = " No limit was set, so this page neither passes nor fails the release."
_BLIND: Final = "[ (blind guessing: {baseline:best})]"
_SHARED: Final = (
    "[ (shared by {sharing:count} {among}; alone {alone:least})]"
    "[ (shared by all rows; alone {alone_of_all:least})]"
)
_COPIED: Final = "[Exact copies stand in the release{copied:said}. ]"
_NO_LEAK: Final = (
    "[ beside them{copied:said}]: the advantage with {score:quoted} is at least {lower:least}"
    + _SHARED
    + _BLIND
    + "[, at most {upper:most} {against:class}]."
    + _NO_VERDICT
)
_COMPARED: Final = " ({prior:compared})"
_RIGHT: Final = "be right at least {lower:right_least} times in 100"
_SEES: Final = "hoever sees the score {score:quoted}"
_KIND: Final = "attackers of a simple kind, those who {against:kind}, are right at most "
_ALONE: Final = "The records alone: at least {lower:least} ({confidence:percent} confidence); "

_LITTLE: Final = "That little is shown does not prove that little leaks."

ENTRIES: Final = {
    "leaks": Entry(
        "Membership leaks: whoever sees {score:quoted} has an advantage of at least {lower:least}"
        + _SHARED
        + _BLIND
        + "."
        + _NO_VERDICT,
        mood="bad",
    ),
    "leaks_beyond_records": Entry(
        "Membership leaks beyond the records: among those that are alike, whoever sees "
        "{score:quoted} has an advantage of at least {lower:least}"
        + _BLIND
        + "[, if what is asserted of the records is so{asserted:said}]."
        + _NO_VERDICT,
        mood="bad",
    ),
    "told_apart": Entry(
        "Members and holdout are told apart: whoever sees {score:quoted} has an advantage of at "
        "least {lower:least}"
        + _BLIND
        + ", and the records alone may explain all of it."
        + _NO_VERDICT
    ),
    "tpr_above_chance": Entry(
        _COPIED + "Members and holdout differ: the TPR at FPR {fpr:percent} of {score:quoted} is "
        "at least {lower:least}, above chance, at a confidence of its own." + _NO_VERDICT,
        unsaid=_LITTLE,
    ),
    "auc_above_chance": Entry(
        _COPIED + "Members and holdout differ: the AUC of {score:quoted} is at least "
        "{lower:least}, above chance, at a confidence of its own." + _NO_VERDICT,
        unsaid=_LITTLE,
    ),
    "differ_by_test": Entry(
        _COPIED + "Members and holdout differ (an exact test, p = {p:most}), and no limit shows "
        "how much that tells. This is not 'no leak': more records may size it, and mipaudit shift "
        "says whether the records differ without the release." + _NO_VERDICT,
        unsaid=_LITTLE,
    ),
    "no_leak": Entry(
        _COPIED + "No leak is shown" + _NO_LEAK,
        unsaid=_LITTLE,
    ),
    "no_leak_of_advantage": Entry(
        _COPIED + "The advantage shows no leak" + _NO_LEAK, unsaid=_LITTLE
    ),
    # The same as right guesses, for everybody.
    "right_leaks": Entry(
        "W"
        + _SEES
        + " can guess whose records were used, and "
        + _RIGHT
        + _COMPARED
        + "."
        + _NEITHER
    ),
    "right_leaks_beyond_records": Entry(
        "Among records that are alike w"
        + _SEES
        + " can guess which were used, and "
        + _RIGHT
        + _COMPARED
        + "[, if what is asserted of the records is so{asserted:said}]."
        + _NEITHER
    ),
    "right_told_apart": Entry(
        "W"
        + _SEES
        + " can guess which group a record is from, and "
        + _RIGHT
        + _COMPARED
        + ": but that may be because the groups differ, not because records were used."
        + _NEITHER
    ),
    "right_not_shown": Entry(
        "It is not shown that anybody who sees the score {score:quoted}[, as any of the "
        "others{several:said},] guesses better than {prior:blind_guesser} who was in the data"
        "[; {most}]" + _COMPARED + "." + _NEITHER + "[ {but}]"
    ),
    "but_differ_by_test": Entry(
        "But a second, exact test finds that scores of members and holdout differ (p = {p:most}): "
        "because members were used, or because the groups differ otherwise. How much can be told "
        "from it is open: do not read this page as 'nothing leaks'."
    ),
    "but_above_chance": Entry(
        "But another figure below is above chance, at a confidence of its own."
    ),
    "right_above": Entry(
        "w" + _SEES + " can guess whose records were used, and " + _RIGHT + _COMPARED
    ),
    "right_within": Entry(
        "nobody who sees [the score{several:unless}][any one of the scores{several:said}] guesses "
        "right more often than {upper:right_most} times in 100 whose records were used" + _COMPARED
    ),
    "right_within_kind": Entry(
        _KIND + "{upper:right_most} times in 100" + _COMPARED + "; for cleverer ones this test "
        "rules nothing out"
    ),
    "right_open": Entry(
        "this test neither passes nor fails the release. It is not shown that w"
        + _SEES
        + " guesses better than {prior:blind_guesser}; {most}"
        + _COMPARED
        + "[. {but}]"
    ),
    "right_open_above": Entry(
        "this test neither passes nor fails the release. W"
        + _SEES
        + " can "
        + _RIGHT
        + "; {most}"
        + _COMPARED
    ),
    "right_unlimited": Entry("no upper limit can be given"),
    "right_most_any": Entry("nobody is right more often than {upper:right_most} times in 100"),
    "right_most_kind": Entry(
        _KIND + "{upper:right_most} times in 100, and cleverer ones may be right more often"
    ),
    # Remarks.
    "error_shared": Entry(
        "The error of 'at least' is [shared by {sharing:count} {among}; alone {alone:least}]"
        "[shared by all rows; alone {alone_of_all:least}] ({score:quoted})."
    ),
    "verdict_shares_error": Entry(
        "The verdict shares the error over its own limits, which can differ a little from those of "
        "the tables.",
        short=False,
    ),
    "auc_implies": Entry(
        "The AUC of {score:quoted} is at least {lower:least}, above chance. It implies an "
        "advantage of at least {advantage:least}, at {confidence:percent} confidence[ of its own, "
        "not jointly with other rows{joint:unless}].",
        short=False,
    ),
    "tpr_implies": Entry(
        "The TPR of {score:quoted} at FPR {fpr:percent} is at least {lower:least}, above chance. "
        "It implies an advantage of at least {advantage:least}, at {confidence:percent} "
        "confidence[ of its own, not jointly with other rows{joint:unless}].",
        short=False,
    ),
    "rejudged": Entry(
        "Judged from the limits in the report, not from the data: the verdict, over {limits:count} "
        "{limits:limit|limits}, holds with {confidence:percent} confidence."
    ),
    "claim_beside_limits": Entry(
        "The claim of epsilon {epsilon:number} is {status:status}: {reason}."
    ),
    "difference_p": Entry(
        "A difference of the groups (membership, or another) shows: p = {p:most}"
        "[ over all scores{several:said}]."
    ),
    "no_difference_p": Entry(
        "No difference of the groups (membership, or another) shows: p = {p:most}"
        "[ over all scores{several:said}]."
    ),
    "records_settle_each": Entry(
        "About {records:count} records in all would settle each of the {limits:count} open limits."
    ),
    "records_settle_some": Entry(
        "About {records:count} records in all would settle {settled:count} of {limits:count} open "
        "limits; the rest may stay open with more."
    ),
    "records_asserted": Entry(_ALONE + "at most {bound:number}, asserted."),
    "records_bounded": Entry(
        _ALONE + "at most {upper:most} for any attacker on the columns compared."
    ),
    "records_unbounded": Entry(_ALONE + "no upper limit."),
    "records_unbounded_but_kind": Entry(
        _ALONE + "no upper limit for every attacker, {upper:most} {against:class} on what was "
        "learned, which decides nothing."
    ),
    "another_seed_moves": Entry(
        "Another seed would move 'at least' by about {by:rough}.", last=True
    ),
}
