"""Izzo et al., Figure 2: private second moments by DP-SGD and by MIP noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import mipaudit
from mipaudit.reproductions.models.guarantees import equivalent_mu, moment_scale, published_scale
from mipaudit.reproductions.models.guessing import Mean, curve_of_means, mean_of
from mipaudit.reproductions.report import Check, Claim, Curve, Outcome, Panel
from mipaudit.reproductions.reproduction import Array, Bench, Reproduction

_COLUMNS: Final = 5
_SPLITS: Final = 128
_STEPS: Final = 50
_RATE: Final = 0.3
_ETAS: Final = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
_ORDERS: Final = (2.0, 4.0, 8.0)
_STANDARD: Final = 0.1
# As many coordinates as a small network has.
_WIDE: Final = 100_000
_FAILING_ORDER: Final = 8.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Released:
    """What is to be released, and how it varies: the upper triangle of the second moment.

    Attributes:
        products: (n, 15) x_i x_j of every record.
        truth: (15,) their expectation.
        theta: (15,) what the training half gives.
        half: who is in it.
        splits: (128, 15) what random halves give.
        weights: (15,) of each entry's square in the Frobenius norm.
    """

    products: Array
    truth: Array
    theta: Array
    half: NDArray[np.intp]
    splits: Array
    weights: Array

    def error(self, theta: Array) -> float:
        """Return the relative error in the Frobenius norm."""
        gaps = self.weights * (theta - self.truth) ** 2
        return float(np.sqrt(gaps.sum() / (self.weights * self.truth**2).sum()))


def _released(rng: np.random.Generator, size: int) -> _Released:
    root = rng.normal(size=(_COLUMNS, _COLUMNS)) / math.sqrt(_COLUMNS) + np.eye(_COLUMNS)
    rows, columns = np.triu_indices(_COLUMNS)
    records = rng.normal(size=(size, _COLUMNS)) @ root.T
    products = records[:, rows] * records[:, columns]
    chosen = np.zeros((_SPLITS + 1, size))
    for row in chosen:
        row[rng.permutation(size)[: size // 2]] = 1
    means = chosen @ products / (size // 2)
    return _Released(
        products=products,
        truth=(root @ root.T)[rows, columns],
        theta=means[0],
        half=np.flatnonzero(chosen[0]),
        splits=means[1:],
        weights=np.where(rows == columns, 1.0, 2.0),
    )


def _by_dp_sgd(released: _Released, eta: float, rng: np.random.Generator) -> float:
    """Return the error of full-batch DP-SGD, the clipping norm the median of the gradients'."""
    products = released.products[released.half]
    scale = np.sqrt(released.weights)
    # The median without privacy, as published: it is not paid for.
    clip = float(np.median(np.sqrt((((products - released.theta) * scale) ** 2).sum(axis=1))))
    noise = 2 * math.sqrt(_STEPS) / equivalent_mu(eta) * clip / len(products)
    theta = np.zeros_like(released.theta)
    for _ in range(_STEPS):
        gaps = (theta - products) * scale
        norms = np.sqrt((gaps**2).sum(axis=1))
        step = (gaps * np.minimum(1.0, clip / norms)[:, None]).mean(axis=0)
        theta = theta - _RATE * (step + rng.normal(scale=noise, size=theta.shape)) / scale
    return released.error(theta)


def corollary_8(
    spreads: Array, scale: float, rng: np.random.Generator, *, repaired: bool = False
) -> Array:
    """Draw noise as published: a uniform direction, stretched, times a Laplace radius.

    Args:
        spreads: (d,) sigma of each coordinate; the norm is that of x_i / sigma_i, over sqrt d.
        scale: of the radius.
        rng: for the draw.
        repaired: take the radius of law Gamma(d, scale), which the theorem's density has.
    """
    size = len(spreads)
    direction = rng.normal(size=size)
    direction /= np.sqrt((direction**2).sum())
    radius = rng.gamma(size, scale) if repaired else abs(rng.laplace(scale=scale))
    return np.asarray(math.sqrt(size) * spreads * direction * radius)


