"""The catalogue of laws: where intervals for leakage have been seen to fail."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import UsageError
from mipaudit.scenarios.density import Beta, Cauchy, Laplace, LogNormal, Normal, Pareto, Steps
from mipaudit.scenarios.law import Law
from mipaudit.scenarios.mixture import Mixture, mixture
from mipaudit.scenarios.part import Atoms, Discrete, Rounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mipaudit.scenarios.part import Part

_STANDARD: Final = Normal()


def _law(name: str, description: str, members: Part | Mixture, holdout: Part | Mixture) -> Law:
    p, q = _mixed(members), _mixed(holdout)
    discrete = all(isinstance(part, Discrete) for part in (*p.parts, *q.parts))
    return Law(name=name, description=description, discrete=discrete, members=p, holdout=q)


def _mixed(law: Part | Mixture) -> Mixture:
    return law if isinstance(law, Mixture) else mixture((1.0, law))


def _cells(masses: NDArray[np.float64]) -> Atoms:
    return Atoms(values=np.arange(len(masses), dtype=np.float64), masses=masses / masses.sum())


def _coin(mass: float) -> Atoms:
    return _cells(np.array([1 - mass, mass]))


def _zipf(size: int) -> NDArray[np.float64]:
    return 1.0 / np.arange(1, size + 1)


def _signs(size: int) -> NDArray[np.float64]:
    # As many of each, scattered by a fixed rule so that no interval collects them.
    order = np.argsort((np.arange(size) * 0.6180339887498949) % 1.0)
    signs = np.ones(size)
    signs[order[::2]] = -1.0
    return signs


def _two_sided_geometric(epsilon: float, centre: int, reach: int = 60) -> Atoms:
    values = np.arange(-reach, reach + 2, dtype=np.float64)
    masses = np.exp(-epsilon * np.abs(values - centre))
    return Atoms(values=values, masses=masses / masses.sum())


def _half_precision(limit: float) -> NDArray[np.float64]:
    every = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float64)
    return np.unique(every[np.abs(every) <= limit])


def _three_modes(outer: float) -> Mixture:
    parts = [Normal(mean=mean, sd=0.5) for mean in (-3.0, 0.0, 3.0)]
    return mixture(*zip((outer, 1 - 2 * outer, outer), parts, strict=True))


def _infinite(mass: float) -> Mixture:
    infinity = Atoms(values=np.array([np.inf]), masses=np.array([1.0]))
    return mixture((1 - mass, _STANDARD), (mass, infinity))


def _null_laws() -> Iterator[Law]:
    yield _law("null-gaussian", "no leak, normal scores", _STANDARD, _STANDARD)
    for size in (100, 1000):
        cells = _cells(np.ones(size))
        yield _law(f"null-discrete-{size}", f"no leak, {size} equally likely values", cells, cells)
    zipf = _cells(_zipf(1000))
    yield _law("null-zipf-1000", "no leak, 1000 values with masses as 1/rank", zipf, zipf)
    ties = Rounded(base=_STANDARD, values=np.arange(-8.0, 8.5, 0.5))
    yield _law("null-ties", "no leak, normal scores rounded to halves", ties, ties)
    one = _cells(np.ones(1))
    yield _law("constant", "every score is the same", one, one)


def _smooth_laws() -> Iterator[Law]:
    for mu in (0.25, 1.0, 2.0):
        text = f"normal scores, members {mu:g} s.d. higher"
        yield _law(f"gauss-shift-{mu:g}", text, Normal(mean=mu), _STANDARD)
    for ratio in (1.5, 3.0):
        text = f"normal scores about 0, holdout {ratio:g} times as wide"
        yield _law(f"gauss-scale-{ratio:g}", text, _STANDARD, Normal(sd=ratio))
    yield _law("cauchy-shift", "Cauchy scores, members 1 higher", Cauchy(centre=1.0), Cauchy())
    yield _law(
        "pareto-shift",
        "Pareto scores of index 1.5, members 0.2 higher",
        Pareto(index=1.5, shift=0.2),
        Pareto(index=1.5),
    )
    yield _law(
        "lognormal-scale",
        "log-normal scores of log s.d. 2, members 3 times as large",
        LogNormal(log_mean=math.log(3), log_sd=2.0),
        LogNormal(log_sd=2.0),
    )
    teeth = 1 + 0.5 * np.where(np.arange(64) % 2 == 0, 1.0, -1.0)
    yield _law(
        "comb-64",
        "64 teeth: members three times as often on even ones, holdout on odd ones",
        Steps(masses=tuple(teeth / 64)),
        Steps(masses=tuple(teeth[::-1] / 64)),
    )
    yield _law("multimodal", "three modes, members more in the outer", *_modes())
    yield _law("separated", "every member above every holdout record", *_separated())


def _modes() -> tuple[Mixture, Mixture]:
    return _three_modes(0.4), _three_modes(0.3)


def _separated() -> tuple[Part, Part]:
    return Steps(masses=(1.0,), start=1.0, stop=2.0), Steps(masses=(1.0,))


def _mechanism_laws() -> Iterator[Law]:
    for eps in (0.5, 1.0, 4.0):
        members, holdout = Laplace(centre=1.0, scale=1 / eps), Laplace(scale=1 / eps)
        yield _law(f"laplace-{eps:g}", f"Laplace mechanism, epsilon {eps:g}", members, holdout)
    members_count, holdout_count = (_two_sided_geometric(1.0, centre) for centre in (1, 0))
    yield _law("geometric-1", "geometric mechanism, epsilon 1", members_count, holdout_count)
    truthful = 1 / (1 + math.exp(-1.0))
    text = "randomized response, epsilon 1"
    yield _law("randomized-response-1", text, _coin(truthful), _coin(1 - truthful))
    yield _law("two-valued", "a rare flag: 10% of members, 1% of holdout", _coin(0.1), _coin(0.01))


def _leak_laws() -> Iterator[Law]:
    spike = Atoms(values=np.array([0.5]), masses=np.array([1.0]))
    yield _law(
        "leaked-atoms",
        "1% of members at one value amid the others that no holdout record has",
        mixture((0.99, _STANDARD), (0.01, spike)),
        _STANDARD,
    )
    yield _law(
        "leaked-shift",
        "1% of members 4 s.d. higher",
        mixture((0.99, _STANDARD), (0.01, Normal(mean=4.0))),
        _STANDARD,
    )
    scattered = 1 + 0.4 * _signs(1000)
    yield _law(
        "multinomial-1000",
        "1000 values; members 40% more often on a scattered half, less on the other",
        _cells(scattered),
        _cells(np.ones(1000)),
    )
    zipf = _zipf(1000)
    text = "1000 values with masses as 1/rank; members 30% more or less, scattered"
    yield _law("zipf-leak-1000", text, _cells(zipf * (1 + 0.3 * _signs(1000))), _cells(zipf))
    text = "5% of members and 1% of holdout infinite, the others alike"
    yield _law("infinite-scores", text, _infinite(0.05), _infinite(0.01))


def _boundary_laws() -> Iterator[Law]:
    saturated = Atoms(values=np.array([1.0]), masses=np.array([1.0]))
    yield _law(
        "softmax",
        "confidences near 1, members nearer; 3% of members and 2% of holdout exactly 1",
        mixture((0.97, Beta(a=8.0, b=0.5)), (0.03, saturated)),
        mixture((0.98, Beta(a=5.0, b=0.5)), (0.02, saturated)),
    )
    half = _half_precision(12.0)
    yield Law(
        name="float16-ties",
        description="normal scores in half precision, members 0.5 s.d. higher",
        # Tens of thousands of values are no alphabet that anybody knows beforehand.
        discrete=False,
        members=_mixed(Rounded(base=Normal(mean=0.5), values=half)),
        holdout=_mixed(Rounded(base=_STANDARD, values=half)),
    )
    grid = np.arange(-8.0, 9.0, 0.5)
    yield _law(
        "ties-shift",
        "normal scores rounded to halves, members 0.5 s.d. higher",
        Rounded(base=Normal(mean=0.5), values=grid),
        Rounded(base=_STANDARD, values=grid),
    )


def _catalogue() -> Mapping[str, Law]:
    groups = (_null_laws, _smooth_laws, _mechanism_laws, _leak_laws, _boundary_laws)
    return MappingProxyType({found.name: found for group in groups for found in group()})


LAWS: Final = _catalogue()


def law(name: str) -> Law:
    """Return the law of this name.

    Raises:
        UsageError: ``unknown_scenario``, with the nearest names.
    """
    found = LAWS.get(name)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(name, LAWS, n=3) or list(LAWS)
        hint = f"Try {', '.join(near)}."
        raise UsageError("unknown_scenario", "There is no scenario of that name.", hint=hint)
    return found
