"""What ``noise`` says, and findings of noise, runs and canaries."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import entries

# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "OF_MOVE": "-> is chosen: of the allowed noises, it changes the release least (total error). A "
    "figure called h says how much of a change of the release can be seen in spite of the noise "
    "(mipaudit help methods, sections 28.4 and 28.11). The scale of this noise is the smallest "
    "that keeps the mean of h at or below {at_most:most_figure}. For the mean, the {number} was "
    "taken, from {n_splits:count} ",
    "UNUSED": ". The moment is shown, but not used.",
    "OF_MOMENT": "-> is chosen: of the allowed noises, it changes the release least (total error). "
    "The chosen scale is {multiplier:most_figure} times a moment of the release. Of this moment, "
    "the {number} was taken, from {n_splits:count} ",
    "NOT_RUNS": "the rows are not independent runs and the limit is not valid: use `design`",
    "REFUTES": "Delta {delta:number} allows {given_away:number} of {canaries:count} canaries to be "
    "given away, so even if all {guesses:count} guesses are right, no epsilon is refuted: ",
    "SMALLER": ". Take a smaller `delta`, or another number of `guesses`.",
    "BEYOND": "The release lies beyond all {splits:number} results on random parts of the records "
    "(splits){far:text}",
    "MORE": ". Another result of the same algorithm would be as unlike the others with probability "
    "at most 2 in {tables:number}. Compare the units, the order of the columns and the algorithm: "
    "the noise was measured on the splits, and promises nothing for another release. If the "
    "release is right, add splits made like it, or give `release_unlike_splits` accept.",
}

# What a report on noise answers and remarks.
NOISE: Final = {
    "noise_not_needed": "This promise is so weak that every release keeps it: no noise is needed.",
    "noise_for_any_data": "{mechanism:capital} noise of scale {multiplier:multiple} x {of} keeps "
    "eta = {eta:number} for any data. Less may be enough: make the release again from random "
    "halves of your data, and give mipaudit these results (mipaudit help mip-noise).",
    "noise_of_splits": "{mechanism:capital} noise keeps eta = {eta:number}. The full report says "
    "how much noise each released number gets (shape {shape}, scale {scale:most_figure}, "
    "calibration {calibration}: mipaudit help mip-noise).",
    "no_noise_keeps": "No way of computing the noise from these splits keeps the promise.",
    "every_record": "any record",
    "tested_records": "any record that is exchanged in your pairs of releases",
    "average_record": "a record picked at random",
    # What must be known for a calibration.
    "needs_paper": "{of}: how far releases from random halves of the records vary: the k-th root "
    "of their k-th central moment (for k = 2, the root mean square distance from their mean).",
    "needs_moment": "{of}: the mean distance of the release from a fixed point, such as its mean, "
    "over random training sets; sigma_2, sigma_3, ... may be used instead: none is smaller.",
    "needs_swap": "{of}: how far the release moves on average when one record is exchanged for "
    "others; take the record with the largest average: then every record is protected.",
    "needs_dp": "{of}: the most that exchanging one record can move the release, for any data.",
    # What the scale of the chosen noise rests on.
    "scale_of_move": "{OF_MOVE}of the splits{UNUSED}",
    "scale_of_swap_move": "{OF_MOVE}swap pairs{UNUSED}",
    "scale_of_moment": "{OF_MOMENT}of the splits.",
    "scale_of_swap_moment": "{OF_MOMENT}swap pairs.",
    "number_finite-sample": "upper limit (any sample size, {confidence:sure} confidence)",
    "number_approximate": "upper limit (approximate, {confidence:sure} confidence)",
    "number_not-an-interval": "best estimate (no limits could be computed)",
    "number_value": "best estimate",
    # What was done to a release.
    "nothing_added": "Nothing was added to the {numbers:count} released {numbers:number|numbers}.",
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
    "inclusion_not_fair.half": "! With fair coins, a number of included canaries as unusual as "
    "this one has probability {p_value:chance}, so no limit is proved. If independent coins with "
    "another probability were tossed, state that probability with `inclusion_rate`.",
    "inclusion_not_fair.rate": "! With the stated rate {rate:number}, a number of included "
    "canaries as unusual as this one has probability {p_value:chance}, so no limit is proved.",
    "inclusion_exactly_half": "Exactly half of the canaries were included, which fair coins do "
    "with probability {chance:two_digits}. If the half was fixed, the coins were not independent: "
    "guesses about some canaries then say something about others, and the limit is not valid.",
    "nothing_can_be_refuted.by_few": "{REFUTES}at least {least:count} guesses that all say the "
    "same ('in' or 'out') and are all correct would be needed{SMALLER}",
    "nothing_can_be_refuted.by_any": "{REFUTES}no number of guesses is enough{SMALLER}",
    # The splits and pairs that noise is measured on.
    "few_splits": "Few splits ({splits:number}): the limits of the moments are unreliable.",
    "constant_coordinates.splits": "{constant:number} of {width:number} numbers of the release "
    "{constant:is|are} the same in all {splits:number} splits. How they could vary is unknown; if "
    "each number gets noise of its own size, these get noise, too: its size follows from the "
    "others' median spread.",
    "fewer_splits_than_coordinates": "Fewer splits ({splits:number}) than released numbers "
    "({width:number}): noise following how numbers vary together (full covariance) is not tried.",
    "full_shape_needs_splits": "Noise that follows how the released numbers vary together (full "
    "covariance) needs {needed:number} splits. Given: {splits:number}.",
    "shapes_need_splits": "Noise with a size of its own for each released number needs "
    "{needed:number} splits. Given: {splits:number}.",
    "repeated_splits": "! {repeated:number} of {splits:number} splits {repeated:repeats|repeat} an "
    "earlier split. With few records this can be chance; if rows were copied, the splits are not "
    "independent and no limit holds.",
    "direct_needs_splits": "In strict mode, the way of computing the noise named 'direct' needs "
    "{needed:number} splits for this eta. Given: {splits:number}.",
    "pairs_do_not_differ": "The two sides of every pair are equal: they say nothing about noise.",
    "records_not_named": "! The pairs do not name their records: noise computed from swaps "
    "protects the average record only, and only if every pair's record was newly drawn at random.",
    "tested_records_only": "Noise computed from swaps protects only the records that are exchanged "
    "in the pairs ({records:number}), no others; it is chosen only with `protect` tested-records.",
    "few_pairs_of_a_record": "At least one record has fewer than {fewest:number} pairs: no limits "
    "of the largest swap distance could be computed, and its best estimate is used as the scale.",
    "no_noise_needed": "Any release keeps this promise without noise: eta is at least the share of "
    "records in the training set or the share outside it, whichever is smaller.",
    "paper_needs_half": "The calibration 'paper' is for training sets of half of the records.",
    # A release beside its splits.
    "release_among_splits": "! The release is row {rows:text} of the splits, number for number. If "
    "the release is one of the splits, its training set is not independent of those of the splits: "
    "leave that row out and calibrate again. Releases of few values can be equal by chance.",
    "release_beyond_splits.far": "! {BEYOND}{MORE}",
    "release_beyond_splits.odd": "! {BEYOND}; all splits agree{odd:text}, and the release does "
    "not{MORE}",
    # Attacks that papers describe.
    "no_loss_bound": "Yeom's bounded-loss attack and limits of the generalization gap need "
    "`loss_bound` B: the largest loss that is possible, known before the audit.",
    "loss_clipped": "Column {column:quoted}: {losses:count} {losses:loss|losses} outside 0 to "
    "`loss_bound` {losses:was|were} set to the nearer end for the bounded-loss attack and the gap.",
    "bound_of_these_rows": "Column {column:quoted}: the bound equals the largest loss in the file, "
    "which few records have. If the bound was taken from the file, limits of the bounded-loss "
    "attack and of the gap are not valid.",
    "side_found_high": "The attacks take high values of column {column:quoted} as a sign of "
    "members. So its gap in the full report is the members' mean minus that of the holdout. If it "
    "is a loss, low values should point to members, though members have the larger ones here: "
    "state `member_side` low.",
    "residuals_doubtful.never_negative": "Column {column:quoted} is never negative: are these "
    "residuals (label minus prediction), or losses?",
    "residuals_doubtful.as_it_is": "Column {column:quoted} is named like a residual, but the "
    "attacks use its values with their sign: with `residuals` they ignore the sign.",
    "groups_merged.classes": "{groups:number} {groups:label class|label classes} with few records "
    "{groups:is|are} shown together as 'other'.",
    "groups_left_out.classes": "{groups:number} {groups:label class|label classes} with few "
    "records {groups:is|are} not shown separately.",
}

ENTRIES: Final = entries(NOISE | FOUND_IN_RUNS, _PHRASES)
