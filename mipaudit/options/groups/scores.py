"""What is read: the scores of members and of holdout records, and how they are understood."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from mipaudit.options.declare import Choice, Input, Options
from mipaudit.options.groups.tables import HoldoutOption, KeyColumnOption, MembersOption
from mipaudit.statements.choices import Side

# A path, a directory, a glob, an address, "-"; a frame, an Arrow table, an array.
Data: TypeAlias = Any
NanPolicy = Literal["error", "category", "drop"]
UnitRule = Literal["one", "mean", "max", "min", "sum"]


class Scores(Options, kw_only=False):
    """One input, or the two classes apart."""

    data: Annotated[
        Data,
        Input(
            "SCORES",
            "A CSV (also .gz, .zst) or Parquet file, a directory or glob of parts, an address "
            "(s3://, gs://, az://, https://), or - for standard input.",
        ),
    ] = None


class Classes(Options):
    """The members and the holdout records apart."""

    members: MembersOption = None
    holdout: HoldoutOption = None


class ScoreColumns(Options):
    """Which columns are scores."""

    score_col: Annotated[
        Sequence[str],
        Choice(
            "--score-col",
            "A score column; repeat for several. A comma list (d1,d2) is one score of several "
            "numbers. Default: found by name and type.",
            recorded_as="score_columns",
        ),
    ] = ()


class Membership(Options):
    """Who is a member, and which rows count."""

    GROUP = "Input"

    member_col: Annotated[
        str | None,
        Choice(
            "--member-col",
            "The membership column. Default: found by name.",
            first=True,
            recorded_as="member_column",
        ),
    ] = None
    member_value: Annotated[
        str | None,
        Choice("--member-value", "Rows with this membership are the members.", metavar="VALUE"),
    ] = None
    where: Annotated[
        str | None,
        Choice(
            "--where", "Read only the rows where this holds.", metavar="'COL = VALUE'", near=True
        ),
    ] = None
    unit_col: Annotated[
        str | None,
        Choice(
            "--unit-col",
            "The person behind a row; each counts once, in one class.",
            first=True,
            recorded_as="unit_column",
        ),
    ] = None
    unit_rows: Annotated[
        UnitRule | None,
        Choice(
            "--unit-rows",
            "With `unit_col`: what of a person's rows counts. Choose before you look.",
            only_with="unit_col",
            default_text="one",
        ),
    ] = None
    rows_are: Annotated[
        Literal["independent"] | None,
        Choice(
            "--rows-are",
            "Take rows for independent although ids or files repeat; it is said with the result.",
        ),
    ] = None


class Columns(ScoreColumns, Membership):
    """The columns and the rows that count, by their names."""

    GROUP = "Input"

    key_col: KeyColumnOption = None
    nan: Annotated[NanPolicy, Choice("--nan", "What to do with a missing score.")] = "error"

    @property
    def missing_kept(self) -> bool:
        """Tell whether missing scores have a place of their own, below all others."""
        return self.nan == "category"


class Discreteness(Options):
    """Whether scores have few values."""

    GROUP = "Statistics"

    discrete: Annotated[
        bool, Choice("--discrete", "The score has few values, all known: limit all attackers.")
    ] = False


MemberSideOption = Annotated[
    Literal["auto", "high", "low"],
    Choice("--member-side", "Where members score, for TPR at FPR; auto looks first."),
]


class Sides(Options):
    """Where members score."""

    GROUP = "Statistics"

    member_side: MemberSideOption = "auto"

    @property
    def side(self) -> Side | None:
        """The side that was given; None for the one that the scores show."""
        return None if self.member_side == "auto" else self.member_side
