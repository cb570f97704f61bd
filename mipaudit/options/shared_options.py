"""The options of commands that read scores, each written once."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from mipaudit.options.seed_text import SEED_METAVAR

ScoresArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="SCORES",
        help="A CSV (also .gz, .zst) or Parquet file, a directory or glob of parts, an address "
        "(s3://, gs://, az://, https://), or - for standard input.",
        show_default=False,
    ),
]
PartsArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SCORES...",
        help="CSV (also .gz, .zst) or Parquet files, directories or globs of parts, "
        "or - for standard input.",
        show_default=False,
    ),
]
MembersOption = Annotated[
    str | None,
    typer.Option("--members", metavar="FILE", help="The members' scores, with --holdout."),
]
HoldoutOption = Annotated[
    str | None,
    typer.Option("--holdout", metavar="FILE", help="The holdout records' scores, with --members."),
]
ScoreColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--score-col",
        metavar="NAME",
        help="A score column; repeat for several. A comma list (d1,d2) is one score of several "
        "numbers. Default: found by name and type.",
        show_default=False,
    ),
]
MemberColumnOption = Annotated[
    str | None,
    typer.Option(
        "--member-col", metavar="NAME", help="The membership column. Default: found by name."
    ),
]
MemberValueOption = Annotated[
    str | None,
    typer.Option(
        "--member-value", metavar="VALUE", help="Rows with this membership are the members."
    ),
]
WhereOption = Annotated[
    str | None,
    typer.Option("--where", metavar="'COL = VALUE'", help="Read only the rows where this holds."),
]
UnitColumnOption = Annotated[
    str | None,
    typer.Option(
        "--unit-col",
        metavar="NAME",
        help="The person behind a row; each counts once, in one class.",
    ),
]
UnitRowsOption = Annotated[
    Literal["one", "mean", "max", "min", "sum"] | None,
    typer.Option(
        "--unit-rows",
        help="With --unit-col: what of a person's rows counts. Choose before you look.",
        show_default="one",
    ),
]
RowsAreOption = Annotated[
    Literal["independent"] | None,
    typer.Option(
        "--rows-are",
        help="Take rows for independent although ids or files repeat; it is said with the result.",
        show_default=False,
    ),
]
KeyColumnOption = Annotated[
    str | None,
    typer.Option(
        "--key-col", metavar="NAME", help="Identifies a row. Default: its position in the input."
    ),
]
NanOption = Annotated[
    Literal["error", "category", "drop"],
    typer.Option("--nan", help="What to do with a missing score."),
]
AuditSeedOption = Annotated[
    str | None,
    typer.Option(
        "--seed",
        metavar=SEED_METAVAR,
        help="Decides with the scores which rows train; fresh draws one that is recorded. "
        "Default: the scores alone decide.",
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="INTEGER", help="Fixes every random choice.")
]
HashInputsOption = Annotated[
    bool, typer.Option("--hash-inputs", help="Record the sha256 of inputs over 64 MiB in all, too.")
]
DiscreteOption = Annotated[
    bool,
    typer.Option("--discrete", help="The score has few values, all known: limit all attackers."),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", help="Workers. Default: one per processor; the answer is the same."
    ),
]
EngineOption = Annotated[
    Literal["auto", "threads", "processes", "dask"],
    typer.Option("--engine", help="Who does the work; the answer is the same."),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="tcp://HOST:PORT", help="Scheduler of a Dask cluster to work on."
    ),
]
