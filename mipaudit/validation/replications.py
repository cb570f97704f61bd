"""Replications: files drawn from a cell, judged by methods, and every limit against the truth."""

from __future__ import annotations

import math
import zlib
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, cycle, product
from typing import Any, Final, Literal, TypeVar

import numpy as np

from mipaudit.engine.workers import ProcessPool
from mipaudit.errors import MipauditError
from mipaudit.evidence.scores.evidence import learn_together
from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.validation.estimands.estimand import Args, AuditedFile, AuditedVector, Interval, Side
from mipaudit.validation.estimands.methods import ALTERNATIVES, ESTIMANDS
from mipaudit.validation.law import Law, VectorLaw
from mipaudit.validation.laws import LAWS, VECTOR_LAWS, law
from mipaudit.validation.report import CoverageRow

Order = Literal["shuffled", "sorted", "reversed", "by class"]
Form = Literal["quick", "full"]
# The most telling laws: no leak in three guises, leaks that thresholds miss, rare
# leaks, heavy tails, ties, infinities, discrete scores, near-perfect separation.
TELLING: Final = (
    *("null-gaussian", "null-discrete-1000", "null-ties", "gauss-shift-1", "gauss-scale-3"),
    *("leaked-atoms", "cauchy-shift", "comb-64", "randomized-response-1", "multinomial-1000"),
    *("infinite-scores", "laplace-4"),
)
# Fewer of them where a replication is dear or a low prior hides most leaks.
_FEWER: Final = (
    *("null-gaussian", "gauss-shift-1", "leaked-atoms"),
    *("comb-64", "multinomial-1000", "laplace-4"),
)
_FEWEST: Final = ("null-gaussian", "leaked-atoms", "multinomial-1000", "laplace-4")
# Records of several columns: no shift, and one that no column shows by itself.
_RECORDS: Final = ("null-cube-2", "plane-xor-0.3")
_SMALL: Final = (50, 1_000)
_PRIORS: Final = (0.5, 0.1, 0.01)
# Laws, records and priors of which every combination is run.
Blocks = tuple[tuple[Iterable[str], tuple[int, ...], tuple[float, ...]], ...]
_GRID: Final[dict[Form, Blocks]] = {
    "quick": (
        (TELLING, _SMALL, (0.5,)),
        (_FEWEST, _SMALL, (0.1,)),
        (_FEWEST[:2], _SMALL, (0.01,)),
        (("multinomial-1000", "gauss-shift-1"), (10_000,), (0.5,)),
        (("null-gaussian",), (10_000,), (0.1,)),
        (("leaked-atoms",), (10_000,), (0.01,)),
        (_RECORDS, (50,), (0.5,)),
    ),
    "full": (
        (LAWS, _SMALL, (0.5,)),
        (LAWS, (1_000,), (0.1,)),
        # Of 50 records a low prior leaves little to see.
        (TELLING, (50,), (0.1,)),
        (TELLING, _SMALL, (0.01,)),
        (_FEWEST, (1_000,), (0.9,)),
        (TELLING, (10_000,), (0.5,)),
        (_FEWER, (10_000,), (0.1, 0.01)),
        ([name for name in _FEWER if name != "leaked-atoms"], (100_000,), (0.5,)),
        (("null-gaussian",), (100_000,), (0.1,)),
        (("leaked-atoms",), (100_000,), (0.01,)),
        (VECTOR_LAWS, (50,), (0.5,)),
        (_RECORDS, (1_000,), (0.5,)),
    ),
}
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
# One member among 100 records, and classes more uneven still.
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
_UNEVEN_ORDERS: Final[tuple[Order, ...]] = ("shuffled", "by class")
# What is proved of the finite-sample limits holds over the seeds: one size shows little.
_STRICT_SIZES: Final = range(50, 1_050, 50)
_ORDERS: Final[tuple[Order, ...]] = ("shuffled", "sorted", "reversed", "by class")
_REPLICATIONS: Final[dict[Form, int]] = {"quick": 1_000, "full": 4_000}
_CONTROL_RECORDS: Final = 1_000
# CPU time of one replication, and of each of its rows, roughly: of a score, and of a record that
# is learned from. For equal pieces of work and the time left.
_SECONDS: Final = (3.3e-3, 5e-7)
_VECTOR_SECONDS: Final = (7e-3, 4.5e-5)
_PIECE_SECONDS: Final = 0.3


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

        Users state that a score is discrete; now and then it must be found out.
        """
        return law(self.scenario).discrete and self.order != "sorted"

    @property
    def seconds(self) -> float:
        """About how long one replication takes, in CPU seconds."""
        once, each = _VECTOR_SECONDS if law(self.scenario).width > 1 else _SECONDS
        return once + each * self.records

    def pieces(self) -> list[range]:
        """Return the replications in runs that take about as long."""
        step = max(1, int(_PIECE_SECONDS / self.seconds))
        everything = range(self.replications)
        return [everything[start : start + step] for start in everything[::step]]


def stream_of(cell: Cell) -> int:
    """Return a number that tells the cell's random numbers from those of other cells."""
    text = f"{cell.scenario} {cell.n_members} {cell.n_holdout} {cell.prior!r} {cell.order}"
    return zlib.crc32(text.encode())


