"""What is said of promises of differential privacy: ``bounds`` and ``epsilon``."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Texts, entries

# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "ANY_KEEPS": "In the row that fits your guarantee, each number alone keeps",
    "ANY_OF_THESE": "at or below {value:number}:",
    "FOR": " for a sensitivity of {sensitivity:number}",
    "NOISE": "Gaussian noise of standard deviation {noise_sd:number}",
    "BESIDE": "[; records appear in the release unchanged{copies:said}][; columns that may be "
    "scores were left out{left_out:said}]: {reason}.[ {limit}]",
    "NEITHER": " No promise was given, so this page neither confirms nor refutes one.",
    "RIGHT": "{right:count} of {guesses:count} guesses",
    "SIDE": " right[; members score {direction}]",
    "ALONE": "coin, independent of everything else",
    "RUNS": "[The {runs:count} runs use one mechanism and, apart from the canaries, the same data, "
    "and their number was fixed beforehand. ]Each canary was included in[ the one "
    "run{runs:unless}][ each run, anew,{runs:said}] by its own ",
}

# What a report on bounds answers and remarks.
BOUNDS: Final[Texts] = {
    # What a guarantee allows.
    "promise_allows": "No attacker exceeds a membership advantage of {upper:most_figure}[ "
    "({reading}) or {other:most_figure} ({other_reading})] at prior {prior:number}.",
    "success_allowed": "Suppose that an attacker guesses something about a person[ (which of "
    "{alike:count} equally likely diagnoses the person has, for example)] and is right in "
    "{baseline:percent} of cases from a release in which the person's record is replaced by "
    "another[ or left out{absent:said}]. Then the attacker is right in at most "
    "{upper:most_figure}%[ ({reading}) or {other:most_figure}% ({other_reading})] of cases from "
    "the release with the person's record.",
    "right_at_most": "While the promise is kept, nobody who guesses whose records were used is "
    "right more than {upper:right_most}[ ({reading}) or {other:right_most} ({other_reading})] "
    "times in 100 ({prior:compared}). Nothing was measured: this is what a promise allows, not "
    "what a release does.",
    "success_of_one_step": "Under a guarantee about adding or removing a record, the first of the "
    "two figures is the limit where the person's record is left out and no other takes its place.",
    "bounds_as_tight": "Formulas that give the same figures (mipaudit help guarantees): "
    "{names:names}.",
    "release_not_seen": "The release was not examined: this holds if the guarantee holds.",
    # How a guarantee is read.
    "one_exchanged": "one record exchanged",
    "added_or_removed": "added or removed",
    "present_or_absent": "present or absent",
    # What was promised.
    "promised_approximate_dp": "({epsilon:number}, {delta:number})-differential privacy",
    "promised_gaussian_dp": "{mu:number}-Gaussian differential privacy",
    "promised_zero_concentrated_dp": "{rho:number}-zero-concentrated differential privacy",
    "promised_renyi_dp": "Renyi differential privacy at {orders:number} orders",
    "promised_tuned_runs": "the best of {best_of:number} tuned runs",
    "promised_gaussian_noise": "{NOISE}{FOR}",
    "promised_laplace_noise": "Laplace noise of scale {scale:number}{FOR}",
    "promised_geometric_noise": "two-sided geometric noise of scale {geometric_scale:number}{FOR}",
    "promised_randomized_response": "randomized response, true with probability {truth:number}, "
    "among {categories:number} answers",
    "promised_dp_sgd": "DP-SGD with noise multiplier {noise_multiplier:number}, sampling rate "
    "{q:number}, {steps:number} steps",
    "promised_composition": "a composition of {parts:number} kinds of releases",
    "promised_counting_queries": "{queries:number} averages over {records:number} records, each "
    "with {NOISE}",
    "unbounded_at_delta": "no epsilon holds at this delta",
    # The figures of what it allows.
    "figure_advantage": "advantage at prior {prior:number}",
    "figure_excess": "  above blind guessing's {baseline:number}",
    "figure_accuracy": "accuracy",
    "figure_eta": "eta (accuracy above guessing)",
    "figure_tpr": "TPR at FPR {fpr:percent}",
    "figure_success": "right guesses ({baseline:percent} without the record)",
    "figure_precision": "precision (PPV) at recall {recall:percent} or more",
    "figure_certainty": "certainty about one record (1: no limit)",
    "figure_divergence": "{order:number}",
    # What a target needs.
    "keeps_quantity": "{ANY_KEEPS} {quantity} (prior {prior:number}) {ANY_OF_THESE}",
    "keeps_tpr_at_fpr": "{ANY_KEEPS} the TPR at FPR {fpr:percent} {ANY_OF_THESE}",
    "keeps_success": "Without the record, an attacker is right in {baseline:percent} of cases. "
    "{ANY_KEEPS} this share at or below {value:percent} with the record:",
    "keeps_delta": "Each of these gives ({epsilon:number}, {value:number})-differential privacy:",
    "delta_allows_more": "delta alone allows more than the target",
    "any_attacker_allowed": "the target is so weak that no attacker exceeds it",
    "no_noise_hides": "no noise can hide a record that well",
    # What an attack rules out.
    "rules_out": "An attack with TPR {tpr:number} at FPR {fpr:number} rules out every epsilon[ "
    "below {epsilon:figure}] at delta {delta:number}, and every mu[ below {mu:figure}] of Gaussian "
    "differential privacy, if these are its true rates.[ No finite value is consistent with such "
    "rates{perfect:said}.]",
    "rules_out.line": "An attack with TPR {tpr:number} at FPR {fpr:number} rules out every "
    "epsilon[ below {epsilon:figure}] at delta {delta:number}, if these are its true rates.",
    "one_sided": "one-sided",
    "perfect_not_excluded": "the counts do not exclude a perfect attack",
}

# What an audit of epsilon answers and remarks.
EPSILON: Final[Texts] = {
    "claim_refuted": "- CLAIM REFUTED{BESIDE}",
    "claim_refuted.line": "CLAIM REFUTED: {reason}[. {limit}]",
    "claim_not_refuted.line": "CLAIM NOT REFUTED, not verified: {reason}[. {limit}]",
    "not_as_claimed.line": "not {claimed}[, {worth}]",
    "nothing_against_claim.line": "{claimed}",
    "one_model_tests_nothing.line": "one model neither refutes nor verifies {claimed}",
    "coins_test_nothing.line": "without fair coins, the run neither refutes nor verifies {claimed}",
    "claimed_epsilon.line": "({epsilon:number}, {delta:number})-DP",
    "claimed_mu.line": "{mu:number}-GDP",
    "claim_not_refuted": "CLAIM NOT REFUTED{BESIDE}",
    "claim_not_certifiable": "? NOTHING PROVED{BESIDE}",
    "epsilon_limited": "{limit} No claim was given: no verdict.",
    # What became of the claim.
    "not_as_claimed": "[{worth}, then ]with {confidence:percent} confidence this mechanism is not "
    "{claimed}",
    "nothing_against_claim": "the data do not contradict the claim that this mechanism is "
    "{claimed}; that does not verify the claim",
    "coins_test_nothing": "the canaries were not included by fair coins, so this run can neither "
    "refute nor verify that the mechanism is {claimed}",
    "one_model_tests_nothing": "members and holdout of one model can neither refute nor verify "
    "that its training is {claimed}",
    "claimed_epsilon": "({epsilon:number}, {delta:number})-differentially private",
    "claimed_mu": "{mu:number}-Gaussian differentially private",
    "claimed_curve": "within the claimed trade-off curve ({curve})",
    # The limit that decides, and what others rest on.
    "epsilons_refuted": "Every epsilon below {lower:figure} is refuted at delta {delta:number},[ "
    "{worth},] with {confidence:percent} confidence.",
    "epsilons_refuted_beside": "The method of the verdict refutes no epsilon at delta "
    "{delta:number}. Another method refutes every epsilon below {lower:figure}[, {worth}], if it "
    "alone was chosen beforehand.",
    "no_epsilon_refuted": "No epsilon is refuted at delta {delta:number}; that is no evidence of "
    "privacy.",
    "no_epsilon_certified": "No lower limit of epsilon is proved: members and holdout of one model "
    "are not independent trials.[ If each row were an independent trial, epsilon would be at least "
    "{lower:figure} at delta {delta:number}, from the advantage.]",
    "assumes-gdp": "if the noise is Gaussian",
    "if-exchangeable": "if each row were a trial",
    "if-fair-coins": "if coins were fair",
    "decides": "the verdict",
    "beside_it": "comparison",
    # The same for everybody.
    "promise_broken": "[{worth}, ]the promise that the mechanism is {claimed} is not kept "
    "({confidence:percent} confidence)",
    "promise_not_broken": "this test found nothing against the promise that the mechanism is "
    "{claimed}. That does not show that the promise is kept",
    "promise_not_tested": "nothing can be said about the promise: {reason}",
    "promise_would_break": "Any promised epsilon below {lower:figure} (delta {delta:number}) is "
    "refuted[, {worth}].{NEITHER}",
    "no_promise_would_break": "This test refutes no promise. That is no evidence of "
    "privacy.{NEITHER}",
    "one_model_breaks_none": "Records of one model cannot refute a promise: they are not repeated "
    "trials of the way the model was made.{NEITHER}",
    # What was judged.
    "one_run_seen": "[One run{runs:unless}][{runs:count} runs] with {canaries:count} canaries[ in "
    "all{runs:said}]",
    "one_model_seen": "{members:members} and {holdout:holdout} of one model",
    "runs_seen": "{members:count} independent {members:run|runs} with the record, {holdout:count} "
    "without",
    "guesses_of_member": "{RIGHT} 'the record was used' are{SIDE}",
    "guesses_of_holdout": "{RIGHT} 'the record was not used' are{SIDE}",
    "guesses_of_both": "{RIGHT} of both kinds (used, not used) are{SIDE}",
    "guesses_of_canaries": "{RIGHT} are right[; {guessed_in:count} say 'in'][; {guessed_out:count} "
    "say 'out'][; included canaries score {direction}][; best of {tried:count} ways to guess]",
    # Why a limit is 0, or there is none.
    "delta_allows": "delta allows this number of right guesses; at delta 0 it would refute every "
    "epsilon below {pure:figure}",
    "not_even_right_guesses": "at this delta nothing is refuted even if all guesses are right",
    "guesses_within_chance": "this number of right guesses can be chance",
    "difference_within_chance": "the difference that was found can be chance",
    "advantage_within_chance": "the advantage that was found can be chance",
    "no_difference_found": "no difference between members and holdout was found",
    "nothing_to_judge": "all scores are the same, or there are fewer than {fewest:count} runs",
    "no_attack": "all scores are the same, or there are too few runs",
    "gaussian_without_epsilon": "a Gaussian mechanism has no epsilon at delta 0",
    "none_up_to": "none up to {most:number}",
    "no_size_does": "no number that was tried is enough",
    # Remarks.
    "why_no_more": "The table's lower limit is not above 0, because {reason}.",
    "claim_p_value": "The p-value of the claim is {p:most_figure}: if the claim is true, a result "
    "at least as strong against it has at most this probability.",
    "size_would_refute": "For example, if the mechanism adds {mechanism:capital} noise and the "
    "true epsilon is {true:number}, about {needed:count}[ canaries{canaries:said}][ runs of each "
    "kind{canaries:unless}] would refute the claim in {power:percent} of audits.",
    "no_size_would_refute": "With {mechanism:capital} noise and a true epsilon of {true:number}, "
    "no number of runs or canaries that was tried settles the claim.",
    "to_certify": "To prove a lower limit, audit many runs with and without a record (`design` "
    "independent-runs), or one run with canaries, each included by a coin (`design` one-run).",
    "coins_seen": "{included:count} of {canaries:count} canaries were in the training data. With "
    "[fair coins{rate:unless}][coins of rate {rate:number}], the probability of a count this far "
    "from the expected one, or further, is {p:most_figure}.",
    # What the limits rest on.
    "runs_alike": "Each run of the mechanism is independent of the others and alike except for the "
    "record: trained anew or drawn anew, with the record or without it.",
    "attack_was_fixed": "The attack was fixed before its guesses were counted.",
    "every_size": "The limit holds at every sample size, whatever the mechanism.",
    "all_rows_judged": "All rows are judged, by attacks that were fixed without looking at which "
    "rows have the record. The chance of a wrong limit (100% minus the confidence) is divided "
    "among these attacks. The limit holds at every sample size, whatever the mechanism.",
    "taken_for_gaussian": "The mechanism is assumed to be Gaussian (the ROC of its best attacker "
    "is that of mu-GDP for some mu). Where it is not, the limit may exceed the truth.",
    "neighbours_of_runs": "Comparing runs with the record to runs without it measures epsilon for "
    "adding or removing a record; comparing runs with it to runs with another in its place, "
    "epsilon for replacing a record (substitution). Nothing is converted: compare only with a "
    "claim of that kind.",
    "neighbours_of_canaries": "This epsilon is about adding or removing one canary. Compare it "
    "only with a claim about adding or removing, not about replacing.",
    "coins_stated": "{RUNS}coin of rate {rate:number}, independent of everything else.",
    "coins_fair": "{RUNS}fair {ALONE} (`inclusion_rate` states another).",
    "coins_unstated": "{RUNS}{ALONE}, with one probability for all. You did not state that "
    "probability (`inclusion_rate`): the limit holds for every probability that fits the number of "
    "canaries included. A fiftieth of the chance of a wrong limit is spent on this, which lowers "
    "the limit a little.",
    "guesses_blind": "Nobody looked at the coins before the number of guesses was fixed, and "
    "guesses use only scores made from the run's output.",
    "one_model_certifies_nothing": "Nothing is proved. Members and holdout of one model share that "
    "model, and no coins decided which record is a member: the rows are no independent trials of a "
    "mechanism. Any other difference of members and holdout counts as leakage.",
    "as_if_trials": "The figures would hold if each row were an independent trial. Read them only "
    "as how well members can be told apart, in units of epsilon.",
}

ENTRIES: Final = entries(BOUNDS | EPSILON, _PHRASES)
