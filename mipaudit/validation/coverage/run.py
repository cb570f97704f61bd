"""A validation run: every interval that the tool prints, on laws with known truth.

Its outcome says which limits fall short, what was caught, and how tight all is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from mipaudit.errors import UsageError
from mipaudit.validation.coverage.crew import Panel, Progress, Task, run_tasks
from mipaudit.validation.coverage.grid import Cell, Choice, Form, cells_of, control_cell
from mipaudit.validation.coverage.ledger import Ledger, code_fingerprint, versions
from mipaudit.validation.coverage.tally import LEVEL, POWER, detectable_coverage, failures
from mipaudit.validation.estimands.estimands import ESTIMANDS, default_estimands, estimand
from mipaudit.validation.estimands.rivals import ALTERNATIVES
from mipaudit.validation.laws.catalogue import law
from mipaudit.validation.laws.vector_law import VECTOR_LAWS
from mipaudit.validation.report import ControlOutcome, CoverageRow, Detectable, LimitSummary, Source

if TYPE_CHECKING:
    from mipaudit.validation.estimands.estimand import Estimand


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All rows, judged."""

    rows: tuple[CoverageRow, ...]
    limits: tuple[LimitSummary, ...]
    failures: tuple[CoverageRow, ...]
    controls: tuple[ControlOutcome, ...]
    detectable: tuple[Detectable, ...]
    tests: int

    @property
    def passed(self) -> bool:
        """Whether nothing falls short and every invalid method was caught."""
        return not self.failures and all(control.caught for control in self.controls)


def judge_rows(rows: Sequence[CoverageRow], control_rows: Sequence[CoverageRow]) -> Outcome:
    """Judge a run.

    Holm's correction runs over our rows; over those of other valid methods, which show that
    the truths are true, it runs apart, and so it does for each invalid method.

    Args:
        rows: of the grid.
        control_rows: of the control cell, where invalid methods must be caught.
    """
    ours, theirs = _of("mipaudit", rows), _of("valid", rows)
    short = (*failures(ours), *failures(theirs))
    short_ids = {id(row) for row in short}
    # Invalid methods are marked one by one, at the level of the table's first step.
    level = LEVEL / max(1, len(ours))
    judged = tuple(
        replace(row, falls_short=True)
        if id(row) in short_ids or (row.source == "invalid" and row.p_value <= level)
        else row
        for row in rows
    )
    return Outcome(
        rows=judged,
        limits=_summaries(judged),
        failures=tuple(replace(row, falls_short=True) for row in short),
        controls=tuple(
            _control_outcome(name, control_rows)
            for name in ALTERNATIVES
            if any(row.label == name for row in control_rows)
        ),
        detectable=_detectable(ours),
        tests=len(ours),
    )


def _of(source: Source, rows: Iterable[CoverageRow]) -> list[CoverageRow]:
    return [row for row in rows if row.source == source]


def _control_outcome(name: str, rows: Iterable[CoverageRow]) -> ControlOutcome:
    """Judge one invalid method by the worse side of what it said."""
    worst = min((row for row in rows if row.label == name), key=lambda row: row.p_value)
    return ControlOutcome(
        label=name,
        description=ALTERNATIVES[name].description,
        replications=worst.replications,
        misses=worst.misses,
        nominal=worst.nominal,
        p_value=worst.p_value,
        caught=worst.p_value <= LEVEL,
    )


def _detectable(rows: Sequence[CoverageRow]) -> tuple[Detectable, ...]:
    kinds = sorted({(row.nominal, row.replications) for row in rows}, reverse=True)
    return tuple(
        Detectable(
            nominal=nominal,
            replications=replications,
            power=POWER,
            coverage=detectable_coverage(replications, nominal, LEVEL / len(rows)),
        )
        for nominal, replications in kinds
    )


def _summaries(rows: Sequence[CoverageRow]) -> tuple[LimitSummary, ...]:
    """Return one summary for each limit, side and size: ours first, as in the registry."""
    groups: dict[tuple[int, int, str, str, int], list[CoverageRow]] = {}
    for row in rows:
        records = row.n_members + row.n_holdout
        groups.setdefault((*_rank(row), row.label, row.side, records), []).append(row)
    return tuple(_summary(key[-1], groups[key]) for key in sorted(groups))


def _rank(row: CoverageRow) -> tuple[int, int]:
    """Return where the methods and the estimand of a row stand."""
    theirs = 0 if row.source == "mipaudit" else 1 + list(ALTERNATIVES).index(row.label)
    return theirs, list(ESTIMANDS).index(row.estimand)


