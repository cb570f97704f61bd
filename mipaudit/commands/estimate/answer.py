"""From counts to the report: estimate every score, judge, and say it in words.

What makes rows of metrics, of scores of several numbers and of MACE is loaded where there are such.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.commands.estimate.report import Report
from mipaudit.counting.counts import Counts, require_information
from mipaudit.errors import UsageError
from mipaudit.evidence.judgement.policy_on_scores import judge
from mipaudit.evidence.scores.curves import score_curves
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.findings import (
    crossing_findings,
    prior_findings,
    score_findings,
    size_findings,
)
from mipaudit.evidence.scores.rows import (
    ErrorShare,
    any_difference,
    pairs_of_limits,
    score_estimates,
)
from mipaudit.maths.advantage import baseline
from mipaudit.maths.metrics.names import LEAST_RECALL
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Attackers, Row
from mipaudit.options.checked_limits import limits_elsewhere
from mipaudit.statements.any_report import STATED_SEED, STRICT_SEED, approximate
from mipaudit.statements.design import Design
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.verdict import decide

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mipaudit.commands.estimate.options import EstimateOptions
    from mipaudit.data.source import AuditedInput
    from mipaudit.evidence.judgement.blind import Blind
    from mipaudit.evidence.metrics import MetricEvidence
    from mipaudit.evidence.vectors import VectorEvidence
    from mipaudit.maths.arrays import Ints
    from mipaudit.maths.metrics.mace import MaceHistogram
    from mipaudit.maths.metrics.metric import Metric
    from mipaudit.statements.policy import Limit, Policy
    from mipaudit.statements.provenance import Provenance
    from mipaudit.summaries.seed import SeedOrigin

_MOST_CURVES: Final = 5
_VECTOR_CLASSES: Final = frozenset({"learned", "product-grid"})
_ORDERED: Final = frozenset({"auc", "tpr_at_fpr"})


def audit(
    source: AuditedInput,
    counts: Counts,
    asked: EstimateOptions,
    provenance: Provenance,
    blind: Blind | None = None,
) -> Report:
    """Return the report on counted scores, the strongest score first.

    Args:
        source: what was read.
        counts: of it.
        asked: what is judged, and how.
        provenance: of the report.
        blind: what the records alone tell, of the same records; only what goes beyond it
            is held against the model.

    Raises:
        InputError: every score is constant, or both classes hold the same scores.
    """
    require_information(counts)
    _require_fit(source, asked.judged.policy)
    scalars = [source.columns[at] for at in source.scalars]
    names = [column.name for column in scalars]
    columns = len(names) + len(source.vectors)
    evidence = [
        Evidence(
            score=name,
            counts=one,
            prior=asked.prior,
            strict=asked.strict,
            member_side=asked.side,
            seed=seed,
            ordered=column.kind != "string",
        )
        for name, one, column, seed in zip(
            names, counts.columns, scalars, counts.seeds, strict=True
        )
    ]
    evidence += vector_evidence_of(source, counts, asked)
    share = ErrorShare(
        confidence=asked.confidence, columns=_shares(evidence, asked) if asked.joint else columns
    )
    # Equal ones stand in the order of their names, not in that of the file. Where a prior hides
    # what leaks the advantage of all is that of blind guessing, and the AUC tells them apart.
    evidence.sort(key=lambda e: e.score)
    evidence.sort(
        key=lambda e: (e.lower(share.one_sided), e.held_out.value, e.area[0].value), reverse=True
    )
    metrics = gather_metrics(evidence, asked.judged.metrics)
    of_metrics, leaking, published = metric_rows(metrics, share, asked)
    estimates = [
        row
        for one in evidence
        for row in (
            *_rows(one, share),
            *of_metrics[one.score],
            any_difference(one, asked.confidence),
        )
    ]
    checks, claims = judge(
        evidence, asked.judged.policy, asked.claim, asked.confidence, metrics, blind
    )
    if blind is not None:
        from mipaudit.evidence.judgement.blind import score_excess

        excess = tuple(
            score_excess(one, blind, confidence=asked.confidence, columns=share.columns)
            for one in evidence
        )
        blind = replace(blind, excess=excess)
    found = decide(
        asked.judged.policy,
        checks,
        (*source.told, *source.findings()),
        source.copies,
        claims=claims,
        incomplete=source.incomplete,
        assuming=None if blind is None else blind.asserted,
    )
    design = _design(source, counts, asked, [one.score for one in evidence])
    if max(share.columns, len(checks)) > 1:
        alone = evidence[0].lower((1 - asked.confidence) / 2)
        design = replace(design, alone=alone)
    stated = asked.seed_stated or (asked.strict and any(f.code == STATED_SEED for f in found.told))
    if stated:
        estimates = approximate(estimates)
    advantages = defaultdict(list)
    for row in estimates:
        advantages[row.score].append(row)
    findings = [
        *found.told,
        *([STRICT_SEED] if stated else []),
        *size_findings(counts.n_members, counts.n_holdout),
        *findings_of(asked.judged.metrics, asked.min_recall),
        *found.remarks,
        *_blind_findings(blind, 1 - asked.confidence),
        *limits_elsewhere("records", asked.judged.elsewhere),
        *prior_findings(
            asked.prior, [one.lower(share.one_sided) for one in evidence], claims, leaking
        ),
        *(
            finding
            for one in evidence
            for finding in (
                *_remarks(one, source),
                *crossing_findings(safe_name(one.score), one.score, advantages[one.score]),
            )
        ),
    ]
    mace_rows, mace_cells = mace_estimates(counts.mace, names, asked)
    vector_mace_rows, mace_findings = vector_mace(source, counts, asked)
    kernel_rows = kernel_rows_of(counts, names, share, asked)
    kernel_rows = approximate(kernel_rows) if stated else kernel_rows
    return Report(
        command="estimate",
        design=design,
        estimates=(*estimates, *kernel_rows, *mace_rows, *published, *vector_mace_rows),
        claims=claims,
        policy=found.checks,
        verdict=found.verdict,
        findings=(*findings, *mace_findings),
        limitations=_limitations(
            [*estimates, *kernel_rows],
            columns=columns,
            published=bool(mace_rows or vector_mace_rows or counts.kernel),
            blind=blind,
            strict_seed="stated" if stated else _strict_seed(asked, provenance),
            joint=asked.joint,
        ),
        provenance=provenance,
        mace_cells=mace_cells,
        curves=tuple(score_curves(one, share.one_sided) for one in evidence[:_MOST_CURVES]),
        blind=blind,
        copies=source.copies,
    )


def _shares(evidence: Sequence[Evidence], asked: EstimateOptions) -> int:
    """Return over how many pairs of limits `joint` shares the error."""
    metrics = len(asked.judged.metrics)
    return sum(pairs_of_limits(one) + metrics * (1 + len(one.classes)) for one in evidence)


def _strict_seed(
    asked: EstimateOptions, provenance: Provenance
) -> SeedOrigin | Literal["summaries"] | None:
    """Return where the seed that assigned the rows of a strict audit comes from."""
    if not asked.strict:
        return None
    return "summaries" if provenance.of_summaries else asked.chosen_seed.origin


def _rows(evidence: Evidence, share: ErrorShare) -> list[Row]:
    """Return every row of one score."""
    if not evidence.vectorial:
        return score_estimates(evidence, share)
    from mipaudit.evidence.vectors import vector_estimates

    return vector_estimates(evidence, share)


def _remarks(evidence: Evidence, source: AuditedInput) -> list[Finding]:
    """Return what is unusual about one score."""
    name = safe_name(evidence.score)
    if not evidence.vectorial:
        infinite = source.infinite([evidence.score])
        return score_findings(name, evidence.counts, infinite, source.sentinels(evidence.score))
    from mipaudit.evidence.vectors import vector_findings

    coordinates = [source.columns[at].name for at in source.vectors[evidence.score]]
    return vector_findings(name, evidence, source.infinite(coordinates))


def _blind_findings(blind: Blind | None, alpha: float) -> list[Finding]:
    """Return what a reader must know of the records alone.

    Args:
        blind: what is known of them; None where nobody asked.
        alpha: two-sided error of the audit.
    """
    if blind is None or (blind.bound is None and blind.everyone is not None):
        return []
    if blind.bound is not None:
        return [Finding.of("blind_bound", bound=blind.bound)]
    return [Finding.of("blind_open", differ=blind.differs(alpha / 2))]


def _blind_limitations(blind: Blind) -> tuple[Message, ...]:
    """Return what the figures on the records alone do not show."""
    if blind.bound is not None:
        return (Message.of("blind_asserted", bound=blind.bound), Message("blind_dependent"))
    codes = ("blind_seen", "blind_dependent", *(() if blind.lower > 0 else ("blind_not_shown",)))
    return tuple(map(Message, codes))


def _limitations(
    estimates: Sequence[Row],
    *,
    columns: int,
    published: bool,
    blind: Blind | None = None,
    strict_seed: SeedOrigin | Literal["summaries"] | None = None,
    joint: bool = False,
) -> tuple[Message, ...]:
    """Return what the numbers do not show.

    ``strict_seed`` says where the seed of a strict audit comes from, or that each summary has
    its own; None for any other audit.
    """
    extra = [] if blind is None else [*_blind_limitations(blind)]
    if any(
        e.quantity == "advantage" and e.attackers == "any" and e.upper is None for e in estimates
    ):
        extra.append(Message("continuous"))
    extra.append(Message("joint" if joint else "not_joint"))
    if columns > 1:
        extra.append(Message.of("error_over_columns", columns=columns))
    if strict_seed != "stated" and any(e.validity == "approximate" for e in estimates):
        extra.append(Message("approximate"))
    if strict_seed is not None:
        case = strict_seed if strict_seed in {"fresh", "summaries"} else "stated"
        extra.append(Message.of("strict_limits", case=case))
    if any(e.attackers == "noised-query" for e in estimates):
        extra.append(Message("noised"))
    if published:
        extra.append(Message("published"))
    first = (Message("one_query"), Message("alike"), Message("average"))
    return (*first, *extra, Message("one_run"))


def _design(
    source: AuditedInput, counts: Counts, asked: EstimateOptions, strongest_first: list[str]
) -> Design:
    return Design(
        n_members=counts.n_members,
        n_holdout=counts.n_holdout,
        prior=asked.prior,
        baseline=baseline(asked.prior),
        confidence=asked.confidence,
        score_columns=tuple(strongest_first),
        member_column=source.member_column,
        skipped_columns=source.passed_over,
        joint=asked.joint,
    )


def _require_fit(source: AuditedInput, policy: Policy) -> None:
    """Refuse a policy that says what cannot be judged on the scores.

    Raises:
        UsageError: ``no_such_score``, ``no_order`` or ``no_such_class``.
    """
    for limit in policy.every_limit:
        _require_score(source, limit)
        _require_order(source, limit)
    # It is checked also where it has nothing to judge.
    pairs = {(policy.against, None), *((one.against, one.score) for one in policy.every_limit)}
    for against, score in sorted(pairs, key=str):
        _require_class(source, against, score)


def _require_score(source: AuditedInput, limit: Limit) -> None:
    names = [source.columns[at].name for at in source.scalars]
    names += source.vectors
    if limit.score is not None and limit.score not in names:
        known = ", ".join(f"'{safe_name(name)}'" for name in names)
        raise UsageError(
            "no_such_score",
            f"The policy limits {limit.quantity} of the score '{safe_name(limit.score)}', which "
            "is not audited.",
            f"The scores here: {known}. Name it with `score_col` if the input has it.",
        )


def _require_order(source: AuditedInput, limit: Limit) -> None:
    """Labels have no order, so no threshold or interval makes sense on them."""
    asks = limit.quantity in _ORDERED or limit.against not in {None, "any"}
    for column in (source.columns[at] for at in source.scalars):
        if asks and column.kind == "string" and limit.score in {None, column.name}:
            raise UsageError(
                "no_order",
                f"Column '{safe_name(column.name)}' holds labels, which have no order: a limit on "
                "AUC, on TPR at an FPR, or on attackers with thresholds, cannot be judged on it.",
                "Use `max_advantage` with `against` any, or name another `score_col`.",
            )


def _require_class(source: AuditedInput, against: Attackers | None, score: str | None) -> None:
    """A class of attackers must make sense on every score that a policy is judged on."""
    scalars = [source.columns[at] for at in source.scalars]
    scalars = [column for column in scalars if score in {None, column.name}]
    vectors = {name: at for name, at in source.vectors.items() if score in {None, name}}
    of_vectors = against in _VECTOR_CLASSES
    if against in {None, "any"} or (of_vectors and against == "learned" and not scalars):
        return
    if not of_vectors and any(column.kind == "string" for column in scalars):
        raise UsageError(
            "no_order",
            f"Attackers '{against}' cannot be used on labels, which have no order.",
            "Use `against` any, or name another `score_col`.",
        )
    if scalars and of_vectors:
        raise UsageError(
            "no_such_class",
            f"Attackers '{against}' exist only for scores of several numbers, but "
            f"'{safe_name(scalars[0].name)}' is a single one.",
            "Name only scores of several numbers, or judge the scores in separate runs.",
        )
    if not vectors:
        return
    from mipaudit.summaries.cells import MOST_GRIDDED

    for name, places in vectors.items():
        if not of_vectors or len(places) > MOST_GRIDDED:
            raise UsageError(
                "no_such_class",
                f"Score '{safe_name(name)}' has {len(places)} numbers: there is no upper limit for "
                f"attackers '{against}'.",
                "Use `against` learned"
                + (" or product-grid." if len(places) <= MOST_GRIDDED else "."),
            )


_METHOD: Final = "MACE histogram, as published; not a valid interval for the advantage"
_SELECTION: Final = "100 bins of equal width between the extremes of the same rows"
_VECTOR_METHOD: Final = (
    "MACE histogram in several coordinates, as published; not a valid interval for the advantage"
)
_SHUFFLES: Final = 20
_SHUFFLED_BINS: Final = 1 << 22  # bins dealt in all, whatever the number of shuffles
_LARGEST_DEALT: Final = 10**9  # numpy deals without replacement below this
_STREAM: Final = 5


def gather_metrics(
    evidence: Sequence[Evidence], metrics: Sequence[Metric]
) -> dict[tuple[str, str], MetricEvidence]:
    """Return the evidence about every metric of every score, by (score, metric)."""
    if not metrics:
        return {}
    from mipaudit.evidence.metrics import metric_evidence

    return {
        (one.score, metric.name): metric_evidence(one, metric)
        for one in evidence
        for metric in metrics
    }


def metric_rows(
    gathered: Mapping[tuple[str, str], MetricEvidence], share: ErrorShare, asked: EstimateOptions
) -> tuple[Mapping[str, list[Row]], Message | None, list[Row]]:
    """Return the rows of all metrics by score, a score that one is surely high of, and MACE's.

    The message says of which score a metric is surely above what blind guessing has; the last rows
    are of MACE's Algorithm 2, if it is asked for.
    """
    rows: Mapping[str, list[Row]] = defaultdict(list)
    if not gathered:
        return rows, None, []
    from mipaudit.evidence.metric_rows import leaking_metrics, metric_estimates, published_metric

    for (score, _), found in gathered.items():
        rows[score].extend(metric_estimates(found, share))
    made = (
        published_metric(found.evidence, found.metric, asked.confidence)
        for found in (gathered.values() if asked.method == "mace" else ())
    )
    published = [row for row in made if row is not None]
    return rows, leaking_metrics(gathered.values(), share.one_sided), published


def findings_of(metrics: Sequence[Metric], least: float = LEAST_RECALL) -> list[Finding]:
    """Return what the reader must know about the metrics themselves.

    Args:
        metrics: all that are asked for or limited.
        least: the least recall that was asked for.
    """
    if not metrics and least == LEAST_RECALL:
        return []
    from mipaudit.evidence.metric_rows import metric_findings, unused_floor

    found = [finding for metric in metrics for finding in metric_findings(metric)]
    if least != LEAST_RECALL and not any(metric.floor for metric in metrics):
        found.append(unused_floor(least))
    return found


def vector_evidence_of(
    source: AuditedInput, counts: Counts, asked: EstimateOptions
) -> list[VectorEvidence]:
    """Return the evidence of every vector score, in the order of the source."""
    if not source.vectors:
        return []
    from mipaudit.evidence.vectors import vector_evidence

    return [
        vector_evidence(name, counted, prior=asked.prior, strict=asked.strict, seed=seed)
        for name, counted, seed in zip(
            source.vectors, counts.vectors, counts.vector_seeds, strict=True
        )
    ]


def vector_mace(
    source: AuditedInput, counts: Counts, asked: EstimateOptions
) -> tuple[list[Row], list[Finding]]:
    """Return the published estimator of every vector, and what it reads where nothing leaks."""
    if not counts.mace_vectors:
        return [], []
    from mipaudit.evidence.vectors import shuffled_finding

    rows, findings = [], []
    found = zip(source.vectors.items(), counts.mace_vectors, counts.vector_seeds, strict=True)
    for (name, places), table, seed in found:
        selection = (
            f"100^{len(places)} bins of equal width between the extremes of the same "
            f"rows, of which {len(table):,} are occupied"
        )
        row, _ = _as_published(name, _VECTOR_METHOD, selection, table, asked)
        rows.append(row)
        shuffled = _shuffled(table, asked, seed)
        if shuffled is not None:
            shown, value = safe_name(name), row.value or 0.0
            findings.append(shuffled_finding(shown, value, shuffled, asked.prior))
    return rows, findings


def mace_estimates(
    counts: Sequence[Ints], names: Sequence[str], asked: EstimateOptions
) -> tuple[list[Row], tuple[Row, ...]]:
    """Return the published estimator's rows and cells; they never decide anything."""
    rows: list[Row] = []
    cells: list[Row] = []
    for name, table in zip(names, counts, strict=bool(counts)):
        occupied = table.sum(axis=1).nonzero()[0]
        row, result = _as_published(name, _METHOD, _SELECTION, table[occupied], asked)
        rows.append(row)
        cells.extend(
            replace(
                row,
                quantity="risk",
                cell=int(cell),
                n_members=int(members),
                n_holdout=int(holdout),
                value=float(risk),
                lower=float(low),
                upper=float(high),
                plugin=None,
            )
            for cell, (holdout, members), risk, low, high in zip(
                occupied,
                table[occupied],
                result.risk,
                result.risk_lower,
                result.risk_upper,
                strict=True,
            )
        )
    return rows, tuple(cells)


