"""What ``noise`` says, and findings of noise, runs and canaries."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry

_OF_MOVE: Final = (
    "-> is chosen: the least total error of those allowed. Its scale is the least at which the "
    "{number} of what the noise leaves to be seen of a move (the mean of h: mipaudit help methods, "
    "sections 28.4 and 28.11), from {n_splits:count} "
)
_AT_MOST: Final = ", is at most {at_most:most_figure}. Its moment is for information."
_OF_MOMENT: Final = (
    "-> is chosen: the least total error of those allowed. Its scale is {multiplier:most_figure} "
    "times the {number} of its moment, from {n_splits:count} "
)
_NOT_RUNS: Final = "this is no set of independent runs and the limit is not valid: use `design`"
_REFUTES: Final = (
    "Delta {delta:number} lets {given_away:number} of {canaries:count} canaries be given away, so "
    "not even {guesses:count} right guesses of {guesses:count} refute any epsilon at this "
    "confidence: "
)
_SMALLER: Final = ". Take a smaller `delta`, or another number of `guesses`."
_BEYOND: Final = "The release lies beyond all of its {splits:number} splits{far:text}"
_MORE: Final = (
    ". One more split of the same algorithm does so in at most 2 of {tables:number} tables. "
    "Compare units, the order of the columns and the algorithm: noise is made to measure of the "
    "splits, and for another release it promises nothing. If the release is right, add splits like "
    "it, or say `release_unlike_splits` accept."
)

# What a report on noise answers and remarks.
NOISE: Final = {
    "noise_not_needed": Entry("Every release keeps this promise: no noise is needed."),
    "noise_for_any_data": Entry(
        "{mechanism:capital} noise of scale {multiplier:multiple} x {of} keeps eta = "
        "{eta:number} for any data; less does if splits measure it."
    ),
    "noise_of_splits": Entry(
        "{mechanism:capital} noise of scale {scale:most_figure} keeps eta = {eta:number} "
        "({calibration}, {shape} shape)."
    ),
    "no_noise_keeps": Entry("No calibration of these splits keeps the promise."),
    "every_record": Entry("any record"),
    "tested_records": Entry("any of the records that the pairs exchange"),
    "average_record": Entry("a record picked at random"),
    # What must be known for a calibration.
    "needs_paper": Entry(
        "{of}: the k-th root of the k-th central moment of the release over random training sets, "
        "half of the records in each; for k = 2, its root mean square distance from its mean."
    ),
    "needs_moment": Entry(
        "{of}: the mean distance of the release from a fixed point, any point, over random "
        "training sets; sigma of a higher order is larger and serves as well."
    ),
    "needs_swap": Entry(
        "{of}: the mean distance that the release moves when one record is exchanged for another; "
        "the largest over records protects every record."
    ),
    "needs_dp": Entry(
        "{of}: the most that any exchange of one record can move the release, for any data."
    ),
    # What the scale of the chosen noise rests on.
    "scale_of_move": Entry(_OF_MOVE + "of the splits" + _AT_MOST),
    "scale_of_swap_move": Entry(_OF_MOVE + "swap pairs" + _AT_MOST),
    "scale_of_moment": Entry(_OF_MOMENT + "of the splits."),
    "scale_of_swap_moment": Entry(_OF_MOMENT + "swap pairs."),
    "number_finite-sample": Entry(
        "upper limit, which holds at every sample size at {confidence:sure} confidence,"
    ),
    "number_approximate": Entry(
        "upper limit, which is approximate at {confidence:sure} confidence,"
    ),
    "number_not-an-interval": Entry("best estimate, which has no limits,"),
    "number_value": Entry("best estimate"),
    # What was done to a release.
    "nothing_added": Entry(
        "Nothing was added to the {numbers:count} {numbers:number|numbers} of the release."
    ),
    "noise_added": Entry(
        "Noise was added to {numbers:count} {numbers:number|numbers}, with random numbers from the "
        "{entropy}. Rounding: {rounding:text}."
    ),
}

# What is to be known of an audit of epsilon, of noise, and of an attack that is named.
FOUND_IN_RUNS: Final = {
    # The design of an audit of epsilon.
    "design_doubtful.canaries": Entry(
        "The input has a column of canary ids. If its rows are canaries of one run, "
        + _NOT_RUNS
        + " one-run.",
        serious=True,
    ),
    "design_doubtful.records": Entry(
        "The input has a column of record ids. If its rows are records of one model, "
        + _NOT_RUNS
        + " one-model.",
        serious=True,
    ),
    "inclusion_not_fair.half": Entry(
        "Fair coins include so many or so few canaries with probability {p_value:chance}, so "
        "nothing is certified. If independent coins of another share did include them, state it "
        "with `inclusion_rate`.",
        serious=True,
    ),
    "inclusion_not_fair.rate": Entry(
        "Coins of the stated rate {rate:number} include so many or so few canaries with "
        "probability {p_value:chance}, so nothing is certified.",
        serious=True,
    ),
    "inclusion_exactly_half": Entry(
        "Exactly half of the canaries were included, which fair coins do with probability "
        "{chance:two_digits}. A half of fixed size is not independent coins: guessing some "
        "canaries then tells about the others, and the limit is not valid."
    ),
    "nothing_can_be_refuted.by_few": Entry(
        _REFUTES + "at least {least:count} guesses of one kind, all right, would do" + _SMALLER
    ),
    "nothing_can_be_refuted.by_any": Entry(_REFUTES + "no number of guesses does" + _SMALLER),
    # The splits and pairs that noise is measured on.
    "few_splits": Entry(
        "There are only {splits:number} splits: the limits of the moments are unreliable."
    ),
    "constant_coordinates.splits": Entry(
        "{constant:number} of {width:number} coordinates are the same in all {splits:number} "
        "splits. Nothing is known of how they could vary; shaped noise gives them a floor in the "
        "median unit of the others."
    ),
    "fewer_splits_than_coordinates": Entry(
        "There are {splits:number} splits of {width:number} coordinates: noise of full covariance "
        "is not considered."
    ),
    "full_shape_needs_splits": Entry(
        "Noise of full covariance needs {needed:number} splits; there are {splits:number}."
    ),
    "shapes_need_splits": Entry(
        "Noise that differs by coordinate needs {needed:number} splits; there are {splits:number}."
    ),
    "repeated_splits": Entry(
        "{repeated:number} of {splits:number} splits repeat an earlier one. Few records may "
        "explain it; if rows were copied, the splits are not independent and no limit holds.",
        serious=True,
    ),
    "direct_needs_splits": Entry(
        "The direct calibration needs {needed:number} splits for this eta in strict mode; there "
        "are {splits:number}."
    ),
    "pairs_do_not_differ": Entry(
        "The two sides of every pair are equal: they say nothing about noise."
    ),
    "records_not_named": Entry(
        "The pairs do not name their records: the swap calibration holds for the average record "
        "only, and only if the record of every pair was drawn at random, afresh for each.",
        serious=True,
    ),
    "tested_records_only": Entry(
        "The swap calibration speaks for the {records:number} records that the pairs exchange, not "
        "for others; it is chosen only with `protect` tested-records."
    ),
    "few_pairs_of_a_record": Entry(
        "A record has fewer than {fewest:number} pairs: the largest swap distance has no limits, "
        "and its estimate is the scale."
    ),
    "no_noise_needed": Entry(
        "Any release keeps this promise without noise: eta is at least the smaller of the "
        "fractions in and out of the training set."
    ),
    "paper_needs_half": Entry(
        "The published calibration is for training sets of half of the records."
    ),
    # A release beside its splits.
    "release_among_splits": Entry(
        "The release is row {rows:text} of the splits, number for number. If it is one of them, "
        "its training set is not independent of theirs: leave that row out and calibrate again. "
        "Releases of few values can be equal by chance.",
        serious=True,
    ),
    "release_beyond_splits.far": Entry(_BEYOND + _MORE, serious=True),
    "release_beyond_splits.odd": Entry(
        _BEYOND + "; all splits agree{odd:text}, and the release does not" + _MORE, serious=True
    ),
    # Attacks that papers describe.
    "no_loss_bound": Entry(
        "Yeom's bounded-loss adversary needs a bound of the loss that was known beforehand, and so "
        "do limits of the generalization gap: give `loss_bound` B."
    ),
    "loss_clipped": Entry(
        "Column {column:quoted}: {losses:count} losses are below 0 or above the bound and count as "
        "the bound that they pass. The bounded-loss adversary and the gap are those of the clipped "
        "loss."
    ),
    "bound_of_these_rows": Entry(
        "Column {column:quoted}: the bound is the largest loss of the file, which few records "
        "have. Was it taken from there? Limits of the bounded-loss adversary and of the gap then "
        "do not hold."
    ),
    "side_found_high": Entry(
        "Column {column:quoted} was found to be high for members, so its gap is that of the "
        "members less the holdout. If it is a loss, members have the larger one: `member_side` low "
        "says that it is a loss."
    ),
    "residuals_doubtful.never_negative": Entry(
        "Column {column:quoted} is never negative: are these residuals (label less prediction), or "
        "losses?"
    ),
    "residuals_doubtful.as_it_is": Entry(
        "Column {column:quoted} is called a residual and attacked as it is: with `residuals` its "
        "size is attacked."
    ),
    "groups_merged.classes": Entry(
        "{groups:number} classes with few records are shown together as 'other'."
    ),
    "groups_left_out.classes": Entry(
        "{groups:number} classes with few records are not shown by themselves."
    ),
}

ENTRIES: Final = NOISE | FOUND_IN_RUNS
