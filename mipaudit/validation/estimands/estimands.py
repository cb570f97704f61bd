"""The registry of estimands: a new one is a line in the table of a module beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from mipaudit.errors import UsageError
from mipaudit.validation.estimands.advantage import ADVANTAGE
from mipaudit.validation.estimands.difference import DIFFERENCES
from mipaudit.validation.estimands.epsilon import EPSILON
from mipaudit.validation.estimands.less_seen import LESS_SEEN
from mipaudit.validation.estimands.metric import METRIC
from mipaudit.validation.estimands.named_attack import NAMED
from mipaudit.validation.estimands.records import RECORDS

if TYPE_CHECKING:
    from mipaudit.validation.estimands.estimand import Estimand

_TABLES: Final = (ADVANTAGE, METRIC, RECORDS, LESS_SEEN, EPSILON, DIFFERENCES, NAMED)
ESTIMANDS: Final[Mapping[str, Estimand]] = {one.name: one for table in _TABLES for one in table}


def estimand(name: str) -> Estimand:
    """Return the estimand of this name.

    Raises:
        UsageError: ``unknown_estimand``, with the nearest names.
    """
    found = ESTIMANDS.get(name)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(name, ESTIMANDS, n=3) or list(ESTIMANDS)
        hint = f"Try {', '.join(near)}."
        raise UsageError("unknown_estimand", "There is no estimand of that name.", hint=hint)
    return found


def default_estimands() -> tuple[str, ...]:
    """Return the names of all that are run without being asked for."""
    return tuple(name for name, one in ESTIMANDS.items() if not one.by_name_only)
