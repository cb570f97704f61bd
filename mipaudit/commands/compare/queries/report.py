"""What ``compare`` returns, prints and writes: the JSON format ``mipaudit.compare/3``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from mipaudit.commands.compare.increase import increase_answer, limit_remark
from mipaudit.model.message import Message
from mipaudit.model.row import Attackers, Check, Row
from mipaudit.statements.any_report import AnyReport
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
        lower: of its advantage, for any attacker.
        value: best estimate of the advantage within the class.
        upper: of the advantage within the class.
        highest_place: no better place is possible, at the confidence; 1 leaks most.
        lowest_place: no worse one.
        leaks_more_than: the queries that it surely leaks more than.
        leaks_less_than: the queries that it surely leaks less than.
    """

    query: str
    lower: float | None
    value: float
    upper: float | None
    highest_place: int
    lowest_place: int
    leaks_more_than: tuple[str, ...]
    leaks_less_than: tuple[str, ...]

    @property
    def down_to(self) -> int | None:
        """The worst place, where it is not certain."""
        return None if self.lowest_place == self.highest_place else self.lowest_place


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


def answer(report: CompareReport) -> Message:
    """Return the verdict, or which query leaks most and how many leak at all."""
    if report.policy:
        return increase_answer(report.verdict, report.policy, report.findings)
    order, leaking = _order(report), _leaking(report)
    leaks = leaking is not None and leaking.code == "queries_leak"
    plainly = Message.of(
        "right_compared",
        found=order.with_values(f"right_{order.code}"),
        leaking=leaking.with_values("right_queries_leak") if leaking and leaks else None,
    )
    return Message.of("compared", found=order, leaking=leaking, plainly=plainly)


def remarks(report: CompareReport) -> Iterator[Message]:
    """Yield what a verdict does not say of the order, and what is seen of two scores together."""
    if report.policy:
        yield limit_remark(report.policy)
        yield _order(report)
        yield from filter(None, [_leaking(report)])
    gains = [row for row in report.gains if row.lower]
    if gains:
        against = report.design.against
        most = max(gains, key=lambda row: (row.attackers == against, row.lower))
        yield Message.of(
            "leak_together", score=most.score, lower=most.lower, against=most.attackers
        )


def own_differences(report: CompareReport) -> tuple[Row, ...]:
    """Return the differences in the class of the ranking, certain ones first, then the largest."""
    rows = (row for row in report.differences if row.attackers == report.design.against)
    return tuple(
        sorted(
            rows, key=lambda row: (surely_leads(row) is None, -(row.lower or 0), -(row.value or 0))
        )
    )


def every_pair(report: CompareReport) -> bool | None:
    """Return that all pairs were compared, so that there are places; None with a baseline."""
    return report.design.baseline is None or None


def n_queries(report: CompareReport) -> int:
    """Return how many queries there are."""
    return len(report.design.queries)


def sizes(report: CompareReport) -> Message:
    """Return how many records the queries are about."""
    found = {(one.n_members, one.n_holdout) for one in report.design.queries}
    if len(found) > 1:
        return Message("several_sizes")
    ((members, holdout),) = found
    return Message.of("one_size", members=members, holdout=holdout)


def guessing(report: CompareReport) -> float | None:
    """Return the advantage of blind guessing, where it is above 0."""
    return report.design.trivial or None


def shown_limit(report: CompareReport) -> float | None:
    """Return the limit on the differences."""
    return report.policy[0].limit if report.policy else None


def _order(report: CompareReport) -> Message:
    """Return what is certain of the order and matters most, for the ranking's class if it can."""
    against, first = report.design.against, report.ranking[0]
    facts = [fact for fact in map(surely_leads, report.differences) if fact]
    of_class = [fact for fact in facts if fact.attackers == against]
    leads = [fact for fact in of_class if fact.score == first.query]
    if len(leads) == len(report.ranking) - 1 > 1:
        least = min(fact.lower or 0.0 for fact in leads)
        return Message.of("query_leaks_most", more=first.query, least=least, against=against)
    found = max(leads or of_class or facts, key=lambda fact: fact.lower or 0.0, default=None)
    if found is None:
        return Message.of(
            "no_query_leaks_more", more=first.query, value=first.value, against=against
        )
    return Message.of(
        "query_leaks_more",
        more=found.score,
        less=found.versus,
        least=found.lower,
        against=found.attackers,
        rest=len(of_class or facts) - 1,
    )


def surely_leads(row: Row) -> Row | None:
    """Return a difference as of the query that surely leaks more; None where neither does."""
    if row.lower is not None and row.lower > 0:
        return row
    if row.upper is not None and row.upper < 0:
        lower, value, upper = (
            None if one is None else -one for one in (row.upper, row.value, row.lower)
        )
        more, less = row.versus or "", row.score
        return replace(row, score=more, versus=less, lower=lower, value=value, upper=upper)
    return None


def _leaking(report: CompareReport) -> Message | None:
    """Say how many queries surely leak: to leak as much as another is not to leak little."""
    trivial = report.design.trivial
    rows = [one for one in report.advantages if one.attackers == "any"]
    leaks = [one for one in rows if (one.lower or 0.0) > trivial]
    if leaks:
        most = max(leaks, key=lambda one: one.lower or 0.0)
        return Message.of(
            "queries_leak",
            leaks=len(leaks),
            queries=len(rows),
            score=most.score,
            lower=most.lower,
            guessing=trivial or None,
            prior=report.design.prior,
        )
    beside = (
        one for one in (*report.best_of, *report.together) if one.validity != "not-an-interval"
    )
    shown = any((one.lower or 0.0) > trivial for one in beside)
    return None if shown else Message("no_query_leaks")
