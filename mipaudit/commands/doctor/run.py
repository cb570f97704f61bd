"""``mipaudit doctor``: whether this installation works, and what it lacks."""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mipaudit.commands.doctor.options import DoctorOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from mipaudit.commands.doctor.report import DoctorReport, Library
    from mipaudit.options.groups.shown import Shown

# Where Linux says what a container may use.
_ALLOWED: Final = Path("/sys/fs/cgroup/memory.max")


def answer_doctor(asked: DoctorOptions) -> DoctorReport:
    """Say whether this installation works, and what it lacks.

    Nothing that is broken raises: it is a finding.
    """
    from mipaudit.commands.doctor import libraries
    from mipaudit.commands.doctor.conclusion import hinders
    from mipaudit.commands.doctor.known_audit import known_audit
    from mipaudit.commands.doctor.report import DoctorReport
    from mipaudit.engine.workers import processors
    from mipaudit.statements.estimate import Finding
    from mipaudit.statements.provenance import provenance

    found: tuple[Library, ...] = ()
    unlisted = None
    try:
        found = tuple(libraries.libraries())
    except PackageNotFoundError:
        unlisted = Finding("not_installed")
    except ImportError:
        unlisted = Finding("packaging_broken")
    figures, wrong = known_audit()
    temporary = _temporary_bytes()
    nowhere = Finding("no_temporary_files") if temporary is None else None
    of_libraries = map(libraries.library_finding, found)
    findings = tuple(one for one in (unlisted, *of_libraries, wrong, nowhere) if one is not None)
    return DoctorReport(
        command="doctor",
        works=not any(map(hinders, findings)),
        processors=processors(),
        memory_bytes=_memory_bytes(),
        temporary_bytes=temporary,
        libraries=found,
        known_audit=figures,
        findings=findings,
        provenance=provenance(seed=None, inputs=(), settings=asked.recorded()),
    )


doctor = public(DoctorOptions, answer_doctor)


def run_doctor(asked: DoctorOptions, shown: Shown) -> int:
    """Look at the installation, and write the answer; return the exit code."""
    from mipaudit.options.groups.shown import form_of
    from mipaudit.output import exit_code
    from mipaudit.output.destination import Destination
    from mipaudit.output.presentation import present
    from mipaudit.output.terminal import note_written

    destination = Destination.open(shown.output, sha256=shown.sha256)
    report = answer_doctor(asked)
    try:
        present(report, shown, destination)
    except ImportError:
        if (shown.format or form_of(destination.name)) != "json":
            raise
        # What writes JSON is what is broken.
        import json
        from dataclasses import asdict

        destination.write(json.dumps(asdict(report), indent=2).encode() + b"\n")
    note_written(report, destination, quiet=shown.quiet)
    return exit_code.OK if report.works else exit_code.USAGE


def _temporary_bytes() -> int | None:
    """Return how much is free where temporary files are made; None where none can be."""
    try:
        return shutil.disk_usage(tempfile.gettempdir()).free
    except OSError:
        return None


def _memory_bytes() -> int | None:
    """Return the memory of the machine, or what its container allows of it."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(total, int(_ALLOWED.read_text(encoding="ascii")))
    except (OSError, ValueError):
        return total
