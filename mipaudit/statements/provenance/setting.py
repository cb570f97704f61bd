"""The value of a setting as a report writes it, and back: nothing is lost on the way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from mipaudit.statements.text.printable_names import public_address

_NONE: Final = "none"
_JOINT: Final = ", "
# A text that begins so is JSON; a plain text that would begin so is written as JSON.
_JSON: Final = ('"', "[", "{")
_NUMBER: Final = re.compile(r"\b(float|int)\b")


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
    if "float" not in kind:
        return int(text)
    found = float(text)
    return int(text) if text.lstrip("-").isdigit() else found


def _json(value: str | tuple[Any, ...] | list[Any] | Mapping[str, Any]) -> str:
    import json

    return json.dumps(dict(value) if isinstance(value, Mapping) else value, default=_plain)


def _plain(value: Any) -> Any:  # noqa: ANN401 - such as numpy's numbers
    return dict(value) if isinstance(value, Mapping) else getattr(value, "item", value.__str__)()


def _frozen(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return lists as tuples, as the settings have them."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
