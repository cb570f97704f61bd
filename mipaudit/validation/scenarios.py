"""Every scenario by name, and how it is drawn.

A new one is a law or a function that makes it, and a line in the catalogue.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.laws import CORRUPTED, LAWS, MINORITY, MU, family_by_prefix, law
from mipaudit.validation.scenario import (
    RecordScenario,
    Titled,
    gaussian_pair,
    grouped,
    scores,
    scores_of,
    shifted_features,
    xor_pair,
)
from mipaudit.validation.truth import (
    Family,
    Kind,
    ScenarioEntry,
    ScenarioParameter,
    Truth,
    family_of,
    filled,
    unknown,
)

if TYPE_CHECKING:
    from mipaudit.validation.scenario import Columns
    from mipaudit.validation.truth import Order

_NOTES: Final[Mapping[str, str]] = {
    "humphries": "The members are not independent draws from the population: all are of one group. "
    "No bound from differential privacy applies, whatever the training algorithm.",
    "colluding": "The score is the number of keys under which the answer matches.",
    "yeom-regression": "The score is the absolute error: members' are smaller if overfitted.",
}
_COIN: Final = "Epsilon and mu are for adding or removing one canary."
_BLIND: Final = (
    "There is no leak: the score is made from the features alone, and whoever sees the features "
    "tells members from holdout better without it (blind_advantage)."
)
_OUTLIERS: Final = (
    "Here a tenth of members and holdout alike are outliers. The paper corrupted training images "
    "only, so that the corruption itself would tell."
)
_ONE_HALF: Final = (
    "The moment of order 2 rests on one half of the records, whose release is sqrt(C(N, N/2)): "
    "few files hold it, and no limit from the others can know."
)
_QUANTILES: Final = (
    "The records are the quantiles (i - 1/2)/N of N(0, 1): nothing of them is drawn."
)


@lru_cache(maxsize=1)
def _catalogue() -> Mapping[str, tuple[Entry, ...]]:
    """Return scenarios and families of them, in the order of the list, by their heading."""
    return {
        "No leak": _of_laws(
            *("null-gaussian", "null-discrete", "null-zipf-1000", "null-ties", "constant")
        ),
        "Leaks of many shapes": _of_laws(
            *("gauss-scale", "cauchy-shift", "pareto-shift", "lognormal-scale", "comb"),
            *("multimodal", "multinomial", "zipf-leak-1000", "separated"),
            *("cantor", "even-odds", "drift"),
        ),
        "Rare leaks": _of_laws(
            *("leaked-atoms", "leaked-shift", "two-valued"),
            *("flagged-members", "half-flagged", "part-of-1000", "rare-tail-200"),
            *("rare-values", "missing-value", "nearly-separated"),
        ),
        "Ties, edges and infinities": _of_laws(
            *("softmax", "float16-ties", "ties-shift", "half-tied", "infinite-scores")
        ),
        "Mechanisms of differential privacy": _of_laws(
            *("gauss-shift", "laplace", "geometric", "randomized-response")
        ),
        "Two numbers for a record": (
            Family(
                "xor2d",
                (ScenarioParameter("ADV", 0.01, 1, None),),
                xor_pair,
                ((0.4,),),
                "signs that agree more often in members: together advantage ADV, alone none",
            ),
            Family(
                "gauss2d",
                (MU,),
                gaussian_pair,
                ((1,),),
                "two normal scores, members MU s.d. away along the diagonal",
            ),
        ),
        "Unequal classes, groups and features": (
            replace(
                scores(law("gauss-shift-1")),
                name="imbalanced",
                summary="100 members among 10,000 holdout records, members 1 s.d. higher",
                n_members=100,
                n_holdout=10_000,
            ),
            grouped(LAWS["subgroup-leak"], MINORITY),
            Family(
                "covariate-shift",
                (ScenarioParameter("SD", 0.01, 3, None),),
                lambda shift: replace(shifted_features(shift), notes=(_BLIND,)),
                ((0.5,),),
                "no leak, but one of five features is SD s.d. higher in members",
            ),
        ),
        "From the papers": (
            *_of_laws("yeom-regression", "colluding", "humphries", "counting-queries"),
            replace(grouped(LAWS["mace-corrupted"], CORRUPTED), notes=(_OUTLIERS,)),
        ),
        "One run: canaries, each included by a fair coin": tuple(
            map(_canaries, ("gauss-shift", "laplace", "randomized-response"))
        ),
        "Random splits, for noise --from": (
            Family(
                "izzo-prop9",
                (ScenarioParameter("N", 4, 20, 2),),
                lambda records: replace(nearly_cancelling(int(records)), notes=(_ONE_HALF,)),
                ((14,),),
                "1/sum of a random half of N records, one of which nearly cancels (Izzo et al. "
                "2022, Proposition 9)",
            ),
            Family(
                "random-half-mean",
                (ScenarioParameter("N", 40, 2000, 2),),
                lambda records: replace(half_mean(int(records)), notes=(_QUANTILES,)),
                ((1000,),),
                "mean of a random half of N normal records",
            ),
        ),
    }


def _of_laws(*names: str) -> tuple[Entry, ...]:
    """Return the scores of laws, and of families of laws by their prefix."""
    return tuple(scores(law(name)) if name in LAWS else _of_family(name) for name in names)


def _of_family(prefix: str) -> Family[Scenario]:
    laws = family_by_prefix(prefix)
    notes = (_NOTES[prefix],) if prefix in _NOTES else ()

    def make(*values: float) -> Scenario:
        return replace(scores_of(laws, *values), notes=notes)

    return Family(prefix, laws.parameters, make, laws.examples, laws.summary)


def _canaries(prefix: str) -> Family[Scenario]:
    """Return one-run designs: the canaries' scores pass a mechanism, each on its own."""
    laws = family_by_prefix(prefix)

    def make(*values: float) -> Scenario:
        found = scores_of(laws, *values)
        summary = f"canaries: {found.summary}"
        return replace(found, summary=summary, notes=(_COIN,), canaries=True, n_holdout=0)

    summary = f"canaries: {laws.summary}"
    return Family(f"canaries-{prefix}", laws.parameters, make, ((1,),), summary)


