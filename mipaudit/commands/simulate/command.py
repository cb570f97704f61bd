"""``mipaudit simulate``: the scores, and the truth beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.simulate.run import list_scenarios, simulation
from mipaudit.errors import UsageError
from mipaudit.output import exit_code
from mipaudit.output.destination import Destination
from mipaudit.output.presentation import encode, present
from mipaudit.output.terminal import note

if TYPE_CHECKING:
    from mipaudit.commands.simulate.options import SimulateOptions, SimulateShown
    from mipaudit.commands.simulate.run import Simulation
    from mipaudit.validation.truth import ScenarioList, TruthReport

_SUFFIX: Final = ".truth.json"


def run_simulate(asked: SimulateOptions, shown: SimulateShown) -> int:
    """Draw the file and say what is true of it; return the exit code."""
    if (asked.scenario is None) != shown.show_list:
        raise UsageError(
            "scenario",
            "Give the name of one scenario, or `show_list`.",
            hint="For example: mipaudit simulate laplace-1 -o scores.parquet",
        )
    if shown.show_list:
        _write_report(list_scenarios(), shown)
        return exit_code.OK
    planned = simulation(asked)
    if shown.truth_only:
        _write_report(planned.truth, shown)
    else:
        _write_simulated(planned, shown)
    return exit_code.OK


def _write_simulated(simulation: Simulation, shown: SimulateShown) -> None:
    """Draw the scores, write them with their truth beside, and show the truth.

    Both places are checked before anything is drawn, and both files are there in the end
    or neither is.

    Raises:
        UsageError: a file name that stands for no form.
        OutputError: a place cannot be written to.
    """
    output = shown.output
    if output is None or output == "-":
        scores = Destination.open(None)
        with scores.stream() as file:
            simulation.write(file, "csv")
        truth = encode(simulation.truth, shown.format, to_file=True)
        note(truth.decode().rstrip("\n"), quiet=shown.quiet)
        return
    from mipaudit.reading.rows.output import row_format

    form = row_format(output)
    if form is None:
        raise UsageError(
            "output", "`output` takes a file name that ends in .csv, .csv.gz or .parquet here."
        )
    scores, sidecar = Destination.open(output), Destination.open(output + _SUFFIX)
    with scores.stream() as file:
        simulation.write(file, form)
        # Scores without their truth would be worth nothing.
        sidecar.write(encode(simulation.truth, "json", to_file=True))
    present(simulation.truth, shown.format, Destination.open(None))
    note("The scores are written, and their truth beside them.", quiet=shown.quiet)


def _write_report(report: TruthReport | ScenarioList, shown: SimulateShown) -> None:
    destination = Destination.open(shown.output, sha256=shown.sha256)
    present(report, shown.format, destination)
