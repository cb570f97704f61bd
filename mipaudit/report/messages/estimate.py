"""What audits of scores say: ``check``, ``estimate``, ``attribute``, ``attack``."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry, Texts, entries

_LITTLE: Final = "That little is shown does not prove that little leaks."
_OTHER_GUESSES: Final = "Another attacker may guess better of members than these guesses are."
_OTHERS: Final = "That no known attack does well does not prove that none can."
# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "NO_VERDICT": " No limit was given: no verdict.",
    "NEITHER": " No limit was set, so this page neither passes nor fails the release.",
    "BLIND": "[ (blind guessing: {baseline:best})]",
    "SHARED": "[ (shared by {sharing:count} {among}; alone {alone:least})][ (shared by all rows; "
    "alone {alone_of_all:least})]",
    "COPIED": "[Exact copies stand in the release{copied:said}. ]",
    "NO_LEAK": "[ beside them{copied:said}]: the advantage with {score:quoted} is at least "
    "{lower:least}{SHARED}{BLIND}[, at most {upper:most} {against:class}].{NO_VERDICT}",
    "COMPARED": " ({prior:compared})",
    "RIGHT": "be right at least {lower:right_least} times in 100",
    "SEES": "hoever sees the score {score:quoted}",
    "KIND": "attackers of a simple kind, those who {against:kind}, are right at most ",
    "ALONE": "The records alone: at least {lower:least} ({confidence:percent} confidence); ",
    "BETTER": " is guessed better of members, by at least {lower:least}.{NO_VERDICT}",
    "WORSE": " is guessed worse of members, by at least {lower:least}: they differ.{NO_VERDICT}",
    "OWN": ", at a confidence of its own.{NO_VERDICT}",
    "GUESS": " can guess whose records were used, and be right at least {lower:right_least} times "
    "in 100 ({prior:compared}; at a confidence of its own).{NEITHER}",
}

# What is said of an input that was looked at, and not audited.
CHECK: Final[Texts] = {
    "fit": "The input can be audited. It holds {members:count} members and {holdout:count} holdout "
    "records[, told by {column:quoted}], and {scores:count} {scores:score|scores}.",
    "columns_unused": "Not used: {names:names}.",
    "not_audited_yet": "Nothing was audited yet: mipaudit estimate does that.",
}

# What an audit of scores answers and remarks.
ESTIMATE: Final[Texts] = {
    "leaks": Entry(
        "Membership leaks: whoever sees {score:quoted} has an advantage of at least "
        "{lower:least}{SHARED}{BLIND}.{NO_VERDICT}",
        mood="bad",
    ),
    "leaks_beyond_records": Entry(
        "Membership leaks beyond the records: among those that are alike, whoever sees "
        "{score:quoted} has an advantage of at least {lower:least}{BLIND}[, if what is asserted of "
        "the records is so{asserted:said}].{NO_VERDICT}",
        mood="bad",
    ),
    "told_apart": "Members and holdout are told apart: whoever sees {score:quoted} has an "
    "advantage of at least {lower:least}{BLIND}, and the records alone may explain all of "
    "it.{NO_VERDICT}",
    "tpr_above_chance": Entry(
        "{COPIED}Members and holdout differ: the TPR at FPR {fpr:percent} of {score:quoted} is at "
        "least {lower:least}, above chance, at a confidence of its own.{NO_VERDICT}",
        unsaid=_LITTLE,
    ),
    "auc_above_chance": Entry(
        "{COPIED}Members and holdout differ: the AUC of {score:quoted} is at least {lower:least}, "
        "above chance, at a confidence of its own.{NO_VERDICT}",
        unsaid=_LITTLE,
    ),
    "differ_by_test": Entry(
        "{COPIED}Members and holdout differ (an exact test, p = {p:most}), and no limit shows how "
        "much that tells. This is not 'no leak': more records may size it, and mipaudit shift says "
        "whether the records differ without the release.{NO_VERDICT}",
        unsaid=_LITTLE,
    ),
    "no_leak": Entry("{COPIED}No leak is shown{NO_LEAK}", unsaid=_LITTLE),
    "no_leak_of_advantage": Entry("{COPIED}The advantage shows no leak{NO_LEAK}", unsaid=_LITTLE),
    # The same as right guesses, for everybody.
    "right_leaks": "W{SEES} can guess whose records were used, and {RIGHT}{COMPARED}.{NEITHER}",
    "right_leaks_beyond_records": "Among records that are alike w{SEES} can guess which were used, "
    "and {RIGHT}{COMPARED}[, if what is asserted of the records is so{asserted:said}].{NEITHER}",
    "right_told_apart": "W{SEES} can guess which group a record is from, and {RIGHT}{COMPARED}: "
    "but that may be because the groups differ, not because records were used.{NEITHER}",
    "right_not_shown": "It is not shown that anybody who sees the score {score:quoted}[, as any of "
    "the others{several:said},] guesses better than {prior:blind_guesser} who was in the data[; "
    "{most}]{COMPARED}.{NEITHER}[ {but}]",
    "but_differ_by_test": "But a second, exact test finds that scores of members and holdout "
    "differ (p = {p:most}): because members were used, or because the groups differ otherwise. How "
    "much can be told from it is open: do not read this page as 'nothing leaks'.",
    "but_above_chance": "But another figure below is above chance, at a confidence of its own.",
    "right_above": "w{SEES} can guess whose records were used, and {RIGHT}{COMPARED}",
    "right_within": "nobody who sees [the score{several:unless}][any one of the "
    "scores{several:said}] guesses right more often than {upper:right_most} times in 100 whose "
    "records were used{COMPARED}",
    "right_within_kind": "{KIND}{upper:right_most} times in 100{COMPARED}; for cleverer ones this "
    "test rules nothing out",
    "right_open": "this test neither passes nor fails the release. It is not shown that w{SEES} "
    "guesses better than {prior:blind_guesser}; {most}{COMPARED}[. {but}]",
    "right_open_above": "this test neither passes nor fails the release. W{SEES} can {RIGHT}; "
    "{most}{COMPARED}",
    "right_unlimited": "no upper limit can be given",
    "right_most_any": "nobody is right more often than {upper:right_most} times in 100",
    "right_most_kind": "{KIND}{upper:right_most} times in 100, and cleverer ones may be right more "
    "often",
    # Remarks.
    "error_shared": "The error of 'at least' is [shared by {sharing:count} {among}; alone "
    "{alone:least}][shared by all rows; alone {alone_of_all:least}] ({score:quoted}).",
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
    "rejudged": "Judged from the limits in the report, not from the data: the verdict, over "
    "{limits:count} {limits:limit|limits}, holds with {confidence:percent} confidence.",
    "claim_beside_limits": "The claim of epsilon {epsilon:number} is {status:status}: {reason}.",
    "difference_p": "A difference of the groups (membership, or another) shows: p = {p:most}[ over "
    "all scores{several:said}].",
    "no_difference_p": "No difference of the groups (membership, or another) shows: p = {p:most}[ "
    "over all scores{several:said}].",
    "records_settle_each": "About {records:count} records in all would settle each of the "
    "{limits:count} open limits.",
    "records_settle_some": "About {records:count} records in all would settle {settled:count} of "
    "{limits:count} open limits; the rest may stay open with more.",
    "records_asserted": "{ALONE}at most {bound:number}, asserted.",
    "records_bounded": "{ALONE}at most {upper:most} for any attacker on the columns compared.",
    "records_unbounded": "{ALONE}no upper limit.",
    "records_unbounded_but_kind": "{ALONE}no upper limit for every attacker, {upper:most} "
    "{against:class} on what was learned, which decides nothing.",
    "another_seed_moves": Entry(
        "Another seed would move 'at least' by about {by:rough}.", last=True
    ),
}

# What guesses of an attribute tell of members.
ATTRIBUTE: Final[Texts] = {
    "guessed_better": Entry("{attribute:quoted}{BETTER}", mood="bad"),
    "right_guess_tells": Entry(
        "Whether the guess is right gives membership away: an advantage of at least {lower:least}[ "
        "(blind guessing: {baseline:best})].{NO_VERDICT}",
        mood="bad",
    ),
    "guessed_worse": Entry("{attribute:quoted}{WORSE}", mood="bad"),
    "value_guessed_better": Entry("{name:quoted}{BETTER}", mood="bad"),
    "value_guessed_worse": Entry("{name:quoted}{WORSE}", mood="bad"),
    "attribute_in_one_class": Entry(
        "Nothing is known: no value of {attribute:quoted} is in both classes.{NO_VERDICT}",
        mood="open",
    ),
    "not_guessed_better": Entry(
        "{attribute:quoted} is not shown to be guessed better of members: by at most {upper:most}, "
        "with these guesses.{NO_VERDICT}",
        unsaid=_OTHER_GUESSES,
    ),
}

# What an audit by the attacks of the literature answers and remarks.
ATTACK: Final[Texts] = {
    "best_attack_leaks": Entry(
        "Membership leaks: the best attacker who sees {score:quoted} has an advantage of at least "
        "{lower:least}{BLIND}{OWN}",
        mood="bad",
    ),
    "named_attack_leaks": Entry(
        "Membership leaks: the attack {attack:quoted} on {score:quoted} has an advantage of at "
        "least {lower:least}{BLIND}[ within {group:quoted}]{OWN}",
        mood="bad",
    ),
    "means_apart": Entry(
        "Members and holdout differ: their means of {score:quoted} are apart by {lower:least} to "
        "{upper:most} ({order}){OWN}",
        mood="bad",
    ),
    "no_attack_leaks": Entry(
        "No leak is shown: neither the best attacker nor a named attack surely beats blind "
        "guessing ({baseline:best}).{NO_VERDICT}",
        unsaid=_OTHERS,
    ),
    # The same as right guesses, for everybody.
    "right_best_attack_leaks": "Whoever sees the score {score:quoted}{GUESS}",
    "right_named_attack_leaks": "The attack {attack:quoted} on {score:quoted}[, within "
    "{group:quoted},]{GUESS}",
    "right_no_attack_leaks": "It is not shown that anybody who sees the scores, with one of the "
    "known attacks or any other way, guesses better than {prior:blind_guesser} who was in the "
    "data.{NEITHER}",
    "right_attack_above": "the attack {attack:quoted} on {score:quoted} is right at least "
    "{lower:right_least} times in 100 ({prior:compared})",
    "right_within_attacks": "none of these attacks is right more than {upper:right_most} times in "
    "100 ({prior:compared}); for other attacks this test rules nothing out",
    "right_undecided": "this test neither passes nor fails the release",
    # Remarks.
    "answer_of_all_lines": "The answer holds for all lines together, which is less sure of each.",
    "any_attacker_of_all_lines": "Any attacker who sees {score:quoted} has an advantage of at "
    "least {lower:least}, over all lines together.",
    "best_of_kind": "The best on {score:quoted} has at most {upper:most} {against:class}.",
    "not_judged": "Not judged: {attacks:names}[ ({why})].",
    "class_leaks_most": "Of {classes:count} classes, {group:quoted} leaks most: at least "
    "{lower:least}, best estimate {value:best}.",
    "no_class_leaks": "Of {classes:count} classes none is shown to leak by itself.",
}

ENTRIES: Final = entries(CHECK | ESTIMATE | ATTRIBUTE | ATTACK, _PHRASES)