def scenario(name: str) -> Scenario:
    """Return the scenario of this name, or the member of a family that the name describes.

    Raises:
        UsageError: ``unknown_scenario``, with the nearest names, or ``scenario_parameter``.
    """
    heading_of: dict[Family[Scenario], str] = {}
    for heading, entry in _entries():
        if isinstance(entry, Family):
            heading_of[entry] = heading
        elif entry.name == name:
            return replace(entry, heading=heading)
    family = family_of(name, list(heading_of))
    if family is None:
        raise unknown(name, scenario_names())
    return _made(family, family.parse(name), heading_of[family])


def _made(family: Family[Scenario], values: Sequence[float], heading: str) -> Scenario:
    """Return the scenario of a family that has these numbers."""
    found = family.make(*values)
    names = (parameter.name.lower() for parameter in family.parameters)
    return replace(
        found,
        name=family.name(values),
        summary=found.summary or filled(family.summary, family.parameters, values),
        heading=heading,
        parameters=dict(zip(names, values, strict=True)),
    )


def _entries() -> Iterator[tuple[str, Entry]]:
    for heading, entries in _catalogue().items():
        yield from ((heading, entry) for entry in entries)


def scenario_names() -> tuple[str, ...]:
    """Return the names of all scenarios that are listed, families by their examples."""
    return tuple(name for entry in listing() for name in entry.examples or (entry.name,))


def listing() -> tuple[ScenarioEntry, ...]:
    """Return the list of scenarios and families."""
    return tuple(_listed(heading, entry) for heading, entry in _entries())


def _listed(heading: str, entry: Entry) -> ScenarioEntry:
    family = entry if isinstance(entry, Family) else None
    example = entry.make(*entry.examples[0]) if isinstance(entry, Family) else entry
    return ScenarioEntry(
        name=example.name if family is None else family.pattern,
        heading=heading,
        kind=example.kind,
        summary=entry.summary,
        parameters=() if family is None else family.parameters,
        examples=() if family is None else tuple(family.names()),
    )


SPLIT: Final = "split"
RELEASE: Final = "release"
_SPLITS: Final = 256  # drawn unless somebody says otherwise
# Random numbers held at once while halves are drawn.
_KEYS: Final = 1 << 22
# Standard deviations beyond which the characteristic function of a mean is nothing.
_CUTOFF: Final = 10.0
_NODES: Final = 160
# Where the product of cosines has fallen below e^-40.
_FALLEN: Final = 320.0