def draw_file(cell: Cell, rng: np.random.Generator) -> tuple[Bools, Floats]:
    """Return the membership and the scores of one file, in the cell's order of rows."""
    members, holdout = law(cell.scenario).sample(rng, cell.n_members, cell.n_holdout)
    score = np.concatenate([members, holdout])
    member = np.arange(len(score)) < cell.n_members
    rows = _row_order(cell.order, member, score, rng)
    return member[rows], score[rows]


def _row_order(order: Order, member: Bools, score: Floats, rng: np.random.Generator) -> Ints:
    first = score if score.ndim == 1 else score[:, 0]
    match order:
        case "shuffled":
            return rng.permutation(len(score))
        case "by class":
            return np.lexsort((first, ~member))
        case _:
            rows = np.argsort(first, kind="stable")
            return rows if order == "sorted" else rows[::-1]


def cells_of(
    form: Form,
    *,
    scenarios: Sequence[str] = (),
    sizes: Sequence[int] = (),
    priors: Sequence[float] = (),
    replications: int | None = None,
    strict: bool = False,
) -> list[Cell]:
    """Return the form's own cells, or all combinations once any of them is chosen.

    Args:
        form: short or long.
        scenarios: names of the laws that are chosen.
        sizes: records per file, half of them members.
        priors: each in (0, 1).
        replications: files per cell; None for the form's own.
        strict: whether the finite-sample methods are run: those need more sizes.
    """
    replications = replications or _REPLICATIONS[form]
    blocks, others = _GRID[form], [*_HARD[form]]
    if strict:
        others += [("half-flagged", each, each, "shuffled") for each in _STRICT_SIZES]
    if form == "full":
        others += [(*one, order) for one, order in zip(_UNEVEN, cycle(_UNEVEN_ORDERS))]
    if scenarios or sizes or priors:
        laws = scenarios or (TELLING if form == "quick" else LAWS)
        every = _SMALL if form == "quick" else (*_SMALL, 10_000, 100_000)
        blocks, others = ((laws, tuple(sizes) or every, tuple(priors) or _PRIORS),), []
    combined = chain.from_iterable(product(*block) for block in blocks)
    return [
        *(
            Cell(name, size // 2, size - size // 2, prior, order, replications)
            for (name, size, prior), order in zip(combined, cycle(_ORDERS))
        ),
        *(
            Cell(name, members, holdout, _PRIORS[0], order, replications)
            for name, members, holdout, order in others
        ),
    ]


def control_cell(replications: int) -> Cell:
    """Return the cell, without any leak, in which invalid methods must be caught.

    Args:
        replications: files to draw, above 0.
    """
    half = _CONTROL_RECORDS // 2
    return Cell("null-gaussian", half, half, _PRIORS[0], "shuffled", replications)


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Names of estimands and of other methods; light, so that it travels to processes.

    Attributes:
        estimands: whose limits by the tool are tested.
        alternatives: other methods beside them.
        strict: whether the tool's finite-sample methods are asked for.
        named: whether the estimands were asked for by name, so that dear ones are tried on
            every file.
    """

    estimands: tuple[str, ...]
    alternatives: tuple[str, ...]
    strict: bool = False
    named: bool = True

    def say(self, audited: AuditedFile, law: Law) -> list[Interval]:
        """Return all that the methods say of a file drawn from a law."""
        said: list[Interval] = []
        for one in (ESTIMANDS[name] for name in self.estimands):
            asked = self.named or one.usually(law, audited.member.size, audited.number)
            if asked and one.concerns(law):
                said += one.intervals(audited)
        for other in (ALTERNATIVES[name] for name in self.alternatives):
            if ESTIMANDS[other.estimand].concerns(law):
                said.append(other.interval(audited))
        return said


def replicate(cell: Cell, methods: Panel, seed: int, replications: range) -> Statements:
    """Return what the methods say about these replications, beside the truth.

    Args:
        cell: that the files are drawn from.
        methods: that are run on them.
        seed: of the whole run; every replication has its own stream.
        replications: their numbers.
    """
    law_of_cell = law(cell.scenario)
    files = []
    for number in replications:
        rng = np.random.default_rng((seed, stream_of(cell), number))
        member, score = draw_file(cell, rng)
        kind: Callable[..., AuditedFile] = AuditedFile
        if isinstance(law_of_cell, VectorLaw):
            kind = partial(AuditedVector, law=law_of_cell)
        files.append(
            kind(
                member=member,
                score=score,
                prior=cell.prior,
                seed=int(rng.integers(2**63)),
                strict=methods.strict,
                discrete=cell.discrete,
                number=number,
            )
        )
    if law_of_cell.width == 1 and "advantage" in methods.estimands:
        learn_together([one.evidence for one in files])
    return gather(law_of_cell, cell.prior, [methods.say(one, law_of_cell) for one in files])


def results(
    function: Callable[..., T], work: Iterable[tuple[Any, ...]], *, jobs: int
) -> Generator[T, None, None]:
    """Yield what a function returns for each of several arguments, in their order.

    Args:
        function: that a fresh process can import.
        work: its arguments, in the order in which they are begun.
        jobs: processes, at least 1; 1 runs here.

    Raises:
        MipauditError: ``worker_lost``, when a process was ended from outside.
    """
    if jobs <= 1:
        yield from (function(*one) for one in work)
        return
    try:
        with ProcessPool(jobs) as pool:
            begun = [pool.submit(function, *one) for one in work][::-1]
            while begun:
                yield begun.pop().result()
    except BrokenProcessPool:
        raise MipauditError(
            "worker_lost",
            "A process of the run ended before its work was done.",
            hint="Was there enough memory? Try `jobs` 1; with `resume` FILE no cell is run twice.",
        ) from None


# More than the files of a piece of work ask for: the next piece asks for most of them again.
_REMEMBERED: Final = 1 << 12
LEVEL: Final = 0.01
POWER: Final = 0.8
# Truths are computed to 1e-8; a limit this close to the truth is not a miss.
TRUTH_TOLERANCE: Final = 1e-7


# What was said under each label: one of the intervals, for all that they have in common, and of
# each file the lower limit, the upper one, the best estimate and the truth.
Statements = dict[str, tuple["Interval", list[tuple[float | None, ...]]]]


def gather(law: Law, prior: float, said: Iterable[Sequence[Interval]]) -> Statements:
    """Return the intervals of several files by label, beside the truth.

    Args:
        law: that the files were drawn from.
        prior: p in (0, 1).
        said: the intervals of each file.

    Raises:
        ValueError: one file has two intervals of the same label, or a limit is NaN.
    """
    found: Statements = {}
    for intervals in said:
        if len({one.label for one in intervals}) < len(intervals):
            raise ValueError("two intervals of one file have the same label")
        for one in intervals:
            stated = one.lower, one.upper, one.value
            if any(number is not None and math.isnan(number) for number in stated):
                raise ValueError("a limit is NaN: a method that states none must say None")
            truth = _truth(law, prior, one.estimand, one.args)
            found.setdefault(one.label, (one, []))[1].append((*stated, truth))
    return found


def joined(parts: Iterable[Statements]) -> Statements:
    """Return the statements of several parts of a cell, in order."""
    whole: Statements = {}
    for part in parts:
        for label, (one, rows) in part.items():
            whole.setdefault(label, (one, []))[1].extend(rows)
    return whole


@lru_cache(maxsize=_REMEMBERED)
def _truth(law: Law, prior: float, estimand: str, args: Args) -> float:
    """Return the truth, computed once for all files that ask for the same."""
    return ESTIMANDS[estimand].truth(law, prior, *args)


def miss_p_value(misses: int, replications: int, nominal: float) -> float:
    """Return P(at least so many misses) if the coverage is exactly nominal."""
    if misses == 0:
        return 1.0
    from scipy.special import betainc

    return float(betainc(misses, replications - misses + 1, 1 - nominal))


def failures(rows: Sequence[CoverageRow], level: float = LEVEL) -> tuple[CoverageRow, ...]:
    """Return the rows whose coverage is below nominal, by Holm's step-down test.

    Each row is tested exactly (binomial); the chance that a table of valid limits
    has any failure is at most ``level``.

    Args:
        rows: all that were run; leaving some out makes the level untrue.
        level: familywise error in (0, 1).

    Returns:
        The least likely first.
    """
    ordered = sorted(rows, key=lambda row: row.p_value)
    for rank, row in enumerate(ordered):
        if row.p_value > level / (len(ordered) - rank):
            return tuple(ordered[:rank])
    return tuple(ordered)


def detectable_coverage(replications: int, nominal: float, level: float) -> float:
    """Return the greatest true coverage that a test finds too low with probability `POWER`.

    Args:
        replications: files drawn.
        nominal: promised coverage in (0, 1).
        level: of the test of one row; Holm's strictest is the table's over its rows.

    Returns:
        Below nominal; 0 where no number of misses would be enough.
    """
    from scipy.special import betaincinv

    def significance(misses: int) -> float:
        return -miss_p_value(misses, replications, nominal)

    fewest = bisect_left(range(replications + 1), -level, key=significance)
    if fewest > replications:
        return 0.0
    return 1 - float(betaincinv(fewest, replications - fewest + 1, POWER))


def tally(cell: Cell, statements: Statements) -> tuple[CoverageRow, ...]:
    """Return one row for each label and each side that was ever stated."""
    sides: tuple[Side, ...] = ("lower", "upper")
    found = ((first, np.array(rows, np.float64)) for first, rows in statements.values())
    return tuple(
        _row(cell, first, rows, side)
        for first, rows in found
        for at, side in enumerate(sides)
        if not np.isnan(rows[:, at]).all()
    )


def _row(cell: Cell, of: Interval, rows: Floats, side: Side) -> CoverageRow:
    """Return one side of a limit in one cell."""
    lower, upper, value, truth = np.ascontiguousarray(rows.T)
    gaps = truth - lower if side == "lower" else upper - truth
    stated = int((~np.isnan(gaps)).sum())
    estimand = ESTIMANDS[of.estimand]
    # Dear limits may have been tried on some of the files alone.
    replications = max(1, stated) if estimand.dear else cell.replications
    misses = int((gaps < -TRUTH_TOLERANCE).sum())
    coverage = (replications - misses) / replications
    baseline = estimand.baseline(cell.prior, *of.args) if estimand.baseline else 0.0
    # Whether the truth is what it would be without any leak.
    nothing = side == "lower" and bool(np.abs(truth - baseline).max() <= TRUTH_TOLERANCE)
    mean_gap, median_gap = _middle(gaps)
    mean_width, median_width = _middle(upper - lower)
    bias, _ = _middle(value - truth)
    return CoverageRow(
        scenario=cell.scenario,
        n_members=cell.n_members,
        n_holdout=cell.n_holdout,
        prior=cell.prior,
        order=cell.order,
        discrete=cell.discrete,
        estimand=of.estimand,
        label=of.label,
        source=of.source,
        side=side,
        nominal=of.nominal,
        replications=replications,
        stated=stated,
        misses=misses,
        coverage=coverage,
        coverage_error=math.sqrt(coverage * (1 - coverage) / replications),
        p_value=miss_p_value(misses, replications, of.nominal),
        false_alarms=misses / replications if nothing else None,
        truth=float(truth.mean()),
        mean_gap=mean_gap,
        median_gap=median_gap,
        mean_width=mean_width,
        median_width=median_width,
        bias=bias,
    )


def _middle(values: Floats) -> tuple[float | None, float | None]:
    """Return mean and median of what was stated; None where that is not finite."""
    stated = values[~np.isnan(values)]
    if not stated.size:
        return None, None
    mean, median = float(stated.mean()), float(np.median(stated))
    return mean if math.isfinite(mean) else None, median if math.isfinite(median) else None
