"""The files that ``noise --apply`` writes: the noised release, and the report beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import UsageError
from mipaudit.output.destination import Destination, write_together
from mipaudit.output.notes import note
from mipaudit.output.presentation import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.options.common_options import Format

_SUFFIX: Final = ".report.json"


def write_noised(
    release: str,
    output: str | None,
    keywords: Mapping[str, Any],
    *,
    format: Format,  # noqa: A002
    quiet: bool,
) -> None:
    """Add the noise, write both files, and show the report.

    Both places are checked before anything is computed, and both files are written or none:
    a noised release without a word on its noise would be worth nothing, and beside another
    one's report it would be worse.

    Raises:
        UsageError: no file to write to, or one that is an input.
        OutputError: a place cannot be written to.
    """
    if output is None or output == "-":
        raise UsageError(
            "output",
            "A noised release needs a file to go to.",
            hint="Add -o FILE: .csv, .parquet, .npy or .json; the report goes beside it.",
        )
    from mipaudit.commands.noise.run import add_noise, output_format

    form = output_format(output)
    if form is None:
        raise UsageError(
            "output", "-o takes a file name that ends in .csv, .parquet, .npy or .json here."
        )
    inputs = (release, keywords["splits"], keywords["pairs"])
    noised = Destination.open(output, inputs=inputs)
    sidecar = Destination.open(output + _SUFFIX, inputs=inputs)
    if noised.path == sidecar.path:
        raise UsageError(
            "output_is_report",
            "-o leads to the file that the report is written to.",
            hint="Choose another file for -o.",
        )
    shown = Destination.open(None)
    found = add_noise(release, format=form, **keywords)
    text = encode(found.report, format, to_file=False)
    sidecar_text = encode(found.report, "json", to_file=True)
    write_together([(sidecar, sidecar_text), (noised, found.content)])
    shown.write(text)
    for one in found.findings:
        # On stderr alone: it is about the release without its noise.
        note(f"{one.code}: {one.text} (Not in the report, which may be published.)", quiet=False)
    note("The noised release is written, and its report beside it.", quiet=quiet)
