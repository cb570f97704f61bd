"""Numbers with names in one option: ``noise_multiplier=0.8,q=0.01,steps=10000``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

# What each part of a composition is made of.
_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "gaussian": ("noise_multiplier", "count"),
    "laplace": ("noise_multiplier", "count"),
    "approximate-dp": ("epsilon", "delta", "count"),
    "randomized-response": ("truth", "categories", "count"),
    "dp-sgd": ("noise_multiplier", "q", "steps"),
}
WHOLE: Final = frozenset({"count", "categories", "steps", "k", "n"})


def dp_sgd_numbers(given: object) -> Mapping[str, float]:
    """Return the numbers of DP-SGD by name.

    Args:
        given: a mapping, or its text.

    Raises:
        ValueError: a name is unknown, missing or repeated, or a value is no such number.
    """
    return _numbers(given, _PARTS["dp-sgd"])


def counts_by_name(given: object) -> Mapping[str, float]:
    """Return the k averages over n records, both whole numbers of at least 1; errors likewise."""
    found = _numbers(given, ("k", "n"))
    if min(found.values()) < 1:
        raise ValueError("takes k and n of at least 1")
    return {name: int(number) for name, number in found.items()}


def parts_of(given: Any) -> tuple[tuple[str, Mapping[str, float]], ...]:  # noqa: ANN401 - typed, or of Python
    """Return the parts of a composition, each a kind and its numbers.

    Args:
        given: each ``KIND:name=number,...``, or a pair of the kind and a mapping.

    Raises:
        ValueError: an unknown kind, or its numbers are not those that it takes.
    """
    return tuple(map(_part, (given,) if isinstance(given, str) else given or ()))


def _part(given: Any) -> tuple[str, Mapping[str, float]]:  # noqa: ANN401
    kind: str
    numbers: Any
    match given.partition(":") if isinstance(given, str) else given:
        case (str(kind), str(), numbers) | (str(kind), numbers):
            pass
        case _:
            kind, numbers = "", None
    if kind not in _PARTS:
        raise ValueError(
            f"takes KIND:NAME=NUMBER,..., KIND being one of {', '.join(_PARTS)}",
            "For example gaussian:noise_multiplier=2,count=10.",
        )
    return kind, _numbers(numbers, _PARTS[kind], f"{kind}:")


def _numbers(given: Any, names: tuple[str, ...], kind: str = "") -> dict[str, float]:  # noqa: ANN401
    if isinstance(given, str):
        pairs = [part.partition("=")[::2] for part in given.split(",")]
    else:
        pairs = list(given.items()) if isinstance(given, Mapping) else []
    found = [(str(name).strip(), value) for name, value in pairs]
    if sorted(name for name, _ in found) != sorted(names):
        after = f" after {kind}" if kind else ""
        raise ValueError(
            f"takes exactly {', '.join(names)}{after}",
            f"Write {kind}{','.join(f'{name}=...' for name in names)}.",
        )
    return {name: _number(name, value) for name, value in found}


def _number(name: str, value: Any) -> float:  # noqa: ANN401
    try:
        found = value if isinstance(value, int) else float(value)
        whole = found == int(found)
    except (TypeError, ValueError):
        raise ValueError(f"takes a number for {name}") from None
    except OverflowError:
        found, whole = math.inf, False
    if name in WHOLE and not whole:
        raise ValueError(f"takes a whole number for {name}")
    return found
