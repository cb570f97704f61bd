"""What ``doctor`` concludes: each of its codes by the smallest report."""

from dataclasses import replace

import pytest

from mipaudit.commands.doctor.report import answer, to_install
from mipaudit.model.message import Finding
from mipaudit.report.codec import from_json
from mipaudit.report.forms import brief_report
from mipaudit.report.messages.told import told
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
}


@pytest.mark.parametrize("code", SAID)
def test_the_smallest_report_makes_it_appear(code):
    report, text = SAID[code]
    assert answer(report).code == code
    assert told(answer(report)).startswith(text)


def test_what_installs_the_parts_that_do_not_work_is_never_cut():
    assert not to_install(replace(WORKS, libraries=(FIRST,)))
    libraries = (FIRST, OPTIONAL, replace(OPTIONAL, of="sklearn"))
    text = brief_report(replace(WORKS, libraries=libraries * 20), width=80)
    assert 'Next: for the optional parts: pip install "mipaudit[dask,sklearn]"' in text
