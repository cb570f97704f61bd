"""The files that ``simulate`` writes: the scores, and the truth beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.errors import UsageError
from mipaudit.output.destination import Destination
from mipaudit.output.notes import note
from mipaudit.output.presentation import encode

if TYPE_CHECKING:
    from mipaudit.commands.simulate.run import Simulation
    from mipaudit.options.common_options import Format
    from mipaudit.validation.truth import ScenarioList, TruthReport

_SUFFIX: Final = ".truth.json"


def write_simulated(
    simulation: Simulation,
    output: str | None,
    *,
    format: Format,  # noqa: A002
    quiet: bool,
) -> None:
    """Draw the scores, write them with their truth beside, and show the truth.

    Both places are checked before anything is drawn, and both files are there in the end
    or neither is.

    Raises:
        UsageError: a file name that stands for no form.
        OutputError: a place cannot be written to.
    """
    if output is None or output == "-":
        scores = Destination.open(None)
        with scores.stream() as file:
            simulation.write(file, "csv")
        note(encode(simulation.truth, format, to_file=True).decode().rstrip("\n"), quiet=quiet)
        return
    from mipaudit.reading.rows.output import row_format

    form = row_format(output)
    if form is None:
        raise UsageError(
            "output", "-o takes a file name that ends in .csv, .csv.gz or .parquet here."
        )
    scores, sidecar = Destination.open(output), Destination.open(output + _SUFFIX)
    with scores.stream() as file:
        simulation.write(file, form)
        # Scores without their truth would be worth nothing.
        sidecar.write(encode(simulation.truth, "json", to_file=True))
    write_report(simulation.truth, format, None)
    note("The scores are written, and their truth beside them.", quiet=quiet)


def write_report(
    report: TruthReport | ScenarioList,
    format: Format,  # noqa: A002
    output: str | None,
    *,
    sha256: bool = False,
) -> None:
    """Write a report to a file, perhaps with its sha256 beside it, or to standard output."""
    destination = Destination.open(output, sha256=sha256)
    destination.write(encode(report, format, to_file=destination.path is not None))
