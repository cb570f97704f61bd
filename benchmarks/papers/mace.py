"""Liu et al. 2022 (MACE), Figures 2 to 7: estimates of the advantage, by many queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from comparison import Check, Claim, Curve, Made, Panel
from gan import SIDE, Gan, draw_pictures, plug_in_risks, train_gan
from guessing import accuracy_advantage, histogram_advantage, shuffled_advantage, top_rates
from limits import audit, draws
from network import layers, make_network, noise_multiplier, softmax, train

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limits import Array


_EPOCHS: Final = "epochs of training"
_ADVANTAGE: Final = "membership advantage, p = 1/2"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Estimates:
    """What the estimators say of one query.

    Attributes:
        histogram: W_N, 100 bins on each axis.
        shuffled: its mean where memberships are shuffled.
        kernel: U_N, for scores of one number.
        lower: any attacker, at least, with confidence 0.95.
    """

    histogram: float
    shuffled: float
    kernel: float
    lower: float


def _estimates(members: Array, holdout: Array) -> _Estimates:
    """Return every estimate for scores that are high for members, of shape (n,) or (n, d)."""
    lower, kernel = audit(members, holdout)
    return _Estimates(
        histogram=histogram_advantage(members, holdout),
        shuffled=shuffled_advantage(members, holdout, draws(600)),
        kernel=kernel,
        lower=lower,
    )


@lru_cache(maxsize=1)
def _shared() -> tuple[list[Gan], Array, Array]:
    """Return the GAN that several figures look at, its members, and nine times the holdout."""
    rng = draws(500)
    members, holdout = draw_pictures(rng, 200), draw_pictures(rng, 9 * 200)
    return train_gan(members, (50, 200, 400, 800, 1200, 1600), rng), members, holdout


def _bars(title: str, rows: dict[str, _Estimates]) -> Panel:
    kinds = (
        ("W_N, 100 bins an axis", [row.histogram for row in rows.values()]),
        ("W_N, memberships shuffled", [row.shuffled for row in rows.values()]),
        ("any attacker, at least", [row.lower for row in rows.values()]),
    )
    places = range(len(rows))
    curves = [Curve(label, places, values) for label, values in kinds]
    return Panel(title, "query", _ADVANTAGE, curves, groups=tuple(rows))


# Figure 2: estimators and adversaries as a GAN is trained.


def fig2() -> Made:
    """Row the advantage by both queries at every stage."""
    stages, members, everybody = _shared()
    # As many of the holdout as members, as the paper has them at p = 1/2.
    holdout = everybody[: len(members)]
    panels, last = [], []
    for title, query in (
        ("Discriminator score (20)", Gan.scores),
        ("Distance to the nearest synthetic picture (19)", Gan.closeness),
    ):
        found = [(query(stage, members), query(stage, holdout)) for stage in stages]
        rows = [_estimates(*pair) for pair in found]
        heuristic = [accuracy_advantage(*top_rates(*pair, 0.5), 0.5) for pair in found]
        last.append((rows[-1], heuristic[-1]))
        lines = (
            ("W_N, 100 bins", [row.histogram for row in rows], "-"),
            ("W_N, shuffled", [row.shuffled for row in rows], ":"),
            ("U_N, kernel", [row.kernel for row in rows], "-"),
            ("heuristic adversary", heuristic, "-"),
            ("any attacker, at least", [row.lower for row in rows], "--"),
        )
        epochs = [stage.epoch for stage in stages]
        curves = [Curve(label, epochs, values, style) for label, values, style in lines]
        panels.append(Panel(title, _EPOCHS, _ADVANTAGE, curves))
    (model, heuristically), (data, _) = last
    return Made(
        panels,
        Claim(
            "The optimal adversary's estimate is above the heuristic adversary's, for both "
            "estimators; the kernel's is lower than the histogram's.",
            f"At the end of training: histogram {model.histogram:.2f}, kernel "
            f"{model.kernel:.2f}, heuristic {heuristically:.2f}. With shuffled memberships "
            f"the histogram still says {model.shuffled:.2f}, so its height is no measure of "
            "what leaks.",
            "partly",
        ),
        Claim(
            "Synthetic data alone leak much less than the discriminator.",
            f"Any attacker gains at least {model.lower:.2f} by the discriminator and "
            f"{data.lower:.2f} by the nearest synthetic picture.",
            "yes" if model.lower > data.lower else "**no**",
        ),
        Check(
            "discriminator, end of training: any attacker, at least",
            model.lower,
            (0.1, 1.0),
            "the discriminator remembers its 200 members",
        ),
        Check(
            "histogram estimate with shuffled memberships",
            model.shuffled,
            (0.15, 0.6),
            "100 bins, 400 pictures: about 0.8 sqrt(100 / 400) where all bins are used",
        ),
        Check(
            "nearest synthetic picture, end of training: at least, less the discriminator's",
            data.lower - model.lower,
            (-1.0, 0.05),
            "synthetic data alone leak less",
        ),
    )


# Figure 3: queries of one number and of two.


def _standardized(*columns: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return several scores as one of several numbers, each in units of its own deviation."""
    scales = [float(np.concatenate(pair).std()) or 1.0 for pair in columns]
    members, holdout = (
        np.column_stack([pair[side] / scale for pair, scale in zip(columns, scales, strict=True)])
        for side in (0, 1)
    )
    return members, holdout


