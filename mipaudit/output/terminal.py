"""What the terminal can show: width, colour, progress."""

from __future__ import annotations

import os
import sys
from typing import Final

_PIPED_WIDTH: Final = 100


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
