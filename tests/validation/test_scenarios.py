from __future__ import annotations

import math

import numpy as np
import pytest

from mipaudit.errors import UsageError
from mipaudit.validation.laws import LAWS, law
from mipaudit.validation.scenarios import listing, scenario, scenario_names
from mipaudit.validation.truth import Family, ScenarioParameter

NAMES = scenario_names()


def test_there_are_enough_and_no_name_stands_for_two():
    assert len(NAMES) == len(set(NAMES)) >= 40
    assert set(LAWS) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_finds_its_scenario(name):
    found = scenario(name)
    assert found.name == name
    assert found.summary
    assert not found.summary.endswith(".")
    assert found.columns[0] in {"record_id", "canary_id", "split"}
    assert found.kind in {"scores", "canaries", "splits"}
    if found.kind != "splits":
        assert found.views


def test_the_list_names_every_scenario_once_under_one_heading():
    entries = listing()
    listed = [name for entry in entries for name in entry.examples or (entry.name,)]
    assert listed == list(NAMES)
    headings = [entry.heading for entry in entries]
    firsts = [at for at, heading in enumerate(headings) if heading not in headings[:at]]
    assert headings == sorted(
        headings, key=lambda h: firsts[list(dict.fromkeys(headings)).index(h)]
    )
    for entry in entries:
        for parameter in entry.parameters:
            assert parameter.name in entry.name
            assert parameter.lowest < parameter.highest


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("laplace-2.5", {"eps": 2.5}),
        ("gauss-shift-0.3", {"mu": 0.3}),
        ("null-discrete-7", {"k": 7}),
        ("humphries-5", {"m": 5}),
        ("counting-queries-10-100-1e-2", {"queries": 10, "records": 100, "sd": 0.01}),
        ("yeom-regression-2-1", {"sd_members": 2, "sd_holdout": 1}),
        ("canaries-laplace-0.5", {"eps": 0.5}),
        ("random-half-mean-50", {"n": 50}),
    ],
)
def test_names_carry_numbers(name, parameters):
    assert scenario(name).parameters == parameters


def test_a_name_is_made_short():
    assert scenario("laplace-1.50").name == "laplace-1.5"
    assert scenario("counting-queries-10-100-1e-2").name == "counting-queries-10-100-0.01"
    assert law("laplace-1.0") is LAWS["laplace-1"] or law("laplace-1.0").name == "laplace-1"
    assert law("laplace-2.5").advantage(0.5) == pytest.approx(-math.expm1(-1.25), abs=1e-8)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "laplace-0",
            "laplace--1",
            "laplace-",
            "laplace",
            "laplace-x",
            "laplace-31",
            "laplace-nan",
        ),
        *("laplace-1-2", "laplace-inf", "null-discrete-1", "null-discrete-2.5", "comb-3"),
        *("izzo-prop9-22", "izzo-prop9-5", "random-half-mean-10", "yeom-regression-1"),
        *("counting-queries-1-2", "gauss-scale-1", "canaries-laplace-0", "xor2d-1.5"),
    ],
)
def test_a_number_out_of_range_names_the_range(name):
    with pytest.raises(
        UsageError, match=r"takes other numbers: \w+ is an? .* from .* to"
    ) as caught:
        scenario(name)
    assert caught.value.code == "scenario_parameter"
    assert caught.value.hint.startswith("For example ")


@pytest.mark.parametrize(
    ("name", "near"), [("gaus-shift-1", "gauss-shift-1"), ("laplac", "laplace"), ("qqqq", "--list")]
)
def test_an_unknown_name_gets_a_hint(name, near):
    with pytest.raises(UsageError) as caught:
        scenario(name)
    assert caught.value.code == "unknown_scenario"
    assert near in caught.value.hint
    assert name not in caught.value.message


def test_an_endless_name_is_refused_at_once():
    with pytest.raises(UsageError, match="no scenario"):
        scenario("z" * 1_000_000)


def test_the_longest_prefix_owns_a_name():
    assert scenario("gauss-scale-2").name == "gauss-scale-2"
    assert scenario("canaries-gauss-shift-2").kind == "canaries"


@pytest.mark.parametrize(
    "name",
    [
        *("laplace-0.01", "laplace-30", "geometric-0.01", "geometric-30", "gauss-shift-20"),
        *("gauss-scale-100", "gauss-shift-0.01", "randomized-response-30", "humphries-100000"),
        *("yeom-regression-1e-06-1000000", "yeom-regression-1-1", "colluding-32-64"),
        *("counting-queries-1e9-1e12-1e6", "counting-queries-1e9-1-1e-6", "covariate-shift-3"),
        *("xor2d-1", "null-discrete-65536", "comb-4096", "izzo-prop9-4", "random-half-mean-40"),
    ],
)
def test_the_ends_of_every_range_have_truths(name):
    for prior in (0.5, 0.01):
        truths = scenario(name).truths(prior)
        assert truths
        for truth in truths:
            assert (truth.value is None) == (truth.value_reason is not None)
            assert truth.value is None or math.isfinite(truth.value)
            if truth.quantity in {"advantage", "accuracy"}:
                assert abs(2 * prior - 1) - 1e-8 <= truth.value <= 1


def test_a_family_says_what_it_takes():
    even = ScenarioParameter(name="N", lowest=2, highest=8, step=2)
    family = Family(
        prefix="a-b",
        parameters=(even, ScenarioParameter(name="X", lowest=0.5, highest=1, step=None)),
        make=lambda n, x: n * x,
        examples=((2, 0.5),),
        summary="",
    )
    assert family.pattern == "a-b-N-X"
    assert family.names() == ["a-b-2-0.5"]
    assert family.make(*family.parse("a-b-8-7e-1")) == pytest.approx(5.6)
    with pytest.raises(UsageError, match="N is an even number from 2 to 8, X is a number"):
        family.parse("a-b-3-0.7")


def test_default_sizes():
    assert scenario("laplace-1").sizes == {"members": 1000, "holdout": 1000}
    assert scenario("imbalanced").sizes == {"members": 100, "holdout": 10_000}
    assert scenario("canaries-laplace-1").sizes == {"canaries": 1000}
    assert scenario("izzo-prop9-14").sizes == {"splits": 256}


def test_draws_have_the_columns_that_are_promised():
    for name in NAMES:
        found = scenario(name)
        if found.kind != "splits":
            member = np.array([True, False, True, False, False])
            drawn = found.draw(np.random.default_rng(0), member)
            assert tuple(drawn) == found.drawn == found.columns[2:]
            assert {len(values) for values in drawn.values()} == {5}
