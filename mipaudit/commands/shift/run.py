"""``mipaudit shift``: can members and holdout be told apart without the model?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.shift.learner import PRIOR, Learner, learn, little_known
from mipaudit.commands.shift.limits import (
    BlindEvidence,
    blind_estimates,
    blind_evidence,
    everyone_limit,
    shown_at,
    whole_evidence,
)
from mipaudit.commands.shift.opening import open_tables
from mipaudit.commands.shift.options import ShiftOptions
from mipaudit.commands.shift.record_copies import KeyForm
from mipaudit.commands.shift.report import FeatureUsed, ShiftDesign, ShiftReport, SkippedFeature
from mipaudit.commands.shift.source import ShiftRows, shift_rows
from mipaudit.commands.shift.survey import (
    Aspect,
    ShiftCount,
    ShiftSurvey,
    cut_columns,
    whole_records,
)
from mipaudit.commands.shift.words import (
    column_findings,
    copy_findings,
    repeated_findings,
    shift_limitations,
    telling_findings,
)
from mipaudit.counting.columns import Meter, require_spread, settle_sample
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import InputError
from mipaudit.evidence.judgement.policy_on_scores import judge
from mipaudit.evidence.scores.findings import crossing_findings, size_findings
from mipaudit.evidence.vectors.derived_scores import vector_burn_in_blocks
from mipaudit.model.message import Message
from mipaudit.options.public import public
from mipaudit.statements.estimate import STRICT_SEED, Estimate, Finding, approximate
from mipaudit.statements.policy import Limit, Policy, PolicyCheck
from mipaudit.statements.provenance import provenance
from mipaudit.statements.verdict import RECORDS, reach_verdict

if TYPE_CHECKING:
    from mipaudit.commands.shift.source import FeatureColumn, FeatureSource
    from mipaudit.summaries.sample import BurnInSample


_ASPECTS: Final[dict[str, Aspect]] = {
    "number": "numbers",
    "category": "categories",
    "date": "dates",
}
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
    with open_tables(asked) as source:
        workers = Workers(Engine(jobs=asked.jobs))
        passes = 2 + source.held
        count = asked.progress
        meter = None if count is None else Meter(passes * source.rows_hint, count).advance
        rows = shift_rows(source, asked, workers=workers, progress=meter)
        return _shift_report(source, rows, asked, workers=workers, progress=meter)


def _shift_report(
    source: FeatureSource,
    rows: ShiftRows,
    asked: ShiftOptions,
    *,
    workers: Workers,
    progress: Callable[[int], None] | None,
) -> ShiftReport:
    """Go through the rows twice and return the report.

    Raises:
        InputError: a table has no rows, or every column is the same in all rows.
    """
    partitions, seed = rows.partitions, rows.seed
    categories = [column.kind == "category" for column in source.columns]
    form = KeyForm(
        columns=len(source.columns),
        fractions=tuple(column.fractions for column in source.columns),
        persons=source.id_column is not None,
    )
    survey = fold(partitions, partial(ShiftSurvey, form, seed), workers=workers, progress=progress)
    sample = survey.sample
    settle_sample(sample)
    constant = [survey.constant(at) for at in range(len(source.columns))]
    if all(constant):
        raise InputError(
            "constant_columns",
            "Every column is the same in all rows: there is nothing to compare.",
            hint="Name other columns with `columns`.",
        )
    blocks = vector_burn_in_blocks(sample.members.rows, sample.holdout.rows)
    learner = learn(sample, categories, seed=seed)
    wanted = survey.keys.finish()
    seen, member = _burn_in(sample, blocks)
    whole = whole_records(
        list(seen.T),
        member,
        rows=sample.members.rows + sample.holdout.rows,
        burn_in=blocks,
        seed=seed,
    )
    cells = cut_columns(seen, categories)
    unknown = list(compress([one.name for one in source.columns], little_known(seen, categories)))
    count = fold(
        partitions,
        partial(ShiftCount, cells, wanted, learner, whole, burn_in=blocks, seed=seed),
        workers=workers,
        progress=progress,
    )
    return _report(source, rows, asked, sample, constant, learner, count, unknown)


def _burn_in(sample: BurnInSample, blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the burn-in, shape (n, d), and which are members."""
    members, holdout = (
        side.scores[side.within(blocks)] for side in (sample.members, sample.holdout)
    )
    rows = np.concatenate([members, holdout])
    return rows, np.arange(len(rows)) < len(members)


