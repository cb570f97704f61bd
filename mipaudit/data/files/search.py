"""The files that a path means: itself, all below a folder, or what fits a pattern.

Folders of this machine and of stores are searched alike. What nobody spelt out is read only where
its name begins with neither a point nor an underscore.
"""

from __future__ import annotations

import os
import posixpath
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# What makes a pattern of a path.
MAGIC: Final = frozenset("*?[")
# Characters of a path in a message.
LONGEST: Final = 400
# A path, and the names of the folders that lead to it, counted from the one that was named on, or
# from where a pattern begins to vary: those before are the user's own affair.
FoundFile = tuple[str, tuple[str, ...]]
# The path of what lies in a folder, and whether others lie below it.
Entry = tuple[str, bool]


class Tree(Protocol):
    """Folders, by paths with slashes."""

    def is_folder(self, path: str) -> bool | None:
        """Tell whether ``path`` is a folder, None where nothing is."""

    def children(self, folder: str) -> Iterable[Entry]:
        """Return what lies in a folder; "" is where relative paths begin."""

    def below(self, folder: str) -> Iterable[str]:
        """Return all files below a folder, at any depth; hidden ones may be left out."""


class LocalTree:
    """The folders of this machine.

    A file that is ``planned`` is found as if it were there: its path, links followed.
    """

    def __init__(self, planned: Path | None = None) -> None:
        """Note the planned file."""
        self._planned = planned

    def is_folder(self, path: str) -> bool | None:
        """Tell whether ``path`` is a folder, None where nothing is."""
        place = Path(path)
        return place.is_dir() if place.exists() else None

    def children(self, folder: str) -> Iterator[Entry]:
        """Yield what lies in a folder; nothing of one that is not there.

        Raises:
            InputError: ``unreadable``: it cannot be listed.
        """
        try:
            names = [one.name for one in Path(folder).iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise _unlisted(error) from None
        for path in self._joined(folder, names):
            # Neither is true of a link that leads nowhere.
            if os.path.isdir(path) or self._is_file(path):  # noqa: PTH112 - never raises
                yield path, os.path.isdir(path)  # noqa: PTH112

    def below(self, folder: str) -> Iterator[str]:
        """Yield the files below a folder that are not hidden.

        Raises:
            InputError: ``unreadable``: a folder cannot be listed.
        """

        def unlisted(error: OSError) -> None:
            raise _unlisted(error) from None

        for place, folders, names in os.walk(folder, onerror=unlisted):
            folders[:] = filter(is_visible, folders)
            yield from filter(self._is_file, self._joined(place, names))

    def _joined(self, folder: str, names: list[str]) -> list[str]:
        planned = self._planned
        if planned is not None and Path(folder).resolve() == planned.parent:
            names = [*names, planned.name]
        return [posixpath.join(folder, name) for name in dict.fromkeys(names)]

    def _is_file(self, path: str) -> bool:
        planned = self._planned is not None and self._planned.name == Path(path).name
        return planned or os.path.isfile(path)  # noqa: PTH113 - never raises


def _unlisted(error: OSError) -> InputError:
    """Return the error on a folder whose files nobody can name: a part may be among them."""
    name = safe_name(str(error.filename), longest=LONGEST)
    return InputError(
        "unreadable",
        f"{name}: the folder cannot be listed ({error.strerror}).",
        hint="Make it readable, or name the parts with a pattern that leaves it out.",
    )


def found_files(tree: Tree, path: str, name: str) -> list[FoundFile] | None:
    """Return the files that ``path`` means, in bytewise path order; None where it means nothing.

    Args:
        tree: where they are.
        path: of a file, of a folder, or a pattern.
        name: what messages call it.

    Raises:
        InputError: ``no_parts`` for a folder or a pattern without files.
    """
    is_folder = tree.is_folder(path)
    if is_folder is None and not MAGIC & set(path):
        return None
    if is_folder is False:
        return [(path, ())]
    parts = _names(path)
    if is_folder:
        first = len(parts)
        found = [one for one in tree.below(path) if all(map(is_visible, _names(one)[first:]))]
    else:
        first = next(at for at, part in enumerate(parts) if MAGIC & set(part))
        start = posixpath.join("/" if path.startswith("/") else "", *parts[:first])
        # What ends in a slash means folders, of which no file is one. Two stars can reach a file
        # in several ways.
        wanted = parts[first:] + ("",) * path.endswith("/")
        found = [*dict.fromkeys(_fitting(tree, start, wanted))]
    if not found:
        raise InputError(
            "no_parts",
            f"{name}: no file to read there (hidden files and names that start with _ are left "
            "out).",
        )
    found.sort(key=lambda one: one.encode("utf-8", "surrogateescape"))
    return [(one, _names(one)[first:-1]) for one in found]


def is_visible(name: str) -> bool:
    """Tell whether a file or folder is read where nobody spelt it out."""
    return not name.startswith((".", "_"))


def _names(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.replace(os.sep, "/").split("/") if part)


def _fitting(tree: Tree, folder: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield the files below ``folder`` that fit ``parts``, a name each; ``**`` any folders."""
    part, rest = parts[0], parts[1:]
    if part == "**" and rest:
        yield from _fitting(tree, folder, rest)
    for path, is_folder in tree.children(folder):
        name = posixpath.basename(path)
        # What is spelt out is wanted, also where it is hidden.
        if name != part and not (is_visible(name) and (part == "**" or fnmatch(name, part))):
            continue
        if not is_folder and not rest:
            yield path
        if is_folder and (part == "**" or rest):
            yield from _fitting(tree, path, parts if part == "**" else rest)
