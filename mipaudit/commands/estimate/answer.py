"""From counts to the report: estimate every score, judge, and say it in words."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.commands.estimate.report import Report
from mipaudit.commands.estimate.rows import (
    findings_of,
    gather_metrics,
    kernel_rows_of,
    leaking,
    mace_estimates,
    metric_rows,
    published_rows,
    vector_evidence_of,
    vector_mace,
)
from mipaudit.counting.counts import require_information
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
from mipaudit.model.message import Finding, Message
from mipaudit.options.checked_limits import limits_elsewhere
from mipaudit.statements.any_report import STATED_SEED, STRICT_SEED, Design, approximate
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.verdict import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.estimate.options import EstimateOptions
    from mipaudit.counting.counts import Counts
    from mipaudit.data.source import AuditedInput
    from mipaudit.evidence.judgement.blind import Blind
    from mipaudit.model.row import Attackers, Row
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
    estimates = [
        row
        for one in evidence
        for row in (
            *_rows(one, share),
            *metric_rows(one.score, metrics, share),
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
            asked.prior,
            [one.lower(share.one_sided) for one in evidence],
            claims,
            leaking(metrics, share),
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
        estimates=(
            *estimates,
            *kernel_rows,
            *mace_rows,
            *published_rows(metrics, asked),
            *vector_mace_rows,
        ),
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

    (vector,) = (one for one in source.vectors if one.name == evidence.score)
    coordinates = [source.columns[at].name for at in vector.coordinates]
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
    names += [vector.name for vector in source.vectors]
    if limit.score is not None and limit.score not in names:
        known = ", ".join(f"'{safe_name(name)}'" for name in names)
        raise UsageError(
            "no_such_score",
            f"The policy limits {limit.quantity} of the score '{safe_name(limit.score)}', which "
            "is not audited.",
            hint=f"The scores here: {known}. Name it with `score_col` if the input has it.",
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
                hint="Use `max_advantage` with `against` any, or name another `score_col`.",
            )


def _require_class(source: AuditedInput, against: Attackers | None, score: str | None) -> None:
    """A class of attackers must make sense on every score that a policy is judged on."""
    scalars = [source.columns[at] for at in source.scalars]
    scalars = [column for column in scalars if score in {None, column.name}]
    vectors = [vector for vector in source.vectors if score in {None, vector.name}]
    of_vectors = against in _VECTOR_CLASSES
    if against in {None, "any"} or (of_vectors and against == "learned" and not scalars):
        return
    if not of_vectors and any(column.kind == "string" for column in scalars):
        raise UsageError(
            "no_order",
            f"Attackers '{against}' make no sense on labels, which have no order.",
            hint="Use `against` any, or name another `score_col`.",
        )
    if scalars and of_vectors:
        raise UsageError(
            "no_such_class",
            f"Attackers '{against}' exist for scores of several numbers alone, and "
            f"'{safe_name(scalars[0].name)}' is a single one.",
            hint="Name the others alone, or judge the scores in separate runs.",
        )
    if not vectors:
        return
    from mipaudit.summaries.cells import MOST_GRIDDED

    for vector in vectors:
        if not of_vectors or len(vector.coordinates) > MOST_GRIDDED:
            raise UsageError(
                "no_such_class",
                f"Score '{safe_name(vector.name)}' has {len(vector.coordinates)} numbers: there "
                f"is no upper limit for attackers '{against}'.",
                hint="Use `against` learned"
                + (" or product-grid." if len(vector.coordinates) <= MOST_GRIDDED else "."),
            )
