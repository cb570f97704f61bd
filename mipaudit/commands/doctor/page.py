"""What a report of ``doctor`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.doctor.libraries import install_line
from mipaudit.formats.document import Case, Document, Grid, Heading, Pairs, bulleted
from mipaudit.report.messages.told import is_serious, told
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.doctor.report import DoctorReport, Library


def doctor_document(report: DoctorReport) -> Document:
    """Return the report as a document."""
    missing = dict.fromkeys(one.of for one in report.libraries if one.of and one.state == "missing")
    parts = [f"For the optional parts: {install_line(*missing)}"] if missing else []
    return Document(
        title="mipaudit doctor",
        headline=_headline(report),
        mood="good" if report.works else "bad",
        summary="",
        sections=(
            bulleted("Findings", [f"{told(one)} [{one.code}]" for one in report.findings]),
            (Heading(text="Libraries"), _libraries(report.libraries)),
            bulleted("Optional parts", parts),
            (Heading(text="The machine"), Pairs(pairs=_machine(report))),
        ),
        cases=tuple(_cases(report)),
        created=report.provenance.created,
    )


def _cases(report: DoctorReport) -> Iterator[Case]:
    found = [
        ("libraries", one.name, one.state == "works", str(one.state))
        for one in report.libraries
        if one.of is None
    ]
    found += [
        ("known audit", one.figure, one.agrees, f"{one.found!r}, and must be {one.known!r}")
        for one in report.known_audit
    ]
    for group, name, well, text in found:
        yield Case(group=group, name=name, status="passed" if well else "failed", text=text)


def _headline(report: DoctorReport) -> str:
    if not report.works:
        count = sum(is_serious(one) for one in report.findings)
        return f"Does NOT WORK: {count_text(count)} finding{'s' * (count > 1)}."
    if not report.libraries:
        return "Works: the known audit comes out to the digit."
    return "Works: every library loads, and the known audit comes out to the digit."


def _libraries(found: tuple[Library, ...]) -> Grid:
    return Grid(
        caption="Libraries",
        head=("library", "version", "needed", "part", "state"),
        rows=tuple(
            (
                one.name,
                one.version or "-",
                one.needed or "any",
                one.of or "-",
                one.state.replace("_", " "),
            )
            for one in found
        ),
        words=5,
    )


def _machine(report: DoctorReport) -> tuple[tuple[str, str], ...]:
    origin = report.provenance
    return (
        ("mipaudit", f"{origin.mipaudit}, Python {origin.python} on {origin.platform}"),
        ("processors", count_text(report.processors)),
        ("memory", _size(report.memory_bytes)),
        ("temporary space", _size(report.temporary_bytes)),
    )


def _size(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 2**30:.1f} GiB"
