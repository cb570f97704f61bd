"""What ``mipaudit history`` may be asked."""

from collections.abc import Sequence
from typing import Any

from mipaudit.options.declare import Options, reads
from mipaudit.options.game import Recorded


class _Reports(Options, kw_only=False):
    reports: Sequence[Any] = reads(
        "Reports as JSON or as pages (.html), or folders of them.",
        default=(),
        flag="REPORTS...",
        in_python="Or what commands returned.",
    )


class HistoryOptions(_Reports, Recorded):
    """The reports, in any order."""

    HELP = """Show the reports of several releases in order of time.

Shows the verdict of each report, the advantage of every score with its confidence limits,
and what changed since the report before: policy limits, prior, scores, version of mipaudit.
Judges nothing, so the exit code is 0. To test whether one release leaks more than another,
use mipaudit compare.

\b
Examples:
  mipaudit history reports/
  mipaudit history reports/ -o history.html
      Writes a page with a picture.
"""
