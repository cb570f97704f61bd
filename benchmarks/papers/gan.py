"""A small GAN on simulated pictures, and the queries that attack it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from network import Network, adam, gradients, layers, make_network, private_sum, signals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limits import Array


SIDE: Final = 8
_PIXELS: Final = SIDE * SIDE
_KINDS: Final = 10
_LATENT: Final = 16
_BATCH: Final = 100
_RATE: Final = 0.001
_SYNTHETIC: Final = 2_000


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
        return np.asarray(layers(self.discriminator, pictures)[-1][:, 0])

    def closeness(self, pictures: Array) -> Array:
        """Return minus the distance to the nearest synthetic picture, shape (n,)."""
        squares = (pictures**2).sum(axis=1)[:, None] + (self.synthetic**2).sum(axis=1)
        gaps = squares - 2 * pictures @ self.synthetic.T
        return np.asarray(-np.sqrt(np.maximum(gaps.min(axis=1), 0.0)))


def draw_pictures(rng: np.random.Generator, size: int) -> Array:
    """Return (size, 64) pictures in [-1, 1]: ten shapes, shifted, with noise."""
    kinds = rng.integers(_KINDS, size=size)
    blends = rng.uniform(0.6, 1.0, size=(size, 1))
    pictures = blends * _shapes()[kinds] + rng.normal(scale=0.35, size=(size, _PIXELS))
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
    members: Array, epochs: Sequence[int], rng: np.random.Generator, noise: float = 0.0
) -> list[Gan]:
    """Train a GAN with the Jensen-Shannon loss, and return it as it is after some epochs.

    Args:
        members: (n, 64), the training set.
        epochs: when to store it, increasing.
        rng: for everything.
        noise: noise multiplier of the discriminator's steps on members; 0 for none.
    """
    generator = make_network((_LATENT, 64, _PIXELS), rng)
    discriminator = make_network((_PIXELS, 256, 1), rng)
    stored = []
    for epoch in range(1, epochs[-1] + 1):
        for _ in range(max(1, len(members) // _BATCH)):
            _step(generator, discriminator, members, noise, rng)
        if epoch in epochs:
            kept = Network(
                weights=[array.copy() for array in discriminator.weights],
                biases=[array.copy() for array in discriminator.biases],
            )
            latent = rng.normal(size=(_SYNTHETIC, _LATENT))
            synthetic = np.tanh(layers(generator, latent)[-1])
            stored.append(Gan(epoch=epoch, discriminator=kept, synthetic=synthetic))
    return stored


def _step(
    generator: Network,
    discriminator: Network,
    members: Array,
    noise: float,
    rng: np.random.Generator,
) -> None:
    """Move the discriminator, on a batch of members and one of its fakes, and the generator."""
    batch = min(_BATCH, len(members))
    chosen = np.flatnonzero(rng.random(len(members)) < batch / len(members))
    real = layers(discriminator, members[chosen])
    back = signals(discriminator, real, _sigmoid(real[-1]) - 1)
    steps = private_sum(real, back, noise, rng)
    made = layers(generator, rng.normal(size=(batch, _LATENT)))
    pictures = np.tanh(made[-1])
    fake = layers(discriminator, pictures)
    back = signals(discriminator, fake, _sigmoid(fake[-1]))
    against = gradients(fake, back, np.ones(batch))
    total = [(one + other) / batch for one, other in zip(steps, against, strict=True)]
    adam(discriminator, total, _RATE)
    fake = layers(discriminator, pictures)
    back = signals(discriminator, fake, _sigmoid(fake[-1]) - 1)
    last = back[0] * (1 - pictures**2)
    step = gradients(made, signals(generator, made, last), np.full(batch, 1 / batch))
    adam(generator, step, _RATE)


def _sigmoid(values: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(values / 2)))


def plug_in_risks(members: Array, holdout: Array, bins: int = 100) -> Array:
    """Return each member's |f| at p = 1/2 from equal-width bins, shape (n,)."""
    low = min(members.min(), holdout.min())
    width = (max(members.max(), holdout.max()) - low) or 1.0
    own, other = (
        np.minimum((bins * (scores - low) / width).astype(np.intp), bins - 1)
        for scores in (members, holdout)
    )
    first = np.bincount(own, minlength=bins) / len(members)
    second = np.bincount(other, minlength=bins) / len(holdout)
    total = np.where(first + second > 0, first + second, 1.0)
    return np.asarray((np.abs(first - second) / total)[own])
