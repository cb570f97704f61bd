"""Yeom et al., Figure 2: what threshold adversaries gain as models overfit.

A regression tree: splits that reduce the squared error most, to a given depth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

import mipaudit
from mipaudit.reproductions.models.guessing import threshold_advantage
from mipaudit.reproductions.models.network import (
    Training,
    class_signal,
    log_losses,
    make_network,
    train,
)
from mipaudit.reproductions.report import Check, Claim, Curve, Outcome, Panel
from mipaudit.reproductions.reproduction import Array, Bench, Reproduction

_FEWEST: Final = 2
_RATIOS: Final = tuple(float(ratio) for ratio in np.linspace(1.001, 6, 60))
_ROOT2: Final = math.sqrt(2)
_COLUMNS: Final = 10
_CLASSES: Final = 5
_WRONG: Final = 0.3
_NEW: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node: its mean, and how it divides (no further, where ``children`` is None)."""

    mean: float
    column: int = 0
    cut: float = 0.0
    children: tuple[Node, Node] | None = None


def fit_tree(inputs: Array, targets: Array, depth: int) -> Node:
    """Return the tree for (n, d) inputs and (n,) targets."""
    mean = float(targets.mean())
    if depth == 0 or len(targets) < 2 * _FEWEST or float(targets.std()) == 0:
        return Node(mean=mean)
    found = [_best_cut(inputs[:, column], targets) for column in range(inputs.shape[1])]
    column = int(np.argmax([gain for gain, _ in found]))
    gain, cut = found[column]
    if gain <= 0:
        return Node(mean=mean)
    left = inputs[:, column] <= cut
    parts = (left, ~left)
    low, high = (fit_tree(inputs[part], targets[part], depth - 1) for part in parts)
    return Node(mean=mean, column=column, cut=cut, children=(low, high))


def predictions(node: Node, inputs: Array) -> Array:
    """Return the predictions, shape (n,)."""
    if node.children is None:
        return np.full(len(inputs), node.mean)
    left = inputs[:, node.column] <= node.cut
    low, high = (predictions(child, inputs) for child in node.children)
    return np.where(left, low, high)


def _best_cut(values: Array, targets: Array) -> tuple[float, float]:
    """Return how much the best cut of one column reduces the squared error, and the cut."""
    order = np.argsort(values, kind="stable")
    ordered, sums = values[order], np.cumsum(targets[order] - targets.mean())
    sizes = np.arange(1, len(values) + 1)
    rest = len(values) - sizes[:-1]
    gains = sums[:-1] ** 2 * (1 / sizes[:-1] + 1 / rest)
    allowed = (ordered[:-1] < ordered[1:]) & (sizes[:-1] >= _FEWEST) & (rest >= _FEWEST)
    gains = np.where(allowed, gains, 0.0)
    best = int(np.argmax(gains))
    return float(gains[best]), float((ordered[best] + ordered[best + 1]) / 2)


def known_errors(ratio: float) -> float:
    """Return Theorem 3's advantage: both standard errors known, normal residuals."""
    if ratio <= 1:
        return 0.0
    cut = ratio * math.sqrt(2 * math.log(ratio) / (ratio**2 - 1))
    return math.erf(cut / _ROOT2) - math.erf(cut / ratio / _ROOT2)


def one_error(ratio: float) -> float:
    """Return the advantage of the threshold at the members' standard error, the only one known."""
    return math.erf(1 / _ROOT2) - math.erf(1 / ratio / _ROOT2)


def residual_advantages(members: Array, holdout: Array) -> tuple[float, float, float]:
    """Return the ratio of the standard errors, and both adversaries' advantages."""
    small, large = (float(np.sqrt((errors**2).mean())) for errors in (members, holdout))
    ratio = large / small
    cut = small
    if ratio > 1:
        cut = large * math.sqrt(2 * math.log(ratio) / (ratio**2 - 1))
    sizes = -np.abs(members), -np.abs(holdout)
    return ratio, threshold_advantage(*sizes, -cut), threshold_advantage(*sizes, -small)


def _drawn(rng: np.random.Generator, rows: int, columns: int) -> tuple[Array, Array]:
    inputs = rng.normal(size=(rows, columns))
    targets = inputs[:, 0] + np.sin(2 * inputs[:, 1]) + 0.5 * inputs[:, 2] * inputs[:, 3]
    return inputs, targets + rng.normal(scale=0.7, size=rows)


