"""JSON that a type takes: made of the type alone, or of a document of it of which parts change."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    import random

_NUMBERS: Final = (0.0, 0.5, 1.0, 0.05, 0.95, 0.3, -0.0, -1.0, 2.0, 1e-9, 1e-300, 5e-324, 1e308)
_COUNTS: Final = (0, 1, 2, 7, 64, 1000, -1, 10**9, 2**53 + 1, 2**63 - 1, -(2**63))
_WORDS: Final = (
    *("score", "loss", "any", "advantage", "excess", "auc", "ppv", "", " ", "*", "x" * 300),
    *("met", "2026-01-02T03:04:05Z", "2026-12-31", "0" * 64, "mipaudit.report/3", "a.csv", "out"),
    *("é\u202e\u0000", "\u001b[2J", "<b>&amp;", "]]>", "`|`\n# x", "{}", "%s", "../x", "::error::"),
    *("NaN", "1e999", "-", "=1+1", "\ud7ff\U0010ffff", "[0.1, 0.2]", "none", "true"),
)
_DEEPEST: Final = 12


@cache
def shape_of(kind: Any) -> Any:
    """Return what msgspec knows of a type."""
    return msgspec.inspect.type_info(kind)


def made(kind: Any, draw: random.Random, depth: int = 0) -> Any:
    """Return JSON of a type, where ``kind`` is its shape."""
    inspect = msgspec.inspect
    ended = depth > _DEEPEST
    match kind:
        case inspect.UnionType(types=types):
            plain = [one for one in types if isinstance(one, inspect.NoneType)]
            found = made(draw.choice(plain if ended and plain else types), draw, depth)
        case inspect.DataclassType(fields=fields):
            wanted = [one for one in fields if one.required or draw.random() < 0.9]
            found = {one.encode_name: made(one.type, draw, depth + 1) for one in wanted}
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            many = 0 if ended else draw.choice((0, 1, 1, 2, 3))
            found = [made(item, draw, depth + 1) for _ in range(many)]
        case inspect.TupleType(item_types=items):
            found = [made(one, draw, depth + 1) for one in items]
        case inspect.DictType(key_type=key, value_type=value):
            pairs = ((made(key, draw), made(value, draw, depth + 1)) for _ in range(2))
            found = {str(name): one for name, one in pairs}
        case inspect.LiteralType(values=values):
            found = draw.choice(values)
        case _:
            found = _leaf(kind, draw)
    return found


def _leaf(kind: Any, draw: random.Random) -> Any:
    """Return a plain value; of whatever is allowed anywhere, any."""
    inspect = msgspec.inspect
    of = {
        inspect.NoneType: (None,),
        inspect.BoolType: (True, False),
        inspect.IntType: (*_COUNTS, *(draw.randrange(3000) for _ in _COUNTS)),
        inspect.FloatType: (*_NUMBERS, *(round(draw.random(), 6) for _ in _NUMBERS)),
        inspect.StrType: _WORDS,
    }
    return draw.choice(of.get(type(kind), (None, True, 7, 0.25, "x", [1, "a"], [])))


def changed(kind: Any, value: Any, draw: random.Random, often: float) -> Any:
    """Return a document of a type with each part made anew with a chance of ``often``."""
    inspect = msgspec.inspect
    if draw.random() < often:
        return made(kind, draw)
    match kind:
        case inspect.UnionType(types=types):
            fitting = next((one for one in types if _fits(one, value)), None)
            value = value if fitting is None else changed(fitting, value, draw, often)
        case inspect.DataclassType(fields=fields) if isinstance(value, dict):
            of = {one.encode_name: one.type for one in fields}
            value = {
                name: changed(of[name], one, draw, often) if name in of else one
                for name, one in value.items()
            }
        case inspect.VarTupleType(item_type=item) if isinstance(value, list):
            value = [changed(item, one, draw, often) for one in value]
            if value and draw.random() < often:
                at = draw.randrange(len(value))
                value[at : at + draw.randrange(2)] = draw.choice(
                    ([], [value[at], made(item, draw)])
                )
        case inspect.TupleType(item_types=items) if isinstance(value, list):
            value = [
                changed(one, part, draw, often) for one, part in zip(items, value, strict=False)
            ]
    return value


def _fits(kind: Any, value: Any) -> bool:
    inspect = msgspec.inspect
    of = {
        dict: (inspect.DataclassType, inspect.DictType),
        list: (inspect.VarTupleType, inspect.TupleType, inspect.ListType),
    }
    return isinstance(kind, of.get(type(value), ()))
