"""What is said, as a value: a code with its numbers.

Whatever decides, decides on the code. The sentence stands in ``report.messages``, where it may be
worded anew without changing an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, Union

Value = Union["Message", str, int, float, bool, tuple[str, ...], None]


@dataclass(frozen=True, slots=True)
class Message:
    """A reason, a finding, or a limitation.

    Attributes:
        code: stable, in snake_case; its sentence is an entry of ``report.messages``.
        values: what the sentence names, as numbers, names and other messages; no prose of ours.
            ``case`` tells apart the sentences of one code.
    """

    code: str
    values: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def of(cls, code: str, /, **values: Value) -> Self:
        """Return a message with these values, but for those that are None."""
        return cls(code, {name: one for name, one in values.items() if one is not None})

    def with_values(self, code: str, /, **values: Value) -> Self:
        """Return it under another code, with further values."""
        return self.of(code, **{**self.values, **values})

    def __hash__(self) -> int:
        """Return a hash: equal messages have one code."""
        return hash(self.code)

    def get(self, name: str, /) -> Value:
        """Return a value; None where the message has none of that name."""
        return self.values.get(name)

    def holds(self, other: Message) -> bool:
        """Tell whether it is another message, or has it within."""
        within = (one for one in self.values.values() if isinstance(one, Message))
        return self == other or any(one.holds(other) for one in within)


class Finding(Message):
    """Something that the reader must know; ``code`` is stable."""

    __slots__ = ()


def fields_of(whole: object, *names: str) -> Mapping[str, Any]:
    """Return fields of a row, or of what else a message is about, to be values of those names."""
    return {name: getattr(whole, name) for name in names}


def is_message(fields: Mapping[str, Any]) -> bool:
    """Tell whether dictionaries stand for a message."""
    return fields.keys() == {"code", "values"}


def message_of(fields: Mapping[str, Any]) -> Message:
    """Return the message that dictionaries of its fields, and of those within it, stand for."""
    values = {
        name: message_of(one) if isinstance(one, dict) else one
        for name, one in fields["values"].items()
    }
    return Message(fields["code"], values)
