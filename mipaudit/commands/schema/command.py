"""``mipaudit schema``: the schema, written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mipaudit.commands.schema.run import schema
from mipaudit.output import exit_code
from mipaudit.output.destination import Destination

if TYPE_CHECKING:
    from mipaudit.commands.schema.options import SchemaOptions, SchemaShown


def run_schema(asked: SchemaOptions, shown: SchemaShown) -> int:
    """Print the schema, or write it to a file; return the exit code."""
    del asked  # there is nothing to ask
    destination = Destination.open(shown.output)
    destination.write(json.dumps(schema(), indent=2).encode() + b"\n")
    return exit_code.OK
