"""What ``doctor`` returns, prints and writes: the JSON format ``mipaudit.doctor/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.model.message import Message
from mipaudit.statements.any_report import AnyReport

State = Literal["works", "missing", "broken", "other_version"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A library that mipaudit needs.

    Attributes:
        name: as pip knows it.
        needed: the versions that are asked for; empty for any.
        of: the optional part that needs it, or None: mipaudit does.
        version: that is installed, None for none.
        state: ``broken`` cannot be loaded.
        failure: the kind of error with which it cannot be loaded.
    """

    name: str
    needed: str
    of: str | None
    version: str | None
    state: State
    failure: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFigure:
    """A figure of the audit whose answer is known; ``found`` is None where it did not end."""

    figure: str
    known: float
    found: float | None
    agrees: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DoctorReport(AnyReport):
    """Whether this installation works, and what it lacks.

    Attributes:
        works: whether every library loads in a version that is asked for, and the audit whose
            answer is known comes out.
        processors: that this process may use.
        memory_bytes: of the machine, or what its container allows; None where that is unknown.
        temporary_bytes: free where large CSV files are set aside; None: files cannot be made there.
        libraries: that mipaudit and its optional parts need.
        known_audit: each figure beside what it must be.
    """

    works: bool
    processors: int
    memory_bytes: int | None
    temporary_bytes: int | None
    libraries: tuple[Library, ...]
    known_audit: tuple[KnownFigure, ...]


def answer(report: DoctorReport) -> Message:
    """Return whether the installation works."""
    if not report.works:
        return Message.of("installation_fails", findings=sum(map(hinders, report.findings)))
    if not report.libraries:
        return Message("known_audit_agrees")
    broken = [one for one in report.libraries if one.state in {"broken", "other_version"}]
    return Message.of("installation_works", broken=len(broken) or None)


def to_install(report: DoctorReport) -> str:
    """Return what installs the optional parts that do not work here; empty where all do."""
    parts = dict.fromkeys(one.of for one in report.libraries if one.of and one.state != "works")
    return install_line(*parts) if parts else ""


def hinders(finding: Message) -> bool:
    """Tell whether mipaudit itself does not work because of a finding."""
    return finding.code != "not_installed" and finding.get("case") != "optional"


def needed_always(report: DoctorReport) -> tuple[Library, ...]:
    """Return the libraries that are of no optional part."""
    return tuple(one for one in report.libraries if one.of is None)


def install_line(*parts: str) -> str:
    """Return what installs optional parts."""
    return f'pip install "mipaudit[{",".join(parts)}]"'
