"""Every scenario by name, and how it is drawn.

A new one is a law or a function that makes it, and a line in the catalogue.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.validation.laws import CORRUPTED, LAWS, MINORITY, MU, family_by_prefix, law
from mipaudit.validation.scenario import (
    CHUNK,
    RELEASE,
    Scenario,
    gaussian_pair,
    grouped,
    scores,
    scores_of,
    shifted_features,
    xor_pair,
)
from mipaudit.validation.truth import (
    Family,
    ScenarioEntry,
    ScenarioParameter,
    family_of,
    filled,
    unknown,
)

if TYPE_CHECKING:
    from mipaudit.validation.scenario import Columns
    from mipaudit.validation.truth import Order

    Entry = Family[Scenario] | Scenario

_NOTES: Final[Mapping[str, str]] = {
    "humphries": "The members are not independent draws from the population: all are of one group. "
    "No bound from differential privacy applies, whatever the training algorithm.",
    "colluding": "The score is the number of keys under which the answer matches.",
    "yeom-regression": "The score is the absolute error: members' are smaller if overfitted.",
}
_COIN: Final = "Epsilon and mu are for adding or removing one canary."
_BLIND: Final = (
    "There is no leak: the score is made from the features alone, and anyone who sees the features "
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
                sizes={"members": 100, "holdout": 10_000},
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
        sizes = {"canaries": found.sizes["members"]}
        return replace(found, summary=summary, notes=(_COIN,), kind="canaries", sizes=sizes)

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


_SPLITS: Final = 256  # drawn unless somebody says otherwise
# Random numbers held at once while halves are drawn.
_KEYS: Final = 1 << 22
# Standard deviations beyond which the characteristic function of a mean is nothing.
_CUTOFF: Final = 10.0
_NODES: Final = 160
# Where the product of cosines has fallen below e^-40.
_FALLEN: Final = 320.0


def _of_splits(
    release: Callable[[np.random.Generator, int], Floats],
    moments: Callable[[], dict[str, float]],
    at_once: int = CHUNK,
) -> Scenario:
    """Return what is released over so many independent random halves of fixed records."""
    return Scenario(
        kind="splits",
        sizes={"splits": _SPLITS},
        drawn=(RELEASE,),
        draw=lambda rng, member: {RELEASE: release(rng, member.size)},
        at_once=at_once,
        moments=moments,
    )


def nearly_cancelling(records: int) -> Scenario:
    """Return 1 / sum, on records of which one half nearly cancels (Izzo et al., Proposition 9).

    That half's release is sqrt(C(n, n/2)), every other is small: the second moment is 1 and
    the first next to nothing. The construction is ours (mipaudit help methods, section 28.7).
    The moments are had by going through every half.

    Args:
        records: n, even.
    """

    def draw(rng: np.random.Generator, splits: int) -> Floats:
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

    return _of_splits(draw, moments)


@lru_cache(maxsize=4)
def _every_half(records: int) -> tuple[Ints, Floats]:
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


def _swap_moves(records: int, halves: Ints, outputs: Floats) -> tuple[Floats, Floats]:
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


def half_mean(records: int) -> Scenario:
    """Return the mean of a random half of records at the quantiles of N(0, 1).

    Args:
        records: n, even.
    """
    half = records // 2

    def draw(rng: np.random.Generator, splits: int) -> Floats:
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

    return _of_splits(draw, moments, max(1, _KEYS // records))


def quantiles(records: int) -> Floats:
    """Return the records: the quantiles (i - 1/2)/n of N(0, 1)."""
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(records) + 0.5) / records))


def _mean_absolute(values: Floats, sd: float) -> float:
    """Return E|sum of a random half| of values that are symmetric about 0.

    E|X| = (2/pi) times the integral of (1 - phi(t)) / t^2, with phi the characteristic
    function of X; beyond the cutoff phi is nothing, which leaves 1/cutoff.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    end = _CUTOFF / sd
    t = (nodes + 1) / 2 * end
    inside = float(weights @ ((1 - _characteristic(values, t)) / t**2)) / 2 * end
    return 2 / math.pi * (inside + 1 / end)


def _characteristic(values: Floats, t: Floats) -> Floats:
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


# Rows that may be held at once, where an order needs all of them.
LARGEST_SORTED: Final = 1 << 25


def drawn_chunks(
    scenario: Scenario, rows: Mapping[str, int], order: Order, seed: int, chunk: int = CHUNK
) -> Iterator[Columns]:
    """Yield a table in chunks, with every column that the scenario names.

    Args:
        scenario: what from.
        rows: by class, as the scenario's ``sizes``; at most LARGEST of each and in all.
        order: of the rows.
        seed: at least 0.
        chunk: rows drawn at a time; another number draws another file.
    """
    drawn = _unordered(scenario, rows, order, seed, min(chunk, scenario.at_once))
    if order == "sorted" or (scenario.kind == "canaries" and order != "shuffled"):
        drawn = _ordered(scenario, drawn, order, chunk)
    start = 0
    for columns in drawn:
        size = len(columns[scenario.drawn[0]])
        yield {scenario.columns[0]: np.arange(start, start + size), **columns}
        start += size


def _unordered(
    scenario: Scenario, rows: Mapping[str, int], order: Order, seed: int, chunk: int
) -> Iterator[Columns]:
    """Yield rows as they are drawn."""
    left = [*rows.values()]
    stream, name = zlib.crc32(scenario.name.encode()), scenario.member_column
    for number, (_, size) in enumerate(_pieces(sum(left), chunk)):
        rng = np.random.default_rng((seed, stream, number))
        member = np.zeros(size, dtype=np.bool_)
        if scenario.kind == "scores":
            member = _membership(rng, left, order, size)
        elif scenario.kind == "canaries":
            member = rng.random(size) < 1 / 2
        yield {**({name: member} if name else {}), **scenario.draw(rng, member)}


def _membership(rng: np.random.Generator, left: list[int], order: Order, size: int) -> Bools:
    """Return who of the next rows is a member, and take them from what is left."""
    first = order == "members-first"
    inside = min(left[0], size) if first else int(rng.hypergeometric(left[0], left[1], size))
    left[0] -= inside
    left[1] -= size - inside
    member = np.arange(size) < inside
    if not first:
        rng.shuffle(member)
    return member


def _ordered(
    scenario: Scenario, drawn: Iterable[Columns], order: Order, chunk: int
) -> Iterator[Columns]:
    """Yield all rows, put into their order in memory."""
    parts = list(drawn)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    key = columns[scenario.drawn[0]]
    if order == "members-first" and scenario.member_column:
        key = ~columns[scenario.member_column]
    places = np.argsort(key, kind="stable")
    for start, size in _pieces(len(places), chunk):
        some = places[start : start + size]
        yield {name: values[some] for name, values in columns.items()}


def _pieces(total: int, chunk: int) -> Iterator[tuple[int, int]]:
    """Yield the first row and the size of each chunk."""
    for start in range(0, total, chunk):
        yield start, min(chunk, total - start)
