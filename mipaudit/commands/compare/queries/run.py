"""Several queries side by side: what ``compare`` does with scores, from inputs to the report."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from mipaudit.commands.compare.increase import increase_check
from mipaudit.commands.compare.options import CompareOptions, query_names
from mipaudit.commands.compare.queries.cohort import (
    MOST_TOGETHER,
    Columns,
    Compared,
    compared,
    compared_rows,
    count_cohort,
)
from mipaudit.commands.compare.queries.report import (
    CompareDesign,
    ComparedQuery,
    CompareReport,
    Pairing,
    RankedQuery,
    surely_leads,
)
from mipaudit.counting.counts import Counts, require_information, row_meter
from mipaudit.counting.scores import settle_seed
from mipaudit.data.opening import open_input
from mipaudit.data.request import read_request
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import UsageError
from mipaudit.evidence.scores.averaged_lower import Averaged, averaged_among
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.findings import constant, score_findings, size_findings
from mipaudit.evidence.scores.rows import PREQUENTIAL, ErrorShare, advantage_estimates
from mipaudit.maths.advantage import baseline
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Attackers, Check, Row
from mipaudit.options.values import require
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.provenance import InputFile, Provenance, provenance
from mipaudit.statements.verdict import reach_verdict, settled

_MOST_PAIRS: Final = 66


def compare_queries(asked: CompareOptions) -> CompareReport:
    """Return which of several queries leaks most, and by how much, with limits."""
    inputs = asked.named_scores
    if asked.independent:
        _require_independent([one.data for one in inputs], asked.key_col)
    given = [(one.data, None, None) for one in inputs] or [(None, asked.members, asked.holdout)]
    titles = [one.name for one in inputs] or [""]
    request = read_request(asked, seed=asked.chosen_seed)
    with ExitStack() as stack:
        sources = [stack.enter_context(open_input(*one, request)) for one in given]
        columns = [[column.name for column in source.columns] for source in sources]
        names = query_names(list(zip(titles, columns, strict=True)))
        pairs = _pairs(asked, [name for some in names for name in some])
        matched = asked.key_col is not None and len(sources) > 1
        read = partial(
            fold, workers=Workers(Engine(jobs=asked.jobs)), progress=row_meter(None, asked.progress)
        )
        choice = asked.chosen_seed
        if not matched:
            choice = settle_seed(sources, choice, hash_inputs=asked.hash_inputs, together=True)
        groups, seed, unmatched = compared_rows(
            sources, titles, names, read, choice, matched=matched
        )
        found = _counted(groups, pairs, read, asked, seed)
        _require_information(found)
        for source in sources:
            source.opened.check_unchanged()
        files = [source.inputs(hash_all=asked.hash_inputs) for source in sources]
        if asked.independent:
            _require_different_files(files)
        told = [finding for source in sources for finding in (*source.told, *source.findings())]
        return compare_report(
            found,
            [column for some in columns for column in some],
            asked,
            findings=[*told, *unmatched],
            provenance=provenance(
                seed=choice,
                inputs=[one for some in files for one in some],
                settings=asked.recorded(),
                seeds={None: seed},
            ),
        )


def _pairs(asked: CompareOptions, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of queries to compare.

    Raises:
        UsageError: the baseline is none of the queries, or there are too many.
    """
    require(
        asked.baseline is None or asked.baseline in names,
        "baseline",
        "The baseline is not one of the queries.",
        f"The queries are: {', '.join(safe_name(name) for name in names)}. A file is called by "
        "its name without the ending.",
    )
    baseline = None if asked.baseline is None else names.index(asked.baseline)
    pairs = pairs_of(len(names), baseline)
    require(
        len(pairs) <= _MOST_PAIRS,
        "too_many_queries",
        f"{len(names)} queries make {len(pairs)} pairs; at most {_MOST_PAIRS} can be compared.",
        "Name fewer with `score_col`, or compare all with one: `baseline` NAME. To find the worst "
        "of one file: `mipaudit estimate` FILE.",
    )
    return pairs


