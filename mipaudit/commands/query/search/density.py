"""The density ratio of synthetic and reference records, as in DOMIAS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.query.search.points import dense_features

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.query.search.points import Points

    Floats = NDArray[np.float64]
    Tick = Callable[[int], None]

# Rows of either table that carry a kernel: more take longer and say little more.
MOST_ROWS: Final = 20_000
COMPONENTS: Final = 6
_BLOCK: Final = 1 << 17  # kernels computed at once: they stay in a core's cache
_TOGETHER: Final = 1 << 12
# Directions with less of the largest variance are taken for rounding errors.
_FLAT: Final = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DensityRatio:
    """Kernel densities of both tables on their main directions.

    Attributes:
        centre: shape (d,).
        axes: shape (d, m): onto m directions, in each of which the reference has variance 1.
        synthetic: projected rows, shape (s, m).
        reference: projected rows, shape (r, m).
        bandwidth: of all kernels, one for both tables: different ones would make a ratio of
            equal densities differ from 1.
    """

    centre: Floats
    axes: Floats
    synthetic: Floats
    reference: Floats
    bandwidth: float

    def score(self, records: Points, levels: Sequence[int], tick: Tick | None = None) -> Floats:
        """Return log(density of synthetic / density of reference) at each record, shape (n,)."""
        found = np.empty(len(records))
        for start in range(0, len(records), _TOGETHER):
            part = slice(start, min(start + _TOGETHER, len(records)))
            rows = self._projected(dense_features(records.take(part), levels))
            found[part] = self._log_density(rows, self.synthetic)
            found[part] -= self._log_density(rows, self.reference)
            if tick is not None:
                tick(part.stop - part.start)
        return found

    def _projected(self, features: Floats) -> Floats:
        """Return features on the main directions.

        Column by column, and so are squares summed below: a matrix product rounds a row by
        where it stands, and members and holdout stand in different places.
        """
        found = np.zeros((len(features), self.axes.shape[1]))
        for column, centre, weights in zip(features.T, self.centre, self.axes, strict=True):
            found += (column - centre)[:, None] * weights
        return found

    def _log_density(self, rows: Floats, kernels: Floats) -> Floats:
        """Return the log of the mean kernel, up to a constant of both tables."""
        size = max(1, _BLOCK // len(kernels))
        columns = np.ascontiguousarray(kernels.T)
        parts = [
            self._of_few(rows[start : start + size], columns) for start in range(0, len(rows), size)
        ]
        return np.concatenate(parts)

    def _of_few(self, rows: Floats, kernels: Floats) -> Floats:
        exponents = np.zeros((len(rows), kernels.shape[1]))
        for own, theirs in zip(rows.T, kernels, strict=True):
            apart = own[:, None] - theirs
            apart *= apart
            exponents -= apart
        exponents /= 2.0 * self.bandwidth**2
        top = exponents.max(axis=1)
        exponents -= top[:, None]
        np.exp(exponents, out=exponents)
        return np.asarray(top + np.log(exponents.mean(axis=1)))


def fit_density_ratio(
    synthetic: Points,
    reference: Points,
    levels: Sequence[int],
    *,
    components: int,
    rng: np.random.Generator,
) -> DensityRatio:
    """Return the ratio of both tables' densities.

    Args:
        synthetic: at least 2 records; at most 20,000, drawn at random, carry a kernel.
        reference: likewise.
        levels: of each category.
        components: main directions of the reference at most, at least 1. The bandwidth is
            Scott's for the smaller table.
        rng: draws the rows.
    """
    ours = dense_features(drawn(synthetic, MOST_ROWS, rng), levels)
    theirs = dense_features(drawn(reference, MOST_ROWS, rng), levels)
    centre = theirs.mean(axis=0)
    variances, axes = np.linalg.eigh(
        np.cov(theirs, rowvar=False, ddof=0).reshape(2 * (len(centre),))
    )
    kept = np.argsort(variances)[::-1][:components]
    kept = kept[variances[kept] > _FLAT * max(variances.max(), _FLAT)]
    axes = axes[:, kept] / np.sqrt(variances[kept])
    fewer = min(len(ours), len(theirs))
    return DensityRatio(
        centre=centre,
        axes=axes,
        synthetic=(ours - centre) @ axes,
        reference=(theirs - centre) @ axes,
        bandwidth=fewer ** (-1.0 / (kept.size + 4)),
    )


def drawn(points: Points, most: int, rng: np.random.Generator) -> Points:
    """Return the records, or ``most`` of them drawn at random."""
    if len(points) <= most:
        return points
    return points.take(np.sort(rng.choice(len(points), most, replace=False)))
