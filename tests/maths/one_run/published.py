"""Right guesses of fair coins by the package's bound, and by the published one beside it."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from mipaudit.maths.bisection import crossing
from mipaudit.maths.one_run.p_value import pure_epsilon_one_run, sharp_bound, upper_tail


def sharp(canaries, guesses, correct, epsilon, delta):
    return sharp_bound(canaries * delta, guesses, correct, epsilon)


def published(canaries, guesses, correct, epsilon, delta):
    """Return B + 2 m delta max over i of P(v - i <= Bin < v) / i, at most 1.

    Theorem 5.2 of Steinke, Nasr and Jagielski (2023).
    """
    if correct == 0:
        return 1.0
    tail = upper_tail(correct, guesses, epsilon)
    if delta == 0:
        return tail

    def mass(width):
        return upper_tail(correct - width, guesses, epsilon) - tail

    # The mean of the terms below v rises up to the first that is not above it, as they
    # rise to a single peak and fall: so the widest useful window is found by halves.
    def falls(width):
        here = mass(width)
        return mass(width + 1) - here <= here / width

    widest = 1 + bisect_left(range(1, int(correct)), x=True, key=falls)
    return min(1.0, tail + 2 * canaries * delta * mass(widest) / widest)


BOUNDS = {"sharp": sharp, "published": published}


def one_run_p_value(*, canaries, guesses, correct, epsilon, delta, bound="sharp"):
    """Return a bound of P(at least ``correct`` right guesses), of numbers or arrays."""
    numbers = canaries, guesses, correct, epsilon, delta
    found = np.vectorize(BOUNDS[bound], otypes=[np.float64])(*numbers)
    return found if found.ndim else found.item()


def epsilon_one_run(*, canaries, guesses, correct, delta, alpha, bound="sharp"):
    """Return the least epsilon at ``delta`` that ``correct`` right guesses do not refute."""
    most = pure_epsilon_one_run(guesses=guesses, correct=correct, alpha=alpha)
    if most == 0:
        return 0.0
    found = crossing(
        lambda epsilon: BOUNDS[bound](canaries, guesses, correct, epsilon, delta) > alpha,
        start=most / 2,
        limit=most,
    )
    return min(found, most)
