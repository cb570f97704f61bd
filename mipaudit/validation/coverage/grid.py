"""The grids: which cells a validation run replicates, and how a file of a cell is drawn."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle, product
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.laws.catalogue import LAWS, law
from mipaudit.validation.laws.vector_law import VECTOR_LAWS

Order = Literal["shuffled", "sorted", "reversed", "by class"]
Form = Literal["quick", "full"]
# The most telling laws: no leak in three guises, leaks that thresholds miss, rare
# leaks, heavy tails, ties, infinities, discrete scores, near-perfect separation.
TELLING: Final = (
    "null-gaussian",
    "null-discrete-1000",
    "null-ties",
    "gauss-shift-1",
    "gauss-scale-3",
    "leaked-atoms",
    "cauchy-shift",
    "comb-64",
    "randomized-response-1",
    "multinomial-1000",
    "infinite-scores",
    "laplace-4",
)
# Fewer of them where a replication is dear or a low prior hides most leaks.
_FEWER: Final = (
    "null-gaussian",
    "gauss-shift-1",
    "leaked-atoms",
    "comb-64",
    "multinomial-1000",
    "laplace-4",
)
_FEWEST: Final = ("null-gaussian", "leaked-atoms", "multinomial-1000", "laplace-4")
# One member among 100 records, and classes more uneven still.
_UNEVEN_ORDERS: Final[tuple[Order, ...]] = ("shuffled", "by class")
_UNEVEN: Final = (
    ("null-gaussian", 100, 9_900),
    ("gauss-shift-1", 100, 9_900),
    ("null-discrete-1000", 100, 9_900),
    ("leaked-shift", 100, 9_900),
    *(
        (name, *sizes)
        for name in ("null-gaussian", "rare-values", "cantor", "comb-1024")
        for sizes in ((25, 25_000), (6_000, 60))
    ),
    ("nearly-separated", 25, 100_000),
)
# Members and holdout records with which limits that hold elsewhere were once wrong.
_HARD: Final[dict[Form, tuple[tuple[str, int, int, Order], ...]]] = {
    "quick": (
        ("flagged-members", 500, 10_000, "shuffled"),
        ("part-of-1000", 60, 20_000, "by class"),
        ("half-flagged", 382, 382, "by class"),
        ("null-gaussian", 2_500, 2_500, "by class"),
    ),
    "full": (
        ("flagged-members", 500, 10_000, "shuffled"),
        ("rare-tail-200", 60, 230_000, "shuffled"),
        ("part-of-1000", 90, 87_000, "by class"),
        ("part-of-1000", 100, 10_000, "shuffled"),
        ("half-flagged", 382, 382, "by class"),
        ("null-gaussian", 2_500, 2_500, "by class"),
        ("null-gaussian", 150, 150, "by class"),
        ("gauss-shift-1", 2_500, 2_500, "by class"),
    ),
}
# What is proved of the finite-sample limits holds over the seeds: one size shows little.
_STRICT_SIZES: Final = tuple(range(50, 1_050, 50))
# Records of several columns: no shift, and one that no column shows by itself.
_RECORDS: Final = ("null-cube-2", "plane-xor-0.3")
_SMALL: Final = (50, 1_000)
_LARGE: Final = 10_000
_LARGEST: Final = 100_000
_EVEN: Final = 0.5
_LOW: Final = 0.1
_LOWEST: Final = 0.01
_HIGH: Final = 0.9
_ORDERS: Final[tuple[Order, ...]] = ("shuffled", "sorted", "reversed", "by class")
_REPLICATIONS: Final[dict[Form, int]] = {"quick": 1_000, "full": 4_000}
_CONTROL_RECORDS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting to replicate.

    Attributes:
        scenario: name of the law that the scores are drawn from.
        n_members: members per file, above 0.
        n_holdout: holdout records per file, above 0.
        prior: p in (0, 1).
        order: rows shuffled, or sorted by score (members first among ties), or that reversed,
            or sorted within each class, the members first.
        replications: files to draw, above 0.
    """

    scenario: str
    n_members: int
    n_holdout: int
    prior: float
    order: Order
    replications: int

    @property
    def records(self) -> int:
        """Rows of a file."""
        return self.n_members + self.n_holdout

    @property
    def discrete(self) -> bool:
        """Whether the audit is told that the score has few values, all known.

        Whoever has a discrete score says so; now and then it must be found out.
        """
        return law(self.scenario).discrete and self.order != "sorted"


def stream_of(cell: Cell) -> int:
    """Return a number that tells the cell's random numbers from those of other cells."""
    text = f"{cell.scenario} {cell.n_members} {cell.n_holdout} {cell.prior!r} {cell.order}"
    return zlib.crc32(text.encode())


