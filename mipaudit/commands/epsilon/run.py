"""``mipaudit epsilon``: the largest epsilon that the data refute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from mipaudit.commands.epsilon.question import DEFAULT_DELTA

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.commands.epsilon.report import EpsilonReport
    from mipaudit.statements.origin import InputFile, Setting

_NOT_ASKED = ("data", "members", "holdout", "jobs", "progress", "settings")


def epsilon(  # noqa: PLR0913 - one keyword for each option of the command
    data: Any = None,  # noqa: ANN401 - a path, a frame or an Arrow table
    *,
    members: Any = None,  # noqa: ANN401 - a path or an array
    holdout: Any = None,  # noqa: ANN401
    design: Literal["independent-runs", "one-run", "one-model"] | None = None,
    delta: float = DEFAULT_DELTA,
    confidence: float = 0.95,
    claimed_epsilon: float | None = None,
    claimed_mu: float | None = None,
    claimed_curve: Any = None,  # noqa: ANN401 - a path, or the points
    true_epsilon: float | None = None,
    method: Literal["conditional", "grid-cp", "split-cp", "bands", "bayes", "gdp"] = "conditional",
    splits: int = 1,
    assume_gdp: bool = False,
    guesses: int | tuple[int, int] | None = None,
    member_side: Literal["auto", "high", "low"] = "auto",
    tp: int | None = None,
    fn: int | None = None,
    fp: int | None = None,
    tn: int | None = None,
    numerator: Literal["either", "member", "holdout", "both"] | None = None,
    canaries: int | None = None,
    correct: int | None = None,
    inclusion_rate: float | None = None,
    run_column: str | None = None,
    score_columns: Sequence[str] = (),
    member_column: str | None = None,
    member_value: str | None = None,
    where: str | None = None,
    unit_column: str | None = None,
    unit_rows: Literal["one", "mean", "max", "min", "sum"] | None = None,
    rows_are: Literal["independent"] | None = None,
    key_column: str | None = None,
    nan: Literal["error", "category", "drop"] = "error",
    curve: bool = False,
    seed: int | Literal["fresh"] | None = None,
    hash_inputs: bool = False,
    jobs: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> EpsilonReport:
    """Return a lower confidence limit on epsilon at delta, by the design of the audit.

    Scores, or counts in their place: ``tp``, ``fn``, ``fp``, ``tn`` of independent runs, or
    ``canaries``, ``guesses``, ``correct`` of one run.

    Args:
        data: a path, directory, glob, ``"-"``, a data frame or an Arrow table.
        members: scores with the record (runs, canaries): a file, or an array (n,) or (n, d).
        holdout: scores without it, in the same form.
        design: how the scores came about. It has no default: it settles what is certified.
        delta: in [0, 1].
        confidence: one-sided, jointly over the score columns, in [0.5, 1).
        claimed_epsilon: a claim at ``delta`` to refute, at least 0.
        claimed_mu: a claim of Gaussian differential privacy, at least 0.
        claimed_curve: a claim that no attacker exceeds an ROC: a file with its points, such
            as ``bounds --curve`` writes, or a pair of sequences (FPR, TPR).
        true_epsilon: plan for this truth, above the claim; twice the claim by default.
        method: for independent runs; ``gdp`` is valid for Gaussian mechanisms only.
        splits: repeat the split of independent runs and combine the limits.
        assume_gdp: add the limit that holds if the mechanism is Gaussian.
        guesses: for one run, their number, or a pair (guessed in, guessed out), fixed before
            the coins were seen; by default several numbers share the error.
        member_side: of one run: the end of the score that speaks for inclusion, if known.
        tp: runs with the record that a fixed attack called so.
        fn: runs with the record that it did not.
        fp: runs without the record that it called runs with it.
        tn: runs without the record that it did not.
        numerator: of these, whose right guesses count; ``either`` tries two classes.
        canaries: how many canaries one run had.
        correct: how many of the guesses about them are right.
        inclusion_rate: of one run: with what probability each coin included its canary, in
            (0, 1), if that is known; from scores every rate near the one seen is allowed for
            otherwise, and counts are taken to be of fair coins.
        run_column: names the run of a row where several runs of one mechanism, their number
            fixed beforehand, each with coins of its own, are one audit; needs ``key_column``,
            the canary.
        score_columns: score columns by name; empty means found by the rules.
        member_column: membership column by name; None means found.
        member_value: rows whose membership equals it are members.
        where: ``"column = value"``: only these rows.
        unit_column: the person behind a row; each counts once, in one class.
        unit_rows: what of a person's rows counts: ``"one"`` of them (the default), or their
            ``"mean"``, ``"max"``, ``"min"`` or ``"sum"``: a new score, chosen before looking.
        rows_are: ``"independent"`` takes rows for that although ids or files repeat.
        key_column: a row's identity; its position otherwise.
        nan: what to do with a missing score.
        curve: add epsilon at many deltas to the report, jointly valid.
        seed: of every random choice, as for `estimate`.
        hash_inputs: sha256 of inputs over 64 MiB in all, too.
        jobs: number of threads; None for the processors at hand.
        progress: called with (rows done, rows in all or None).
        settings: recorded in the provenance; None records the arguments.

    Raises:
        UsageError: no design, or a setting is wrong or does nothing.
        InputError: the input cannot be audited as it is.
    """
    given = {name: value for name, value in locals().items() if name not in _NOT_ASKED}
    from mipaudit.commands.epsilon.counts.claimed_curve import named_curve
    from mipaudit.commands.epsilon.question import check_question
    from mipaudit.statements.provenance import settings_from

    has_input = data is not None or members is not None or holdout is not None
    claim, read = named_curve(claimed_curve)
    checked = {"claimed_curve": claim, "score_columns": tuple(score_columns)}
    question = check_question({**given, **checked, "has_input": has_input})
    given["claimed_curve"] = None if claim is None else claim.name
    if settings is None:
        settings = settings_from(given, source="api")
    if question.table is not None or question.totals is not None:
        from mipaudit.commands.epsilon.design_evidence import evidence_from_counts

        inputs: tuple[InputFile, ...] = read
        found = evidence_from_counts(question)
    else:
        from dataclasses import replace

        from mipaudit.commands.epsilon.design_evidence import evidence_from_scores
        from mipaudit.counting.large_seed import settle_seed
        from mipaudit.options.seed_choice import number_of
        from mipaudit.reading.source.any_input import column_names, open_input
        from mipaudit.reading.source.request import ReadRequest

        request = ReadRequest(
            seed=number_of(question.seed),
            score_columns=column_names(score_columns),
            member_column=member_column,
            member_value=member_value,
            where=where,
            unit_column=unit_column,
            unit_rows=unit_rows,
            rows_are=rows_are,
            key_column=key_column,
            run_column=run_column,
            group_columns=() if run_column is None else (run_column,),
            group_option="--run-col",
            nan=nan,
        )
        with open_input(data, members, holdout, request) as source:
            seed_used = settle_seed([source], question.seed, hash_inputs=hash_inputs)
            question = replace(question, seed=seed_used)
            found = evidence_from_scores(source, question, jobs=jobs, progress=progress)
            source.check_unchanged()
            inputs = (*source.inputs(hash_all=hash_inputs), *read)
    from mipaudit.commands.epsilon.answer import epsilon_report

    return epsilon_report(question, found, inputs=inputs, settings=settings)
