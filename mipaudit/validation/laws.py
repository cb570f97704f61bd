"""The catalogue of laws, where intervals for leakage have been seen to fail.

Laws of one number for a record, families of such laws that differ in numbers (mechanisms at any
epsilon, shifts of any size), and laws of several numbers, which tell more together than alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np

from mipaudit.maths.arrays import Bools, Floats
from mipaudit.validation.law import (
    BothMasses,
    Discrete,
    DrawVectors,
    Edges,
    Law,
    Mixture,
    Part,
    VectorLaw,
    atoms,
    beta,
    cauchy,
    cells,
    coin,
    drift,
    half_normal,
    laplace,
    law_of,
    log_normal,
    mixture,
    normal,
    pareto,
    rounded,
    scattered_order,
    scattered_signs,
    steps,
)
from mipaudit.validation.truth import Family, ScenarioParameter, family_of, filled, short, unknown

# Groups of records by label, each with its share, in (0, 1), and the law of its scores. Shares sum
# to 1 and are the same among members and holdout records.
Groups: TypeAlias = Mapping[str, tuple[float, Law]]

EPSILON: Final = ScenarioParameter("EPS", 0.01, 30, None)
MU: Final = ScenarioParameter("MU", 0.01, 20, None)
_VALUES: Final = ScenarioParameter("K", 2, 65_536, 1)
# Beyond so many steps of a geometric noise its mass is below e^-40.
_STEPS: Final = 40.0
_LEAST_REACH: Final = 60
# Log-losses of a model that knows a record's group, and of one that learnt another.
_KNOWN: Final = steps(masses=(1.0,), start=0.0, stop=0.1)
_UNKNOWN: Final = steps(masses=(1.0,), start=2.5, stop=9.0)


def truthful(epsilon: float) -> float:
    """Return the probability of the true answer in randomized response on one bit."""
    return 1 / (1 + math.exp(-epsilon))


def _comb(teeth: float) -> tuple[Part, Part]:
    masses = (1 + 0.5 * np.where(np.arange(int(teeth)) % 2 == 0, 1.0, -1.0)) / teeth
    return steps(masses=tuple(masses)), steps(masses=tuple(masses[::-1]))


def _two_sided_geometric(epsilon: float, centre: int) -> Discrete:
    reach = max(_LEAST_REACH, math.ceil(_STEPS / epsilon))
    values = np.arange(-reach, reach + 2, dtype=np.float64)
    masses = np.exp(-epsilon * np.abs(values - centre))
    return atoms(values, masses / masses.sum())


def _colluding(bits: float, keys: float) -> tuple[Part, Part]:
    """Return how many keys match: all of a member's, by chance of others."""
    count = int(keys)
    match = 0.5 ** int(bits)
    chances = [
        math.comb(count, hits) * match**hits * (1 - match) ** (count - hits)
        for hits in range(count + 1)
    ]
    values = np.arange(count + 1, dtype=np.float64)
    return (
        atoms(np.array([float(count)]), np.ones(1)),
        atoms(values, np.array(chances) / math.fsum(chances)),
    )


def _counting_queries(queries: float, records: float, noise_sd: float) -> tuple[Part, Part]:
    sd = math.sqrt(queries) * noise_sd
    return normal(mean=queries / records, sd=sd), normal(sd=sd)


def _family(
    prefix: str,
    parameters: tuple[ScenarioParameter, ...],
    classes: Callable[..., tuple[Part | Mixture, Part | Mixture]],
    examples: tuple[tuple[float, ...], ...],
    summary: str,
    said: str = "",
) -> Family[Law]:
    """Return laws of which ``classes`` makes members and holdout of the numbers in the name.

    ``said`` is what one of them is, with the parameters by name, where ``summary`` does not say it.
    """

    def make(*values: float) -> Law:
        text = filled(said or summary, parameters, values)
        return law_of("-".join([prefix, *map(short, values)]), text, *classes(*values))

    return Family(prefix, parameters, make, examples, summary)


def _deviation(name: str) -> ScenarioParameter:
    return ScenarioParameter(name, 1e-6, 1e6, None)


