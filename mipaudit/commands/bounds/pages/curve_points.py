"""The points of curves as CSV or JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.bounds.curves import Curves


def encode_curves(curves: Curves, form: str) -> bytes:
    """Return the points in a form.

    Args:
        curves: the curves.
        form: ``csv``: one row per point with the columns curve, x, y; or ``json``.
    """
    if form == "json":
        import json

        return json.dumps(asdict(curves), indent=1, allow_nan=False).encode("ascii") + b"\n"
    return "".join(["curve,x,y\n", *_rows(curves)]).encode("ascii")


def _rows(curves: Curves) -> Iterator[str]:
    named = {
        "roc": (curves.fpr, curves.tpr),
        "trade-off": (curves.fpr, curves.fnr),
        "delta-of-epsilon": (curves.epsilon, curves.delta),
        **{
            f"advantage-{name}": (curves.claimed_epsilon, values)
            for name, values in curves.advantage.items()
        },
    }
    for name, (xs, ys) in named.items():
        yield from (f"{name},{x!r},{y!r}\n" for x, y in zip(xs, ys, strict=True))
