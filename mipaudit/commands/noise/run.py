"""``mipaudit noise``: how much noise makes a release membership-inference private.

The report, or a noised release with the report beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.noise.options import AddNoiseOptions, NoiseOptions, NoiseShown, check_release
from mipaudit.errors import UsageError
from mipaudit.options.public import public
from mipaudit.report.forms import finding_line

if TYPE_CHECKING:
    from mipaudit.commands.noise.answer import NoisedRelease
    from mipaudit.commands.noise.report import NoiseReport

_SUFFIX: Final = ".report.json"
_FORMATS: Final = {"csv": "CSV", "parquet": "Parquet", "npy": "a numpy array", "json": "JSON"}


def answer_noise(asked: NoiseOptions) -> NoiseReport:
    """Find how much noise keeps every attacker's accuracy within eta of guessing.

    Without ``splits``, this is mathematics: each calibration's factor for the figure that it needs.
    With ``splits``, the noise is estimated, and the noise with the smallest error is chosen.

    Raises:
        UsageError: a setting is out of its range, or cannot be used with another.
        InputError: the splits or pairs cannot be used.
    """
    if asked.splits is None:
        from mipaudit.commands.noise.report import promise_report

        return promise_report(asked)
    from mipaudit.commands.noise.answer import report_on_splits

    return report_on_splits(asked)[0]


def answer_add_noise(asked: AddNoiseOptions) -> NoisedRelease:
    """Add to a release the noise that a promise needs (Izzo et al. 2022, Algorithm 1).

    Returns:
        What may be published, with the report, and what only the owner should know. Randomness
        comes from the operating system unless a ``seed`` is given.

    Raises:
        UsageError: a setting is out of its range, or cannot be used with another.
        InputError: the splits, pairs or release cannot be used, or do not belong together.
    """
    from mipaudit.commands.noise.answer import noised_release
    from mipaudit.commands.noise.release import read_release

    return noised_release(asked, read_release(asked.release), asked.release_unlike_splits)


def run_noise(asked: NoiseOptions, shown: NoiseShown) -> int:
    """Calibrate, perhaps add the noise, and write the answer; return the exit code."""
    from mipaudit.output import exit_code
    from mipaudit.output.presentation import write_report

    if shown.release is not None:
        _write_noised(asked, shown, shown.release)
        return exit_code.OK
    _refuse_idle_choice(asked)
    return write_report(asked, shown, answer_noise)


def _refuse_idle_choice(asked: NoiseOptions) -> None:
    # Only where it is typed: a policy file is for runs with a release and for others.
    name = "release_unlike_splits"
    if any((one.name, one.source) == (name, "command line") for one in asked.recorded()):
        raise UsageError(name, f"`{name}` can only be used with a release.", "Add `apply` RELEASE.")


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
            "A noised release needs an output file.",
            "Add `output` FILE: .csv, .parquet, .npy or .json; the report goes beside it.",
        )
    from mipaudit.commands.noise.answer import noised_release
    from mipaudit.commands.noise.release import read_release, suffix_format
    from mipaudit.output.destination import Destination, write_together
    from mipaudit.output.presentation import encode, present
    from mipaudit.output.terminal import note, note_written

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
            "`output` is the file to which the report is written.",
            "Choose another file for `output`.",
        )
    place = Destination.open(None)
    read = read_release(release)
    if form != read.format:
        raise UsageError(
            "output",
            f"A noised release keeps the form of the release: {read.source.name} holds "
            f"{_FORMATS[read.format]}, but the name in `output` says {_FORMATS[form]}.",
            f"For example: `output` noised.{read.format}",
        )
    found = noised_release(asked, read, shown.release_unlike_splits)
    sidecar_text = encode(found.report, "json", to_file=True)
    write_together([(sidecar, sidecar_text), (noised, found.content)])
    present(found.report, shown, place)
    for one in found.findings:
        # On stderr alone: it is about the release without its noise.
        note(f"{finding_line(one)} (Not in the report, which may be published.)", quiet=False)
    files = (("the noised release", noised), ("its report", sidecar))
    note_written(found.report, place, *files, quiet=shown.quiet)


noise = public(NoiseOptions, answer_noise)
add_noise = public(AddNoiseOptions, answer_add_noise)
