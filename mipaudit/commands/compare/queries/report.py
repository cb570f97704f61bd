"""What ``compare`` returns, prints and writes: the JSON format ``mipaudit.compare/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.model.check import Check
from mipaudit.model.row import Attackers, Row
from mipaudit.statements.reports.any_report import AnyReport
from mipaudit.statements.verdict import Verdict

# How the rows of two inputs hang together; columns of one input are always of the same rows.
Pairing = Literal["same-rows", "independent", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedQuery:
    """One of the queries.

    Attributes:
        name: by which the report calls it.
        column: its score column.
        n_members: members behind it.
        n_holdout: holdout records behind it.
        rows: queries with the same number were asked about the same rows.
    """

    name: str
    column: str
    n_members: int
    n_holdout: int
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareDesign:
    """What was compared, and how.

    Attributes:
        queries: in the order given.
        prior: p in (0, 1).
        trivial: the trivial attacker's advantage, |2p-1|.
        confidence: of each pair of limits, jointly over all queries, or all pairs.
        against: the class that the ranking and the policy are about.
        baseline: the query that the others are compared with; None for all pairs.
        apart: how inputs whose rows are not matched hang together.
        pairs: how many pairs share the error of the differences.
    """

    queries: tuple[ComparedQuery, ...]
    prior: float
    trivial: float
    confidence: float
    against: Attackers
    baseline: str | None
    apart: Pairing
    pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedQuery:
    """A query's place, and what is certain about it, for the class of the ranking.

    Attributes:
        query: its name.
        estimate: best estimate of the advantage within the class.
        highest_place: no better place is possible, at the confidence; 1 leaks most.
        lowest_place: no worse one.
        leaks_more_than: the queries that it surely leaks more than.
        leaks_less_than: the queries that it surely leaks less than.
    """

    query: str
    estimate: float
    highest_place: int
    lowest_place: int
    leaks_more_than: tuple[str, ...]
    leaks_less_than: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompareReport(AnyReport):
    """Several queries side by side.

    Attributes:
        ranking: the greatest best estimate first.
        advantages: of every query, for any attacker and for each class.
        differences: of advantage, ``score`` minus ``versus``, for each class.
        best_of: the largest advantage among the queries of the same rows; the row that
            is ``not-an-interval`` is what choosing the best of them would have printed.
        together: two scores seen at once, any attacker.
        gains: that, less the best of a class on either score alone.
        policy: one check for each query but the baseline.
    """

    design: CompareDesign
    ranking: tuple[RankedQuery, ...]
    advantages: tuple[Row, ...]
    differences: tuple[Row, ...]
    best_of: tuple[Row, ...]
    together: tuple[Row, ...]
    gains: tuple[Row, ...]
    policy: tuple[Check, ...]
    verdict: Verdict
