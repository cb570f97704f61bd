"""What a method says of one estimand of one file, in the form that a coverage run checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.validation.report import Source  # noqa: TC001 - part of the public type

Args = tuple[float | str, ...]
Side = Literal["lower", "upper"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """What a method says about one estimand of one file.

    Attributes:
        estimand: name of the truth, as in the registry.
        lower: lower limit, or None where the method states none.
        upper: upper limit, or None.
        nominal: promised coverage of each side alone, such as 0.975.
        value: best estimate, or None.
        estimand_args: what the estimand needs to know, such as ``(fpr, side)``.
        label: names the row of the table, so that two methods can state the same
            estimand; the estimand's name by default.
        source: whose limit it is.
    """

    estimand: str
    lower: float | None
    upper: float | None
    nominal: float
    value: float | None = None
    estimand_args: Args = ()
    label: str = ""
    source: Source = "mipaudit"

    @property
    def row_label(self) -> str:
        """The label, or the estimand's name."""
        return self.label or self.estimand
