"""What a report on the records alone answers and remarks, and why it left out a column."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_NO_VERDICT: Final = " No limit was given: no verdict."
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
_BLIND: Final = (
    "A smaller difference may still be in an advantage that is measured on a model: mipaudit "
    "estimate --blind says what that leaves open."
)
_COMPARED: Final = " ({prior:compared})"

ENTRIES: Final = {
    "records_told_apart": Entry(
        "Members and holdout can be told apart without the model: " + _KNOWN, mood="bad"
    ),
    "columns_differ": Entry(
        "Single columns differ between members and holdout: {column:quoted} most surely."
        + _NO_VERDICT,
        mood="open",
        unsaid=_BLIND,
    ),
    "records_not_told_apart": Entry(
        "Members and holdout are not shown to differ: " + _KNOWN, unsaid=_BLIND
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
