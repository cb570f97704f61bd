"""``mipaudit doctor``: whether this installation works, and what it lacks.

Beside the libraries it looks at an audit whose answer is known: a small score file, and limits
that it must have.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import warnings
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mipaudit.commands.doctor.options import DoctorOptions
from mipaudit.commands.doctor.report import (
    DoctorReport,
    KnownFigure,
    Library,
    State,
    hinders,
    install_line,
)
from mipaudit.model.message import Finding
from mipaudit.options.public import public

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.requirements import Requirement

    from mipaudit.options.shown import Shown

# The optional parts.
PARTS: Final = ("accounting", "dask", "https", "sklearn")
# What is loaded of a library, where its name does not say it.
_LOADED: Final = {
    "dask": "distributed",
    "dp-accounting": "dp_accounting",
    "fsspec": "fsspec.implementations.http",
    "pyarrow": "pyarrow.parquet",
    "scikit-learn": "sklearn",
    "scipy": "scipy.special",
}
# As `verify` compares numbers: processors and libraries decide the digits behind it.
_TOLERANCE: Final = 1e-9
_ROWS: Final = 400
# By the quantity, the attackers, and which figure.
# A change of a method changes them on purpose; `mipaudit doctor -f json` says what they are then.
_KNOWN: Final = {
    "advantage, any, lower": 0.13117446798071328,
    "advantage, any, value": 0.2289727615054714,
    "advantage, thresholds, upper": 0.364553586132323,
    "advantage, intervals-4, upper": 0.4030737422028543,
    "auc, thresholds, lower": 0.6156588986163656,
}
# Where Linux says what a container may use.
_ALLOWED: Final = Path("/sys/fs/cgroup/memory.max")


def answer_doctor(asked: DoctorOptions) -> DoctorReport:
    """Check whether this installation works, and what it lacks.

    A broken part is a finding, not an error.
    """
    from mipaudit.engine.workers import processors
    from mipaudit.statements.provenance import provenance

    found: tuple[Library, ...] = ()
    unlisted = None
    try:
        found = tuple(_libraries())
    except PackageNotFoundError:
        unlisted = Finding("not_installed")
    except ImportError:
        unlisted = Finding("packaging_broken")
    figures, wrong = _known_audit()
    temporary = _temporary_bytes()
    nowhere = Finding("no_temporary_files") if temporary is None else None
    of_libraries = map(_library_finding, found)
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
    from mipaudit.output import exit_code
    from mipaudit.output.destination import Destination
    from mipaudit.output.presentation import deliver

    destination = Destination.open(shown.output, sha256=shown.sha256)
    report = answer_doctor(asked)
    deliver(report, shown, destination)
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


def _libraries() -> Iterator[Library]:
    """Yield the libraries that mipaudit needs, and those of its optional parts.

    Raises:
        PackageNotFoundError: it was not installed, but is run from its source.
        ImportError: what reads requirements cannot be loaded.
    """
    from packaging.requirements import Requirement

    for one in map(Requirement, distribution("mipaudit").requires or ()):
        yield from (_library(one, part) for part in (None, *PARTS) if _is_of(one, part))


def _library_finding(one: Library) -> Finding | None:
    """Return what is wrong with a library; of an optional part it hinders nothing else."""
    if one.state == "works" or (one.state == "missing" and one.of is not None):
        return None
    wanted = f"{one.name}{one.needed}"
    line = f'pip install --force-reinstall "{wanted}"' if one.of is None else install_line(one.of)
    return Finding.of(
        f"library_{one.state}",
        case="needed" if one.of is None else "optional",
        library=one.name,
        version=one.version,
        failure=one.failure,
        wanted=wanted,
        line=line,
    )


def _is_of(one: Requirement, part: str | None) -> bool:
    """Tell whether an optional part has a requirement; of None, whether mipaudit always has."""
    always = one.marker is None or one.marker.evaluate({"extra": ""})
    if part is None or one.marker is None:
        return always and part is None
    return not always and one.marker.evaluate({"extra": part})


def _library(one: Requirement, part: str | None) -> Library:
    failure = _failure(_LOADED.get(one.name, one.name))
    try:
        version = distribution(one.name).version
    except PackageNotFoundError:
        version = None
    state: State = "works"
    if failure is not None:
        # A library of a part may be there for others, without what mipaudit needs of it.
        absent = version is None or (part and isinstance(failure, ModuleNotFoundError))
        state = "missing" if absent else "broken"
    elif version is not None and not one.specifier.contains(version, prereleases=True):
        state = "other_version"
    return Library(
        name=one.name,
        needed=str(one.specifier),
        of=part,
        version=version,
        state=state,
        failure=None if failure is None else type(failure).__name__,
    )


def _failure(module: str) -> Exception | None:
    """Load a module; return what is raised, whatever it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import_module(module)
        except Exception as error:  # noqa: BLE001 - what is wrong with it is the question
            return error
    return None


def _known_audit() -> tuple[tuple[KnownFigure, ...], Finding | None]:
    """Return each known figure beside what the audit finds, and what is wrong, if anything is.

    The file is written and read as a user's is.
    """
    found: dict[str, float | None] = {}
    wrong = None
    try:
        found = _audited()
    except Exception as error:  # noqa: BLE001 - what is wrong with it is the question
        wrong = Finding.of("known_audit_failed", failure=type(error).__name__)
    figures = tuple(
        KnownFigure(
            figure=name,
            known=known,
            found=found.get(name),
            agrees=math.isclose(found.get(name) or math.nan, known, rel_tol=_TOLERANCE),
        )
        for name, known in _KNOWN.items()
    )
    if wrong is None and not all(one.agrees for one in figures):
        wrong = Finding("known_audit_differs")
    return figures, wrong


def _audited() -> dict[str, float | None]:
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    from mipaudit.commands.estimate.run import estimate
    from mipaudit.output.staged_file import unfinished

    row = np.arange(_ROWS)
    member = row % 2 == 0
    # One division and one product: the same on every processor.
    score = (row * 617 % 997) / 997
    score[member] *= score[member]
    path = Path(tempfile.gettempdir()) / f"mipaudit-{os.urandom(6).hex()}.parquet"
    with unfinished(path):
        path.touch(mode=0o600, exist_ok=False)
        parquet.write_table(pa.table({"member": member, "score": score}), path)
        report = estimate(path)
    return {
        f"{one.quantity}, {one.attackers}, {side}": getattr(one, side)
        for one in report.estimates
        for side in ("lower", "value", "upper")
    }
