"""The JSON Schema of what mipaudit writes, derived from the dataclasses."""

from __future__ import annotations

from typing import Any

from mipaudit.statements.reports.kinds import KINDS, report_type


def report_schema() -> dict[str, Any]:
    """Return one JSON Schema (2020-12) for the reports of all commands.

    Unknown fields are allowed: the format is additive within a major version.
    """
    import msgspec

    types = tuple(map(report_type, KINDS))
    _, components = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for one, kind in zip(types, KINDS, strict=True):
        _name_the_format(components[one.__name__], kind.schema)
    return {
        "title": "mipaudit reports",
        "description": "What `mipaudit estimate`, `records`, `epsilon`, `compare`, `attack`, "
        "`attribute`, `query`, `query losses`, `query lira`, `check`, `bounds`, `noise`, "
        "`shift`, `simulate`, `validate` and `verify` write as JSON.",
        "oneOf": [{"$ref": f"#/$defs/{one.__name__}"} for one in types],
        "$defs": components,
    }


def _name_the_format(component: dict[str, Any], name: str) -> None:
    # The field has a default in Python; in a file it is what tells the formats apart.
    component["properties"]["schema"] = {"const": name}
    component["required"] = ["schema", *component["required"]]
