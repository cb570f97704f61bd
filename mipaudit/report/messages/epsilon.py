"""What is said of promises of differential privacy: ``bounds`` and ``epsilon``."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry

_ANY_OF_THESE: Final = "{value:number} or below, any of these does:"
_FOR: Final = " for a sensitivity of {sensitivity:number}"
_NOISE: Final = "Gaussian noise of standard deviation {noise_sd:number}"
_BESIDE: Final = (
    "[; records are released word for word{copies:said}]"
    "[; columns that may be scores were left out{left_out:said}]: {reason}.[ {limit}]"
)
_NEITHER: Final = " No promise was named, so this page neither confirms nor refutes one."
_RIGHT: Final = "{right:count} of {guesses:count} guesses "
_SIDE: Final = "[, members {direction}]"
_OWN_COIN: Final = "[ the one run{runs:unless}][ each run, anew,{runs:said}] by its own "
_ALONE: Final = "coin, independent of all else"
_RUNS: Final = (
    "[The {runs:count} runs, whose number was fixed beforehand, are of one mechanism on the same "
    "other data. ]Each canary was included in" + _OWN_COIN
)

# What a report on bounds answers and remarks.
BOUNDS: Final = {
    # What a guarantee allows.
    "promise_allows": Entry(
        "No attacker exceeds a membership advantage of {upper:most_figure}"
        "[ ({reading}) or {other:most_figure} ({other_reading})] at prior {prior:number}."
    ),
    "success_allowed": Entry(
        "What is guessed right in {baseline:percent} of cases[ (which of {alike:count} equally "
        "likely diagnoses a person has, say)] from a release made with another record in its place"
        "[ or without the record{absent:said}] is guessed right in at most {upper:most_figure}%"
        "[ ({reading}) or {other:most_figure}% ({other_reading})] from this one."
    ),
    "right_at_most": Entry(
        "While the promise is kept, nobody guesses right more often than {upper:right_most}"
        "[ ({reading}) or {other:right_most} ({other_reading})] times in 100 whose records were "
        "used ({prior:compared}). Nothing was measured: this is what a promise allows, not what a "
        "release does."
    ),
    "success_of_one_step": Entry(
        "By add or remove, success from a release without the record is the first figure, too."
    ),
    "bounds_as_tight": Entry("Published bounds that say as much: {names:names}."),
    "release_not_seen": Entry("The release was not looked at: this holds if the guarantee does."),
    # How a guarantee is read.
    "one_exchanged": Entry("one record exchanged"),
    "added_or_removed": Entry("added or removed"),
    "present_or_absent": Entry("present or absent"),
    # What was promised.
    "promised_approximate_dp": Entry("({epsilon:number}, {delta:number})-differential privacy"),
    "promised_gaussian_dp": Entry("{mu:number}-Gaussian differential privacy"),
    "promised_zero_concentrated_dp": Entry("{rho:number}-zero-concentrated differential privacy"),
    "promised_renyi_dp": Entry("Renyi differential privacy at {orders:number} orders"),
    "promised_tuned_runs": Entry("the best of {best_of:number} tuned runs"),
    "promised_gaussian_noise": Entry(_NOISE + _FOR),
    "promised_laplace_noise": Entry("Laplace noise of scale {scale:number}" + _FOR),
    "promised_geometric_noise": Entry(
        "two-sided geometric noise of scale {geometric_scale:number}" + _FOR
    ),
    "promised_randomized_response": Entry(
        "randomized response, true with probability {truth:number}, among {categories:number} "
        "answers"
    ),
    "promised_dp_sgd": Entry(
        "DP-SGD with noise multiplier {noise_multiplier:number}, sampling rate {q:number}, "
        "{steps:number} steps"
    ),
    "promised_composition": Entry("a composition of {parts:number} kinds of releases"),
    "promised_counting_queries": Entry(
        "{queries:number} averages over {records:number} records, each with " + _NOISE
    ),
    "unbounded_at_delta": Entry("no epsilon holds at this delta"),
    # The figures of what it allows.
    "figure_advantage": Entry("advantage at prior {prior:number}"),
    "figure_excess": Entry("  above blind guessing's {baseline:number}"),
    "figure_accuracy": Entry("accuracy"),
    "figure_eta": Entry("eta (accuracy above guessing)"),
    "figure_tpr": Entry("TPR at FPR {fpr:percent}"),
    "figure_success": Entry("success where {baseline:percent} succeed"),
    "figure_precision": Entry("precision (PPV) at recall {recall:percent} or more"),
    "figure_certainty": Entry("certainty about one record, at worst"),
    "figure_divergence": Entry("{order:number}"),
    # What a target needs.
    "keeps_quantity": Entry("To keep {quantity} (prior {prior:number}) at " + _ANY_OF_THESE),
    "keeps_tpr_at_fpr": Entry("To keep TPR at FPR {fpr:percent} at " + _ANY_OF_THESE),
    "keeps_success": Entry(
        "To keep what is guessed right in {baseline:percent} of cases without the record at "
        "{value:percent} or below, any of these does:"
    ),
    "keeps_delta": Entry(
        "For ({epsilon:number}, {value:number})-differential privacy, any of these does:"
    ),
    "delta_allows_more": Entry("delta alone allows more than the target"),
    "any_attacker_allowed": Entry("the target allows any attacker"),
    "no_noise_hides": Entry("no noise hides a record that well"),
    # What an attack rules out.
    "rules_out": Entry(
        "An attack with TPR {tpr:number} at FPR {fpr:number} rules out every epsilon"
        "[ below {epsilon:figure}] at delta {delta:number}, and every mu[ below {mu:figure}] of "
        "Gaussian differential privacy, if these are its true rates."
        "[ No finite value is consistent with such rates{perfect:said}.]"
    ),
    "one_sided": Entry("one-sided"),
    "perfect_not_excluded": Entry("the counts do not exclude a perfect attack"),
}

# What an audit of epsilon answers and remarks.
EPSILON: Final = {
    "claim_refuted": Entry("CLAIM REFUTED" + _BESIDE, mood="bad"),
    "claim_not_refuted": Entry("CLAIM NOT REFUTED" + _BESIDE),
    "claim_not_certifiable": Entry("NOTHING CERTIFIED" + _BESIDE, mood="open"),
    "epsilon_limited": Entry("{limit} No claim was given: no verdict."),
    # What became of the claim.
    "not_as_claimed": Entry(
        "[{worth}, then ]with {confidence:percent} confidence this mechanism is not {claimed}"
    ),
    "nothing_against_claim": Entry(
        "the data do not contradict that this mechanism is {claimed}, which does not verify it"
    ),
    "coins_test_nothing": Entry(
        "the canaries were not included by fair coins, so this run can neither refute nor verify "
        "that the mechanism is {claimed}"
    ),
    "one_model_tests_nothing": Entry(
        "members and holdout of one model can neither refute nor verify that its training is "
        "{claimed}"
    ),
    "claimed_epsilon": Entry("({epsilon:number}, {delta:number})-differentially private"),
    "claimed_mu": Entry("{mu:number}-Gaussian differentially private"),
    "claimed_curve": Entry("within the claimed trade-off curve ({curve})"),
    # The limit that decides, and what others rest on.
    "epsilons_refuted": Entry(
        "Every epsilon below {lower:figure} is refuted at delta {delta:number},[ {worth},] with "
        "{confidence:percent} confidence."
    ),
    "epsilons_refuted_beside": Entry(
        "The limit that decides refutes no epsilon at delta {delta:number}; another, by itself, "
        "refutes those below {lower:figure}[, {worth}]."
    ),
    "no_epsilon_refuted": Entry(
        "No epsilon is refuted at delta {delta:number}, which is no evidence of privacy."
    ),
    "no_epsilon_certified": Entry(
        "No epsilon is certified: members and holdout of one model are no independent trials."
        "[ If each row were one, epsilon would be at least {lower:figure} at delta {delta:number}.]"
    ),
    "assumes-gdp": Entry("if the noise is Gaussian"),
    "if-exchangeable": Entry("if rows were trials"),
    "if-fair-coins": Entry("if coins were fair"),
    "decides": Entry("decides"),
    "beside_it": Entry("beside it"),
    # The same for everybody.
    "promise_broken": Entry(
        "[{worth}, ]the promise that was made, that the mechanism is {claimed}, is not kept "
        "({confidence:percent} confidence)"
    ),
    "promise_not_broken": Entry(
        "this test found nothing against the promise that was made, that the "
        "mechanism is {claimed}. That does not show that it is kept"
    ),
    "promise_not_tested": Entry("nothing can be said of the promise that was made: {reason}"),
    "promise_would_break": Entry(
        "A promise of an epsilon below {lower:figure} at delta {delta:number} would not be kept"
        "[, {worth}]." + _NEITHER
    ),
    "no_promise_would_break": Entry(
        "This test would break no promise. That is no evidence of privacy." + _NEITHER
    ),
    "one_model_breaks_none": Entry(
        "Records of one model cannot break a promise: they are no repeated trials of how it was "
        "made." + _NEITHER
    ),
    # What was judged.
    "one_run_seen": Entry(
        "[One run{runs:unless}][{runs:count} runs] with {canaries:count} canaries"
        "[ in all{runs:said}]"
    ),
    "one_model_seen": Entry(
        "{members:count} members and {holdout:count} holdout records of one model"
    ),
    "runs_seen": Entry(
        "{members:count} independent {members:run|runs} with the record, {holdout:count} without"
    ),
    "guesses_of_member": Entry(_RIGHT + "of runs with the record right" + _SIDE),
    "guesses_of_holdout": Entry(_RIGHT + "of runs without it right" + _SIDE),
    "guesses_of_both": Entry(_RIGHT + "of both kinds right" + _SIDE),
    "guesses_of_canaries": Entry(
        _RIGHT + "right[, {guessed_in:count} in][, {guessed_out:count} out]"
        "[, included {direction}][, best of {tried:count} tries]"
    ),
    # Why a limit is 0, or there is none.
    "delta_allows": Entry(
        "delta allows that many right guesses; at delta 0 they would refute every epsilon below "
        "{pure:figure}"
    ),
    "not_even_right_guesses": Entry(
        "at this delta not even right guesses alone would refute anything"
    ),
    "guesses_within_chance": Entry("the right guesses are within chance"),
    "difference_within_chance": Entry("the difference that was found is within chance"),
    "advantage_within_chance": Entry("the advantage that was found is within chance"),
    "no_difference_found": Entry("no difference between members and holdout was found"),
    "nothing_to_judge": Entry(
        "all scores are the same, or there are fewer than {fewest:count} runs"
    ),
    "no_attack": Entry("all scores are the same, or runs are too few"),
    "gaussian_without_epsilon": Entry("a Gaussian mechanism has no epsilon at delta 0"),
    "none_up_to": Entry("none up to {most:number}"),
    "no_size_does": Entry("no size that was tried does"),
    # Remarks.
    "why_no_more": Entry("Why no more is shown: {reason}."),
    "claim_p_value": Entry("The p-value of the claim is {p:most_figure}."),
    "size_would_refute": Entry(
        "If the truth is epsilon {true:number}, about {needed:count}[ canaries{canaries:said}]"
        "[ runs of each kind{canaries:unless}] would refute the claim in {power:percent} of audits "
        "({mechanism:capital} noise)."
    ),
    "no_size_would_refute": Entry("If the truth is epsilon {true:number}: no size settles it."),
    "to_certify": Entry(
        "To certify one: many runs with and without a record (`design` independent-runs), or one "
        "with canaries that coins include (`design` one-run)."
    ),
    "coins_seen": Entry(
        "Included: {included:count} of {canaries:count} canaries. [Fair coins{rate:unless}]"
        "[Coins of rate {rate:number}] stray so far or further with probability {p:most_figure}."
    ),
    # What the limits rest on.
    "runs_alike": Entry(
        "Each run of the mechanism is independent of the others and alike but for the record: "
        "trained anew or drawn anew, with it or without it."
    ),
    "attack_was_fixed": Entry("The attack was fixed before its guesses were counted."),
    "every_size": Entry("The limit holds at every sample size, whatever the mechanism."),
    "all_rows_judged": Entry(
        "All rows are judged, by attacks that were settled without a look at which rows have the "
        "record and that share the error; the limit holds at every sample size, whatever the "
        "mechanism."
    ),
    "taken_for_gaussian": Entry(
        "The mechanism is taken to be Gaussian (its best attacker's ROC that of mu-GDP for some "
        "mu). Where it is not, the limit may exceed the truth."
    ),
    "neighbours_of_runs": Entry(
        "With the record against without it measures epsilon by adding or removing a record; one "
        "record against another in its place measures it by substitution. Nothing is converted, so "
        "compare only with a claim about the same neighbours."
    ),
    "neighbours_of_canaries": Entry(
        "Epsilon is that of adding or removing one canary. Nothing is converted, so compare only "
        "with a claim about the same neighbours."
    ),
    "coins_stated": Entry(
        _RUNS + "coin of the stated probability {rate:number}, independent of all else."
    ),
    "coins_fair": Entry(_RUNS + "fair " + _ALONE + " (`inclusion_rate` states another)."),
    "coins_unstated": Entry(
        _RUNS + _ALONE + ", with one probability for all. It was not stated: the limit holds for "
        "every probability that the number of canaries included does not speak against, at a "
        "fiftieth of the error (`inclusion_rate` states it)."
    ),
    "guesses_blind": Entry(
        "Guesses were settled without a look at the coins: how many in all, and by scores of the "
        "run's output alone."
    ),
    "one_model_certifies_nothing": Entry(
        "Nothing is certified. Members and holdout of one model share that model, and which record "
        "is a member was not decided by coins: the rows are no independent trials of a mechanism, "
        "and any other difference between the classes counts as leakage."
    ),
    "as_if_trials": Entry(
        "The figures would hold if each row were an independent trial. Take them as a way to say "
        "how well members can be told apart, in units of epsilon."
    ),
}

ENTRIES: Final = BOUNDS | EPSILON
