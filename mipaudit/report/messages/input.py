"""What is to be known of the input and the scores: findings."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import entries

# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "BOTH": "Exact copies: {members:count} of {of_members:count} members and {holdout:count} of "
    "{of_holdout:count} holdout records stand in the release word for word",
    "TAKEN": " They are taken for independent because `rows_are` independent says so.",
    "UNTRUE": ", and the rows are taken for independent because `rows_are` independent says so. If "
    "they are not, no limit here is true: give `unit_col` {column} `unit_rows` one instead.",
    "OUTPUT": ": if it is the probability of a class, {line:text} makes better scores of "
    "it.{needs:after}",
    "CLASSES": "{members:number} members and {holdout:number} holdout records",
    "HIDDEN": "At a prior of {prior:number} nobody is shown to beat blind guessing",
    "ADVICE": "Look at PPV (`metric` ppv), at TPR at FPR, or at `prior` 0.5.",
}

# What is to be known of an input: its columns, its rows, its files, its seed, its policy.
FOUND_IN_INPUT: Final = {
    # Which columns are scores.
    "scores_found": "{n:number} columns were taken for scores, and none was named: {names:text}. "
    "They share the error, so that each one widens the limits of the others: name those that "
    "matter with `score_col`.",
    "looks_like_records": "! These look like records, not scores: whole numbers between columns of "
    "text were taken, and no release was looked at. Of synthetic records mipaudit query makes "
    "scores, of a model's outputs mipaudit query losses; name the columns with `score_col` if they "
    "are scores.",
    "score_left_out.lists": "! {n:columns} with lists of numbers may hold scores, not audited: "
    "{names:text}. Write the numbers as columns of their own and name them (`score_col` a,b is one "
    "score of several numbers), or name the other scores alone.",
    "score_left_out.one": "! Column {names:text} may be a score and was not audited ({why}). If it "
    "is one, name it with `score_col`; if not, name those that are.",
    "score_left_out.several": "! {n:columns} may be scores and were not audited ({why}): "
    "{names:text}. Name those that are with `score_col`, or the others alone.",
    # Why, of one that is left out.
    "text_column": "text",
    "empty_column": "no values",
    "unreadable_column": "neither numbers nor text",
    "named_like_id": "named like an id, label, prediction or group",
    "other_kind": "{kind}, while others are {others:others}",
    "scores_of_policy.all": "{file} audits {names:text} alone; no other score column is there.",
    "scores_of_policy.some": "! {file} audits {names:text} alone; {left:number} {left:score column "
    "is|score columns are} left out.",
    "class_probabilities": "! The columns {names:text} are from 0 to 1 and add up to "
    "1{beside:part}: what a model says of each class. One by one they are weak scores, and a low "
    "limit on them says little. Make scores of them: {line:text}{needs:after}",
    "class_probability.tells": "Column {column:text}{beside:part}, tells the class{OUTPUT}",
    "class_probability.share": "Column {column:text}{beside:part}, is from 0 to 1{OUTPUT}",
    "beside_label": ", beside the label {label:text}",
    # Rows that were left out, changed, or are no rows of their own.
    "nan_dropped": "Left out because a score is missing: {CLASSES}.",
    "nan_category": "A missing score counts as a value below all others: {CLASSES} have one.",
    # In place of each of them, where counts of few rows are given away.
    "untold": "Rows were left out or changed; how many is not told.",
    "missing_tells": "! Scores are missing in one class more often than in the other: whoever sees "
    "that tells them apart, and rows that are left out do not show it. With `nan` category a "
    "missing score is a value, and is audited.",
    "unit_rows_dropped": "One row per person is kept: {members:number} rows of members and "
    "{holdout:number} of holdout records are left out.",
    "other_side_rows": "Left out of files given for one class: {rows:number} rows of the other "
    "class.",
    "units_in_both_classes": "{persons:count} {persons:value|values} of column {column:quoted} "
    "{persons:occurs|occur} in both classes: a coin tossed by the seed says in which one each is "
    "kept, and its {rows:count} rows of the other are left out.",
    "unit_scores_made": "Every score is the {rule:statistic} of all rows with the same value of "
    "column {column:quoted}: {scores:count} scores of {rows:count} rows. An attacker who sees the "
    "rows themselves may do better.",
    "unit_rows_unlike": "! Members and holdout differ in how many rows they have by column "
    "{column:quoted} (rank test, p = {p_value:thousandths}), and their {rule:statistic} shows that "
    "number, too: part of what is found may be no more than that. Compare `unit_rows` one, which "
    "does not show it.",
    "rows_taken_as_independent.files": "! {copies:count} of {parts:count} files hold the same rows "
    "as another, in the same order: their rows are no records of their own, and no limit would be "
    "true.{TAKEN}",
    "rows_taken_as_independent.scores": "! {sampled:About |}{rows:count} scores of one class are "
    "there several times{nearly: but for their last digits|}, as often as no independent rows "
    "would have it: rows were copied, and no limit would be true.{TAKEN}",
    "rows_taken_as_independent.ids": "! {ids:count} values of column {column:quoted} occur in up "
    "to {most:count} rows of one class{UNTRUE}",
    "rows_taken_as_independent.ids_in_both": "! {ids:count} values of column {column:quoted} occur "
    "in both classes{UNTRUE}",
    # Numbers that are not as they were written.
    "types_differ": "! Column {column:quoted} has different types in different files: values "
    "rounded differently can tell the classes apart by themselves.",
    "scores_rounded": "! Column {column:quoted} is stored as {precision} in {where:text} "
    "({rows:count} rows) and more finely in others: all scores were rounded to that, or the "
    "storage would tell the classes apart.",
    "few_coarse_rows": "! Column {column:quoted}: few of its rows are stored as {precision}, those "
    "in {where:text}, and {rows:count} others lost digits for them. What the others tell beyond "
    "that is not seen, so that no policy is met. Store those rows like the others, or leave the "
    "file out.",
    # Files, and parts that were counted elsewhere.
    "bad_parts_skipped": "! {skipped:count} of {files:count} input files cannot be read and are "
    "left out: {names:text}. The records in them are missing, and perhaps not by chance: nothing "
    "here speaks for them.",
    "from_summaries": "Counted elsewhere: {files:count} {files:summary file|summary "
    "files}{named:bracketed}{by:part}; the rows were not seen here{files:|; that no record is in "
    "two of them is taken on trust}.",
    "by_cuts": ", by the cuts of {sites:count} sites",
    "sites_missing": "! Of the {sites:count} sites whose cuts were used, {missing:number} "
    "{missing:is|are} missing: {names:text}. Nothing here speaks for these records, and no policy "
    "is met without them. Give what is missing; or, if no record of a site is in the release, say "
    "so with `without_site`.",
    "sites_left_out": "! Left out on the word of the user (`without_site`): {names:text}. If a "
    "record of these is in the release after all, nothing here speaks for it.",
    # Records that were released word for word.
    "exact_copies.accepted": "! {BOTH}: {members:count} of at most {limit:count} accepted.",
    "exact_copies.above_limit": "! {BOTH}: at most {limit:count} accepted.",
    "exact_copies.unlimited": "! {BOTH}. No limit on a score speaks for them: nothing is met "
    "unless `max_copies` says how many members may be.",
    "common_copies.both": "! Exact copies: {members:count} of {of_members:count} members stand in "
    "the release word for word, and such rows are common: {holdout:count} of {of_holdout:count} "
    "holdout records too.",
    "common_copies.holdout": "! {BOTH}.",
    "copies_unread": "! Column exact_copy says neither yes nor no of {members:count} members: "
    "write 1 or 0.",
    # The seed.
    "strict_seed": "! `strict` was asked for with a seed that was stated: whoever knew it could "
    "write scores that suit it. The limits hold as a mean over seeds alone, and are marked "
    "approximate. Leave `seed` out: one is drawn then, which nobody could know.",
    "stated_seed.large": "! The seed was stated (`seed`) for an input that is too large for its "
    "rows to decide, and of which no digest was made: whoever ordered the rows could have chosen "
    "which of them only train. Leave `seed` out to have one drawn, or add `hash_inputs` to let "
    "every row decide.",
    "stated_seed.part": "! The seed of this part was stated (`seed`), and nothing of its rows is "
    "in it: whoever ordered the rows, or named their keys, could have chosen which of them only "
    "train. Leave `seed` out: every site then draws its own.",
    # The policy.
    "waiver_unmatched": "! Waiver {number:number} of the policy (on {quantity}{score:of}) matches "
    "no limit here.",
    "waiver_not_needed": "Waiver {number:number} of the policy (on {quantity}) is not needed: all "
    "is met.",
    "limits_elsewhere": "{count:number} {count:limit|limits} of the policy not judged here: that "
    "is what `mipaudit {command}` is for.",
    "blind_bound": "! It is asserted (`blind_bound`) that nobody who sees the records alone has an "
    "advantage above {bound:number}. Whatever is concluded here is no better than that.",
    "blind_open": "! No limit holds for every attacker on the records alone, who may explain all "
    "of an advantage: nothing is held against the model.{differ: Nor is anything shown to be met, "
    "since a difference can hide a leak.|} Draw members and holdout anew, at random from the same "
    "records; or group the columns of the tables into few values each, so that mipaudit shift can "
    "limit every attacker; or, if you know how the groups came about, assert with `blind_bound` "
    "what the records tell at most.",
}

# What is unusual about scores, and what their figures do not see.
FOUND_IN_SCORES: Final = {
    "small_class": "! There are only {count:number} {of:class_records}: limits will be wide.",
    "constant_column.score": "Column {column:quoted} has the same value in all rows: it shows "
    "nothing.",
    "infinite_scores.column": "Column {column:quoted} is infinite in {rows:count} rows: kept, as "
    "extreme values.",
    "infinite_scores.vector": "Score {score:quoted} has {infinite:count} infinite coordinates: "
    "kept, as extreme values.",
    "ties": "Column {column:quoted} repeats values: {rows:count} rows share theirs with at least "
    "{others:number} others.",
    "sentinel_values": "! Column {column:quoted} is {value:number} in {rows:count} rows, far from "
    "all other scores: it counts as an extreme score. If it stands for a missing one, leave those "
    "cells empty and say with `nan` what becomes of them.",
    "leak_invisible_to_class": "Column {column:quoted}: at least {lower:least} leaks, more than "
    "the {upper:most} that attackers of class {attackers:quoted} can reach: they do not see all of "
    "this leak.",
    "prior_excludes_attackers": "! At a prior of {prior:number} no mechanism that keeps the claim "
    "lets any attacker beat the trivial one, so the advantage tests nothing. {ADVICE}",
    "prior_hides_leaks.perhaps": "! {HIDDEN}; the scores may leak all the same. {ADVICE}",
    "prior_hides_leaks.metric": "! {HIDDEN} by accuracy, and the scores leak all the same: "
    "{leaking}.",
    "metric_leaks": "the {metric} of {score:quoted} is at least {lower:least} (blind guessing: "
    "{baseline:value})",
    "trivial_metric": "The metric {metric:quoted} is at its largest for an attacker who guesses "
    "the same of everybody: it says nothing about the score. Look at PPV, AM or TPR at FPR.",
    "min_recall_unused": "The least recall of {least:number} (`min_recall`) changes nothing: none "
    "of the metrics asked for needs one. PPV and NPV do.",
    "vector_score": "Score {score:quoted} is a vector of {width:number} numbers. Attackers on it "
    "use {forms:text}, fitted on a part of the burn-in; the rest of the burn-in chose "
    "{learned:text} as the learned score.{boosting:| Gradient boosting was not tried: scikit-learn "
    "is not installed, or the burn-in is too small.}",
    "constant_coordinates.vector": "Score {score:quoted}: {constant:number} of its {width:number} "
    "coordinates hold the same value in all rows.",
    "mace_bias": "Score {score:quoted}: MACE's estimator reads {value:value}; with shuffled "
    "membership, where nothing leaks and blind guessing has {baseline:value}, it reads "
    "{shuffled:value}: there its bias is {bias:value}.",
}

ENTRIES: Final = entries(FOUND_IN_INPUT | FOUND_IN_SCORES, _PHRASES)
