"""``mipaudit schema``: the JSON Schema of the reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mipaudit.commands.schema.options import SchemaOptions, SchemaShown


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of what the commands write with ``-f json``."""
    from mipaudit.report.codec import report_schema

    return report_schema()


def run_schema(asked: SchemaOptions, shown: SchemaShown) -> int:
    """Print the schema, or write it to a file; return the exit code."""
    import json

    from mipaudit.output import exit_code
    from mipaudit.output.destination import Destination

    del asked  # there is nothing to ask
    destination = Destination.open(shown.output)
    destination.write(json.dumps(schema(), indent=2).encode() + b"\n")
    return exit_code.OK
