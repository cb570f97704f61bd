"""Where a report came from. Apart, because ``bounds`` and ``noise`` load no other report.

That a report was judged again from the limits that it holds, without the data.

The value of a setting as a report writes it, and back: nothing is lost on the way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from mipaudit.statements.text.printable_names import public_address
from mipaudit.statements.text.rounding import percent_text

_BEGINNING: Final = "It was judged again"
_NONE: Final = "none"
_JOINT: Final = ", "
# A text that begins so is JSON; a plain text that would begin so is written as JSON.
_JSON: Final = ('"', "[", "{")
_NUMBER: Final = re.compile(r"\b(float|int)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """One input as it was read. ``sha256`` covers all of it, or is None with a ``fingerprint``."""

    name: str
    rows: int
    bytes: int | None
    sha256: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting and where it came from.

    ``where`` is the environment variable or the policy file that set it; of the setting
    ``config``, the policy file itself, it is the sha256.
    """

    name: str
    value: str
    source: Literal["command line", "environment", "file", "api", "default"]
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedInUse:
    """The seed that the rows of one statement were assigned with.

    ``score`` is the column or the vector, None where all enter one statement. ``seed`` is a
    number of 64 bits as 16 hexadecimal digits: not every reader of JSON takes it as a number.
    """

    score: str | None
    seed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """When, with what, from what: everything that may differ between two equal runs.

    ``seed`` is the one that was stated, or drawn fresh, as ``seed_origin`` says; None for the
    default. The ``seeds`` in use follow from it and from the rows. Reports of versions that
    used the seed as it was stated have no ``seed_origin``. ``unused_columns`` were there and
    had no part in the report: names of rows, labels, and what was not asked for.

    ``platform`` is the kind of system and processor, None in reports older than the field.
    Who ran it, and on which machine, is not recorded.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """How the verdict of a report came about after the report.

    Attributes:
        limits: how many the verdict is over: those of the policy, and one for a claim.
        confidence: of the verdict; lower than that of the report's figures.
        settings: the limits, with where they came from; the provenance keeps those under
            which the figures were made.
        created: UTC time, by which waivers expire.
    """

    limits: int
    confidence: float
    settings: tuple[Setting, ...]
    created: str


def rejudged_words(rejudged: Rejudged) -> str:
    """Say how sure a verdict is that was reached without the data."""
    over = "one limit" if rejudged.limits == 1 else f"{rejudged.limits} limits"
    return (
        f"{_BEGINNING} from the limits in the report, not from the data: the verdict, over "
        f"{over}, holds with {percent_text(rejudged.confidence)} confidence, if what is limited "
        "was chosen without looking at the figures."
    )


def is_rejudged_words(text: str) -> bool:
    """Tell whether a limitation is what :func:`rejudged_words` says."""
    return text.startswith(_BEGINNING)


def setting_text(value: object) -> str:
    """Return a setting's value as the report writes it: ``none``, ``true``, ``a, b``.

    What would be read back as something else is written as JSON: ``"none"`` is a text,
    ``["a, b"]`` a list of one.
    """
    if value is None:
        return _NONE
    if isinstance(value, bool):
        return _flag(value)
    if isinstance(value, str):
        value = public_address(value)
        return _json(value) if value == _NONE or not value or value[0] in _JSON else value
    if isinstance(value, Mapping):
        return _json(value)
    if isinstance(value, (tuple, list)):
        return _JOINT.join(map(_member, value)) if all(map(_joins, value)) else _json(value)
    return str(value)


def setting_value(text: str, kind: str) -> Any:  # noqa: ANN401 - whatever the setting takes
    """Return the value that ``text`` was written from.

    Args:
        text: as :func:`setting_text` writes it.
        kind: what the setting takes: the annotation of its keyword, as text. Sequences come
            back as tuples.

    Raises:
        ValueError: ``text`` is no such value.
    """
    if text == _NONE:
        return None
    if kind == "bool":
        return _as_flag(text)
    listed = re.search(r"Sequence|Iterable|tuple", kind) is not None
    if text.startswith(_JSON):
        import json

        return _frozen(json.loads(text))
    if not listed:
        return _number(text, kind) if _NUMBER.search(kind) else text
    parts = text.split(_JOINT) if text else []
    if "str" in kind or not _NUMBER.search(kind):
        return tuple(parts)
    numbers = tuple(_number(part, kind) for part in parts)
    # `int | tuple[int, int]`: one number alone is itself.
    return numbers[0] if len(numbers) == 1 and re.match(r"(float|int)\b", kind) else numbers


def _joins(value: object) -> bool:
    """Whether a part of a list can stand between commas and be told apart again."""
    if isinstance(value, str):
        # A comma inside is no end of a part, as in `d1,d2`: a space would have to follow.
        plain = bool(value) and value[0] not in _JSON and value != _NONE
        return plain and _JOINT not in value and value[-1] != "," and value[0] != " "
    return value is not None and not isinstance(value, (tuple, list, Mapping))


def _member(value: object) -> str:
    return _flag(value) if isinstance(value, bool) else str(value)


def _flag(value: bool) -> str:  # noqa: FBT001
    return "true" if value else "false"


def _as_flag(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ValueError("neither true nor false")
    return text == "true"


def _number(text: str, kind: str) -> float | int:
    if text.lstrip("-").isdigit():
        return int(text)
    found = float(text)
    if "float" in kind:
        return found
    if found.is_integer():  # typed as 1e4
        return int(found)
    raise ValueError("no whole number")


def _json(value: str | tuple[Any, ...] | list[Any] | Mapping[str, Any]) -> str:
    import json

    return json.dumps(dict(value) if isinstance(value, Mapping) else value, default=_plain)


def _plain(value: Any) -> Any:  # noqa: ANN401 - such as numpy's numbers
    return dict(value) if isinstance(value, Mapping) else getattr(value, "item", value.__str__)()


def _frozen(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return lists as tuples, as the settings have them."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
