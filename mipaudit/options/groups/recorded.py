"""What a report says of the settings."""

from typing import Annotated

from mipaudit.options.declare import Option, Options
from mipaudit.statements.origin import Setting


class Recorded(Options):
    """What a report says of the settings."""

    settings: Annotated[
        tuple[Setting, ...] | None,
        Option(None, "Recorded in the provenance; None records the arguments.", recorded=False),
    ] = None
