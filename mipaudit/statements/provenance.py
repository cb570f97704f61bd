"""Where a report came from: versions, time, seeds, inputs, settings, and what was declared."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mipaudit.errors import UsageError, bad_report
from mipaudit.statements.choices import SeenBy  # noqa: TC001 - the codec reads it
from mipaudit.statements.printable_names import public_address
from mipaudit.version import __version__

if TYPE_CHECKING:
    from mipaudit.summaries.seed import SeedChoice

# The libraries that can change a number, or how a number was read.
_LIBRARIES: Final = ("numpy", "scipy", "pandas", "pyarrow", "polars", "sklearn")
TIME_FORM: Final = "%Y-%m-%dT%H:%M:%SZ"
_AS_OF: Final[ContextVar[tuple[datetime, date] | None]] = ContextVar("as_of", default=None)


def provenance(
    *,
    seed: SeedChoice | int | None,
    inputs: Sequence[InputFile],
    settings: Sequence[Setting],
    seeds: Mapping[str | None, int] = MappingProxyType({}),
    decides: Decided = "rows",
    unused_columns: Sequence[str] = (),
) -> Provenance:
    """Return the provenance of a run that ends now.

    Args:
        seed: which one was asked for; a number where the command uses it as it is.
        inputs: what was read.
        settings: of the run.
        seeds: in use, by score; of None where all scores enter one statement.
        decides: what the seeds in use decide.
        unused_columns: of the input.

    Raises:
        UsageError: the environment's SOURCE_DATE_EPOCH is not a time.
    """
    return Provenance(
        mipaudit=__version__,
        python=".".join(str(part) for part in sys.version_info[:3]),
        libraries=_loaded_libraries(),
        created=moment().strftime(TIME_FORM),
        seed=seed if seed is None or isinstance(seed, int) else seed.number,
        inputs=tuple(inputs),
        settings=tuple(settings),
        platform=_platform(),
        seed_origin=None if seed is None or isinstance(seed, int) else seed.origin,
        seeds=_in_use(seeds, decides) if seeds else (),
        unused_columns=tuple(unused_columns),
    )


def _in_use(seeds: Mapping[str | None, int], decides: Decided) -> tuple[SeedInUse, ...]:
    return tuple(
        SeedInUse(score=one, seed=f"{used:016x}", decides=decides) for one, used in seeds.items()
    )


@contextmanager
def as_of(time: datetime, day: date | None = None) -> Iterator[None]:
    """Let runs within be of another time: a report is recomputed as of its own.

    Args:
        time: of the report.
        day: by which waivers expire; None for that of the time.
    """
    token = _AS_OF.set((time, time.date() if day is None else day))
    try:
        yield
    finally:
        _AS_OF.reset(token)


def moment() -> datetime:
    """Return the time of the run, in UTC: now, or what SOURCE_DATE_EPOCH says.

    Raises:
        UsageError: the environment's SOURCE_DATE_EPOCH is not a time.
    """
    past = _AS_OF.get()
    if past is not None:
        return past[0]
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(epoch), UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            "source_date_epoch",
            "The environment variable SOURCE_DATE_EPOCH is not a number of seconds.",
            "Unset it, or set it to whole seconds since 1970-01-01 UTC.",
        ) from None


def time_of(created: str) -> datetime:
    """Return the time of a report, which names it as `TIME_FORM` has it.

    Raises:
        InputError: ``bad_report``: it does not.
    """
    try:
        return datetime.strptime(created, TIME_FORM).replace(tzinfo=UTC)
    except ValueError:
        raise bad_report("The report's time is not in the form that mipaudit writes.") from None


def waiver_day() -> date:
    """Return the day by which waivers expire, in UTC.

    SOURCE_DATE_EPOCH can move it on, to see what will have expired, and not back: whoever
    sets the environment must not give a waiver new life.

    Raises:
        UsageError: the environment's SOURCE_DATE_EPOCH is not a time.
    """
    past = _AS_OF.get()
    if past is not None:
        return past[1]
    return max(moment(), datetime.now(UTC)).date()


def _loaded_libraries() -> dict[str, str]:
    # Asking the modules is free, and says what ran rather than what is installed.
    versions = {}
    for name in _LIBRARIES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            versions[name] = version
    return versions


def _platform() -> str:
    """Return the kind of system and processor, on which last digits can depend.

    Neither its name nor its user's: they say nothing about a number, and something about
    a person.
    """
    if not hasattr(os, "uname"):
        return sys.platform
    system = os.uname()
    return f"{system.sysname} {system.machine}"


Decided = Literal["rows", "ties"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """One input as it was read. ``sha256`` covers all of it, or is None with a ``fingerprint``."""

    name: str
    rows: int
    bytes: int | None
    sha256: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedInUse:
    """The seed that the rows of one statement were assigned with.

    ``score`` is the column or the vector, None where all enter one statement. ``seed`` is a
    number of 64 bits as 16 hexadecimal digits: not every reader of JSON takes it as a number.

    What it ``decides`` are ``rows``: which of them train. Of summaries it decides ``ties`` and
    tests alone: which rows train followed from a seed of each summary.
    """

    score: str | None
    seed: str
    decides: Decided = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What the report's author declares about it and the release; nobody checks it.

    ``subjects`` is how many people the data are about, ``seen_by`` who may see the release.
    """

    title: str | None = None
    release: str | None = None
    author: str | None = None
    data: str | None = None
    subjects: int | None = None
    controller: str | None = None
    sensitivity: str | None = None
    seen_by: SeenBy | None = None