def _counted(
    groups: Iterable[Columns],
    pairs: Iterable[tuple[int, int]],
    read: Callable[..., Any],
    asked: CompareOptions,
    seed: int,
) -> Compared:
    """Count every set of rows, and compare those pairs of which it has both queries."""
    counted, first = [], 0
    for columns in groups:
        inside = range(len(columns.names))
        own = [(a - first, b - first) for a, b in pairs]
        own = [(a, b) for a, b in own if a in inside and b in inside]
        one = count_cohort(
            *(columns, own, read),
            prior=asked.prior,
            discrete=asked.discrete,
            seed=seed,
            first=first,
        )
        counted.append(one)
        first += len(inside)
    return compared(counted, independent=asked.independent)


def _require_information(found: Compared) -> None:
    """Refuse queries none of which can show anything; one that leaks nothing is compared.

    Raises:
        InputError: every score is constant, or both classes hold the same scores in all.
    """
    columns = tuple(one.counts for one in found.evidence)
    sizes = columns[0].everyone
    require_information(
        Counts(columns=columns, n_members=sizes.n_members, n_holdout=sizes.n_holdout)
    )


def _require_independent(data: Sequence[object], key_column: str | None) -> None:
    """Refuse inputs that cannot hold different records.

    Args:
        data: the inputs: paths or data in memory; none where members and holdout are apart.
        key_column: by which the rows of several inputs would be matched, or None.

    Raises:
        UsageError: one input, inputs matched by key, or the same input twice.
    """
    require(
        len(data) > 1,
        "independent",
        "There is only one input: its queries cover the same records, so they are not independent.",
        "Leave `independent` out.",
    )
    require(
        key_column is None,
        "independent",
        "`key_col` matches shared records, but `independent` says that there are none.",
        "Leave one of them out.",
    )
    if any(_same(one, other) for one, other in combinations(data, 2)):
        raise _same_input()


def _require_different_files(inputs: Iterable[Sequence[InputFile]]) -> None:
    """Refuse inputs that share a file's content, whatever it is called.

    Args:
        inputs: the files of each, as they were read.

    Raises:
        UsageError: two inputs have a file of the same content.
    """
    seen: set[str] = set()
    for files in inputs:
        marks = {
            mark for one in files if one.rows for mark in (one.sha256, one.fingerprint) if mark
        }
        if marks & seen:
            raise _same_input()
        seen |= marks


def _same_input() -> UsageError:
    return UsageError(
        "independent",
        "Two inputs are the same file, but `independent` says that they hold different records.",
        "Leave `independent` out, or name the other file.",
    )


