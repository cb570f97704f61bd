"""``mipaudit schema``: the JSON Schema of the reports."""

from __future__ import annotations

from typing import Any


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of what the commands write with ``-f json``."""
    from mipaudit.statements.reports.codec import report_schema

    return report_schema()
