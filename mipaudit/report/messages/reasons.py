"""Why a figure, or a limit of it, is not there."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

ENTRIES: Final = {
    "lower_of_any": Entry("the lower limit stands in the row of any attacker"),
    "upper_of_classes": Entry(
        "a continuous score has no upper limit for all attackers; see the classes of attackers"
    ),
    "upper_of_vector_classes": Entry(
        "a score of several continuous numbers has no upper limit for all attackers; see the "
        "classes of attackers"
    ),
    "upper_of_record_classes": Entry(
        "no upper limit holds for every attacker who sees a whole record; see the classes of "
        "attackers"
    ),
    "upper_needs_any": Entry("an upper limit would need one for all attackers"),
    "same_data": Entry("only the same-data optimum is known; it is biased upward (plugin)"),
    "few_to_cut": Entry("too few rows in the burn-in to cut 16 bins"),
    "few_rows": Entry("too few rows"),
    "few_holdout": Entry(
        "not estimable: {holdout:count} holdout records count, {needed:count} are needed at this "
        "FPR and confidence"
    ),
    "few_for_combinations": Entry(
        "the rows are too few for their combinations of values to give a limit"
    ),
    # Of a lower limit that is there.
    "lower_without_score": Entry("not in the report: what everybody has without the score"),
    "lower_of_tpr": Entry("not in the report: it follows from the TPR at the largest FPR there"),
    # A limit of these says nothing: it would be as large as the quantity can be.
    "vacuous_tpr": Entry("vacuous: the holdout is too small for a limit below 1"),
    "vacuous_metric": Entry(
        "vacuous: the data allow no limit below the largest value that there is; with a floor, a "
        "larger one may"
    ),
    "p_value_without_limits": Entry(
        "a p-value has no limits; a verdict rests on it only if a policy asks"
    ),
    "many_to_count": Entry("counted up to {rows:count} rows"),
    "nobody_guessed": Entry("0/0 on this part: nobody was guessed to be a member"),
    "noise_only_lowers": Entry("noise can only lower the advantage: see the attackers 'any'"),
    "no_spread": Entry("the burn-in scores have no spread, or the score has no order"),
    "nothing_learned": Entry(
        "no column differs between the rows of the burn-in: nothing could be learned"
    ),
}
