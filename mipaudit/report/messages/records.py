"""What is said of records: ``records``, ``shift``, ``query``, and findings of theirs."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry, Texts, entries

_UNSHOWN: Final = "A record that is not shown to be exposed may still be exposed."
_BLIND_LIMIT: Final = (
    "Even a small difference may explain part of an advantage that is measured on a model: "
    "mipaudit estimate --blind shows how much of the advantage such a difference cannot explain."
)
# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "NO_VERDICT": " No limit on this was given: no verdict.",
    "BLIND": "[ (blind guessing: {baseline:best})]",
    "CELL": "score [value{discrete:said}][range{discrete:unless}]",
    "SCALE": " (0: even chances, 1: certain[; blind guessing: {baseline:best}])",
    "ABOVE": "[. In every score range, the average risk is at most {upper:most}].{NO_VERDICT}",
    "GIVEN": "[{used}][{none}{used:unless}][ {unused}]",
    "RIGHT": " [in the clearest of {cells:count} groups{several:said}][in a group{several:unless}] "
    "of records with similar scores ({first_members:members}, {first_holdout:holdout}), saying so "
    "is right at least {lower:right_least} times in 100 ({prior:compared}).[ The {cells:count} "
    "groups have {members:members} and {holdout:holdout} in all.{several:said}]",
    "KNOWN": "the blind advantage is at least {lower:least}[, at most {upper:most} "
    "{against:class}].{NO_VERDICT}",
    "BLIND_KNOWN": "blind advantage at least {lower:least}[, at most {upper:most} "
    "({against:attackers})].{NO_VERDICT}",
    "COUNTED": "What an audit of the release finds on these records may be this difference, in "
    "whole or part",
    "GUESSES": "n attacker who sees a record, and nothing of the release, can guess which group it "
    "is from and be right at least {lower:right_least} times in 100 ({prior:compared})",
    "COMPARED": " ({prior:compared})",
    "FEW": "{groups:number} {groups:group has|groups have} fewer than {least:number} members or "
    "holdout records",
    "SEARCHED": "{count:count} of {searched:count} holdout records ",
    "AMONG": "{SEARCHED}{count:has|have} a copy among the members ",
    "EXACT": "{SEARCHED}{count:has|have} an exact copy among the members.",
    "HIDES": " If a copy is the same person, not another person with equal values, that person is "
    "both member and holdout record, which hides a leak.",
    "UNCHANGED": " appear in the synthetic table unchanged",
    "OFTEN": ".{asked:| A distance does not show how often a record is copied: run the query "
    "share:1e-6 as well, and leave copies out of the release.}",
    "TAKEN": "{file:text}: columns are taken as class 0, 1, 2, ... in this order: {names:text}.",
}

# What an audit of single records answers and remarks.
RECORDS: Final[Texts] = {
    "records_exposed": "- Some records are exposed, as members or as holdout: the risk is at least "
    "{lower:least} in the riskiest {CELL}{SCALE}{ABOVE}",
    "exposed_as_members_less": "- Some records are exposed: the risk is at least "
    "{of_members:least} in the {CELL} that gives members away most, and at least {lower:least} in "
    "the one that gives holdout records away most{SCALE}{ABOVE}",
    "group_exposed": "- Membership leaks in group {group:quoted}: an advantage of at least "
    "{lower:least}{BLIND}{ABOVE}",
    "cells_listed": "- {listed} In every score range, the average risk is at most "
    "{upper:most}.{NO_VERDICT}",
    "group_differs": "- The same attack works surely [better{better:said}][worse{better:unless}] "
    "in group {group:quoted} than in the rest{ABOVE}",
    "no_record_exposed": Entry(
        "No record is shown to be exposed: the risk of the riskiest score range is at least "
        "{lower:least}{BLIND}, at most {upper:most}.{NO_VERDICT}",
        unsaid=_UNSHOWN,
    ),
    # The same as right guesses, for everybody.
    "right_records": "{GIVEN} No limit was set, so this page neither passes nor fails the release.",
    "right_records_judged": "{GIVEN}",
    "member_given_away": "Some records can be recognised as used:{RIGHT}",
    "holdout_given_away": "Some records can be recognised as not used:{RIGHT}",
    "no_member_given_away": "No group of records with similar scores is shown to give away that "
    "its records were used.",
    "nobody_given_away": "No group of records with similar scores is shown to give away whether "
    "its records were used.",
    # Remarks.
    "risk_of_one_cell": "The risk in the first sentence is that of the riskiest score range. "
    "mipaudit estimate shows an average over all records instead. An attacker "
    "would be wrong about a member in a cell that points to holdout, and "
    "about a holdout record in a cell that points to member.",
    "in_listed_cells": "A test finds a risk above {tau:number} in score ranges that together hold "
    "{members:members} and {holdout:holdout}. On average, at most {fdr:percent} of the ranges that "
    "the test finds are found by mistake.",
    "groups_better": "In these groups the same attack works surely better than in the rest: "
    "{groups:names}.",
    "groups_worse": "In these groups the same attack works surely worse than in the rest: "
    "{groups:names}.",
    "no_group_differs": "No group, of {groups:count}, is shown to differ from the rest.",
    "small_cells": "Not shown: {cells:count} score {cells:range|ranges} with <{least:count} "
    "records.",
}

# What a report on the records alone answers and remarks, and why it left out a column.
SHIFT: Final[Texts] = {
    "records_told_apart": "- Members and holdout can be told apart without the model: {KNOWN}",
    "records_told_apart.line": "Members and holdout differ: {BLIND_KNOWN}",
    "records_not_told_apart.line": "Members and holdout are not shown to differ: {BLIND_KNOWN}",
    "columns_differ": Entry(
        "? Single columns differ between members and holdout: {column:quoted} most "
        "clearly.{NO_VERDICT}",
        unsaid=_BLIND_LIMIT,
    ),
    "records_not_told_apart": Entry(
        "Members and holdout are not shown to differ: {KNOWN}", unsaid=_BLIND_LIMIT
    ),
    # The same as right guesses, for everybody.
    "right_told_apart_alone": "The two groups of records differ: a{GUESSES}. {COUNTED}.",
    "right_columns": "The two groups of records differ in {column:quoted}[ ({more:count} more "
    "{more:test shows|tests show} a difference)]. {COUNTED}.",
    "right_records_not_shown": "The two groups of records are not shown to differ[. From what was "
    "learned about the columns, {most}{COMPARED}].",
    "right_records_above": "a{GUESSES}. {COUNTED}",
    "right_records_within": "from what was learned about the columns, {most}{COMPARED}",
    "right_records_open": "this test does not show whether the groups are as alike as required",
    # Remarks.
    "may_explain_a_leak": "What a model seems to leak may be this difference alone: give this "
    "report to mipaudit estimate --blind, choose members at random before training, or draw new "
    "holdout records from the source of the members.",
    "less_may_be_there": "A difference that is too small to be shown here may exist.",
    # Why a column was left out.
    "in_one_table": "in one of the two tables only",
    "not_asked_for": "not asked for",
    "ignored_as_asked": "ignored as asked",
    "says_membership": "states membership",
    "names_a_record": "a column that names a record",
    "not_comparable_values": "neither numbers, nor text, nor times",
    "without_values": "no value in any row",
    "another_in_every_row": "a different value in every row: it names records",
    "numbers_apart": "a different number in every row, with members and holdout in separate ranges",
    "same_in_all_rows": "the same in all rows",
}

# What reports on queries answer and remark.
QUERY: Final[Texts] = {
    "no_copies": "No exact copies: none of {members:count} members and none of {holdout:count} "
    "holdout records appears in the synthetic table unchanged in all columns compared.",
    "copies_released": "- Exact copies: {copied:count} of {members:count} members "
    "({share:percent}) and {copied_holdout:count} of {holdout:count} holdout records "
    "({share_holdout:percent}) appear in the synthetic table unchanged in all columns compared.",
    "copies_released.line": "Exact copies: {copied:count} of {members:count} members and "
    "{copied_holdout:count} of {holdout:count} holdout records are in the synthetic table.",
    "scores_made": "{scores:count} {scores:score|scores} made from {members:members} and "
    "{holdout:holdout}. Nothing is audited yet: mipaudit estimate shows how much leaks.",
    "scores_alone": "These are scores, not an audit: mipaudit estimate shows what they reveal.",
    "tables_read": "{members:members}, {holdout:holdout}, {synthetic:count} synthetic "
    "{synthetic:record|records}[, {reference:count} reference {reference:record|records}]; "
    "{columns:count} {columns:column|columns} compared[; {skipped:count} not compared].",
    "metric_euclidean": "The distance is Euclidean: a number is divided by a range of its column "
    "(`scale`), and each category is a column of 1 (the record has it) and 0.",
    "metric_gower": "The distance is Gower's, the mean of one difference per column: for numbers, "
    "the difference divided by a column range (`scale`); for categories, 1 where they differ.",
}

# What is to be known of records, of their groups, of tables, and of scores made of them.
FOUND_IN_RECORDS: Final[Texts] = {
    # Cells and groups of records.
    "one_cell": "All records fall into one score range: nothing tells them apart.",
    "cells_not_used": "The number of score ranges that was asked for (`cells`) is not used: each "
    "value of a discrete score that is frequent enough has a cell of its own.",
    "uncounted_cells": "! {records:count} {records:record is|records are} in score ranges with no "
    "record left to measure the risk: all records there served to set the ranges.",
    "groups_merged.groups": "{FEW}: taken together as 'other'.",
    "groups_left_out.groups": "! {FEW}, even together: their {records:count} {records:record "
    "is|records are} in no group.",
    "groups_merged.values": "{groups:number} {groups:value|values} with few records "
    "{groups:is|are} shown together as 'other'.",
    # Guesses of an attribute.
    "no_guess_matches": "! No guess equals a value of the attribute, so every guess counts as "
    "wrong. Do both columns use the same words?",
    "attribute_missing": "{records:count} {records:record has|records have} no attribute and "
    "{records:is|are} not counted.",
    "guess_missing": "No guess for {records:count} {records:record|records}: that counts as wrong.",
    "attribute_shifted": "! {values:number} {values:value of the attribute is|values of the "
    "attribute are} not equally frequent among members and holdout records: the two groups differ "
    "in more than membership, and the membership advantage is partly that difference.",
    # Members and holdout, told apart without the model.
    "copies_sampled": "Copies were looked for among a random sample, {searched:count} of "
    "{holdout:count} holdout records.",
    "exact_copies.of_members": "! {EXACT}{HIDES}",
    "exact_copies.of_both": "! {EXACT} For comparison, {within:count} {within:holdout record "
    "equals|holdout records equal} another holdout record.{HIDES}",
    "near_copies": "! {AMONG}that differs in one column only.",
    "rounded_copies": "! {AMONG}once numbers are rounded to 3 digits.",
    "shared_persons": "! {SEARCHED}{count:is|are} of a person who is also among the members: the "
    "model may know the person.",
    "telling_column": "! {columns:text}: one column alone separates nearly all members from "
    "holdout records. If the column only names or dates the record (an id, a row number, the day "
    "of an export), it says nothing about a person: leave it out with `ignore` {ignore:text} and "
    "run again. If it does describe people, members and holdout are people of different kinds, and "
    "no audit on them can show what a model leaks.",
    "many_texts": "! {columns:text}: most records have a text too rare to be examined by itself; "
    "the attackers that mipaudit trains know only the {words:number} most frequent texts, and how "
    "frequent each text is. An attacker who knows more of these texts may tell all members from "
    "holdout: `max_blind` cannot be met, and in estimate --blind no advantage can be put down to "
    "the model. Group the texts (regions for postcodes), or, if these texts cannot depend on "
    "membership, leave the columns out with `ignore`, and run again.",
    "repeated_rows": "! {SEARCHED}{count:has|have} another copy in the holdout. If these are rows "
    "of one person, rows are not independent and the lower limit can be too high: give `id_col`.",
    "constant_column.columns": "The same in all rows, and so left out: {columns:text}.",
    "rounded_numbers.columns": "Stored with fewer digits in some files than in others: "
    "{columns:text}. All were rounded alike: the digits alone would tell members from holdout.",
    "parted_numbers": "! {columns:text}: consecutive record numbers, not compared. All members "
    "have lower numbers than the holdout, or all have higher ones. A person who knows a record's "
    "number knows if it is a member; members may be older or newer than holdout.",
    "column_in_one_table": "! In one of the two tables only, and so not compared: {columns:text}.",
    "rows_of_a_person": "! {rows:count} {rows:row is|rows are} of a person with another row on the "
    "same side (members or holdout): one row for each person and side is kept.",
    "no_boosting": "Gradient boosting was not used: scikit-learn is not installed, the tables are "
    "too small, or logistic regression did clearly better.",
    # Scores that are made of released records.
    "exact_copies.released": "! {members:members} and no holdout record{UNCHANGED}{OFTEN}",
    "exact_copies.released_of_both": "! {members:members} and {holdout:holdout}{UNCHANGED}: some "
    "copies may be chance{OFTEN}",
    "shared_records": "! {members:members} {members:has|have} a copy among the holdout records, "
    "equal in all columns that were compared: no query can tell these apart. Remove them from the "
    "holdout if they are the same people.",
    "reference_overlap": "! The reference table holds {members:count} {members:member|members} and "
    "{holdout:count} {holdout:holdout record|holdout records}. {names:text} may recognise them "
    "from the reference, not from the release: that can look like a leak, or hide one. Remove them "
    "from the reference if they are the same people.",
    "constant_column.scale": "Column {column:quoted} has a single value in the table that the "
    "ranges come from; any other value counts as a mismatch.",
    "unseen_words": "[{members:members}][ and {holdout:holdout} "
    "have{members:said}][{holdout:holdout}, but no member, {holdout:has|have}{members:unless}][, "
    "but no holdout record, {members:has|have}{holdout:unless}] a value of {column:quoted} that "
    "the released tables never use. Such a value differs from all others. If a table only spells "
    "it differently, correct that: the scores would show the spelling.",
    "rounded_numbers.column": "Column {column:quoted} is stored with fewer digits in some of the "
    "tables: all were rounded alike, because the digits alone would tell members from holdout.",
    "many_words": "Column {column:quoted} has {words:count} different words: distances say little "
    "about names or keys. Leave it out with `ignore`, unless you look for repeated words.",
    "radius_from_records": "For {names:text} only synthetic records within a distance of "
    "{radius:number} (the radius) count. The radius was not given, so it is the median, over "
    "members and holdout records alike, of the distance to the nearest synthetic record. Such a "
    "radius makes the scores depend on each other a little, and the limits are not corrected for "
    "that. A radius that you give has no such effect.",
    "constant_query": "The score {score:quoted} is the same for all records: it says nothing. If "
    "it counts the synthetic records within a radius, give another radius.",
    # Scores that are made of a model's outputs.
    "rounded_outputs": "Outputs for members and for the holdout are stored in different precision: "
    "all were rounded alike, because the precision alone would tell records apart.",
    "unseen_classes": "{unseen:count} of the {classes:number} classes {unseen:is|are} no record's "
    "label ({of}): check that every column is a class.",
    "look_like_probabilities": "! {file:text}: every number is from 0 to 1. If these are "
    "probabilities, give them with `probabilities`: read as logits, they make wrong scores.",
    "columns_taken.all": "{TAKEN}",
    "columns_taken.some": "{TAKEN} Left out: {skipped:text}.",
    "labels_sorted": "! {file:text}: the labels are words. The outputs are assumed to follow the "
    "classes in alphabetical order, as in scikit-learn.",
    "counts_tell": "The number of shadow models trained with a record differs between members and "
    "holdout records: if every record is in equally many training sets, one of a member's sets is "
    "the audited model's, so fewer shadow models were trained with that member. That number would "
    "give members away, so each record is judged by equal numbers of models: {inside:number} with "
    "the record, {outside:number} without it.",
    "offline_only": "At least one record was in the training set of no shadow model, or of too "
    "few. So there is no online score: for each record, it needs models trained with that record.",
    "few_models": "For at least one record only {models:number} shadow {models:model was|models "
    "were} trained with it, or without it: the variance for this record is poorly known, and "
    "`variance` fixed is likely to reveal more.",
    "variance_floored": "{deviations:count} {deviations:standard deviation of a single record "
    "was|standard deviations of single records were} very small and {deviations:was|were} replaced "
    "by a thousandth of the pooled one, over all records.",
    "saturated": "For {confidences:count} {confidences:output|outputs} the probability of the true "
    "class is so near 0 or 1 that rounding hides the difference; {confidences:it counts|they "
    "count} as slightly above 0 or below 1. Logits keep the difference: give them.",
}

ENTRIES: Final = entries(RECORDS | SHIFT | QUERY | FOUND_IN_RECORDS, _PHRASES)