def _linear(rng: np.random.Generator, rows: int, columns: int) -> tuple[float, float, float]:
    inputs, targets = _drawn(rng, rows, columns)
    new, wanted = _drawn(rng, _NEW, columns)
    found = np.linalg.lstsq(inputs, targets, rcond=None)[0]
    return residual_advantages(targets - inputs @ found, wanted - new @ found)


def _tree(rng: np.random.Generator, rows: int, depth: int) -> tuple[float, float, float]:
    inputs, targets = _drawn(rng, rows, _COLUMNS)
    new, wanted = _drawn(rng, _NEW, _COLUMNS)
    tree = fit_tree(inputs, targets, depth)
    return residual_advantages(targets - predictions(tree, inputs), wanted - predictions(tree, new))


def _classified(bench: Bench, stream: int, steps: int) -> tuple[float, float, float]:
    """Return the ratio of the mean losses, the advantage of the mean-loss adversary, any's.

    The last is the audit's lower limit.
    """
    rng = bench.rng(stream)
    centres = rng.normal(size=(_CLASSES, _COLUMNS))
    drawn = []
    for rows in (500, _NEW):
        labels = rng.integers(_CLASSES, size=rows).astype(np.float64)
        inputs = centres[labels.astype(np.intp)] + rng.normal(size=(rows, _COLUMNS))
        # Labels that no model can know: to get them right is to remember them.
        wrong = rng.random(rows) < _WRONG
        drawn.append((inputs, np.where(wrong, rng.integers(_CLASSES, size=rows), labels)))
    network = make_network((_COLUMNS, 64, _CLASSES), rng)
    plan = Training(steps=steps, batch=100, rate=0.005)
    train(network, *drawn[0], plan, class_signal, rng)
    members, holdout = (log_losses(network, *part) for part in drawn)
    gained = threshold_advantage(-members, -holdout, -float(members.mean()))
    ratio = float(holdout.mean() / members.mean())
    return ratio, gained, bench.audit(-members, -holdout).lower


def _points(label: str, rows: Sequence[Sequence[float]], column: int) -> Curve:
    ordered = sorted(rows, key=lambda row: row[0])
    return Curve(
        label=label,
        x=tuple(row[0] for row in ordered),
        y=tuple(row[column] for row in ordered),
        style="points",
    )


def _theory_panels(
    linear: Sequence[Sequence[float]], trees: Sequence[Sequence[float]]
) -> tuple[Panel, Panel]:
    panels = []
    for column, formula, title in (
        (1, known_errors, "Both standard errors known"),
        (2, one_error, "Only the members' known"),
    ):
        curve = Curve(label="normal residuals, formula", x=_RATIOS, y=tuple(map(formula, _RATIOS)))
        panels.append(
            Panel(
                title=title,
                x="holdout's standard error / members'",
                y="membership advantage",
                curves=(curve, _points("linear", linear, column), _points("trees", trees, column)),
            )
        )
    return panels[0], panels[1]


def _best_of_half_normal(ratio: float) -> float:
    """Return the best attacker's advantage on absolute errors, the holdout's so much larger."""
    scenario = f"yeom-regression-1-{ratio:g}"
    truths = mipaudit.simulate(scenario, n_members=1, n_holdout=1).truth.truths
    found = (one.value for one in truths if one.quantity == "advantage")
    return next(value for value in found if value is not None)


