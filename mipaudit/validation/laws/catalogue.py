"""The catalogue of laws, where intervals for leakage have been seen to fail, and groups of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.laws.families import (
    LAW_FAMILIES,
    cells,
    coin,
    law_of,
    scattered_order,
    scattered_signs,
)
from mipaudit.validation.laws.law import Law
from mipaudit.validation.laws.mixture import (
    Discrete,
    Mixture,
    atoms,
    beta,
    cauchy,
    drift,
    log_normal,
    mixture,
    normal,
    pareto,
    rounded,
    steps,
)
from mipaudit.validation.truth import family_of, unknown

_STANDARD: Final = normal()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgroup:
    """One group of records, equally frequent among members and holdout.

    Attributes:
        label: as the group column names it.
        share: of the records, in (0, 1); all shares sum to 1.
        law: of its scores.
    """

    label: str
    share: float
    law: Law


MINORITY: Final = (
    Subgroup(
        label="majority",
        share=0.9,
        law=law_of("majority", "no leak", normal(), normal()),
    ),
    Subgroup(
        label="minority",
        share=0.1,
        law=law_of("minority", "members 2 s.d. higher", normal(mean=2.0), normal()),
    ),
)


# Losses: an overfitted model's are lower for members, and outliers' are high unless learnt.
CORRUPTED: Final = (
    Subgroup(
        label="clean",
        share=0.9,
        law=law_of("clean", "a little overfitted", normal(mean=-0.2), normal()),
    ),
    Subgroup(
        label="corrupted",
        share=0.1,
        law=law_of("corrupted", "memorised", normal(mean=-1.0, sd=0.5), normal(mean=2.0)),
    ),
)


def overall(name: str, description: str, groups: Sequence[Subgroup]) -> Law:
    """Return the law of the scores when the groups are not told apart."""
    return law_of(
        name,
        description,
        _blend((group.share, group.law.members) for group in groups),
        _blend((group.share, group.law.holdout) for group in groups),
    )


def _blend(weighted: Iterable[tuple[float, Mixture]]) -> Mixture:
    parts = [
        (share * weight, part)
        for share, mixed in weighted
        for part, weight in zip(mixed.parts, mixed.weights, strict=True)
    ]
    return Mixture(
        parts=tuple(part for _, part in parts), weights=tuple(weight for weight, _ in parts)
    )


def _zipf(size: int) -> NDArray[np.float64]:
    return 1.0 / np.arange(1, size + 1)


def _half_precision(limit: float) -> NDArray[np.float64]:
    every = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float64)
    return np.unique(every[np.abs(every) <= limit])


def _three_modes(outer: float) -> Mixture:
    parts = [normal(mean=mean, sd=0.5) for mean in (-3.0, 0.0, 3.0)]
    return mixture(*zip((outer, 1 - 2 * outer, outer), parts, strict=True))


def _infinite(mass: float) -> Mixture:
    infinity = atoms(np.array([np.inf]), np.array([1.0]))
    return mixture((1 - mass, _STANDARD), (mass, infinity))


def _null_laws() -> Iterator[Law]:
    yield law_of("null-gaussian", "no leak, normal scores", _STANDARD, _STANDARD)
    yield from _examples("null-discrete")
    zipf = cells(_zipf(1000))
    yield law_of("null-zipf-1000", "no leak, 1000 values with masses as 1/rank", zipf, zipf)
    ties = rounded(base=_STANDARD, values=np.arange(-8.0, 8.5, 0.5))
    yield law_of("null-ties", "no leak, normal scores rounded to halves", ties, ties)
    one = cells(np.ones(1))
    yield law_of("constant", "every score is the same", one, one)


def _smooth_laws() -> Iterator[Law]:
    yield from _examples("gauss-shift", "gauss-scale")
    yield law_of("cauchy-shift", "Cauchy scores, members 1 higher", cauchy(centre=1.0), cauchy())
    yield law_of(
        "pareto-shift",
        "Pareto scores of index 1.5, members 0.2 higher",
        pareto(index=1.5, shift=0.2),
        pareto(index=1.5),
    )
    yield law_of(
        "lognormal-scale",
        "log-normal scores of log s.d. 2, members 3 times as large",
        log_normal(log_mean=math.log(3), log_sd=2.0),
        log_normal(log_sd=2.0),
    )
    yield from _examples("comb")
    text = "three modes, members more in the outer"
    yield law_of("multimodal", text, _three_modes(0.4), _three_modes(0.3))
    yield law_of(
        "separated",
        "every member above every holdout record",
        steps(masses=(1.0,), start=1.0, stop=2.0),
        steps(masses=(1.0,)),
    )


def _mechanism_laws() -> Iterator[Law]:
    yield from _examples("laplace", "geometric", "randomized-response")
    yield law_of("two-valued", "a rare flag: 10% of members, 1% of holdout", coin(0.1), coin(0.01))


def _leak_laws() -> Iterator[Law]:
    spike = atoms(np.array([0.5]), np.array([1.0]))
    yield law_of(
        "leaked-atoms",
        "1% of members at one value amid the others that no holdout record has",
        mixture((0.99, _STANDARD), (0.01, spike)),
        _STANDARD,
    )
    yield law_of(
        "leaked-shift",
        "1% of members 4 s.d. higher",
        mixture((0.99, _STANDARD), (0.01, normal(mean=4.0))),
        _STANDARD,
    )
    yield from _examples("multinomial")
    zipf = _zipf(1000)
    text = "1000 values with masses as 1/rank; members 30% more or less, scattered"
    scattered = cells(zipf * (1 + 0.3 * scattered_signs(1000)))
    yield law_of("zipf-leak-1000", text, scattered, cells(zipf))
    text = "5% of members and 1% of holdout infinite, the others alike"
    yield law_of("infinite-scores", text, _infinite(0.05), _infinite(0.01))


def _hard_laws() -> Iterator[Law]:
    """Yield laws on which limits that hold everywhere else were once wrong."""
    text = "3.68% of the members flagged and no holdout record: few rows make the AUC"
    yield law_of("flagged-members", text, coin(0.0368), coin(0.0))
    yield law_of(
        "half-flagged", "every member at one value, and half of the holdout", coin(1.0), coin(0.5)
    )
    text = "members on a scattered 38% of 1000 values, holdout on all"
    some = scattered_order(1000) < 380  # noqa: PLR2004 - the 38%
    yield law_of("part-of-1000", text, cells(some.astype(float)), cells(np.ones(1000)))
    text = "5 common values and a tail of 200 that 3% of the holdout have, and 61.2% of the members"
    yield law_of("rare-tail-200", text, _common_and_tail(0.612), _common_and_tail(0.03))


def _common_and_tail(tail: float) -> Discrete:
    return cells(np.concatenate([np.full(5, (1 - tail) / 5), np.full(200, tail / 200)]))


def _odd_laws() -> Iterator[Law]:
    """Yield laws on which what learns from few rows, or joins cells, sees least or errs most."""
    text = "512 values with masses of a Cantor set's kind: each of 9 digits tells a little"
    yield law_of("cantor", text, cells(_digits(0.6)), cells(_digits(0.4)))
    rare = np.append(np.full(900, 0.1 / 900), 0.9)
    text = "10% of the members at 900 values that no holdout record has, the others all at one"
    yield law_of("rare-values", text, cells(rare), cells((rare > 1 / 2).astype(float)))
    one = atoms(np.array([0.5]), np.array([1.0]))
    text = "5% of the holdout at one value amid the others that no member has"
    yield law_of("missing-value", text, _STANDARD, mixture((0.95, _STANDARD), (0.05, one)))
    text = "97% of the members at one value, the others and all the holdout at another"
    yield law_of("nearly-separated", text, coin(0.97), coin(0.0))
    text = "half of all at one value, the others normal, members 0.5 s.d. higher"
    tied = (mixture((0.5, one), (0.5, normal(mean=mean))) for mean in (0.5, 0.0))
    yield law_of("half-tied", text, *tied)
    text = "members as likely as holdout at prior 0.1 wherever there are any: 0 to 1"
    inside, outside = steps(masses=(1.0,)), steps(masses=(1.0,), start=1.0, stop=2.0)
    yield law_of("even-odds", text, inside, mixture((1 / 9, inside), (8 / 9, outside)))
    text = "normal scores that rise along the records, those of members by 1, of the others by 0.5"
    yield law_of("drift", text, drift(start=0.0, stop=1.0), drift(start=0.0, stop=0.5))


def _digits(mass: float) -> NDArray[np.float64]:
    """Return the masses of 9 binary digits that are 0 with this mass each."""
    found = np.ones(1)
    for _ in range(9):
        found = np.concatenate([found * mass, found * (1 - mass)])
    return found


def _boundary_laws() -> Iterator[Law]:
    saturated = atoms(np.array([1.0]), np.array([1.0]))
    yield law_of(
        "softmax",
        "confidences near 1, members nearer; 3% of members and 2% of holdout exactly 1",
        mixture((0.97, beta(a=8.0, b=0.5)), (0.03, saturated)),
        mixture((0.98, beta(a=5.0, b=0.5)), (0.02, saturated)),
    )
    half = _half_precision(12.0)
    yield Law(
        name="float16-ties",
        description="normal scores in half precision, members 0.5 s.d. higher",
        # Tens of thousands of values are no alphabet that anybody knows beforehand.
        discrete=False,
        members=mixture((1.0, rounded(base=normal(mean=0.5), values=half))),
        holdout=mixture((1.0, rounded(base=_STANDARD, values=half))),
    )
    grid = np.arange(-8.0, 9.0, 0.5)
    yield law_of(
        "ties-shift",
        "normal scores rounded to halves, members 0.5 s.d. higher",
        rounded(base=normal(mean=0.5), values=grid),
        rounded(base=_STANDARD, values=grid),
    )


def _group_laws() -> Iterator[Law]:
    yield overall("subgroup-leak", "a leak in a tenth of the records alone", MINORITY)
    text = "outliers, a tenth of the records, are memorised (after Liu et al. 2020, 9.3)"
    yield overall("mace-corrupted", text, CORRUPTED)


def _paper_laws() -> Iterator[Law]:
    yield from _examples("humphries", "yeom-regression", "colluding")


def _examples(*prefixes: str) -> Iterator[Law]:
    for family in LAW_FAMILIES:
        if family.prefix in prefixes:
            yield from (family.make(*values) for values in family.examples)


def _catalogue() -> Mapping[str, Law]:
    groups = (
        _null_laws,
        _smooth_laws,
        _mechanism_laws,
        _leak_laws,
        _hard_laws,
        _odd_laws,
        _boundary_laws,
        _group_laws,
        _paper_laws,
    )
    return MappingProxyType({found.name: found for group in groups for found in group()})


LAWS: Final = _catalogue()


def law(name: str) -> Law:
    """Return the law of this name, or the member of a family that the name describes.

    Raises:
        UsageError: ``unknown_scenario``, with the nearest names, or ``scenario_parameter``.
    """
    from mipaudit.validation.laws.vector_law import VECTOR_LAWS

    found = LAWS.get(name) or VECTOR_LAWS.get(name)
    if found is not None:
        return found
    family = family_of(name, LAW_FAMILIES)
    if family is None:
        raise unknown(name, tuple(LAWS))
    return family.make(*family.parse(name))
