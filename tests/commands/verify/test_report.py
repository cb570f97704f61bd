"""What ``verify`` concludes: each of its codes by the smallest report."""

from dataclasses import replace

import pytest

from mipaudit.commands.verify.report import answer, ground, remarks
from mipaudit.report.codec import from_json
from mipaudit.report.messages.reports import VERIFY
from mipaudit.report.messages.told import told
from tests.places import REPORTS

SAME = from_json((REPORTS / "verification.json").read_bytes())
WRONG = tuple(replace(SAME.parts[0], part=name, status="differs") for name in "abcdef")
OTHERWISE = replace(SAME, agrees=False, parts=WRONG, made_by="0.0.9")
STATED = replace(SAME, verified="statement", result="FAILED", report="r.json", parts=())
PAGE = replace(SAME, carried_sha256="c" * 64)
SAME_SAID = (
    "The report of mipaudit bounds, made 2026-01-01T00:00:00Z, follows from the "
    "settings in it: everything in it, except what its author declared, was computed again and "
    "agrees."
)
OTHERWISE_SAID = (
    "The report of mipaudit bounds, made 2026-01-01T00:00:00Z, does not agree with what was "
    "computed now. It was made by another version of mipaudit, which can be the reason."
)
SAID = {
    "report_agrees": (SAME, "The report AGREES with what was computed now."),
    "report_differs": (OTHERWISE, "The report DIFFERS in a, b, c, d and 2 more."),
    "statement_of_pass": (
        replace(STATED, result="PASSED"),
        "The statement AGREES with the files given: it says PASSED.",
    ),
    "statement_agrees": (STATED, "The statement AGREES with the files given: it says FAILED."),
    "statement_differs": (
        replace(STATED, agrees=False, parts=WRONG[:2]),
        "The statement DIFFERS in a, b.",
    ),
    "computed_the_same": (SAME, SAME_SAID),
    "computed_otherwise": (OTHERWISE, OTHERWISE_SAID),
    "statement_follows": (
        STATED,
        "It is about these files and says what r.json says, which was not computed again.",
    ),
    "statement_is_not_so": (
        replace(STATED, agrees=False, parts=WRONG[:2]),
        "It does not agree with the files that are here.",
    ),
    "digest_of_report": (SAME, f"sha256 of the report: {SAME.report_sha256}"),
    "digest_of_page": (PAGE, f"sha256 of this page: {SAME.report_sha256}"),
    "digest_of_carried": (PAGE, f"sha256 of its report, as .json: {'c' * 64}"),
}


@pytest.mark.parametrize("code", VERIFY)
def test_the_smallest_report_makes_it_appear(code):
    report, text = SAID[code]
    found = [one for one in (answer(report), ground(report), *remarks(report)) if one.code == code]
    assert [told(one) for one in found] == [text]
    if code == "statement_follows":
        again = told(ground(replace(report, parts=SAME.parts)))
        assert again == text.replace("was not computed", "was computed")
