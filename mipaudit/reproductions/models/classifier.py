"""Private classifiers attacked by their losses: what the evaluations of Humphries et al. share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.reproductions.figures.humphries_fig1 import bounds_at
from mipaudit.reproductions.models.guessing import (
    Mean,
    curve_of_means,
    mean_of,
    threshold_advantage,
)
from mipaudit.reproductions.models.network import (
    DELTA,
    Training,
    class_signal,
    log_losses,
    make_network,
    noise_multiplier,
    outputs,
    train,
)
from mipaudit.reproductions.report import Curve, Panel

if TYPE_CHECKING:
    from mipaudit.reproductions.reproduction import Array, Bench

    Draw = Callable[[np.random.Generator], "Split"]

_BATCH: Final = 200
_RATE: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """Who is in the training set and who is not.

    Attributes:
        members: inputs (n, d) and labels (n,).
        holdout: likewise.
        classes: how many.
    """

    members: tuple[Array, Array]
    holdout: tuple[Array, Array]
    classes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """What came out at one epsilon, over the runs.

    Attributes:
        epsilon: of the model; infinite without noise.
        logloss: advantage of Yeom's mean-loss adversary.
        best: the audit's lower limit of the best attacker by the loss.
        member_accuracy: of the model.
        holdout_accuracy: of the model.
    """

    epsilon: float
    logloss: Mean
    best: Mean
    member_accuracy: Mean
    holdout_accuracy: Mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The models to train.

    Attributes:
        epsilons: budgets, by substitution of a record.
        runs: models for each.
        hidden: sizes of the hidden layers.
        epochs: passes over the members.
    """

    epsilons: tuple[float, ...]
    runs: int
    hidden: tuple[int, ...]
    epochs: int


def attack_all(bench: Bench, draw: Draw, plan: Plan, stream: int) -> list[Attacked]:
    """Train and attack models at every epsilon, and without noise.

    Args:
        bench: what reproductions work with.
        draw: gives members and holdout, anew for each run.
        plan: the models.
        stream: of the random numbers; two streams are independent.
    """
    found = []
    for place, epsilon in enumerate((*plan.epsilons, math.inf)):
        rows = [
            _attack(bench, draw, plan, epsilon, 10_000 * stream + 100 * place + run)
            for run in range(plan.runs)
        ]
        columns = [mean_of(column) for column in zip(*rows, strict=True)]
        found.append(
            Attacked(
                epsilon=epsilon,
                logloss=columns[0],
                best=columns[1],
                member_accuracy=columns[2],
                holdout_accuracy=columns[3],
            )
        )
    return found


def _attack(
    bench: Bench, draw: Draw, plan: Plan, epsilon: float, stream: int
) -> tuple[float, float, float, float]:
    rng = bench.rng(stream)
    split = draw(rng)
    inputs, labels = split.members
    steps = plan.epochs * max(1, len(inputs) // _BATCH)
    noise = 0.0
    if math.isfinite(epsilon):
        noise, _ = noise_multiplier(epsilon, min(1.0, _BATCH / len(inputs)), steps)
    network = make_network((inputs.shape[1], *plan.hidden, split.classes), rng)
    training = Training(steps=steps, batch=_BATCH, rate=_RATE, noise=noise)
    train(network, inputs, labels, training, class_signal, rng)
    members, holdout = (log_losses(network, *part) for part in (split.members, split.holdout))
    right = [
        float((outputs(network, part[0]).argmax(axis=1) == part[1]).mean())
        for part in (split.members, split.holdout)
    ]
    logloss = threshold_advantage(-members, -holdout, -float(members.mean()))
    return logloss, bench.audit(-members, -holdout).lower, right[0], right[1]


def advantage_panel(title: str, apart: Sequence[Attacked], alike: Sequence[Attacked]) -> Panel:
    """Return the picture of the attacks beside the bound for records drawn alike."""
    finite = [row for row in apart if math.isfinite(row.epsilon)]
    epsilons = [row.epsilon for row in finite]
    plain = [row for row in alike if math.isfinite(row.epsilon)]
    bound = np.geomspace(epsilons[0] / 1.5, epsilons[-1] * 1.5, 60)
    return Panel(
        title=title,
        x="epsilon, by substitution of a record",
        y="membership advantage",
        curves=(
            Curve(
                label="bound (8)",
                x=tuple(map(float, bound)),
                y=tuple(bounds_at(float(epsilon), DELTA)[2] for epsilon in bound),
                style="dashed",
            ),
            curve_of_means("log-loss attack", epsilons, [row.logloss for row in finite]),
            curve_of_means("any attacker, at least", epsilons, [row.best for row in finite]),
            curve_of_means(
                "log-loss attack, drawn alike", epsilons, [row.logloss for row in plain]
            ),
        ),
        log_x=True,
    )


def accuracy_panel(apart: Sequence[Attacked]) -> Panel:
    """Return the picture of the models' own accuracy."""
    finite = [row for row in apart if math.isfinite(row.epsilon)]
    epsilons = [row.epsilon for row in finite]
    return Panel(
        title="What the models get right",
        x="epsilon, by substitution of a record",
        y="accuracy",
        curves=(
            curve_of_means("members", epsilons, [row.member_accuracy for row in finite]),
            curve_of_means("holdout", epsilons, [row.holdout_accuracy for row in finite]),
        ),
        log_x=True,
    )


def broken_at(rows: Sequence[Attacked]) -> list[float]:
    """Return the epsilons at which the log-loss attack is above bound (8) by two errors."""
    return [
        row.epsilon
        for row in rows
        if math.isfinite(row.epsilon)
        and row.logloss.value - 2 * row.logloss.error > bounds_at(row.epsilon, DELTA)[2]
    ]


def listed(epsilons: Sequence[float]) -> str:
    """Return epsilons as words."""
    return ", ".join(f"{epsilon:g}" for epsilon in epsilons) or "none"


def alike_excess(rows: Sequence[Attacked]) -> float:
    """Return the most by which the attack on records drawn alike is above bound (8)."""
    return max(
        row.logloss.value - bounds_at(row.epsilon, DELTA)[2]
        for row in rows
        if math.isfinite(row.epsilon)
    )