# What `noise` has to know of one released number, over all random halves: its mean distance from
# the median, its standard deviation, and of exchanges of one record for another the largest move,
# the mean move of the record for which that is largest, and the mean move of all.
_TRUE: Final = ("sigma_1", "sigma_2", "sensitivity", "swap_distance", "swap_distance_average")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitScenario(Titled):
    """A deterministic algorithm, run on random halves of fixed records: rows are splits.

    Attributes:
        draw: takes random numbers and how many splits, and returns what is released over
            independent random halves, shape (splits,).
        moments: returns what is true over all halves, exact to nine digits or more, and the
            ``median`` and the ``mean`` of what is released.
        splits_per_chunk: how many may be drawn at once without taking much memory.
    """

    draw: Callable[[np.random.Generator, int], NDArray[np.float64]]
    moments: Callable[[], dict[str, float]]
    splits_per_chunk: int = 1 << 20

    @property
    def kind(self) -> Kind:
        """Rows are splits."""
        return "splits"

    @property
    def columns(self) -> tuple[str, ...]:
        """The number of the split, and what was released."""
        return (SPLIT, RELEASE)

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many splits are drawn."""
        return {"splits": _SPLITS}

    def truths(self, prior: float) -> tuple[Truth, ...]:
        """Return the moments; the prior has no meaning here."""
        del prior
        known = self.moments()
        return tuple(
            Truth(quantity=name, value=float(f"{known[name]:.9g}"), sees=RELEASE) for name in _TRUE
        )


# Something that can be simulated, and what is listed.
Scenario = RecordScenario | SplitScenario
Entry = Family[Scenario] | Scenario


def nearly_cancelling(records: int) -> SplitScenario:
    """Return 1 / sum, on records of which one half nearly cancels (Izzo et al., Proposition 9).

    That half's release is sqrt(C(n, n/2)), every other is small: the second moment is 1 and
    the first next to nothing. The construction is ours (mipaudit help methods, section 28.7).
    The moments are had by going through every half.

    Args:
        records: n, even.
    """

    def draw(rng: np.random.Generator, splits: int) -> NDArray[np.float64]:
        _, outputs = _every_half(records)
        return outputs[rng.integers(len(outputs), size=splits)]

    def moments() -> dict[str, float]:
        halves, outputs = _every_half(records)
        moves = _swap_moves(records, halves, outputs)
        return {
            "sigma_1": float(np.abs(outputs - np.median(outputs)).mean()),
            "sigma_2": float(outputs.std()),
            "sensitivity": float(moves[1].max()),
            "swap_distance": float(moves[0].max()),
            "swap_distance_average": float(moves[0].mean()),
            "median": float(np.median(outputs)),
            "mean": float(outputs.mean()),
        }

    return SplitScenario(draw=draw, moments=moments)


@lru_cache(maxsize=4)
def _every_half(records: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return every half, as a number with a bit for each record in it, and what it releases."""
    half = records // 2
    chosen = np.array(list(combinations(range(records), half)))
    bits = (np.int64(1) << chosen).sum(axis=1)
    # The last record cancels the first ones, but for a little.
    little = 1 / math.sqrt(math.comb(records, half))
    values = np.exp2(np.arange(1, records + 1))
    values[-1] = 0.0
    last = -values[: half - 1].sum() + little
    order = np.argsort(bits)
    sums = values[chosen].sum(axis=1) + last * (chosen[:, -1] == records - 1)
    return bits[order], (1 / sums)[order]


def _swap_moves(
    records: int, halves: NDArray[np.int64], outputs: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each record's mean and largest move when it is exchanged."""
    mean, largest = np.zeros(records), np.zeros(records)
    for left in range(records):
        for came in range(records):
            rows = ((halves >> left) & 1 == 1) & ((halves >> came) & 1 == 0)
            swapped = halves[rows] ^ (1 << left) ^ (1 << came)
            moves = np.abs(outputs[np.searchsorted(halves, swapped)] - outputs[rows])
            if moves.size:
                mean[left] += moves.mean() / (records - 1)
                largest[left] = max(largest[left], moves.max())
    return mean, largest


def half_mean(records: int) -> SplitScenario:
    """Return the mean of a random half of records at the quantiles of N(0, 1).

    Args:
        records: n, even.
    """
    half = records // 2

    def draw(rng: np.random.Generator, splits: int) -> NDArray[np.float64]:
        keys = rng.random((splits, records))
        chosen = np.argpartition(keys, half, axis=1)[:, :half]
        return np.asarray(quantiles(records)[chosen].mean(axis=1))

    def moments() -> dict[str, float]:
        values = quantiles(records)
        # Sampling without replacement, half of a finite population; only the first moment needs
        # an integral.
        sigma_2 = math.sqrt(float(values.var(ddof=1)) / half / 2)
        gaps = np.abs(values[:, None] - values).sum(axis=1) / (records - 1) / half
        return {
            "sigma_1": _mean_absolute(values / half, sigma_2),
            "sigma_2": sigma_2,
            "sensitivity": float(np.ptp(values)) / half,
            "swap_distance": float(gaps.max()),
            "swap_distance_average": float(gaps.mean()),
            "median": 0.0,
            "mean": 0.0,
        }

    return SplitScenario(draw=draw, moments=moments, splits_per_chunk=max(1, _KEYS // records))


def quantiles(records: int) -> NDArray[np.float64]:
    """Return the records: the quantiles (i - 1/2)/n of N(0, 1)."""
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(records) + 0.5) / records))


