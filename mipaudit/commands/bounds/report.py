"""What ``bounds`` returns, prints and writes: the JSON format ``mipaudit.bounds/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipaudit.commands.bounds.readings import Allowance, Guarantee
from mipaudit.maths.privacy.epsilon_delta import PublishedBound
from mipaudit.statements.reports.any_report import AnyReport

if TYPE_CHECKING:
    # One answer has few of these, and making a dataclass takes time: what an answer does
    # not have is not loaded. `complete` puts them here for the schema.
    from mipaudit.commands.bounds.attacks import CountingQueries, Refutation
    from mipaudit.commands.bounds.curves import Curves
    from mipaudit.commands.bounds.requirement import Requirement, Target
    from mipaudit.commands.bounds.tuned import Tuned


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BoundsReport(AnyReport):
    """The answer to one question; the parts that do not belong to it are empty.

    Attributes:
        guarantee: what was stated; ``attacker`` is what it allows in its first reading,
            ``other_readings`` in the others; ``bounds`` bound the advantage.
        target: the limit that was asked about; ``needed`` keeps it, one entry for each
            kind of neighbours.
        refuted: what an attack rules out.
        counting_queries: the attack of the lecture notes.
        tuned: of the best of several runs: one run, and each way to come by their number.
    """

    guarantee: Guarantee | None
    attacker: Allowance | None
    other_readings: tuple[Allowance, ...]
    bounds: tuple[PublishedBound, ...]
    target: Target | None
    needed: tuple[Requirement, ...]
    refuted: Refutation | None
    counting_queries: CountingQueries | None
    curves: Curves | None = None
    tuned: tuple[Tuned, ...] = ()


def complete() -> None:
    """Load every type that a report may hold, so that its annotations can be resolved."""
    from mipaudit.commands.bounds.attacks import CountingQueries, Refutation
    from mipaudit.commands.bounds.curves import Curves
    from mipaudit.commands.bounds.requirement import Requirement, Target
    from mipaudit.commands.bounds.tuned import Tuned

    kinds = (CountingQueries, Curves, Refutation, Requirement, Target, Tuned)
    globals().update({kind.__name__: kind for kind in kinds})
