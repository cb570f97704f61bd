"""From an address to the objects that it means: a file, a folder, a pattern."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from mipaudit.errors import InputError
from mipaudit.reading.stores.opening import open_store
from mipaudit.reading.stores.remote_store import ask_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mipaudit.reading.stores.address import Address
    from mipaudit.reading.stores.remote_store import Entry, Store

_MAGIC: Final = frozenset("*?[")


def remote_files(address: Address) -> list[tuple[str, tuple[str, ...]]]:
    """Return the objects that ``address`` means, in bytewise path order.

    Args:
        address: of an object, a folder (searched to any depth; hidden files and names that
            start with ``_`` are left out) or a pattern.

    Returns:
        The path in the store of each, and the names of the folders that lead to it from the
        folder that was named, or from where the pattern begins to vary.

    Raises:
        InputError: ``no_such_file`` or ``no_parts``.
        MipauditError: as ``ask_store``.
    """
    store = open_store(address)
    path = f"{address.path}?{address.query}" if address.query else address.path
    pattern = _MAGIC - {"?"} if address.is_web else _MAGIC
    if pattern & set(address.path):
        if not address.is_web and _is_file(store, path):
            return [(path, ())]
        return _ordered(store, _matching(store, address.path), address)
    entry = ask_store(store, path, lambda: store.look(path))
    if entry is None:
        raise InputError("no_such_file", f"There is no file {address.name(store.shown(path))}.")
    if not entry.is_folder:
        return [(path, ())]
    return _ordered(store, _below(store, entry.path), address)


def _is_file(store: Store, path: str) -> bool:
    entry = ask_store(store, path, lambda: store.look(path))
    return entry is not None and not entry.is_folder


def _visible(name: str) -> bool:
    return not name.startswith((".", "_"))


def _names(store: Store, path: str) -> tuple[str, ...]:
    return tuple(store.shown(part) for part in path.split("/") if part)


def _below(store: Store, folder: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the visible objects below ``folder``, with their folders."""
    depth = len(_names(store, folder))
    found = ask_store(store, folder, lambda: store.below(folder))
    named = [(entry.path, _names(store, entry.path)[depth:]) for entry in found]
    return [(path, names[:-1]) for path, names in named if names and all(map(_visible, names))]


def _matching(store: Store, pattern: str) -> list[tuple[str, tuple[str, ...]]]:
    parts = [part for part in pattern.split("/") if part]
    first = next(at for at, part in enumerate(parts) if _MAGIC & set(part))
    # Two stars can reach a file in several ways.
    found = dict.fromkeys(_expanded(store, "/".join(parts[:first]), parts[first:]))
    shown = {path: _names(store, path)[first:] for path in found}
    return [(path, names[:-1]) for path, names in shown.items()]


def _expanded(store: Store, folder: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield the objects below ``folder`` that match ``parts``, a name each; ``**`` any folders."""
    part, rest = parts[0], parts[1:]
    if part == "**" and rest:
        yield from _expanded(store, folder, rest)
    for entry in _children(store, folder):
        if not _fits(store.shown(entry.path.rpartition("/")[2]), part):
            continue
        if not entry.is_folder and not rest:
            yield entry.path
        if entry.is_folder and part == "**":
            yield from _expanded(store, entry.path, parts)
        elif entry.is_folder and rest:
            yield from _expanded(store, entry.path, rest)


def _fits(name: str, part: str) -> bool:
    # What is spelt out is wanted, also where it is hidden.
    return name == part or (_visible(name) and (part == "**" or fnmatchcase(name, part)))


def _children(store: Store, folder: str) -> Sequence[Entry]:
    return ask_store(store, folder, lambda: store.children(folder))


def _ordered(
    store: Store, found: Iterable[tuple[str, tuple[str, ...]]], address: Address
) -> list[tuple[str, tuple[str, ...]]]:
    parts = sorted(found, key=lambda one: store.shown(one[0]).encode("utf-8", "surrogateescape"))
    if not parts:
        raise InputError(
            "no_parts",
            f"{address.name(address.path)}: no file to read there "
            "(hidden files and names that start with _ are left out).",
        )
    return parts
