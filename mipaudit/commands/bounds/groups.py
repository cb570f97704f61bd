"""What states a guarantee, a target and an attack, and how their numbers are read."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from mipaudit.options import game
from mipaudit.options.declare import Options, free
from mipaudit.options.values import SHARE, Range, above, numbers, operating_point, swapped

_LARGEST: Final = 1e6
# Whole numbers up to here are exact as floats.
LARGEST_WHOLE: Final = 10**15
_LOSS: Final = Range(lambda x: 0 <= x <= _LARGEST, f"at least 0 and at most {_LARGEST:g}")
_SIZE: Final = above(0)
_RENYI: Final = "takes orders, each with its divergence after a colon, and commas between"
_MOST_RUNS: Final = 10_000
# What each part of a composition is made of.
_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "gaussian": ("noise_multiplier", "count"),
    "laplace": ("noise_multiplier", "count"),
    "approximate-dp": ("epsilon", "delta", "count"),
    "randomized-response": ("truth", "categories", "count"),
    "dp-sgd": ("noise_multiplier", "q", "steps"),
}
WHOLE: Final = frozenset({"count", "categories", "steps", "k", "n"})


def dp_sgd_numbers(given: object) -> Mapping[str, float]:
    """Return the numbers of DP-SGD by name.

    Args:
        given: a mapping, or its text.

    Raises:
        ValueError: a name is unknown, missing or repeated, or a value is no such number.
    """
    return _numbers(given, _PARTS["dp-sgd"])


def counts_by_name(given: object) -> Mapping[str, float]:
    """Return the k averages over n records, both whole numbers of at least 1; errors likewise."""
    found = _numbers(given, ("k", "n"))
    if min(found.values()) < 1:
        raise ValueError("takes k and n of at least 1")
    return {name: int(number) for name, number in found.items()}


def wanted_guarantee(given: object) -> Mapping[str, float]:
    """Return an epsilon and a delta by name; errors likewise."""
    found = _numbers(given, ("epsilon", "delta"))
    if not (_LOSS.holds(found["epsilon"]) and 0 < found["delta"] < 1):
        raise ValueError("takes an epsilon from 0 to 1e6 and a delta above 0 and below 1")
    return found


def renyi_limits(given: Any) -> tuple[tuple[float, float], ...]:  # noqa: ANN401 - typed, or of Python
    """Return pairs of an order and its limit, from ``"2:0.1,4:0.25"``, a mapping or pairs.

    Raises:
        ValueError: it is none of them, or a number is out of its range.
    """
    if isinstance(given, Mapping):
        given = given.items()
    parts = [one.split(":") for one in given.split(",")] if isinstance(given, str) else given
    try:
        found = tuple((float(order), float(limit)) for order, limit in parts)
    except (TypeError, ValueError):
        raise ValueError(_RENYI, "For example 2:0.1,4:0.25.") from None
    if not found or not all(1 < order <= _LARGEST and _LOSS.holds(e) for order, e in found):
        raise ValueError(
            "takes orders above 1 and at most 1e6, each with a divergence from 0 to 1e6"
        )
    return found


def shares(given: Any) -> tuple[float, ...]:  # noqa: ANN401 - typed, or of Python
    """Return one or more numbers; one alone may be a number, too.

    Raises:
        ValueError: one of them is no number.
    """
    return numbers((given,) if isinstance(given, (int, float)) else given)


def success_at(given: Any) -> tuple[float, float]:  # noqa: ANN401 - typed, or of Python
    """Return a success and a baseline from ``"0.2@0.1"``, or from a pair of numbers.

    Raises:
        ValueError: it is neither.
    """
    try:
        return operating_point(given)
    except ValueError:
        raise ValueError(
            "takes a success and a baseline, with @ between where typed",
            "For example 0.2@0.1: what is guessed right in 10% of cases without the record, in at "
            "most 20% with it.",
        ) from None


def parts_of(given: Any) -> tuple[tuple[str, Mapping[str, float]], ...]:  # noqa: ANN401 - typed, or of Python
    """Return the parts of a composition, each a kind and its numbers.

    Args:
        given: each ``KIND:name=number,...``, or a pair of the kind and a mapping.

    Raises:
        ValueError: an unknown kind, or its numbers are not those that it takes.
    """
    return tuple(map(_part, (given,) if isinstance(given, str) else given or ()))


def _part(given: Any) -> tuple[str, Mapping[str, float]]:  # noqa: ANN401
    kind: str
    numbers: Any
    match given.partition(":") if isinstance(given, str) else given:
        case (str(kind), str(), numbers) | (str(kind), numbers):
            pass
        case _:
            kind, numbers = "", None
    if kind not in _PARTS:
        raise ValueError(
            f"takes KIND:NAME=NUMBER,..., KIND being one of {', '.join(_PARTS)}",
            "For example gaussian:noise_multiplier=2,count=10.",
        )
    return kind, _numbers(numbers, _PARTS[kind], f"{kind}:")


def _numbers(given: Any, names: tuple[str, ...], kind: str = "") -> dict[str, float]:  # noqa: ANN401
    if isinstance(given, str):
        pairs = [part.partition("=")[::2] for part in given.split(",")]
    else:
        pairs = list(given.items()) if isinstance(given, Mapping) else []
    found = [(str(name).strip(), value) for name, value in pairs]
    if sorted(name for name, _ in found) != sorted(names):
        after = f" after {kind}" if kind else ""
        raise ValueError(
            f"takes exactly {', '.join(names)}{after}",
            f"Write {kind}{','.join(f'{name}=...' for name in names)}.",
        )
    return {name: _number(name, value) for name, value in found}


def _number(name: str, value: Any) -> float:  # noqa: ANN401
    try:
        found = value if isinstance(value, int) else float(value)
        whole = found == int(found)
    except (TypeError, ValueError):
        raise ValueError(f"takes a number for {name}") from None
    except OverflowError:
        found, whole = math.inf, False
    if name in WHOLE and not whole:
        raise ValueError(f"takes a whole number for {name}")
    return found


class Guarantee(Options):
    """Which guarantee is given."""

    GROUP = "What a guarantee allows"

    epsilon: float | None = free("Differential privacy.", metavar="E", within=_LOSS)
    delta: float | None = game.DELTA_OPTION.but(
        "The delta of an epsilon; by default 0, or 1e-5 where epsilon is derived."
    )
    mu: float | None = free("Gaussian differential privacy.", metavar="MU", within=_LOSS)
    rho: float | None = free("Zero-concentrated differential privacy.", metavar="RHO", within=_LOSS)
    rdp: Sequence[tuple[float, float]] | None = free(
        "Renyi differential privacy: the most at each order.",
        metavar="ORDER:E,...",
        read=renyi_limits,
        repeated=False,
    )
    noise_sd: float | None = free(
        "Gaussian noise: its standard deviation.", metavar="SD", within=_SIZE
    )
    scale: float | None = free("Laplace noise on one number: its scale.", metavar="B", within=_SIZE)
    geometric_scale: float | None = free(
        "Geometric noise on one whole number: its scale.", metavar="B", within=_SIZE
    )
    sensitivity: float | None = game.SENSITIVITY_OPTION
    randomized_response: float | None = free(
        "Probability of the true answer.", metavar="P", within=SHARE
    )
    categories: int | None = free(
        "How many answers there are; 2 by default.",
        metavar="K",
        within=Range(lambda n: 2 <= n <= LARGEST_WHOLE, "at least 2 and at most 1e15"),  # noqa: PLR2004 - two answers
        only_with="randomized_response",
    )
    dp_sgd: Mapping[str, float] | None = free(
        "DP-SGD with Poisson sampling.", metavar="noise_multiplier=,q=,steps=", read=dp_sgd_numbers
    )
    compose: Sequence[tuple[str, Mapping[str, float]]] = free(
        "A part of a composition; repeat. KIND: gaussian, laplace, approximate-dp, "
        "randomized-response, dp-sgd.",
        default=(),
        metavar="KIND:NAME=X,...",
        read=parts_of,
        repeated=True,
    )
    best_of: int | None = free(
        "Only the best of K such runs is published, as after tuning.",
        metavar="K",
        within=Range(lambda k: 1 <= k <= _MOST_RUNS, "at least 1 and at most 10,000"),
    )
    drawn: Literal["fixed", "poisson", "geometric", "logarithmic"] = free(
        "How the number of runs came about: K by choice, or drawn beforehand with mean K.",
        default="fixed",
        only_with="best_of",
    )
    counting_queries: Mapping[str, float] | None = free(
        "Averages of 0/1 values: k of them over n records, with `noise_sd` on each.",
        metavar="k=,n=",
        read=counts_by_name,
    )


class Target(Options):
    """What no attacker may exceed."""

    GROUP = "What a target needs"

    advantage: float | None = free("Target: the advantage is at most X.")
    accuracy: float | None = free("Target: the accuracy is at most X.")
    eta: float | None = game.ETA_OPTION.but("Target: accuracy at most X above guessing (MIP).")
    success: tuple[float, float] | None = free(
        "Target: what is guessed right in a share B of cases without the record, in at most S.",
        metavar="S@B",
        read=success_at,
        within=Range(
            lambda point: 0 < point[1] < 1 and point[1] <= point[0] <= 1,
            "a success from the baseline up to 1, the baseline above 0 and below 1",
        ),
    )
    gaussian_noise_for: Mapping[str, float] | None = free(
        "Target: this guarantee, by noise on what has the `sensitivity`.",
        metavar="epsilon=,delta=",
        read=wanted_guarantee,
    )
    tpr_at_fpr: tuple[float, float] | None = free(
        "Target: TPR at most T at FPR F.",
        metavar="T@F",
        read=operating_point,
        # Random guessing reaches TPR = FPR.
        within=Range(
            lambda point: 0 < point[1] < 1 and point[1] <= point[0] <= 1,
            "a TPR from the FPR up to 1, the FPR above 0 and below 1",
            meant=swapped,
        ),
    )


class Attack(Options):
    """What an attack did."""

    GROUP = "What an attack rules out"

    tpr: float | None = free("An attack's true-positive rate.", within=SHARE)
    fpr: float | None = free("An attack's false-positive rate.", within=SHARE)
    tp: int | None = game.TRUE_POSITIVES_OPTION
    fn: int | None = game.FALSE_NEGATIVES_OPTION
    fp: int | None = game.FALSE_POSITIVES_OPTION
    tn: int | None = game.TRUE_NEGATIVES_OPTION


class Answer(Options):
    """What is answered beside."""

    baseline: Sequence[float] = free(
        "How often something about a person is guessed right without their record: re-"
        "identification, an attribute, a reconstruction. Says how often with it.",
        default=(),
        metavar="B,B,...",
        read=shares,
        within=Range(lambda shares: all(0 <= b <= 1 for b in shares), "each from 0 to 1"),
    )
    recall_floor: float = free(
        "Precision is bounded at this recall or more.",
        default=0.01,
        metavar="R",
        within=Range(lambda r: 0 < r <= 1, "above 0 and at most 1"),
    )
    curves: bool = free("Add the points of the curves to the report.", default=False, flag=None)
