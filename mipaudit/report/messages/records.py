"""What an audit of single records answers and remarks."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

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

ENTRIES: Final = {
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
