"""``mipaudit estimate``: how much a score says about membership."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from mipaudit.commands.estimate.report import Report
    from mipaudit.engine.engine import EngineName, OnBadPart
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.statements.estimate import Against
    from mipaudit.statements.provenance.origin import Setting


def estimate(  # noqa: PLR0913 - one keyword for each option of the command
    data: Any = None,  # noqa: ANN401 - paths, a frame or an Arrow table
    *,
    members: Any = None,  # noqa: ANN401 - a path or an array
    holdout: Any = None,  # noqa: ANN401
    score_columns: Sequence[str] = (),
    member_column: str | None = None,
    member_value: str | None = None,
    where: str | None = None,
    unit_column: str | None = None,
    unit_rows: Literal["one", "mean", "max", "min", "sum"] | None = None,
    rows_are: Literal["independent"] | None = None,
    key_column: str | None = None,
    nan: Literal["error", "category", "drop"] = "error",
    prior: float = 0.5,
    confidence: float = 0.95,
    strict: bool = False,
    joint: bool = False,
    method: Literal["prequential", "mace", "kde"] = "prequential",
    discrete: bool = False,
    member_side: Literal["auto", "high", "low"] = "auto",
    claimed_epsilon: float | None = None,
    delta: float = 0.0,
    adjacency: Literal["substitution", "add-remove"] | None = None,
    max_advantage: float | None = None,
    max_eta: float | None = None,
    max_tpr_at_fpr: tuple[float, float] | None = None,
    max_copies: int | None = None,
    against: Against | None = None,
    metric: str | Sequence[str] = (),
    max_metric: Mapping[str, float] | str | Sequence[str] = (),
    min_recall: float = 0.01,
    limits: Sequence[Mapping[str, Any]] = (),
    waivers: Sequence[Mapping[str, Any]] = (),
    on_inconclusive: Literal["fail", "review", "pass"] = "review",
    on_bad_part: OnBadPart = "error",
    blind: Any = None,  # noqa: ANN401 - a path, bytes, or a report of shift
    blind_against: Against | None = None,
    blind_bound: float | None = None,
    seed: int | Literal["fresh"] | None = None,
    hash_inputs: bool = False,
    jobs: int | None = None,
    engine: EngineName = "auto",
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> Report:
    """Return the advantage of the best attacker and what goes with it, for every score.

    Args:
        data: a path, several, a directory, glob, ``"-"``, a data frame or an Arrow table;
            or summaries: files named ``*.summary``, or what `summarize` returned.
        members: the members' own file, or an array of shape (n,) or (n, d).
        holdout: the holdout's own file, or an array, in the same form.
        score_columns: score columns by name, or comma lists such as ``"d1,d2"``, each one
            score of several numbers; empty means found by the rules.
        member_column: membership column by name; None means found.
        member_value: rows whose membership equals it are members.
        where: ``"column = value"``: only these rows.
        unit_column: the person behind a row; each counts once, in one class.
        unit_rows: what of a person's rows counts: ``"one"`` of them (the default), or their
            ``"mean"``, ``"max"``, ``"min"`` or ``"sum"``: a new score, chosen before looking.
        rows_are: ``"independent"`` takes rows for that although ids or files repeat.
        key_column: a row's identity; its position otherwise.
        nan: what to do with a missing score.
        prior: assumed probability that a challenged record is a member, in (0, 1).
        confidence: of every quantity, jointly over the score columns, in [0.5, 1).
        strict: finite-sample limits instead of the tighter approximate ones.
        joint: share the error over all rows, so that their limits hold together.
        method: ``"mace"`` adds the published histogram estimator, for reproduction;
            ``"kde"`` adds kernel densities, with limits for a score with Gaussian noise.
        discrete: take every score as discrete.
        member_side: side of the score on which members are guessed, for AUC and TPR.
        claimed_epsilon: a claim of differential privacy to compare with, at least 0.
        delta: of the claim, in [0, 1).
        adjacency: the neighbours that the claim is about.
        max_advantage: policy limit on the advantage, in (|2p-1|, 1].
        max_eta: policy limit on eta, in (0, 1/2].
        max_tpr_at_fpr: policy limit (TPR, FPR), both in (0, 1).
        max_copies: members that may stand in the release word for word, as the column
            ``exact_copy`` of a score file tells, at least 0.
        against: class of attackers whose upper limit must keep the policy.
        metric: names of metrics to add, such as ``"ppv"`` or ``["f1", "cost:fp=1,fn=5"]``.
        max_metric: policy limits on metrics, ``{"ppv": 0.6}`` or ``"ppv=0.6"``.
        min_recall: least recall of attackers in metrics that need one, as PPV, in (0, 1).
        limits: policy limits on any quantity, as the policy file lists them:
            ``{"quantity": "auc", "max": 0.6, "score": "loss"}``; docs/policy.md has the keys.
        waivers: of limits that are not shown to be kept, as the policy file lists them.
        on_inconclusive: what the exit code makes of an open answer.
        blind: a report of `shift` on the same records: records as likely in either class are
            then judged. Only what a score tells beyond what the records alone can tell is held
            against the model, and a difference between the records clears nothing.
        blind_against: class of attackers on the records whose upper limit is shown; None for
            the widest. It decides nothing.
        blind_bound: your assertion that no attacker on the records alone tells more than this,
            in [0, 1): verdicts then rest on it.
        seed: of the row assignment and of the strict methods: a number of at least 0, with
            which the scores decide; ``"fresh"`` draws one that is recorded; None lets the
            scores alone decide, and draws one where ``strict``.
        on_bad_part: ``"skip"`` leaves out files that cannot be read, and says so; no policy
            is then met.
        hash_inputs: sha256 of inputs over 64 MiB in all, too.
        jobs: number of workers on this machine; None for the processors at hand.
        engine: ``"threads"``, ``"processes"`` or ``"dask"``; the numbers are the same.
        scheduler: address of a Dask scheduler, such as ``"tcp://host:8786"``.
        executor: any ``concurrent.futures`` executor that runs the work instead, such as
            ``client.get_executor()``; it stays open.
        progress: called with (rows done, rows in all passes or None).
        settings: recorded in the provenance; None records the arguments.

    Raises:
        UsageError: an argument is wrong.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.commands.estimate.answer import audit
    from mipaudit.commands.estimate.blind_report import (
        blind_name,
        check_bound,
        read_blind,
        require_same_records,
    )
    from mipaudit.commands.estimate.from_summaries import audit_summaries
    from mipaudit.commands.estimate.terms import check_terms
    from mipaudit.counting.large_seed import settle_seed
    from mipaudit.counting.retried_reading import read_input
    from mipaudit.counting.scores import count_all
    from mipaudit.engine.engine import Engine
    from mipaudit.engine.workers import Workers
    from mipaudit.options.plain_values import require
    from mipaudit.options.policy.keys import listed
    from mipaudit.options.policy.metrics import limits_of, names_of
    from mipaudit.options.seed_choice import number_of
    from mipaudit.reading.source.any_input import column_names
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.reading.summaries.inputs import are_summaries
    from mipaudit.statements.provenance.provenance import provenance, settings_from

    terms_given: dict[str, Any] = {
        "prior": prior,
        "confidence": confidence,
        "strict": strict,
        "joint": joint,
        "method": method,
        "discrete": discrete,
        "member_side": member_side,
        "claimed_epsilon": claimed_epsilon,
        "delta": delta,
        "adjacency": adjacency,
        "max_advantage": max_advantage,
        "max_eta": max_eta,
        "max_tpr_at_fpr": max_tpr_at_fpr,
        "max_copies": max_copies,
        "against": against,
        "metric": names_of(metric),
        "max_metric": limits_of(max_metric),
        "min_recall": min_recall,
        "limits": listed("limits", limits),
        "waivers": listed("waivers", waivers),
        "on_inconclusive": on_inconclusive,
        "seed": seed,
    }
    reading: dict[str, Any] = {
        "score_columns": column_names(score_columns),
        "member_column": member_column,
        "member_value": member_value,
        "where": where,
        "unit_column": unit_column,
        "unit_rows": unit_rows,
        "rows_are": rows_are,
        "key_column": key_column,
        "nan": nan,
    }
    terms = check_terms(**terms_given)
    given: dict[str, Any] = {
        **reading,
        **terms_given,
        "blind": blind_name(blind),
        "blind_against": blind_against,
        "blind_bound": blind_bound,
        "on_bad_part": on_bad_part,
        "hash_inputs": hash_inputs,
    }
    recorded = settings_from(given, source="api") if settings is None else settings
    require(
        blind is not None or blind_against is None,
        "blind_against",
        "--blind-against names attackers on the records, and no report of them is given.",
        "Add --blind shift.json.",
    )
    bound = check_bound(blind_bound, given=blind is not None)
    alone = None
    if blind is not None:
        alone = read_blind(blind, blind_against, bound=bound, strict=terms.strict)
    if are_summaries(data):
        both = {"members": members, "holdout": holdout}
        return audit_summaries(data, {**both, **reading}, terms, recorded, alone)
    hired = Engine(
        name=engine, jobs=jobs, scheduler=scheduler, executor=executor, on_bad_part=on_bad_part
    )
    request = ReadRequest(**reading, seed=number_of(terms.seed), vectors=True)

    def run(source: ScoreSource) -> Report:
        seed = settle_seed([source], terms.seed, hash_inputs=hash_inputs)
        counts = count_all(
            source,
            seed=seed,
            prior=terms.prior,
            discrete=terms.discrete,
            mace=terms.method == "mace",
            kernel=terms.method == "kde",
            workers=workers,
            progress=progress,
        )
        source.check_unchanged()
        inputs = source.inputs(hash_all=hash_inputs)
        if alone is not None:
            require_same_records(alone, counts.n_members, counts.n_holdout, inputs)
        return audit(
            source,
            counts,
            terms,
            provenance(
                seed=seed,
                inputs=inputs,
                settings=recorded,
                seeds=counts.seeds_by(source),
                unused_columns=source.unused,
            ),
            alone,
        )

    with Workers(hired) as workers:
        return read_input((data, members, holdout), request, workers, run)
