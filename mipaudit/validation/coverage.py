"""A validation run: every interval that the tool prints, on laws with known truth."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import InputError, OutputError, UsageError
from mipaudit.validation.estimands.methods import (
    ALTERNATIVES,
    ESTIMANDS,
    default_estimands,
    estimand,
)
from mipaudit.validation.laws import VECTOR_LAWS, law
from mipaudit.validation.replications import (
    Cell,
    Choice,
    Form,
    Panel,
    cells_of,
    control_cell,
    joined,
    replicate,
    results,
    tally,
)
from mipaudit.validation.report import CoverageRow
from mipaudit.version import __version__

if TYPE_CHECKING:
    from mipaudit.validation.estimands.estimand import Estimand

Rows = tuple[CoverageRow, ...]

_SCHEMA: Final = "mipaudit.validation-cells/1"
_HINT: Final = "Name another file for `resume`, or delete this one to start anew."


class Ledger:
    """The rows of finished cells, by what identifies the work."""

    def __init__(
        self, name: str | None = None, identity: Mapping[str, object] | None = None
    ) -> None:
        """Read what is finished; start the file if there is none.

        A last line that was cut off, as when a machine went down, is dropped.

        Args:
            name: of the file; None for memory alone.
            identity: of the run: whatever else changes a cell's rows.

        Raises:
            InputError: the file is of another run or no ledger at all.
            OutputError: it cannot be read or written.
        """
        self._finished: dict[str, Rows] = {}
        self._path = None if name is None else Path(name)
        if self._path is None:
            return
        head = {"schema": _SCHEMA, **(identity or {})}
        with _refusals():
            data = self._path.read_bytes() if self._path.exists() else b""
            whole = data[: data.rfind(b"\n") + 1]
            if whole:
                self._finished = _entries(whole.splitlines(), head)
            elif data:
                raise _foreign()
            else:
                self._append(head)
            if len(whole) < len(data):
                os.truncate(self._path, len(whole))

    def find(self, cell: Cell, methods: Panel) -> Rows | None:
        """Return the rows of a cell that is finished."""
        return self._finished.get(repr((cell, methods)))

    def add(self, cell: Cell, methods: Panel, rows: Rows) -> None:
        """Keep the rows of a cell, on disk before this returns.

        Raises:
            OutputError: the file cannot be written.
        """
        key = repr((cell, methods))
        self._finished[key] = rows
        with _refusals():
            self._append((key, rows))

    def _append(self, entry: object) -> None:
        if self._path is None:
            return
        import msgspec

        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(entry) + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _entries(lines: Sequence[bytes], head: Mapping[str, object]) -> dict[str, Rows]:
    """Return the finished cells of a file, whose first line says of which run they are."""
    import msgspec

    wanted = msgspec.json.decode(msgspec.json.encode(head))
    try:
        found = msgspec.json.decode(lines[0], type=dict[str, object])
        if found.get("schema") != _SCHEMA:
            raise _foreign()
        other = sorted(key for key in {*wanted, *found} if wanted.get(key) != found.get(key))
        if other:
            raise InputError(
                "other_run",
                f"The file to resume from is of a run with another {' and another '.join(other)}.",
                hint=_HINT,
            )
        entry = msgspec.json.Decoder(tuple[str, Rows])
        return dict(map(entry.decode, lines[1:]))
    except msgspec.MsgspecError:
        raise _foreign() from None


def _foreign() -> InputError:
    return InputError(
        "bad_resume_file", "The file to resume from is none of `mipaudit validate`.", hint=_HINT
    )


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what goes wrong with the file into an error that says so."""
    try:
        yield
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number else "bad name"
        raise OutputError("unusable_resume_file", f"`resume`: {reason}.", hint=_HINT) from None


def code_fingerprint() -> str:
    """Return a hash of the package's source: other code, other rows."""
    root = Path(__file__).parents[1]
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] != "cli":
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


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
        import numpy as np
        import scipy

        return {
            "version": {
                "mipaudit": __version__,
                "numpy": np.__version__,
                "scipy": scipy.__version__,
            },
            "code": code_fingerprint(),
            "seed": self.seed,
            "form": self.form,
            "choice": self.choice,
            "methods": self.panel,
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
    work = [control, *((cell, run.panel) for cell in run.cells)]
    missing = [one for one in work if ledger.find(*one) is None]
    pieces = [(*one, run.seed, part) for one in missing for part in one[0].pieces()]
    total, done = sum(cell.seconds * cell.replications for cell, _ in missing), 0.0
    # The processes end with this block, whatever ends it.
    with closing(results(replicate, pieces, jobs=min(jobs, len(pieces)))) as found:
        for cell, methods in missing:
            parts = []
            for part in cell.pieces():
                parts.append(next(found))
                done += cell.seconds * len(part)
                if progress is not None:
                    progress(int(done * _MICRO), int(total * _MICRO))
            ledger.add(cell, methods, tally(cell, joined(parts)))
    control_rows, *rows = (ledger.find(*one) or () for one in work)
    return tuple(chain.from_iterable(rows)), control_rows


def _control(run: Run) -> tuple[Cell, Panel]:
    """Return the invalid methods that must be caught, and enough files for that."""
    concerned = {*default_estimands(), *run.panel.estimands}
    invalid = {
        name: one
        for name, one in ALTERNATIVES.items()
        if not one.valid and one.estimand in concerned
    }
    replications = max(run.cells[0].replications, *(one.enough for one in invalid.values()))
    return control_cell(replications), Panel(estimands=(), alternatives=tuple(invalid))
