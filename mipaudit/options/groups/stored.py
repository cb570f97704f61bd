"""A report that is there already."""

from typing import Annotated, Any

from mipaudit.options.declare import Option, Options


class StoredReport(Options, kw_only=False):
    """What a command wrote, or returned."""

    report: Annotated[
        Any,
        Option(
            "REPORT",
            "A report as JSON, or - for standard input.",
            recorded=False,
            is_input=True,
            in_python="Or its bytes, or what a command returned.",
        ),
    ]
