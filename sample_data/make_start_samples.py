"""Make probabilities.csv, models.csv and canaries.csv, as README.md beside it says.

A forest, eight regression trees and one noised sum: the kinds of file that people bring first.
Run it with scikit-learn installed: ``python sample_data/make_start_samples.py [FOLDER]``.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED: Final = 1
# Shapes of written digits: words, so that nobody has to number classes first.
SHAPES: Final = {0: "loop", 6: "loop", 8: "loop", 9: "loop", 1: "line", 4: "line", 7: "line"}
OTHER_SHAPE: Final = "curve"
PICTURES: Final = 600
RECORDS: Final = 200
DEPTHS: Final = range(1, 9)
CANARIES: Final = 200
# Of a sum in which each canary has a coordinate of its own and a length of 1: mu is 1 / 0.5 = 2.
NOISE: Final = 0.5


def forest_outputs(rng: np.random.Generator) -> Iterable[tuple[object, ...]]:
    """Yield a header, and what a forest says of each picture to four decimals."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier

    pictures, digits = load_digits(return_X_y=True)
    chosen = rng.permutation(digits.size)[:PICTURES]
    shapes = np.array([SHAPES.get(int(digit), OTHER_SHAPE) for digit in digits[chosen]])
    member = np.arange(PICTURES) < PICTURES // 2
    forest = RandomForestClassifier(min_samples_leaf=2, random_state=SEED)
    forest.fit(pictures[chosen][member], shapes[member])
    said = forest.predict_proba(pictures[chosen])
    yield ("member", "label", *forest.classes_)
    for who, shape, shares in zip(member, shapes, said, strict=True):
        yield (int(who), shape, *(f"{share:.4f}" for share in shares))


def errors_of_trees(rng: np.random.Generator) -> Iterable[tuple[object, ...]]:
    """Yield a header, and the error of every tree for every record."""
    from sklearn.datasets import load_diabetes
    from sklearn.tree import DecisionTreeRegressor

    features, target = load_diabetes(return_X_y=True)
    chosen = rng.permutation(target.size)[:RECORDS]
    features, target = features[chosen], target[chosen]
    member = np.arange(RECORDS) < RECORDS // 2
    yield ("model", "record_id", "member", "absolute_error")
    for depth in DEPTHS:
        tree = DecisionTreeRegressor(max_depth=depth, random_state=SEED)
        tree.fit(features[member], target[member])
        errors = np.abs(target - tree.predict(features))
        for record, (who, error) in enumerate(zip(member, errors, strict=True)):
            yield (f"depth-{depth}", record, int(who), f"{error:.2f}")


def canaries_of_a_sum(rng: np.random.Generator) -> Iterable[tuple[object, ...]]:
    """Yield a header, each canary's coin, and its coordinate of the noised sum."""
    included = rng.random(CANARIES) < 1 / 2
    scores = included + NOISE * rng.standard_normal(CANARIES)
    yield ("included", "score")
    for coin, score in zip(included, scores, strict=True):
        yield (int(coin), f"{score:.4f}")


def main(folder: Path) -> None:
    """Write the three files into ``folder``."""
    made = {
        "probabilities": forest_outputs,
        "models": errors_of_trees,
        "canaries": canaries_of_a_sum,
    }
    for name, rows in made.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows(rows(np.random.default_rng(SEED)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
