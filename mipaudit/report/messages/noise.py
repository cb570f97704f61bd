"""What ``noise`` says, and findings of noise, runs and canaries."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import entries

# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "OF_MOVE": "-> is chosen: the least total error of those allowed. Its scale is the least at "
    "which the {number} of what the noise leaves visible of a move (the mean of h: mipaudit help "
    "methods, sections 28.4 and 28.11), from {n_splits:count} ",
    "AT_MOST": ", is at most {at_most:most_figure}. Its moment is for information.",
    "OF_MOMENT": "-> is chosen: the least total error of those allowed. Its scale is "
    "{multiplier:most_figure} times the {number} of its moment, from {n_splits:count} ",
    "NOT_RUNS": "these are no independent runs and the limit is not valid: use `design`",
    "REFUTES": "Delta {delta:number} allows {given_away:number} of {canaries:count} canaries to be "
    "given away, so even if all {guesses:count} guesses are right, no epsilon is refuted at this "
    "confidence: ",
    "SMALLER": ". Take a smaller `delta`, or another number of `guesses`.",
    "BEYOND": "The release lies beyond all of its {splits:number} splits{far:text}",
    "MORE": ". One more split of the same algorithm lies there in at most 2 of {tables:number} "
    "tables. Compare the units, the order of the columns and the algorithm: the noise is measured "
    "on the splits, and for a different release it promises nothing. If the release is right, add "
    "splits like it, or give `release_unlike_splits` accept.",
}

# What a report on noise answers and remarks.
NOISE: Final = {
    "noise_not_needed": "This promise is so weak that every release keeps it: no noise is needed.",
    "noise_for_any_data": "{mechanism:capital} noise of scale {multiplier:multiple} x {of} keeps "
    "eta = {eta:number} for any data. Less may be enough: make the release again from random "
    "halves of your data, and give mipaudit these results (mipaudit help mip-noise).",
    "noise_of_splits": "{mechanism:capital} noise keeps eta = {eta:number}. The full report says "
    "how much noise each released number gets (shape {shape}, scale {scale:most_figure}, "
    "calibration {calibration}).",
    "no_noise_keeps": "No calibration of these splits keeps the promise.",
    "every_record": "any record",
    "tested_records": "any record that is exchanged in your pairs of releases",
    "average_record": "a record picked at random",
    # What must be known for a calibration.
    "needs_paper": "{of}: how far the release varies if random halves of the records are trained "
    "on: the k-th root of its k-th central moment; for k = 2, its root mean square distance from "
    "its mean.",
    "needs_moment": "{of}: the mean distance of the release from a fixed point, such as its mean, "
    "over random training sets; a sigma of higher order is never smaller, and will do as well.",
    "needs_swap": "{of}: the mean distance that the release moves when one record is exchanged for "
    "another; the largest over records protects every record.",
    "needs_dp": "{of}: the most that any exchange of one record can move the release, for any "
    "data.",
    # What the scale of the chosen noise rests on.
    "scale_of_move": "{OF_MOVE}of the splits{AT_MOST}",
    "scale_of_swap_move": "{OF_MOVE}swap pairs{AT_MOST}",
    "scale_of_moment": "{OF_MOMENT}of the splits.",
    "scale_of_swap_moment": "{OF_MOMENT}swap pairs.",
    "number_finite-sample": "upper limit, which holds at every sample size at {confidence:sure} "
    "confidence,",
    "number_approximate": "upper limit, which is approximate at {confidence:sure} confidence,",
    "number_not-an-interval": "best estimate, which has no limits,",
    "number_value": "best estimate",
    # What was done to a release.
    "nothing_added": "Nothing was added to the {numbers:count} {numbers:number|numbers} of the "
    "release.",
    "noise_added": "Noise was added to {numbers:count} {numbers:number|numbers}, with random "
    "numbers from the {entropy}. Rounding: {rounding:text}.",
}

# What is to be known of an audit of epsilon, of noise, and of an attack that is named.
FOUND_IN_RUNS: Final = {
    # The design of an audit of epsilon.
    "design_doubtful.canaries": "! The input has a column of canary ids. If its rows are canaries "
    "of one run, {NOT_RUNS} one-run.",
    "design_doubtful.records": "! The input has a column of record ids. If its rows are records of "
    "one model, {NOT_RUNS} one-model.",
    "inclusion_not_fair.half": "! Fair coins include so many or so few canaries with probability "
    "{p_value:chance}, so nothing is certified. If independent coins of another share did include "
    "them, state it with `inclusion_rate`.",
    "inclusion_not_fair.rate": "! Coins with the stated rate {rate:number} include so many or so "
    "few canaries with probability {p_value:chance}, so nothing is certified.",
    "inclusion_exactly_half": "Exactly half of the canaries were included, which happens with fair "
    "coins with probability {chance:two_digits}. A half of fixed size does not come from "
    "independent coins: guessing some canaries then says something about the others, and the limit "
    "is not valid.",
    "nothing_can_be_refuted.by_few": "{REFUTES}at least {least:count} guesses of one kind, all "
    "right, would be needed{SMALLER}",
    "nothing_can_be_refuted.by_any": "{REFUTES}no number of guesses is enough{SMALLER}",
    # The splits and pairs that noise is measured on.
    "few_splits": "Few splits ({splits:number}): the limits of the moments are unreliable.",
    "constant_coordinates.splits": "{constant:number} of {width:number} coordinates "
    "{constant:is|are} the same in all {splits:number} splits. Nothing is known about how they "
    "could vary; shaped noise gives them a floor in the median unit of the others.",
    "fewer_splits_than_coordinates": "Fewer splits ({splits:number}) than coordinates "
    "({width:number}): noise of full covariance is not considered.",
    "full_shape_needs_splits": "Noise of full covariance needs {needed:number} splits. Given: "
    "{splits:number}.",
    "shapes_need_splits": "Noise that differs by coordinate needs {needed:number} splits. Given: "
    "{splits:number}.",
    "repeated_splits": "! {repeated:number} of {splits:number} splits {repeated:repeats|repeat} an "
    "earlier split. A small number of records may explain this; if rows were copied, the splits "
    "are not independent and no limit holds.",
    "direct_needs_splits": "The direct calibration needs {needed:number} splits for this eta in "
    "strict mode. Given: {splits:number}.",
    "pairs_do_not_differ": "The two sides of every pair are equal: they say nothing about noise.",
    "records_not_named": "! The pairs do not name their records: the swap calibration holds for "
    "the average record only, and only if the record of every pair was drawn at random, afresh for "
    "each.",
    "tested_records_only": "The swap calibration covers only the records that are exchanged in the "
    "pairs ({records:number}), no others; it is chosen only with `protect` tested-records.",
    "few_pairs_of_a_record": "At least one record has fewer than {fewest:number} pairs: the "
    "largest swap distance has no limits, and its estimate is used as the scale.",
    "no_noise_needed": "Any release keeps this promise without noise: eta is at least the smaller "
    "of the fractions in and out of the training set.",
    "paper_needs_half": "The published calibration is for training sets of half of the records.",
    # A release beside its splits.
    "release_among_splits": "! The release is row {rows:text} of the splits, number for number. If "
    "it is one of them, its training set is not independent of theirs: leave that row out and "
    "calibrate again. Releases of few values can be equal by chance.",
    "release_beyond_splits.far": "! {BEYOND}{MORE}",
    "release_beyond_splits.odd": "! {BEYOND}; all splits agree{odd:text}, and the release does "
    "not{MORE}",
    # Attacks that papers describe.
    "no_loss_bound": "Yeom's bounded-loss attack and limits of the generalization gap need "
    "`loss_bound` B: the largest loss that is possible, known before the audit.",
    "loss_clipped": "Column {column:quoted}: {losses:count} {losses:loss|losses} below 0 or above "
    "`loss_bound` {losses:was|were} cut off there. The bounded-loss attack and the gap use these "
    "losses.",
    "bound_of_these_rows": "Column {column:quoted}: the bound equals the largest loss in the file, "
    "which few records have. If the bound was taken from there, limits of the bounded-loss "
    "adversary and of the gap do not hold.",
    "side_found_high": "The attacks take high values of column {column:quoted} as a sign of "
    "members, so its gap is the members' mean minus that of the holdout (of a loss, the reverse). "
    "If the column is a loss, members have the larger loss here: state with `member_side` low that "
    "it is a loss.",
    "residuals_doubtful.never_negative": "Column {column:quoted} is never negative: are these "
    "residuals (label less prediction), or losses?",
    "residuals_doubtful.as_it_is": "Column {column:quoted} is named like a residual but attacked "
    "as it stands: with `residuals` its size is attacked.",
    "groups_merged.classes": "{groups:number} {groups:class|classes} with few records "
    "{groups:is|are} shown together as 'other'.",
    "groups_left_out.classes": "{groups:number} {groups:class|classes} with few records "
    "{groups:is|are} not shown separately.",
}

ENTRIES: Final = entries(NOISE | FOUND_IN_RUNS, _PHRASES)
