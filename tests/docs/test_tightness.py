"""The table of how tight the lower limit is: whole, in order, and found again on fewer files."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

from tests.places import ROOT, load_script

sys.path.insert(0, str(ROOT / "benchmarks"))
tightness = load_script(ROOT / "benchmarks" / "tightness.py")
PAGE = tightness.PAGE.read_text(encoding="utf-8")
FIGURES = tightness.figures()


def _table():
    part = PAGE.split("<!-- figures of: benchmarks/tightness.py -->")[1]
    lines = part.split("<!-- end of figures -->")[0].strip().splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {what: [float(cell) for cell in cells if cell] for what, *cells in rows}


TABLE = _table()


def test_the_table_has_every_figure_and_a_control_that_was_caught():
    *whats, control = TABLE
    assert whats == [figure.what for figure in FIGURES]
    assert "not* folded" in control
    assert TABLE[control][0] > tightness.ALPHA


def test_many_assignments_lie_between_the_strict_limit_and_the_best_set_told():
    for what, (told, many, strict) in list(TABLE.items())[:-1]:
        if "over seeds" in what:
            assert told == 0
            assert many <= strict / 2
        elif "gap" in what or "best of" in what:
            assert told <= many < strict
        else:
            assert many <= told
            assert strict < many or "1%" in what
    assert TABLE["no leak, 5,000 + 5,000: above 0 with the best of 20 seeds"][1] <= 0.06


@pytest.mark.parametrize(
    ("at", "effort", "within"), [(0, 0.1, 0.1), (2, 0.1, 0.35), (4, 0.1, 0.15)]
)
def test_fewer_files_find_about_the_same(at, effort, within):
    figure = tightness.figures(effort)[at]
    found = np.median([figure.measure(sample) for sample in figure.samples], axis=0)
    assert found == pytest.approx(TABLE[figure.what], rel=within)


def test_who_is_told_the_best_set_judges_it_on_all_rows():
    ends = np.array([0.0, 1.0])
    sure = tightness.told("separated", np.full(50, 1.5), np.full(60, 0.5))
    assert 0.85 < sure < 1
    assert tightness.told("two-valued", np.ones(50), np.zeros(50)) == pytest.approx(sure, abs=0.02)
    assert tightness.told("two-valued", ends, ends) == 0


def test_laws_are_twenty_two_with_a_leak_as_the_page_says():
    assert len(set(tightness.LAWS)) == 22
    assert all(sample.truth > 0.03 for sample in FIGURES[0].samples)
    assert re.search(r"medians over 22 laws with an advantage above 0\.03", PAGE)
