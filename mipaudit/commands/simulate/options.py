"""What ``mipaudit simulate`` may be asked."""

import re
from collections.abc import Mapping
from typing import Any, Final

from mipaudit.options.declare import Options, free
from mipaudit.options.game import FixedSeed, Prior, Recorded
from mipaudit.options.shown import OUTPUT_OPTION, QUIET_OPTION, Shown
from mipaudit.options.values import Range
from mipaudit.validation.truth import LARGEST, Order

_SIZE: Final = Range(lambda n: 1 <= n <= LARGEST, f"from 1 to {LARGEST:,}")


def _complete(incomplete: str) -> list[str]:
    """Return the names that begin so; of those with parameters, what stands before these."""
    from mipaudit.validation.scenarios import listing

    names = (re.sub("[A-Z].*", "", one.name) for one in listing())
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


class _Scenario(Options, kw_only=False):
    scenario: str | None = free(
        "The name of a scenario from the list.",
        flag="SCENARIO",
        complete=_complete,
        in_python="`list_scenarios` has them all; some names carry parameters: laplace-2.5.",
    )


class _Drawing(Options):
    n_members: int | None = free("Number of members; 1,000 by default.", within=_SIZE)
    n_holdout: int | None = free("Number of holdout records; 1,000 by default.", within=_SIZE)
    n_canaries: int | None = free("Number of canaries in one run; 1,000 by default.", within=_SIZE)
    n_splits: int | None = free("Number of random halves (splits); 256 by default.", within=_SIZE)
    order: Order = free("Order of rows: random, by score, or members first.", default="shuffled")


class SimulateOptions(_Scenario, _Drawing, Prior, FixedSeed, Recorded):
    """A scenario, and how many rows of it."""

    HELP = """Make an invented score file whose true leak is known.

A scenario is a rule that draws scores at random. Its true leak follows from formulas: the best
attacker's advantage, and other figures (see mipaudit help glossary). To check mipaudit, or another
tool, audit the file and compare the figures.

\b
Examples:
  mipaudit simulate --list
      Lists all scenarios. In a name such as laplace-EPS, EPS stands for a number: laplace-2.5.
  mipaudit simulate laplace-1 -o scores.parquet
      Makes 1,000 members and 1,000 others. Writes the true leak to scores.parquet.truth.json.
  mipaudit simulate laplace-1 -q | mipaudit estimate -
  mipaudit simulate izzo-prop9-14 -o drawn.csv
      For mipaudit noise --from. Draws random halves (splits) of invented data. Each row holds the
      number that would be released from one split.
"""


class SimulateShown(Shown):
    """What is made of the scenario, and where it goes."""

    show_list: bool = free("Show all scenarios.", default=False, flag="--list")
    truth_only: bool = free("Print the true leak, and make no scores.", default=False)
    output: str | None = OUTPUT_OPTION.but(
        "Write the scores to this file (.csv, .csv.gz, .parquet), and FILE.truth.json beside it. "
        "Default: CSV to standard output, the true leak to stderr."
    )
    quiet: bool = QUIET_OPTION.but("Print no notes and no true leak on stderr.", default=False)

    @classmethod
    def report_file(cls, given: Mapping[str, Any]) -> str | None:
        """Return `output` where nothing is drawn: else scores go there."""
        told = given["show_list"] or given["truth_only"]
        return super().report_file(given) if told else None