def draw_file(
    cell: Cell, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the membership and the scores of one file, in the cell's order of rows."""
    members, holdout = law(cell.scenario).sample(rng, cell.n_members, cell.n_holdout)
    score = np.concatenate([members, holdout])
    member = np.arange(len(score)) < cell.n_members
    rows = _row_order(cell.order, member, score, rng)
    return member[rows], score[rows]


def _row_order(
    order: Order,
    member: NDArray[np.bool_],
    score: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    match order:
        case "shuffled":
            return rng.permutation(len(score))
        case "sorted":
            return np.argsort(_first_number(score), kind="stable")
        case "reversed":
            return np.argsort(_first_number(score), kind="stable")[::-1]
        case "by class":
            return np.lexsort((_first_number(score), ~member))


def _first_number(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores, or the first number of each where they have several."""
    return score if score.ndim == 1 else score[:, 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a run is narrowed to; empty for all that the form has.

    Attributes:
        scenarios: names of laws.
        sizes: records per file, half of them members.
        priors: each in (0, 1).
        replications: files per cell; None for the form's own.
    """

    scenarios: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    priors: tuple[float, ...] = ()
    replications: int | None = None

    @property
    def narrows(self) -> bool:
        """Tell whether it says which cells: then all combinations are run."""
        return bool(self.scenarios or self.sizes or self.priors)


def cells_of(form: Form, choice: Choice, *, strict: bool = False) -> list[Cell]:
    """Return the form's own cells, or all combinations once any of them is chosen.

    Args:
        form: short or long.
        choice: what it is narrowed to.
        strict: whether the finite-sample methods are run: those need more sizes.
    """
    replications = choice.replications or _REPLICATIONS[form]
    if choice.narrows:
        chosen = product(
            choice.scenarios or (TELLING if form == "quick" else tuple(LAWS)),
            choice.sizes or (_SMALL if form == "quick" else (*_SMALL, _LARGE, _LARGEST)),
            choice.priors or (_EVEN, _LOW, _LOWEST),
        )
        return _in_orders(chosen, replications)
    others: list[tuple[str, int, int, Order]] = [*_HARD[form]]
    if strict:
        others += [("half-flagged", each, each, "shuffled") for each in _STRICT_SIZES]
    if form == "full":
        others += [(*one, order) for one, order in zip(_UNEVEN, cycle(_UNEVEN_ORDERS))]
    return [
        *_in_orders(_quick() if form == "quick" else _full(), replications),
        *(
            Cell(name, members, holdout, _EVEN, order, replications)
            for name, members, holdout, order in others
        ),
    ]


def _in_orders(settings: Iterable[tuple[str, int, float]], replications: int) -> list[Cell]:
    """Return cells with the orders of rows in turn."""
    return [
        Cell(name, size // 2, size - size // 2, prior, order, replications)
        for (name, size, prior), order in zip(settings, cycle(_ORDERS))
    ]


def control_cell(replications: int) -> Cell:
    """Return the cell, without any leak, in which invalid methods must be caught.

    Args:
        replications: files to draw, above 0.
    """
    half = _CONTROL_RECORDS // 2
    return Cell("null-gaussian", half, half, _EVEN, "shuffled", replications)


def _quick() -> Iterator[tuple[str, int, float]]:
    yield from product(TELLING, _SMALL, (_EVEN,))
    yield from product(_FEWEST, _SMALL, (_LOW,))
    yield from product(_FEWEST[:2], _SMALL, (_LOWEST,))
    yield from ((name, _LARGE, _EVEN) for name in ("multinomial-1000", "gauss-shift-1"))
    yield from (("null-gaussian", _LARGE, _LOW), ("leaked-atoms", _LARGE, _LOWEST))
    yield from product(_RECORDS, _SMALL[:1], (_EVEN,))


def _full() -> Iterator[tuple[str, int, float]]:
    yield from product(LAWS, _SMALL, (_EVEN,))
    yield from product(LAWS, _SMALL[1:], (_LOW,))
    # Of 50 records a low prior leaves little to see.
    yield from product(TELLING, _SMALL[:1], (_LOW,))
    yield from product(TELLING, _SMALL, (_LOWEST,))
    yield from product(_FEWEST, _SMALL[1:], (_HIGH,))
    yield from product(TELLING, (_LARGE,), (_EVEN,))
    yield from product(_FEWER, (_LARGE,), (_LOW, _LOWEST))
    yield from ((name, _LARGEST, _EVEN) for name in _FEWER if name != "leaked-atoms")
    yield from (("null-gaussian", _LARGEST, _LOW), ("leaked-atoms", _LARGEST, _LOWEST))
    yield from product(VECTOR_LAWS, _SMALL[:1], (_EVEN,))
    yield from product(_RECORDS, _SMALL[1:], (_EVEN,))
