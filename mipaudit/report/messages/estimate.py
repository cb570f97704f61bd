"""What audits of scores say: ``check``, ``estimate``, ``attribute``, ``attack``."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry, Texts, entries
from mipaudit.report.messages.verdicts import COMMON, LITTLE

# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "NO_VERDICT": " No limit was given: no verdict.",
    "NEITHER": " No limit was set, so this page neither passes nor fails the release.",
    "BLIND": "[ (blind guessing: {baseline:best})]",
    "SHARED": "[ ({alone:least} if this were the only score)][ ({alone_of_all:least} if this were "
    "the only figure)]",
    "COPIED": "[Exact copies of records are in the release{copied:said}. ]",
    "NONE": "[Apart from these, no{copied:said}][No{copied:unless}]",
    "THE": "[Apart from these, the{copied:said}][The{copied:unless}]",
    "NO_LEAK": ": the advantage with {score:quoted} is at least {lower:least}{SHARED}{BLIND}[, at "
    "most {upper:most} {against:class}].{NO_VERDICT}",
    "FOUND": ": {score:quoted} at least {lower:least}[, at most {upper:most} "
    "({against:attackers})]. No limit given.",
    "COMPARED": " ({prior:compared})",
    "RIGHT": "be right at least {lower:right_least} times in 100",
    "SEES": "n attacker who sees the score {score:quoted}",
    "ALLOWED": "[. Something does leak, within what the limit allows: some attacker is right at "
    "least {least:right_least} times in 100]",
    "KIND": "attackers of a simple kind, who {against:kind}, are right at most ",
    "ALONE": "From the records alone, without the release, the advantage is at least {lower:least} "
    "({confidence:percent} confidence)",
    "COMMON": COMMON,
    "BETTER": " is guessed right more often for members: at least {lower:hundred_least} percentage "
    "points more than for holdout records.{NO_VERDICT}",
    "WORSE": " is guessed right less often for members: at least {lower:hundred_least} percentage "
    "points less than for holdout records, so the two differ.{NO_VERDICT}",
    "PICKED": "; this figure was picked from several, so it is less sure than its confidence says",
    "OWN": "{PICKED}.{NO_VERDICT}",
    "GUESS": " can guess whose records were used and be right at least {lower:right_least} times "
    "in 100 ({prior:compared}{PICKED}).{NEITHER}",
}

# What is said of an input that was looked at, and not audited.
CHECK: Final[Texts] = {
    "fit": "The input can be audited. It holds {members:members} and {holdout:holdout}[ (column "
    "{column:quoted})], and {scores:count} {scores:column|columns} of scores.",
    "columns_unused": "Not used: {names:names}.",
    "not_audited_yet": "Nothing was audited yet. To audit: mipaudit estimate.",
}

# What an audit of scores answers and remarks.
ESTIMATE: Final[Texts] = {
    "leaks": "- Membership leaks: an attacker who sees {score:quoted} has an advantage of at least "
    "{lower:least}{SHARED}{BLIND}.{NO_VERDICT}",
    "leaks.line": "Membership leaks: seeing {score:quoted} gives an advantage of at least "
    "{lower:least}{BLIND}.{NO_VERDICT}",
    "leaks_beyond_records": "- Membership leaks beyond what the records alone explain: for "
    "{COMMON}, an attacker who sees {score:quoted} has an advantage of at least "
    "{lower:least}{BLIND}[, if what is asserted about the records is "
    "true{asserted:said}].{NO_VERDICT}",
    "told_apart": "Members and holdout can be told apart: an attacker who sees {score:quoted} has "
    "an advantage of at least {lower:least}{BLIND}, but perhaps also without the release, by the "
    "records themselves.{NO_VERDICT}",
    "tpr_above_chance": Entry(
        "{COPIED}Members and holdout differ: the TPR at FPR {fpr:percent} of {score:quoted} is at "
        "least {lower:least}, above the {fpr:number} of chance{OWN}",
        unsaid=LITTLE,
    ),
    "auc_above_chance": Entry(
        "{COPIED}Members and holdout differ: the AUC of {score:quoted} is at least {lower:least}, "
        "above the 0.5 of chance{OWN}",
        unsaid=LITTLE,
    ),
    "differ_by_test": Entry(
        "{COPIED}Members and holdout differ (exact test, p = {p:most}), but it is not shown how "
        "much that reveals. Do not read this as 'no leak': more records may show its size, and "
        "mipaudit shift says whether the records differ without the release.{NO_VERDICT}",
        unsaid=LITTLE,
    ),
    "no_leak.line": "{COPIED}{NONE} leak is shown{FOUND}",
    "no_leak_of_advantage.line": "{COPIED}{THE} advantage leaves open whether anything "
    "leaks{FOUND}",
    "auc_above_chance.line": "{COPIED}Members and holdout differ: AUC of {score:quoted} at least "
    "{lower:least}, above chance.{NO_VERDICT}",
    "tpr_above_chance.line": "{COPIED}Members and holdout differ: TPR at FPR {fpr:percent} of "
    "{score:quoted} at least {lower:least}, above chance.{NO_VERDICT}",
    "differ_by_test.line": "{COPIED}Members and holdout differ (exact test, p = {p:most}); it is "
    "not shown how much that reveals.{NO_VERDICT}",
    "leaks_beyond_records.line": "Membership leaks beyond what the records explain: seeing "
    "{score:quoted} gives an advantage of at least {lower:least}[, if `blind_bound` is "
    "right{asserted:said}].{NO_VERDICT}",
    "told_apart.line": "Members and holdout differ, perhaps also without the release: "
    "{score:quoted} gives an advantage of at least {lower:least}.{NO_VERDICT}",
    "no_leak": Entry("{COPIED}{NONE} leak is shown{NO_LEAK}", unsaid=LITTLE),
    "no_leak_of_advantage": Entry(
        "{COPIED}{THE} advantage leaves open whether anything leaks{NO_LEAK}", unsaid=LITTLE
    ),
    # The same as right guesses, for everybody.
    "right_leaks": "A{SEES} can guess whose records were used and {RIGHT}{COMPARED}.{NEITHER}",
    "right_leaks_beyond_records": "For {COMMON}, a{SEES} can guess which were used and "
    "{RIGHT}{COMPARED}[, if what is asserted about the records is true{asserted:said}].{NEITHER}",
    "right_told_apart": "A{SEES} can guess which group a record is from and {RIGHT}{COMPARED}. But "
    "that may be because the groups differ, not because records were used.{NEITHER}",
    "right_not_shown": "The score {score:quoted}[, like the others{several:said},] was not found "
    "to help anybody guess better than {prior:blind_guesser} whether a record was used[; "
    "{most}]{COMPARED}.{NEITHER}[ {but}]",
    "but_differ_by_test": "But a second, exact test finds that scores of members and holdout "
    "differ (p = {p:most}): because members were used, or because the groups differ in another "
    "way. How much that reveals is open: do not read this page as 'nothing leaks'.",
    "but_above_chance": "But another figure, further down, is better than chance; the confidence "
    "is for that figure alone.",
    "right_above": "a{SEES} can guess whose records were used and {RIGHT}{COMPARED}",
    "right_within": "nobody who sees [the score{several:unless}][any one of the "
    "scores{several:said}] can guess whose records were used and be right more than "
    "{upper:right_most} times in 100{COMPARED}{ALLOWED}",
    "right_within_kind": "{KIND}{upper:right_most} times in 100{COMPARED}; for cleverer attackers "
    "this test rules nothing out{ALLOWED}",
    "right_open": "this test neither passes nor fails the release: the truth can be on either side "
    "of the limit. The score {score:quoted} was not found to help anybody guess better than "
    "{prior:blind_guesser}; {most}{COMPARED}[. {but}]",
    "right_open_above": "this test neither passes nor fails the release: the truth can be on "
    "either side of the limit. A{SEES} can {RIGHT}; {most}{COMPARED}",
    "right_unlimited": "no upper limit can be given",
    "right_most_any": "nobody is right more than {upper:right_most} times in 100",
    "right_most_kind": "{KIND}{upper:right_most} times in 100; cleverer attackers may do better",
    # Remarks.
    "error_shared": "If {score:quoted} were the only [score{among:said}]"
    "[figure{alone_of_all:said}], its 'at least' would be [{alone:least}][{alone_of_all:least}].",
    "verdict_shares_error": "~ The verdict's 'at least' and 'at most' can differ a little from a "
    "table's: the verdict's confidence is for all its figures together.",
    "auc_implies": "~ The AUC of {score:quoted} is at least {lower:least}, above chance. It "
    "implies an advantage of at least {advantage:least}, at {confidence:percent} confidence[ for "
    "this figure alone{joint:unless}].",
    "tpr_implies": "~ The TPR of {score:quoted} at FPR {fpr:percent} is at least {lower:least}, "
    "above chance. It implies an advantage of at least {advantage:least}, at {confidence:percent} "
    "confidence[ for this figure alone{joint:unless}].",
    "rejudged": "Judged from the report's 'at least' and 'at most', not from the data: the verdict "
    "is right with {confidence:percent} confidence.",
    "claim_beside_limits": "The claim of epsilon {epsilon:number} is {status:status}: {reason}.",
    "difference_p": "The scores of members and holdout differ more than by chance (p = {p:most}[ "
    "over all scores{several:said}]), because of membership or for another reason.",
    "no_difference_p": "The scores of members and holdout are not shown to differ more than by "
    "chance (p = {p:most}[ over all scores{several:said}]). That does not prove them alike.",
    "records_settle_each": "About {records:count} records in all would probably be enough to "
    "decide each of the {limits:count} inconclusive checks.",
    "records_settle_some": "About {records:count} records in all would probably be enough to "
    "decide {settled:count} of {limits:count} open checks; others may stay so even with more.",
    "records_asserted": "{ALONE} and, as asserted, at most {bound:number}.",
    "records_bounded": "{ALONE} and at most {upper:most} for any attacker on the columns compared.",
    "records_unbounded": "{ALONE}; no 'at most' is known.",
    "records_unbounded_but_kind": "{ALONE}; no 'at most' holds for all attackers. A score learned "
    "from the records gives at most {upper:most} {against:class} (not in the verdict).",
    "another_seed_moves": Entry("Another random seed changes 'at least' by {by:rough}.", last=True),
}

# What guesses of an attribute tell of members.
ATTRIBUTE: Final[Texts] = {
    "guessed_better": "- {attribute:quoted}{BETTER}",
    "right_guess_tells": "- Knowing whether the guess is right gives membership away: an advantage "
    "of at least {lower:least}[ (blind guessing: {baseline:best})].{NO_VERDICT}",
    "guessed_worse": "- {attribute:quoted}{WORSE}",
    "value_guessed_better": "- {name:quoted}{BETTER}",
    "value_guessed_worse": "- {name:quoted}{WORSE}",
    "attribute_in_one_class": "? Nothing can be said: no value of {attribute:quoted} occurs among "
    "both members and holdout records.{NO_VERDICT}",
    "not_guessed_better": Entry(
        "{attribute:quoted} is not shown to be guessed right more often for members: with these "
        "guesses, at most {upper:hundred_most} percentage points more than for holdout "
        "records.{NO_VERDICT}",
        unsaid="Another attacker may guess members' values better than these guesses do.",
    ),
}

# What an audit by the attacks of the literature answers and remarks.
ATTACK: Final[Texts] = {
    "best_attack_leaks": "- Membership leaks: the best attacker who sees {score:quoted} has an "
    "advantage of at least {lower:least}{BLIND}{OWN}",
    "named_attack_leaks": "- Membership leaks: the attack {attack:quoted} on {score:quoted} has an "
    "advantage of at least {lower:least}{BLIND}[ within {group:quoted}]{OWN}",
    "means_apart": "- Members and holdout differ: their means of {score:quoted} differ by "
    "{lower:least} to {upper:most} ({order}){OWN}",
    "no_attack_leaks": Entry(
        "No leak is shown: neither the best attacker nor a named attack surely beats blind "
        "guessing ({baseline:best}).{NO_VERDICT}",
        unsaid="Known attacks that fail do not prove that every attack fails.",
    ),
    # The same as right guesses, for everybody.
    "right_best_attack_leaks": "An attacker who sees the score {score:quoted}{GUESS}",
    "right_named_attack_leaks": "The attack {attack:quoted} on {score:quoted}[, within "
    "{group:quoted},]{GUESS}",
    "right_no_attack_leaks": "The scores were not found to help anybody, with a known attack or in "
    "any other way, guess better than {prior:blind_guesser} whether a record was used.{NEITHER}",
    "right_attack_above": "the attack {attack:quoted} on {score:quoted} is right at least "
    "{lower:right_least} times in 100 ({prior:compared})",
    "right_within_attacks": "none of these attacks is right more than {upper:right_most} times in "
    "100 ({prior:compared}); for other attacks this test rules nothing out",
    "right_undecided": "this test neither passes nor fails the release",
    # Remarks.
    "answer_of_all_lines": "The best attacker is at least as good as all others that see only the "
    "score; where its figure is lower, it is only estimated more cautiously (mipaudit help "
    "named-attacks). The answer's figure can differ, as several were tried.",
    "any_attacker_of_all_lines": "Some attacker who sees {score:quoted} has an advantage of at "
    "least {lower:least}. This figure takes into account that several attackers were tried, so it "
    "can differ from theirs.",
    "best_of_kind": "The advantage on {score:quoted} is at most {upper:most} {against:class}.",
    "not_judged": "Not judged: {attacks:names}[ ({why})].",
    "class_leaks_most": "Of {classes:count} classes of labels, {group:quoted} leaks most: at least "
    "{lower:least}, best estimate {value:best}.",
    "no_class_leaks": "Of {classes:count} classes of labels, none is shown to leak by itself.",
}

ENTRIES: Final = entries(CHECK | ESTIMATE | ATTRIBUTE | ATTACK, _PHRASES)
