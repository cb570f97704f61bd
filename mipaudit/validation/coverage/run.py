"""A validation run: every interval that the tool prints, on laws with known truth."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from mipaudit.errors import UsageError
from mipaudit.validation.coverage.crew import run_tasks
from mipaudit.validation.coverage.grid import Choice, cells_of, control_cell
from mipaudit.validation.coverage.ledger import Ledger, code_fingerprint, versions
from mipaudit.validation.coverage.outcome import judge_rows
from mipaudit.validation.coverage.panel import Panel
from mipaudit.validation.coverage.replication import Task
from mipaudit.validation.estimands.estimands import ESTIMANDS, default_estimands, estimand
from mipaudit.validation.laws.catalogue import law
from mipaudit.validation.laws.vector_law import VECTOR_LAWS
from mipaudit.validation.rivals.alternatives import ALTERNATIVES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.validation.coverage.cell import Cell
    from mipaudit.validation.coverage.crew import Progress
    from mipaudit.validation.coverage.grid import Form
    from mipaudit.validation.coverage.outcome import Outcome
    from mipaudit.validation.estimands.estimand import Estimand
    from mipaudit.validation.report import CoverageRow


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
            hint="Leave --estimand or --scenario out.",
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
