"""Where a report came from: versions, time, seed, inputs, settings."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.errors import UsageError
from mipaudit.report.origin import InputFile, Provenance, Setting
from mipaudit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The libraries that can change a number, or how a number was read.
_LIBRARIES: Final = ("numpy", "scipy", "pandas", "pyarrow", "polars", "sklearn")


def provenance(
    *, seed: int | None, inputs: Sequence[InputFile], settings: Sequence[Setting]
) -> Provenance:
    """Return the provenance of a run that ends now.

    Raises:
        UsageError: the environment's SOURCE_DATE_EPOCH is not a time.
    """
    return Provenance(
        mipaudit=__version__,
        python=".".join(str(part) for part in sys.version_info[:3]),
        libraries=_loaded_libraries(),
        created=_now(),
        seed=seed,
        inputs=tuple(inputs),
        settings=tuple(settings),
    )


def settings_from(
    values: Mapping[str, object],
    *,
    source: Literal["command line", "api", "default"],
) -> tuple[Setting, ...]:
    """Return one Setting for each value, in order, all from one source."""
    return tuple(
        Setting(name=name, value=setting_text(value), source=source)
        for name, value in values.items()
    )


def setting_text(value: object) -> str:
    """Return a setting's value as the report writes it: ``none``, ``true``, ``a, b``."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return ", ".join(setting_text(part) for part in value)
    return str(value)


def _loaded_libraries() -> dict[str, str]:
    # Asking the modules is free, and says what ran rather than what is installed.
    versions = {}
    for name in _LIBRARIES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            versions[name] = version
    return versions


def _now() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        moment = datetime.now(UTC)
    else:
        try:
            moment = datetime.fromtimestamp(int(epoch), UTC)
        except (ValueError, OverflowError, OSError):
            raise UsageError(
                "source_date_epoch",
                "The environment variable SOURCE_DATE_EPOCH is not a number of seconds.",
                hint="Unset it, or set it to whole seconds since 1970-01-01 UTC.",
            ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
