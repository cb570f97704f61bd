"""``mipaudit check``: what is in the input, without auditing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.audit.finding import Finding
from mipaudit.errors import InputError
from mipaudit.report.model import CheckReport, Design
from mipaudit.report.names import safe_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mipaudit.api.tally import Tally
    from mipaudit.report.model import ColumnProfile, Setting
    from mipaudit.tables.source import ScoreSource

_FEW_VALUES: Final = 10


def check(  # noqa: PLR0913 - one keyword for each reading option
    data: Any = None,  # noqa: ANN401 - a path, a frame or an Arrow table
    *,
    members: Any = None,  # noqa: ANN401 - a path or an array
    holdout: Any = None,  # noqa: ANN401
    score_columns: Sequence[str] = (),
    member_column: str | None = None,
    member_value: str | None = None,
    where: str | None = None,
    unit_column: str | None = None,
    key_column: str | None = None,
    nan: Literal["error", "category", "drop"] = "error",
    seed: int = 0,
    hash_inputs: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> CheckReport:
    """Return what is in the input: columns, rows per class, ties, findings.

    Up to 2^22 rows every value is counted; above, distinct values and tied rows
    are not given, and repeated values are counted on a sample of that size.

    Args:
        data: a path, directory, glob, ``"-"``, a data frame or an Arrow table.
        members: the members' own file, or an array of shape (n,) or (n, d).
        holdout: the holdout's own file, or an array, in the same form.
        score_columns: score columns by name; empty means found by the rules.
        member_column: membership column by name; None means found.
        member_value: rows whose membership equals it are members.
        where: ``"column = value"``: only these rows.
        unit_column: the person behind a row; one row per person and class.
        key_column: a row's identity; its position otherwise.
        nan: what to do with a missing score.
        seed: chooses the row that stands for a person.
        hash_inputs: sha256 of inputs over 64 MiB too.
        progress: called with (rows done, rows in all or None).
        settings: recorded in the provenance; None records the arguments.

    Raises:
        UsageError: an argument is wrong.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.api.opening import open_input
    from mipaudit.api.tally import Tally
    from mipaudit.report.provenance import provenance, settings_from
    from mipaudit.tables.request import ReadRequest

    request = ReadRequest(
        score_columns=tuple(score_columns),
        member_column=member_column,
        member_value=member_value,
        where=where,
        unit_column=unit_column,
        key_column=key_column,
        nan=nan,
        seed=seed,
    )
    if settings is None:
        names = ("score_columns", "member_column", "member_value", "where", "unit_column")
        chosen = {name: getattr(request, name) for name in (*names, "key_column", "nan", "seed")}
        settings = settings_from({**chosen, "hash_inputs": hash_inputs}, source="api")
    with open_input(data, members, holdout, request) as source:
        tally = Tally(source.columns)
        tally.read(source, progress)
        source.check_unchanged()
        columns = tally.profiles()
        _require_two_classes(tally)
        _require_a_score(columns, tally)
        return CheckReport(
            command="check",
            design=_design(source, tally),
            columns=columns,
            findings=(*source.findings(), *_findings(columns, tally)),
            provenance=provenance(
                seed=seed, inputs=source.inputs(hash_all=hash_inputs), settings=settings
            ),
        )


def _design(source: ScoreSource, tally: Tally) -> Design:
    return Design(
        n_members=tally.n_members,
        n_holdout=tally.n_holdout,
        prior=0.5,
        baseline=0.0,
        confidence=0.95,
        score_columns=tuple(column.name for column in source.columns),
        member_column=source.member_column,
        skipped_columns=tuple(name for name, _ in source.skipped),
    )


def _require_two_classes(tally: Tally) -> None:
    for count, one, other in (
        (tally.n_members, "members", "holdout records"),
        (tally.n_holdout, "holdout records", "members"),
    ):
        if count == 0:
            raise InputError(
                "empty_class",
                f"The input holds {other} only, no {one}.",
                hint="Check --member-col, --member-value and --where.",
            )


def _require_a_score(columns: tuple[ColumnProfile, ...], tally: Tally) -> None:
    constant = tally.constant_columns()
    if len(constant) == len(columns):
        raise InputError(
            "constant_scores",
            "Every score is the same in all rows: there is nothing to audit.",
            hint="Name another score column with --score-col.",
        )
    # Two coins may well show the same counts; two lists of losses do not.
    rich = all((c.distinct or 0) > _FEW_VALUES for c in columns if c.score not in constant)
    if rich and tally.classes_identical():
        raise InputError(
            "identical_classes",
            "Members and holdout hold exactly the same scores.",
            hint="Were the same records written to both?",
        )


def _findings(columns: tuple[ColumnProfile, ...], tally: Tally) -> tuple[Finding, ...]:
    from mipaudit.audit.findings import size_findings

    constant = tally.constant_columns()
    found = size_findings(tally.n_members, tally.n_holdout)
    for column in columns:
        name = f"Column '{safe_name(column.score)}'"
        if column.score in constant:
            text = f"{name} has the same value in all rows: it shows nothing."
            found.append(Finding(code="constant_column", text=text))
        if column.infinite:
            text = f"{name} is infinite in {column.infinite:,} rows: kept, as extreme values."
            found.append(Finding(code="infinite_scores", text=text))
    return tuple(found)
