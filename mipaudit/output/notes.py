"""What is said on stderr beside the report."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from mipaudit.statements.reports.kinds import AnyReport


def note(text: str, *, quiet: bool) -> None:
    """Write one line to stderr, unless quiet."""
    if quiet:
        return
    try:
        sys.stderr.write(f"{text}\n")
    except (OSError, ValueError, AttributeError):
        # Nobody listens on stderr: a note is not worth a failure.
        return


def note_written(report: AnyReport, *, quiet: bool) -> None:
    """Say that the report is in its file, and its outcome, which is not to be seen otherwise."""
    if quiet:
        return
    from mipaudit.formats.documents import headline_of

    note(f"{headline_of(report)} The report is written.".lstrip(), quiet=False)


def tame_warnings(*, verbose: bool) -> None:
    """Keep the libraries' warnings off stderr: they may quote the data.

    With ``verbose`` their kind and place are shown, never their text.
    """
    if not verbose:
        warnings.simplefilter("ignore")
        return
    warnings.simplefilter("once")
    warnings.showwarning = _show_place


def _show_place(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    del message, file, line
    note(f"Warning: {category.__name__} at {filename}:{lineno}.", quiet=False)
