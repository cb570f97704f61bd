"""From what the user typed to the files that are read, in order."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Final

from mipaudit.errors import InputError, UsageError
from mipaudit.report.names import safe_name

_MAGIC: Final = frozenset("*?[")


def expand_paths(spec: str) -> tuple[Path, ...]:
    """Return the files that ``spec`` means, in bytewise path order.

    Args:
        spec: a file, a directory (searched to any depth; hidden files and names
            that start with ``_`` are left out) or a glob.

    Raises:
        InputError: ``no_such_file`` or ``no_parts``.
        UsageError: ``uri``.
    """
    if "://" in spec:
        raise UsageError(
            "uri", "Remote addresses are not read in this version.", hint="Copy the file here."
        )
    path = Path(spec)
    if path.is_dir():
        return _ordered(_directory_parts(path), spec)
    if path.exists():
        return (path,)
    if _MAGIC & set(spec):
        found = [Path(name) for name in glob.glob(spec, recursive=True)]  # noqa: PTH207
        # What the user spelt out is wanted, also where it begins with an underscore.
        spelt = set(path.parts)
        shown = [p for p in found if all(map(_visible, set(p.parts) - spelt))]
        return _ordered([p for p in shown if p.is_file()], spec)
    raise InputError(
        "no_such_file", f"There is no file {safe_name(spec, longest=400)}.", hint=_closest(path)
    )


def _visible(name: str) -> bool:
    return not name.startswith((".", "_"))


def _directory_parts(root: Path) -> list[Path]:
    parts: list[Path] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if _visible(name)]
        parts += [Path(folder, name) for name in names if _visible(name)]
    return [path for path in parts if path.is_file()]


def _ordered(parts: list[Path], spec: str) -> tuple[Path, ...]:
    if not parts:
        raise InputError(
            "no_parts",
            f"{safe_name(spec, longest=400)}: no file to read there "
            "(hidden files and names that start with _ are left out).",
        )
    return tuple(sorted(parts, key=os.fsencode))


def _closest(path: Path) -> str | None:
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"There is no directory {safe_name(str(path.parent), longest=400)} either."
    close = get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f"Did you mean {safe_name(str(path.parent / close[0]), longest=400)}?" if close else None
