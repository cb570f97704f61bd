"""What is said of records: ``records``, ``shift``, ``query``, and findings of theirs."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry

_NO_VERDICT: Final = " No limit was given: no verdict."
_NEITHER: Final = " No limit was set, so this page neither passes nor fails the release."
_BLIND: Final = "[ (blind guessing: {baseline:best})]"
_CELL: Final = "[value{discrete:said}][cell{discrete:unless}] of the score that "
_ABOVE: Final = "[, and no cell one above {upper:most}]." + _NO_VERDICT
_LARGEST: Final = " The largest risk is at most {upper:most}." + _NO_VERDICT
_GIVES: Final = (
    "[{cells:count} groups{several:said}][One group{several:unless}] of records with like scores "
    "({members:count} members, {holdout:count} holdout records) [give{several:said}]"
    "[gives{several:unless}] away that a record was "
)
_RIGHT: Final = (
    "[ in the one that tells most, of {first_members:count} members and {first_holdout:count} "
    "holdout records,{several:said}] that guess is right at least {lower:right_least} times in 100 "
    "({prior:compared})."
)
_UNSHOWN: Final = "That a record is not shown to be exposed does not prove that it is not."
_KNOWN: Final = (
    "the blind advantage is at least {lower:least}[, at most {upper:most} {against:class}]."
    + _NO_VERDICT
)
_COUNTED: Final = (
    "What an audit of the release finds on these records may be this difference, in whole or in "
    "part"
)
_GUESSES: Final = (
    "hoever sees a record, and nothing of the release, can guess which group it is from, and be "
    "right at least {lower:right_least} times in 100 ({prior:compared})"
)
_BLIND_LIMIT: Final = (
    "A smaller difference may still be in an advantage that is measured on a model: mipaudit "
    "estimate --blind says what that leaves open."
)
_COMPARED: Final = " ({prior:compared})"
_FEW: Final = "{groups:number} groups have fewer than {least:number} members or holdout records"
_SEARCHED: Final = "{count:count} of {searched:count} holdout records "
_AMONG: Final = _SEARCHED + "have a copy among the members "
_EXACT: Final = _SEARCHED + "have an exact copy among the members."
_HIDES: Final = " Where that is one and the same record, it is in both classes and hides a leak."
_WORD_FOR_WORD: Final = (
    "The synthetic table holds, word for word, {members:count} {members:member|members} and "
)
_OFTEN: Final = (
    ".{asked:| A distance does not say how often: ask share:1e-6 as well, and release none of "
    "them.}"
)
_TAKEN: Final = "{file:text}: the classes are, from 0 on, the columns {names:text}."

# What an audit of single records answers and remarks.
RECORDS: Final = {
    "records_exposed": Entry(
        "Records are exposed: the "
        + _CELL
        + "tells most has a risk of at least {lower:least}"
        + _BLIND
        + _ABOVE,
        mood="bad",
    ),
    "exposed_as_members_less": Entry(
        "Records are exposed: the " + _CELL + "gives members away most has a risk of at least "
        "{of_members:least}, that which tells most one of at least {lower:least}" + _BLIND + _ABOVE,
        mood="bad",
    ),
    "group_exposed": Entry(
        "Membership leaks in group {group:quoted}: an advantage of at least {lower:least}"
        + _BLIND
        + "."
        + _LARGEST,
        mood="bad",
    ),
    "cells_listed": Entry("{listed}" + _LARGEST, mood="bad"),
    "group_differs": Entry(
        "One attack does surely [better{better:said}][worse{better:unless}] in group "
        "{group:quoted} than in the rest." + _LARGEST,
        mood="bad",
    ),
    "no_record_exposed": Entry(
        "No record is shown to be exposed: the largest risk is at least {lower:least}"
        + _BLIND
        + ", at most {upper:most}."
        + _NO_VERDICT,
        unsaid=_UNSHOWN,
    ),
    # The same as right guesses, for everybody.
    "right_records": Entry("[{used}][{none}{used:unless}][ {unused}]" + _NEITHER),
    "member_given_away": Entry(_GIVES + "used:" + _RIGHT),
    "holdout_given_away": Entry(_GIVES + "not used:" + _RIGHT),
    "no_member_given_away": Entry(
        "No group of records with like scores is shown to give away that they were used."
    ),
    "nobody_given_away": Entry(
        "No group of records with like scores is shown to give away whether they were used."
    ),
    # Remarks.
    "risk_of_one_cell": Entry(
        "A risk is that of one cell, of all the largest, and no average over records as the "
        "advantage of mipaudit estimate is."
    ),
    "in_listed_cells": Entry(
        "{members:count} members and {holdout:count} holdout records are in cells listed with a "
        "risk above {tau:number} (about {fdr:percent} of such cells may be listed wrongly)."
    ),
    "groups_better": Entry("One attack does surely better than in the rest in: {groups:names}."),
    "groups_worse": Entry("One attack does surely worse than in the rest in: {groups:names}."),
    "no_group_differs": Entry("Of {groups:count} groups none is shown to differ from the rest."),
    "small_cells": Entry("Cells of fewer than {least:count} records are not shown: {cells:count}."),
}

# What a report on the records alone answers and remarks, and why it left out a column.
SHIFT: Final = {
    "records_told_apart": Entry(
        "Members and holdout can be told apart without the model: " + _KNOWN, mood="bad"
    ),
    "columns_differ": Entry(
        "Single columns differ between members and holdout: {column:quoted} most surely."
        + _NO_VERDICT,
        mood="open",
        unsaid=_BLIND_LIMIT,
    ),
    "records_not_told_apart": Entry(
        "Members and holdout are not shown to differ: " + _KNOWN, unsaid=_BLIND_LIMIT
    ),
    # The same as right guesses, for everybody.
    "right_told_apart_alone": Entry(
        "The two groups of records differ: w" + _GUESSES + ". " + _COUNTED + "."
    ),
    "right_columns": Entry(
        "The two groups of records differ in {column:quoted}[ ({more:count} more tests show a "
        "difference)]. " + _COUNTED + "."
    ),
    "right_records_not_shown": Entry(
        "It is not shown that the two groups of records differ[. From what was learned of the "
        "columns, {most}" + _COMPARED + "]."
    ),
    "right_records_above": Entry("w" + _GUESSES + ". " + _COUNTED),
    "right_records_within": Entry("from what was learned of the columns, {most}" + _COMPARED),
    "right_records_open": Entry(
        "this test does not tell whether the groups are as alike as was asked"
    ),
    # Remarks.
    "may_explain_a_leak": Entry(
        "What a model seems to leak may be this difference alone: give this report to mipaudit "
        "estimate --blind, or draw members and holdout anew, at random from the same records."
    ),
    "less_may_be_there": Entry("A smaller difference than can be shown here may be there."),
    # Why a column was left out.
    "in_one_table": Entry("in one of the two tables only"),
    "not_asked_for": Entry("not asked for"),
    "ignored_as_asked": Entry("ignored as asked"),
    "says_membership": Entry("says membership"),
    "names_a_record": Entry("a column that names a record"),
    "not_comparable_values": Entry("neither numbers, nor text, nor times"),
    "without_values": Entry("no value in any row"),
    "another_in_every_row": Entry("another value in every row: it names records"),
    "numbers_apart": Entry(
        "another number in every row, of members and holdout in ranges of their own"
    ),
    "same_in_all_rows": Entry("the same in all rows"),
}

# What reports on queries answer and remark.
QUERY: Final = {
    "no_copies": Entry(
        "No exact copies: none of {members:count} members and none of {holdout:count} holdout "
        "records stands in the synthetic table word for word, in all columns that were compared."
    ),
    "copies_released": Entry(
        "Exact copies: {copied:count} of {members:count} members ({share:percent}) and "
        "{copied_holdout:count} of {holdout:count} holdout records ({share_holdout:percent}) stand "
        "in the synthetic table word for word, in all columns that were compared.",
        mood="bad",
    ),
    "scores_made": Entry(
        "{scores:count} {scores:score|scores} made of {members:count} members and {holdout:count} "
        "holdout records. How much they leak is not said yet."
    ),
    "scores_alone": Entry("These are scores, not an audit: how much they leak is not said yet."),
    "tables_read": Entry(
        "{members:count} members, {holdout:count} holdout records, {synthetic:count} synthetic "
        "records[, {reference:count} reference records]; {columns:count} {columns:column|columns} "
        "compared[; {skipped:count} not compared]."
    ),
    "metric_euclidean": Entry(
        "The distance is Euclidean: numbers by their scale, categories in one-hot columns."
    ),
    "metric_gower": Entry(
        "The distance is Gower's: the mean over columns of differences by scale, and of mismatches."
    ),
}

# What is to be known of records, of their groups, of tables, and of scores made of them.
FOUND_IN_RECORDS: Final = {
    # Cells and groups of records.
    "one_cell": Entry("All records fall into one cell: nothing tells them apart."),
    "cells_not_used": Entry(
        "The number of cells that was asked for is not used: each value of a discrete score that "
        "is frequent enough is a cell."
    ),
    "uncounted_cells": Entry(
        "{records:count} records are in cells without a counted record: nothing is known of their "
        "risk.",
        serious=True,
    ),
    "groups_merged.groups": Entry(_FEW + ": taken together as 'other'."),
    "groups_left_out.groups": Entry(
        _FEW + ", also together: their {records:count} records are in no group.", serious=True
    ),
    "groups_merged.values": Entry(
        "{groups:number} values with few records are shown together as 'other'."
    ),
    # Guesses of an attribute.
    "no_guess_matches": Entry(
        "No guess is a value of the attribute: all are wrong. Are both columns written in the same "
        "words?",
        serious=True,
    ),
    "attribute_missing": Entry("{records:count} records have no attribute and are in no count."),
    "guess_missing": Entry("Of {records:count} records nothing was guessed: that counts as wrong."),
    "attribute_shifted": Entry(
        "{values:number} values of the attribute are not equally frequent among members and "
        "holdout records: the two classes differ in more than membership, and the membership "
        "advantage is partly that difference.",
        serious=True,
    ),
    # Members and holdout, told apart without the model.
    "copies_sampled": Entry(
        "Copies were looked for of {searched:count} of {holdout:count} holdout records, a random "
        "sample."
    ),
    "exact_copies.of_members": Entry(_EXACT + _HIDES, serious=True),
    "exact_copies.of_both": Entry(
        _EXACT
        + " For comparison, {within:count} have another copy in the holdout itself."
        + _HIDES,
        serious=True,
    ),
    "near_copies": Entry(_AMONG + "that differs in one column only.", serious=True),
    "rounded_copies": Entry(_AMONG + "once numbers are rounded to 3 digits.", serious=True),
    "shared_persons": Entry(
        _SEARCHED + "are of a person who is among the members too: the model may know the person.",
        serious=True,
    ),
    "telling_column": Entry(
        "{columns:text}: one column alone tells nearly all members from holdout records. If it "
        "names or dates the record (an id, a row number, the day of an export), it says nothing of "
        "a person: leave it out with `ignore` {ignore:text} and run again. If it does say "
        "something, members and holdout are different people, and no audit on them can tell what a "
        "model leaks.",
        serious=True,
    ),
    "many_texts": Entry(
        "{columns:text}: most records have a text that was not looked at by itself; what was "
        "learned knows the {words:number} most frequent ones, and how frequent a text is. Who "
        "knows more of these texts may tell all records apart: `max_blind` cannot be met, and "
        "estimate --blind holds nothing against the model. Group them (regions for postcodes), or "
        "leave them out with `ignore` where they cannot differ, and run again.",
        serious=True,
    ),
    "repeated_rows": Entry(
        _SEARCHED + "have another copy in the holdout. Where these are rows of one person, rows "
        "are not independent and the lower limit can be too high: give `id_col`.",
        serious=True,
    ),
    "constant_column.columns": Entry("The same in all rows, and so left out: {columns:text}."),
    "rounded_numbers.columns": Entry(
        "Stored with fewer digits in some files than in others: {columns:text}. All were rounded "
        "alike, or the storage would tell records apart."
    ),
    "parted_numbers": Entry(
        "{columns:text}: record numbers without a gap, those of members all on one side of those "
        "of the holdout. They were not compared; whoever knows a record's number knows its class, "
        "and members and holdout may be an older and a newer part of the records.",
        serious=True,
    ),
    "column_in_one_table": Entry(
        "In one of the two tables only, and so not compared: {columns:text}.", serious=True
    ),
    "rows_of_a_person": Entry(
        "{rows:count} rows are of a person with another row in the same class: one row for each "
        "person and class is kept.",
        serious=True,
    ),
    "no_boosting": Entry(
        "Gradient boosting was not used: scikit-learn is not installed, the tables are too small, "
        "or logistic regression did clearly better."
    ),
    # Scores that are made of released records.
    "exact_copies.released": Entry(_WORD_FOR_WORD + "no holdout record" + _OFTEN, serious=True),
    "exact_copies.released_of_both": Entry(
        _WORD_FOR_WORD + "{holdout:count} {holdout:holdout record|holdout records}: some copies "
        "may be chance" + _OFTEN,
        serious=True,
    ),
    "few_records.members": Entry(
        "Only {rows:count} {rows:member|members}: limits will be wide.", serious=True
    ),
    "few_records.holdout": Entry(
        "Only {rows:count} {rows:holdout record|holdout records}: limits will be wide.",
        serious=True,
    ),
    "shared_records": Entry(
        "Among the holdout records is a copy, in all columns that were compared, of {members:count}"
        " {members:member|members}: no query can tell those apart. Remove them from the holdout if "
        "they are the same people.",
        serious=True,
    ),
    "reference_overlap": Entry(
        "The reference table holds {members:count} {members:member|members} and {holdout:count} "
        "{holdout:holdout record|holdout records}. {names:text} learned from them that they are "
        "not synthetic, which is no leak of the release. Remove them from the reference if they "
        "are the same people.",
        serious=True,
    ),
    "constant_column.scale": Entry(
        "Column {column:quoted} has one value alone where the scales come from; any other counts "
        "as a mismatch."
    ),
    "unseen_words": Entry(
        "Column {column:quoted}: a word that the released tables lack stands in {members:count} "
        "{members:member|members} and {holdout:count} {holdout:holdout record|holdout records}. It "
        "differs from all others. If a table only spells it in another way, mend that: the scores "
        "would show the spelling."
    ),
    "rounded_numbers.column": Entry(
        "Column {column:quoted} is stored with fewer digits in some of the tables: all were "
        "rounded alike, or the storage would tell records apart."
    ),
    "many_words": Entry(
        "Column {column:quoted} has {words:count} different words: names or keys compare badly. "
        "Leave it out with `ignore` unless equal words are what leaks."
    ),
    "radius_from_records": Entry(
        "The ball of {names:text} has radius {radius:number}: the median distance of all records "
        "scored, members and holdout alike. It ties the scores together a little, which the limits "
        "do not know; a radius that is given does not."
    ),
    "constant_query": Entry(
        "The score {score:quoted} is the same for all records: it says nothing. Give a ball "
        "another radius."
    ),
    # Scores that are made of a model's outputs.
    "rounded_outputs": Entry(
        "Outputs for members and for the holdout are stored in different precision: all were "
        "rounded alike, or the storage would tell records apart."
    ),
    "unseen_classes": Entry(
        "Of the {classes:number} classes {unseen:count} are no record's label ({of}): look whether "
        "every column is a class."
    ),
    "look_like_probabilities": Entry(
        "{file:text}: every number is from 0 to 1. If they are probabilities, give them with "
        "`probabilities`: as logits they make false scores.",
        serious=True,
    ),
    "columns_taken.all": Entry(_TAKEN),
    "columns_taken.some": Entry(_TAKEN + " Passed over: {skipped:text}."),
    "labels_sorted": Entry(
        "{file:text}: the labels are words. The classes of the outputs are taken to be in the "
        "order of the alphabet, as scikit-learn has them.",
        serious=True,
    ),
    "counts_tell": Entry(
        "Members and holdout records have different numbers of shadow models that were trained "
        "with them, as where all models, the target among them, share out every record evenly. The "
        "numbers alone would tell who is a member. So every record is judged by the same: "
        "{inside:number} models with it and {outside:number} without it."
    ),
    "offline_only": Entry(
        "Some record was in no training set, or in too few: there is no online score, which needs "
        "models trained with every record."
    ),
    "few_models": Entry(
        "Some record has only {models:number} models of a kind: its own variance is hardly known, "
        "and `variance` fixed is likely to tell more."
    ),
    "variance_floored": Entry(
        "{deviations:count} deviations of single records were raised to a thousandth of the pooled "
        "one."
    ),
    "saturated": Entry(
        "{confidences:count} confidences are 0 or 1 up to rounding and count as that far away from "
        "it: phi made of logits would tell them apart."
    ),
}

ENTRIES: Final = RECORDS | SHIFT | QUERY | FOUND_IN_RECORDS