def _mean_absolute(values: NDArray[np.float64], sd: float) -> float:
    """Return E|sum of a random half| of values that are symmetric about 0.

    E|X| = (2/pi) times the integral of (1 - phi(t)) / t^2, with phi the characteristic
    function of X; beyond the cutoff phi is nothing, which leaves 1/cutoff.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    end = _CUTOFF / sd
    t = (nodes + 1) / 2 * end
    inside = float(weights @ ((1 - _characteristic(values, t)) / t**2)) / 2 * end
    return 2 / math.pi * (inside + 1 / end)


def _characteristic(values: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return E cos(t X): the coefficient of z^(n/2) in the product of 1 + z e^(i t v).

    On the unit circle z = e^(i a) that product is, up to factors that cancel, the product
    of 2 cos((a + t v) / 2); the trapezoidal rule with more than n points is exact.
    """
    count = len(values)
    points = 2 * count + 2
    angles = 2 * math.pi / points * np.arange(-count, count + 2)
    angles = angles[np.abs(angles) <= math.sqrt(_FALLEN / count)]
    total = np.zeros(len(t))
    for angle in angles:
        total += np.cos((angle + t[:, None] * values) / 2).prod(axis=1)
    at_zero = (np.cos(angles / 2) ** count).sum()
    return np.asarray(total / at_zero)


CHUNK: Final = 1 << 20
# Rows that may be held at once, where an order needs all of them.
LARGEST_SORTED: Final = 1 << 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What to draw.

    Attributes:
        scenario: what from.
        rows: by class, as the scenario's ``sizes``; at most LARGEST of each and in all.
        order: of the rows.
        seed: at least 0.
        chunk: rows drawn at a time; another number draws another file.
    """

    scenario: Scenario
    rows: Mapping[str, int]
    order: Order
    seed: int
    chunk: int = CHUNK

    def chunks(self) -> Iterator[Columns]:
        """Yield the table in chunks, with every column that the scenario names."""
        if isinstance(self.scenario, SplitScenario):
            yield from self._splits(self.scenario)
        else:
            yield from self._records(self.scenario)

    def _splits(self, scenario: SplitScenario) -> Iterator[Columns]:
        for number, start, size in _pieces(
            self.rows["splits"], min(self.chunk, scenario.splits_per_chunk)
        ):
            released = scenario.draw(self._rng(number), size)
            yield {SPLIT: np.arange(start, start + size), RELEASE: released}

    def _records(self, scenario: RecordScenario) -> Iterator[Columns]:
        held = self.order == "sorted" or (scenario.canaries and self.order != "shuffled")
        drawn = self._ordered(scenario) if held else self._unordered(scenario)
        start = 0
        for columns in drawn:
            size = len(columns[scenario.member_column])
            yield {scenario.id_column: np.arange(start, start + size), **columns}
            start += size

    def _unordered(self, scenario: RecordScenario) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield rows as they are drawn."""
        left = None if scenario.canaries else [self.rows["members"], self.rows["holdout"]]
        for number, _, size in _pieces(sum(self.rows.values()), self.chunk):
            rng = self._rng(number)
            member = rng.random(size) < 1 / 2 if left is None else self._membership(rng, left, size)
            yield {scenario.member_column: member, **scenario.draw(rng, member)}

    def _membership(
        self, rng: np.random.Generator, left: list[int], size: int
    ) -> NDArray[np.bool_]:
        """Return who of the next rows is a member, and take them from what is left."""
        if self.order == "members-first":
            inside = min(left[0], size)
        else:
            inside = int(rng.hypergeometric(left[0], left[1], size))
        left[0] -= inside
        left[1] -= size - inside
        member = np.arange(size) < inside
        if self.order != "members-first":
            rng.shuffle(member)
        return member

    def _ordered(self, scenario: RecordScenario) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield all rows, put into their order in memory."""
        parts = list(self._unordered(scenario))
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        key = columns[scenario.drawn[0]]
        if self.order == "members-first":
            key = ~columns[scenario.member_column]
        order = np.argsort(key, kind="stable")
        for _, start, size in _pieces(len(order), self.chunk):
            rows = order[start : start + size]
            yield {name: values[rows] for name, values in columns.items()}

    def _rng(self, number: int) -> np.random.Generator:
        stream = zlib.crc32(self.scenario.name.encode())
        return np.random.default_rng((self.seed, stream, number))


def _pieces(total: int, chunk: int) -> Iterator[tuple[int, int, int]]:
    """Yield the number, the first row and the size of each chunk."""
    for number, start in enumerate(range(0, total, chunk)):
        yield number, start, min(chunk, total - start)
