"""``mipaudit simulate``: score files with known truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Final

from mipaudit.commands.simulate.options import SimulateOptions, SimulateShown
from mipaudit.errors import UsageError
from mipaudit.options.public import public
from mipaudit.output.destination import Destination
from mipaudit.output.exit_code import OK
from mipaudit.output.presentation import present, write_scores
from mipaudit.validation.truth import LARGEST, ScenarioList, TruthReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from mipaudit.output.rows import RowFormat
    from mipaudit.validation.scenario import Columns, Scenario

_SIZES: Final = {
    "n_members": "members",
    "n_holdout": "holdout",
    "n_canaries": "canaries",
    "n_splits": "splits",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """A simulated table, and its truth.

    Attributes:
        table: an Arrow table, as ``estimate`` takes it (as ``noise`` does, for splits).
        truth: everything that is known.
    """

    table: pa.Table
    truth: TruthReport


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """A table that is yet to be drawn, and what will be true of it."""

    chunks: Callable[[], Iterator[Columns]]
    report: TruthReport

    def write(self, file: BinaryIO, form: RowFormat) -> None:
        """Draw the table and write it, a chunk at a time."""
        from mipaudit.output.rows import write_rows

        write_rows(file, self.chunks(), form, columns=self.report.columns)


def answer_simulate(asked: SimulateOptions) -> Simulated:
    """Draw a table whose true leak is known.

    The truth depends on the prior, the table does not. The same seed draws the same table.

    Raises:
        UsageError: there is no such scenario, or a setting is out of its range.
    """
    from mipaudit.output.rows import table_of

    planned = simulation(asked)
    table = table_of(planned.chunks(), columns=planned.report.columns)
    return Simulated(table=table, truth=planned.report)


def run_simulate(asked: SimulateOptions, shown: SimulateShown) -> int:
    """Draw the file and say what is true of it; return the exit code.

    Raises:
        UsageError: no scenario is named, or the name of the file stands for no form.
        OutputError: a place cannot be written to.
    """
    if (asked.scenario is None) != shown.show_list:
        raise UsageError(
            "scenario",
            "Give the name of one scenario, or `list`.",
            "For example: mipaudit simulate laplace-1 -o scores.parquet",
        )
    if shown.show_list or shown.truth_only:
        report = list_scenarios() if shown.show_list else simulation(asked).report
        place = Destination.open(shown.output, sha256=shown.sha256)
        present(report, shown, place)
        return OK
    return write_scores(asked, shown, simulation, beside=".truth.json")


def simulation(asked: SimulateOptions) -> Simulation:
    """Return what can be drawn, and what is true of it.

    Raises:
        UsageError: there is no such scenario, or a setting has no meaning for it.
    """
    from mipaudit.statements.provenance import provenance
    from mipaudit.validation.scenarios import drawn_chunks
    from mipaudit.validation.scenarios import scenario as find

    if asked.scenario is None:
        raise UsageError("scenario", "Give the name of one scenario.")
    found = find(asked.scenario)
    rows = _rows(found, asked)
    _check_order(found, asked, sum(rows.values()))
    splits = found.kind == "splits"
    truth = TruthReport(
        command="simulate",
        scenario=found.name,
        summary=found.summary,
        heading=found.heading,
        kind=found.kind,
        parameters=dict(found.parameters),
        columns=found.columns,
        rows=rows,
        order=None if splits else asked.order,
        prior=None if splits else asked.prior,
        truths=found.truths(asked.prior),
        notes=found.notes,
        provenance=provenance(seed=asked.seed, inputs=(), settings=asked.recorded()),
    )
    chunks = partial(drawn_chunks, found, rows, asked.order, asked.seed)
    return Simulation(chunks=chunks, report=truth)


def list_scenarios() -> ScenarioList:
    """Return all scenarios that :func:`simulate` knows, and the form of their names."""
    from mipaudit.statements.provenance import provenance
    from mipaudit.validation.scenarios import listing

    return ScenarioList(
        command="simulate --list",
        scenarios=listing(),
        provenance=provenance(seed=None, inputs=(), settings=()),
    )


def _rows(found: Scenario, asked: SimulateOptions) -> dict[str, int]:
    """Return how many rows of each class to draw."""
    rows = dict(found.sizes)
    for setting, what in _SIZES.items():
        size: int | None = getattr(asked, setting)
        if size is None:
            continue
        if what not in rows:
            wanted = " and ".join(f"`{key}`" for key, what in _SIZES.items() if what in rows)
            raise UsageError(
                setting,
                f"`{setting}` cannot be used with the scenario {found.name}.",
                f"Its size is set by {wanted}.",
            )
        rows[what] = size
    if sum(rows.values()) > LARGEST:
        raise UsageError("rows", f"At most {LARGEST:,} rows are drawn in all.")
    return rows


def _check_order(found: Scenario, asked: SimulateOptions, rows: int) -> None:
    """Refuse an order that splits do not have, or that asks for too many rows at once."""
    from mipaudit.validation.scenarios import LARGEST_SORTED

    order = asked.order
    if found.kind == "splits" and order != "shuffled":
        raise UsageError(
            "order", "Random splits are independent, so they have no order.", "Leave out `order`."
        )
    held = order == "sorted" or (found.kind == "canaries" and order != "shuffled")
    if held and rows > LARGEST_SORTED:
        raise UsageError(
            "order",
            f"Rows in the order {order} are held in memory: at most {LARGEST_SORTED:,} of them.",
            "Draw fewer, or leave out `order`.",
        )


simulate = public(SimulateOptions, answer_simulate)