def _pair(rng: np.random.Generator) -> dict[str, _Estimates]:
    """Return the estimates where two GANs are trained, each on a half of the members."""
    members, holdout = draw_pictures(rng, 200), draw_pictures(rng, 200)
    halves = [train_gan(members[part::2], (1600,), rng)[-1] for part in (0, 1)]
    both = _standardized(*((gan.scores(members), gan.scores(holdout)) for gan in halves))
    # Equation (22) and (23).
    return {
        "larger of two": _estimates(both[0].max(axis=1), both[1].max(axis=1)),
        "both together": _estimates(*both),
    }


def _hybrid() -> dict[str, _Estimates]:
    stages, members, everybody = _shared()
    last, holdout = stages[-1], everybody[: len(members)]
    model = last.scores(members), last.scores(holdout)
    data = last.closeness(members), last.closeness(holdout)
    return {
        "discriminator": _estimates(*model),
        "nearest synthetic": _estimates(*data),
        "both together": _estimates(*_standardized(model, data)),
    }


def fig3() -> Made:
    """Row the advantage of single and joint queries, real, shuffled, and of noise alone."""
    hybrid, pair = _hybrid(), _pair(draws(700))
    rng = draws(701)
    members, holdout = rng.normal(size=(500, 2)), rng.normal(size=(500, 2))
    noise = _estimates(members[:, 0], holdout[:, 0]), _estimates(members, holdout)
    larger, both = pair["larger of two"], pair["both together"]
    joint = hybrid["both together"]
    return Made(
        (_bars("(a) Two discriminators", pair), _bars("(b) Hybrid query (21)", hybrid)),
        Claim(
            "The two-dimensional query of privGAN's discriminators leaks much more than the "
            "one-dimensional.",
            f"W_N {both.histogram:.2f} for {larger.histogram:.2f}; but {both.shuffled:.2f} for "
            f"{larger.shuffled:.2f} with shuffled memberships, and {noise[1].histogram:.2f} "
            f"for {noise[0].histogram:.2f} of pure noise. The audit: at least "
            f"{both.lower:.2f} and at least {larger.lower:.2f}.",
            "**no**",
        ),
        Claim(
            "The hybrid query (discriminator and nearest synthetic record) leaks more than either.",
            f"W_N {joint.histogram:.2f}; {joint.shuffled:.2f} with shuffled memberships. The "
            f"audit: at least {joint.lower:.2f}, and {hybrid['discriminator'].lower:.2f} by "
            "the discriminator alone.",
            "**no**",
        ),
        Check(
            "two discriminators: W_N of both together less that of the larger",
            both.histogram - larger.histogram,
            (0.1, 1.0),
            "as in the paper: more bins, more W_N",
        ),
        Check(
            "two discriminators: W_N of both together with shuffled memberships",
            both.shuffled,
            (0.6, 1.0),
            "10,000 bins for 400 records: nearly every record is alone in its bin",
        ),
        Check(
            "noise in two numbers: W_N less that of one number",
            noise[1].histogram - noise[0].histogram,
            (0.3, 1.0),
            "there is nothing to learn from either",
        ),
        Check(
            "noise in two numbers: any attacker, at least",
            noise[1].lower,
            (0.0, 0.15),
            "0 with confidence 0.95",
        ),
    )


