"""An estimand: something with a true value that the tool, or another method, states limits of."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from mipaudit.validation.estimands.audited_file import CONFIDENCE, AuditedFile
from mipaudit.validation.report import Source  # noqa: TC001 - part of the public type

if TYPE_CHECKING:
    from mipaudit.statements.estimate import Attackers, Estimate, Quantity
    from mipaudit.validation.laws.law import Law

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
        finite_sample: whether the limits are said to hold at every size.
    """

    estimand: str
    lower: float | None
    upper: float | None
    nominal: float
    value: float | None = None
    estimand_args: Args = ()
    label: str = ""
    source: Source = "mipaudit"
    finite_sample: bool = False

    @property
    def row_label(self) -> str:
        """The label, or the estimand's name."""
        return self.label or self.estimand

    def limit(self, side: Side) -> float:
        """Return the limit on a side, NaN where there is none."""
        found = self.lower if side == "lower" else self.upper
        return math.nan if found is None else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """Where an estimand with dear limits is tried unless it is asked for by name.

    Attributes:
        laws: names of the laws.
        records: the largest file.
        every: one file in so many.
    """

    laws: frozenset[str]
    records: int
    every: int


# No leak with ties, a leak that thresholds find, rare records that are all leaked, two values.
DEAR: Final = Usual(
    laws=frozenset({"null-ties", "gauss-shift-1", "leaked-atoms", "randomized-response-1"}),
    records=1_000,
    every=5,
)


class Estimand(ABC):
    """One quantity: what is true of it, and what the tool says about it.

    Attributes:
        name: stable, lower case, with underscores.
        meaning: a few words.
        statements: the pairs of quantity and attackers in a report that it is the truth of.
        restates: the estimand that it is a linear function of, whose limits miss exactly
            when its own do; it is then run only when asked for by name.
        by_name_only: whether it is run only when asked for by name for another reason.
        usual: where it is tried unless it is asked for by name; None for everywhere. Its
            coverage is that of the files that it was tried on.
        vectorial: whether it is about scores of several numbers.
        trivial: whether an attacker who knows nothing reaches |2p-1|.
        takes: the types of the arguments, in each of the forms that they may have.
    """

    name: ClassVar[str]
    meaning: ClassVar[str]
    statements: ClassVar[frozenset[tuple[Quantity, Attackers]]] = frozenset()
    restates: ClassVar[str | None] = None
    by_name_only: ClassVar[bool] = False
    usual: ClassVar[Usual | None] = None
    vectorial: ClassVar[bool] = False
    trivial: ClassVar[bool] = False
    takes: ClassVar[tuple[tuple[type, ...], ...]] = ((),)

    def concerns(self, law: Law) -> bool:
        """Tell whether it is asked about this law at all: of one number, or of several."""
        return self.vectorial == (law.width > 1) and self.applies(law)

    def usually(self, law: Law, records: int, number: int) -> bool:
        """Tell whether it is tried on a file without being asked for by name.

        Args:
            law: that the file was drawn from.
            records: rows of the file.
            number: of the file in its cell.
        """
        where = self.usual
        return where is None or (
            law.name in where.laws and records <= where.records and number % where.every == 0
        )

    def applies(self, law: Law) -> bool:
        """Tell whether it has a true value, and a finite one, under this law."""
        return self.vectorial == (law.width > 1)

    def truth(self, law: Law, prior: float, args: Args) -> float:
        """Return the true value.

        Args:
            law: to which it applies.
            prior: p in (0, 1).
            args: as in `Interval.estimand_args`.

        Raises:
            ValueError: arguments that it does not take.
        """
        found = self._value(law, prior, *args) if self._accepts(args) else None
        if found is None:
            raise ValueError(f"{self.name} does not take these arguments")
        return found

    def _accepts(self, args: Args) -> bool:
        return any(
            len(args) == len(form) and all(map(isinstance, args, form)) for form in self.takes
        )

    @abstractmethod
    def _value(self, *args: Any, **named: Any) -> float | None:  # noqa: ANN401 - as `takes`
        """Return the truth from law, prior and arguments of these types; None if they are wrong."""

    def baseline(self, prior: float, _args: Args) -> float:
        """Return its value where nothing leaks: that of the trivial attacker, or 0."""
        return abs(2 * prior - 1) if self.trivial else 0.0

    def intervals(self, audited: AuditedFile) -> Iterable[Interval]:
        """Return what the tool says about it on a file: by default the rows of a report."""
        for quantity, attackers in self.statements:
            yield from map(self.interval_of, audited.stated(quantity, attackers))

    def interval(
        self,
        lower: float | None,
        upper: float | None,
        *,
        nominal: float | None = None,
        value: float | None = None,
        args: Args = (),
        label: str = "",
        finite_sample: bool = False,
    ) -> Interval:
        """Return limits of it, each of which promises what one of a pair does by default."""
        return Interval(
            estimand=self.name,
            lower=lower,
            upper=upper,
            nominal=one_sided(CONFIDENCE) if nominal is None else nominal,
            value=value,
            estimand_args=args,
            label=label,
            finite_sample=finite_sample,
        )

    def interval_of(self, estimate: Estimate, *, args: Args = (), label: str = "") -> Interval:
        """Return both limits and the best estimate of a report's row."""
        return self.interval(
            estimate.lower,
            estimate.upper,
            nominal=one_sided(estimate.confidence),
            value=estimate.value,
            args=args,
            label=label,
            finite_sample=estimate.validity == "finite-sample",
        )


def one_sided(confidence: float) -> float:
    """Return what each limit of a pair promises alone."""
    return 1 - (1 - confidence) / 2
