"""What a report on bounds answers and remarks."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_ANY_OF_THESE: Final = "{value:number} or below, any of these does:"
_FOR: Final = " for a sensitivity of {sensitivity:number}"
_NOISE: Final = "Gaussian noise of standard deviation {noise_sd:number}"

ENTRIES: Final = {
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
