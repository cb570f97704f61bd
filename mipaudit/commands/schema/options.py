"""What ``mipaudit schema`` may be asked."""

from typing import Annotated

from mipaudit.options.declare import Options, but
from mipaudit.options.shown import NO_PDF, OutputOption, Quiet


class SchemaOptions(Options):
    """Nothing: there is one schema."""

    HELP = """Print the JSON Schema of the reports.

It covers what every command that makes a report writes with -f json. Fields may be added
within a major version of the format; none changes its meaning or goes away.

\b
Examples:
  mipaudit schema > mipaudit.schema.json
  mipaudit schema -o mipaudit.schema.json
"""


class SchemaShown(Quiet):
    """Where the schema goes."""

    output: Annotated[OutputOption[str | None], but("Write the schema there.", within=NO_PDF)] = (
        None
    )
