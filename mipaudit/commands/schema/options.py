"""What ``mipaudit schema`` may be asked."""

from mipaudit.options.declare import Options
from mipaudit.options.shown import NO_PDF, OUTPUT_OPTION, Quiet


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

    output: str | None = OUTPUT_OPTION.but("Write the schema there.", within=NO_PDF)
