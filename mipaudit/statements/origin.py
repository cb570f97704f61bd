"""Where a report came from, and what a setting's value is in it.

Apart, because ``bounds`` and ``noise`` load no other report, and make no sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mipaudit.statements.text.printable_names import public_address

if TYPE_CHECKING:
    from mipaudit.statements.sources import Declaration, InputFile, SeedInUse

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


def complete() -> None:
    """Load every type that a provenance may hold, so that its annotations can be resolved."""
    from mipaudit.statements.sources import Declaration, InputFile, SeedInUse

    globals().update({kind.__name__: kind for kind in (Declaration, InputFile, SeedInUse)})


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
