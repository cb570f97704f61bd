"""A file that an option names."""

from __future__ import annotations

from typing import Any

from mipaudit.options.plain_values import path_of


def file_path(given: Any) -> str:  # noqa: ANN401 - a path
    """Return a path as text.

    Raises:
        ValueError: it is none.
    """
    path = path_of(given)
    if not isinstance(path, str):
        raise ValueError("must be a file")  # noqa: TRY004 - how readers refuse
    return path
