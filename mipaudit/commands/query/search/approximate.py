"""Neighbours that are likely the nearest, by an inverted index of faiss.

The rows are parted into lists around centres, and a record is compared with those of the
lists whose centres are nearest to it (Jegou, Douze and Schmid 2011, without compression).
Distances of what is found are computed in full, so they are never below the exact ones.
"""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.search.exact import MatrixSearch
from mipaudit.commands.query.search.points import (
    Geometry,
    NearestRows,
    Points,
    Tick,
    bucket_count,
    dense_features,
    parts,
)
from mipaudit.errors import InputError, MissingExtraError
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper

_ROWS_A_LIST: Final = 1000
_MOST_LISTS: Final = 4096
# Lists that are looked at: differences and mismatches follow centres less well.
PROBES: Final = {"euclidean": 16, "gower": 32}
# Rows for each list that the centres are found from.
_TAUGHT: Final = 64
_PASSES: Final = 10
# Found beyond k, because single precision may put neighbours in another order.
_SPARE: Final = 8
_ADDED: Final = 1 << 15
_RECORDS: Final = 1 << 12
_SINGLE: Final = 4
_ALPHA: Final = 0.05
_DIGITS: Final = 10_000


class ApproximateSearch:
    """Searches through rows that stay the same; made by one thread, from a seed."""

    name = "approximate"

    def __init__(self, points: Points, geometry: Geometry, *, seed: int, memory: int) -> None:
        """Build the index.

        Raises:
            MissingExtraError: faiss is not installed.
            InputError: ``too_little_memory``.
        """
        faiss = load_faiss()
        self._points, self._geometry = points, geometry
        width = points.numbers.shape[1] + bucket_count(geometry.levels)
        # Lists grow by doubling.
        needed = 2 * len(points) * width * _SINGLE
        if needed > memory:
            raise InputError(
                "too_little_memory",
                f"The index of the approximate search needs about {-(-needed >> 20):,} MiB, and "
                f"{memory >> 20:,} MiB of `memory` are left for it.",
                hint="Raise `memory`, compare fewer columns, or leave `approximate` out.",
            )
        self._centre = np.median(points.numbers, axis=0)
        self.library = f"faiss {faiss.__version__}"
        self.lists = max(1, min(_MOST_LISTS, len(points) // _ROWS_A_LIST))
        self.probes = min(self.lists, PROBES[geometry.metric])
        kind = faiss.METRIC_L2 if geometry.metric == "euclidean" else faiss.METRIC_L1
        self._centres: Any = faiss.IndexFlat(width, kind)
        self._index: Any = faiss.IndexIVFFlat(self._centres, width, self.lists, kind)
        with _one_thread(faiss):
            self._build(seed)

    def _build(self, seed: int) -> None:
        self._index.cp.seed = seed % 2**31
        self._index.cp.niter = _PASSES
        rng = np.random.default_rng([seed, 4])
        count = min(len(self._points), _TAUGHT * self.lists)
        taught = np.sort(rng.choice(len(self._points), count, replace=False))
        self._index.train(self._features(self._points.take(taught)))
        for some in parts(len(self._points), _ADDED):
            self._index.add(self._features(self._points.take(some)))
        self._index.nprobe = self.probes

    def _features(self, points: Points) -> NDArray[Any]:
        levels, value = self._geometry.levels, self._geometry.indicator
        return dense_features(points, levels, value=value, centre=self._centre, dtype=np.float32)

    def nearest(self, records: Points, k: int, tick: Tick | None = None) -> NearestRows:
        """Return k rows near each record, k at most the number of rows.

        Records whose lists hold fewer are searched exactly.
        """
        found = NearestRows(len(records), k)
        for some in parts(len(records), _RECORDS):
            self._nearest(records.take(some), some, found)
            if tick is not None:
                tick((some.stop - some.start) * len(self._points))
        return found

    def _nearest(self, records: Points, some: slice, found: NearestRows) -> None:
        k = found.figures.shape[1]
        looked = min(k + _SPARE, len(self._points))
        features = self._features(records)
        with _one_thread(load_faiss()):
            far, lists = self._centres.search(features, self.probes)
        _, rows = self._index.search_preassigned(features, looked, lists, far)
        short = (rows < 0).sum(axis=1) > looked - k
        i = np.repeat(np.arange(len(records)), looked)
        known = np.maximum(rows, 0)
        figures = self._geometry.figures(records, i, self._points, known.ravel())
        found.put(some, known, np.where(rows < 0, np.inf, figures.reshape(rows.shape)))
        lacking = np.flatnonzero(short)
        if lacking.size:
            exact = self._all_pairs.nearest(records.take(lacking), k)
            found.figures[some.start + lacking] = exact.figures
            found.rows[some.start + lacking] = exact.rows

    @cached_property
    def _all_pairs(self) -> MatrixSearch:
        return MatrixSearch(self._points, self._geometry)


def load_faiss() -> Any:  # noqa: ANN401 - a module without types
    """Return the library of the approximate search.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        with warnings.catch_warnings():
            # SWIG's types lack a module, which later Pythons complain of.
            warnings.simplefilter("ignore", DeprecationWarning)
            import faiss
    except ImportError:
        raise MissingExtraError(
            "faiss_missing",
            "`approximate` needs faiss, which is not installed.",
            hint='Try: pip install "mipaudit[approximate]", or leave `approximate` out: the '
            "search is exact then.",
        ) from None
    return faiss


@contextmanager
def _one_thread(faiss: Any) -> Iterator[None]:  # noqa: ANN401 - a module without types
    """Keep to one thread: more of them add in another order, and answers would depend on it."""
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNeighbours:
    """What an approximate search found, beside an exact search of some of the records.

    Attributes:
        neighbours: number k of the neighbour.
        records: that were searched exactly, drawn by the seed.
        right: those whose k nearest were all found.
        share: limits of the share of such records among all, at 95% confidence (Clopper and
            Pearson 1934).
        excess_mean: how much too long the distance to number k was, as a share of the exact
            one, on average over the records searched exactly.
        excess_95: in all but 5% of them, at most so much.
        copies_missed: records that are in the synthetic table k times, for which something
            farther was found.
    """

    neighbours: int
    records: int
    right: int
    share: tuple[float, float]
    excess_mean: float
    excess_95: float
    copies_missed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateNeighbours:
    """How neighbours were searched approximately.

    Attributes:
        library: that searched, with its version.
        lists: that the synthetic records were parted into.
        probes: lists looked at for each record.
        found: for each neighbour that a query asked for.
    """

    library: str
    lists: int
    probes: int
    found: tuple[FoundNeighbours, ...]


def recall(
    neighbours: int, found: NDArray[np.float64], exact: NDArray[np.float64]
) -> FoundNeighbours:
    """Return the recall of number k.

    Args:
        neighbours: k.
        found: distances to number k of what was found, shape (n,), n at least 1: never
            below the exact ones, and equal just where the k nearest, or others as near,
            were found.
        exact: the exact ones.
    """
    apart = exact > 0
    excess = found[apart] / exact[apart] - 1.0 if apart.any() else np.zeros(1)
    right = int(np.count_nonzero(found <= exact))
    low = float(clopper_pearson_lower(right, exact.size, _ALPHA / 2))
    high = float(clopper_pearson_upper(right, exact.size, _ALPHA / 2))
    return FoundNeighbours(
        neighbours=neighbours,
        records=exact.size,
        right=right,
        # At 95% confidence, rounded outward.
        share=(math.floor(low * _DIGITS) / _DIGITS, math.ceil(high * _DIGITS) / _DIGITS),
        excess_mean=_short(excess.mean()),
        excess_95=_short(np.quantile(excess, 0.95)),
        copies_missed=int(np.count_nonzero(found[~apart] > 0)),
    )


def _short(excess: np.floating) -> float:
    return float(f"{excess:.4g}")
