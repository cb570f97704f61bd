"""What an attacker sees of a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.rivals.attack import Attack

    # Columns of equal length, by name.
    Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What an attacker sees of a record, boiled down to one number with a known law.

    Attributes:
        sees: the columns, as the truth names them.
        law: of the number.
        read: takes columns and returns the number of each row, float64.
        group: the number is that of this group's rows alone; None for all.
        quantity: what its advantage is called.
        ordered: whether thresholds on the number mean anything.
        curve: trade-off curve of the mechanism that made it, if one did.
        attacks: named attacks on it.
    """

    sees: str
    law: Law
    read: Callable[[Columns], NDArray[np.float64]]
    group: str | None = None
    quantity: str = "advantage"
    ordered: bool = True
    curve: TradeOff | None = None
    attacks: tuple[Attack, ...] = ()