# What JSON has. Tuples are lists, and days and infinities texts.
# Stands behind the sha256 of such a file.
FOREIGN: Final = ", of another user"
Value: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting and where it came from.

    ``value`` is as the option has it.
    ``where`` is the environment variable or the policy file that set it; of the setting
    ``config``, the policy file itself, it is the sha256, and whether it is of another user.
    """

    name: str
    value: Value
    source: Literal["command line", "environment", "file", "api", "default"]
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """When, with what, from what: everything that may differ between two equal runs.

    ``seed`` is the one that was stated, or drawn fresh, as ``seed_origin`` says; None for the
    default. The ``seeds`` in use follow from it and from the rows. Where nothing is drawn by the
    rows there is no ``seed_origin``. ``unused_columns`` were there and had no part in the report:
    names of rows, labels, and what was not asked for.

    ``platform`` is the kind of system and processor, None where a report lacks it.
    Who ran it, and on which machine, is not recorded, but what they ``declared``.
    """

    mipaudit: str
    python: str
    libraries: dict[str, str]
    created: str
    seed: int | None
    inputs: tuple[InputFile, ...]
    settings: tuple[Setting, ...]
    platform: str | None = None
    seed_origin: Literal["default", "stated", "fresh"] | None = None
    seeds: tuple[SeedInUse, ...] = ()
    unused_columns: tuple[str, ...] = ()
    declared: Declaration | None = None

    @property
    def contents(self) -> tuple[tuple[str, str | None], ...]:
        """Return the names of what was read, each with what stands for the content."""
        return tuple((one.name, one.sha256 or one.fingerprint) for one in self.inputs)

    @property
    def of_summaries(self) -> bool:
        """Tell whether the rows were counted elsewhere, each part by a seed of its own."""
        return any(one.decides == "ties" for one in self.seeds)


def changed_file(
    some: Iterable[tuple[str, str | None]], others: Iterable[tuple[str, str | None]]
) -> str | None:
    """Return a name that files of both have, with other contents; None where there is none.

    Args:
        some: names, and what stands for the contents, where it is known.
        others: likewise.
    """
    known: dict[str, set[str]] = {}
    for name, content in some:
        if content is not None:
            known.setdefault(name, set()).add(content)
    return next(
        (
            name
            for name, content in others
            if content is not None and content not in known.get(name, {content})
        ),
        None,
    )


def plain_value(value: object) -> Value:  # noqa: PLR0911 - one for each kind
    """Return a setting's value as JSON has it; what addresses hide stays hidden."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return public_address(value)
        case float():
            return value if isfinite(value) else str(value)
        case Mapping():
            return {str(key): plain_value(one) for key, one in value.items()}
        case tuple() | list():
            return [plain_value(one) for one in value]
        case date():
            return value.isoformat()
    item = getattr(value, "item", None)  # of numpy's numbers
    return str(value) if item is None else plain_value(item())


def value_words(value: Value) -> str:
    """Return a setting's value for people: ``none``, ``true``, ``a, b``."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case list():
            return ", ".join(map(value_words, value))
        case dict():
            return ", ".join(f"{key}: {value_words(one)}" for key, one in value.items())
        case _:
            return str(value)
