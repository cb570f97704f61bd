"""MACE, Figure 7: a classifier's output and its last hidden layer."""

from __future__ import annotations

from typing import Final

import numpy as np

from mipaudit.reproductions.mace.gan import Estimates, estimates
from mipaudit.reproductions.models.network import (
    Training,
    class_signal,
    layers,
    make_network,
    softmax,
    train,
)
from mipaudit.reproductions.report import Check, Claim, Curve, Outcome, Panel
from mipaudit.reproductions.reproduction import Array, Bench, Reproduction

_COLUMNS: Final = 20
_SIZE: Final = 300


def _drawn(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
    inputs = rng.normal(size=(size, _COLUMNS))
    noisy = inputs[:, 0] + inputs[:, 1] * inputs[:, 2] + rng.normal(size=size)
    return inputs, (noisy > 0).astype(np.float64)


def _queries(inputs: Array, network_layers: list[Array]) -> dict[str, Array]:
    """Return what the two queries give: the probability of class 1, and two hidden numbers."""
    del inputs
    return {
        "black box": softmax(network_layers[-1])[:, 1],
        "white box": network_layers[-2],
    }


def run(bench: Bench) -> Outcome:
    """Train an overfitted classifier, and estimate by both queries."""
    rng = bench.rng(1100)
    members, holdout = _drawn(rng, _SIZE), _drawn(rng, _SIZE)
    network = make_network((_COLUMNS, 64, 2, 2), rng)
    # Two hidden numbers that are 0 for most inputs would be no query of two numbers.
    network.biases[1] += 2.0
    plan = Training(steps=bench.pick(2000, 400), batch=100, rate=0.003)
    train(network, *members, plan, class_signal, rng)
    bench.advance(0.6)
    inside = _queries(members[0], layers(network, members[0]))
    outside = _queries(holdout[0], layers(network, holdout[0]))
    rows = {name: estimates(bench, inside[name], outside[name]) for name in inside}
    black, white = rows["black box"], rows["white box"]
    return Outcome(
        panels=(_panel(rows),),
        claims=(
            Claim(
                says="The white-box query (last hidden layer) leaks more than the output.",
                found=f"W_N {white.histogram:.2f} for {black.histogram:.2f}; with shuffled "
                f"memberships {white.shuffled:.2f} for {black.shuffled:.2f}. The audit: at least "
                f"{white.lower:.2f} and {black.lower:.2f}.",
                agrees="partly" if white.histogram > black.histogram else "no",
            ),
        ),
        checks=(
            Check(
                name="white box: W_N less that of the black box",
                found=white.histogram - black.histogram,
                low=0.05,
                high=1.0,
                why="as in the paper",
            ),
            Check(
                name="shuffled memberships: W_N of the white box less that of the black box",
                found=white.shuffled - black.shuffled,
                low=0.05,
                high=1.0,
                why="the same order where nothing is to be learnt",
            ),
        ),
        errata=(
            (
                "The order of the two bars is that of their biases: it is the same with shuffled "
                "memberships. The output is a function of the last hidden layer, so the layer "
                "cannot leak less; by how much more, the figure does not say."
            ),
        ),
        differences=(
            (
                "Simulated records of 20 columns and a network with hidden layers of 64 and 2 in "
                "numpy, in place of a convolutional one on skin-cancer MNIST; labels are not "
                "among the queries, as in the paper."
            ),
        ),
    )


def _panel(rows: dict[str, Estimates]) -> Panel:
    kinds = (
        ("W_N, 100 bins an axis", "histogram"),
        ("W_N, memberships shuffled", "shuffled"),
        ("any attacker, at least", "lower"),
    )
    return Panel(
        title="A classifier's output, and its last hidden layer",
        x="query",
        y="membership advantage, p = 1/2",
        curves=tuple(
            Curve(
                label=label,
                x=(0.0, 1.0),
                y=tuple(getattr(row, name) for row in rows.values()),
                style="bars",
            )
            for label, name in kinds
        ),
        groups=tuple(rows),
    )


MACE_FIG7: Final = Reproduction(
    id="mace-fig7",
    title="White box and black box",
    source="Liu et al. 2022 (MACE), Figure 7",
    shows="Estimated advantage of the final output (black box) and of the penultimate layer's "
    "two numbers (white box) of a binary classifier.",
    claim="The white-box query leaks more.",
    run=run,
)
