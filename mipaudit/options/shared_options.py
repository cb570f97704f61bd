"""The options of commands that read scores, each written once."""

from __future__ import annotations

from typing import Annotated

import typer

SeedOption = Annotated[
    int, typer.Option("--seed", metavar="INTEGER", help="Fixes every random choice.")
]
