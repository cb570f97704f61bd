"""Make model.npz and shadows.npz, as README.md beside it tells.

One network of 64 units is fitted to a random half of scikit-learn's digits, a tenth of whose
labels were replaced by wrong ones; and 24 others, each to a half of its own. Run it with
scikit-learn installed: ``python sample_data/make_model_samples.py [FOLDER]``.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED: Final = 1
MODELS: Final = 25
WRONG: Final = 0.1
UNITS: Final = 64
EPOCHS: Final = 200
COIN: Final = 0.5


def noisy_digits(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the pictures and their labels, of which a tenth are drawn anew."""
    from sklearn.datasets import load_digits

    pictures, labels = load_digits(return_X_y=True)
    wrong = rng.random(labels.size) < WRONG
    return pictures / 16, np.where(wrong, rng.integers(10, size=labels.size), labels)


def log_probabilities(
    pictures: NDArray[np.float64], labels: NDArray[np.int64], chosen: NDArray[np.bool_], seed: int
) -> NDArray[np.float64]:
    """Return what a network that was fitted to the chosen records says of all, (n, 10)."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier((UNITS,), max_iter=EPOCHS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(pictures[chosen], labels[chosen])
    return np.asarray(network.predict_log_proba(pictures))


def log_odds(log_p: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return log(p / (1 - p)) of the true class, (n,)."""
    rows = np.arange(labels.size)
    others = log_p.copy()
    others[rows, labels] = -np.inf
    return np.asarray(log_p[rows, labels] - np.logaddexp.reduce(others, axis=1))


def main(folder: Path) -> None:
    """Write both files into ``folder``; the target is the first network."""
    rng = np.random.default_rng(SEED)
    pictures, labels = noisy_digits(rng)
    included = rng.random((MODELS, labels.size)) < COIN
    said = [
        log_probabilities(pictures, labels, chosen, seed) for seed, chosen in enumerate(included)
    ]
    phi = np.array([log_odds(one, labels) for one in said]).astype(np.float16)
    target: dict[str, Any] = {"member": included[0], "labels": labels.astype(np.uint8)}
    np.savez_compressed(folder / "model.npz", logits=said[0].astype(np.float16), **target)
    np.savez_compressed(
        folder / "shadows.npz",
        shadow=phi[1:],
        inclusion=included[1:],
        target=phi[0],
        member=included[0],
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
