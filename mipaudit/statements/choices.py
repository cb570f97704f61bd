"""What options are asked in few words, and reports say: apart, since help loads no report."""

from __future__ import annotations

from typing import Literal

# The classes of attackers that a policy on the advantage may name.
Against = Literal[
    "any", "thresholds", "intervals-1", "intervals-4", "bins-16", "product-grid", "learned"
]
Side = Literal["high", "low"]
SeenBy = Literal["public", "query-access", "researchers"]
