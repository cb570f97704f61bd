"""The options of every command, each written once; few, since short answers load no more."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

PriorOption = Annotated[
    float,
    typer.Option(
        "--prior", metavar="P", help="Probability that a challenged record is a member, in (0, 1)."
    ),
]
Format = Literal["table", "json", "csv", "markdown", "html", "junit"]
FormatOption = Annotated[
    Format,
    typer.Option(
        "-f",
        "--format",
        help="The form of the report. csv has the figures alone; errors follow json.",
    ),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Write the report there, all of it or nothing."
    ),
]
Sha256Option = Annotated[
    bool,
    typer.Option(
        "--sha256/--no-sha256",
        help="With -o FILE also write FILE.sha256, which sha256sum -c checks.",
    ),
]
QuietOption = Annotated[
    bool, typer.Option("-q", "--quiet", help="No progress bar and no notes on stderr.")
]
VerboseOption = Annotated[
    bool, typer.Option("-v", "--verbose", help="Say more on stderr, also when something fails.")
]