LAW_FAMILIES: Final[tuple[Family[Law], ...]] = (
    _family(
        "null-discrete",
        (_VALUES,),
        lambda size: (cells(np.ones(int(size))),) * 2,
        ((100,), (1000,)),
        "no leak, K equally likely values",
    ),
    _family(
        "gauss-shift",
        (MU,),
        lambda mu: (normal(mean=mu), normal()),
        ((0.25,), (1,), (2,), (0.05,)),
        "normal scores, members MU s.d. higher: the Gaussian mechanism at MU",
        "normal scores, members MU s.d. higher",
    ),
    _family(
        "gauss-scale",
        (ScenarioParameter("RATIO", 1.01, 100, None),),
        lambda ratio: (normal(), normal(sd=ratio)),
        ((1.5,), (3,)),
        "normal scores about 0, holdout RATIO times as wide",
    ),
    _family(
        "comb",
        (ScenarioParameter("TEETH", 2, 4096, 2),),
        _comb,
        ((64,), (1024,)),
        "TEETH teeth: members three times as often on even ones, holdout on odd ones",
    ),
    _family(
        "laplace",
        (EPSILON,),
        lambda epsilon: (laplace(centre=1.0, scale=1 / epsilon), laplace(scale=1 / epsilon)),
        ((0.5,), (1,), (4,)),
        "Laplace mechanism at epsilon EPS",
        "Laplace mechanism, epsilon EPS",
    ),
    _family(
        "geometric",
        (EPSILON,),
        lambda epsilon: (_two_sided_geometric(epsilon, 1), _two_sided_geometric(epsilon, 0)),
        ((1,),),
        "geometric mechanism at epsilon EPS",
        "geometric mechanism, epsilon EPS",
    ),
    _family(
        "randomized-response",
        (EPSILON,),
        lambda epsilon: (coin(truthful(epsilon)), coin(1 - truthful(epsilon))),
        ((1,),),
        "randomized response at epsilon EPS",
        "randomized response, epsilon EPS",
    ),
    _family(
        "multinomial",
        (ScenarioParameter("K", 2, 65_536, 2),),
        lambda size: (cells(1 + 0.4 * scattered_signs(int(size))), cells(np.ones(int(size)))),
        ((1000,),),
        "K values; members 40% more often on a scattered half, less on the other",
    ),
    _family(
        "humphries",
        (ScenarioParameter("M", 2, 100_000, 1),),
        lambda groups: (_KNOWN, mixture((1 / groups, _KNOWN), (1 - 1 / groups, _UNKNOWN))),
        ((20,),),
        "log-losses where members are all of one of M groups (Humphries et al. 2023, 5.3)",
    ),
    _family(
        "yeom-regression",
        (_deviation("SD_MEMBERS"), _deviation("SD_HOLDOUT")),
        lambda member_sd, holdout_sd: (half_normal(sd=member_sd), half_normal(sd=holdout_sd)),
        ((1, 1.5),),
        "absolute errors of a regression (Yeom et al. 2018, Theorem 3)",
        "absolute errors of a regression, s.d. SD_MEMBERS and SD_HOLDOUT (Yeom et al. 2018, "
        "Theorem 3)",
    ),
    _family(
        "colluding",
        (ScenarioParameter("BITS", 1, 32, 1), ScenarioParameter("KEYS", 1, 64, 1)),
        _colluding,
        ((1, 3),),
        "answers of BITS bits that match under KEYS secret keys (Yeom et al. 2018, Theorem 4)",
    ),
    _family(
        "counting-queries",
        (
            ScenarioParameter("QUERIES", 1, 1e9, 1),
            ScenarioParameter("RECORDS", 1, 1e12, 1),
            _deviation("SD"),
        ),
        _counting_queries,
        ((100, 1000, 0.01),),
        "sums of QUERIES averages over RECORDS records, noise of s.d. SD on each (Tramer, "
        "Theorem 2)",
    ),
)


MINORITY: Final[Groups] = {
    "majority": (0.9, law_of("majority", "no leak", normal(), normal())),
    "minority": (0.1, law_of("minority", "members 2 s.d. higher", normal(mean=2.0), normal())),
}
# Losses: an overfitted model's are lower for members, and outliers' are high unless learnt.
CORRUPTED: Final[Groups] = {
    "clean": (0.9, law_of("clean", "a little overfitted", normal(mean=-0.2), normal())),
    "corrupted": (
        0.1,
        law_of("corrupted", "memorised", normal(mean=-1.0, sd=0.5), normal(mean=2.0)),
    ),
}


def overall(name: str, description: str, groups: Groups) -> Law:
    """Return the law of the scores when the groups are not told apart."""
    members = _blend((share, law.members) for share, law in groups.values())
    holdout = _blend((share, law.holdout) for share, law in groups.values())
    return law_of(name, description, members, holdout)


