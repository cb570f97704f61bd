"""Epsilon at many deltas as CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.epsilon.report import ProfilePoint


def encode_profile(points: Sequence[ProfilePoint], form: str) -> bytes:
    """Return the points in a form.

    Args:
        points: by score, of rising delta.
        form: ``csv``: one row per point with the columns score, delta, lower, estimate;
            or ``json``: a list of objects with these keys.
    """
    rows = [asdict(point) for point in points]
    if form == "json":
        return json.dumps(rows, indent=1, allow_nan=False).encode("ascii") + b"\n"
    text = io.StringIO()
    names = ("score", "delta", "lower", "estimate")
    writer = csv.DictWriter(text, fieldnames=names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")
