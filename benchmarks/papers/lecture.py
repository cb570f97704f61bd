"""Lecture notes, Theorem 2: an attack on counting queries bounds epsilon from below."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from comparison import Check, Claim, Curve, Made, Panel
from limits import DELTA, draws, epsilon_of_mu, refuted_epsilon

_RECORDS: Final = 1000
_TRIALS: Final = 20_000
_SIMULATED: Final = 100  # queries
_TRIED: Final = (0.5, 1.0, 2.0)
# Beyond that the rates are 0 in floats.
_FAR: Final = 8


def _rates(unit: float) -> tuple[float, float]:
    """Return TPR and FPR of the notes' attacker, by the noise in units of sqrt(k) / n."""
    return 0.5, math.erfc(1 / unit / math.sqrt(2)) / 2


def _simulated(rng: np.random.Generator, unit: float) -> tuple[float, float]:
    """Return TPR and FPR among so many releases with and without the target."""
    sd = unit * math.sqrt(_SIMULATED) / _RECORDS
    found = []
    for mean in (1 / _RECORDS, 0.0):
        answers = mean + rng.normal(scale=sd, size=(_TRIALS, _SIMULATED))
        found.append(float((answers.sum(axis=1) > _SIMULATED / _RECORDS).mean()))
    return found[0], found[1]


def _panels(tried: list[float]) -> tuple[Panel, Panel]:
    # Noise in units of sqrt(k) / n: what differential privacy with a constant epsilon takes.
    units = np.geomspace(0.12, 3.0, 25).tolist()
    half = 0.5 - DELTA
    tail = [math.log(half / min(half, math.exp(-1 / (2 * u * u)))) for u in units]
    by_queries = []
    for queries in (10, 100, 1000, 10_000):
        noise = [(sd, sd * _RECORDS / math.sqrt(queries)) for sd in np.geomspace(5e-4, 0.2, 25)]
        near = [(float(sd), unit) for sd, unit in noise if 1 / unit < _FAR]
        found = [refuted_epsilon(*_rates(unit)) for _, unit in near]
        by_queries.append(Curve(f"k = {queries}", [sd for sd, _ in near], found))
    return (
        Panel(
            "Any number of queries: noise in units of sqrt(k) / n",
            "sigma n / sqrt(k)",
            f"epsilon at delta = {DELTA:g}",
            (
                Curve("the mechanism's own epsilon", units, [epsilon_of_mu(1 / u) for u in units]),
                Curve(
                    "refuted by the attack at k/n",
                    units,
                    [refuted_epsilon(*_rates(unit)) for unit in units],
                    "--",
                ),
                Curve("the notes' tail bound", units, tail, ":"),
                Curve(f"attack carried out on {_SIMULATED} queries", _TRIED, tried, "o"),
            ),
        ),
        Panel(
            "What the attack refutes, by the noise on each of k answers",
            f"sigma, n = {_RECORDS}",
            f"epsilon at delta = {DELTA:g}",
            by_queries,
            log="x",
        ),
    )


def thm2() -> Made:
    """Compute the curves and carry the attack out."""
    checks, tried = [], []
    for place, unit in enumerate(_TRIED):
        found = _simulated(draws(place), unit)
        tried.append(refuted_epsilon(*found))
        for name, rate, truth in zip(("TPR", "FPR"), found, _rates(unit), strict=True):
            slack = 5 * math.sqrt(truth * (1 - truth) / _TRIALS)
            checks.append(
                Check(
                    f"{name}, {_SIMULATED} queries, noise {unit:g} sqrt(k)/n, {_TRIALS:,} releases",
                    rate,
                    (truth - slack, truth + slack),
                    f"closed form {truth:.4f}; simulation error: 5 standard errors",
                )
            )
    strong, weak = refuted_epsilon(0.9, 0.01, 0.0), refuted_epsilon(0.05, 0.01, 0.0)
    return Made(
        _panels(tried),
        Claim(
            "With noise o(sqrt(k)/n) no constant epsilon holds.",
            "At a quarter of sqrt(k)/n the attack refutes every epsilon below "
            f"{refuted_epsilon(*_rates(0.25)):.1f}, whatever k and n: only "
            "sigma n / sqrt(k) matters.",
            "yes",
        ),
        Claim(
            "TPR 90% at FPR 1% means epsilon at best ln 90, about 4.5; 5% at 1%, ln 5, about 1.6.",
            f"{strong:.4f} and {weak:.4f}.",
            "yes",
        ),
        *checks,
        Check("epsilon refuted by TPR 0.9 at FPR 0.01", strong, (4.4998, 4.4999), "ln 90"),
        Check("epsilon refuted by TPR 0.05 at FPR 0.01", weak, (1.6094, 1.6095), "ln 5"),
    )