def _by_mip(
    released: _Released, eta: float, order: float, rng: np.random.Generator, *, repaired: bool
) -> float:
    gaps = np.abs(released.splits - released.splits.mean(axis=0))
    spreads = (gaps**order).mean(axis=0) ** (1 / order)
    noise = corollary_8(spreads, published_scale(eta, order), rng, repaired=repaired)
    return released.error(released.theta + noise)


def _first_moment(released: _Released) -> float:
    """Return sigma_1 as ``noise`` estimates it from the splits."""
    names = [f"entry_{place}" for place in range(len(released.theta))]
    splits = pd.DataFrame(released.splits, columns=names)
    found = mipaudit.noise(eta=_STANDARD, splits=splits, shape="isotropic", mechanism="gaussian")
    assert found.measured is not None  # noqa: S101 - there were splits
    candidates = found.measured.candidates
    return next(one.moment.value for one in candidates if one.calibration == "moment")


def _by_moment(released: _Released, moment: float, eta: float, rng: np.random.Generator) -> float:
    scale = moment * moment_scale(eta, "gaussian")
    noise = rng.normal(scale=scale, size=released.theta.shape)
    return released.error(released.theta + noise)


def _errors(bench: Bench, size: int, runs: int, stream: int) -> dict[str, list[Mean]]:
    found: dict[str, list[list[float]]] = {}
    for run in range(runs):
        rng = bench.rng(stream + run)
        released = _released(rng, size)
        moment = _first_moment(released)
        for place, eta in enumerate(_ETAS):
            row = {"DP-SGD": _by_dp_sgd(released, eta, rng)}
            for order in _ORDERS:
                row[f"MIP as published, k = {order:g}"] = _by_mip(
                    released, eta, order, rng, repaired=False
                )
            row["MIP, k = 8, radius repaired"] = _by_mip(released, eta, 8.0, rng, repaired=True)
            row["Gaussian by the first moment"] = _by_moment(released, moment, eta, rng)
            for name, error in row.items():
                found.setdefault(name, [[] for _ in _ETAS])[place].append(error)
    return {name: [mean_of(errors) for errors in rows] for name, rows in found.items()}


def sampler_accuracy(rng: np.random.Generator, order: float, draws: int) -> float:
    """Return the accuracy above 1/2 of 'the mean is above 0', for outputs +-(1, ..., 1).

    A record decides which; every coordinate's sigma is 1. Noise by Corollary 8 for eta 0.1.
    """
    # Only the direction's share along (1, ..., 1) matters: its first, in another basis.
    normal = rng.normal(size=draws)
    rest = rng.chisquare(_WIDE - 1, size=draws)
    along = normal / np.sqrt(normal**2 + rest)
    radius = np.abs(rng.laplace(scale=published_scale(_STANDARD, order), size=draws))
    return float((1 + along * radius > 0).mean()) - 0.5


def run(bench: Bench) -> Outcome:
    """Release second moments with either noise, for small and large data."""
    sizes, runs = bench.pick((1_000, 20_000), (500, 5_000)), bench.pick(10, 3)
    panels, errors = [], []
    for place, size in enumerate(sizes):
        found = _errors(bench, size, runs, 1000 * place)
        errors.append(found)
        curves: list[Curve] = [curve_of_means(name, _ETAS, means) for name, means in found.items()]
        panels.append(
            Panel(
                title=f"{size:,} records, {_COLUMNS} columns",
                x="eta: accuracy above guessing that is allowed",
                y="relative error of the second moment",
                curves=tuple(curves),
                log_y=True,
            )
        )
        bench.advance((place + 1) / len(sizes))
    broken = sampler_accuracy(bench.rng(99), _FAILING_ORDER, 100_000)
    return Outcome(
        panels=tuple(panels),
        claims=_claims(errors, sizes),
        checks=_checks(errors, broken),
        errata=(
            (
                "Corollary 8's sampler (a Laplace radius times a uniform direction) does not "
                "have the density of Theorem 7 for more than one coordinate: the radius must be "
                "Gamma(d, c). The guarantee then fails: where a record decides between two "
                f"outputs in {_WIDE:,} coordinates, 'the mean is above 0' is right with "
                f"probability 1/2 + {broken:.3f}, at eta = 0.1 and k = 8. Its errors in the "
                "figure are small because too little noise is added."
            ),
            (
                "The published constant asks for far more noise than needed: Gaussian noise by "
                "the first moment, with a proof for any dimension, has the least error of all "
                "MIP noise here."
            ),
            (
                "sigma is estimated from 128 splits and taken for the truth, as here in every "
                "curve; no limit on it is given. `mipaudit noise` gives one."
            ),
            (
                "The clipping norm of DP-SGD is the median of the gradients' norms, read off the "
                "data without noise. It also biases the estimate: more privacy budget does not "
                "help against it."
            ),
        ),
        differences=(
            (
                "The sizes are ours (the numbers are missing in the text at hand), and so are "
                "the orders k, the steps and their rate: the order of the curves may be another "
                "at the paper's. Privacy of DP-SGD is counted exactly, as Gaussian differential "
                "privacy by substitution, and turned into eta by its own curve."
            ),
        ),
    )