def _summary(records: int, rows: Sequence[CoverageRow]) -> LimitSummary:
    first = rows[0]
    alarms = [row.false_alarms for row in rows if row.false_alarms is not None]
    return LimitSummary(
        estimand=first.estimand,
        label=first.label,
        source=first.source,
        side=first.side,
        records=records,
        cells=len(rows),
        nominal=first.nominal,
        least_coverage=min(row.coverage for row in rows),
        false_alarms=max(alarms) if alarms else None,
        mean_gap=_mean(rows, lambda row: row.mean_gap),
        median_gap=_mean(rows, lambda row: row.median_gap),
        median_width=_mean(rows, lambda row: row.median_width),
        bias=_mean(rows, lambda row: row.bias),
        falls_short=sum(row.falls_short for row in rows),
    )


def _mean(rows: Iterable[CoverageRow], read: Callable[[CoverageRow], float | None]) -> float | None:
    known = [value for row in rows if (value := read(row)) is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is to be run, checked.

    Attributes:
        form: of the grid.
        choice: what the grid is narrowed to.
        panel: what is run on every file.
        cells: the grid.
        seed: of the whole run.
    """

    form: Form
    choice: Choice
    panel: Panel
    cells: tuple[Cell, ...]
    seed: int

    def identity(self) -> dict[str, Any]:
        """Return all that a cell's rows depend on, for the ledger."""
        return {
            "version": versions(),
            "code": code_fingerprint(),
            "seed": self.seed,
            "form": self.form,
            "choice": asdict(self.choice),
            "methods": asdict(self.panel),
        }


def make_run(
    form: Form, choice: Choice, *, estimands: tuple[str, ...], strict: bool, seed: int
) -> Run:
    """Return the run that is asked for.

    Raises:
        UsageError: there is no scenario or no estimand of a name.
    """
    for name in choice.scenarios:
        law(name)
    named = tuple(estimand(name).name for name in dict.fromkeys(estimands))
    panel = Panel(
        estimands=named or default_estimands(),
        alternatives=tuple(ALTERNATIVES),
        strict=strict,
        named=bool(named),
    )
    asked = [ESTIMANDS[name] for name in panel.estimands]
    vectorial = all(one.vectorial for one in asked)
    usual = set(panel.estimands) <= set(default_estimands()) and not choice.narrows
    if not choice.scenarios and vectorial and not usual:
        choice = replace(choice, scenarios=tuple(VECTOR_LAWS))
    cells = tuple(
        cell
        for cell in cells_of(form, choice, strict=strict)
        # Records of several columns cost more than scores: not for nothing.
        if choice.narrows
        or _concern(asked, cell)
        or (law(cell.scenario).width == 1 and not vectorial)
    )
    if not any(_concern(asked, cell) for cell in cells):
        raise UsageError(
            "nothing_to_validate",
            "None of the estimands is defined for these scenarios.",
            hint="Leave `estimands` or `scenarios` out.",
        )
    return Run(form=form, choice=choice, panel=panel, cells=cells, seed=seed)


def _concern(asked: Sequence[Estimand], cell: Cell) -> bool:
    return any(one.concerns(law(cell.scenario)) for one in asked)


def carry_out(run: Run, *, jobs: int, ledger: Ledger, progress: Progress | None) -> Outcome:
    """Replicate what the ledger does not hold yet, and judge the whole.

    Raises:
        MipauditError: a process was lost.
        OutputError: the ledger cannot be written.
    """
    control = _control(run)
    tasks = [Task(cell=cell, methods=run.panel) for cell in run.cells]
    missing = [task for task in (control, *tasks) if ledger.find(task) is None]
    run_tasks(missing, seed=run.seed, jobs=jobs, finished=ledger.add, progress=progress)
    rows = [row for task in tasks for row in _rows(ledger, task)]
    return judge_rows(rows, _rows(ledger, control))


def open_ledger(name: str | None, run: Run) -> Ledger:
    """Return the ledger of a run; see `Ledger.open`."""
    return Ledger.open(name, run.identity() if name is not None else {})


def _control(run: Run) -> Task:
    """Return the invalid methods that must be caught, and enough files for that."""
    concerned = {*default_estimands(), *run.panel.estimands}
    invalid = {
        name: one
        for name, one in ALTERNATIVES.items()
        if not one.valid and one.estimand in concerned
    }
    replications = max(run.cells[0].replications, *(one.enough for one in invalid.values()))
    return Task(
        cell=control_cell(replications),
        methods=Panel(estimands=(), alternatives=tuple(invalid), only_selected=False),
    )


def _rows(ledger: Ledger, task: Task) -> tuple[CoverageRow, ...]:
    return ledger.find(task) or ()
