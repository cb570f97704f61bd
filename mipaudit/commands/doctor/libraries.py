"""The libraries that mipaudit and its optional parts need, as they are installed here."""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Final

from mipaudit.commands.doctor.report import Library
from mipaudit.statements.estimate import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.requirements import Requirement

    from mipaudit.commands.doctor.report import State

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


def libraries() -> Iterator[Library]:
    """Yield the libraries that mipaudit needs, and those of its optional parts.

    Raises:
        PackageNotFoundError: it was not installed, but is run from its source.
        ImportError: what reads requirements cannot be loaded.
    """
    from packaging.requirements import Requirement

    for one in map(Requirement, distribution("mipaudit").requires or ()):
        yield from (_library(one, part) for part in (None, *PARTS) if _is_of(one, part))


def install_line(*parts: str) -> str:
    """Return what installs optional parts."""
    return f'pip install "mipaudit[{",".join(parts)}]"'


def library_finding(one: Library) -> Finding | None:
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
