"""What audits of scores say: ``check``, ``estimate``, ``attribute``, ``attack``."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry

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
_BETTER: Final = " is guessed better of members, by at least {lower:least}." + _NO_VERDICT
_WORSE: Final = (
    " is guessed worse of members, by at least {lower:least}: they differ." + _NO_VERDICT
)
_OTHER_GUESSES: Final = "Another attacker may guess better of members than these guesses are."
_OWN: Final = ", at a confidence of its own." + _NO_VERDICT
_OTHERS: Final = "That no known attack does well does not prove that none can."
_GUESS: Final = (
    " can guess whose records were used, and be right at least {lower:right_least} times in 100 "
    "({prior:compared}; at a confidence of its own)." + _NEITHER
)

# What is said of an input that was looked at, and not audited.
CHECK: Final = {
    "fit": Entry(
        "The input can be audited. It holds {members:count} members and {holdout:count} holdout "
        "records[, told by {column:quoted}], and {scores:count} {scores:score|scores}."
    ),
    "columns_unused": Entry("Not used: {names:names}."),
    "not_audited_yet": Entry("Nothing was audited yet: mipaudit estimate does that."),
}

# What an audit of scores answers and remarks.
ESTIMATE: Final = {
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

# What guesses of an attribute tell of members.
ATTRIBUTE: Final = {
    "guessed_better": Entry("{attribute:quoted}" + _BETTER, mood="bad"),
    "right_guess_tells": Entry(
        "Whether the guess is right gives membership away: an advantage of at least {lower:least}"
        "[ (blind guessing: {baseline:best})]." + _NO_VERDICT,
        mood="bad",
    ),
    "guessed_worse": Entry("{attribute:quoted}" + _WORSE, mood="bad"),
    "value_guessed_better": Entry("{name:quoted}" + _BETTER, mood="bad"),
    "value_guessed_worse": Entry("{name:quoted}" + _WORSE, mood="bad"),
    "attribute_in_one_class": Entry(
        "Nothing is known: no value of {attribute:quoted} is in both classes." + _NO_VERDICT,
        mood="open",
    ),
    "not_guessed_better": Entry(
        "{attribute:quoted} is not shown to be guessed better of members: by at most {upper:most}, "
        "with these guesses." + _NO_VERDICT,
        unsaid=_OTHER_GUESSES,
    ),
}

# What an audit by the attacks of the literature answers and remarks.
ATTACK: Final = {
    "best_attack_leaks": Entry(
        "Membership leaks: the best attacker who sees {score:quoted} has an advantage of at least "
        "{lower:least}" + _BLIND + _OWN,
        mood="bad",
    ),
    "named_attack_leaks": Entry(
        "Membership leaks: the attack {attack:quoted} on {score:quoted} has an advantage of at "
        "least {lower:least}" + _BLIND + "[ within {group:quoted}]" + _OWN,
        mood="bad",
    ),
    "means_apart": Entry(
        "Members and holdout differ: their means of {score:quoted} are apart by {lower:least} to "
        "{upper:most} ({order})" + _OWN,
        mood="bad",
    ),
    "no_attack_leaks": Entry(
        "No leak is shown: neither the best attacker nor a named attack surely beats blind "
        "guessing ({baseline:best})." + _NO_VERDICT,
        unsaid=_OTHERS,
    ),
    # The same as right guesses, for everybody.
    "right_best_attack_leaks": Entry("Whoever sees the score {score:quoted}" + _GUESS),
    "right_named_attack_leaks": Entry(
        "The attack {attack:quoted} on {score:quoted}[, within {group:quoted},]" + _GUESS
    ),
    "right_no_attack_leaks": Entry(
        "It is not shown that anybody who sees the scores, with one of the known attacks or any "
        "other way, guesses better than {prior:blind_guesser} who was in the data." + _NEITHER
    ),
    "right_attack_above": Entry(
        "the attack {attack:quoted} on {score:quoted} is right at least {lower:right_least} times "
        "in 100 ({prior:compared})"
    ),
    "right_within_attacks": Entry(
        "none of these attacks is right more than {upper:right_most} times in 100 "
        "({prior:compared}); for other attacks this test rules nothing out"
    ),
    "right_undecided": Entry("this test neither passes nor fails the release"),
    # Remarks.
    "answer_of_all_lines": Entry(
        "The answer holds for all lines together, which is less sure of each."
    ),
    "any_attacker_of_all_lines": Entry(
        "Any attacker who sees {score:quoted} has an advantage of at least {lower:least}, over all "
        "lines together."
    ),
    "best_of_kind": Entry("The best on {score:quoted} has at most {upper:most} {against:class}."),
    "not_judged": Entry("Not judged: {attacks:names}[ ({why})]."),
    "class_leaks_most": Entry(
        "Of {classes:count} classes, {group:quoted} leaks most: at least {lower:least}, best "
        "estimate {value:best}."
    ),
    "no_class_leaks": Entry("Of {classes:count} classes none is shown to leak by itself."),
}

ENTRIES: Final = CHECK | ESTIMATE | ATTRIBUTE | ATTACK
