"""What ``mipaudit init`` may be asked."""

from typing import Final, Literal

from mipaudit.options.declare import Options, free
from mipaudit.options.shown import NO_PDF, OUTPUT_OPTION, Quiet

# The name by which a policy file is used without being named.
FOUND: Final = "mipaudit.toml"


class InitOptions(Options):
    """For whom the limits are."""

    HELP = """Write a first policy file: limits, and the reason for each.

Asks nothing and reads nothing. Every later run in the folder, or in a folder below it, uses
mipaudit.toml. Read the limits, change what does not fit, and keep the file beside the scores.

\b
Examples:
  mipaudit init
      Writes mipaudit.toml, for a release to others: an inconclusive verdict fails.
  mipaudit init --policy synthetic
      The same for a synthetic table: no member's record may appear in the release unchanged.
  mipaudit init --policy research -o research.toml
      For work in progress: wider limits, and exit code 3 for an inconclusive verdict.
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