def _blend(weighted: Iterable[tuple[float, Mixture]]) -> Mixture:
    return mixture(
        *(
            (share * weight, part)
            for share, mixed in weighted
            for part, weight in zip(mixed.parts, mixed.weights, strict=True)
        )
    )


def _value(value: float) -> Discrete:
    """Return a score that is always the same."""
    return atoms(np.array([value]), np.array([1.0]))


def _half_precision(limit: float) -> Floats:
    every = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float64)
    return np.unique(every[np.abs(every) <= limit])


def _three_modes(outer: float) -> Mixture:
    parts = [normal(mean=mean, sd=0.5) for mean in (-3.0, 0.0, 3.0)]
    return mixture(*zip((outer, 1 - 2 * outer, outer), parts, strict=True))


def _infinite(mass: float) -> Mixture:
    return mixture((1 - mass, _STANDARD), (mass, _value(np.inf)))


def _common_and_tail(tail: float) -> Discrete:
    return cells(np.concatenate([np.full(5, (1 - tail) / 5), np.full(200, tail / 200)]))


def _digits(mass: float) -> Discrete:
    """Return values of 9 binary digits that are 0 with this mass each."""
    found = np.ones(1)
    for _ in range(9):
        found = np.concatenate([found * mass, found * (1 - mass)])
    return cells(found)


def _halves(mean: float) -> Discrete:
    return rounded(base=normal(mean=mean), values=np.arange(-8.0, 9.0, 0.5))


def _half_tied(mean: float) -> Mixture:
    return mixture((0.5, _value(0.5)), (0.5, normal(mean=mean)))


