"""What is to be known of the input and the scores: findings."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import entries

# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "BOTH": "Exact copies: {members:count} of {of_members:count} members and {holdout:count} of "
    "{of_holdout:count} holdout records appear in the release unchanged",
    "TAKEN": " The audit went on only because of `rows_are` independent.",
    "UNTRUE": ", and the rows count as independent because of `rows_are` independent. If the rows "
    "are not, no limit here is true: give `unit_col` {column} `unit_rows` one instead.",
    "OUTPUT": ": if the column is the probability of a class, {line:text} makes better "
    "scores.{needs:after}",
    "CLASSES": "{members:members} and {holdout:holdout}",
    "MODELS": "If each file holds the scores of a different model, this answer mixes the models. "
    "For each model: mipaudit compare FILES `baseline` NAME, or mipaudit.estimate_many in Python.",
    "HIDDEN": "At a prior of {prior:number} nobody is shown to beat blind guessing",
    "ADVICE": "Look at PPV (`metric` ppv) or the TPR at an FPR of 1%, or give `prior` 0.5.",
}

# What is to be known of an input: its columns, its rows, its files, its seed, its policy.
FOUND_IN_INPUT: Final = {
    # Which columns are scores.
    "scores_found": "Used {n:number} columns as scores: {names:text}. Choose with `score_col`: the "
    "more scores are audited, the lower is each 'at least' and the higher each 'at most'.",
    "looks_like_records": "! These look like records, not scores: the columns taken are whole "
    "numbers among columns of text, and no release was examined. mipaudit query makes scores from "
    "synthetic records. The command mipaudit query losses makes them from a model's outputs. If "
    "the columns are scores, name them with `score_col`.",
    "score_left_out.lists": "! Lists of numbers may be scores and were not audited: {names:text}. "
    "Write the numbers as columns of their own and name them (`score_col` a,b is one score of "
    "several numbers), or name only the other scores.",
    "score_left_out.one": "! Column {names:text} may be a score and was not audited ({why}). If it "
    "is a score, name it with `score_col`; if not, name the columns that are.",
    "score_left_out.several": "! {n:columns} may be scores and were not audited ({why}): "
    "{names:text}. Name the scores among them with `score_col`, or name only the others.",
    # Why, of one that is left out.
    "text_column": "text",
    "empty_column": "no values",
    "unreadable_column": "neither numbers nor text",
    "named_like_id": "named like an id, label, prediction or group",
    "other_kind": "{kind}, while others are {others:others}",
    "scores_of_policy.all": "{file} audits only {names:text}; there is no other score column.",
    "scores_of_policy.some": "! {file} audits only {names:text}; {left:number} {left:score column "
    "is|score columns are} left out.",
    "class_probabilities": "! The columns {names:text} are from 0 to 1 and add up to "
    "1{beside:part}: a model's probability for each class. Each by itself is a weak score: a low "
    "'at most' for it says little. Make better scores from them: {line:text}{needs:after}",
    "class_probability.tells": "! Column {column:text}{beside:part} predicts the label{OUTPUT}",
    "class_probability.share": "Column {column:text}{beside:part} is from 0 to 1{OUTPUT}",
    "beside_label": " (beside the label {label:text})",
    # Rows that were left out, changed, or are no rows of their own.
    "nan_dropped": "Left out because a score is missing: {CLASSES}.",
    "nan_category": "A missing score counts as below all others. It is missing for {CLASSES}.",
    # In place of each of them, where counts of few rows are given away.
    "untold": "Rows were left out or changed. Their number is withheld, because a small number "
    "could reveal single rows.",
    "missing_tells": "! Scores are missing more often for members than for holdout records, or the "
    "reverse: an attacker who sees which scores are missing can tell the two apart. This audit "
    "does not see that, because rows without a score were left out. With `nan` category a missing "
    "score counts as a value and is audited.",
    "unit_rows_dropped": "One row per person is kept. Left out: {members:number} "
    "{members:row|rows} of members, {holdout:number} {holdout:row|rows} of holdout records.",
    "other_side_rows": "{rows:number} {rows:row was|rows were} left out: marked as holdout in a "
    "file given as members, or the reverse.",
    "units_in_both_classes": "{persons:count} {persons:value|values} of column {column:quoted} "
    "{persons:occurs|occur} both among members and among holdout records: a coin tossed by the "
    "seed decides which side keeps each. Left out of the other side: {rows:count} {rows:row|rows}.",
    "unit_scores_made": "Every score is the {rule:statistic} of all rows with the same value of "
    "column {column:quoted}: {scores:count} {scores:score|scores} from {rows:count} "
    "{rows:row|rows}. An attacker who sees the rows themselves may do better.",
    "unit_rows_unlike": "! Members and holdout differ in the number of rows for each value of "
    "column {column:quoted} (rank test, p = {p_value:thousandths}), and the {rule:statistic} of "
    "these rows depends on that number: part of what is found may come from the number alone. "
    "Compare with `unit_rows` one, which does not depend on the number.",
    "rows_taken_as_independent.files": "! {copies:count} of {parts:count} files "
    "{copies:holds|hold} the same rows as another file, in the same order: such rows are not "
    "independent records, so no confidence limit here holds.{TAKEN}",
    "rows_taken_as_independent.scores": "! {sampled:About |}{rows:count} scores occur several "
    "times{nearly: except for their last digits|} among members or among holdout records, more "
    "often than in independent rows: rows were copied, so no confidence limit here holds.{TAKEN}",
    "rows_taken_as_independent.ids": "! {ids:count} {ids:value|values} of column {column:quoted} "
    "{ids:occurs|occur} in several rows of members, or of holdout records (up to "
    "{most:count}){UNTRUE}",
    "rows_taken_as_independent.ids_in_both": "! {ids:count} {ids:value|values} of column "
    "{column:quoted} {ids:occurs|occur} both among members and among holdout records{UNTRUE}",
    # Numbers that are not as they were written.
    "types_differ": "! Column {column:quoted} has different types in different files: the number "
    "of digits that a type keeps can tell members from holdout records.",
    "scores_rounded": "! Column {column:quoted} is stored as {precision} in {where:text} "
    "({rows:count} {rows:row|rows}) and with more digits elsewhere: all scores were rounded to "
    "{precision}, because the digits alone would tell members from holdout records.",
    "few_coarse_rows": "! Column {column:quoted}: only the few rows in {where:text} are stored as "
    "{precision}, and the scores of {rows:count} other {rows:row|rows} were rounded to match. This "
    "audit does not see what the lost digits reveal: no verdict is MET. Store the few rows like "
    "the others, or leave the file out.",
    # Files, and parts that were counted elsewhere.
    "files_as_one.alike": "! All {files:count} files count as one data set, and {alike:count} of "
    "them list their members in the same order, as files of several models do. {MODELS}",
    "files_as_one.named": "! All {files:count} files count as one data set. {MODELS}",
    "bad_parts_skipped": "! {skipped:count} of {files:count} input files cannot be read and "
    "{skipped:is|are} left out: {names:text}. Their records are missing, perhaps not by chance: "
    "this report says nothing about these records.",
    "from_summaries": "The rows were not seen here: {files:count} {files:summary file|summary "
    "files}{named:bracketed} {files:holds|hold} counts{by:part}{files:|; nobody checked whether a "
    "record is in two files}.",
    "by_cuts": ", in score ranges that {sites:count} {sites:site|sites} chose",
    "sites_missing": "! Of the {sites:count} {sites:site|sites} that chose the score ranges "
    "(cuts), {missing:number} {missing:is|are} missing: {names:text}. This report says nothing "
    "about their records, so no verdict is MET without them. Add what is missing. If no record of "
    "a site is in the release, say so with `without_site`.",
    "sites_left_out": "! Left out: {names:text}. `without_site` states that the release has no "
    "record of theirs. If it has one after all, this report says nothing about that record.",
    # Records that were released word for word.
    "exact_copies.accepted": "! {BOTH}, within the limit of {limit:members}.",
    "exact_copies.above_limit": "! {BOTH}, above the limit of {limit:members}.",
    "exact_copies.unlimited": "! {BOTH}. These records are given away whole, which an average over "
    "all records hides, so no verdict is MET until `max_copies` says how many copied members you "
    "accept. To fail on any copy: `max_copies` 0.",
    "common_copies.both": "! Exact copies: {members:count} of {of_members:count} members "
    "{members:appears|appear} in the release unchanged, and such rows are common: {holdout:count} "
    "of {of_holdout:count} holdout records {holdout:appears|appear}, too.",
    "common_copies.holdout": "! {BOTH}.",
    "copies_unread": "! Column exact_copy is neither 1 nor 0 for {members:members}: write 1 or 0.",
    # The seed.
    "strict_seed": "! `strict` was used with a stated seed: a person who knew the seed could write "
    "scores that suit it. The confidence limits hold only if the scores were made without knowing "
    "the seed. So the report marks them as approximate. Leave `seed` out: mipaudit then draws a "
    "seed that nobody could know.",
    "stated_seed.large": "! The seed was stated (`seed`). With so large an input, random choices "
    "depend on the seed alone, not on the rows. A person who knew the seed could have arranged the "
    "rows so that certain rows are used only to train attackers. Leave `seed` out to have a seed "
    "drawn, or add `hash_inputs`: then the choices depend on every row, too.",
    "stated_seed.part": "! The seed of this summary was stated (`seed`) and does not depend on the "
    "rows. The seed decides which rows are used only to train attackers, so a person who knew it "
    "could have chosen these rows, by the order of all rows or by their keys. Leave `seed` out: "
    "every site then draws a seed of its own.",
    # The policy.
    "waiver_unmatched": "! Waiver {number:number} of the policy (on {quantity}{score:of}) matches "
    "no limit.",
    "waiver_not_needed": "Waiver {number:number} of the policy (on {quantity}) is not needed: its "
    "limits are met.",
    "limits_elsewhere": "{count:number} {count:limit|limits} of the policy {count:is|are} not "
    "judged here. To judge: `mipaudit {command}`.",
    "blind_bound": "! It is asserted (`blind_bound`) that nobody who sees only the records, not "
    "the release, has an advantage above {bound:number}. Every conclusion here depends on that.",
    "blind_open": "! No upper limit is known that holds for all attackers who see only the "
    "records, not the release, so the records may explain all of an advantage. No advantage here "
    "can be put down to the model.{differ: Nor is any limit shown to be met, because a difference "
    "between the groups can hide a leak.|} What helps: choose members at random before training "
    "(or draw new holdout records from the source of the members); or put each column's values "
    "into a few groups, so that mipaudit shift can give an upper limit for all attackers; or, if "
    "you know how members and holdout were chosen, assert with `blind_bound` the largest advantage "
    "from the records alone.",
}

# What is unusual about scores, and what their figures do not see.
FOUND_IN_SCORES: Final = {
    "small_class": "! Few {of:class_records} ({count:number}): imprecise figures.",
    "constant_column.score": "Column {column:quoted} has one value in all rows: it shows nothing.",
    "infinite_scores.column": "Column {column:quoted} is infinite in {rows:count} {rows:row|rows}; "
    "infinite scores are kept as extreme values.",
    "infinite_scores.vector": "Score {score:quoted} has {infinite:count} infinite "
    "{infinite:number|numbers}; infinite values are kept as extreme values.",
    "ties": "Column {column:quoted} repeats values: {rows:count} {rows:row shares its value|rows "
    "share their value} with at least {others:number} other {others:row|rows}.",
    "sentinel_values": "! Column {column:quoted} is {value:number} in {rows:count} "
    "{rows:row|rows}, far from all other scores, and counts as an extreme score. If it means a "
    "missing score, leave those places empty and choose with `nan` how to treat them.",
    "leak_invisible_to_class": "Column {column:quoted}: the advantage is at least {lower:least}, "
    "more than the {upper:most} that attackers of the kind {attackers:quoted} can reach. These "
    "attackers do not see the whole leak.",
    "prior_excludes_attackers": "! At a prior of {prior:number} a release that keeps the claim "
    "lets no attacker beat blind guessing, so the advantage can hardly test the claim. {ADVICE}",
    "prior_hides_leaks.perhaps": "! {HIDDEN}, but the scores may still leak. {ADVICE}",
    "prior_hides_leaks.metric": "! {HIDDEN} by accuracy, but the scores still leak: {leaking}.",
    "metric_leaks": "the {metric} of {score:quoted} is at least {lower:least} (blind guessing: "
    "{baseline:value})",
    "trivial_metric": "The metric {metric:quoted} is largest for an attacker who guesses the same "
    "for everybody: it says nothing about the score. Look at PPV, AM (the mean of TPR and 1 - FPR) "
    "or the TPR at a low FPR.",
    "min_recall_unused": "The minimum recall of {least:number} (`min_recall`) changes nothing: "
    "only PPV and NPV (the PPV of holdout records) use one, and neither was asked for.",
    "vector_score": "Score {score:quoted} consists of {width:number} numbers. Attackers combine "
    "the numbers into one score, learned from a part of the burn-in, by {forms:text}. On the rest "
    "of the burn-in {learned:text} did best and is used as the learned score.{boosting:| Gradient "
    "boosting was not tried: scikit-learn is not installed, or the burn-in is too small.}",
    "constant_coordinates.vector": "Score {score:quoted}: {constant:number} of its {width:number} "
    "numbers {constant:is|are} the same in all rows.",
    "mace_bias": "Score {score:quoted}: the estimator of MACE (a published method) gives "
    "{value:value}. With shuffled membership nothing leaks and the right value is "
    "{baseline:value}, but the estimator gives {shuffled:value}: its bias there is {bias:value}.",
}

ENTRIES: Final = entries(FOUND_IN_INPUT | FOUND_IN_SCORES, _PHRASES)