# Figure 4: adversaries that are best by accuracy and by another metric.

_PRIOR: Final = 0.1
_BINS: Final = 20


def _algorithm_2(members: Array, holdout: Array, rng: np.random.Generator) -> list[float]:
    """Return both metrics by Algorithm 2: fit on a third, choose t on another, use the last.

    Advantage at the prior of the optimal (estimated) and the heuristic adversary, then AM.
    """
    thirds = [np.array_split(side[rng.permutation(len(side))], 3) for side in (members, holdout)]
    parts = list(zip(thirds[0], thirds[1], strict=True))
    cuts = np.quantile(np.concatenate(parts[0]), np.linspace(0, 1, _BINS + 1)[1:-1])
    counts = [np.bincount(np.searchsorted(cuts, side), minlength=_BINS) + 0.5 for side in parts[0]]
    shares = [_PRIOR * counts[0] / counts[0].sum(), (1 - _PRIOR) * counts[1] / counts[1].sum()]
    posterior = shares[0] / (shares[0] + shares[1])
    found = [[posterior[np.searchsorted(cuts, side)] for side in part] for part in parts]
    levels = np.concatenate([[0.0], np.unique(posterior), [2.0]])

    def rates(part: Sequence[Array], level: float) -> tuple[float, float]:
        return float((part[0] >= level).mean()), float((part[1] >= level).mean())

    tried = [rates(found[1], level) for level in levels]
    by_accuracy = levels[np.argmax([accuracy_advantage(*pair, _PRIOR) for pair in tried])]
    by_am = levels[np.argmax([tpr - fpr for tpr, fpr in tried])]
    top, best = top_rates(*parts[2], _PRIOR), rates(found[2], by_am)
    return [
        accuracy_advantage(*rates(found[2], by_accuracy), _PRIOR),
        accuracy_advantage(*top, _PRIOR),
        (1 + best[0] - best[1]) / 2,
        (1 + top[0] - top[1]) / 2,
    ]


def fig4() -> Made:
    """Row both metrics at every stage of the training, over 20 divisions into thirds."""
    stages, members, holdout = _shared()
    found = []
    for stage in stages:
        scores = stage.scores(members), stage.scores(holdout)
        rows = [_algorithm_2(*scores, draws(800 + n)) for n in range(20)]
        found.append([float(np.mean(column)) for column in zip(*rows, strict=True)])
    advantage, heuristic_advantage, am, heuristic_am = found[-1]
    baseline = abs(2 * _PRIOR - 1)
    epochs = [stage.epoch for stage in stages]
    shown = (
        ("Accuracy", "membership advantage, p = 0.1", 0, "'nobody is a member'", baseline),
        ("AM: mean of TPR and TNR", "AM", 2, "coin", 0.5),
    )
    panels = [
        Panel(
            title,
            _EPOCHS,
            y,
            (
                Curve("optimal, Algorithm 2", epochs, [row[place] for row in found]),
                Curve("heuristic", epochs, [row[place + 1] for row in found]),
                Curve(blind, epochs, [level] * len(epochs), ":"),
            ),
        )
        for title, y, place, blind, level in shown
    ]
    return Made(
        panels,
        Claim(
            "By accuracy, at p = 0.1, the heuristic adversary is comparable to the optimal.",
            f"Advantage {heuristic_advantage:.3f} for {advantage:.3f}: the optimal one is "
            f"about at {baseline:.1f}, which 'nobody is a member' reaches without looking, "
            "and the heuristic one is below that.",
            "**no**" if heuristic_advantage < baseline - 0.02 else "partly",
        ),
        Claim(
            "By AM the optimal adversary is consistently better.",
            f"AM {am:.3f} for {heuristic_am:.3f} at the end of training.",
            "yes" if am > heuristic_am else "**no**",
        ),
        Check(
            "advantage at p = 0.1 of the optimal adversary, end of training",
            advantage,
            (baseline - 0.05, 1.0),
            "'nobody is a member' has 0.80; what is chosen on another third may lose a little",
        ),
        Check(
            "AM of the optimal adversary less the heuristic's, end of training",
            am - heuristic_am,
            (0.02, 0.5),
            "the heuristic calls one in ten a member, which is right for no AM",
        ),
    )