def _report(
    source: FeatureSource,
    rows: ShiftRows,
    asked: ShiftOptions,
    sample: BurnInSample,
    constant: Sequence[bool],
    learner: Learner | None,
    count: ShiftCount,
    unknown: Sequence[str],
) -> ShiftReport:
    names = [column.name for column in source.columns]
    tests = count.columns.tests(names, [_ASPECTS[column.kind] for column in source.columns])
    evidence = None
    whole = None if count.whole is None else count.whole.counts()[0]
    if learner is not None and count.scores is not None:
        counts = count.scores.counts()
        require_spread(counts[0])
        evidence = blind_evidence(counts, learner, whole, strict=asked.strict, seed=rows.seed)
    joint = None
    if whole is not None:
        joint = whole_evidence(whole, strict=asked.strict, seed=rows.seed)
    estimates = blind_estimates(evidence, everyone_limit(evidence, joint, asked), asked)
    policy = Policy()
    if asked.max_blind is not None:
        policy = Policy(limits=(Limit(quantity="advantage", max=asked.max_blind),))
    checks = () if evidence is None else judge([evidence], policy, None, asked.confidence).checks
    if unknown:
        # Who knows those texts is in no class of attackers on what was learned.
        checks = tuple(_without_upper(one) for one in checks)
    verdict = reach_verdict(checks, ())
    used = [column for column, same in zip(source.columns, constant, strict=True) if not same]
    copies = count.copies.copies()
    design = _design(source, asked, sample, used, constant, learner, evidence)
    sure = {one.column for one in tests if one.adjusted <= 1 - asked.confidence}
    telling = [name for name in compress(names, count.columns.telling()) if name in sure]
    if asked.seed_stated:
        estimates = approximate(estimates)
    findings = [
        *([STRICT_SEED] if asked.seed_stated else []),
        *_findings(source, rows, sample, constant, learner, estimates),
        *telling_findings(telling, unknown),
    ]

    source.opened.check_unchanged()
    return ShiftReport(
        command="shift",
        design=design,
        estimates=tuple(estimates),
        columns=tests,
        copies=copies,
        policy=checks,
        verdict=verdict,
        findings=(*findings, *copy_findings(copies), *repeated_findings(copies, design)),
        limitations=shift_limitations(design, estimates, stated=asked.seed_stated),
        provenance=provenance(
            seed=rows.choice,
            inputs=source.opened.described(hash_all=asked.hash_inputs),
            settings=asked.recorded(),
            seeds={None: rows.seed},
        ),
        shown_at=shown_at(evidence, tests),
    )


def _without_upper(check: PolicyCheck) -> PolicyCheck:
    """Return a check that is open unless it is not met."""
    if check.status == "not_met":
        return replace(check, upper=None)
    return replace(
        check,
        upper=None,
        status="inconclusive",
        records_to_settle=None,
        reason=Message("texts_not_seen"),
    )


def _design(
    source: FeatureSource,
    asked: ShiftOptions,
    sample: BurnInSample,
    used: Sequence[FeatureColumn],
    constant: Sequence[bool],
    learner: Learner | None,
    evidence: BlindEvidence | None,
) -> ShiftDesign:
    sizes = np.zeros(2, np.int64) if evidence is None else evidence.counts.scored.sum(axis=0)
    same = [c.name for c, one in zip(source.columns, constant, strict=True) if one]
    skipped = (*source.skipped, *((name, "same_in_all_rows") for name in same))
    return ShiftDesign(
        n_members=sample.members.rows,
        n_holdout=sample.holdout.rows,
        counted_members=int(sizes[1]),
        counted_holdout=int(sizes[0]),
        prior=PRIOR,
        confidence=asked.confidence,
        strict=asked.strict and not asked.seed_stated,
        id_column=source.id_column,
        features=tuple(FeatureUsed(column=one.name, kind=one.kind) for one in used),
        skipped=tuple(SkippedFeature(column=name, why=Message(why)) for name, why in skipped),
        learned=_learned(learner),
        coordinates=0 if learner is None else len(learner.coordinates),
    )


def _learned(learner: Learner | None) -> str:
    if learner is None:
        return "nothing"
    one = learner.derived[learner.chosen]
    named = _FORMS[one.form]
    return f"{named} ({learner.library})" if one.form == "boosting" else named


def _findings(
    source: FeatureSource,
    rows: ShiftRows,
    sample: BurnInSample,
    constant: Sequence[bool],
    learner: Learner | None,
    estimates: Sequence[Estimate],
) -> list[Finding]:
    same = [c.name for c, one in zip(source.columns, constant, strict=True) if one]
    found = [*rows.findings, *size_findings(sample.members.rows, sample.holdout.rows)]
    rounded = [column.name for column in source.columns if column.precision is not None]
    found += column_findings(same, rounded, source.skipped, rows.dropped)
    found += crossing_findings(RECORDS, RECORDS, estimates)
    if learner is not None and learner.library is None:
        found.append(Finding("no_boosting"))
    return found


shift = public(ShiftOptions, answer_shift)
