"""What is said of an input that was looked at, and not audited."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

ENTRIES: Final = {
    "fit": Entry(
        "The input can be audited. It holds {members:count} members and {holdout:count} holdout "
        "records[, told by {column:quoted}], and {scores:count} {scores:score|scores}."
    ),
    "columns_unused": Entry("Not used: {names:names}."),
    "not_audited_yet": Entry("Nothing was audited yet: mipaudit estimate does that."),
}
