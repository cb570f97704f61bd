"""What ``mipaudit init`` may be asked."""

from typing import Final, Literal

from mipaudit.options.declare import Options, free
from mipaudit.options.shown import NO_PDF, OUTPUT_OPTION, Quiet

# The name by which a policy file is used without being named.
FOUND: Final = "mipaudit.toml"


class InitOptions(Options):
    """For whom the limits are."""

    HELP = """Write a policy file to begin with: limits, and the reason of each.

Nothing is asked and nothing is read. Every later run in the folder, or in a folder below it,
uses mipaudit.toml. Read the limits, change what does not fit, and keep the file beside the scores.

\b
Examples:
  mipaudit init
      mipaudit.toml, for what leaves the house: an answer that is not sure fails.
  mipaudit init --policy synthetic
      The same for a synthetic table: no record of a member may be released word for word.
  mipaudit init --policy research -o research.toml
      Another file, for work in progress: wider limits, and an answer that is not sure is only told.
  mipaudit estimate scores.parquet --config research.toml
      A file of another name is used where it is named.
"""

    policy: Literal["release", "synthetic", "research"] = free(
        "For what leaves the house, likewise for a synthetic table, or for work in progress.",
        default="release",
    )


class InitShown(Quiet):
    """Where the file goes."""

    output: str = OUTPUT_OPTION.but(
        "Write the file there; one that exists is never written over.", default=FOUND, within=NO_PDF
    )
