"""The best of several tuned runs: what publishing it guarantees, and what other ways would."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

from mipaudit.commands.bounds.readings import Stated, part
from mipaudit.maths.privacy.concentrated import RenyiDP
from mipaudit.maths.privacy.renyi import Drawn, accounted, no_such_run

if TYPE_CHECKING:
    from mipaudit.commands.bounds.options import BoundsOptions
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
    found = Stated("tuned-runs", {"best_of": float(runs)}, curve, asked.adjacency, renyi=limits)
    if asked.family not in _RELATIVE:
        return found
    if asked.adjacency == "substitution":
        return found._replace(curve=two, by_substitution=two, renyi=())
    return found._replace(adjacency="add-remove", by_substitution=two)


def ways(asked: BoundsOptions, delta: float) -> tuple[Tuned, ...]:
    """Return one run, and every way to come by the number of runs, at a delta in [0, 1]."""
    one = _one_run(asked)
    steps = 2 if asked.family in _RELATIVE and asked.adjacency == "substitution" else 1

    def way(runs: int, drawn: Drawn) -> Tuned:
        curve = RenyiDP(limits=accounted(one, runs, drawn), steps=steps)
        epsilon = curve.epsilon_at(delta)
        return Tuned(
            runs=runs,
            drawn=drawn,
            asked=(runs, drawn) == (asked.best_of, asked.drawn),
            epsilon=epsilon if math.isfinite(epsilon) else None,
            advantage=curve.profile(0.0),
        )

    return way(1, "fixed"), *(way(asked.best_of or 1, law) for law in get_args(Drawn))


def _one_run(asked: BoundsOptions) -> Composition:
    from mipaudit.maths.privacy.composition import Composition, GaussianPart, LaplacePart

    given: Any = getattr(asked, asked.family)
    parts: tuple[Part, ...] = ()
    match asked.family:
        case "dp_sgd":
            parts = (part("dp-sgd", given, None),)
        case "compose":
            parts = tuple(part(kind, numbers, None) for kind, numbers in given)
        case "mu" if given > 0:
            parts = (GaussianPart(noise_multiplier=1 / given),)
        case "noise_sd":
            parts = (GaussianPart(noise_multiplier=given / asked.moved),)
        case "scale":
            parts = (LaplacePart(noise_multiplier=given / asked.moved),)
        case _:
            raise no_such_run()
    return Composition(parts=parts)
