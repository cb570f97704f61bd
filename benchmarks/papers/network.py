"""A small network in numpy, with Adam, and DP-Adam that clips each record's gradient."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from limits import epsilon_of_dp_sgd, epsilon_of_mu

if TYPE_CHECKING:
    from limits import Array


@dataclass(slots=True, kw_only=True, eq=False)
class Network:
    """Layers of weights; ReLU between them, nothing after the last.

    Attributes:
        weights: (inputs, outputs) of each layer.
        biases: (outputs,) of each layer.
        steps: Adam steps taken.
        moments: Adam's two running means for each array.
    """

    weights: list[Array]
    biases: list[Array]
    steps: int = 0
    moments: list[tuple[Array, Array]] = field(default_factory=list)

    @property
    def arrays(self) -> list[Array]:
        """Return all that is learnt, weights and biases in turn."""
        return [array for pair in zip(self.weights, self.biases, strict=True) for array in pair]


def make_network(sizes: tuple[int, ...], rng: np.random.Generator) -> Network:
    """Return a network with random weights for layers of these sizes."""
    weights = [
        rng.normal(scale=np.sqrt(2 / start), size=(start, stop))
        for start, stop in itertools.pairwise(sizes)
    ]
    network = Network(weights=weights, biases=[np.zeros(size) for size in sizes[1:]])
    network.moments = [(np.zeros_like(a), np.zeros_like(a)) for a in network.arrays]
    return network


def layers(network: Network, inputs: Array) -> list[Array]:
    """Return the inputs, what each hidden layer gives, and the outputs."""
    found = [inputs]
    for weight, bias in zip(network.weights, network.biases, strict=True):
        if len(found) > 1:
            found[-1] = np.maximum(found[-1], 0.0)
        found.append(found[-1] @ weight + bias)
    return found


def signals(network: Network, found: list[Array], last: Array) -> list[Array]:
    """Return the loss's derivative by each layer's inputs; the first is by the data.

    Args:
        network: as it was when ``found`` was computed.
        found: what :func:`layers` gave.
        last: derivative of each record's loss by the outputs.
    """
    back = [last]
    for place in range(len(network.weights) - 1, -1, -1):
        before = back[0] @ network.weights[place].T
        back.insert(0, before if place == 0 else before * (found[place] > 0))
    return back


def gradient_norms(found: list[Array], back: list[Array]) -> Array:
    """Return the Euclidean norm of each record's gradient, without forming it."""
    squares = [
        (signal**2).sum(axis=1) * ((layer**2).sum(axis=1) + 1)
        for layer, signal in zip(found, back[1:], strict=False)
    ]
    return np.asarray(np.sqrt(np.sum(squares, axis=0)))


def gradients(found: list[Array], back: list[Array], weights: Array) -> list[Array]:
    """Return the weighted sums of the records' gradients, one array for each of the network's."""
    result = []
    for layer, signal in zip(found, back[1:], strict=False):
        weighted = signal * weights[:, None]
        result += [layer.T @ weighted, weighted.sum(axis=0)]
    return result


def private_sum(
    found: list[Array], back: list[Array], noise: float, rng: np.random.Generator
) -> list[Array]:
    """Return the sum of the gradients; where there is noise, each is clipped at 1 before."""
    if noise == 0:
        return gradients(found, back, np.ones(len(found[0])))
    norms = np.maximum(gradient_norms(found, back), 1e-8)
    summed = gradients(found, back, np.minimum(1.0, 1.0 / norms))
    return [step + rng.normal(scale=noise, size=step.shape) for step in summed]


def adam(network: Network, steps: list[Array], rate: float) -> None:
    """Move the network against the gradients."""
    network.steps += 1
    first, second = 0.9, 0.999
    for array, gradient, (mean, square) in zip(network.arrays, steps, network.moments, strict=True):
        mean[...] = first * mean + (1 - first) * gradient
        square[...] = second * square + (1 - second) * gradient**2
        scaled = np.sqrt(square / (1 - second**network.steps)) + 1e-8
        array[...] -= rate * mean / (1 - first**network.steps) / scaled


def train(
    network: Network,
    records: tuple[Array, Array],
    rng: np.random.Generator,
    *,
    steps: int,
    batch: int,
    rate: float,
    noise: float = 0.0,
) -> None:
    """Train on Poisson-sampled batches by the log-loss; with noise this is DP-SGD by Adam's steps.

    Args:
        network: is changed.
        records: inputs (n, d) and class numbers (n,).
        rng: for batches and noise.
        steps: how many batches.
        batch: expected records in one.
        rate: Adam's step.
        noise: noise multiplier; 0 neither clips nor adds noise.
    """
    inputs, labels = records
    share = min(1.0, batch / len(inputs))
    for _ in range(steps):
        chosen = np.flatnonzero(rng.random(len(inputs)) < share)
        found = layers(network, inputs[chosen])
        back = signals(network, found, class_signal(found[-1], labels[chosen]))
        summed = private_sum(found, back, noise, rng)
        moved = [
            step / batch + 2 * 1e-5 * array
            for step, array in zip(summed, network.arrays, strict=True)
        ]
        adam(network, moved, rate)


def softmax(scores: Array) -> Array:
    """Return probabilities, shape as given."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def class_signal(scores: Array, labels: Array) -> Array:
    """Return the derivative of the log-loss by the outputs; labels are class numbers."""
    found = softmax(scores)
    found[np.arange(len(found)), labels.astype(np.intp)] -= 1
    return found


def log_losses(network: Network, inputs: Array, labels: Array) -> Array:
    """Return each record's log-loss, shape (n,)."""
    scores = layers(network, inputs)[-1]
    top = scores.max(axis=1)
    total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return np.asarray(total - scores[np.arange(len(scores)), labels.astype(np.intp)])


@lru_cache(maxsize=64)
def noise_multiplier(epsilon: float, share: float, steps: int) -> float:
    """Return a noise multiplier whose epsilon is at most what is asked, and little less.

    The epsilon is by substitution of a record, as bounds on the advantage need it, at delta
    1e-5, by privacy loss distributions.
    """
    wanted, best = epsilon, math.inf
    for trial in range(50):
        noise = _by_central_limit(wanted, share, steps)
        found = epsilon_of_dp_sgd(noise, share, steps)
        if found <= epsilon:
            best = min(best, noise)
            if found >= 0.93 * epsilon or trial >= 6:  # noqa: PLR2004 - close, or tried enough
                break
        wanted *= 0.98 * epsilon / found
    return best


def _by_central_limit(epsilon: float, share: float, steps: int) -> float:
    """Return the noise at which the limit of many steps has this epsilon."""
    low, mu = 0.0, 1.0
    while epsilon_of_mu(mu) < epsilon:
        low, mu = mu, 2 * mu
    while (middle := (low + mu) / 2) not in {low, mu}:
        low, mu = (low, middle) if epsilon_of_mu(middle) >= epsilon else (middle, mu)
    # By substitution a record's effect is twice that of adding it.
    if share < 1:
        return 2 / math.sqrt(math.log1p((mu / share) ** 2 / steps))
    return 2 * math.sqrt(steps) / mu
