"""Which cells are run."""

from __future__ import annotations

import pytest

from mipaudit.validation.laws import LAWS, VECTOR_LAWS, law
from mipaudit.validation.replications import TELLING, cells_of, control_cell


@pytest.mark.parametrize(
    ("form", "replications", "seconds"), [("quick", 1000, 240), ("full", 4000, 7200)]
)
def test_a_form_is_within_its_means(form, replications, seconds):
    cells = cells_of(form)
    assert {cell.replications for cell in cells} == {replications}
    assert sum(cell.seconds * cell.replications for cell in cells) <= seconds
    assert len({(c.scenario, c.n_members, c.n_holdout, c.prior, c.order) for c in cells}) == len(
        cells
    )
    assert {cell.order for cell in cells} == {"shuffled", "sorted", "reversed", "by class"}
    assert {cell.prior for cell in cells} >= {0.5, 0.1, 0.01}
    discrete = {cell.discrete for cell in cells if law(cell.scenario).discrete}
    assert discrete == {True, False}
    assert not any(cell.discrete for cell in cells if not law(cell.scenario).discrete)
    assert {50, 1_000, 10_000} <= {cell.records for cell in cells}


def test_the_long_form_has_every_law_and_large_and_uneven_files():
    cells = cells_of("full")
    assert {cell.scenario for cell in cells if cell.records == 50} == {*LAWS, *VECTOR_LAWS}
    assert 100_000 in {cell.records for cell in cells}
    assert len(LAWS) >= 48
    sizes = {(cell.n_members, cell.n_holdout) for cell in cells}
    assert sizes >= {(100, 9_900), (6_000, 60), (25, 25_000), (25, 100_000)}
    assert {(cell.prior, cell.records) for cell in cells} >= {(0.9, 1_000), (0.01, 100_000)}
    uneven = [cell for cell in cells if cell.n_members * 99 <= cell.n_holdout]
    assert {"shuffled", "by class"} <= {cell.order for cell in uneven}


@pytest.mark.parametrize("form", ["quick", "full"])
def test_where_limits_were_once_wrong_is_always_run(form):
    cells = cells_of(form)
    named = {"flagged-members", "half-flagged", "part-of-1000"}
    assert {cell.scenario for cell in cells} >= named
    assert (2_500, 2_500, "by class") in {(c.n_members, c.n_holdout, c.order) for c in cells}
    more = set(cells_of(form, strict=True)) - set(cells)
    assert len({(cell.n_members, cell.n_holdout) for cell in more}) == 20


def test_what_is_chosen_is_combined():
    cells = cells_of("quick", scenarios=("constant", "comb-64"), sizes=(21, 60), priors=(0.3,))
    assert [(c.scenario, c.n_members, c.n_holdout, c.prior) for c in cells] == [
        ("constant", 10, 11, 0.3),
        ("constant", 30, 30, 0.3),
        ("comb-64", 10, 11, 0.3),
        ("comb-64", 30, 30, 0.3),
    ]
    chosen = cells_of("quick", priors=(0.4,), replications=7)
    assert {cell.scenario for cell in chosen} == set(TELLING)
    assert {cell.replications for cell in chosen} == {7}
    assert {cell.scenario for cell in cells_of("full", priors=(0.4,))} == set(LAWS)


def test_controls_are_judged_where_nothing_leaks():
    assert law(control_cell(5).scenario).advantage(control_cell(5).prior) == 0
    assert control_cell(4000).replications == 4000
