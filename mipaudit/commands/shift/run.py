"""``mipaudit shift``: can members and holdout be told apart without the model?

Rows are compared in an order and with a seed of their own. What a row is, and so whether it only
trains, follows from what it holds and not from where it stands: who orders the rows of a file
chooses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from mipaudit.commands.shift.learner import MOST_WORDS, PRIOR, Learner, learn, little_known
from mipaudit.commands.shift.options import ShiftOptions
from mipaudit.commands.shift.report import Feature, ShiftDesign, ShiftReport
from mipaudit.commands.shift.survey import (
    Aspect,
    ColumnTest,
    KeyForm,
    Scorer,
    SharedRecords,
    ShiftCount,
    ShiftSurvey,
    cut_columns,
    whole_records,
)
from mipaudit.counting.counts import require_spread, row_meter, settle_sample
from mipaudit.counting.scores import position_seed
from mipaudit.data.tables.features import FeatureSource, open_features
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import InputError
from mipaudit.evidence.derived_scores import vector_burn_in_blocks
from mipaudit.evidence.judgement.policy_on_scores import judge
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.findings import crossing_findings, size_findings
from mipaudit.evidence.scores.rows import ErrorShare, advantage_estimates
from mipaudit.evidence.vectors import SeveralScores
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Check, Row
from mipaudit.options.public import public
from mipaudit.statements.any_report import STRICT_SEED, approximate
from mipaudit.statements.copies import RECORDS
from mipaudit.statements.policy import Policy
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.provenance import provenance
from mipaudit.statements.verdict import decide
from mipaudit.summaries.content import ContentColumn, canonical_order
from mipaudit.summaries.rows import HeldRows, Rows, one_of_each

if TYPE_CHECKING:
    from mipaudit.data.parts import Partition
    from mipaudit.maths.arrays import Floats
    from mipaudit.summaries.counts import ScoreCounts
    from mipaudit.summaries.seed import SeedChoice

_ASPECTS: Final[dict[str, Aspect]] = {
    "number": "numbers",
    "category": "categories",
    "date": "dates",
}
_ROWS_AT_ONCE: Final = 1 << 16
_FORMS: Final = {
    "logistic": "logistic regression",
    "boosting": "gradient boosting",
    "coordinate": "a single number",
}


def answer_shift(asked: ShiftOptions) -> ShiftReport:
    """Return how well members and holdout records can be told apart by their own columns.

    Raises:
        UsageError: an argument is wrong.
        InputError: the tables cannot be compared.
    """
    with open_features(
        asked.members,
        asked.holdout,
        columns=asked.columns,
        ignore=asked.ignore,
        id_col=asked.id_col,
    ) as source:
        meter = row_meter((2 + source.held) * source.rows, asked.progress)
        over = partial(fold, workers=Workers(Engine(jobs=asked.jobs)), progress=meter)
        if source.held:
            held = over(source.partitions, HeldRows).joined()
            assert held is not None  # noqa: S101 - neither table is empty
            rows = _in_order(_plain(held), source, asked)
        else:
            rows = _in_place(source, asked)
        return _shift_report(source, rows, asked, *_counted(source, rows, over))


# What is compared: the rows, one for each person and class where there are persons; the seed in use
# for them, and its choice, as it is recorded; how many rows stand for nobody; findings on the seed.
ShiftRows: TypeAlias = tuple["Sequence[Partition]", int, "SeedChoice", int, tuple[Finding, ...]]


def _in_order(rows: Rows, source: FeatureSource, asked: ShiftOptions) -> ShiftRows:
    """Return rows in memory in the order, and with the seed, that their values decide."""
    columns = [
        # Words of the bits tell all values and the missing apart, whatever a column holds.
        ContentColumn(name=column.name, values=values.view(np.uint64), labels=True)
        for column, values in zip(source.columns, rows.scores, strict=True)
    ]
    persons = rows.keys is not None
    found = canonical_order(columns, rows.member, rows.keys, units=persons)
    seed = asked.chosen_seed.in_use(found.content)
    every = rows.reordered(found.order)
    kept = one_of_each(every, seed) if persons else every
    parts = [
        kept.between(start, start + _ROWS_AT_ONCE)
        for start in range(0, kept.source_rows, _ROWS_AT_ONCE)
    ]
    dropped = every.member.size - kept.member.size
    return parts, seed, asked.chosen_seed, dropped, ()


def _in_place(source: FeatureSource, asked: ShiftOptions) -> ShiftRows:
    """Return rows that are too many to keep: their positions tell them apart."""
    described = source.opened.described(hash_all=asked.hash_inputs)
    rows = [([column.name for column in source.columns], map(_plain, source.batches()))]
    choice, seed, findings = position_seed(asked.chosen_seed, described, rows)
    chosen = None if source.id_column is None else source.choose(seed)
    dropped = 0 if chosen is None else chosen.dropped_members + chosen.dropped_holdout
    return source.partitions, seed, choice, dropped, findings


def _plain(rows: Rows) -> Rows:
    """Return rows with one kind of zero and of NaN."""
    return replace(rows, scores=tuple(map(_one_zero, rows.scores)))


def _one_zero(column: Floats) -> Floats:
    values = column + 0.0
    values[np.isnan(values)] = np.nan
    return values


def _counted(
    source: FeatureSource, rows: ShiftRows, over: Callable[..., Any]
) -> tuple[ShiftSurvey, Learner | None, ShiftCount, list[str]]:
    """Go through the rows twice: what is in them, then how the classes differ.

    Returns:
        What is in the rows, what the burn-in taught, None where no column differs in it, their
        counts, and the columns most of whose texts no score knows.

    Raises:
        InputError: a table has no rows, or every column is the same in all rows.
    """
    (partitions, seed, *_), columns = rows, source.columns
    fractions = tuple(column.fractions for column in columns)
    form = KeyForm(fractions=fractions, persons=source.id_column is not None)
    survey: ShiftSurvey = over(partitions, partial(ShiftSurvey, form, seed))
    sample = survey.sample
    settle_sample(sample)
    if not survey.varying:
        raise InputError(
            "constant_columns",
            "Every column is the same in all rows: there is nothing to compare.",
            "Name other columns with `columns`.",
        )
    categories = [column.kind == "category" for column in columns]
    blocks = vector_burn_in_blocks(sample.members.rows, sample.holdout.rows)
    members, holdout = (
        side.scores[side.within(blocks)] for side in (sample.members, sample.holdout)
    )
    seen = np.concatenate([members, holdout])
    member = np.arange(len(seen)) < len(members)
    n_rows = sample.members.rows + sample.holdout.rows
    learner = learn(sample, categories, seed=seed)
    whole = whole_records(list(seen.T), member, rows=n_rows, burn_in=blocks, seed=seed)
    scorers: dict[str, Scorer] = {} if whole is None else {"whole": whole}
    if learner is not None:
        scorers["learned"] = learner.plan, learner.scores
    cells, wanted = cut_columns(seen, categories), survey.keys.finish()
    start = partial(ShiftCount, cells, wanted, scorers, burn_in=blocks, seed=seed)
    unknown = compress([one.name for one in columns], little_known(seen, categories))
    return survey, learner, over(partitions, start), list(unknown)


def _shift_report(
    source: FeatureSource,
    rows: ShiftRows,
    asked: ShiftOptions,
    survey: ShiftSurvey,
    learner: Learner | None,
    count: ShiftCount,
    unknown: Sequence[str],
) -> ShiftReport:
    """Return the report on what was counted."""
    _, seed, choice, dropped, told = rows
    names = [column.name for column in source.columns]
    tests = count.columns.tests(names, [_ASPECTS[column.kind] for column in source.columns])
    counts = {name: tally.counts() for name, tally in count.scores.items()}
    records = counts.get("whole", [None])[0]
    evidence = None
    if learner is not None:
        require_spread(counts["learned"][0])
        evidence = blind_evidence(
            counts["learned"], learner, records, strict=asked.strict, seed=seed
        )
    estimates = _blind_estimates(evidence, records, asked, seed)
    if asked.seed_stated:
        estimates = approximate(estimates)
    policy = Policy(max_advantage=asked.max_blind)
    found = decide(policy, _checks(evidence, policy, asked.confidence, unknown), (), None)
    copies = count.copies.copies()
    design = _design(source, asked, survey, learner, evidence)
    sure = {one.column for one in tests if one.adjusted <= 1 - asked.confidence}
    telling = [name for name in compress(names, count.columns.telling()) if name in sure]
    rounded = [column.name for column in source.columns if column.precision is not None]
    source.opened.check_unchanged()
    return ShiftReport(
        command="shift",
        design=design,
        estimates=tuple(estimates),
        columns=tests,
        copies=copies,
        policy=found.checks,
        verdict=found.verdict,
        findings=(
            *([STRICT_SEED] if asked.seed_stated else []),
            *told,
            *size_findings(design.n_members, design.n_holdout),
            *_column_findings(design, rounded, dropped),
            *crossing_findings(RECORDS, RECORDS, estimates),
            *([Finding("no_boosting")] if learner is not None and not learner.library else []),
            *_telling_findings(telling, unknown),
            *copy_findings(copies, design),
        ),
        limitations=_shift_limitations(design, estimates, stated=asked.seed_stated),
        provenance=provenance(
            seed=choice,
            inputs=source.opened.described(hash_all=asked.hash_inputs),
            settings=asked.recorded(),
            seeds={None: seed},
        ),
        shown_at=shown_at(evidence, tests),
    )


def _checks(
    evidence: SeveralScores | None, policy: Policy, confidence: float, unknown: Sequence[str]
) -> tuple[Check, ...]:
    """Return the check of the limit, if there is one.

    Who knows the texts of columns that were not looked at is in no class of attackers on what
    was learned: such a check is open unless it is not met.
    """
    checks, _ = judge([] if evidence is None else [evidence], policy, None, confidence)
    if not unknown:
        return checks
    open_ = partial(
        replace, status="inconclusive", records_to_settle=None, reason=Message("texts_not_seen")
    )
    return tuple(
        replace(one if one.status == "not_met" else open_(one), upper=None) for one in checks
    )


def _design(
    source: FeatureSource,
    asked: ShiftOptions,
    survey: ShiftSurvey,
    learner: Learner | None,
    evidence: SeveralScores | None,
) -> ShiftDesign:
    """Return sizes and settings, and the columns that were compared."""
    holdout, members = (0, 0) if evidence is None else evidence.counts.scored.sum(axis=0).tolist()
    varying = [one for at, one in enumerate(source.columns) if at in survey.varying]
    # By place: to look columns up among columns takes the square of their number.
    same = [
        (one.name, "same_in_all_rows")
        for at, one in enumerate(source.columns)
        if at not in survey.varying
    ]
    learned = "nothing"
    if learner is not None:
        form = learner.best.form
        learned = _FORMS[form] + (f" ({learner.library})" if form == "boosting" else "")
    return ShiftDesign(
        n_members=survey.sample.members.rows,
        n_holdout=survey.sample.holdout.rows,
        counted_members=members,
        counted_holdout=holdout,
        prior=PRIOR,
        confidence=asked.confidence,
        strict=asked.strict and not asked.seed_stated,
        id_column=source.id_column,
        features=tuple(Feature(column=one.name, kind=one.kind) for one in varying),
        skipped=tuple(
            Feature(column=name, why=Message(why)) for name, why in (*source.skipped, *same)
        ),
        learned=learned,
        coordinates=0 if learner is None else len(learner.coordinates),
    )


shift = public(ShiftOptions, answer_shift)


_COLUMNS_TO_REPEAT: Final = 3  # in fewer, copies are common by chance


def _shift_limitations(
    design: ShiftDesign, estimates: Sequence[Row], *, stated: bool
) -> tuple[Message, ...]:
    """Return what the numbers do not show; ``stated``: `strict` and a seed were asked for."""
    approximate = "shift_approximate_stated" if stated else "shift_approximate"
    limited = any(one.attackers == "any" and one.upper is not None for one in estimates)
    codes = (
        "shift_no_release",
        "shift_blind",
        "shift_upper" if limited else "shift_no_upper",
        "shift_passing",
        "shift_burn_in",
        "shift_tests",
        *(() if design.strict else (approximate,)),
        *(() if design.id_column is not None else ("shift_persons",)),
    )
    return tuple(map(Message, codes))


def _column_findings(
    design: ShiftDesign, rounded: Iterable[str], dropped: int
) -> Iterator[Finding]:
    """Yield what is said of columns and rows that were changed or left out.

    Args:
        design: with the columns that were not compared.
        rounded: names of columns that some files store more coarsely than others.
        dropped: rows of persons who have another row in the same class.
    """

    def skipped(code: str) -> str:
        return _quoted(one.column for one in design.skipped if one.why and one.why.code == code)

    for code, case, columns in (
        ("constant_column", "columns", skipped("same_in_all_rows")),
        ("rounded_numbers", "columns", _quoted(rounded)),
        ("parted_numbers", None, skipped("numbers_apart")),
        ("column_in_one_table", None, skipped("in_one_table")),
    ):
        if columns:
            yield Finding.of(code, case=case, columns=columns)
    if dropped:
        yield Finding.of("rows_of_a_person", rows=dropped)


def _telling_findings(telling: Sequence[str], unknown: Sequence[str]) -> Iterator[Finding]:
    """Yield what is said of columns that tell all, and of those that few texts are known of.

    Args:
        telling: names of columns each of which tells nearly all records apart by itself.
        unknown: names of columns most of whose texts were not looked at.
    """
    if telling:
        ignore = ",".join(map(safe_name, telling))
        yield Finding.of("telling_column", columns=_quoted(telling), ignore=ignore)
    if unknown:
        yield Finding.of("many_texts", columns=_quoted(unknown), words=MOST_WORDS)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{safe_name(name)}'" for name in names)


def copy_findings(copies: SharedRecords, design: ShiftDesign) -> Iterator[Finding]:
    """Yield what is said of records that are in both classes, or twice in their own."""
    searched, within = copies.searched, copies.exact_within
    if searched < copies.holdout:
        yield Finding.of("copies_sampled", searched=searched, holdout=copies.holdout)
    if copies.exact:
        case = "of_members" if within is None else "of_both"
        yield Finding.of(
            "exact_copies", case=case, count=copies.exact, searched=searched, within=within
        )
    repeated = within if len(design.features) >= _COLUMNS_TO_REPEAT else None
    for count, code in (
        (copies.but_one, "near_copies"),
        (copies.rounded, "rounded_copies"),
        (copies.persons, "shared_persons"),
        (repeated if design.id_column is None else None, "repeated_rows"),
    ):
        if count:
            yield Finding.of(code, count=count, searched=searched)


# The one-sided errors at which a difference is looked for, the largest first.
_ERRORS: Final = tuple(
    sorted(
        {0.125 / 2**step for step in range(21)} | {0.025 / 2**step for step in range(16)},
        reverse=True,
    )
)
_BINS: Final = "bins-16"
_COUNTED: Final = (
    "the rows outside the burn-in counted",
    "16 cells of equal mass cut on the burn-in, the other rows counted",
)
_NO_UPPER: Final = Message("upper_of_record_classes")
_ALL_EXPLAINED: Final = Message("few_for_combinations")


def blind_evidence(
    counts: Sequence[ScoreCounts],
    learner: Learner,
    whole: ScoreCounts | None = None,
    *,
    strict: bool,
    seed: int,
) -> SeveralScores:
    """Return the evidence of the records.

    Args:
        counts: of all rows by each learned score, in the learner's order.
        learner: what made them.
        whole: of all rows by their combination of values, on the same blocks, if these are few:
            attackers may look at that too.
        strict: use finite-sample methods where there are any.
        seed: for the draws of the strict methods.
    """
    found = [
        replace(one.without_blocks(learner.fit_blocks), everyone=one.evaluated)
        for one in (*counts, *(() if whole is None else (whole,)))
    ]
    return SeveralScores(
        score=RECORDS,
        counts=found[learner.chosen],
        prior=PRIOR,
        strict=strict,
        member_side="high",
        seed=seed,
        together=tuple(found),
        bet_on=found[learner.chosen],
    )


def _blind_estimates(
    evidence: SeveralScores | None, records: ScoreCounts | None, asked: ShiftOptions, seed: int
) -> list[Row]:
    """Return the rows of the table: any attacker first, then the classes on what was learned.

    Args:
        evidence: of the learned scores; None where nothing was learned.
        records: counts by combination of values, whose upper limit holds for all attackers;
            None where there are too many combinations.
        asked: of the comparison.
        seed: in use for the rows.
    """
    if evidence is None:
        return [_nothing_learned(asked)]
    upper, why = None, _NO_UPPER
    if records is not None:
        error = (1 - asked.confidence) / 2
        whole = Evidence(
            score=RECORDS,
            counts=records,
            prior=PRIOR,
            strict=asked.strict,
            seed=seed,
            ordered=False,
        )
        limit = whole.upper("any", error)
        upper = None if limit is None else max(limit, evidence.lower(error))
        why = _ALL_EXPLAINED
    limited = upper is not None and upper < 1
    share = ErrorShare(confidence=asked.confidence, columns=1)
    first, *classes = advantage_estimates(evidence, share)
    return [
        replace(first, upper=upper if limited else None, upper_reason=None if limited else why),
        *(
            replace(one, selection=f"learned on the burn-in; {_COUNTED[one.attackers == _BINS]}")
            for one in classes
        ),
    ]


def shown_at(evidence: SeveralScores | None, tests: Sequence[ColumnTest]) -> float | None:
    """Return the smallest one-sided error at which a difference is shown; None at none.

    Args:
        evidence: of the learned scores; None where nothing was learned.
        tests: of all columns, whose adjusted p-values are two-sided errors.
    """
    found = [one.adjusted / 2 for one in tests]
    if evidence is not None:
        found += [error for error in _ERRORS if evidence.lower(error) > 0]
    least = min(found, default=1.0)
    return least if least <= _ERRORS[0] else None


def _nothing_learned(asked: ShiftOptions) -> Row:
    """Return the row of tables of which the burn-in shows no differing column."""
    return Row(
        quantity="advantage",
        score=RECORDS,
        method="prequential",
        attackers="any",
        value=0.0,
        lower=0.0,
        upper=None,
        upper_reason=Message("nothing_learned"),
        confidence=asked.confidence,
        selection="nothing was learned on the burn-in",
        validity="finite-sample",
        n_members=0,
        n_holdout=0,
    )
