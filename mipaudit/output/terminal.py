"""What the terminal can show, and what is said on stderr beside the report."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from mipaudit.output.destination import Destination
    from mipaudit.statements.reports.any_report import AnyReport


_PIPED_WIDTH: Final = 100


def note(text: str, *, quiet: bool) -> None:
    """Write one line to stderr, unless quiet."""
    if quiet:
        return
    try:
        sys.stderr.write(f"{text}\n")
    except (OSError, ValueError, AttributeError):
        # Nobody listens on stderr: a note is not worth a failure.
        return


def note_written(
    report: AnyReport, place: Destination, *others: tuple[str, Destination], quiet: bool
) -> None:
    """Say which file has what, and the answer, which is not to be seen where a file has it.

    Args:
        report: what was found.
        place: where it went.
        others: what else was written, for people, and where.
        quiet: whether nothing is said.
    """
    parts = [one for one in (*others, ("the report", place)) if one[1].path is not None]
    if quiet or not parts:
        return
    from mipaudit.formats.document import plain

    said = f"Written: {', '.join(f'{what} to {plain(at.name)}' for what, at in parts)}."
    if place.path is not None:
        from mipaudit.formats.documents import answer_of

        said = f"{answer_of(report)} {said}"
    note(said, quiet=False)


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


def table_width(*, to_file: bool) -> int:
    """Return the width of tables in characters.

    COLUMNS decides where it is set; else the terminal; else 100 (a pipe or a file).
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    if to_file or not _is_terminal(sys.stdout):
        return _PIPED_WIDTH
    from shutil import get_terminal_size

    return get_terminal_size((_PIPED_WIDTH, 24)).columns


def use_color(*, to_file: bool) -> bool:
    """Tell whether to colour: only a terminal that can, and never with NO_COLOR."""
    return not to_file and not os.environ.get("NO_COLOR") and _is_able(sys.stdout)


def can_show_progress() -> bool:
    """Tell whether stderr is a terminal that can redraw a line."""
    return _is_able(sys.stderr)


def _is_able(stream: object) -> bool:
    return _is_terminal(stream) and os.environ.get("TERM", "") not in {"", "dumb"}


def _is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    try:
        return bool(isatty()) if callable(isatty) else False
    except ValueError:  # a closed stream
        return False
