"""From queries that were counted to the report on them: rows, ranking, verdict."""

from collections.abc import Sequence

from mipaudit.commands.compare.increase import IncreaseCheck, increase_check
from mipaudit.commands.compare.options import CompareOptions
from mipaudit.commands.compare.queries.pairs import Compared
from mipaudit.commands.compare.queries.report import (
    CompareDesign,
    ComparedQuery,
    CompareReport,
    RankedQuery,
)
from mipaudit.commands.compare.queries.rows import (
    MOST_TOGETHER,
    advantage_rows,
    best_of_rows,
    difference_rows,
    pairs_of,
    together_rows,
)
from mipaudit.errors import UsageError
from mipaudit.evidence.scores.findings import constant, score_findings, size_findings
from mipaudit.model.message import Message
from mipaudit.statements.estimate import Attackers, Estimate, Finding
from mipaudit.statements.origin import Provenance
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.verdict import Verdict, plain_verdict, settled


def surely_more(rows: Sequence[Estimate], against: Attackers) -> set[tuple[str, str]]:
    """Return the (more, less) pairs of queries that the differences of a class settle.

    The limits hold jointly, so what follows from two of them is settled as well.
    """
    settled = set()
    for row in rows:
        if row.attackers == against and row.versus is not None:
            if row.lower is not None and row.lower > 0:
                settled.add((row.score, row.versus))
            if row.upper is not None and row.upper < 0:
                settled.add((row.versus, row.score))
    while True:
        implied = {(a, d) for a, b in settled for c, d in settled if b == c} - settled
        if not implied:
            return settled
        settled |= implied


def judge_increases(
    compared: Compared, baseline: int, limit: float, against: Attackers, confidence: float
) -> list[IncreaseCheck]:
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
    others = [one for one in range(len(compared.evidence)) if one != baseline]
    whole = (1 - confidence) / 2
    return [
        increase_check(
            compared.evidence[one].score,
            compared.evidence[baseline].score,
            limit,
            against,
            (
                compared.lower(one, baseline, against, whole / len(others)),
                compared.upper(one, baseline, against, whole),
            ),
        )
        for one in others
    ]


def increase_verdict(checks: Sequence[IncreaseCheck]) -> Verdict:
    """Return the verdict over all checks."""
    return plain_verdict(
        [(one.status, Message.of("of_query", query=one.score, reason=one.reason)) for one in checks]
    )


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
    names = [one.score for one in compared.evidence]
    baseline = None if asked.baseline is None else names.index(asked.baseline)
    against = _against(compared, asked.against)
    pairs = [
        _stronger_first(compared, pair, against, baseline)
        for pair in pairs_of(len(names), baseline)
    ]
    design = _design(compared, columns, asked, against, len(pairs))
    differences = difference_rows(compared, pairs, asked.confidence)
    best_of = best_of_rows(compared, asked.confidence)
    together, gains = together_rows(compared, asked.confidence)
    checks = []
    if asked.max_increase is not None and baseline is not None:
        checks = judge_increases(compared, baseline, asked.max_increase, against, asked.confidence)
    apart = "compare_independent" if design.apart == "independent" else "compare_unknown"
    return CompareReport(
        command="compare",
        design=design,
        ranking=_ranking(compared, differences, against),
        advantages=tuple(advantage_rows(compared, asked.confidence)),
        differences=tuple(differences),
        best_of=tuple(best_of),
        together=tuple(together),
        gains=tuple(gains),
        policy=tuple(checks),
        verdict=settled(increase_verdict(checks), findings),
        findings=(*findings, *_findings(compared, pairs)),
        limitations=tuple(
            Message(code)
            for code in (
                *("compare_only_these", "drawn_alike", "compare_class"),
                *((apart,) if len(compared.cohorts) > 1 else ()),
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
    shared = [set(compared.classes(one, one)) for one in everyone]
    common = set.intersection(*shared)
    default: Attackers = "any" if "any" in common else "thresholds"
    chosen = asked or default
    if chosen not in common:
        unordered = any(not one.ordered for one in compared.evidence)
        why = (
            "a query's score holds labels, which have no order"
            if unordered
            else (
                "an upper limit for all attackers exists only where every score is discrete"
                if chosen == "any"
                else "a query has too few rows to cut the cells"
            )
        )
        raise UsageError(
            "against",
            f"The queries cannot be compared for the class '{chosen}': {why}.",
            hint=f"Try `against` {min(common)}."
            if common
            else "Compare scores of one kind: all discrete, or all numbers.",
        )
    return chosen


def _stronger_first(
    compared: Compared, pair: tuple[int, int], against: Attackers, baseline: int | None
) -> tuple[int, int]:
    """Return a pair with the greater estimate first; a baseline stays second."""
    first, second = pair
    swap = compared.value(second, against) > compared.value(first, against)
    return (second, first) if baseline is None and swap else pair


def _design(
    compared: Compared,
    columns: Sequence[str],
    asked: CompareOptions,
    against: Attackers,
    pairs: int,
) -> CompareDesign:
    queries = []
    for number, (one, column) in enumerate(zip(compared.evidence, columns, strict=True)):
        ladder = one.counts.everyone
        queries.append(
            ComparedQuery(
                name=one.score,
                column=column,
                n_members=ladder.n_members,
                n_holdout=ladder.n_holdout,
                rows=compared.cohorts.index(compared.cohort(number)) + 1,
            )
        )
    one_cohort = len(compared.cohorts) == 1
    apart = "independent" if compared.independent else "unknown"
    return CompareDesign(
        queries=tuple(queries),
        prior=asked.prior,
        trivial=abs(2 * asked.prior - 1),
        confidence=asked.confidence,
        against=against,
        baseline=asked.baseline,
        apart="same-rows" if one_cohort else apart,  # type: ignore[arg-type]
        pairs=pairs,
    )


def _ranking(
    compared: Compared, differences: Sequence[Estimate], against: Attackers
) -> tuple[RankedQuery, ...]:
    settled = surely_more(differences, against)
    names = [one.score for one in compared.evidence]
    ranked = []
    for number, name in enumerate(names):
        more = tuple(other for other in names if (name, other) in settled)
        less = tuple(other for other in names if (other, name) in settled)
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


def _findings(compared: Compared, pairs: Sequence[tuple[int, int]]) -> list[Finding]:
    found = []
    for cohort in compared.cohorts:
        ladder = compared.evidence[cohort.queries[0]].counts.everyone
        found += size_findings(ladder.n_members, ladder.n_holdout)
        for query in cohort.queries:
            one = compared.evidence[query]
            found += score_findings(safe_name(one.score), one.counts)
    return found + _not_together(compared, pairs)


def _not_together(compared: Compared, pairs: Sequence[tuple[int, int]]) -> list[Finding]:
    """Return why pairs of scores of the same rows were not looked at together."""
    steady = [constant(one.counts) for one in compared.evidence]
    idle, many = 0, 0
    for cohort in compared.cohorts:
        same_rows = [pair for pair in pairs if set(pair) <= set(cohort.queries)]
        without = sum(steady[a] or steady[b] for a, b in same_rows)
        idle += without
        if len(same_rows) - without > MOST_TOGETHER:
            many += len(same_rows) - without
    why = []
    if many:
        why.append(Finding.of("not_seen_together", case="many", pairs=many, most=MOST_TOGETHER))
    if idle:
        why.append(Finding.of("not_seen_together", case="constant", pairs=idle))
    return why
