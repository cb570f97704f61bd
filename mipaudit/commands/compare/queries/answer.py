"""From queries that were counted to the report on them: rows, ranking, verdict."""

from collections.abc import Iterator, Sequence

from mipaudit.commands.compare.increase import increase_check
from mipaudit.commands.compare.options import CompareOptions
from mipaudit.commands.compare.queries.cohort import MOST_TOGETHER
from mipaudit.commands.compare.queries.pairs import Compared, pairs_of
from mipaudit.commands.compare.queries.report import (
    CompareDesign,
    ComparedQuery,
    CompareReport,
    RankedQuery,
)
from mipaudit.commands.compare.queries.rows import best_of_rows, difference_rows, together_rows
from mipaudit.errors import UsageError
from mipaudit.evidence.scores.findings import constant, score_findings, size_findings
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.maths.advantage import baseline
from mipaudit.model.check import Check
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Attackers, Row
from mipaudit.statements.origin import Provenance
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.verdict import reach_verdict, settled


def compare_report(
    compared: Compared,
    columns: Sequence[str],
    asked: CompareOptions,
    *,
    findings: Sequence[Finding],
    provenance: Provenance,
) -> CompareReport:
    """Return the report.

    Args:
        compared: the queries.
        columns: the score column of each.
        asked: with the settings.
        findings: about the inputs.
        provenance: of the run.

    Raises:
        UsageError: the class asked for does not exist for a query.
    """
    evidence, confidence = compared.evidence, asked.confidence
    names = [one.score for one in evidence]
    base = None if asked.baseline is None else names.index(asked.baseline)
    against = _against(compared, asked.against)
    pairs = pairs_of(len(names), base)
    if base is None:  # which else stays second
        values = [compared.value(one, against) for one in range(len(names))]
        pairs = [(b, a) if values[b] > values[a] else (a, b) for a, b in pairs]
    differences = difference_rows(compared, pairs, confidence)
    best_of = best_of_rows(compared, confidence)
    together, gains = together_rows(compared, confidence)
    checks = []
    if asked.max_increase is not None and base is not None:
        checks = judge_increases(compared, base, asked.max_increase, against, confidence)
    share = ErrorShare(confidence=confidence, columns=len(names))
    several = len(compared.cohorts) > 1
    return CompareReport(
        command="compare",
        design=CompareDesign(
            queries=tuple(_queries(compared, columns)),
            prior=asked.prior,
            trivial=baseline(asked.prior),
            confidence=confidence,
            against=against,
            baseline=asked.baseline,
            apart=compared.apart if several else "same-rows",
            pairs=len(pairs),
        ),
        ranking=_ranking(compared, differences, against),
        advantages=tuple(row for one in evidence for row in advantage_estimates(one, share)),
        differences=tuple(differences),
        best_of=tuple(best_of),
        together=tuple(together),
        gains=tuple(gains),
        policy=tuple(checks),
        verdict=settled(reach_verdict(checks, ()), findings),
        findings=(*findings, *_findings(compared), *_not_together(compared, pairs)),
        limitations=tuple(
            Message(code)
            for code in (
                *("compare_only_these", "drawn_alike", "compare_class"),
                *((f"compare_{compared.apart}",) if several else ()),
                *(("compare_naive",) if best_of else ()),
                *(("compare_together",) if gains else ()),
                *("compare_not_joint", "compare_related", "compare_approximate", "one_run"),
            )
        ),
        provenance=provenance,
    )


def _against(compared: Compared, asked: Attackers | None) -> Attackers:
    """Return the class of the ranking: all attackers where all scores are discrete."""
    everyone = range(len(compared.evidence))
    common = set.intersection(*(set(compared.classes(one, one)) for one in everyone))
    default: Attackers = "any" if "any" in common else "thresholds"
    chosen = asked or default
    if chosen in common:
        return chosen
    why = "a query has too few rows to cut the cells"
    if chosen == "any":
        why = "an upper limit for all attackers exists only where every score is discrete"
    if any(not one.ordered for one in compared.evidence):
        why = "a query's score holds labels, which have no order"
    raise UsageError(
        "against",
        f"The queries cannot be compared for the class '{chosen}': {why}.",
        hint=f"Try `against` {min(common)}."
        if common
        else "Compare scores of one kind: all discrete, or all numbers.",
    )


