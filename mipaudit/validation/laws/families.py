"""Laws that differ in numbers: mechanisms at any epsilon, shifts of any size."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.laws.law import Law
from mipaudit.validation.laws.mixture import (
    Discrete,
    Mixture,
    Part,
    atoms,
    half_normal,
    laplace,
    mixture,
    normal,
    steps,
)
from mipaudit.validation.truth import Family, ScenarioParameter, filled, short

EPSILON: Final = ScenarioParameter("EPS", 0.01, 30, None)
MU: Final = ScenarioParameter("MU", 0.01, 20, None)
_VALUES: Final = ScenarioParameter("K", 2, 65_536, 1)
# Beyond so many steps of a geometric noise its mass is below e^-40.
_STEPS: Final = 40.0
_LEAST_REACH: Final = 60
# Log-losses of a model that knows a record's group, and of one that learnt another.
_KNOWN: Final = steps(masses=(1.0,), start=0.0, stop=0.1)
_UNKNOWN: Final = steps(masses=(1.0,), start=2.5, stop=9.0)


def law_of(name: str, description: str, members: Part | Mixture, holdout: Part | Mixture) -> Law:
    """Return a law; its alphabet counts as known if it consists of atoms."""
    p, q = mixed(members), mixed(holdout)
    discrete = all(isinstance(part, Discrete) for part in (*p.parts, *q.parts))
    return Law(name=name, description=description, discrete=discrete, members=p, holdout=q)


def mixed(law: Part | Mixture) -> Mixture:
    """Return a part as a mixture of one."""
    return law if isinstance(law, Mixture) else mixture((1.0, law))


def cells(masses: NDArray[np.float64]) -> Discrete:
    """Return atoms at 0, 1, 2, ... with masses in these proportions."""
    return atoms(np.arange(len(masses), dtype=np.float64), masses / masses.sum())


def coin(mass: float) -> Discrete:
    """Return an atom of this mass at 1, and the rest at 0."""
    return cells(np.array([1 - mass, mass]))


def scattered_order(size: int) -> NDArray[np.intp]:
    """Return the numbers below ``size``, scattered by a fixed rule: no interval collects them."""
    return np.argsort((np.arange(size) * 0.6180339887498949) % 1.0)


def scattered_signs(size: int) -> NDArray[np.float64]:
    """Return as many signs of each kind, scattered: no interval collects them."""
    order = scattered_order(size)
    signs = np.ones(size)
    signs[order[::2]] = -1.0
    return signs


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
