"""What ``mipaudit summarize`` may be asked."""

from collections.abc import Sequence
from typing import Any

from mipaudit.options.declare import Options, free, manner, reads
from mipaudit.options.game import MIN_CELL_OPTION, Prior
from mipaudit.options.scores import Classes, Columns, Discreteness, Engines, Seeded, SeveralScores
from mipaudit.options.shown import NO_PDF, OUTPUT_OPTION, Said
from mipaudit.options.values import at_least, between, require, site_name, whole_number


class _Site(Options):
    cuts: Sequence[Any] = reads(
        "Count scores in the ranges of this cuts file. Repeat for each site's file.",
        default=(),
        in_python="Or what summarize returned with `cuts_only`.",
    )
    cuts_only: bool = free(
        "Write only a cuts file: what the other sites need to choose score ranges.",
        default=False,
    )
    site: str | None = free("The name of this site. No other site may have it.", read=site_name)
    min_cell: int | None = MIN_CELL_OPTION.but(
        "Make every count 0 or at least N; some rows are left out.", within=at_least(2)
    )


class SummarizeOptions(
    SeveralScores, Classes, Columns, _Site, Prior, Discreteness, Seeded, Engines
):
    """The rows of a site, and how they are counted."""

    HELP = """Turn scores into counts, to audit several places together.

A file of counts (a summary) holds no record's score. mipaudit estimate audits any number of
summaries together, such as those of sites that may not see each other's data. All sites must count
in the same score ranges. So each site first writes a cuts file, which says where its scores lie.
Then each site counts with the cuts files of all sites.

\b
Examples:
  mipaudit summarize scores.parquet -o scores.summary
      Counts all scores in one step. Then: mipaudit estimate scores.summary
  mipaudit summarize --plan 5
      Prints the commands to paste at 5 sites, and at the centre that audits their counts.
  mipaudit summarize a.csv --site a --cuts-only -o a.cuts
      Writes what other sites will see of site a: how many members and holdout records it has, cut
      points (rounded), frequent scores, and how many of a sample are between two cuts (10 or more).
  mipaudit summarize a.csv --site a --cuts a.cuts --cuts b.cuts -o a.summary
      Site a counts with the cuts of both sites. Site b does the same with --site b.
      Then: mipaudit estimate a.summary b.summary
  mipaudit summarize large.parquet --min-cell 10 -o large.summary
      For a file that is to leave a secure room: every count in it is 0 or at least 10.
"""

    def check(self) -> None:
        """Refuse what the cuts, or keys, already say."""
        super().check()
        require(
            not (self.cuts and self.cuts_only),
            "cuts_only",
            "`cuts_only` makes new cuts, but `cuts` gives some already.",
            "Leave out `cuts_only` to count by the cuts.",
        )
        require(
            self.site is not None or not (self.cuts or self.cuts_only),
            "site",
            "Cuts belong to sites, but no site is named.",
            "Say which site this is: `site` and a name that no other site has.",
        )
        require(
            self.min_cell is None or not self.cuts,
            "min_cell",
            "The cuts already set how small a count may be.",
            "Give `min_cell` where the cuts are made.",
        )

    @property
    def keyed(self) -> bool:
        """Tell whether rows are told apart by a key, not by their position."""
        return self.key_col is not None or self.unit_col is not None

    @property
    def stated_seed(self) -> int | None:
        """The number that was stated; None where the site draws its own."""
        chosen = self.chosen_seed
        return chosen.number if chosen.origin == "stated" else None


class SummarizeShown(Said):
    """Where the summary goes, or what each site has to run."""

    plan: int | None = manner(
        "Count nothing: print the commands for this number of sites and for the centre.",
        metavar="SITES",
        read=whole_number,
        within=between(2, 99),
    )
    output: str | None = OUTPUT_OPTION.but("Write the summary here. Required.", within=NO_PDF)
