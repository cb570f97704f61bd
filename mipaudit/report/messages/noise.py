"""What a report on noise answers and remarks."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

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

ENTRIES: Final = {
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
