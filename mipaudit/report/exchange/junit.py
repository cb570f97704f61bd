"""What a report judged, as JUnit XML, which every continuous-integration server reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mipaudit.report.blocks import Case, plain
from mipaudit.report.text import whole_text

if TYPE_CHECKING:
    from mipaudit.report.walk import Walk

_FAILING: Final = {"failed": "not_met", "open": "inconclusive"}
_WIDTH: Final = 100
_SKIPPED: Final = frozenset({"waived", "skipped"})

# What the schemas ask for and a report does not say: where, how long, of which package.
_REQUIRED: Final = {"hostname": "localhost", "time": "0", "package": "mipaudit", "id": "0"}


def report_junit(walk: Walk) -> str:
    """Return one test suite: what is not met or inconclusive fails, as the exit code does.

    Elements and attributes are those that both Ant's schema, which asks for most, and that of
    Jenkins' xUnit plugin, which refuses whatever it does not know, accept.
    """
    counts = {
        "tests": len(walk.cases),
        "failures": sum(case.status in _FAILING for case in walk.cases),
        "errors": 0,
        "skipped": sum(case.status in _SKIPPED for case in walk.cases),
    }
    totals = {key: str(count) for key, count in counts.items()}
    root = Element("testsuites")
    suite = SubElement(
        root,
        "testsuite",
        {
            "name": walk.title,
            **totals,
            "timestamp": plain(walk.report.provenance.created).removesuffix("Z"),
            **_REQUIRED,
        },
    )
    SubElement(suite, "properties")
    for case in walk.cases:
        suite.append(_case(case, walk.title))
    # All of the report: a case has no place for why it passed, nor for a figure.
    said = whole_text(walk.answer, walk.about, walk.sections("text"), width=_WIDTH)
    SubElement(suite, "system-out").text = said
    SubElement(suite, "system-err")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _case(case: Case, title: str) -> Element:
    element = Element(
        "testcase", {"classname": plain(case.group) or title, "name": plain(case.name), "time": "0"}
    )
    text = plain(case.text)
    if case.status in _FAILING:
        failure = SubElement(element, "failure", {"type": _FAILING[case.status], "message": text})
        failure.text = text
    elif case.status in _SKIPPED:
        SubElement(element, "skipped", {"message": text})
    return element
