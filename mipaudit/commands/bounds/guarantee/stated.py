"""The guarantee that a caller states: from keywords to a checked trade-off curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from mipaudit.maths.privacy.approximate import ApproximateDP
from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)
from mipaudit.options.plain_values import number, require, whole, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mipaudit.commands.bounds.guarantee.readings import Kind, Neighbours
    from mipaudit.maths.privacy.tradeoff import TradeOff

FAMILIES: Final = (
    "epsilon",
    "mu",
    "rho",
    "noise_sd",
    "scale",
    "geometric_scale",
    "randomized_response",
    "dp_sgd",
    "compose",
    "counting_queries",
)
_LARGEST: Final = 1e6
# Whole numbers up to here are exact as floats.
_LARGEST_WHOLE: Final = 10**15
_SMALLEST_CATEGORIES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A guarantee as stated.

    Attributes:
        kind: what sort.
        parameters: its numbers, by name.
        curve: its trade-off curve, for the neighbours that it is stated for.
        adjacency: these neighbours; None where the caller must say and did not.
        by_substitution: the curve for a substitution, where it is known better than as a
            removal and an addition.
    """

    kind: Kind
    parameters: dict[str, float]
    curve: TradeOff
    adjacency: Neighbours | None
    by_substitution: TradeOff | None = None


def stated(keywords: Mapping[str, object], *, delta: float, adjacency: Neighbours | None) -> Stated:
    """Return the one guarantee among ``keywords``.

    Args:
        keywords: :data:`FAMILIES`, ``sensitivity`` and ``categories``; None where not given.
        delta: in [0, 1], for an epsilon.
        adjacency: the neighbours that it is stated for.

    Raises:
        UsageError: a number is out of its range, or has no meaning beside another.
        MissingExtraError: an accountant is needed and not installed.
    """
    family = family_of(keywords)
    require(
        keywords.get("sensitivity") is None or family in _SENSITIVE,
        "sensitivity",
        "A sensitivity belongs to a noise scale: --noise-sd, --scale or --geometric-scale.",
    )
    require(
        keywords.get("categories") is None or family == "randomized_response",
        "categories",
        "The number of categories belongs to --randomized-response.",
    )
    if family == "epsilon":
        return _epsilon(keywords, delta, adjacency)
    return _STATED[family](keywords, adjacency)


def family_of(keywords: Mapping[str, object]) -> str:
    """Return the one family that is given; the noise of counting queries is part of them."""
    given = [name for name in FAMILIES if is_given(keywords.get(name))]
    if "counting_queries" in given:
        given = [name for name in given if name != "noise_sd"]
    options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
    require(
        len(given) == 1,
        "one_guarantee",
        f"One guarantee at a time: {options} state different ones.",
        "Keep one of them; several releases together are stated with --compose.",
    )
    return given[0]


def is_given(value: object) -> bool:
    """Tell whether a keyword was given: an empty sequence is as good as none."""
    # Not by comparison: a number of numpy's compares with a sequence one by one.
    return value is not None and not (isinstance(value, (tuple, list)) and not value)


def _epsilon(keywords: Mapping[str, object], delta: float, adjacency: Neighbours | None) -> Stated:
    epsilon = _within("epsilon", keywords["epsilon"], lowest=0.0)
    return Stated(
        kind="approximate-dp",
        parameters={"epsilon": epsilon, "delta": delta},
        curve=ApproximateDP(epsilon=epsilon, delta=delta),
        adjacency=adjacency,
    )


def _mu(keywords: Mapping[str, object], adjacency: Neighbours | None) -> Stated:
    mu = _within("mu", keywords["mu"], lowest=0.0)
    return Stated(
        kind="gaussian-dp", parameters={"mu": mu}, curve=GaussianDP(mu=mu), adjacency=adjacency
    )


def _rho(keywords: Mapping[str, object], adjacency: Neighbours | None) -> Stated:
    from mipaudit.maths.privacy.concentrated import ZeroConcentrated

    rho = _within("rho", keywords["rho"], lowest=0.0)
    return Stated(
        kind="zero-concentrated-dp",
        parameters={"rho": rho},
        curve=ZeroConcentrated(rho=rho),
        adjacency=adjacency,
    )


def _noise(
    option: str, kind: Kind, curve: Callable[[float], TradeOff]
) -> Callable[[Mapping[str, object], Neighbours | None], Stated]:
    """Return the reader of additive noise whose curve depends on sensitivity / scale."""

    def read(keywords: Mapping[str, object], adjacency: Neighbours | None) -> Stated:
        scale = _within(option, keywords[option], above=0.0)
        sensitivity = _sensitivity(keywords)
        return Stated(
            kind=kind,
            parameters={option: scale, "sensitivity": sensitivity},
            curve=curve(_ratio(sensitivity, scale)),
            adjacency=adjacency,
        )

    return read


def _geometric(keywords: Mapping[str, object], adjacency: Neighbours | None) -> Stated:
    scale = _within("geometric_scale", keywords["geometric_scale"], above=0.0)
    sensitivity = _sensitivity(keywords)
    require(
        sensitivity == int(sensitivity) and sensitivity <= _LARGEST_WHOLE,
        "sensitivity",
        "The sensitivity of a geometric mechanism must be a whole number, at most 1e15: what it "
        "protects is one.",
    )
    _ratio(sensitivity, scale)
    return Stated(
        kind="geometric-noise",
        parameters={"geometric_scale": scale, "sensitivity": sensitivity},
        curve=GeometricMechanism(scale=scale, sensitivity=int(sensitivity)),
        adjacency=adjacency,
    )


