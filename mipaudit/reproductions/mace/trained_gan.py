"""What the MACE figures share: one trained GAN, and the estimates by every query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.reproductions.mace.gan import Gan, draw_pictures, train_gan
from mipaudit.reproductions.models.guessing import (
    accuracy_advantage,
    histogram_advantage,
    shuffled_advantage,
    top_rates,
)
from mipaudit.reproductions.report import Curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.reproductions.reproduction import Array, Bench

SIMULATED_PICTURES: Final = (
    "Simulated 8 x 8 pictures (ten shapes, blurred, with noise) in place of MNIST, CIFAR-10 and "
    "skin-cancer MNIST; two-layer networks in numpy with the Jensen-Shannon loss in place of "
    "WGAN-GP, privGAN and DP-cGAN."
)
BIASED: Final = (
    "The estimator W_N on 100^d equal-width bins is biased upward: it is above 0 where there is "
    "nothing to learn, and the published band is about its own mean. The lines with shuffled "
    "memberships show how much."
)
_BATCH_SIZE: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trained:
    """A GAN at several epochs, and the pictures to query."""

    stages: tuple[Gan, ...]
    members: Array
    holdout: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """What the estimators say of one query.

    Attributes:
        histogram: W_N, 100 bins on each axis.
        shuffled: its mean where memberships are shuffled.
        kernel: U_N, for scores of one number.
        lower: any attacker, at least, with confidence 0.95.
        heuristic: Hayes et al.'s adversary, for scores of one number.
    """

    histogram: float
    shuffled: float
    kernel: float | None
    lower: float
    heuristic: float | None


def shared_gan(bench: Bench) -> Trained:
    """Return the GAN that several figures look at; it is trained once in a run."""
    return _trained(bench.seed, bench.quick)


@lru_cache(maxsize=2)
def _trained(seed: int, quick: bool) -> Trained:  # noqa: FBT001 - a key of the cache
    rng = np.random.default_rng([seed, 500])
    size = 200
    members, holdout = draw_pictures(rng, size), draw_pictures(rng, 9 * size)
    epochs = (50, 400) if quick else (50, 200, 400, 800, 1200, 1600)
    return Trained(stages=tuple(train_gan(members, epochs, rng)), members=members, holdout=holdout)


def estimates(
    bench: Bench, members: Array, holdout: Array, *, prior: float = 0.5, stream: int = 600
) -> Estimates:
    """Return every estimate for scores that are high for members, of shape (n,) or (n, d)."""
    limits = bench.audit(members, holdout, prior=prior)
    flat = members.ndim == 1
    heuristic = accuracy_advantage(*top_rates(members, holdout, prior), prior) if flat else None
    return Estimates(
        histogram=histogram_advantage(members, holdout, prior),
        shuffled=shuffled_advantage(members, holdout, bench.rng(stream), 10, prior),
        kernel=limits.kernel,
        lower=limits.lower,
        heuristic=heuristic,
    )


def standardized(*columns: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return several scores as one of several numbers, each in units of its own deviation."""
    pairs = []
    for members, holdout in columns:
        scale = float(np.concatenate([members, holdout]).std()) or 1.0
        pairs.append((members / scale, holdout / scale))
    return (
        np.column_stack([members for members, _ in pairs]),
        np.column_stack([holdout for _, holdout in pairs]),
    )


def over_epochs(
    label: str, stages: Sequence[Gan], values: Sequence[float], style: str = "line"
) -> Curve:
    """Return a curve over the epochs."""
    return Curve(
        label=label,
        x=tuple(float(stage.epoch) for stage in stages),
        y=tuple(values),
        style="dotted" if style == "dotted" else "dashed" if style == "dashed" else "line",
    )
