"""What ``doctor`` says of what it finds."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING, Final

from mipaudit.commands.doctor.libraries import install_line
from mipaudit.statements.estimate import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.doctor.report import KnownFigure, Library

NO_TEMPORARY: Final = Finding(
    code="no_temporary_files",
    text="Temporary files cannot be made, which large CSV files need. Set TMPDIR to a folder that "
    "may be written to.",
    serious=True,
)


def library_finding(one: Library) -> Finding | None:
    """Return what is wrong with a library; of an optional part it hinders nothing else."""
    wanted = f"{one.name}{one.needed}"
    match one.state:
        case "missing" if one.of is None:
            code, said = "library_missing", f"{one.name} is not installed."
        case "broken":
            code = "library_broken"
            said = f"{one.name} {one.version} is installed, and cannot be loaded ({one.failure})."
        case "other_version":
            code = "library_other_version"
            said = f"{one.name} {one.version} is installed, and mipaudit needs {wanted}."
        case _:
            return None
    line = f'pip install --force-reinstall "{wanted}"' if one.of is None else install_line(one.of)
    return Finding(code=code, text=f"{said} Try: {line}", serious=one.of is None)


def unlisted_finding(failure: Exception) -> Finding:
    """Return that it is not known what mipaudit needs."""
    if isinstance(failure, PackageNotFoundError):
        return Finding(
            code="not_installed",
            text="mipaudit runs from its source: which libraries it needs is not known.",
        )
    return Finding(
        code="packaging_broken",
        text="packaging cannot be loaded, and with it matplotlib. Try: pip install packaging",
        serious=True,
    )


def audit_findings(
    figures: tuple[KnownFigure, ...], failure: Exception | None
) -> Iterator[Finding]:
    """Yield what is wrong with the audit whose answer is known."""
    if failure is not None:
        yield Finding(
            code="known_audit_failed",
            text=f"The audit whose answer is known did not end ({type(failure).__name__}): no "
            "other will.",
            serious=True,
        )
    elif not all(one.agrees for one in figures):
        yield Finding(
            code="known_audit_differs",
            text="The audit whose answer is known comes out otherwise: do not use figures of this "
            "installation. Install mipaudit and its libraries again, in a new environment.",
            serious=True,
        )
