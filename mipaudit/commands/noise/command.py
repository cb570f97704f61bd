"""``mipaudit noise``: the report, or a noised release with the report beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.noise.options import check_release
from mipaudit.commands.noise.run import answer_noise
from mipaudit.errors import UsageError
from mipaudit.output import exit_code
from mipaudit.output.destination import Destination, write_together
from mipaudit.output.presentation import encode, present
from mipaudit.output.terminal import note

if TYPE_CHECKING:
    from mipaudit.commands.noise.options import NoiseOptions, NoiseShown

_SUFFIX: Final = ".report.json"


def run_noise(asked: NoiseOptions, shown: NoiseShown) -> int:
    """Calibrate, perhaps add the noise, and write the answer; return the exit code."""
    if shown.release is not None:
        _write_noised(asked, shown, shown.release)
        return exit_code.OK
    _refuse_idle_choice(asked)
    destination = Destination.open(shown.output, inputs=asked.inputs(), sha256=shown.sha256)
    report = answer_noise(asked)
    present(report, shown, destination)
    return exit_code.OK


def _refuse_idle_choice(asked: NoiseOptions) -> None:
    # Only where it is typed: a policy file is for runs with a release and for others.
    name = "release_unlike_splits"
    if any((one.name, one.source) == (name, "command line") for one in asked.recorded()):
        raise UsageError(
            name, f"`{name}` has no meaning without a release.", hint="Add `release` RELEASE."
        )


def _write_noised(asked: NoiseOptions, shown: NoiseShown, release: str) -> None:
    """Add the noise, write both files, and show the report.

    Both places are checked before anything is computed, and both files are written or none:
    a noised release without a word on its noise would be worth nothing, and beside another
    one's report it would be worse.

    Raises:
        UsageError: no file to write to, or one that is an input.
        OutputError: a place cannot be written to.
    """
    check_release(asked, release)
    if shown.output is None or shown.output == "-":
        raise UsageError(
            "output",
            "A noised release needs a file to go to.",
            hint="Add `output` FILE: .csv, .parquet, .npy or .json; the report goes beside it.",
        )
    from mipaudit.commands.noise.answer import noised_release
    from mipaudit.commands.noise.vector import suffix_format

    form = suffix_format(shown.output)
    if form is None:
        raise UsageError(
            "output", "`output` takes a file name that ends in .csv, .parquet, .npy or .json here."
        )
    inputs = (*asked.inputs(), release)
    noised = Destination.open(shown.output, inputs=inputs)
    sidecar = Destination.open(shown.output + _SUFFIX, inputs=inputs)
    if noised.path == sidecar.path:
        raise UsageError(
            "output_is_report",
            "`output` leads to the file that the report is written to.",
            hint="Choose another file for `output`.",
        )
    found = noised_release(asked, release, form=form, unlike=shown.release_unlike_splits)
    sidecar_text = encode(found.report, "json", to_file=True)
    write_together([(sidecar, sidecar_text), (noised, found.content)])
    present(found.report, shown, Destination.open(None))
    for one in found.findings:
        # On stderr alone: it is about the release without its noise.
        note(f"{one.code}: {one.text} (Not in the report, which may be published.)", quiet=False)
    note("The noised release is written, and its report beside it.", quiet=shown.quiet)
