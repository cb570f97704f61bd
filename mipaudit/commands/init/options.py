"""What ``mipaudit init`` may be asked."""

from typing import Final, Literal

from mipaudit.options.declare import Options, free
from mipaudit.options.shown import NO_PDF, OUTPUT_OPTION, Quiet

# The name by which a policy file is used without being named.
FOUND: Final = "mipaudit.toml"


class InitOptions(Options):
    """For whom the limits are."""

    HELP = """Write a first policy file: limits, and the reason for each.

Reads no data. Every later audit in this folder, or in a folder below it, uses mipaudit.toml. Read
the limits and change those that do not fit.

\b
Examples:
  mipaudit init
      Limits for a release to others. If the data cannot decide, a later audit has exit code 1.
  mipaudit init --policy synthetic
      The same limits, and one more: no member's record may appear unchanged in the synthetic table.
  mipaudit init --policy research -o research.toml
      Wider limits, for work in progress. If the data cannot decide, an audit has exit code 3.
  mipaudit estimate scores.parquet --config research.toml
      A file with another name is used only if it is given with --config.
"""

    policy: Literal["release", "synthetic", "research"] = free(
        "For a release to others, for a synthetic table, or for work in progress.",
        default="release",
    )


class InitShown(Quiet):
    """Where the file goes."""

    output: str = OUTPUT_OPTION.but(
        "Write to this file. An existing file is never overwritten.", default=FOUND, within=NO_PDF
    )
