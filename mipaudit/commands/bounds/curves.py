"""The curves behind the bounds, as points to draw or to write as CSV or JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.maths.privacy.epsilon_delta import published_bounds

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff

_DECADES: Final = 6
_POINTS: Final = 25  # per decade
_EPSILONS: Final = 200
_LONGEST_AXIS: Final = 10.0
_NEGLIGIBLE_DELTA: Final = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """The curves behind the figures, as points.

    Attributes:
        fpr: false-positive rates.
        tpr: the most true positives at each of ``fpr`` (the ROC).
        fnr: the least false negatives at each of ``fpr`` (the trade-off curve).
        epsilon: privacy losses.
        delta: the privacy profile at each of ``epsilon``.
        claimed_epsilon: an axis of epsilons for ``advantage``.
        advantage: every published bound at each of them, by name.
    """

    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    fnr: tuple[float, ...]
    epsilon: tuple[float, ...]
    delta: tuple[float, ...]
    claimed_epsilon: tuple[float, ...]
    advantage: dict[str, tuple[float, ...]]


def curves(curve: TradeOff, *, prior: float) -> Curves:
    """Return the points of every curve.

    Args:
        curve: what tells a member from a holdout record.
        prior: p in (0, 1), for the bounds against epsilon.
    """
    fpr = _rates()
    furthest = curve.epsilon_at(_NEGLIGIBLE_DELTA)
    epsilon = _steps(min(furthest, curve.loss) if math.isfinite(furthest) else _LONGEST_AXIS)
    claimed = _steps(_LONGEST_AXIS)
    published = [published_bounds(e, 0.0, prior) for e in claimed]
    return Curves(
        fpr=fpr,
        tpr=tuple(curve.tpr(f) for f in fpr),
        fnr=tuple(curve.fnr(f) for f in fpr),
        epsilon=epsilon,
        delta=tuple(curve.profile(e) for e in epsilon),
        claimed_epsilon=claimed,
        advantage={
            same[0].name: tuple(bound.advantage for bound in same)
            for same in zip(*published, strict=True)
        },
    )


def _rates() -> tuple[float, ...]:
    """Return false-positive rates from 0 to 1, dense in ratio at both ends."""
    powers = range(-_DECADES * _POINTS, -_POINTS + 1)
    low = [10 ** (power / _POINTS) for power in powers]
    middle = [0.1 + 0.8 * i / _EPSILONS for i in range(1, _EPSILONS)]
    high = [1 - rate for rate in reversed(low)]
    return (0.0, *low, *middle, *high, 1.0)


def _steps(last: float) -> tuple[float, ...]:
    return tuple(last * i / _EPSILONS for i in range(_EPSILONS + 1))


def encode_curves(curves: Curves, form: str) -> bytes:
    """Return the points in a form.

    Args:
        curves: the curves.
        form: ``csv``: one row per point with the columns curve, x, y; or ``json``.
    """
    if form == "json":
        import json

        return json.dumps(asdict(curves), indent=1, allow_nan=False).encode("ascii") + b"\n"
    named = {
        "roc": (curves.fpr, curves.tpr),
        "trade-off": (curves.fpr, curves.fnr),
        "delta-of-epsilon": (curves.epsilon, curves.delta),
    }
    for name, values in curves.advantage.items():
        named[f"advantage-{name}"] = curves.claimed_epsilon, values
    rows = (
        f"{name},{x!r},{y!r}\n"
        for name, points in named.items()
        for x, y in zip(*points, strict=True)
    )
    return "".join(["curve,x,y\n", *rows]).encode("ascii")
