"""Make the CSV pair members.csv and holdout.csv, as README.md beside it tells.

A regression tree of depth 6 is fitted to a random half of scikit-learn's
diabetes data; the score of a record is the absolute error of its prediction.
Run it with scikit-learn installed: ``python sample_data/make_samples.py [FOLDER]``.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

SEED: Final = 1
TREE_DEPTH: Final = 6
DECIMALS: Final = 4


def scored_halves() -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return who was in the fitted half, and the absolute error of every record."""
    from sklearn.datasets import load_diabetes
    from sklearn.tree import DecisionTreeRegressor

    features, target = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(SEED)
    member = np.zeros(target.size, dtype=np.bool_)
    member[rng.permutation(target.size)[: target.size // 2]] = True
    tree = DecisionTreeRegressor(max_depth=TREE_DEPTH, random_state=SEED)
    tree.fit(features[member], target[member])
    return member, np.abs(target - tree.predict(features))


def write_scores(path: Path, rows: Iterable[tuple[int, float]]) -> None:
    """Write one file of the pair: the record's number and its score."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("record_id", "absolute_error"))
        writer.writerows((record, f"{score:.{DECIMALS}f}") for record, score in rows)


def main(folder: Path) -> None:
    """Write both files into ``folder``."""
    member, score = scored_halves()
    for name, chosen in (("members.csv", member), ("holdout.csv", ~member)):
        records = np.flatnonzero(chosen).tolist()
        write_scores(folder / name, zip(records, score[chosen].tolist(), strict=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
