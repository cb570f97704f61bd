"""What ``doctor`` concludes: each of its codes by the smallest report."""

from dataclasses import replace

import pytest

from mipaudit.commands.doctor.conclusion import answer, remarks
from mipaudit.report.codec import from_json
from mipaudit.report.messages.told import told
from mipaudit.statements.estimate import Finding
from tests.places import REPORTS

WORKS = from_json((REPORTS / "doctor.json").read_bytes())
FIRST = WORKS.libraries[0]
OPTIONAL = replace(FIRST, of="dask", state="missing", version=None)
WRONG = (Finding("known_audit_differs"), Finding("no_temporary_files"))
OTHER = Finding.of("library_broken", case="optional")
SAID = {
    "installation_works": (
        replace(WORKS, libraries=(FIRST,)),
        "Works: every library that is needed loads, and",
    ),
    "known_audit_agrees": (replace(WORKS, libraries=()), "Works: the known audit comes out"),
    "installation_fails": (
        replace(WORKS, works=False, findings=(*WRONG, OTHER)),
        "Does NOT WORK: 2 findings.",
    ),
    "parts_to_install": (
        replace(WORKS, libraries=(FIRST, OPTIONAL, replace(OPTIONAL, of="sklearn"))),
        'For the optional parts: pip install "mipaudit[dask,sklearn]"',
    ),
}


@pytest.mark.parametrize("code", SAID)
def test_the_smallest_report_makes_it_appear(code):
    report, text = SAID[code]
    found = [one for one in (answer(report), *remarks(report)) if one.code == code]
    assert [told(one).startswith(text) for one in found] == [True]


def test_where_all_works_nothing_is_to_be_installed():
    assert not [*remarks(replace(WORKS, libraries=(FIRST,)))]
