"""What is unusual about scores, and what their figures do not see."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_HIDDEN: Final = "At a prior of {prior:number} nobody is shown to beat blind guessing"
_ADVICE: Final = "Look at PPV (`metric` ppv), at TPR at FPR, or at `prior` 0.5."

ENTRIES: Final = {
    "small_class": Entry(
        "There are only {count:number} {of:class_records}: limits will be wide.", serious=True
    ),
    "constant_column.score": Entry(
        "Column {column:quoted} has the same value in all rows: it shows nothing."
    ),
    "infinite_scores.column": Entry(
        "Column {column:quoted} is infinite in {rows:count} rows: kept, as extreme values."
    ),
    "infinite_scores.vector": Entry(
        "Score {score:quoted} has {infinite:count} infinite coordinates: kept, as extreme values."
    ),
    "ties": Entry(
        "Column {column:quoted} repeats values: {rows:count} rows share theirs with at least "
        "{others:number} others."
    ),
    "sentinel_values": Entry(
        "Column {column:quoted} is {value:number} in {rows:count} rows, far from all other scores: "
        "it counts as an extreme score. If it stands for a missing one, leave those cells empty "
        "and say with `nan` what becomes of them.",
        serious=True,
    ),
    "leak_invisible_to_class": Entry(
        "Column {column:quoted}: at least {lower:least} leaks, more than the {upper:most} that "
        "attackers of class {attackers:quoted} can reach: they do not see all of this leak."
    ),
    "prior_excludes_attackers": Entry(
        "At a prior of {prior:number} no mechanism that keeps the claim lets any attacker beat the "
        "trivial one, so the advantage tests nothing. " + _ADVICE,
        serious=True,
    ),
    "prior_hides_leaks.perhaps": Entry(
        _HIDDEN + "; the scores may leak all the same. " + _ADVICE, serious=True
    ),
    "prior_hides_leaks.metric": Entry(
        _HIDDEN + " by accuracy, and the scores leak all the same: {leaking}.", serious=True
    ),
    "metric_leaks": Entry(
        "the {metric} of {score:quoted} is at least {lower:least} (blind guessing: "
        "{baseline:value})"
    ),
    "trivial_metric": Entry(
        "The metric {metric:quoted} is at its largest for an attacker who guesses the same of "
        "everybody: it says nothing about the score. Look at PPV, AM or TPR at FPR."
    ),
    "min_recall_unused": Entry(
        "The least recall of {least:number} (`min_recall`) changes nothing: none of the metrics "
        "asked for needs one. PPV and NPV do."
    ),
    "vector_score": Entry(
        "Score {score:quoted} is a vector of {width:number} numbers. Attackers on it use "
        "{forms:text}, fitted on a part of the burn-in; the rest of the burn-in chose "
        "{learned:text} as the learned score.{boosting:| Gradient boosting was not tried: "
        "scikit-learn is not installed, or the burn-in is too small.}"
    ),
    "constant_coordinates.vector": Entry(
        "Score {score:quoted}: {constant:number} of its {width:number} coordinates hold the same "
        "value in all rows."
    ),
    "mace_bias": Entry(
        "Score {score:quoted}: MACE's estimator reads {value:value}; with shuffled membership, "
        "where nothing leaks and blind guessing has {baseline:value}, it reads {shuffled:value}: "
        "there its bias is {bias:value}."
    ),
}
