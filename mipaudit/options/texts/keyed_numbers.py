"""Numbers with names in one option: ``noise_multiplier=0.8,q=0.01,steps=10000``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


def parse_keyed_numbers(
    text: str | None, *, option: str, keys: Sequence[str], prefix: str = ""
) -> dict[str, float] | None:
    """Return the numbers by name, or None from None.

    Args:
        text: what the user typed.
        option: the option's name, for messages.
        keys: the names that must be there, each once, and no others.
        prefix: what stands before the numbers in the option: ``gaussian:``.

    Raises:
        UsageError: another form, a name that is unknown, missing or repeated, or no number.
    """
    if text is None:
        return None
    whole = f"{option} {prefix.rstrip(':')}".rstrip()
    example = ",".join(f"{key}=..." for key in keys)
    pairs = [part.partition("=") for part in text.split(",")]
    names = [name.strip() for name, _, _ in pairs]
    if sorted(names) != sorted(keys) or not all(equals for _, equals, _ in pairs):
        raise UsageError(
            option.lstrip("-").replace("-", "_"),
            f"{whole} takes exactly {', '.join(keys)}.",
            hint=f"Write {option} {prefix}{example}.",
        )
    return {
        name: _number(value, whole, name) for name, (_, _, value) in zip(names, pairs, strict=True)
    }


def parse_parts(
    texts: Sequence[str], *, option: str, kinds: dict[str, tuple[str, ...]]
) -> tuple[tuple[str, dict[str, float]], ...]:
    """Return the parts of a composition, each ``KIND:name=number,...``.

    Raises:
        UsageError: an unknown kind, or its numbers are not those that it takes.
    """
    parts = []
    for text in texts:
        kind, _, numbers = text.partition(":")
        if kind not in kinds:
            raise UsageError(
                option.lstrip("-").replace("-", "_"),
                f"{option} takes KIND:NAME=NUMBER,..., KIND being one of {', '.join(kinds)}.",
                hint=f"For example {option} gaussian:noise_multiplier=2,count=10.",
            )
        found = parse_keyed_numbers(numbers, option=option, keys=kinds[kind], prefix=f"{kind}:")
        parts.append((kind, found or {}))
    return tuple(parts)


def _number(text: str, option: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            option.lstrip("-").split()[0].replace("-", "_"),
            f"{option}: {name} is not a number.",
        ) from None
