"""Equal files under several names, and rows that were copied."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mipaudit.data.opening import open_input
from mipaudit.data.request import ReadRequest
from mipaudit.errors import InputError
from tests.fixtures.files import save


def table(n=400, seed=0, law="normal"):
    rng = np.random.default_rng(seed)
    score = {
        "normal": lambda: np.round(rng.normal(size=n), 6),
        "coarse": lambda: rng.integers(0, 3, n),
        "half": lambda: np.round(rng.normal(size=n), 1),
    }[law]()
    return pd.DataFrame({"member": np.arange(n) % 2, "score": score})


@pytest.mark.parametrize("law", ["normal", "coarse", "half"])
@pytest.mark.parametrize("suffixes", [("csv", "csv"), ("parquet", "parquet"), ("csv", "parquet")])
def test_equal_files_are_refused(tmp_path, fails, read, law, suffixes):
    parts = [tmp_path / "parts" / f"p{at}.{suffix}" for at, suffix in enumerate(suffixes)]
    for part in parts:
        save(table(law=law), part)
    error = fails("identical_parts", tmp_path / "parts")
    assert error.message.startswith("1 of 2 files")
    assert "--rows-are independent" in error.hint
    found = read(tmp_path / "parts", rows_are="independent")
    assert found.findings == ["rows_taken_as_independent"]
    assert len(found.member) == 800
    assert read(parts[0]).findings == []


def test_thirty_equal_files(tmp_path, fails):
    for at in range(30):
        save(table(200, law="coarse"), tmp_path / "parts" / f"{at}.csv")
    assert fails("identical_parts", tmp_path / "parts").message.startswith("29 of 30")


@pytest.mark.parametrize("law", ["normal", "coarse", "half"])
def test_different_files_and_small_discrete_ones_are_ordinary(tmp_path, read, law):
    for at in range(12):
        save(table(200, seed=at, law=law), tmp_path / "large" / f"{at}.csv")
    assert read(tmp_path / "large").findings == []
    for at in range(60):
        save(table(2, seed=at, law="coarse"), tmp_path / "small" / f"{at}.csv")
    assert read(tmp_path / "small").findings == []
    for at in range(9):
        sorted_ = table(200, seed=at, law="coarse").sort_values(["member", "score"])
        save(sorted_.assign(score=sorted_.score > 0), tmp_path / "sorted" / f"{at}.csv")
    assert read(tmp_path / "sorted").findings == []


def test_equal_files_of_several_audits_are_told_apart_by_where(tmp_path, fails, read):
    for seed in (0, 1):
        save(table(), tmp_path / f"seed={seed}" / "a.csv")
    fails("identical_parts", tmp_path)
    assert read(tmp_path, where="seed = 1").findings == []


def refused(frame):
    with pytest.raises(InputError) as caught:
        open_input(frame, None, None, ReadRequest())
    return caught.value.code


@pytest.mark.parametrize("times", [2, 3, 10])
def test_copied_rows_of_a_continuous_score(times):
    copies = pd.concat([table()] * times).sample(frac=1, random_state=1)
    assert refused(copies) == "copied_rows"
    assert refused(copies.assign(loss=copies.score * np.pi)) == "copied_rows"
    with open_input(copies, None, None, ReadRequest(rows_are="independent")) as source:
        assert [one.code for one in source.assumed] == ["rows_taken_as_independent"]


@pytest.mark.parametrize("apart", [2e-16, 1e-12, 1e-9, 1e-6])
def test_copies_that_differ_in_their_last_digits(apart):
    for seed in range(5):
        copies = pd.concat([table(seed=seed)] * 5, ignore_index=True)
        noise = np.random.default_rng(seed).normal(size=len(copies))
        assert refused(copies.assign(score=copies.score * (1 + apart * noise))) == "copied_rows"


def test_changed_copies_of_a_large_input():
    copies = pd.concat([table(100_000)] * 2, ignore_index=True)
    changed = np.nextafter(copies.score, np.where(copies.index % 3, np.inf, -np.inf))
    assert refused(copies.assign(score=changed)) == "copied_rows"


ORDINARY = {
    "ranks": lambda rng, n: rng.permutation(n) / n,
    "ends": lambda rng, n: np.linspace(-1, 1, n),
    "confident": lambda rng, n: 1 - 10 ** rng.uniform(-12, 0, n),
    "saturated": lambda rng, n: -np.log1p(np.exp(-rng.normal(15, 9, n))),
    "single": lambda rng, n: rng.normal(size=n).astype(np.float32).astype(float),
    "half": lambda rng, n: rng.normal(size=n).astype(np.float16).astype(float),
    "leaves": lambda rng, n: rng.random(n // 9)[rng.integers(0, n // 9, n)],
    "near leaves": lambda rng, n: rng.integers(0, n // 9, n) / 7 + 1e-13 * rng.normal(size=n),
    "times": lambda rng, n: 1.7e9 + 60.001 * np.arange(n),
}


@pytest.mark.parametrize("law", ORDINARY)
@pytest.mark.parametrize("rows", [50, 600, 20_000, 200_000])
def test_scores_that_lie_close_are_ordinary(law, rows):
    rng = np.random.default_rng(rows)
    for _ in range(3 if rows > 1000 else 20):
        score = ORDINARY[law](rng, rows)
        frame = pd.DataFrame({"member": rng.random(rows) < 0.5, "score": score})
        assert open_input(frame, None, None, ReadRequest()).assumed == ()


def test_copied_rows_of_a_large_input():
    """Values are chosen by their hash, so that all rows of a value are counted or none."""
    big = table(200_000)
    assert open_input(big, None, None, ReadRequest()).assumed == ()
    assert refused(pd.concat([big, big])) == "copied_rows"


def test_ties_are_ordinary():
    for law in ("coarse", "half"):
        twice = pd.concat([table(law=law)] * 2)
        assert open_input(twice, None, None, ReadRequest()).assumed == ()
    # Rows with the same score in the two classes were not copied within one.
    pairs = table(400).assign(score=np.repeat(table(200).score.to_numpy(), 2))
    assert open_input(pairs, None, None, ReadRequest()).assumed == ()


def test_the_files_of_this_project_are_ordinary(pytestconfig):
    root = pytestconfig.rootpath / "sample_data"
    for name in ("leaky.parquet", "private.parquet"):
        with open_input(str(root / name), None, None, ReadRequest()) as source:
            assert source.assumed == ()
    sides = str(root / "members.csv"), str(root / "holdout.csv")
    with open_input(None, *sides, ReadRequest()) as source:
        assert source.assumed == ()
