"""What ``simulate`` says: the formats ``mipaudit.truth/2`` and ``mipaudit.scenarios/2``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from mipaudit.statements.origin import Provenance  # noqa: TC001 - the codec reads it
from mipaudit.statements.reports.kinds import schema_of
from mipaudit.validation.laws.named_family import (  # noqa: TC001 - the codec reads it
    ScenarioParameter,
)

Kind = Literal["scores", "canaries", "splits"]
Order = Literal["shuffled", "sorted", "members-first"]
# numpy's hypergeometric draws end there.
LARGEST: Final = 10**9 - 1


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthReport:
    """A simulated file, and what is true of it.

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

    command: str
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
    provenance: Provenance
    schema: str = schema_of("simulate")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioList:
    """All scenarios."""

    command: str
    scenarios: tuple[ScenarioEntry, ...]
    provenance: Provenance
    schema: str = schema_of("simulate --list")
