"""What ``mipaudit schema`` may be asked."""

from mipaudit.options.declare import Options
from mipaudit.options.shown import NO_PDF, OUTPUT_OPTION, Quiet


class SchemaOptions(Options):
    """Nothing: there is one schema."""

    HELP = """Print the JSON Schema of the reports.

The schema covers the reports that commands write with -f json. Within a major version of
the format, fields may be added, but none is removed or changes its meaning.

\b
Examples:
  mipaudit schema > mipaudit.schema.json
  mipaudit schema -o mipaudit.schema.json
"""


class SchemaShown(Quiet):
    """Where the schema goes."""

    output: str | None = OUTPUT_OPTION.but("Write the schema to this file.", within=NO_PDF)
