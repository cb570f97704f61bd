"""An estimand: something with a true value that the tool, or another method, states limits of."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.maths.advantage import baseline
from mipaudit.validation.estimands.audited_file import CONFIDENCE, AuditedFile
from mipaudit.validation.report import Source  # noqa: TC001 - part of the public type

if TYPE_CHECKING:
    from mipaudit.model.row import Attackers, Quantity, Row
    from mipaudit.validation.laws.law import Law

Args = tuple[Hashable, ...]
Side = Literal["lower", "upper"]
# What each of the two limits of a report's row promises alone.
ONE_SIDED: Final = 1 - (1 - CONFIDENCE) / 2
# Where dear limits are tried unless they are asked for by name, and on one file in so many: no
# leak with ties, a leak that thresholds find, rare records that are all leaked, two values.
_DEAR_LAWS: Final = frozenset(
    {"null-ties", "gauss-shift-1", "leaked-atoms", "randomized-response-1"}
)
_DEAR_RECORDS: Final = 1_000
_DEAR_EVERY: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """What a method says about one estimand of one file.

    Attributes:
        lower: lower limit, or None where the method states none.
        upper: upper limit, or None.
        value: best estimate, or None.
        nominal: promised coverage of each side alone.
        args: what the truth needs to know beside the law and the prior, such as (fpr, side).
        label: names the row of the table, so that two methods can state the same estimand. What
            an estimand's `said` returns has there what follows the estimand's title.
        finite_sample: whether the limits are said to hold at every size.
        estimand: name of the truth, as in the registry.
        source: whose limit it is.
    """

    lower: float | None = None
    upper: float | None = None
    value: float | None = None
    nominal: float = ONE_SIDED
    args: Args = ()
    label: str = ""
    finite_sample: bool = False
    estimand: str = ""
    source: Source = "mipaudit"

    def limit(self, side: Side) -> float:
        """Return the limit on a side, NaN where there is none."""
        found = self.lower if side == "lower" else self.upper
        return math.nan if found is None else found


def interval_of(estimate: Row, *args: Hashable, label: str = "") -> Interval:
    """Return both limits and the best estimate of a report's row."""
    return Interval(
        lower=estimate.lower,
        upper=estimate.upper,
        value=estimate.value,
        nominal=1 - (1 - estimate.confidence) / 2,
        args=args,
        label=label,
        finite_sample=estimate.validity == "finite-sample",
    )


def trivial(prior: float, *_: object) -> float:
    """Return the advantage of an attacker who knows nothing: |2p-1|."""
    return baseline(prior)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimand:
    """One quantity: on which laws it has a true value, that value, and what the tool says of it.

    Attributes:
        name: stable, lower case, with underscores.
        truth: takes a law, a prior and the arguments of an interval.
        statements: the pairs of quantity and attackers in a report that it is the truth of.
        said: takes a file, and returns what the tool says; None for the rows of `statements`.
        baseline: takes a prior and the arguments: the value where nothing leaks; None for 0.
        has_truth: whether there is a true value, and a finite one, under a law; None for always.
        title: what the labels of its rows begin with; its name by default.
        vectorial: whether it is about scores of several numbers.
        by_name_only: whether it is run only when asked for by name.
        dear: whether its limits take long: then its coverage is that of the files on which it
            is usually tried.
    """

    name: str
    truth: Callable[..., float]
    statements: tuple[tuple[Quantity, Attackers], ...] = ()
    said: Callable[..., Iterable[Interval]] | None = None
    baseline: Callable[..., float] | None = None
    has_truth: Callable[[Law], bool] | None = None
    title: str = ""
    vectorial: bool = False
    by_name_only: bool = False
    dear: bool = False

    def concerns(self, law: Law) -> bool:
        """Tell whether it is asked about this law at all: of one number, or of several."""
        fits = self.vectorial == (law.width > 1)
        return fits and (self.has_truth is None or self.has_truth(law))

    def usually(self, law: Law, records: int, number: int) -> bool:
        """Tell whether it is tried on a file without being asked for by name.

        Args:
            law: that the file was drawn from.
            records: rows of the file.
            number: of the file in its cell.
        """
        chosen = law.name in _DEAR_LAWS and records <= _DEAR_RECORDS
        return not self.dear or (chosen and number % _DEAR_EVERY == 0)

    def intervals(self, audited: AuditedFile) -> list[Interval]:
        """Return what the tool says about it on a file."""
        if self.said is None:
            found = [interval_of(row) for pair in self.statements for row in audited.stated(*pair)]
        else:
            found = list(self.said(audited))
        title = self.title or self.name
        return [replace(one, estimand=self.name, label=title + one.label) for one in found]