_STANDARD: Final = normal()
_ZIPF: Final = 1.0 / np.arange(1, 1001)
_TIES: Final = rounded(base=_STANDARD, values=np.arange(-8.0, 8.5, 0.5))
_RARE: Final = np.append(np.full(900, 0.1 / 900), 0.9)
_SOME: Final = scattered_order(1000) < 380  # noqa: PLR2004 - the 38%
_UNIT, _NEXT_UNIT = steps(masses=(1.0,)), steps(masses=(1.0,), start=1.0, stop=2.0)
_SATURATED: Final = _value(1.0)
_HALF_PRECISION: Final = _half_precision(12.0)
# Laws, and families by their prefix, of which the examples are laws of the catalogue.
_CATALOGUE: Final[tuple[Law | str, ...]] = (
    # No leak.
    law_of("null-gaussian", "no leak, normal scores", _STANDARD, _STANDARD),
    "null-discrete",
    law_of("null-zipf-1000", "no leak, 1000 values with masses as 1/rank", *(cells(_ZIPF),) * 2),
    law_of("null-ties", "no leak, normal scores rounded to halves", _TIES, _TIES),
    law_of("constant", "every score is the same", *(cells(np.ones(1)),) * 2),
    # Smooth scores.
    "gauss-shift",
    "gauss-scale",
    law_of("cauchy-shift", "Cauchy scores, members 1 higher", cauchy(centre=1.0), cauchy()),
    law_of(
        "pareto-shift",
        "Pareto scores of index 1.5, members 0.2 higher",
        pareto(index=1.5, shift=0.2),
        pareto(index=1.5),
    ),
    law_of(
        "lognormal-scale",
        "log-normal scores of log s.d. 2, members 3 times as large",
        log_normal(log_mean=math.log(3), log_sd=2.0),
        log_normal(log_sd=2.0),
    ),
    "comb",
    law_of("multimodal", "three modes, members more in the outer", *map(_three_modes, (0.4, 0.3))),
    law_of("separated", "every member above every holdout record", _NEXT_UNIT, _UNIT),
    # Mechanisms.
    "laplace",
    "geometric",
    "randomized-response",
    law_of("two-valued", "a rare flag: 10% of members, 1% of holdout", coin(0.1), coin(0.01)),
    # Rare leaks, and leaks that thresholds miss.
    law_of(
        "leaked-atoms",
        "1% of members at one value amid the others that no holdout record has",
        mixture((0.99, _STANDARD), (0.01, _value(0.5))),
        _STANDARD,
    ),
    law_of(
        "leaked-shift",
        "1% of members 4 s.d. higher",
        mixture((0.99, _STANDARD), (0.01, normal(mean=4.0))),
        _STANDARD,
    ),
    "multinomial",
    law_of(
        "zipf-leak-1000",
        "1000 values with masses as 1/rank; members 30% more or less, scattered",
        cells(_ZIPF * (1 + 0.3 * scattered_signs(1000))),
        cells(_ZIPF),
    ),
    law_of(
        "infinite-scores",
        "5% of members and 1% of holdout infinite, the others alike",
        _infinite(0.05),
        _infinite(0.01),
    ),
    # On these limits that hold everywhere else were once wrong.
    law_of(
        "flagged-members",
        "3.68% of the members flagged and no holdout record: few rows make the AUC",
        coin(0.0368),
        coin(0.0),
    ),
    law_of(
        "half-flagged", "every member at one value, and half of the holdout", coin(1.0), coin(0.5)
    ),
    law_of(
        "part-of-1000",
        "members on a scattered 38% of 1000 values, holdout on all",
        cells(_SOME.astype(float)),
        cells(np.ones(1000)),
    ),
    law_of(
        "rare-tail-200",
        "5 common values and a tail of 200 that 3% of the holdout have, and 61.2% of the members",
        _common_and_tail(0.612),
        _common_and_tail(0.03),
    ),
    # On these what learns from few rows, or joins cells, sees least or errs most.
    law_of(
        "cantor",
        "512 values with masses of a Cantor set's kind: each of 9 digits tells a little",
        _digits(0.6),
        _digits(0.4),
    ),
    law_of(
        "rare-values",
        "10% of the members at 900 values that no holdout record has, the others all at one",
        cells(_RARE),
        cells((_RARE > 1 / 2).astype(float)),
    ),
    law_of(
        "missing-value",
        "5% of the holdout at one value amid the others that no member has",
        _STANDARD,
        mixture((0.95, _STANDARD), (0.05, _value(0.5))),
    ),
    law_of(
        "nearly-separated",
        "97% of the members at one value, the others and all the holdout at another",
        coin(0.97),
        coin(0.0),
    ),
    law_of(
        "half-tied",
        "half of all at one value, the others normal, members 0.5 s.d. higher",
        _half_tied(0.5),
        _half_tied(0.0),
    ),
    law_of(
        "even-odds",
        "members as likely as holdout at prior 0.1 wherever there are any: 0 to 1",
        _UNIT,
        mixture((1 / 9, _UNIT), (8 / 9, _NEXT_UNIT)),
    ),
    law_of(
        "drift",
        "normal scores that rise along the records, those of members by 1, of the others by 0.5",
        drift(start=0.0, stop=1.0),
        drift(start=0.0, stop=0.5),
    ),
    # At an end of the range, and rounded.
    law_of(
        "softmax",
        "confidences near 1, members nearer; 3% of members and 2% of holdout exactly 1",
        mixture((0.97, beta(a=8.0, b=0.5)), (0.03, _SATURATED)),
        mixture((0.98, beta(a=5.0, b=0.5)), (0.02, _SATURATED)),
    ),
    replace(
        law_of(
            "float16-ties",
            "normal scores in half precision, members 0.5 s.d. higher",
            rounded(base=normal(mean=0.5), values=_HALF_PRECISION),
            rounded(base=_STANDARD, values=_HALF_PRECISION),
        ),
        # Tens of thousands of values are no alphabet that anybody knows beforehand.
        discrete=False,
    ),
    law_of(
        "ties-shift",
        "normal scores rounded to halves, members 0.5 s.d. higher",
        _halves(0.5),
        _halves(0.0),
    ),
    # Groups, and what the papers have.
    overall("subgroup-leak", "a leak in a tenth of the records alone", MINORITY),
    overall(
        "mace-corrupted",
        "outliers, a tenth of the records, are memorised (after Liu et al. 2020, 9.3)",
        CORRUPTED,
    ),
    "humphries",
    "yeom-regression",
    "colluding",
)


def _catalogued(one: Law | str) -> Iterable[Law]:
    if isinstance(one, Law):
        return (one,)
    family = family_by_prefix(one)
    return (family.make(*values) for values in family.examples)


def family_by_prefix(prefix: str) -> Family[Law]:
    """Return the family of laws whose names begin so."""
    return next(family for family in LAW_FAMILIES if family.prefix == prefix)


LAWS: Final[Mapping[str, Law]] = MappingProxyType(
    {found.name: found for one in _CATALOGUE for found in _catalogued(one)}
)


