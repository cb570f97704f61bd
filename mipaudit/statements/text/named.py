"""Quantities and classes of attackers as readers know them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from mipaudit.model.row import Attackers

_NAMES: Final = {
    "copies": "exact copies",
    "auc": "AUC",
    "tpr_at_fpr": "TPR at FPR",
    "any_difference": "any difference",
    "generalization_gap": "generalization gap",
    "class_beside_any": "(a) class less any",
    "any_beside_class": "(b) any less class",
    "more_right_of_members": "difference of right guesses",
}
_PHRASES: Final[Mapping[Attackers, str]] = MappingProxyType(
    {
        "any": "for any attacker",
        "thresholds": "for attackers with one threshold",
        "intervals-1": "for attackers with one interval",
        "intervals-4": "for attackers with up to four intervals",
        "bins-16": "for attackers with 16 equal-mass bins",
        "noised-query": "for any attacker who sees the score with noise",
        "product-grid": "for attackers with a grid of cells",
        "learned": "for attackers with one threshold on a learned score",
        "guesses": "for whoever made these guesses",
    }
)
# Those that have limits; others are named by what they guess from.
CLASSES: Final = frozenset(_PHRASES)


def named_quantity(quantity: str, metric: str | None, fpr: float | None) -> str:
    """Name a quantity as a reader knows it."""
    if metric is not None:
        return f"metric {metric}"
    if fpr is not None:
        return f"TPR at FPR {number_text(fpr)}"
    return _NAMES.get(quantity, quantity)


def named_where(prior: float | None, group: str | None) -> str:
    """Say at which prior and of which group, to follow a quantity; None is not said."""
    at = "" if prior is None else f" at prior {number_text(prior)}"
    return at if group is None else f"{at} of group {quoted_name(group)}"


def against_phrase(attackers: Attackers) -> str:
    """Name a class of attackers, or an attack of the literature, to follow a quantity."""
    return _PHRASES.get(attackers) or f"for the attack '{attackers}'"


def class_words(attackers: Attackers) -> str:
    """Return the class without its preposition: ``attackers with one threshold``."""
    return against_phrase(attackers).removeprefix("for ")
