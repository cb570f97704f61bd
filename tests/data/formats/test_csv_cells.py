"""Numbers in text that a float cannot tell apart, in files of every size."""

from __future__ import annotations

import gzip
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.commands.estimate.run import estimate
from mipaudit.data.formats import csv_file
from mipaudit.data.formats.csv_cells import loses_digits, lost_digits
from mipaudit.errors import InputError

WIDE = "0." + "5" * 17


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Read texts as small files and as large ones."""
    if request.param == "large":
        monkeypatch.setattr(csv_file, "SMALL_TEXT", 2000)
        monkeypatch.setattr(csv_file, "HEAD_BYTES", 1000)


def twice(path, cell, rows: int = 2000, *, before: int = 0) -> str:
    """Write ``rows`` cells, each by its class, after plain ones; return the path."""
    rng = np.random.default_rng(1)
    plain = "".join(f"{at % 2},{rng.random():.4f}\n" for at in range(before))
    text = "".join(f"{at % 2},{cell(at % 2)}\n" for at in range(rows))
    data = f"member,score\n{plain}{text}0,0.1\n1,0.2\n".encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


@pytest.mark.parametrize(
    "cell",
    [
        lambda one: f"1e{400 + 100 * one}",
        lambda one: f"-1E+0{400 + 100 * one}",
        lambda one: f"{2**53 + one}.0",
        lambda one: f"{2**53 + one}.000e0",
        lambda one: f"{10**19 + one}",
        lambda one: f"{10**25 + one}",
        lambda one: "1" + "0" * (400 + one) + ".0",
    ],
)
@pytest.mark.parametrize("before", [0, 3000])
@pytest.mark.parametrize("name", ["scores.csv", "scores.csv.gz"])
def test_integers_that_a_float_merges_are_refused(tmp_path, size, cell, before, name):
    with pytest.raises(InputError) as caught:
        estimate(twice(tmp_path / name, cell, before=before), max_advantage=0.5)
    assert caught.value.code == "large_integers"
    assert "'score'" in caught.value.message


@pytest.mark.parametrize(
    "cell",
    [
        lambda one: f"{WIDE}{'58'[one]}00",
        lambda one: f"1e-{400 + 100 * one}",
        lambda one: f"0.{'0' * 400}{1 + one}",
        lambda one: f"1234567890123456789.{one + 1}",
        lambda one: f"0.1{'0' * 18}{one + 1}",
        lambda one: f"{3 + one}e-324",
    ],
)
@pytest.mark.parametrize("before", [0, 3000])
def test_digits_that_may_tell_the_classes_are_refused(tmp_path, size, cell, before):
    with pytest.raises(InputError) as caught:
        estimate(twice(tmp_path / "s.csv", cell, before=before), max_advantage=0.5)
    assert caught.value.code == "large_integers"


@pytest.mark.parametrize(
    "form",
    [
        repr,
        "{:.17g}".format,
        "{:.18e}".format,
        "{:.25f}".format,
        "{:.3f}".format,
        "{:+.16e}".format,
    ],
)
@pytest.mark.parametrize("coarse", [False, True])
def test_what_floats_are_written_as_loses_nothing(tmp_path, size, form, coarse):
    rng = np.random.default_rng(2)
    scores = rng.normal(size=3000)
    scores = np.floor(scores * 7) / 7 if coarse else scores
    lines = [f"{at % 2},{form(float(one))}\n" for at, one in enumerate(scores)]
    (tmp_path / "s.csv").write_text("member,score\n" + "".join(lines))
    report = estimate(str(tmp_path / "s.csv"), max_advantage=0.9)
    assert report.verdict.status == "met"


@pytest.mark.parametrize("cell", ["inf", "-inf", "Infinity", "0", "0.0", "0e-400", "nan", "1e300"])
def test_extremes_that_are_what_they_say(cell):
    assert lost_digits([cell], np.array([float(cell)])) is None


def test_infinity_and_zeros_in_large_files_are_ordinary(tmp_path, size):
    cells = ("inf", "0", "-inf", "0.0", "1e-300", "5e-324", "1e200", "1.5")
    lines = [f"{at % 2},{cells[at * at % 11 % 8]}\n" for at in range(4000)]
    (tmp_path / "s.csv").write_text("member,score\n" + "".join(lines))
    assert estimate(str(tmp_path / "s.csv"), max_advantage=0.9).verdict.status == "met"


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 40))
def test_rounded_floats_lose_nothing(value, digits):
    text = format(value, f".{digits - 1}e")
    if math.isfinite(float(text)):
        again = float(text)
        assert loses_digits(text, again) is False or again != value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=30))
def test_two_cells_of_as_many_digits_in_one_float_are_told(number):
    """If both say nothing more than their float, they are the same number."""
    value = float(number)
    near = number.next_plus() if number else number
    if len(number.as_tuple().digits) == len(near.as_tuple().digits) and float(near) == value:
        both = [loses_digits(str(one), value) for one in (number, near)]
        assert number == near or any(both)
    assert loses_digits(str(number), value) is False or Decimal(value) != number


def test_long_doubles_that_meet_in_a_float_are_refused(tmp_path):
    one = np.longdouble(1)
    if np.finfo(np.longdouble).eps == np.finfo(float).eps:
        pytest.skip("no wider float here")
    step = np.longdouble(2) ** -60
    same = np.full(500, one)
    members, holdout = np.concatenate([same, [2 * one]]), np.concatenate([same + step, [3 * one]])
    with pytest.raises(InputError) as caught:
        estimate(members=members, holdout=holdout, max_advantage=0.9)
    assert caught.value.code == "large_integers"
    with pytest.raises(InputError) as caught:
        estimate(members=same * 2 + 2**62, holdout=same * 2**64 + one)
    assert caught.value.code == "large_integers"
