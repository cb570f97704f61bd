"""What ``doctor`` concludes, beside what broken installations show of it."""

from dataclasses import replace

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


def test_only_what_hinders_is_counted_and_only_an_audit_may_be_known():
    fails = replace(
        WORKS, works=False, findings=(*WRONG, Finding.of("library_broken", case="optional"))
    )
    assert told(answer(fails)).startswith("Does NOT WORK: 2 findings.")
    known = told(answer(replace(WORKS, libraries=())))
    assert known.startswith("Works: the known audit comes out")


def test_what_installs_the_parts_that_do_not_work_is_never_cut():
    assert not to_install(replace(WORKS, libraries=(FIRST,)))
    libraries = (FIRST, OPTIONAL, replace(OPTIONAL, of="sklearn"))
    text = brief_report(replace(WORKS, libraries=libraries * 20), width=80)
    assert 'Next: for the optional parts: pip install "mipaudit[dask,sklearn]"' in text