def _randomized_response(keywords: Mapping[str, object], adjacency: Neighbours | None) -> Stated:
    accepted = "The probability of the true answer must be at least 0 and at most 1."
    truth = number("randomized_response", keywords["randomized_response"], accepted)
    require(0 <= truth <= 1, "randomized_response", accepted)
    given = keywords.get("categories")
    categories = _SMALLEST_CATEGORIES if given is None else whole("categories", given)
    require(
        _SMALLEST_CATEGORIES <= categories <= _LARGEST_WHOLE,
        "categories",
        "The number of categories must be at least 2 and at most 1e15.",
    )
    require(
        adjacency != "add-remove",
        "adjacency",
        "Randomized response hides which answer a person gave, not that one was given.",
        "Leave --adjacency out, or say substitution.",
    )
    return Stated(
        kind="randomized-response",
        parameters={"truth": truth, "categories": categories},
        curve=RandomizedResponse(truth=truth, categories=categories),
        adjacency="substitution",
    )


def _counting_queries(keywords: Mapping[str, object], adjacency: Neighbours | None) -> Stated:
    sensitivity = counting_sensitivity(keywords)
    require(
        keywords["noise_sd"] is not None,
        "noise_sd",
        "Counting queries need the standard deviation of their noise: --noise-sd.",
        "Or give a target, such as --advantage 0.1, and the noise is found.",
    )
    noise_sd = _within("noise_sd", keywords["noise_sd"], above=0.0)
    require_no_adjacency(adjacency)
    queries, records = _counts(keywords)
    return Stated(
        kind="counting-queries",
        parameters={"queries": queries, "records": records, "noise_sd": noise_sd},
        curve=GaussianDP(mu=_ratio(sensitivity, noise_sd)),
        adjacency="substitution",
    )


def _dp_sgd(keywords: Mapping[str, object], adjacency: Neighbours | None) -> Stated:
    numbers = cast("Mapping[str, float]", keywords["dp_sgd"])
    return _accounted("dp-sgd", (("dp-sgd", numbers),), dict(numbers), adjacency)


def _compose(keywords: Mapping[str, object], adjacency: Neighbours | None) -> Stated:
    parts = tuple(cast("Sequence[tuple[str, Mapping[str, float]]]", keywords["compose"]))
    return _accounted("composition", parts, {"parts": len(parts)}, adjacency)


def _accounted(
    kind: Kind,
    parts: tuple[tuple[str, Mapping[str, float]], ...],
    parameters: dict[str, float],
    adjacency: Neighbours | None,
) -> Stated:
    from mipaudit.commands.bounds.guarantee.accounted import accounted_curves, composition_of

    neighbours, curve, by_substitution = accounted_curves(
        composition_of(parts, adjacency), adjacency
    )
    return Stated(
        kind=kind,
        parameters=parameters,
        curve=curve,
        adjacency=neighbours,
        by_substitution=by_substitution,
    )


def require_no_adjacency(adjacency: Neighbours | None) -> None:
    """Refuse a choice of neighbours beside counting queries.

    Raises:
        UsageError: one was made.
    """
    require(
        adjacency is None,
        "adjacency",
        "The averages of --counting-queries are over a fixed number of records: "
        "substituting a record moves them as far as blanking it.",
        "Leave --adjacency out.",
    )


def counting_sensitivity(keywords: Mapping[str, object]) -> float:
    """Return how far one record can move the k averages together: sqrt(k) / n."""
    queries, records = _counts(keywords)
    return math.sqrt(queries) / records


def _counts(keywords: Mapping[str, object]) -> tuple[int, int]:
    given = dict(keywords["counting_queries"])  # type: ignore[call-overload]
    require(
        set(given) == {"k", "n"},
        "counting_queries",
        "Counting queries are given as k=QUERIES,n=RECORDS.",
    )
    queries, records = whole_number("k", given["k"]), whole_number("n", given["n"])
    require(queries >= 1 and records >= 1, "counting_queries", "Both k and n must be at least 1.")
    return queries, records


def _sensitivity(keywords: Mapping[str, object]) -> float:
    given = keywords.get("sensitivity")
    return 1.0 if given is None else _within("sensitivity", given, above=0.0)


def _ratio(sensitivity: float, scale: float) -> float:
    ratio = sensitivity / scale
    require(
        ratio <= _LARGEST,
        "sensitivity",
        f"The sensitivity must be at most {_LARGEST:g} times the noise: less hides nothing.",
    )
    return ratio


def _within(
    code: str, value: object, *, lowest: float = -math.inf, above: float = -math.inf
) -> float:
    edge = f"above {above:g}" if math.isinf(lowest) else f"at least {lowest:g}"
    upper = math.inf if code in _SCALES else _LARGEST
    accepted = f"{edge} and " + ("finite" if code in _SCALES else f"at most {upper:g}")
    message = f"{code} must be {accepted}."
    found = number(code, value, message)
    require(lowest <= found <= upper and above < found < math.inf, code, message)
    return found


_SCALES: Final = frozenset({"noise_sd", "scale", "geometric_scale", "sensitivity"})
_SENSITIVE: Final = frozenset({"noise_sd", "scale", "geometric_scale"})
_STATED: Final[dict[str, Callable[[Mapping[str, object], Neighbours | None], Stated]]] = {
    "mu": _mu,
    "rho": _rho,
    "noise_sd": _noise("noise_sd", "gaussian-noise", lambda x: GaussianDP(mu=x)),
    "scale": _noise("scale", "laplace-noise", lambda x: LaplaceMechanism(shift=x)),
    "geometric_scale": _geometric,
    "randomized_response": _randomized_response,
    "dp_sgd": _dp_sgd,
    "compose": _compose,
    "counting_queries": _counting_queries,
}
