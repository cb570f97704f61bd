"""What the queries of this program call the columns of their score files."""

from __future__ import annotations

import re
from typing import Final

# `query`, with the number that is asked for, `query losses` and `query lira`.
_COLUMNS: Final = re.compile(
    r"(nn|kth_\d+|lnr(_\d+)?|(mc|share)(_[\d.e+-]+)?|density(_\d+)?|classifier"
    r"|loss|conf_true|conf_max|entropy|mod_entropy|margin|phi|correct|loss_calibrated"
    r"|lira_online|lira_offline)"
)


def is_query_column(name: str) -> bool:
    """Tell whether a query writes scores under ``name``, in lower case."""
    return _COLUMNS.fullmatch(name) is not None
