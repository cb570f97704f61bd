"""The names of metrics: ``ppv``, ``fbeta:2``, ``cost:fp=1,fn=5``, ``custom:a11=1,b11=1,b10=1``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from mipaudit.errors import UsageError
from mipaudit.maths.metrics.metric import (
    Metric,
    MetricScaleError,
    MetricShapeError,
    Weights,
    make_metric,
)

LEAST_RECALL: Final = 0.01
_FORMS: Final = (
    "ppv, npv, tpr, tnr, am, accuracy, f1, fbeta:B, wa:w1,w2,w3,w4, cost:fp=C,fn=C, "
    "custom:a11=A,b0=B"
)
_WEIGHTS: Final = ("0", "11", "10", "01", "00")
_CUSTOM: Final = tuple(side + index for side in "ab" for index in _WEIGHTS)
_ONE: Final[Weights] = (1.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parsed:
    """A tidied name and its weights."""

    name: str
    a: Weights
    b: Weights


def parse_metric(text: str, *, prior: float, least: float = LEAST_RECALL) -> Metric:
    """Return the metric that a name stands for.

    Args:
        text: as in the module's first line; capitals and blanks do not matter.
        prior: p in (0, 1).
        least: the least recall (or specificity) of metrics that need one, in (0, 1).

    Raises:
        UsageError: ``metric``, with the forms that there are.
    """
    kind, _, rest = "".join(text.lower().split()).partition(":")
    plain = _PLAIN.get(kind)
    if plain is not None and not rest:
        parsed = _Parsed(name=kind, a=plain(prior)[0], b=plain(prior)[1])
    elif kind in _WITH_NUMBERS:
        parsed = _WITH_NUMBERS[kind](rest)
    else:
        raise _unknown(kind, takes_none=plain is not None)
    try:
        return make_metric(parsed.name, parsed.a, parsed.b, prior=prior, least=least)
    except MetricScaleError as error:
        raise UsageError(
            "metric",
            f"The metric '{parsed.name}' cannot be computed at this prior: {error}.",
            "Divide all weights by the largest of them.",
        ) from None
    except MetricShapeError as error:
        raise UsageError(
            "metric",
            f"The metric '{parsed.name}' has no best attacker: {error}.",
            "The denominator must be above 0 for every attacker, except one who calls "
            "nobody, or everybody, a member.",
        ) from None


def split_limit(text: str) -> tuple[str, float]:
    """Return the name and the limit of ``NAME=LIMIT``, such as ``ppv=0.6``.

    Raises:
        UsageError: ``max_metric``: no number after the last ``=``.
    """
    name, equals, limit = text.rpartition("=")
    value = _number(limit)
    if not equals or not name or value is None:
        raise UsageError(
            "max_metric",
            "A limit on a metric has the form NAME=NUMBER.",
            "For example ppv=0.6, fbeta:2=0.5 or cost:fp=1,fn=5=-0.4.",
        )
    return name, value


def _ratio(a: Weights, b: Weights) -> Callable[[float], tuple[Weights, Weights]]:
    return lambda _: (a, b)


def _f_weights(beta: float) -> tuple[Weights, Weights]:
    square = beta * beta
    return (0.0, 1 + square, 0.0, 0.0, 0.0), (0.0, 1 + square, 1.0, square, 0.0)


_PLAIN: Final[Mapping[str, Callable[[float], tuple[Weights, Weights]]]] = MappingProxyType(
    {
        "ppv": _ratio((0.0, 1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 1.0, 0.0, 0.0)),
        "npv": _ratio((0.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0, 1.0)),
        "tpr": _ratio((0.0, 1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 1.0, 0.0)),
        "tnr": _ratio((0.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.0, 1.0)),
        "am": lambda prior: ((0.0, 0.5 / prior, 0.0, 0.0, 0.5 / (1 - prior)), _ONE),
        "accuracy": _ratio((0.0, 1.0, 0.0, 0.0, 1.0), _ONE),
        "f1": _ratio(*_f_weights(1.0)),
    }
)


def _fbeta(rest: str) -> _Parsed:
    beta = _number(rest)
    if beta is None or beta <= 0 or not beta * beta:
        raise UsageError("metric", "fbeta takes one number above 0.", "For example fbeta:2.")
    a, b = _f_weights(beta)
    return _Parsed(name=f"fbeta:{_shortest(beta)}", a=a, b=b)


def _wa(rest: str) -> _Parsed:
    weights = [_number(part) for part in rest.split(",")]
    known = [weight for weight in weights if weight is not None and weight >= 0]
    if len(weights) != len(known) or len(known) != 4 or not any(known):  # noqa: PLR2004
        raise UsageError(
            "metric",
            "wa takes four numbers of at least 0: the weights of TP, TN, FP and FN.",
            "For example wa:2,2,1,1 is (2TP+2TN)/(2TP+2TN+FP+FN).",
        )
    tp, tn, fp, fn = known
    name = "wa:" + ",".join(map(_shortest, known))
    return _Parsed(name=name, a=(0.0, tp, 0.0, 0.0, tn), b=(0.0, tp, fp, fn, tn))


def _cost(rest: str) -> _Parsed:
    costs = _named(rest, ("fp", "fn"))
    if not costs or any(cost < 0 for cost in costs.values()) or not any(costs.values()):
        raise UsageError(
            "metric",
            "cost takes the costs of a false positive and of a false negative, each at least 0.",
            "For example cost:fp=1,fn=5. The value is minus the cost of a guess.",
        )
    fp, fn = costs.get("fp", 0.0), costs.get("fn", 0.0)
    name = f"cost:fp={_shortest(fp)},fn={_shortest(fn)}"
    return _Parsed(name=name, a=(0.0, 0.0, -fp, -fn, 0.0), b=_ONE)


def _custom(rest: str) -> _Parsed:
    given = _named(rest, _CUSTOM)
    if not any(key.startswith("a") for key in given):
        raise UsageError(
            "metric",
            f"custom takes weights by name: {', '.join(_CUSTOM)}.",
            "For example custom:a11=1,b11=1,b10=1 is TP/(TP+FP). Weights left out are 0; "
            "without any b the denominator is 1.",
        )
    a, b = (tuple(given.get(side + index, 0.0) for index in _WEIGHTS) for side in "ab")
    weights = ",".join(f"{key}={_shortest(given[key])}" for key in _CUSTOM if key in given)
    name = f"custom:{weights}"
    has_b = any(key.startswith("b") for key in given)
    return _Parsed(name=name, a=a, b=b if has_b else _ONE)  # type: ignore[arg-type]


_WITH_NUMBERS: Final[Mapping[str, Callable[[str], _Parsed]]] = MappingProxyType(
    {"fbeta": _fbeta, "wa": _wa, "cost": _cost, "custom": _custom}
)


def _named(rest: str, allowed: tuple[str, ...]) -> dict[str, float]:
    """Return ``key=number`` pairs; empty where any of them is wrong."""
    found: dict[str, float] = {}
    for part in rest.split(","):
        key, _, text = part.partition("=")
        value = _number(text)
        if key not in allowed or key in found or value is None:
            return {}
        found[key] = value
    return found


def _shortest(number: float) -> str:
    """Return the shortest text that is this number and no other: names tell metrics apart."""
    return repr(number).removesuffix(".0")


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _unknown(kind: str, *, takes_none: bool) -> UsageError:
    if takes_none:
        return UsageError("metric", f"The metric '{kind}' takes no numbers.", f"Write {kind}.")
    from difflib import get_close_matches

    other = {"precision": "ppv", "recall": "tpr", "sensitivity": "tpr", "specificity": "tnr"}
    near = [other[kind]] if kind in other else get_close_matches(kind, [*_PLAIN, *_WITH_NUMBERS])
    guess = f"Did you mean {near[0]}? " if near else ""
    return UsageError("metric", "There is no metric of that name.", f"{guess}Known: {_FORMS}.")
