"""What noise leaves of a distance: the inverse of ``scale_for_distance``, which commands need."""

import math


def gap_left(mechanism, ratio):
    """Return the most that TV can be where D is ``ratio`` times the scale, in [0, 1]."""
    match mechanism:
        case "laplace":
            return -math.expm1(-ratio / 2)
        case "norm-exponential":
            return math.tanh(ratio / 2)
        case "gaussian":
            return math.erf(ratio / 2 / math.sqrt(2))
