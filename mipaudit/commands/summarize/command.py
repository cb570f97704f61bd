"""``mipaudit summarize``: the summary in its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.summarize.run import answer_summarize
from mipaudit.options.plain_values import require
from mipaudit.output.destination import Destination
from mipaudit.output.exit_code import OK
from mipaudit.output.progress import progress_bar
from mipaudit.output.terminal import note

if TYPE_CHECKING:
    from mipaudit.commands.summarize.options import SummarizeOptions, SummarizeShown


def run_summarize(asked: SummarizeOptions, shown: SummarizeShown) -> int:
    """Count and write the summary; return the exit code."""
    require(
        shown.output is not None,
        "no_output",
        "Say where to write the summary.",
        "For example: -o part.summary, or -o - for standard output.",
    )
    destination = Destination.open(shown.output, inputs=asked.inputs())
    with progress_bar(quiet=shown.quiet) as progress:
        file = answer_summarize(asked.but(progress=progress))
    data = file.to_bytes()
    destination.write(data)
    note(file.headline(len(data)), quiet=shown.quiet)
    return OK
