"""What reports on queries answer and remark."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

ENTRIES: Final = {
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