def _as_published(
    name: str, method: str, selection: str, table: Ints, asked: EstimateOptions
) -> tuple[Row, MaceHistogram]:
    """Return MACE's estimate from the counts of holdout records and members by bin."""
    from mipaudit.maths.metrics.mace import mace_histogram

    holdout, members = table.T
    result = mace_histogram(members, holdout, prior=asked.prior, delta=1 - asked.confidence)
    row = Row(
        quantity="advantage",
        score=name,
        method=method,
        attackers="any",
        value=result.value,
        lower=result.value - result.half_width,
        upper=result.value + result.half_width,
        confidence=asked.confidence,
        plugin=result.value,
        selection=selection,
        validity="not-an-interval",
        n_members=int(members.sum()),
        n_holdout=int(holdout.sum()),
    )
    return row, result


def _shuffled(table: Ints, asked: EstimateOptions, seed: int) -> float | None:
    """Return the mean estimate with membership shuffled; None for too many rows to deal."""
    if int(table.sum()) >= _LARGEST_DEALT:
        return None
    from mipaudit.summaries.grids import shuffled_counts

    rng = np.random.default_rng([seed, _STREAM])
    times = max(1, min(_SHUFFLES, _SHUFFLED_BINS // len(table)))
    found = []
    for _ in range(times):
        dealt = shuffled_counts(table, rng)
        share = dealt / dealt.sum(axis=0)
        found.append(
            float(np.abs(asked.prior * share[:, 1] - (1 - asked.prior) * share[:, 0]).sum())
        )
    return float(np.mean(found))


def kernel_rows_of(
    counts: Counts, names: Sequence[str], share: ErrorShare, asked: EstimateOptions
) -> list[Row]:
    """Return the rows of the kernel densities, if asked for; they never decide anything."""
    if not counts.kernel:
        return []
    from mipaudit.evidence.kernel import kernel_estimates

    return [
        row
        for name, column in zip(names, counts.kernel, strict=True)
        for row in kernel_estimates(name, column, share, prior=asked.prior, strict=asked.strict)
    ]
