"""``mipaudit schema``."""

from __future__ import annotations

import json
from typing import Annotated, Final

import typer

from mipaudit.options import common_options as c  # noqa: TC001 - typer reads it
from mipaudit.output import exit_code

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
    quiet: c.QuietOption = False,  # noqa: FBT002
) -> int:
    """Print the schema, or write it to a file."""
    del quiet  # it says nothing else, and takes the option as every command does
    from mipaudit.commands.schema.run import schema as json_schema
    from mipaudit.output.destination import Destination

    destination = Destination.open(output)
    destination.write(json.dumps(json_schema(), indent=2).encode() + b"\n")
    return exit_code.OK
