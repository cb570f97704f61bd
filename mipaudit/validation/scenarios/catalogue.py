"""Every scenario by name. A new one is a law or a small class, and a line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mipaudit.validation.laws.catalogue import CORRUPTED, LAWS, MINORITY, law
from mipaudit.validation.laws.families import LAW_FAMILIES, MU
from mipaudit.validation.laws.vector_law import GaussianPlane, Xor
from mipaudit.validation.scenarios.score_scenarios import (
    GroupScenario,
    ScoreScenario,
    ShiftScenario,
    canary_family,
    class_family,
    law_family,
)
from mipaudit.validation.scenarios.split_scenario import HalfMean, NearlyCancelling
from mipaudit.validation.truth import Family, ScenarioEntry, ScenarioParameter, family_of, unknown

if TYPE_CHECKING:
    from mipaudit.validation.scenarios.scenario import Scenario

NO_LEAK: Final = "No leak"
SHAPES: Final = "Leaks of many shapes"
RARE: Final = "Rare leaks"
TIES: Final = "Ties, edges and infinities"
MECHANISMS: Final = "Mechanisms of differential privacy"
VECTORS: Final = "Two numbers for a record"
UNEQUAL: Final = "Unequal classes, groups and features"
PAPERS: Final = "From the papers"
ONE_RUN: Final = "One run: canaries, each included by a fair coin"
SPLITS: Final = "Random splits, for noise --from"

# Under each heading, laws and families of laws.
_LAWS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        NO_LEAK: ("null-gaussian", "null-discrete", "null-zipf-1000", "null-ties", "constant"),
        SHAPES: (
            *("gauss-scale", "cauchy-shift", "pareto-shift", "lognormal-scale", "comb"),
            *("multimodal", "multinomial", "zipf-leak-1000", "separated"),
            *("cantor", "even-odds", "drift"),
        ),
        RARE: (
            *("leaked-atoms", "leaked-shift", "two-valued"),
            *("flagged-members", "half-flagged", "part-of-1000", "rare-tail-200"),
            *("rare-values", "missing-value", "nearly-separated"),
        ),
        TIES: ("softmax", "float16-ties", "ties-shift", "half-tied", "infinite-scores"),
        MECHANISMS: ("gauss-shift", "laplace", "geometric", "randomized-response"),
        PAPERS: ("yeom-regression", "colluding", "humphries", "counting-queries"),
    }
)
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

Entry = tuple[str, "Family[Scenario] | Scenario"]


@lru_cache(maxsize=1)
def _entries() -> tuple[Entry, ...]:
    """Return all scenarios and families, in the order of the list."""
    order = (NO_LEAK, SHAPES, RARE, TIES, MECHANISMS, VECTORS, UNEQUAL, PAPERS, ONE_RUN, SPLITS)
    found = [*_of_laws(), *_unequal(), *_of_classes(), *_canaries()]
    return tuple(sorted(found, key=lambda entry: order.index(entry[0])))


def _of_laws() -> Iterator[Entry]:
    families = {family.prefix for family in LAW_FAMILIES}
    for heading, names in _LAWS.items():
        for name in names:
            yield heading, law_family(name, heading) if name in families else _plain(name, heading)


def _plain(name: str, heading: str) -> ScoreScenario:
    found = law(name)
    return ScoreScenario(name=name, summary=found.description, heading=heading, law=found)


def _of_classes() -> Iterator[Entry]:
    """Yield the scenarios of classes that take one number."""
    yield (
        VECTORS,
        class_family(
            Xor,
            "xor2d",
            VECTORS,
            "advantage",
            ScenarioParameter("ADV", 0.01, 1, None),
            0.4,
            "signs that agree more often in members: together advantage ADV, alone none",
        ),
    )
    yield (
        VECTORS,
        class_family(
            GaussianPlane,
            "gauss2d",
            VECTORS,
            "mu",
            MU,
            1,
            "two normal scores, members MU s.d. away along the diagonal",
        ),
    )
    yield (
        UNEQUAL,
        class_family(
            ShiftScenario,
            "covariate-shift",
            UNEQUAL,
            "shift",
            ScenarioParameter("SD", 0.01, 3, None),
            0.5,
            "no leak, but one of five features is SD s.d. higher in members",
            (_BLIND,),
        ),
    )
    yield (
        SPLITS,
        class_family(
            NearlyCancelling,
            "izzo-prop9",
            SPLITS,
            "records",
            ScenarioParameter("N", 4, 20, 2),
            14,
            "1/sum of a random half of N records, one of which nearly cancels (Izzo et al. 2022, "
            "Proposition 9)",
            (_ONE_HALF,),
        ),
    )
    yield (
        SPLITS,
        class_family(
            HalfMean,
            "random-half-mean",
            SPLITS,
            "records",
            ScenarioParameter("N", 40, 2000, 2),
            1000,
            "mean of a random half of N normal records",
            (_QUANTILES,),
        ),
    )


def _unequal() -> Iterator[Entry]:
    yield (
        UNEQUAL,
        ScoreScenario(
            name="imbalanced",
            summary="100 members among 10,000 holdout records, members 1 s.d. higher",
            heading=UNEQUAL,
            law=law("gauss-shift-1"),
            n_members=100,
            n_holdout=10_000,
        ),
    )
    for name, groups, heading, notes in (
        ("subgroup-leak", MINORITY, UNEQUAL, ()),
        ("mace-corrupted", CORRUPTED, PAPERS, (_OUTLIERS,)),
    ):
        found = LAWS[name]
        yield (
            heading,
            GroupScenario(
                name=name,
                summary=found.description,
                heading=heading,
                notes=notes,
                law=found,
                groups=groups,
            ),
        )


def _canaries() -> Iterator[Entry]:
    for prefix, example in (("gauss-shift", 1.0), ("laplace", 1.0), ("randomized-response", 1.0)):
        yield ONE_RUN, canary_family(prefix, ONE_RUN, example=example)


def scenario(name: str) -> Scenario:
    """Return the scenario of this name, or the member of a family that the name describes.

    Raises:
        UsageError: ``unknown_scenario``, with the nearest names, or ``scenario_parameter``.
    """
    entries = [entry for _, entry in _entries()]
    for entry in entries:
        if not isinstance(entry, Family) and entry.name == name:
            return entry
    families = [entry for entry in entries if isinstance(entry, Family)]
    family = family_of(name, families)
    if family is None:
        raise unknown(name, scenario_names())
    return family.make(*family.parse(name))


def scenario_names() -> tuple[str, ...]:
    """Return the names of all scenarios that are listed, families by their examples."""
    return tuple(name for _, entry in _entries() for name in _names(entry))


def listing() -> tuple[ScenarioEntry, ...]:
    """Return the list of scenarios and families."""
    return tuple(_listed(heading, entry) for heading, entry in _entries())


def _names(entry: Family[Scenario] | Scenario) -> list[str]:
    return entry.names() if isinstance(entry, Family) else [entry.name]


def _listed(heading: str, entry: Family[Scenario] | Scenario) -> ScenarioEntry:
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
