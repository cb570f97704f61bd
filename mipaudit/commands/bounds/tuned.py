"""The best of several tuned runs: what publishing it guarantees, and what other ways would."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from mipaudit.commands.bounds.options import BoundsOptions
from mipaudit.commands.bounds.readings import Stated, part
from mipaudit.maths.privacy.concentrated import RenyiDP
from mipaudit.maths.privacy.renyi import Drawn, accounted, no_such_run

if TYPE_CHECKING:
    from mipaudit.maths.privacy.composition import Composition, Part

_RELATIVE: Final = ("dp_sgd", "compose")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What is guaranteed for one way to come by the number of runs, for the same neighbours.

    Attributes:
        runs: how many, on average where the number is drawn.
        drawn: ``fixed``: a number that is chosen, with or without a look at results; every run
            counts as published. The others are laws from which it is drawn before the first run.
        asked: whether it is what was asked about.
        epsilon: the least at the report's delta; None if there is none.
        advantage: the most of any attacker, by one such step, at prior 1/2.
    """

    runs: int
    drawn: Drawn
    asked: bool
    epsilon: float | None
    advantage: float


def best_of(asked: BoundsOptions) -> Stated:
    """Return the guarantee of the best of several runs.

    A substitution is a removal and an addition where runs are stated for these.

    Raises:
        UsageError: ``best_of``: a run is no Gaussian noise, Laplace noise or DP-SGD.
        MissingExtraError: ``accounting_missing``: dp-accounting is not installed.
    """
    runs = asked.best_of or 1
    limits = accounted(_one_run(asked), runs, asked.drawn)
    curve, two = RenyiDP(limits=limits), RenyiDP(limits=limits, steps=2)
    found = {"best_of": float(runs)}
    if asked.family not in _RELATIVE:
        return Stated("tuned-runs", found, curve, asked.adjacency, renyi=limits)
    if asked.adjacency == "substitution":
        return Stated("tuned-runs", found, two, "substitution", two)
    return Stated("tuned-runs", found, curve, "add-remove", two, renyi=limits)


def ways(asked: BoundsOptions, delta: float) -> tuple[Tuned, ...]:
    """Return one run, and every way to come by the number of runs, at a delta in [0, 1]."""
    one = _one_run(asked)
    steps = 2 if asked.family in _RELATIVE and asked.adjacency == "substitution" else 1
    found = []
    for runs, drawn in ((1, "fixed"), *((asked.best_of or 1, law) for law in get_args(Drawn))):
        curve = RenyiDP(limits=accounted(one, runs, drawn), steps=steps)
        epsilon = curve.epsilon_at(delta)
        found.append(
            Tuned(
                runs=runs,
                drawn=drawn,
                asked=(runs, drawn) == (asked.best_of, asked.drawn),
                epsilon=epsilon if math.isfinite(epsilon) else None,
                advantage=curve.profile(0.0),
            )
        )
    return tuple(found)


def _one_run(asked: BoundsOptions) -> Composition:
    from mipaudit.maths.privacy.composition import Composition, GaussianPart, LaplacePart

    parts: tuple[Part, ...]
    match asked:
        case BoundsOptions(dp_sgd=dict(numbers)):
            parts = (part("dp-sgd", numbers, None),)
        case BoundsOptions(compose=(_, *_) as stated):
            parts = tuple(part(*one, None) for one in stated)
        case BoundsOptions(mu=float(mu)) if mu > 0:
            parts = (GaussianPart(noise_multiplier=1 / mu),)
        case BoundsOptions(noise_sd=float(sd)):
            parts = (GaussianPart(noise_multiplier=sd / asked.moved),)
        case BoundsOptions(scale=float(scale)):
            parts = (LaplacePart(noise_multiplier=scale / asked.moved),)
        case _:
            raise no_such_run()
    return Composition(parts=parts)
