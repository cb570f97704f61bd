"""The likelihood-ratio attack (LiRA: Carlini, Chien, Nasr, Song, Terzis and Tramer 2022).

Shadow models were trained with and without each record. Their confidences on the record are
taken to be normal; the score compares what the target model says with both laws (online), or
with that of the models without the record alone (offline).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Variance = Literal["fixed", "per-record"]
# Of a record's own standard deviation, as a share of the pooled one: a few equal
# confidences would make a record infinitely telling.
LEAST_SPREAD: Final = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShadowLaw:
    """Normal laws of the confidences of models of one kind, by record.

    Attributes:
        count: models of the kind, int, shape (n,).
        mean: shape (n,); NaN where there is no model.
        spread: standard deviation, above 0, shape (n,).
        floored: records whose own deviation was below the least.
    """

    count: NDArray[np.int64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    floored: int


def shadow_law(
    phi: NDArray[np.float64],
    chosen: NDArray[np.bool_],
    variance: Variance,
    *,
    level: bool = False,
) -> ShadowLaw | None:
    """Return the laws of the chosen confidences.

    Args:
        phi: log(p / (1-p)) of the true class, by model and record, shape (m, n).
        chosen: bool, shape (m, n): models that were trained with the record, or without.
        variance: ``fixed``: one for all records, about their own means, with a degree of
            freedom less for each; ``per-record``: each has its own.
        level: judge every record by as many models as any has. The one variance of all
            records is of all models.

    Returns:
        None where the confidences do not vary, or no record has two models.
    """
    count, mean, squares = _moments(phi, chosen)
    freedom = int(np.maximum(count - 1, 0).sum())
    pooled = float(np.sqrt(squares.sum() / freedom)) if freedom else 0.0
    if pooled <= 0:
        return None
    if level:
        count, mean, squares = _moments(phi, first_models(chosen))
    if variance == "fixed":
        return ShadowLaw(count=count, mean=mean, spread=np.full(mean.shape, pooled), floored=0)
    own = np.sqrt(squares / np.maximum(count - 1, 1))
    least = LEAST_SPREAD * pooled
    return ShadowLaw(
        count=count,
        mean=mean,
        spread=np.maximum(own, least),
        floored=int(np.count_nonzero(own < least)),
    )


def _moments(
    phi: NDArray[np.float64], chosen: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return count, mean and sum of squares about it, of each record, shape (n,)."""
    count = chosen.sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.where(chosen, phi, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan)
    squares = np.where(chosen, (phi - np.where(count > 0, mean, 0.0)) ** 2, 0.0).sum(axis=0)
    return count, mean, squares


def first_models(chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return, of the chosen models of each record, as many as every record has, the first.

    Args:
        chosen: bool, shape (m, n).
    """
    least = int(chosen.sum(axis=0).min())
    return np.asarray(chosen & (np.cumsum(chosen, axis=0, dtype=np.int32) <= least))


def lira_online(
    target: NDArray[np.float64], inside: ShadowLaw, outside: ShadowLaw
) -> NDArray[np.float64]:
    """Return log N(phi; in) - log N(phi; out) of each record, shape (n,); high for members."""
    return _log_density(target, inside) - _log_density(target, outside)


def lira_offline(target: NDArray[np.float64], outside: ShadowLaw) -> NDArray[np.float64]:
    """Return (phi - mean) / deviation of the models without the record; high for members.

    Carlini et al. use its normal distribution function, which orders records alike but is
    1 to double precision from 8.3 on.
    """
    return np.asarray((target - outside.mean) / outside.spread)


def _log_density(target: NDArray[np.float64], law: ShadowLaw) -> NDArray[np.float64]:
    """Return the log of the normal density, without its constant."""
    return np.asarray(-(((target - law.mean) / law.spread) ** 2) / 2 - np.log(law.spread))
