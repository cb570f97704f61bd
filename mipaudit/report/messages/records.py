"""What is said of records: ``records``, ``shift``, ``query``, and findings of theirs."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry, Texts, entries

_UNSHOWN: Final = "That a record is not shown to be exposed does not prove that it is not."
_BLIND_LIMIT: Final = (
    "A smaller difference may still be in an advantage that is measured on a model: mipaudit "
    "estimate --blind says what that leaves open."
)
# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "NO_VERDICT": " No limit was given: no verdict.",
    "BLIND": "[ (blind guessing: {baseline:best})]",
    "CELL": "[value{discrete:said}][cell{discrete:unless}] of the score that ",
    "ABOVE": "[, and no cell one above {upper:most}].{NO_VERDICT}",
    "LARGEST": " The largest risk is at most {upper:most}.{NO_VERDICT}",
    "GIVES": "[{cells:count} groups{several:said}][One group{several:unless}] of records with like "
    "scores ({members:count} members, {holdout:count} holdout records) "
    "[give{several:said}][gives{several:unless}] away that a record was ",
    "RIGHT": "[ in the one that tells most, of {first_members:count} members and "
    "{first_holdout:count} holdout records,{several:said}] that guess is right at least "
    "{lower:right_least} times in 100 ({prior:compared}).",
    "KNOWN": "the blind advantage is at least {lower:least}[, at most {upper:most} "
    "{against:class}].{NO_VERDICT}",
    "COUNTED": "What an audit of the release finds on these records may be this difference, in "
    "whole or in part",
    "GUESSES": "hoever sees a record, and nothing of the release, can guess which group it is "
    "from, and be right at least {lower:right_least} times in 100 ({prior:compared})",
    "COMPARED": " ({prior:compared})",
    "FEW": "{groups:number} groups have fewer than {least:number} members or holdout records",
    "SEARCHED": "{count:count} of {searched:count} holdout records ",
    "AMONG": "{SEARCHED}have a copy among the members ",
    "EXACT": "{SEARCHED}have an exact copy among the members.",
    "HIDES": " Where that is one and the same record, it is in both classes and hides a leak.",
    "WORD_FOR_WORD": "The synthetic table holds, word for word, {members:count} "
    "{members:member|members} and ",
    "OFTEN": ".{asked:| A distance does not say how often: ask share:1e-6 as well, and release "
    "none of them.}",
    "TAKEN": "{file:text}: the classes are, from 0 on, the columns {names:text}.",
}

# What an audit of single records answers and remarks.
RECORDS: Final[Texts] = {
    "records_exposed": Entry(
        "Records are exposed: the {CELL}tells most has a risk of at least "
        "{lower:least}{BLIND}{ABOVE}",
        mood="bad",
    ),
    "exposed_as_members_less": Entry(
        "Records are exposed: the {CELL}gives members away most has a risk of at least "
        "{of_members:least}, that which tells most one of at least {lower:least}{BLIND}{ABOVE}",
        mood="bad",
    ),
    "group_exposed": Entry(
        "Membership leaks in group {group:quoted}: an advantage of at least "
        "{lower:least}{BLIND}.{LARGEST}",
        mood="bad",
    ),
    "cells_listed": Entry("{listed}{LARGEST}", mood="bad"),
    "group_differs": Entry(
        "One attack does surely [better{better:said}][worse{better:unless}] in group "
        "{group:quoted} than in the rest.{LARGEST}",
        mood="bad",
    ),
    "no_record_exposed": Entry(
        "No record is shown to be exposed: the largest risk is at least {lower:least}{BLIND}, at "
        "most {upper:most}.{NO_VERDICT}",
        unsaid=_UNSHOWN,
    ),
    # The same as right guesses, for everybody.
    "right_records": "[{used}][{none}{used:unless}][ {unused}] No limit was set, so this page "
    "neither passes nor fails the release.",
    "member_given_away": "{GIVES}used:{RIGHT}",
    "holdout_given_away": "{GIVES}not used:{RIGHT}",
    "no_member_given_away": "No group of records with like scores is shown to give away that they "
    "were used.",
    "nobody_given_away": "No group of records with like scores is shown to give away whether they "
    "were used.",
    # Remarks.
    "risk_of_one_cell": "A risk is that of one cell, of all the largest, and no average over "
    "records as the advantage of mipaudit estimate is.",
    "in_listed_cells": "{members:count} members and {holdout:count} holdout records are in cells "
    "listed with a risk above {tau:number} (about {fdr:percent} of such cells may be listed "
    "wrongly).",
    "groups_better": "One attack does surely better than in the rest in: {groups:names}.",
    "groups_worse": "One attack does surely worse than in the rest in: {groups:names}.",
    "no_group_differs": "Of {groups:count} groups none is shown to differ from the rest.",
    "small_cells": "Cells of fewer than {least:count} records are not shown: {cells:count}.",
}

# What a report on the records alone answers and remarks, and why it left out a column.
SHIFT: Final[Texts] = {
    "records_told_apart": Entry(
        "Members and holdout can be told apart without the model: {KNOWN}", mood="bad"
    ),
    "columns_differ": Entry(
        "Single columns differ between members and holdout: {column:quoted} most "
        "surely.{NO_VERDICT}",
        mood="open",
        unsaid=_BLIND_LIMIT,
    ),
    "records_not_told_apart": Entry(
        "Members and holdout are not shown to differ: {KNOWN}", unsaid=_BLIND_LIMIT
    ),
    # The same as right guesses, for everybody.
    "right_told_apart_alone": "The two groups of records differ: w{GUESSES}. {COUNTED}.",
    "right_columns": "The two groups of records differ in {column:quoted}[ ({more:count} more "
    "tests show a difference)]. {COUNTED}.",
    "right_records_not_shown": "It is not shown that the two groups of records differ[. From what "
    "was learned of the columns, {most}{COMPARED}].",
    "right_records_above": "w{GUESSES}. {COUNTED}",
    "right_records_within": "from what was learned of the columns, {most}{COMPARED}",
    "right_records_open": "this test does not tell whether the groups are as alike as was asked",
    # Remarks.
    "may_explain_a_leak": "What a model seems to leak may be this difference alone: give this "
    "report to mipaudit estimate --blind, or draw members and holdout anew, at random from the "
    "same records.",
    "less_may_be_there": "A smaller difference than can be shown here may be there.",
    # Why a column was left out.
    "in_one_table": "in one of the two tables only",
    "not_asked_for": "not asked for",
    "ignored_as_asked": "ignored as asked",
    "says_membership": "says membership",
    "names_a_record": "a column that names a record",
    "not_comparable_values": "neither numbers, nor text, nor times",
    "without_values": "no value in any row",
    "another_in_every_row": "another value in every row: it names records",
    "numbers_apart": "another number in every row, of members and holdout in ranges of their own",
    "same_in_all_rows": "the same in all rows",
}

# What reports on queries answer and remark.
QUERY: Final[Texts] = {
    "no_copies": "No exact copies: none of {members:count} members and none of {holdout:count} "
    "holdout records stands in the synthetic table word for word, in all columns that were "
    "compared.",
    "copies_released": Entry(
        "Exact copies: {copied:count} of {members:count} members ({share:percent}) and "
        "{copied_holdout:count} of {holdout:count} holdout records ({share_holdout:percent}) stand "
        "in the synthetic table word for word, in all columns that were compared.",
        mood="bad",
    ),
    "scores_made": "{scores:count} {scores:score|scores} made of {members:count} members and "
    "{holdout:count} holdout records. How much they leak is not said yet.",
    "scores_alone": "These are scores, not an audit: how much they leak is not said yet.",
    "tables_read": "{members:count} members, {holdout:count} holdout records, {synthetic:count} "
    "synthetic records[, {reference:count} reference records]; {columns:count} "
    "{columns:column|columns} compared[; {skipped:count} not compared].",
    "metric_euclidean": "The distance is Euclidean: numbers by their scale, categories in one-hot "
    "columns.",
    "metric_gower": "The distance is Gower's: the mean over columns of differences by scale, and "
    "of mismatches.",
}

# What is to be known of records, of their groups, of tables, and of scores made of them.
FOUND_IN_RECORDS: Final[Texts] = {
    # Cells and groups of records.
    "one_cell": "All records fall into one cell: nothing tells them apart.",
    "cells_not_used": "The number of cells that was asked for is not used: each value of a "
    "discrete score that is frequent enough is a cell.",
    "uncounted_cells": "! {records:count} records are in cells without a counted record: nothing "
    "is known of their risk.",
    "groups_merged.groups": "{FEW}: taken together as 'other'.",
    "groups_left_out.groups": "! {FEW}, also together: their {records:count} records are in no "
    "group.",
    "groups_merged.values": "{groups:number} values with few records are shown together as "
    "'other'.",
    # Guesses of an attribute.
    "no_guess_matches": "! No guess is a value of the attribute: all are wrong. Are both columns "
    "written in the same words?",
    "attribute_missing": "{records:count} records have no attribute and are in no count.",
    "guess_missing": "Of {records:count} records nothing was guessed: that counts as wrong.",
    "attribute_shifted": "! {values:number} values of the attribute are not equally frequent among "
    "members and holdout records: the two classes differ in more than membership, and the "
    "membership advantage is partly that difference.",
    # Members and holdout, told apart without the model.
    "copies_sampled": "Copies were looked for of {searched:count} of {holdout:count} holdout "
    "records, a random sample.",
    "exact_copies.of_members": "! {EXACT}{HIDES}",
    "exact_copies.of_both": "! {EXACT} For comparison, {within:count} have another copy in the "
    "holdout itself.{HIDES}",
    "near_copies": "! {AMONG}that differs in one column only.",
    "rounded_copies": "! {AMONG}once numbers are rounded to 3 digits.",
    "shared_persons": "! {SEARCHED}are of a person who is among the members too: the model may "
    "know the person.",
    "telling_column": "! {columns:text}: one column alone tells nearly all members from holdout "
    "records. If it names or dates the record (an id, a row number, the day of an export), it says "
    "nothing of a person: leave it out with `ignore` {ignore:text} and run again. If it does say "
    "something, members and holdout are different people, and no audit on them can tell what a "
    "model leaks.",
    "many_texts": "! {columns:text}: most records have a text that was not looked at by itself; "
    "what was learned knows the {words:number} most frequent ones, and how frequent a text is. Who "
    "knows more of these texts may tell all records apart: `max_blind` cannot be met, and estimate "
    "--blind holds nothing against the model. Group them (regions for postcodes), or leave them "
    "out with `ignore` where they cannot differ, and run again.",
    "repeated_rows": "! {SEARCHED}have another copy in the holdout. Where these are rows of one "
    "person, rows are not independent and the lower limit can be too high: give `id_col`.",
    "constant_column.columns": "The same in all rows, and so left out: {columns:text}.",
    "rounded_numbers.columns": "Stored with fewer digits in some files than in others: "
    "{columns:text}. All were rounded alike, or the storage would tell records apart.",
    "parted_numbers": "! {columns:text}: record numbers without a gap, those of members all on one "
    "side of those of the holdout. They were not compared; whoever knows a record's number knows "
    "its class, and members and holdout may be an older and a newer part of the records.",
    "column_in_one_table": "! In one of the two tables only, and so not compared: {columns:text}.",
    "rows_of_a_person": "! {rows:count} rows are of a person with another row in the same class: "
    "one row for each person and class is kept.",
    "no_boosting": "Gradient boosting was not used: scikit-learn is not installed, the tables are "
    "too small, or logistic regression did clearly better.",
    # Scores that are made of released records.
    "exact_copies.released": "! {WORD_FOR_WORD}no holdout record{OFTEN}",
    "exact_copies.released_of_both": "! {WORD_FOR_WORD}{holdout:count} {holdout:holdout "
    "record|holdout records}: some copies may be chance{OFTEN}",
    "few_records.members": "! Only {rows:count} {rows:member|members}: limits will be wide.",
    "few_records.holdout": "! Only {rows:count} {rows:holdout record|holdout records}: limits will "
    "be wide.",
    "shared_records": "! Among the holdout records is a copy, in all columns that were compared, "
    "of {members:count} {members:member|members}: no query can tell those apart. Remove them from "
    "the holdout if they are the same people.",
    "reference_overlap": "! The reference table holds {members:count} {members:member|members} and "
    "{holdout:count} {holdout:holdout record|holdout records}. {names:text} learned from them that "
    "they are not synthetic, which is no leak of the release. Remove them from the reference if "
    "they are the same people.",
    "constant_column.scale": "Column {column:quoted} has one value alone where the scales come "
    "from; any other counts as a mismatch.",
    "unseen_words": "Column {column:quoted}: a word that the released tables lack stands in "
    "{members:count} {members:member|members} and {holdout:count} {holdout:holdout record|holdout "
    "records}. It differs from all others. If a table only spells it in another way, mend that: "
    "the scores would show the spelling.",
    "rounded_numbers.column": "Column {column:quoted} is stored with fewer digits in some of the "
    "tables: all were rounded alike, or the storage would tell records apart.",
    "many_words": "Column {column:quoted} has {words:count} different words: names or keys compare "
    "badly. Leave it out with `ignore` unless equal words are what leaks.",
    "radius_from_records": "The ball of {names:text} has radius {radius:number}: the median "
    "distance of all records scored, members and holdout alike. It ties the scores together a "
    "little, which the limits do not know; a radius that is given does not.",
    "constant_query": "The score {score:quoted} is the same for all records: it says nothing. Give "
    "a ball another radius.",
    # Scores that are made of a model's outputs.
    "rounded_outputs": "Outputs for members and for the holdout are stored in different precision: "
    "all were rounded alike, or the storage would tell records apart.",
    "unseen_classes": "Of the {classes:number} classes {unseen:count} are no record's label "
    "({of}): look whether every column is a class.",
    "look_like_probabilities": "! {file:text}: every number is from 0 to 1. If they are "
    "probabilities, give them with `probabilities`: as logits they make false scores.",
    "columns_taken.all": "{TAKEN}",
    "columns_taken.some": "{TAKEN} Passed over: {skipped:text}.",
    "labels_sorted": "! {file:text}: the labels are words. The classes of the outputs are taken to "
    "be in the order of the alphabet, as scikit-learn has them.",
    "counts_tell": "Members and holdout records have different numbers of shadow models that were "
    "trained with them, as where all models, the target among them, share out every record evenly. "
    "The numbers alone would tell who is a member. So every record is judged by the same: "
    "{inside:number} models with it and {outside:number} without it.",
    "offline_only": "Some record was in no training set, or in too few: there is no online score, "
    "which needs models trained with every record.",
    "few_models": "Some record has only {models:number} models of a kind: its own variance is "
    "hardly known, and `variance` fixed is likely to tell more.",
    "variance_floored": "{deviations:count} deviations of single records were raised to a "
    "thousandth of the pooled one.",
    "saturated": "{confidences:count} confidences are 0 or 1 up to rounding and count as that far "
    "away from it: phi made of logits would tell them apart.",
}

ENTRIES: Final = entries(RECORDS | SHIFT | QUERY | FOUND_IN_RECORDS, _PHRASES)
