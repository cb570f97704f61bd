"""A validation run: every interval that the tool prints, on laws with known truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import UsageError
from mipaudit.validation.coverage.grid import Cell, Choice, Form, cells_of, control_cell
from mipaudit.validation.coverage.ledger import Ledger, Rows, code_fingerprint, versions
from mipaudit.validation.coverage.replications import Panel, Task, replicate, results
from mipaudit.validation.coverage.tally import joined, tally
from mipaudit.validation.estimands.estimands import ESTIMANDS, default_estimands, estimand
from mipaudit.validation.estimands.rivals import ALTERNATIVES
from mipaudit.validation.laws.catalogue import law
from mipaudit.validation.laws.vector_law import VECTOR_LAWS

if TYPE_CHECKING:
    from mipaudit.validation.estimands.estimand import Estimand

Progress = Callable[[int, int | None], None]

_MICRO: Final = 1_000_000  # progress is counted in whole numbers


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
    chosen = named or default_estimands()
    panel = Panel(
        estimands=chosen,
        alternatives=tuple(n for n, one in ALTERNATIVES.items() if one.estimand in chosen),
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
            hint="Leave `estimand` or `scenario` out.",
        )
    return Run(form=form, choice=choice, panel=panel, cells=cells, seed=seed)


def _concern(asked: Sequence[Estimand], cell: Cell) -> bool:
    return any(one.concerns(law(cell.scenario)) for one in asked)


def carry_out(
    run: Run, *, jobs: int, ledger: Ledger, progress: Progress | None
) -> tuple[Rows, Rows]:
    """Replicate what the ledger does not hold yet.

    What is found does not depend on the number of processes.

    Args:
        run: what is asked.
        jobs: processes, at least 1; 1 runs here.
        ledger: of finished cells.
        progress: called with microseconds of CPU time behind us, and in all.

    Returns:
        The rows of the grid, and those of the control cell, where invalid methods must be caught.

    Raises:
        MipauditError: a process was lost.
        OutputError: the ledger cannot be written.
    """
    control = _control(run)
    tasks = [Task(cell=cell, methods=run.panel) for cell in run.cells]
    missing = [task for task in (control, *tasks) if ledger.find(task) is None]
    pieces = [(task, run.seed, part) for task in missing for part in task.pieces()]
    total, done = sum(task.seconds * task.cell.replications for task in missing), 0.0
    # The processes end with this block, whatever ends it.
    with closing(results(replicate, pieces, jobs=min(jobs, len(pieces)))) as found:
        for task in missing:
            parts = []
            for part in task.pieces():
                parts.append(next(found))
                done += task.seconds * len(part)
                if progress is not None:
                    progress(int(done * _MICRO), int(total * _MICRO))
            ledger.add(task, tally(task.cell, joined(parts)))
    rows = tuple(row for task in tasks for row in ledger.find(task) or ())
    return rows, ledger.find(control) or ()


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
        cell=control_cell(replications), methods=Panel(estimands=(), alternatives=tuple(invalid))
    )
