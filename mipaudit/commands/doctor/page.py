"""What a report of ``doctor`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.doctor.libraries import install_line
from mipaudit.formats.brief import Brief
from mipaudit.formats.document import Case, Document, Grid, Heading, Pairs, bulleted
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mipaudit.commands.doctor.report import DoctorReport, Library

_MEBIBYTE: Final = 2**20
_STATES: Final = {
    "works": "works",
    "missing": "MISSING",
    "broken": "BROKEN",
    "other_version": "OTHER VERSION",
    "indirect": "",
}


def doctor_document(report: DoctorReport) -> Document:
    """Return the report as a document."""
    cases = [
        Case(
            group="libraries",
            name=one.name,
            status="passed" if one.state == "works" else "failed",
            text=_STATES[one.state],
        )
        for one in report.libraries
        if one.of is None and one.state != "indirect"
    ]
    cases += [
        Case(
            group="known audit",
            name=one.figure,
            status="passed" if one.agrees else "failed",
            text=f"{one.found!r}, and must be {one.known!r}",
        )
        for one in report.known_audit
    ]
    return Document(
        title="mipaudit doctor",
        headline=_headline(report),
        mood="good" if report.works else "bad",
        summary="",
        sections=(
            bulleted("Findings", [f"{one.text} [{one.code}]" for one in report.findings]),
            (Heading(text="Libraries"), _libraries(_installed(report))),
            (Heading(text="Optional parts"), _parts(report)),
            (Heading(text="The machine"), Pairs(pairs=_machine(report))),
            (Heading(text="The audit whose answer is known"), _known(report)),
        ),
        cases=tuple(cases),
        created=report.provenance.created,
    )


def doctor_brief(report: DoctorReport) -> Brief:
    """Return whether it works, what each library is, and what may be added."""
    rest = [one for one in report.libraries if one.state == "indirect"]
    shown = _libraries(one for one in _installed(report) if one.state != "indirect")
    weight = sum(one.bytes or 0 for one in rest)
    total = (f"{len(rest)} that these need", "", "", "", f"{weight / _MEBIBYTE:.1f}")
    missing = [one for one in report.parts if not one.installed]
    added = Grid(
        caption="Optional parts that are not installed",
        head=("part", "gives"),
        rows=tuple((one.name, one.gives) for one in missing),
        words=2,
    )
    about = ", ".join(f"{name} {said}" for name, said in _machine(report))
    return Brief(
        answer=_headline(report),
        mood="good" if report.works else "bad",
        about=f"mipaudit {report.provenance.mipaudit}, {about}.",
        tables=(
            shown._replace(rows=(*shown.rows, *((total,) if rest else ()))),
            *((added,) if missing else ()),
        ),
        following=f"To add them: {install_line(*(one.name for one in missing))}" if missing else "",
        more="More: `full`, -f json.",
    )


def _headline(report: DoctorReport) -> str:
    if not report.works:
        count = sum(one.serious for one in report.findings)
        return f"Does NOT WORK: {count_text(count)} finding{'s' * (count > 1)}."
    if not report.libraries:
        return "Works: the audit whose answer is known comes out to the digit."
    return "Works: every library loads, and the audit whose answer is known comes out to the digit."


def _installed(report: DoctorReport) -> tuple[Library, ...]:
    return tuple(one for one in report.libraries if one.of is None or one.state != "missing")


def _libraries(found: Iterable[Library]) -> Grid:
    return Grid(
        caption="Libraries",
        head=("library", "version", "needed", "state", "MiB"),
        rows=tuple(
            (
                one.name,
                one.version or "-",
                one.needed or "any",
                _STATES[one.state] + (f" (part: {one.of})" if one.of else ""),
                "-" if one.bytes is None else f"{one.bytes / _MEBIBYTE:.1f}",
            )
            for one in found
        ),
        words=4,
    )


def _parts(report: DoctorReport) -> Grid:
    return Grid(
        caption="Optional parts",
        head=("part", "gives", "installed by"),
        rows=tuple(
            (one.name, one.gives, "installed" if one.installed else one.install)
            for one in report.parts
        ),
        words=3,
    )


def _machine(report: DoctorReport) -> tuple[tuple[str, str], ...]:
    origin = report.provenance
    return (
        ("Python", f"{origin.python} on {origin.platform}"),
        ("processors", count_text(report.processors)),
        ("memory", _size(report.memory_bytes)),
        ("temporary space", _size(report.temporary_bytes)),
    )


def _size(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 2**30:.1f} GiB"


def _known(report: DoctorReport) -> Grid:
    return Grid(
        caption="Figures of an audit that must come out to the digit",
        head=("figure", "must be", "is"),
        rows=tuple(
            (one.figure, f"{one.known:.9g}", "-" if one.found is None else f"{one.found:.9g}")
            for one in report.known_audit
        ),
        words=1,
        marked=frozenset(at for at, one in enumerate(report.known_audit) if not one.agrees),
    )
