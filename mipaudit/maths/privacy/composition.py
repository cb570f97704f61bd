"""Releases about the same records, as they are stated: noise, sampling, how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from mipaudit.errors import UsageError

Adjacency = Literal["add-remove", "substitution"]
MOST_STEPS: Final = 10**7
LEAST_NOISE: Final = 0.01
MOST_NOISE: Final = 1e4
# Below it the floats of the accountant hide what a batch gives away, and its limits are none.
LEAST_SAMPLING: Final = 1e-9
# e to twice this power is still a float.
LARGEST_EPSILON: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DpSgd:
    """DP-SGD: Poisson-sampled batches, clipped gradients, Gaussian noise.

    Attributes:
        noise_multiplier: standard deviation of the noise / clipping norm, in [0.01, 10^4].
        q: probability of each record to be in a batch, in [1e-9, 1].
        steps: whole number of batches, in [1, 10^7].
    """

    noise_multiplier: float
    q: float
    steps: int

    def __post_init__(self) -> None:
        """Refuse what is out of range.

        Raises:
            UsageError: ``bad_noise_multiplier``, ``bad_sampling``, ``bad_count``.
        """
        _check_noise(self.noise_multiplier)
        if not LEAST_SAMPLING <= self.q <= 1:
            raise UsageError(
                "bad_sampling", f"The sampling probability q must be from {LEAST_SAMPLING:g} to 1."
            )
        _check_count(self.steps, "The number of steps")


@dataclass(frozen=True, slots=True, kw_only=True)
class _NoisePart:
    noise_multiplier: float
    count: int = 1

    def __post_init__(self) -> None:
        """Refuse what is out of range; raises UsageError."""
        _check_noise(self.noise_multiplier)
        _check_count(self.count)


class GaussianPart(_NoisePart):
    """Gaussian noise on a release of bounded Euclidean sensitivity.

    Attributes:
        noise_multiplier: standard deviation / the sensitivity to adding or removing a
            record, in [0.01, 10^4].
        count: how many such releases, in [1, 10^7].
    """


class LaplacePart(_NoisePart):
    """Laplace noise on one number of bounded sensitivity.

    Attributes:
        noise_multiplier: scale / the sensitivity to adding or removing a record, in
            [0.01, 10^4].
        count: how many such releases, in [1, 10^7].
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximatePart:
    """A release of which only (epsilon, delta)-differential privacy is known.

    Attributes:
        epsilon: in [0, 300].
        delta: in [0, 1).
        count: how many such releases, in [1, 10^7].
        adjacency: the neighbours that the guarantee is stated for.
    """

    epsilon: float
    delta: float = 0.0
    count: int = 1
    adjacency: Adjacency = "add-remove"

    def __post_init__(self) -> None:
        """Refuse what is out of range.

        Raises:
            UsageError: ``bad_epsilon``, ``bad_delta``, ``bad_count``.
        """
        if not 0 <= self.epsilon <= LARGEST_EPSILON:
            raise UsageError(
                "bad_epsilon", f"epsilon in a composition must be from 0 to {LARGEST_EPSILON:g}."
            )
        if not 0 <= self.delta < 1:
            raise UsageError("bad_delta", "delta in a composition must be at least 0 and below 1.")
        _check_count(self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsePart:
    """Randomized response: protects which answer is true, so by substitution only.

    Attributes:
        truth: probability of the true answer, in (0, 1); else one of the others, all
            equally likely.
        categories: at least 2.
        count: how many such answers of the same record, in [1, 10^7].
    """

    truth: float
    categories: int = 2
    count: int = 1

    def __post_init__(self) -> None:
        """Refuse what is out of range.

        Raises:
            UsageError: ``bad_truth``, ``bad_categories``, ``bad_count``.
        """
        if not 0 < self.truth < 1:
            raise UsageError("bad_truth", "The truth probability must be above 0 and below 1.")
        if not (_is_whole(self.categories) and self.categories >= 2):  # noqa: PLR2004 - two answers
            raise UsageError("bad_categories", "categories must be a whole number of at least 2.")
        _check_count(self.count)


Part = DpSgd | GaussianPart | LaplacePart | ApproximatePart | ResponsePart


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """Releases about the same records, each seen by the attacker; at least one."""

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        """Refuse an empty composition; raises UsageError ``empty_composition``."""
        if not self.parts:
            raise UsageError("empty_composition", "A composition needs at least one part.")


def _check_noise(noise_multiplier: float) -> None:
    if not LEAST_NOISE <= noise_multiplier <= MOST_NOISE:
        raise UsageError(
            "bad_noise_multiplier",
            f"The noise multiplier must be from {LEAST_NOISE:g} to {MOST_NOISE:g}.",
        )


def _check_count(count: int, what: str = "The count") -> None:
    if not (_is_whole(count) and 1 <= count <= MOST_STEPS):
        raise UsageError("bad_count", f"{what} must be a whole number from 1 to {MOST_STEPS}.")


def _is_whole(count: object) -> bool:
    return isinstance(count, int) and not isinstance(count, bool)
