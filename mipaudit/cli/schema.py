"""``mipaudit schema``."""

from __future__ import annotations

import json
from typing import Annotated, Final

import typer

from mipaudit.cli import exit_status
from mipaudit.cli import options as o

HELP: Final = """Print the JSON Schema of the reports.

It covers what every command that makes a report writes with -f json. Fields may be added
within a major version of the format; none changes its meaning or goes away.

\b
Examples:
  mipaudit schema > mipaudit.schema.json
  mipaudit schema -o mipaudit.schema.json
"""

OutputOption = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the schema there.")
]


def schema(
    output: OutputOption = None,
    quiet: o.QuietOption = False,  # noqa: FBT002
) -> int:
    """Print the schema, or write it to a file."""
    del quiet  # it says nothing else, and takes the option as every command does
    from mipaudit.api.schema import schema as json_schema
    from mipaudit.cli.destination import Destination

    destination = Destination.open(output)
    destination.write(json.dumps(json_schema(), indent=2).encode() + b"\n")
    return exit_status.OK
