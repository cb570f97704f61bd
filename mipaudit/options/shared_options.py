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
StrictOption = Annotated[
    bool,
    typer.Option(
        "--strict", help="Finite-sample limits where there are any; only the AUC stays approximate."
    ),
]
DiscreteOption = Annotated[
    bool,
    typer.Option("--discrete", help="The score has few values, all known: limit all attackers."),
]
MaxAdvantageOption = Annotated[
    float | None,
    typer.Option("--max-advantage", metavar="X", help="Policy: the advantage is at most X."),
]
MaxEtaOption = Annotated[
    float | None,
    typer.Option(
        "--max-eta", metavar="X", help="Policy: accuracy is at most X above guessing (MIP's eta)."
    ),
]
MaxCopiesOption = Annotated[
    int | None,
    typer.Option(
        "--max-copies",
        metavar="N",
        help="Policy: at most N members are released word for word (column exact_copy).",
    ),
]
MaxTprAtFprOption = Annotated[
    str | None,
    typer.Option(
        "--max-tpr-at-fpr",
        metavar="T@F",
        help="Policy: true-positive rate at most T at false-positive rate F, as 0.02@0.001.",
    ),
]
AgainstOption = Annotated[
    Literal["any", "thresholds", "intervals-1", "intervals-4", "bins-16", "product-grid", "learned"]
    | None,
    typer.Option(
        "--against",
        help="The attackers that the policy must withstand; the last two are for scores of "
        "several numbers.",
    ),
]
OnInconclusiveOption = Annotated[
    Literal["fail", "review", "pass"],
    typer.Option(
        "--on-inconclusive",
        help="What an open answer counts as: exit code 1, 3 or 0. The report says what it is.",
    ),
]
MaxMetricOption = Annotated[
    list[str] | None,
    typer.Option(
        "--max-metric",
        metavar="NAME=X",
        help="Policy: the metric is at most X, as ppv=0.6; repeat for several.",
        show_default=False,
    ),
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
OnBadPartOption = Annotated[
    Literal["error", "skip"],
    typer.Option(
        "--on-bad-part",
        help="A file that cannot be read ends the run, or is left out and named; no policy is "
        "met then.",
    ),
]
ExitZeroOption = Annotated[
    bool, typer.Option("--exit-zero", help="Exit 0 also when the policy is not met or unclear.")
]