def judge_increases(
    compared: Compared, baseline: int, limit: float, against: Attackers, confidence: float
) -> list[Check]:
    """Return one check for every query but the baseline.

    A lower limit has a share of the error over all queries; an upper one needs none, because
    'met' requires every one to pass.

    Args:
        compared: the queries.
        baseline: number of the one that the others are compared with.
        limit: the most that the difference may be.
        against: the class that it is about.
        confidence: of the verdict.
    """
    names = [one.score for one in compared.evidence]
    pairs = pairs_of(len(names), baseline)
    whole = (1 - confidence) / 2
    checks = []
    for one, _ in pairs:
        lower = compared.lower(one, baseline, against, whole / len(pairs))
        upper = compared.upper(one, baseline, against, whole)
        checks.append(increase_check(names[one], names[baseline], limit, against, (lower, upper)))
    return checks


def _queries(compared: Compared, columns: Sequence[str]) -> Iterator[ComparedQuery]:
    left = iter(columns)
    for number, cohort in enumerate(compared.cohorts, 1):
        for one in cohort.evidence:
            ladder = one.counts.everyone
            yield ComparedQuery(
                name=one.score,
                column=next(left),
                n_members=ladder.n_members,
                n_holdout=ladder.n_holdout,
                rows=number,
            )


def _ranking(
    compared: Compared, differences: Sequence[Row], against: Attackers
) -> tuple[RankedQuery, ...]:
    certain = surely_more(differences, against)
    names = [one.score for one in compared.evidence]
    ranked = []
    for number, name in enumerate(names):
        more = tuple(other for other in names if (name, other) in certain)
        less = tuple(other for other in names if (other, name) in certain)
        ranked.append(
            RankedQuery(
                query=name,
                estimate=compared.value(number, against),
                highest_place=1 + len(less),
                lowest_place=len(names) - len(more),
                leaks_more_than=more,
                leaks_less_than=less,
            )
        )
    return tuple(sorted(ranked, key=lambda one: -one.estimate))


def surely_more(rows: Sequence[Row], against: Attackers) -> set[tuple[str, str]]:
    """Return the (more, less) pairs of queries that the differences of a class settle.

    The limits hold jointly, so what follows from two of them is settled as well.
    """
    certain = set()
    for row in rows:
        if row.attackers == against and row.versus is not None:
            if row.lower is not None and row.lower > 0:
                certain.add((row.score, row.versus))
            if row.upper is not None and row.upper < 0:
                certain.add((row.versus, row.score))
    while True:
        implied = {(a, d) for a, b in certain for c, d in certain if b == c} - certain
        if not implied:
            return certain
        certain |= implied


def _findings(compared: Compared) -> Iterator[Finding]:
    for cohort in compared.cohorts:
        ladder = cohort.evidence[0].counts.everyone
        yield from size_findings(ladder.n_members, ladder.n_holdout)
        for one in cohort.evidence:
            yield from score_findings(safe_name(one.score), one.counts)


def _not_together(compared: Compared, pairs: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    """Yield why pairs of scores of the same rows were not looked at together."""
    steady = [constant(one.counts) for one in compared.evidence]
    idle, many = 0, 0
    for cohort in compared.cohorts:
        same_rows = [pair for pair in pairs if set(pair) <= set(cohort.queries)]
        without = sum(steady[a] or steady[b] for a, b in same_rows)
        idle += without
        if len(same_rows) - without > MOST_TOGETHER:
            many += len(same_rows) - without
    if many:
        yield Finding.of("not_seen_together", case="many", pairs=many, most=MOST_TOGETHER)
    if idle:
        yield Finding.of("not_seen_together", case="constant", pairs=idle)