def gaussian_plane(mu: float) -> VectorLaw:
    """Return two normal scores, members higher in both.

    Args:
        mu: distance of the two centres, in standard deviations.
    """

    def draw(rng: np.random.Generator, member: Bools) -> Floats:
        centre = member * (mu / math.sqrt(2))
        return np.stack([rng.standard_normal(member.size) + centre for _ in range(2)], axis=1)

    return _vectors(
        f"plane-gauss-{mu:g}",
        f"two normal numbers, members {mu:g} s.d. apart",
        (normal(mean=mu), normal()),
        draw,
        lambda edges: (_gaussian(mu / np.sqrt(2), edges), _gaussian(0.0, edges)),
    )


def xor(advantage: float) -> VectorLaw:
    """Return normal scores whose signs agree more often in members: alone, each tells nothing.

    Args:
        advantage: of the best attacker at prior 0.5, in (0, 1].
    """
    chances = (1 + advantage) / 2, (1 - advantage) / 2

    def draw(rng: np.random.Generator, member: Bools) -> Floats:
        first = rng.standard_normal(member.size)
        second = np.abs(rng.standard_normal(member.size))
        agree = rng.random(member.size) < np.where(member, *chances)
        return np.stack([first, np.copysign(second, np.where(agree, first, -first))], axis=1)

    def masses(edges: Edges) -> BothMasses:
        first, second = (_normal_halves(one) for one in edges)
        same = np.outer(first[0], second[0]) + np.outer(first[1], second[1])
        apart = np.outer(first[0], second[1]) + np.outer(first[1], second[0])
        members, holdout = (2 * (agree * same + (1 - agree) * apart) for agree in chances)
        return members, holdout

    share = 50 + 50 * advantage
    text = f"signs that agree in {share:g}% of members and differ in as many others"
    name = f"plane-xor-{advantage:g}"
    return _vectors(name, text, tuple(map(coin, chances)), draw, masses)


def _cube(width: int, mu: float) -> VectorLaw:
    """Return normal numbers, of which one is higher in members."""

    def draw(rng: np.random.Generator, member: Bools) -> Floats:
        drawn = rng.standard_normal((member.size, width))
        drawn[:, width // 2] += mu * member
        return drawn

    def masses(edges: Edges) -> BothMasses | None:
        # Only the square is cut into cells, and nothing tells its members from others.
        square = len(edges) == width == 2  # noqa: PLR2004
        return (_gaussian(0.0, edges), _gaussian(0.0, edges)) if square else None

    name = f"cube-{width}-{mu:g}" if mu else f"null-cube-{width}"
    shift = f"members {mu:g} higher in one" if mu else "no leak"
    text = f"{width} normal numbers, {shift}"
    return _vectors(name, text, (normal(mean=mu), normal()), draw, masses, width)


def _vectors(
    name: str,
    text: str,
    best: tuple[Part, ...],
    draw: DrawVectors,
    masses: Callable[[Edges], BothMasses | None],
    width: int = 2,
) -> VectorLaw:
    """Return a law of vectors, of which a number with the laws ``best`` tells all."""
    members, holdout = (mixture((1.0, one)) for one in best)
    return VectorLaw(
        name=name,
        description=text,
        discrete=False,
        members=members,
        holdout=holdout,
        width=width,
        draw=draw,
        masses=masses,
    )


def _gaussian(centre: float, edges: Edges) -> Floats:
    first, second = (np.diff(normal(centre).cdf(one), prepend=0.0, append=1.0) for one in edges)
    return np.outer(first, second)


def _normal_halves(edges: Floats) -> tuple[Floats, Floats]:
    """Return the normal mass of each cell below and above 0."""
    below = np.diff(normal().cdf(np.minimum(edges, 0.0)), prepend=0.0, append=0.5)
    above = np.diff(normal().cdf(np.maximum(edges, 0.0)), prepend=0.5, append=1.0)
    return below, above


VECTOR_LAWS: Final[Mapping[str, VectorLaw]] = {
    one.name: one
    for one in (
        *(_cube(2, 0.0), gaussian_plane(1.0), xor(0.3)),
        *(_cube(10, 1.0), _cube(100, 0.0), _cube(100, 1.0)),
    )
}


def law(name: str) -> Law:
    """Return the law of this name, or the member of a family that the name describes.

    Raises:
        UsageError: ``unknown_scenario``, with the nearest names, or ``scenario_parameter``.
    """
    found = LAWS.get(name) or VECTOR_LAWS.get(name)
    if found is not None:
        return found
    family = family_of(name, LAW_FAMILIES)
    if family is None:
        raise unknown(name, tuple(LAWS))
    return family.make(*family.parse(name))
