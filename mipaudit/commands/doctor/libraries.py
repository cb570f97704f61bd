"""The libraries that mipaudit and its optional parts need, as they are installed here."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Final

from mipaudit.commands.doctor.report import Library, Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from packaging.requirements import Requirement

    from mipaudit.commands.doctor.report import State

# What each optional part gives.
GIVES: Final = {
    "accounting": "what DP-SGD and composed mechanisms allow",
    "dask": "audits on a cluster",
    "https": "scores at web addresses",
    "sklearn": "audits of scikit-learn's models",
}
# What is loaded of a library, where its name does not say it.
_LOADED: Final = {
    "dask": "distributed",
    "dp-accounting": "dp_accounting",
    "fsspec": "fsspec.implementations.http",
    "pyarrow": "pyarrow.parquet",
    "scikit-learn": "sklearn",
    "scipy": "scipy.special",
}


def requirements() -> tuple[Requirement, ...]:
    """Return what mipaudit needs, as it was installed, with its optional parts.

    Raises:
        PackageNotFoundError: it was not installed, but is run from its source.
        ImportError: what reads requirements cannot be loaded.
    """
    return tuple(_required(distribution("mipaudit")))


def _required(by: Distribution) -> Iterator[Requirement]:
    from packaging.requirements import Requirement

    return map(Requirement, by.requires or ())


def libraries(required: Iterable[Requirement]) -> Iterator[Library]:
    """Yield the libraries that mipaudit needs, those of optional parts, and what the former need.

    Args:
        required: by mipaudit.
    """
    wanted = [(one, part) for one in required for part in (None, *GIVES) if _is_of(one, part)]
    own = [one.name for one, part in wanted if part is None]
    yield from (_library(one, part) for one, part in wanted)
    yield from map(_indirect, sorted(_below(own) - {*own}))


def parts(found: Iterable[Library]) -> tuple[Part, ...]:
    """Return the optional parts, and which of them are installed."""
    works = {one.of for one in found if one.state == "works"}
    return tuple(
        Part(name=name, gives=gives, installed=name in works, install=install_line(name))
        for name, gives in GIVES.items()
    )


def install_line(*parts: str) -> str:
    """Return what installs optional parts."""
    return f'pip install "mipaudit[{",".join(parts)}]"'


def _is_of(one: Requirement, part: str | None) -> bool:
    """Tell whether an optional part has a requirement; of None, whether mipaudit always has."""
    if one.marker is None:
        return part is None
    always = one.marker.evaluate({"extra": ""})
    return always if part is None else not always and one.marker.evaluate({"extra": part})


def _library(one: Requirement, part: str | None) -> Library:
    found, failure = _installed(one.name), _failure(_LOADED.get(one.name, one.name))
    version = None if found is None else found.version
    state: State = "works"
    if failure is not None:
        # A library of a part may be there for others, without what mipaudit needs of it.
        absent = found is None or (part and isinstance(failure, ModuleNotFoundError))
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
        bytes=_bytes(found),
    )


def _indirect(name: str) -> Library:
    found = _installed(name)
    return Library(
        name=name,
        needed="",
        of=None,
        version=None if found is None else found.version,
        state="missing" if found is None else "indirect",
        failure=None,
        bytes=_bytes(found),
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


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _below(names: Iterable[str]) -> set[str]:
    """Return what libraries need, and what that needs, and so on."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        found = _installed(waiting.pop())
        needed = () if found is None else _required(found)
        new = {one.name.lower() for one in needed if _is_of(one, None)} - seen
        seen |= new
        waiting += new
    return seen


def _bytes(found: Distribution | None) -> int | None:
    """Return what the files of a library take, None where it does not list them."""
    if found is None or found.files is None:
        return None
    # A thousand times as fast as to ask each file for its path.
    root = str(found.locate_file(""))
    total = 0
    for one in found.files:
        try:
            total += os.stat(os.path.join(root, one)).st_size  # noqa: PTH116, PTH118
        except OSError:
            continue  # it was not written, as compiled code is not everywhere
    return total
