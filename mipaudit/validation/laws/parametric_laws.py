"""Laws that differ in numbers: mechanisms at any epsilon, shifts of any size."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.laws.law import Law
from mipaudit.validation.laws.mixture import (
    Atoms,
    Discrete,
    HalfNormal,
    Laplace,
    Mixture,
    Normal,
    Part,
    Steps,
    mixture,
)
from mipaudit.validation.truth import Family, ScenarioParameter, short

EPSILON: Final = ScenarioParameter(name="EPS", lowest=0.01, highest=30, step=None)
MU: Final = ScenarioParameter(name="MU", lowest=0.01, highest=20, step=None)
_RATIO: Final = ScenarioParameter(name="RATIO", lowest=1.01, highest=100, step=None)
_VALUES: Final = ScenarioParameter(name="K", lowest=2, highest=65_536, step=1)
_TEETH: Final = ScenarioParameter(name="TEETH", lowest=2, highest=4096, step=2)
# Beyond so many steps of a geometric noise its mass is below e^-40.
_STEPS: Final = 40.0
_LEAST_REACH: Final = 60
# Log-losses of a model that knows a record's group, and of one that learnt another.
_KNOWN: Final = Steps(masses=(1.0,), start=0.0, stop=0.1)
_UNKNOWN: Final = Steps(masses=(1.0,), start=2.5, stop=9.0)


def law_of(name: str, description: str, members: Part | Mixture, holdout: Part | Mixture) -> Law:
    """Return a law; its alphabet counts as known if it consists of atoms."""
    p, q = mixed(members), mixed(holdout)
    discrete = all(isinstance(part, Discrete) for part in (*p.parts, *q.parts))
    return Law(name=name, description=description, discrete=discrete, members=p, holdout=q)


def mixed(law: Part | Mixture) -> Mixture:
    """Return a part as a mixture of one."""
    return law if isinstance(law, Mixture) else mixture((1.0, law))


def cells(masses: NDArray[np.float64]) -> Atoms:
    """Return atoms at 0, 1, 2, ... with masses in these proportions."""
    return Atoms(values=np.arange(len(masses), dtype=np.float64), masses=masses / masses.sum())


def coin(mass: float) -> Atoms:
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


def _null_discrete(size: float) -> Law:
    alike = cells(np.ones(int(size)))
    text = f"no leak, {short(size)} equally likely values"
    return law_of(f"null-discrete-{short(size)}", text, alike, alike)


def _gauss_shift(mu: float) -> Law:
    text = f"normal scores, members {short(mu)} s.d. higher"
    return law_of(f"gauss-shift-{short(mu)}", text, Normal(mean=mu), Normal())


def _gauss_scale(ratio: float) -> Law:
    text = f"normal scores about 0, holdout {short(ratio)} times as wide"
    return law_of(f"gauss-scale-{short(ratio)}", text, Normal(), Normal(sd=ratio))


def _comb(teeth: float) -> Law:
    masses = (1 + 0.5 * np.where(np.arange(int(teeth)) % 2 == 0, 1.0, -1.0)) / teeth
    return law_of(
        f"comb-{short(teeth)}",
        f"{short(teeth)} teeth: members three times as often on even ones, holdout on odd ones",
        Steps(masses=tuple(masses)),
        Steps(masses=tuple(masses[::-1])),
    )


def _laplace(epsilon: float) -> Law:
    members, holdout = Laplace(centre=1.0, scale=1 / epsilon), Laplace(scale=1 / epsilon)
    text = f"Laplace mechanism, epsilon {short(epsilon)}"
    return law_of(f"laplace-{short(epsilon)}", text, members, holdout)


def _geometric(epsilon: float) -> Law:
    members, holdout = (_two_sided_geometric(epsilon, centre) for centre in (1, 0))
    text = f"geometric mechanism, epsilon {short(epsilon)}"
    return law_of(f"geometric-{short(epsilon)}", text, members, holdout)


def _two_sided_geometric(epsilon: float, centre: int) -> Atoms:
    reach = max(_LEAST_REACH, math.ceil(_STEPS / epsilon))
    values = np.arange(-reach, reach + 2, dtype=np.float64)
    masses = np.exp(-epsilon * np.abs(values - centre))
    return Atoms(values=values, masses=masses / masses.sum())


def _randomized_response(epsilon: float) -> Law:
    text = f"randomized response, epsilon {short(epsilon)}"
    truth = truthful(epsilon)
    return law_of(f"randomized-response-{short(epsilon)}", text, coin(truth), coin(1 - truth))


def _multinomial(size: float) -> Law:
    return law_of(
        f"multinomial-{short(size)}",
        f"{short(size)} values; members 40% more often on a scattered half, less on the other",
        cells(1 + 0.4 * scattered_signs(int(size))),
        cells(np.ones(int(size))),
    )


def _humphries(groups: float) -> Law:
    return law_of(
        f"humphries-{short(groups)}",
        f"log-losses where members are all of one of {short(groups)} groups (Humphries et al. "
        "2023, 5.3)",
        _KNOWN,
        mixture((1 / groups, _KNOWN), (1 - 1 / groups, _UNKNOWN)),
    )


def _yeom_regression(member_sd: float, holdout_sd: float) -> Law:
    return law_of(
        f"yeom-regression-{short(member_sd)}-{short(holdout_sd)}",
        f"absolute errors of a regression, s.d. {short(member_sd)} and {short(holdout_sd)} "
        "(Yeom et al. 2018, Theorem 3)",
        HalfNormal(sd=member_sd),
        HalfNormal(sd=holdout_sd),
    )


def _colluding(bits: float, keys: float) -> Law:
    count = int(keys)
    match = 0.5 ** int(bits)
    chances = [
        math.comb(count, hits) * match**hits * (1 - match) ** (count - hits)
        for hits in range(count + 1)
    ]
    values = np.arange(count + 1, dtype=np.float64)
    return law_of(
        f"colluding-{short(bits)}-{short(keys)}",
        f"answers of {short(bits)} bits that match under {short(keys)} secret keys (Yeom et al. "
        "2018, Theorem 4)",
        Atoms(values=np.array([float(count)]), masses=np.ones(1)),
        Atoms(values=values, masses=np.array(chances) / math.fsum(chances)),
    )


def _counting_queries(queries: float, records: float, noise_sd: float) -> Law:
    sd = math.sqrt(queries) * noise_sd
    return law_of(
        f"counting-queries-{short(queries)}-{short(records)}-{short(noise_sd)}",
        f"sums of {short(queries)} averages over {short(records)} records, noise of s.d. "
        f"{short(noise_sd)} on each (Tramer, Theorem 2)",
        Normal(mean=queries / records, sd=sd),
        Normal(sd=sd),
    )


def _deviation(name: str) -> ScenarioParameter:
    return ScenarioParameter(name=name, lowest=1e-6, highest=1e6, step=None)


LAW_FAMILIES: Final[tuple[Family[Law], ...]] = (
    Family(
        prefix="null-discrete",
        parameters=(_VALUES,),
        make=_null_discrete,
        examples=((100,), (1000,)),
        summary="no leak, K equally likely values",
    ),
    Family(
        prefix="gauss-shift",
        parameters=(MU,),
        make=_gauss_shift,
        examples=((0.25,), (1,), (2,), (0.05,)),
        summary="normal scores, members MU s.d. higher: the Gaussian mechanism at MU",
    ),
    Family(
        prefix="gauss-scale",
        parameters=(_RATIO,),
        make=_gauss_scale,
        examples=((1.5,), (3,)),
        summary="normal scores about 0, holdout RATIO times as wide",
    ),
    Family(
        prefix="comb",
        parameters=(_TEETH,),
        make=_comb,
        examples=((64,), (1024,)),
        summary="TEETH teeth: members three times as often on even ones, holdout on odd ones",
    ),
    Family(
        prefix="laplace",
        parameters=(EPSILON,),
        make=_laplace,
        examples=((0.5,), (1,), (4,)),
        summary="Laplace mechanism at epsilon EPS",
    ),
    Family(
        prefix="geometric",
        parameters=(EPSILON,),
        make=_geometric,
        examples=((1,),),
        summary="geometric mechanism at epsilon EPS",
    ),
    Family(
        prefix="randomized-response",
        parameters=(EPSILON,),
        make=_randomized_response,
        examples=((1,),),
        summary="randomized response at epsilon EPS",
    ),
    Family(
        prefix="multinomial",
        parameters=(ScenarioParameter(name="K", lowest=2, highest=65_536, step=2),),
        make=_multinomial,
        examples=((1000,),),
        summary="K values; members 40% more often on a scattered half, less on the other",
    ),
    Family(
        prefix="humphries",
        parameters=(ScenarioParameter(name="M", lowest=2, highest=100_000, step=1),),
        make=_humphries,
        examples=((20,),),
        summary="log-losses where members are all of one of M groups (Humphries et al. 2023, 5.3)",
    ),
    Family(
        prefix="yeom-regression",
        parameters=(_deviation("SD_MEMBERS"), _deviation("SD_HOLDOUT")),
        make=_yeom_regression,
        examples=((1, 1.5),),
        summary="absolute errors of a regression (Yeom et al. 2018, Theorem 3)",
    ),
    Family(
        prefix="colluding",
        parameters=(
            ScenarioParameter(name="BITS", lowest=1, highest=32, step=1),
            ScenarioParameter(name="KEYS", lowest=1, highest=64, step=1),
        ),
        make=_colluding,
        examples=((1, 3),),
        summary="answers of BITS bits that match under KEYS secret keys (Yeom et al. 2018, "
        "Theorem 4)",
    ),
    Family(
        prefix="counting-queries",
        parameters=(
            ScenarioParameter(name="QUERIES", lowest=1, highest=1e9, step=1),
            ScenarioParameter(name="RECORDS", lowest=1, highest=1e12, step=1),
            _deviation("SD"),
        ),
        make=_counting_queries,
        examples=((100, 1000, 0.01),),
        summary="sums of QUERIES averages over RECORDS records, noise of s.d. SD on each (Tramer, "
        "Theorem 2)",
    ),
)