def run(bench: Bench) -> Outcome:
    """Fit the models and let the adversaries guess."""
    rows = bench.pick(1000, 300)
    shares = bench.pick((0.05, 0.2, 0.4, 0.6, 0.7, 0.8), (0.1, 0.5, 0.75))
    linear = [_linear(bench.rng(n), rows, int(share * rows)) for n, share in enumerate(shares)]
    bench.advance(0.3)
    depths = bench.pick((1, 2, 3, 4, 5, 6, 7), (1, 3, 5))
    trees = [_tree(bench.rng(100 + depth), rows, depth) for depth in depths]
    bench.advance(0.6)
    lengths = bench.pick((50, 100, 200, 400, 700), (50, 400))
    nets = [_classified(bench, 200 + steps, steps) for steps in lengths]
    # An error of a mean of `rows` independent guesses, and of 20,000 more.
    slack = 5 * math.sqrt(0.25 / rows + 0.25 / _NEW)
    worst = max(abs(row[1] - known_errors(row[0])) for row in linear)
    worst_one = max(abs(row[2] - one_error(row[0])) for row in linear)
    off_trees = max(abs(row[1] - known_errors(row[0])) for row in trees)
    best = _best_of_half_normal(1.5)
    panels = (
        *_theory_panels(linear, trees),
        Panel(
            title="Networks: the mean training loss known",
            x="holdout's mean loss / members'",
            y="membership advantage",
            curves=(
                _points("mean-loss adversary", nets, 1),
                _points("any attacker by the loss, at least", nets, 2),
            ),
            log_x=True,
        ),
    )
    return Outcome(
        panels=panels,
        claims=_claims(worst, off_trees, worst_one, nets),
        checks=(
            Check(
                name="Theorem 3 at ratio 1.5",
                found=known_errors(1.5),
                low=best - 1e-6,
                high=best + 1e-6,
                why=f"the best attacker of that law, {best:.5f}, by integration",
            ),
            Check(
                name="largest distance of a linear model from the formula",
                found=worst,
                low=0.0,
                high=slack,
                why="residuals are nearly normal; 5 standard errors of the rates",
            ),
            Check(
                name="the same, with the members' standard error alone",
                found=worst_one,
                low=0.0,
                high=slack,
                why="as before",
            ),
            Check(
                name="networks: advantage after the longest training less that after the shortest",
                found=nets[-1][1] - nets[0][1],
                low=0.1,
                high=1.0,
                why="more overfitting, more advantage",
            ),
        ),
        errata=(
            (
                "Theorem 3's formula is for normal residuals of known deviations; on a given "
                "model the ratio of the standard errors bounds nothing: two laws with equal "
                "standard errors may be told apart with certainty. The advantage of the best "
                "attacker is at least, never at most, what these adversaries reach."
            ),
            "Theorem 1's e^epsilon - 1 is superseded by (e^epsilon - 1) / (e^epsilon + 1).",
        ),
        differences=(
            (
                "Simulated data in place of the eyedata, IWPC and Netflix tables; linear models "
                "with more and more columns in place of regularized ones; small networks on "
                "simulated classes in place of convolutional ones on pictures."
            ),
            (
                "The text at hand ends before the evaluation: it says that panel (b) graphs the "
                "adversary with one standard error, and sections 1 and 3 what the evaluation "
                "finds. The other panels, the axes and the networks' adversary are our own "
                "reading, to be checked against the paper."
            ),
        ),
    )


def _claims(
    worst: float,
    off_trees: float,
    worst_one: float,
    nets: Sequence[tuple[float, float, float]],
) -> tuple[Claim, ...]:
    first, last = nets[0], nets[-1]
    return (
        Claim(
            says="The advantage depends on the generalization error as in Theorem 3, often also "
            "where its assumptions do not hold (introduction, section 3.2).",
            found=f"Linear models are within {worst:.3f} of the formula, trees within "
            f"{off_trees:.3f}.",
            agrees="yes",
        ),
        Claim(
            says="Who knows only the members' standard error has the advantage erf(1/sqrt 2) - "
            "erf(1/(ratio sqrt 2)) (section 3.3, panel b).",
            found=f"Linear models are within {worst_one:.3f} of it. Both known give little more "
            f"at ratio 2, {known_errors(2):.3f} for {one_error(2):.3f}, and "
            f"{known_errors(6) - one_error(6):.3f} more at ratio 6: the limit is "
            "erf(1/sqrt 2) = 0.683, not 1.",
            agrees="yes",
        ),
        Claim(
            says="On deep networks a particularly straightforward attack does almost as well as "
            "a recently published one (introduction).",
            found=f"The threshold at the mean training loss gains {first[1]:.2f} at a ratio of "
            f"the losses of {first[0]:.1f} and {last[1]:.2f} at {last[0]:.1f}; the best attacker "
            f"by the loss at least {last[2]:.2f} there. The published attack is not rebuilt.",
            agrees="partly",
        ),
    )


YEOM_FIG2: Final = Reproduction(
    id="yeom-fig2",
    title="Overfitting and the threshold adversary",
    source="Yeom et al. 2018, Figure 2 (section 6.2)",
    shows="Membership advantage (vertical) against the generalization error, as the ratio of "
    "the standard errors (horizontal): linear and tree regressions beside Theorem 3, with both "
    "standard errors known and with one; networks by the mean training loss.",
    claim="Overfitting is sufficient for membership inference, and the formula predicts it.",
    run=run,
)