def _same(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return Path(one).resolve() == Path(other).resolve()
    return one is other


def pairs_of(count: int, baseline: int | None) -> list[tuple[int, int]]:
    """Return the pairs of queries to compare: all, or every other one with the baseline."""
    if baseline is None:
        return list(combinations(range(count), 2))
    return [(one, baseline) for one in range(count) if one != baseline]


def _apart(compared: Compared) -> Pairing:
    """Return how the rows of different cohorts hang together."""
    return "independent" if compared.independent else "unknown"


_METHODS: Final[dict[Pairing, str]] = {
    "same-rows": "paired: the same rows under both queries",
    "independent": "root of squared slacks: independent inputs",
    "unknown": "two limits at the whole error: nothing is known of how the inputs overlap",
}
_SELECTION: Final = (
    "attackers of the class fitted on the burn-in and on earlier blocks, beside the best of the "
    "class on the other query"
)
_LOWER_ONLY: Final = Message("upper_needs_any")
_TOO_FEW: Final = Message("few_rows")


def difference_rows(
    compared: Compared, pairs: Sequence[tuple[int, int]], confidence: float
) -> list[Row]:
    """Return all differences, the first minus the second, jointly over the pairs for each class."""
    share = ErrorShare(confidence=confidence, columns=len(pairs))
    return [
        _difference(compared, pair, attackers, share)
        for pair in pairs
        for attackers in compared.classes(*pair)
    ]


def _difference(
    compared: Compared, pair: tuple[int, int], attackers: Attackers, share: ErrorShare
) -> Row:
    a, b = (compared.evidence[one] for one in pair)
    lower = compared.lower(*pair, attackers, share.one_sided)
    upper = compared.upper(*pair, attackers, share.one_sided)
    rates = [compared.challenger(one, attackers).rates for one in pair]
    smaller = min(rates, key=lambda one: one.n_members + one.n_holdout)
    one_cohort = pair[1] in compared.cohort(pair[0])
    return Row(
        quantity="difference",
        score=a.score,
        versus=b.score,
        method=_METHODS["same-rows" if one_cohort else _apart(compared)],
        attackers=attackers,
        value=rates[0].value - rates[1].value,
        plugin=a.observed(attackers)[0] - b.observed(attackers)[0],
        lower=lower,
        lower_reason=_TOO_FEW if lower is None else None,
        upper=upper,
        upper_reason=_TOO_FEW if upper is None else None,
        confidence=share.confidence,
        selection=_SELECTION,
        validity="approximate",
        n_members=smaller.n_members,
        n_holdout=smaller.n_holdout,
    )


def largest_of(evidence: Sequence[Evidence]) -> Averaged:
    """Return the guesses of one attacker at a time, on whichever query of a cohort."""
    blocks = [one.counts.blocks for one in evidence]
    first = evidence[0]
    return averaged_among(blocks, first.counts.burn_in, first.prior)


def best_of_rows(compared: Compared, confidence: float) -> list[Row]:
    """Return the largest advantage among the queries of each cohort of several."""
    cohorts = (compared.evidence[one.start : one.stop] for one in compared.cohorts)
    several = [one for one in cohorts if len(one) > 1]
    share = ErrorShare(confidence=confidence, columns=max(1, len(several)))
    rows = []
    for cohort in several:
        naive = max(cohort, key=lambda one: one.lower(share.one_sided))
        row = _any_attacker(
            largest_of(cohort),
            share,
            score="largest of " + ", ".join(one.score for one in cohort),
            method="prequential, one attacker at a time on whichever query did best so far",
            selection="query and attacker chosen on the burn-in and on earlier blocks",
        )
        chosen = replace(
            row,
            method="the largest of the limits, each at the full error",
            value=naive.held_out.value,
            lower=naive.lower(share.one_sided),
            selection="the query was chosen on the rows that it is judged on",
            validity="not-an-interval",
        )
        rows += [row, chosen]
    return rows


def together_rows(compared: Compared, confidence: float) -> tuple[list[Row], list[Row]]:
    """Return what pairs of scores show together, and what that adds to each alone."""
    pairs = compared.together
    share = ErrorShare(confidence=confidence, columns=max(1, len(pairs)))
    together, gains = [], []
    for pair in pairs:
        a, b = (compared.evidence[one].score for one in pair)
        rates = compared.challengers[pair].rates
        row = _any_attacker(
            rates,
            share,
            score=f"{a} + {b}",
            method="prequential, on either score and on grids of both",
            selection=PREQUENTIAL,
        )
        together.append(row)
        for attackers in compared.classes(*pair):
            lower = compared.gain(pair, attackers, share.one_sided)
            gain = replace(
                row,
                quantity="difference",
                versus=f"the better of {a} and {b}",
                method="paired: both scores seen together, beside the best of the class on one "
                "alone",
                attackers=attackers,
                value=rates.value - max(compared.value(one, attackers) for one in pair),
                lower=lower,
                lower_reason=_TOO_FEW if lower is None else None,
                selection=_SELECTION,
            )
            gains.append(gain)
    return together, gains


def _any_attacker(
    held: Averaged, share: ErrorShare, *, score: str, method: str, selection: str
) -> Row:
    """Return what attackers reach at least."""
    return Row(
        quantity="advantage",
        score=score,
        method=method,
        attackers="any",
        value=held.value,
        lower=held.lower(share.one_sided),
        upper=None,
        upper_reason=_LOWER_ONLY,
        confidence=share.confidence,
        selection=selection,
        validity="approximate",
        n_members=held.n_members,
        n_holdout=held.n_holdout,
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
        checks.sort(key=lambda one: (-(one.lower or 0), -(one.upper or 0)))  # the worst decides
    share = ErrorShare(confidence=confidence, columns=len(names))
    advantages = [row for one in evidence for row in advantage_estimates(one, share)]
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
            apart=_apart(compared) if several else "same-rows",
            pairs=len(pairs),
        ),
        ranking=_ranking(compared, advantages, differences, against),
        advantages=tuple(advantages),
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
                *((f"compare_{_apart(compared)}",) if several else ()),
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
    why = "a query has too few rows to make score ranges"
    if chosen == "any":
        why = "an upper limit for all attackers exists only where every score is discrete"
    if any(not one.ordered for one in compared.evidence):
        why = "a query's score holds labels, which have no order"
    raise UsageError(
        "against",
        f"The queries cannot be compared for attackers '{chosen}': {why}.",
        f"Try `against` {min(common)}."
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
    for number, cohort in enumerate(compared.cohorts, 1):
        for query in cohort:
            one = compared.evidence[query]
            yield ComparedQuery(
                name=one.score,
                column=columns[query],
                n_members=one.counts.everyone.n_members,
                n_holdout=one.counts.everyone.n_holdout,
                rows=number,
            )


def _ranking(
    compared: Compared, advantages: Sequence[Row], differences: Sequence[Row], against: Attackers
) -> tuple[RankedQuery, ...]:
    """Return the queries, with the lower limit of any attacker and the upper one of the class."""
    rows = {(row.score, row.attackers): row for row in advantages}
    certain = surely_more(differences, against)
    names = [one.score for one in compared.evidence]
    ranked = []
    for number, name in enumerate(names):
        more = tuple(other for other in names if (name, other) in certain)
        less = tuple(other for other in names if (other, name) in certain)
        ranked.append(
            RankedQuery(
                query=name,
                lower=getattr(rows.get((name, "any")), "lower", None),
                value=compared.value(number, against),
                upper=getattr(rows.get((name, against)), "upper", None),
                highest_place=1 + len(less),
                lowest_place=len(names) - len(more),
                leaks_more_than=more,
                leaks_less_than=less,
            )
        )
    return tuple(sorted(ranked, key=lambda one: -one.value))


def surely_more(rows: Sequence[Row], against: Attackers) -> set[tuple[str, str]]:
    """Return the (more, less) pairs of queries that the differences of a class settle.

    The limits hold jointly, so what follows from two of them is settled as well.
    """
    leads = (surely_leads(row) for row in rows if row.attackers == against)
    certain = {(lead.score, lead.versus or "") for lead in leads if lead}
    while True:
        implied = {(a, d) for a, b in certain for c, d in certain if b == c} - certain
        if not implied:
            return certain
        certain |= implied


def _findings(compared: Compared) -> Iterator[Finding]:
    for cohort in compared.cohorts:
        everyone = compared.evidence[cohort[0]].counts.everyone
        yield from size_findings(everyone.n_members, everyone.n_holdout)
        for one in compared.evidence[cohort.start : cohort.stop]:
            yield from score_findings(safe_name(one.score), one.counts)


def _not_together(compared: Compared, pairs: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    """Yield why pairs of scores of the same rows were not looked at together."""
    steady = [constant(one.counts) for one in compared.evidence]
    idle, many = 0, 0
    for cohort in compared.cohorts:
        same_rows = [pair for pair in pairs if set(pair) <= set(cohort)]
        without = sum(steady[a] or steady[b] for a, b in same_rows)
        idle += without
        if len(same_rows) - without > MOST_TOGETHER:
            many += len(same_rows) - without
    if many:
        yield Finding.of("not_seen_together", case="many", pairs=many, most=MOST_TOGETHER)
    if idle:
        yield Finding.of("not_seen_together", case="constant", pairs=idle)