# Figure 5: the risk of a group of corrupted pictures.


def _boxed(pictures: Array) -> Array:
    """Return the pictures with a white box in the middle."""
    marked = pictures.reshape(-1, SIDE, SIDE).copy()
    marked[:, SIDE // 2 - 1 : SIDE // 2 + 1, SIDE // 2 - 1 : SIDE // 2 + 1] = 1.0
    return marked.reshape(len(pictures), -1)


def fig5() -> Made:
    """Train on partly corrupted pictures, and look at the risks, as published and fairly."""
    rng = draws(900)
    size, marked, bins = 300, 30, 20
    members, clean = draw_pictures(rng, size), draw_pictures(rng, 4 * size)
    members[:marked] = _boxed(members[:marked])
    gan = train_gan(members, (1000,), rng)[-1]
    fair = clean.copy()
    fair[: 4 * marked] = _boxed(fair[: 4 * marked])
    scores, outside = gan.scores(members), gan.scores(fair)
    published, honest = (
        (float(risks[:marked].mean()), float(risks[marked:].mean()))
        for risks in (
            plug_in_risks(scores, gan.scores(clean), bins),
            plug_in_risks(scores, outside, bins),
        )
    )
    # No model at all: is the middle of the picture white?
    middle = SIDE // 2 * SIDE + SIDE // 2
    blind = float((members[:marked, middle] >= 1).mean() - (clean[:, middle] >= 1).mean())
    boxed, _ = audit(scores[:marked], gan.scores(fair[: 4 * marked]))
    others, _ = audit(scores[marked:], gan.scores(fair[4 * marked :]))
    risk = "mean individual risk |f|, p = 1/2"
    shown = (
        ("Holdout without boxes, as published", risk, published),
        ("Holdout with as many boxes", risk, honest),
        (
            "Each group against its own holdout",
            "advantage, any attacker, at least",
            (boxed, others),
        ),
    )
    return Made(
        [
            Panel(
                title,
                "pictures",
                y,
                (Curve("members", (0, 1), values),),
                groups=("corrupted", "others"),
            )
            for title, y, values in shown
        ],
        Claim(
            "Corrupted pictures have a higher individual risk than the others.",
            f"Mean |f| {published[0]:.2f} for {published[1]:.2f} with a holdout that has no "
            f"corrupted pictures, and {honest[0]:.2f} for {honest[1]:.2f} with one that has "
            "as many. Each group against its own holdout: any attacker gains at least "
            f"{boxed:.2f} among {marked} corrupted members, {others:.2f} among the "
            f"{size - marked} others.",
            "partly" if published[0] > published[1] else "**no**",
        ),
        Check(
            "'a white middle means member': its advantage among boxed members, no model",
            blind,
            (0.99, 1.0),
            "no holdout picture of the published setting has a box",
        ),
        Check(
            "discriminator: any attacker among all pictures, at least",
            audit(scores, outside)[0],
            (0.05, 1.0),
            "the discriminator remembers its members",
        ),
    )


# Figure 6: a private discriminator, and single records' risks.


def fig6() -> Made:
    """Train private GANs at both budgets, and look at the advantage and at single risks."""
    rng = draws(1001)
    members, holdout = draw_pictures(rng, 500), draw_pictures(rng, 500)
    epochs = (20, 60, 120, 200)
    shares = np.linspace(0, 1, 41).tolist()
    progress, single, found = [], [], {}
    for epsilon in (2.0, 10.0):
        noise = noise_multiplier(epsilon, 100 / 500, epochs[-1] * 5)
        gans = train_gan(members, epochs, draws(1000 + round(epsilon)), noise)
        scores = [(gan.scores(members), gan.scores(holdout)) for gan in gans]
        rows = [_estimates(*pair) for pair in scores]
        risks = np.sort(plug_in_risks(*scores[-1]))
        found[epsilon] = rows, risks
        limit, label = math.tanh(epsilon / 2), f"epsilon {epsilon:g}"
        progress += [
            Curve(f"W_N, {label}", epochs, [row.histogram for row in rows]),
            Curve(f"at least, {label}", epochs, [row.lower for row in rows]),
            Curve(f"tanh(epsilon/2), {label}", epochs, [limit] * len(epochs), "--"),
        ]
        single += [
            Curve(f"members, {label}", shares, np.quantile(risks, shares).tolist()),
            Curve(f"tanh(epsilon/2), {label}", (0, 1), (limit, limit), "--"),
        ]
    rows, risks = found[2.0]
    limit, worst = math.tanh(1), float(risks.max())
    lower = max(row.lower for row in rows)
    return Made(
        (
            Panel("Advantage as a private GAN is trained", _EPOCHS, _ADVANTAGE, progress),
            Panel(
                "Single members' |f| by 100 bins, in increasing order",
                "share of the members",
                "|f|",
                single,
            ),
        ),
        Claim(
            "The bound tanh(epsilon/2) is much larger than the estimated advantage.",
            f"At epsilon 2: bound {limit:.3f}, W_N {rows[-1].histogram:.2f} (shuffled "
            f"{rows[-1].shuffled:.2f}), any attacker at least {lower:.2f}.",
            "yes",
        ),
        Claim(
            "Even the worst |f| seen is strictly within the bound (0.762 at epsilon 2).",
            f"The worst is {worst:.3f}, and {100 * float((risks > limit).mean()):.0f}% of the "
            "members are above 0.762: in a bin that holds one record, |f| is 1 whatever the "
            "model.",
            "**no**" if worst > limit else "yes",
        ),
        Check("bound at epsilon 2", limit, (0.7615, 0.7616), "tanh(1)"),
        Check(
            "epsilon 2: any attacker, at least, at the worst stage",
            lower,
            (0.0, limit),
            "the bound holds on average over training sets, up to delta",
        ),
        Check(
            "largest |f| by 100 bins at epsilon 2",
            worst,
            (0.9, 1.0),
            "bins with one record: |f| = 1",
        ),
    )


# Figure 7: a classifier's output and its last hidden layer.


def fig7() -> Made:
    """Train an overfitted classifier, and estimate by both queries."""
    rng = draws(1100)

    def drawn() -> tuple[Array, Array]:
        inputs = rng.normal(size=(300, 20))
        noisy = inputs[:, 0] + inputs[:, 1] * inputs[:, 2] + rng.normal(size=300)
        return inputs, (noisy > 0).astype(np.float64)

    members, holdout = drawn(), drawn()
    network = make_network((20, 64, 2, 2), rng)
    # Two hidden numbers that are 0 for most inputs would be no query of two numbers.
    network.biases[1] += 2.0
    train(network, members, rng, steps=2000, batch=100, rate=0.003)
    inside, outside = layers(network, members[0]), layers(network, holdout[0])
    black = _estimates(softmax(inside[-1])[:, 1], softmax(outside[-1])[:, 1])
    white = _estimates(inside[-2], outside[-2])
    rows = {"black box": black, "white box": white}
    return Made(
        (_bars("A classifier's output, and its last hidden layer", rows),),
        Claim(
            "The white-box query (last hidden layer) leaks more than the output.",
            f"W_N {white.histogram:.2f} for {black.histogram:.2f}; with shuffled memberships "
            f"{white.shuffled:.2f} for {black.shuffled:.2f}. The audit: at least "
            f"{white.lower:.2f} and {black.lower:.2f}.",
            "partly" if white.histogram > black.histogram else "**no**",
        ),
        Check(
            "white box: W_N less that of the black box",
            white.histogram - black.histogram,
            (0.05, 1.0),
            "as in the paper",
        ),
        Check(
            "shuffled memberships: W_N of the white box less that of the black box",
            white.shuffled - black.shuffled,
            (0.05, 1.0),
            "the same order where nothing is to be learnt",
        ),
    )
