"""What ``simulate`` says: the formats of truths and scenarios, and names that carry numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar

from mipaudit.errors import UsageError
from mipaudit.statements.any_report import AnyReport

T_co = TypeVar("T_co", covariant=True)
_NUMBER: Final = r"(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"
_LONGEST: Final = 80
Kind = Literal["scores", "canaries", "splits"]
Order = Literal["shuffled", "sorted", "members-first"]
# numpy's hypergeometric draws end there.
LARGEST: Final = 10**9 - 1


@dataclass(frozen=True, slots=True)
class ScenarioParameter:
    """A number in a scenario's name, and the range that it must lie in."""

    name: str
    lowest: float
    highest: float
    step: int | None  # of which it must be a multiple

    @property
    def range_text(self) -> str:
        """The accepted range, in words."""
        what = {None: "a number", 1: "a whole number", 2: "an even number"}[self.step]
        return f"{what} from {self.lowest:g} to {self.highest:g}"

    def accepts(self, value: float) -> bool:
        """Tell whether a value is in the range."""
        return self.lowest <= value <= self.highest and (not self.step or value % self.step == 0)


@dataclass(frozen=True, slots=True)
class Family(Generic[T_co]):
    """What a name of a certain form stands for.

    Attributes:
        prefix: what the names begin with.
        parameters: the numbers that follow, each after a hyphen.
        make: takes the numbers.
        examples: numbers for which the family is listed by name.
        summary: one line, with the parameters by name.
    """

    prefix: str
    parameters: tuple[ScenarioParameter, ...]
    make: Callable[..., T_co]
    examples: tuple[tuple[float, ...], ...]
    summary: str

    @property
    def pattern(self) -> str:
        """The form of the names."""
        return "-".join([self.prefix, *(parameter.name for parameter in self.parameters)])

    def name(self, values: Sequence[float]) -> str:
        """Return the name with these numbers, as short as they go."""
        return "-".join([self.prefix, *(short(value) for value in values)])

    def names(self) -> list[str]:
        """Return the names of the examples."""
        return [self.name(values) for values in self.examples]

    def owns(self, name: str) -> bool:
        """Tell whether a name begins as those of the family do."""
        return name == self.prefix or name.startswith(f"{self.prefix}-")

    def parse(self, name: str) -> tuple[float, ...]:
        """Return the numbers in a name that the family owns.

        Raises:
            UsageError: ``scenario_parameter``.
        """
        form = re.fullmatch(re.escape(self.prefix) + f"-{_NUMBER}" * len(self.parameters), name)
        values = tuple(map(float, form.groups())) if form else ()
        accepted = form and all(
            parameter.accepts(value)
            for parameter, value in zip(self.parameters, values, strict=True)
        )
        if not accepted:
            ranges = ", ".join(f"{p.name} is {p.range_text}" for p in self.parameters)
            raise UsageError(
                "scenario_parameter",
                f"The scenario {self.pattern} takes other numbers: {ranges}.",
                f"For example {self.names()[0]}.",
            )
        return values


def short(value: float) -> str:
    """Return a number as short as it goes: 1.0 is ``1``."""
    return f"{value:.12g}"


def filled(text: str, parameters: Iterable[ScenarioParameter], values: Sequence[float]) -> str:
    """Return a text with numbers in place of the names of the parameters."""
    for parameter, value in zip(parameters, values, strict=True):
        text = text.replace(parameter.name, short(value))
    return text


def family_of(name: str, families: Sequence[Family[T_co]]) -> Family[T_co] | None:
    """Return the family with the longest prefix that owns a name, or None."""
    owners = [family for family in families if family.owns(name)]
    return max(owners, key=lambda family: len(family.prefix), default=None)


def unknown(name: str, known: Sequence[str]) -> UsageError:
    """Return the error for a name that nothing has, with the nearest names."""
    from difflib import get_close_matches

    near = get_close_matches(name[:_LONGEST], known, n=3, cutoff=0.5)
    hint = f"Try {', '.join(near)}." if near else "`mipaudit simulate --list` names them all."
    return UsageError("unknown_scenario", "There is no scenario of that name.", hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """One quantity whose value is known, named as ``estimate`` names it.

    Attributes:
        quantity: ``advantage``, ``auc``, ``tpr_at_fpr``, ``epsilon``, ``sigma_1``, ...
        value: its value; None where there is none.
        value_reason: why there is none.
        sees: the columns that the attacker sees; None where there is no attacker.
        attackers: the class of attackers, or a named one; None where there is none.
        group: the subgroup of records that it is about; None for all.
        fpr: false-positive rate, of a TPR.
        side: where members score, of a TPR.
        delta: of an epsilon.
        source: theorem or closed form, where it is not computed from the two laws.
    """

    quantity: str
    value: float | None
    value_reason: str | None = None
    sees: str | None = None
    attackers: str | None = None
    group: str | None = None
    fpr: float | None = None
    side: Literal["high", "low"] | None = None
    delta: float | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TruthReport(AnyReport):
    """A simulated file, and its truth.

    Attributes:
        scenario: its name, parameters included.
        summary: one line.
        heading: what it is listed under.
        kind: ``scores`` (members and holdout), ``canaries`` (included by a coin each) or
            ``splits`` (released numbers over random training sets).
        parameters: the numbers in its name.
        columns: of the file, in order.
        rows: how many, by class: ``members`` and ``holdout``, ``canaries``, or ``splits``.
        order: of the rows; None for splits, which are independent.
        prior: probability that a challenged record is a member; None for splits.
        truths: everything that is known.
        notes: what the reader must know.
    """

    scenario: str
    summary: str
    heading: str
    kind: Kind
    parameters: dict[str, float]
    columns: tuple[str, ...]
    rows: dict[str, int]
    order: Order | None
    prior: float | None
    truths: tuple[Truth, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioEntry:
    """One line of the list.

    Attributes:
        name: the scenario's, or a pattern such as ``laplace-EPS``.
        heading: what it stands under.
        kind: of its rows.
        summary: one line.
        parameters: of a pattern; none of a single scenario.
        examples: names that fit a pattern.
    """

    name: str
    heading: str
    kind: Kind
    summary: str
    parameters: tuple[ScenarioParameter, ...]
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScenarioList(AnyReport):
    """All scenarios."""

    scenarios: tuple[ScenarioEntry, ...]
