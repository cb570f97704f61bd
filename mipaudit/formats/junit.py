"""A document's cases as JUnit XML, which every continuous-integration server reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mipaudit.formats.document import Case, Document, bullets_of, plain

_FAILING: Final = {"failed": "not_met", "open": "inconclusive"}
_SKIPPED: Final = frozenset({"waived", "skipped"})


# What the schemas ask for and a report does not say: where, how long, of which package.
_REQUIRED: Final = {"hostname": "localhost", "time": "0", "package": "mipaudit", "id": "0"}


def document_junit(document: Document) -> str:
    """Return one test suite: what is not met or inconclusive fails, as the exit code does.

    Elements and attributes are those that both Ant's schema, which asks for most, and that of
    Jenkins' xUnit plugin, which refuses whatever it does not know, accept.
    """
    counts = {
        "tests": len(document.cases),
        "failures": sum(case.status in _FAILING for case in document.cases),
        "errors": 0,
        "skipped": sum(case.status in _SKIPPED for case in document.cases),
    }
    totals = {key: str(count) for key, count in counts.items()}
    root = Element("testsuites")
    suite = SubElement(
        root,
        "testsuite",
        {
            "name": document.title,
            **totals,
            "timestamp": plain(document.created).removesuffix("Z"),
            **_REQUIRED,
        },
    )
    SubElement(suite, "properties")
    for case in document.cases:
        suite.append(_case(case, document.title))
    SubElement(suite, "system-out").text = "\n".join(_said(document))
    SubElement(suite, "system-err")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _case(case: Case, title: str) -> Element:
    element = Element(
        "testcase", {"classname": _group(case, title), "name": plain(case.name), "time": "0"}
    )
    text = plain(case.text)
    if case.status in _FAILING:
        failure = SubElement(element, "failure", {"type": _FAILING[case.status], "message": text})
        failure.text = text
    elif case.status in _SKIPPED:
        SubElement(element, "skipped", {"message": text})
    return element


def _group(case: Case, title: str) -> str:
    return plain(case.group) or title


def _said(document: Document) -> Iterator[str]:
    """Yield the summary, and everything that is a list: findings, assumptions, what is not said."""
    yield plain(document.headline)
    yield plain(document.summary)
    for case in document.cases:
        if case.status == "passed":  # a case has no place for why it passed
            name = f"{_group(case, document.title)}: {plain(case.name)}"
            yield f"{name}: {plain(case.text)}"
    yield from (f"{heading}: {text}" for heading, text in bullets_of(document))
