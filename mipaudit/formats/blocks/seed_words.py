"""The seed of a run in one line: where it comes from, and what follows from it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from mipaudit.statements.provenance.origin import Provenance

_ORIGINS: Final = MappingProxyType(
    {"default": "", "stated": " and {}, as stated", "fresh": " and {}, drawn fresh"}
)
_MOST_SEEDS: Final = 3


def seed_words(provenance: Provenance) -> str | None:
    """Return the seeds in use and where they come from; None where there is no seed."""
    origin = provenance.seed_origin
    if origin is None:
        return None if provenance.seed is None else str(provenance.seed)
    source = f"from the scores{_ORIGINS[origin].format(provenance.seed)}"
    shown = [
        one.seed if one.score is None else f"{one.seed} for {safe_name(one.score)}"
        for one in provenance.seeds[:_MOST_SEEDS]
    ]
    more = len(provenance.seeds) - _MOST_SEEDS
    others = f" and {count_text(more)} more" if more > 0 else ""
    return f"{', '.join(shown)}{others}; {source}" if shown else source
