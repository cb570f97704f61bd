"""Cells by one lookup are the cells of a search."""

import pickle

import numpy as np
import pytest

from mipaudit.summaries.cells import build_cells
from mipaudit.summaries.tally import CellCodes, CodeCounter, Workspace, float_grid

SIZES = {"prior": 0.5, "coarse": 300, "fine": 1 << 14}
RNG = np.random.default_rng(8)
LAWS = {
    "gaussian": RNG.standard_normal(40_000),
    "heavy": RNG.standard_cauchy(40_000) ** 3,
    "ties": np.round(RNG.standard_normal(40_000), 1),
    "magnitudes": np.exp(5 * RNG.standard_normal(40_000)),
    "both signs": np.exp(9 * RNG.standard_normal(40_000)) * RNG.choice([-1.0, 0.0, 1.0], 40_000),
    "tiny range": 1.0 + RNG.random(40_000) * 1e-13,
}


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("name", LAWS)
def test_both_cells_are_those_of_a_search(name, discrete):
    values = np.round(LAWS[name], 1) if discrete else LAWS[name]
    half = values.size // 2
    cells = build_cells(values[:half], values[half:], **SIZES, discrete=discrete, grid=not discrete)
    wild = [0.0, -0.0, np.inf, -np.inf, 1e308, -1e308, 5e-324]
    scores = np.concatenate([values, cells.edges, np.nextafter(cells.edges, np.inf), wild])
    codes = pickle.loads(pickle.dumps(CellCodes(cells)))  # noqa: S301
    # Counts that came back from a worker are added up, and locate nothing any more.
    assert vars(codes).keys() == {"_cells", "shift"}
    room = Workspace()
    for part in (scores, scores[::2], scores[:0]):
        found, searched = codes(part, room)
        fine = np.searchsorted(cells.edges, part, side="left")
        assert (found >> codes.shift).tolist() == fine.tolist()
        assert (found & ((1 << codes.shift) - 1)).tolist() == cells.coarse[fine].tolist()
        assert np.isinf(searched).sum() == np.isinf(part).sum()


def test_scores_of_many_magnitudes_have_a_grid_too():
    values = LAWS["magnitudes"]
    halves = np.split(values, 2)
    cells = build_cells(*halves, **SIZES, discrete=False, grid=True)
    assert cells.buckets is None
    assert float_grid(cells.edges, most=8) is not None
    _, searched = CellCodes(cells)(values, Workspace())
    assert searched.size < values.size / 50


def test_crowded_buckets_and_tails_are_found_too():
    crowd = 5.0 + RNG.random(20_000) * 1e-4
    values = np.concatenate([RNG.standard_normal(60_000), crowd, [-1e300, 1e300]])
    RNG.shuffle(values)
    half = values.size // 2
    cells = build_cells(values[:half], values[half:], **SIZES, discrete=False, grid=True)
    assert cells.buckets is not None
    edges = np.bincount(cells.buckets.clipped(cells.edges))
    assert edges.max() > 8
    assert ((edges > 3) & (edges <= 8)).any()
    near = [np.nextafter(cells.edges, side) for side in (-np.inf, np.inf)]
    scores = np.concatenate([values, cells.edges, *near, [np.inf, -np.inf]])
    codes = CellCodes(cells)
    found, searched = codes(scores, Workspace())
    fine = np.searchsorted(cells.edges, scores, side="left")
    assert (found >> codes.shift).tolist() == fine.tolist()
    assert np.isinf(searched).sum() == 2


def test_a_counter_adds_up_what_it_emptied(monkeypatch):
    monkeypatch.setattr("mipaudit.summaries.tally._MOST_IN_NARROW", 1000)
    codes = RNG.integers(0, 50, 5000).astype(np.int32)
    mine, other = CodeCounter(50), CodeCounter(50)
    for start in range(0, 5000, 700):
        (mine if start % 1400 else other).add(codes[start : start + 700])
    mine.merge(other)
    assert mine.counts().tolist() == np.bincount(codes, minlength=50).tolist()
