"""``mipaudit attack``: what the named adversaries of the literature achieve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.commands.attack.report import AttackReport
    from mipaudit.statements.provenance.origin import Setting

_NOT_ASKED = ("data", "members", "holdout", "jobs", "progress", "settings")
_READING = (
    "member_column",
    "member_value",
    "where",
    "unit_column",
    "unit_rows",
    "rows_are",
    "key_column",
    "nan",
)


def attack(  # noqa: PLR0913 - one keyword for each option of the command
    data: Any = None,  # noqa: ANN401 - a path, a frame or an Arrow table
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
    member_side: Literal["auto", "high", "low"] = "auto",
    residuals: bool = False,
    loss_bound: float | None = None,
    mean_loss: float | None = None,
    sigma_members: float | None = None,
    sigma_holdout: float | None = None,
    by: Sequence[str] = (),
    min_cell: int = 10,
    max_advantage: float | None = None,
    seed: int | Literal["fresh"] | None = None,
    hash_inputs: bool = False,
    jobs: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> AttackReport:
    """Return what named adversaries achieve, with limits, beside the best attacker's.

    An adversary that learns something from the data learns it from the burn-in, the rows
    that a hash of their identity picks out, and is judged on the other rows; one that is
    told everything is judged on all rows. All scores are held in memory.

    Args:
        data: a path, directory, glob, ``"-"``, a data frame or an Arrow table.
        members: the members' own file, or an array of shape (n,) or (n, d).
        holdout: the holdout's own file, or an array, in the same form.
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
        prior: assumed probability that a challenged record is a member, in (0, 1).
        confidence: of every pair of limits, jointly over the score columns, in [0.5, 1).
        member_side: where members score: low for a loss. Auto looks at the burn-in.
        residuals: the scores are residuals, label less prediction; their size is attacked.
        loss_bound: B above 0, known before the losses were: above it they count as B.
        mean_loss: the mean loss of the members as published, for one score column.
        sigma_members: standard error on members as published, at least 0.
        sigma_holdout: standard error on holdout records as published, at least 0.
        by: columns whose values have thresholds of their own.
        min_cell: fewest members and holdout records of a class, or behind a mean, that is
            shown, at least 1.
        max_advantage: policy limit on the advantage of every named adversary, in (|2p-1|, 1].
        seed: of the row assignment, as for `estimate`.
        hash_inputs: sha256 of inputs over 64 MiB too.
        jobs: number of threads; None for the processors at hand.
        progress: called with (rows done, rows in all or None).
        settings: recorded in the provenance; None records the arguments.

    Raises:
        UsageError: a setting is wrong, or makes no sense beside another.
        InputError: the input cannot be audited as it is.
    """
    given = {name: value for name, value in locals().items() if name not in _NOT_ASKED}
    from mipaudit.commands.attack.answer import attack_report
    from mipaudit.commands.attack.held_scores import hold_rows
    from mipaudit.commands.attack.question import check_attack
    from mipaudit.counting.large_seed import settle_seed
    from mipaudit.options.seed_choice import number_of
    from mipaudit.reading.source.any_input import column_names, open_input
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.statements.provenance.provenance import provenance, settings_from

    given["by"] = tuple(dict.fromkeys(column_names(by)))
    question = check_attack(given)
    if settings is None:
        settings = settings_from(given, source="api")
    request = ReadRequest(
        seed=number_of(question.seed),
        score_columns=column_names(score_columns),
        group_columns=question.by,
        **{name: given[name] for name in _READING},
    )
    with open_input(data, members, holdout, request) as source:
        seed_used = settle_seed([source], question.seed, hash_inputs=hash_inputs)
        held = hold_rows(source, question, jobs=jobs, progress=progress)
        source.check_unchanged()
        return attack_report(
            source,
            held,
            question,
            provenance(
                seed=seed_used,
                inputs=source.inputs(hash_all=hash_inputs),
                settings=settings,
                seeds=held.seeds(),
                unused_columns=source.unused,
            ),
        )
