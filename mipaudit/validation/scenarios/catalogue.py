"""Every scenario by name. A new one is a law or a function that makes it, and a line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mipaudit.validation.laws.catalogue import CORRUPTED, LAWS, MINORITY, law
from mipaudit.validation.laws.families import LAW_FAMILIES, MU
from mipaudit.validation.scenarios.score_scenarios import (
    grouped,
    scores,
    scores_of,
    shifted_features,
)
from mipaudit.validation.scenarios.split_scenario import half_mean, nearly_cancelling
from mipaudit.validation.scenarios.vector_scenarios import gaussian_plane, xor
from mipaudit.validation.truth import (
    Family,
    ScenarioEntry,
    ScenarioParameter,
    family_of,
    filled,
    unknown,
)

if TYPE_CHECKING:
    from mipaudit.validation.scenarios.split_scenario import Scenario

    Entry = Family[Scenario] | Scenario

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
                xor,
                ((0.4,),),
                "signs that agree more often in members: together advantage ADV, alone none",
            ),
            Family(
                "gauss2d",
                (MU,),
                gaussian_plane,
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
    laws = next(family for family in LAW_FAMILIES if family.prefix == prefix)
    notes = (_NOTES[prefix],) if prefix in _NOTES else ()

    def make(*values: float) -> Scenario:
        return replace(scores_of(laws, *values), notes=notes)

    return Family(prefix, laws.parameters, make, laws.examples, laws.summary)


def _canaries(prefix: str) -> Family[Scenario]:
    """Return one-run designs: the canaries' scores pass a mechanism, each on its own."""
    laws = next(family for family in LAW_FAMILIES if family.prefix == prefix)

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
