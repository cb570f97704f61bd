"""What an audit by the attacks of the literature answers and remarks."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_NO_VERDICT: Final = " No limit was given: no verdict."
_NEITHER: Final = " No limit was set, so this page neither passes nor fails the release."
_BLIND: Final = "[ (blind guessing: {baseline:best})]"
_OWN: Final = ", at a confidence of its own." + _NO_VERDICT
_OTHERS: Final = "That no known attack does well does not prove that none can."
_GUESS: Final = (
    " can guess whose records were used, and be right at least {lower:right_least} times in 100 "
    "({prior:compared}; at a confidence of its own)." + _NEITHER
)

ENTRIES: Final = {
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