def _checks(errors: Sequence[dict[str, list[Mean]]], broken: float) -> tuple[Check, ...]:
    place = _ETAS.index(_STANDARD)
    small = errors[0]
    ratio = small["Gaussian by the first moment"][place].value
    return (
        Check(
            name="error of Gaussian noise over that of the published noise, k = 2, eta = 0.1",
            found=ratio / small["MIP as published, k = 2"][place].value,
            low=0.0,
            high=0.05,
            why="the scales are about 4 and 3,795 times a moment",
        ),
        Check(
            name=f"Corollary 8's sampler, {_WIDE:,} coordinates, k = 8: accuracy above 1/2",
            found=broken,
            low=_STANDARD,
            high=0.5,
            why="above the 0.1 that it is to guarantee: the erratum; 100,000 draws",
        ),
        Check(
            name="published noise, k = 2: error at eta = 0.45 over that at 0.1",
            found=small["MIP as published, k = 2"][-1].value
            / small["MIP as published, k = 2"][place].value,
            low=0.01,
            high=0.3,
            why="the scale falls by (0.1 / 0.45)^2 = 0.049; few draws of a wide law",
        ),
    )


def _claims(errors: Sequence[dict[str, list[Mean]]], sizes: Sequence[int]) -> tuple[Claim, ...]:
    lines, wins = [], []
    for size, found in zip(sizes, errors, strict=True):
        dp = found["DP-SGD"]
        better = [
            eta
            for eta, ours, theirs in zip(_ETAS, found["MIP as published, k = 8"], dp, strict=True)
            if ours.value < theirs.value
        ]
        wins.append(bool(better))
        sharper = [
            eta
            for eta, ours, theirs in zip(
                _ETAS, found["Gaussian by the first moment"], dp, strict=True
            )
            if ours.value < theirs.value
        ]
        gaussian = f"from {sharper[0]:g} on" if sharper else "nowhere"
        where = f"for eta from {better[0]:g} on" if better else "nowhere"
        lines.append(
            f"{size:,} records: MIP as published, k = 8, is better {where}, Gaussian noise by the "
            f"first moment {gaussian}"
        )
    least = [min(mean.value for mean in found["DP-SGD"]) for found in errors]
    return (
        Claim(
            says="MIP noise outperforms DP-SGD at every eta tried with two of the orders k, and "
            "from some eta on with all of them.",
            found="; ".join(lines) + ".",
            agrees="partly" if any(wins) else "no",
        ),
        Claim(
            says="DP-SGD never reaches a small relative error: its output is mostly noise.",
            found=f"Its least error is {least[0]:.2f} with {sizes[0]:,} records and "
            f"{least[1]:.2f} with {sizes[1]:,}: not noise but the bias of clipping at the median.",
            agrees="no" if least[1] < 1 else "yes",
        ),
    )


IZZO_FIG2: Final = Reproduction(
    id="izzo-fig2",
    title="Private second moments",
    source="Izzo et al. 2022, Figure 2",
    shows="Relative error of a released second moment (vertical) against eta (horizontal): "
    "full-batch DP-SGD, clipped at the median gradient, and noise by Corollary 8 with several "
    "k, sigma estimated from 128 random halves; means and standard errors of 10 runs.",
    claim="MIP by Corollary 8 has a smaller error than differential privacy at the same eta.",
    run=run,
)
