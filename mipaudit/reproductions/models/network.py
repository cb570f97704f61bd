"""A small network in numpy, with Adam, and DP-Adam that clips each record's gradient.

How much noise DP-SGD needs for an epsilon.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.reproductions.models.guarantees import epsilon_of_dp_sgd, epsilon_of_mu

if TYPE_CHECKING:
    from mipaudit.reproductions.reproduction import Array

    Signal = Callable[[Array, Array], Array]

_DECAY: Final = (0.9, 0.999)
_TINY: Final = 1e-8
DELTA: Final = 1e-5
_CLOSE: Final = 0.93
_ENOUGH: Final = 6
_MOST_TRIALS: Final = 50


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
    last = len(network.weights) - 1
    for place, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        result = found[-1] @ weight + bias
        found.append(result if place == last else np.maximum(result, 0.0))
    return found


def outputs(network: Network, inputs: Array) -> Array:
    """Return the outputs, shape (n, last size)."""
    return layers(network, inputs)[-1]


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


def adam(network: Network, steps: list[Array], rate: float) -> None:
    """Move the network against the gradients."""
    network.steps += 1
    first, second = _DECAY
    for array, gradient, (mean, square) in zip(network.arrays, steps, network.moments, strict=True):
        mean[...] = first * mean + (1 - first) * gradient
        square[...] = second * square + (1 - second) * gradient**2
        scaled = np.sqrt(square / (1 - second**network.steps)) + _TINY
        array[...] -= rate * mean / (1 - first**network.steps) / scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How a network is trained.

    Attributes:
        steps: how many batches.
        batch: expected records in one.
        rate: Adam's step.
        decay: coefficient of the squared weights.
        noise: noise multiplier; 0 neither clips nor adds noise.
        clip: most that one record's gradient may measure.
    """

    steps: int
    batch: int
    rate: float
    decay: float = 1e-5
    noise: float = 0.0
    clip: float = 1.0


def train(
    network: Network,
    inputs: Array,
    targets: Array,
    plan: Training,
    signal: Signal,
    rng: np.random.Generator,
) -> None:
    """Train on Poisson-sampled batches; with noise this is DP-SGD with Adam's steps.

    Args:
        network: is changed.
        inputs: (n, d).
        targets: (n, ...) what ``signal`` takes.
        plan: how.
        signal: derivative of each record's loss by the outputs.
        rng: for batches and noise.
    """
    share = min(1.0, plan.batch / len(inputs))
    for _ in range(plan.steps):
        chosen = np.flatnonzero(rng.random(len(inputs)) < share)
        found = layers(network, inputs[chosen])
        back = signals(network, found, signal(found[-1], targets[chosen]))
        summed = private_sum(found, back, plan, rng)
        steps = [
            step / plan.batch + 2 * plan.decay * array
            for step, array in zip(summed, network.arrays, strict=True)
        ]
        adam(network, steps, plan.rate)


def private_sum(
    found: list[Array], back: list[Array], plan: Training, rng: np.random.Generator
) -> list[Array]:
    """Return the sum of the gradients, each clipped and the sum noised where there is noise."""
    if plan.noise == 0:
        return gradients(found, back, np.ones(len(found[0])))
    norms = np.maximum(gradient_norms(found, back), _TINY)
    summed = gradients(found, back, np.minimum(1.0, plan.clip / norms))
    return [step + rng.normal(scale=plan.noise * plan.clip, size=step.shape) for step in summed]


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
    scores = outputs(network, inputs)
    top = scores.max(axis=1)
    total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return np.asarray(total - scores[np.arange(len(scores)), labels.astype(np.intp)])


@lru_cache(maxsize=64)
def noise_multiplier(epsilon: float, share: float, steps: int) -> tuple[float, float]:
    """Return a noise multiplier, and the epsilon that it gives: at most what was asked.

    The epsilon is by substitution of a record, as bounds on the advantage need it, at delta
    1e-5, by privacy loss distributions.

    Args:
        epsilon: above 0.
        share: probability of each record to be in a batch.
        steps: batches.

    Raises:
        MissingExtraError: dp-accounting is not installed.
    """
    wanted, best = epsilon, (math.inf, 0.0)
    for trial in range(_MOST_TRIALS):
        noise = _by_central_limit(wanted, share, steps)
        found = epsilon_of_dp_sgd(noise, share, steps, DELTA)
        if found <= epsilon and noise < best[0]:
            best = (noise, found)
        if found <= epsilon and (found >= _CLOSE * epsilon or trial >= _ENOUGH):
            break
        wanted *= 0.98 * epsilon / found
    return best


def _by_central_limit(epsilon: float, share: float, steps: int) -> float:
    """Return the noise at which the limit of many steps has this epsilon."""
    low, mu = 0.0, 1.0
    while epsilon_of_mu(mu, DELTA) < epsilon:
        low, mu = mu, 2 * mu
    while (middle := (low + mu) / 2) not in {low, mu}:
        low, mu = (low, middle) if epsilon_of_mu(middle, DELTA) >= epsilon else (middle, mu)
    # By substitution a record's effect is twice that of adding it.
    return (
        2 / math.sqrt(math.log1p((mu / share) ** 2 / steps))
        if share < 1
        else 2 * math.sqrt(steps) / mu
    )
