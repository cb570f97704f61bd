"""What ``mipaudit records`` may be asked, and ``record_table``."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from mipaudit.model.row import Waiver
from mipaudit.options import scores
from mipaudit.options.checked_limits import (
    check_limits,
    check_waivers,
    of_records,
    require_possible,
)
from mipaudit.options.declare import Options, act, choice, free
from mipaudit.options.game import BY_OPTION, MIN_CELL_OPTION, Game
from mipaudit.options.shown import OUTPUT_OPTION, Beside, ExitZero, RequirePolicy, Said
from mipaudit.options.values import BELOW_ONE, PROBABILITY, at_least, between
from mipaudit.output.rows import RowFormat, record_format, require_csv
from mipaudit.statements.policy import Limit

# A path, or an open binary file.
RecordFile: TypeAlias = Any
MOST_CELLS: Final = 1024


class _Risks(Options):
    cells: int | None = choice(
        "About how many cells to cut the score into. Default: as many as the rows allow.",
        within=between(2, MOST_CELLS),
    )
    min_cell: int = MIN_CELL_OPTION.but(default=10)
    tau: float = choice("List the cells with a risk above X.", default=0.5, within=BELOW_ONE)
    fdr: float = choice(
        "The share of the cells listed by `tau` that may be listed by mistake, on average.",
        default=0.05,
        metavar="Q",
        within=PROBABILITY,
    )
    top: int = free(
        "List the N most exposed records.",
        default=0,
        within=between(0, 10_000),
    )
    by: Sequence[str] = BY_OPTION.but(default=())
    small_groups: Literal["merge", "refuse"] = choice(
        "Merge groups with fewer members or holdout records than `min_cell`, or stop (refuse).",
        default="merge",
        only_with="by",
    )
    member_population: int | None = choice(
        "State that members are a random sample of all N training records. The risks are then "
        "about these N records.",
        within=at_least(1),
    )
    max_risk: float | None = free("Policy: the risk of every cell must be at most X.")
    max_copies: int | None = scores.MAX_COPIES_OPTION


class _RiskPolicy(Game, scores.Discreteness, _Risks, scores.ListedPolicy):
    def check(self) -> None:
        """Refuse a limit that is always kept, or never."""
        super().check()
        require_possible("max_risk", "risk", self.max_risk, self.prior)
        check_limits(self.limits, self.prior)
        check_waivers(self.waivers, self.prior)

    @cached_property
    def judged_limits(self) -> tuple[Limit, ...]:
        """The limits on records and groups: that of the option, then those listed."""
        listed = tuple(filter(of_records, check_limits(self.limits, self.prior)))
        if self.max_risk is None:
            return listed
        return (Limit(quantity="risk", max=self.max_risk), *listed)

    @property
    def least_risk(self) -> float | None:
        """The least limit on the risk; None where there is none."""
        risks = (one.max for one in self.judged_limits if one.quantity == "risk")
        return min(risks, default=None)

    @cached_property
    def judged_waivers(self) -> tuple[Waiver, ...]:
        """The waivers of such limits."""
        return tuple(filter(of_records, check_waivers(self.waivers, self.prior)))

    @property
    def limits_elsewhere(self) -> int:
        """How many listed limits another command judges."""
        return sum(not of_records(one) for one in check_limits(self.limits, self.prior))


class RecordTableOptions(
    scores.Scores,
    scores.Classes,
    scores.Columns,
    _RiskPolicy,
    scores.BadParts,
    scores.Seeded,
    scores.Engines,
):
    """The scores, what is asked of their records, and a policy on it."""


class _Written(Options):
    output: RecordFile = OUTPUT_OPTION.but(
        "Write a row for each record to this file (.csv, .csv.gz, .parquet).",
        in_python="Or an open binary file.",
    )
    output_format: RowFormat | None = act("The form of that file. None: by its name.", flag=None)
    safe_csv: bool = choice(
        "In CSV, put an apostrophe before record names that a spreadsheet would run as formulas.",
        default=False,
    )

    @cached_property
    def form(self) -> RowFormat | None:
        """The form of the file of records; None for no such file."""
        return record_format(self.output, self.output_format)

    @classmethod
    def idle(cls, given: Mapping[str, Any], typed: frozenset[str]) -> Collection[str]:
        """Return also what is about CSV, where none is written."""
        in_csv = str(given["output"]).lower().endswith((".csv", ".csv.gz"))
        return [*super().idle(given, typed), *(() if in_csv else ("safe_csv",))]

    def check(self) -> None:
        """Refuse a file of no known form, and what is about another."""
        super().check()
        require_csv(self.form, safe_csv=self.safe_csv)


class RecordsOptions(RecordTableOptions, _Written):
    """The same, and where to write a row for each record."""

    HELP = """Show how exposed every record is.

An attacker sees a record's score and guesses whether the record is a member. The risk says how
sure the attacker can be: 0 is a coin toss, 1 is certainty. The score is cut into ranges, called
cells. A record has the risk of its cell. With 95% confidence by default, all limits of the risks
are right at once.

\b
Examples:
  mipaudit records scores.parquet --score-col loss -o risks.parquet
      Writes a row for each record, in the order of the input.
  mipaudit records scores.csv --key-col patient -o risks.csv --top 20
      Takes the names of the records from column patient. Lists the 20 most exposed.
  mipaudit records scores.parquet --by sex,race
      Shows how much leaks about each group, and which groups differ from the rest.
  mipaudit records scores.parquet --tau 0.8 --fdr 0.01
      Lists cells with a risk above 0.8, on average at most 1% of them by mistake.
  mipaudit records scores.parquet --max-risk 0.5
      A policy: exit code 0 if no cell's risk is above 0.5, 1 if one is, 3 if inconclusive.
"""


class RecordsShown(Beside, Said, ExitZero, RequirePolicy):
    """How the report is shown, and where."""
