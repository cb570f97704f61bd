"""What the MACE figures share: a trained GAN, the queries that attack it, and their estimates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.reproductions.models.guessing import (
    accuracy_advantage,
    histogram_advantage,
    shuffled_advantage,
    top_rates,
)
from mipaudit.reproductions.models.network import (
    Network,
    Training,
    adam,
    gradients,
    layers,
    make_network,
    outputs,
    private_sum,
    signals,
)
from mipaudit.reproductions.report import Curve

if TYPE_CHECKING:
    from mipaudit.reproductions.reproduction import Array, Bench

SIDE: Final = 8
_PIXELS: Final = SIDE * SIDE
_KINDS: Final = 10
_LATENT: Final = 16
_BATCH: Final = 100
_RATE: Final = 0.001
_SYNTHETIC: Final = 2_000
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gan:
    """A trained pair of networks, as it is after some epochs.

    Attributes:
        epoch: after which it was stored.
        discriminator: pictures to one number, high for those of the training set.
        synthetic: (2000, 64) generated pictures.
    """

    epoch: int
    discriminator: Network
    synthetic: Array

    def scores(self, pictures: Array) -> Array:
        """Return the discriminator's scores, shape (n,)."""
        return np.asarray(outputs(self.discriminator, pictures)[:, 0])

    def closeness(self, pictures: Array) -> Array:
        """Return minus the distance to the nearest synthetic picture, shape (n,)."""
        squares = (pictures**2).sum(axis=1)[:, None] + (self.synthetic**2).sum(axis=1)
        gaps = squares - 2 * pictures @ self.synthetic.T
        return np.asarray(-np.sqrt(np.maximum(gaps.min(axis=1), 0.0)))


def draw_pictures(rng: np.random.Generator, size: int) -> Array:
    """Return (size, 64) pictures in [-1, 1]: ten shapes, shifted, with noise."""
    shapes = _shapes()
    kinds = rng.integers(_KINDS, size=size)
    blends = rng.uniform(0.6, 1.0, size=(size, 1))
    pictures = blends * shapes[kinds] + rng.normal(scale=0.35, size=(size, _PIXELS))
    return np.asarray(np.tanh(pictures))


@lru_cache(maxsize=1)
def _shapes() -> Array:
    """Return ten smooth shapes, always the same."""
    rng = np.random.default_rng(1)
    places = np.arange(SIDE)
    kernel = np.exp(-((places[:, None] - places) ** 2) / 4)
    noise = rng.normal(size=(_KINDS, SIDE, SIDE))
    smooth = np.einsum("ij,kjl,ml->kim", kernel, noise, kernel).reshape(_KINDS, _PIXELS)
    return np.asarray(1.2 * smooth / np.abs(smooth).max(axis=1, keepdims=True))


def train_gan(
    members: Array,
    epochs: Sequence[int],
    rng: np.random.Generator,
    *,
    noise: float = 0.0,
    advance: Callable[[float], None] | None = None,
) -> list[Gan]:
    """Train a GAN with the Jensen-Shannon loss, and return it as it is after some epochs.

    Args:
        members: (n, 64), the training set.
        epochs: when to store it, increasing.
        rng: for everything.
        noise: noise multiplier of the discriminator's steps on members; 0 for none.
        advance: told the share of the epochs that is done.
    """
    generator = make_network((_LATENT, 64, _PIXELS), rng)
    discriminator = make_network((_PIXELS, 256, 1), rng)
    plan = Training(steps=1, batch=min(_BATCH, len(members)), rate=_RATE, noise=noise)
    stored = []
    for epoch in range(1, epochs[-1] + 1):
        for _ in range(max(1, len(members) // _BATCH)):
            _step(generator, discriminator, members, plan, rng)
        if epoch in epochs:
            stored.append(_stored(epoch, generator, discriminator, rng))
        if advance is not None:
            advance(epoch / epochs[-1])
    return stored


def _step(
    generator: Network,
    discriminator: Network,
    members: Array,
    plan: Training,
    rng: np.random.Generator,
) -> None:
    """Move the discriminator, on a batch of members and one of its fakes, and the generator."""
    chosen = np.flatnonzero(rng.random(len(members)) < plan.batch / len(members))
    real = layers(discriminator, members[chosen])
    back = signals(discriminator, real, _sigmoid(real[-1]) - 1)
    steps = private_sum(real, back, plan, rng)
    made = layers(generator, rng.normal(size=(plan.batch, _LATENT)))
    pictures = np.tanh(made[-1])
    fake = layers(discriminator, pictures)
    back = signals(discriminator, fake, _sigmoid(fake[-1]))
    against = gradients(fake, back, np.ones(plan.batch))
    total = [(one + other) / plan.batch for one, other in zip(steps, against, strict=True)]
    adam(discriminator, total, plan.rate)
    fake = layers(discriminator, pictures)
    back = signals(discriminator, fake, _sigmoid(fake[-1]) - 1)
    last = back[0] * (1 - pictures**2)
    step = gradients(made, signals(generator, made, last), np.full(plan.batch, 1 / plan.batch))
    adam(generator, step, plan.rate)


def _sigmoid(values: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(values / 2)))


def _stored(
    epoch: int, generator: Network, discriminator: Network, rng: np.random.Generator
) -> Gan:
    kept = Network(
        weights=[array.copy() for array in discriminator.weights],
        biases=[array.copy() for array in discriminator.biases],
    )
    synthetic = np.tanh(outputs(generator, rng.normal(size=(_SYNTHETIC, _LATENT))))
    return Gan(epoch=epoch, discriminator=kept, synthetic=synthetic)


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


def plug_in_risks(members: Array, holdout: Array, bins: int = 100) -> Array:
    """Return each member's |f| at p = 1/2 from equal-width bins, shape (n,)."""
    low = min(members.min(), holdout.min())
    high = max(members.max(), holdout.max())
    width = (high - low) or 1.0
    own, other = (_places(side, low, width, bins) for side in (members, holdout))
    first = np.bincount(own, minlength=bins) / len(members)
    second = np.bincount(other, minlength=bins) / len(holdout)
    total = np.where(first + second > 0, first + second, 1.0)
    return np.asarray((np.abs(first - second) / total)[own])


def _places(scores: Array, low: float, width: float, bins: int) -> NDArray[np.intp]:
    return np.minimum((bins * (scores - low) / width).astype(np.intp), bins - 1)
