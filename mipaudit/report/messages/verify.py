"""What a report of ``verify`` answers and remarks."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_IN: Final = "DIFFERS in {parts:names}[ and {more:count} more]."
_MADE: Final = "The report of mipaudit {command}, made {made:text}, "

ENTRIES: Final = {
    "report_agrees": Entry("The report AGREES.", mood="good"),
    "report_differs": Entry("The report " + _IN, mood="bad"),
    "statement_of_pass": Entry("The statement AGREES: it says {result:text}.", mood="good"),
    "statement_agrees": Entry("The statement AGREES: it says {result:text}."),
    "statement_differs": Entry("The statement " + _IN, mood="bad"),
    # What was compared with what.
    "computed_the_same": Entry(
        _MADE + "follows from these [scores and {scored:said}]settings: all that it says, but for "
        "what is declared, was computed again and agrees."
    ),
    "computed_otherwise": Entry(
        _MADE + "does not agree with what was computed now.[ It was made by another version of "
        "mipaudit, which can be the reason.{other_version:said}]"
    ),
    "statement_follows": Entry(
        "It speaks of these files and says what {report} says, which [was{computed:said}]"
        "[was not{computed:unless}] computed again."
    ),
    "statement_is_not_so": Entry("It does not agree with what is there."),
    "digest_of_report": Entry("sha256 of the report: {sha256:text}"),
    "digest_of_page": Entry("sha256 of this page: {sha256:text}"),
    "digest_of_carried": Entry("sha256 of its report, as .json: {sha256:text}"),
}
