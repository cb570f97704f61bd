"""What a report of ``doctor`` concludes: its answer as a code, and what remains to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.model.message import Message

if TYPE_CHECKING:
    from mipaudit.commands.doctor.report import DoctorReport, Library


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
