"""Where a report came from: versions, time, seed, inputs, settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.errors import InputError, UsageError
from mipaudit.statements.origin import Provenance, Setting, plain_value
from mipaudit.version import __version__

if TYPE_CHECKING:
    from mipaudit.statements.sources import Decided, InputFile, SeedInUse
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
    from mipaudit.statements.sources import SeedInUse

    return tuple(
        SeedInUse(score=one, seed=f"{used:016x}", decides=decides) for one, used in seeds.items()
    )


def settings_from(
    values: Mapping[str, object],
    *,
    source: Literal["command line", "api", "default"],
) -> tuple[Setting, ...]:
    """Return one Setting for each value, in order, all from one source."""
    return tuple(
        Setting(name=name, value=plain_value(value), source=source)
        for name, value in values.items()
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
            hint="Unset it, or set it to whole seconds since 1970-01-01 UTC.",
        ) from None


def time_of(created: str) -> datetime:
    """Return the time of a report, which names it as `TIME_FORM` has it.

    Raises:
        InputError: ``bad_report``: it does not.
    """
    try:
        return datetime.strptime(created, TIME_FORM).replace(tzinfo=UTC)
    except ValueError:
        raise InputError(
            "bad_report",
            "The report's time is not in the form that mipaudit writes.",
            hint="Use the file as the command wrote it.",
        ) from None


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
