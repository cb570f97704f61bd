"""Persons with several rows: every command, every way out, and coverage where nothing leaks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import mipaudit as mp
from mipaudit.errors import InputError, UsageError
from mipaudit.report.forms import answer_of

RULES = ("one", "mean", "max", "min", "sum")


def people(seed, *, people=40, each=20, name="person", leak=0.0, noise=0.3):
    """Return rows whose scores share an effect of their person."""
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(2 * people), each)
    effect = rng.normal(size=2 * people)
    member = (ids < people).astype(int)
    score = effect[ids] + leak * member + noise * rng.normal(size=ids.size)
    return pd.DataFrame({name: ids, "member": member, "score": score, "rep": np.arange(ids.size)})


def commands():
    yield "estimate", lambda data, **options: mp.estimate(data, max_advantage=0.3, **options)
    yield "check", mp.check
    yield "records", mp.records
    yield "attack", mp.attack
    yield "summarize", mp.summarize
    yield "epsilon", lambda data, **options: mp.epsilon(data, design="one-model", **options)

    def compared(data, **options):
        return mp.compare(data.assign(score2=data.score**3), **options)

    def guessed(data, **options):
        data = data.assign(a=data.person % 3, b=data.rep % 3).drop(columns="score")
        return mp.attribute(data, attribute_col="a", guess_col="b", **options)

    yield "compare", compared
    yield "attribute", guessed


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_asks_and_takes_each_answer(name):
    run, data = COMMANDS[name], people(1)
    with pytest.raises(InputError, match="person") as caught:
        run(data)
    assert caught.value.code == "repeated_ids"
    assert run(data, unit_col="person", unit_rows="one") is not None
    assert run(data.assign(k=data.rep % 20), where="k = 3") is not None
    answered = run(data, rows_are="independent")
    if name == "summarize":
        answered = mp.estimate(answered, max_advantage=0.3)
    assert "rows_taken_as_independent" in [one.code for one in answered.findings]
    if name != "check":
        assert "If they are not, no limit here is true" in answer_of(answered)
    if getattr(answered, "verdict", None) is not None:
        assert "are independent" in answered.verdict.assuming


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_rows_changes_no_persons_score(rule):
    data = people(2)
    plain = mp.attack(data, unit_col="person", unit_rows=rule)
    other = mp.attack(data.sample(frac=1, random_state=3), unit_col="person", unit_rows=rule)
    assert [one.value for one in plain.attacks] == [one.value for one in other.attacks]


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_rows_changes_no_report(rule):
    rng = np.random.default_rng(11)
    data = people(10, each=5).assign(member=lambda d: rng.integers(0, 2, len(d)))
    reports = [
        mp.estimate(data.take(order), unit_col="person", unit_rows=rule, score_col=("score",))
        for order in (np.arange(len(data)), rng.permutation(len(data)))
    ]
    plain, other = (
        replace(one, provenance=reports[0].provenance, design=reports[0].design) for one in reports
    )
    assert "units_in_both_classes" in [one.code for one in plain.findings]
    assert plain == other


@pytest.mark.parametrize("rule", RULES)
def test_coverage_where_nothing_leaks(rule):
    """Rows taken for independent are the control: they are wrong in most files."""
    name = "run_id" if rule == "mean" else "person"
    files, wrong, certified, control = 24, 0, 0, 0
    for seed in range(files):
        data = people(seed, name=name)
        units = {"unit_col": name, "unit_rows": rule, "score_col": ("score",)}
        report = mp.estimate(data, max_advantage=0.05, **units)
        wrong += report.verdict.status == "not_met"
        found = mp.epsilon(data, design="independent-runs", delta=0.0, **units)
        certified += (found.statements[0].lower or 0) > 0
        if seed < 8 and rule == "one":
            answered = {"rows_are": "independent", "score_col": ("score",)}
            status = mp.estimate(data, max_advantage=0.05, **answered).verdict.status
            control += status == "not_met"
    assert wrong <= binom.ppf(0.9999, files, 0.025)
    assert certified <= binom.ppf(0.9999, files, 0.05)
    assert rule != "one" or control >= 4


def test_a_leak_of_persons_is_found():
    data = people(3, people=200, each=4, leak=2.0)
    for rule in RULES:
        report = mp.estimate(
            data, unit_col="person", unit_rows=rule, max_advantage=0.2, score_col=("score",)
        )
        assert report.verdict.status == "not_met"
        assert report.design.n_members == 200


def test_the_number_of_rows_is_told_when_it_is_what_leaks():
    rng = np.random.default_rng(4)
    sizes = np.concatenate((1 + rng.poisson(6, 300), 1 + rng.poisson(2, 300)))
    ids = np.repeat(np.arange(600), sizes)
    data = pd.DataFrame({"person": ids, "member": ids < 300, "score": rng.normal(size=ids.size)})
    for rule in ("mean", "max", "sum"):
        report = mp.estimate(data, unit_col="person", unit_rows=rule)
        assert "unit_rows_unlike" in [one.code for one in report.findings]
    report = mp.estimate(data, unit_col="person", unit_rows="one", max_advantage=0.1)
    assert "unit_rows_unlike" not in [one.code for one in report.findings]
    assert report.verdict.status != "not_met"


@pytest.mark.slow
def test_persons_of_both_classes_whose_rows_oppose_each_other():
    """Counted in both classes they would make the variance of the difference twice as large."""
    files, wrong = 200, 0
    for seed in range(files):
        effect = np.random.default_rng(seed).normal(size=300)
        data = pd.DataFrame(
            {
                "person": np.tile(np.arange(300), 2),
                "member": np.repeat([1, 0], 300),
                "score": np.concatenate((effect, -effect)),
            }
        )
        report = mp.estimate(data, unit_col="person", max_advantage=0.01)
        wrong += report.verdict.status == "not_met"
        assert "units_in_both_classes" in [one.code for one in report.findings]
    assert wrong <= binom.ppf(0.9999, files, 0.025)


def test_missing_scores_of_persons():
    data = people(5, each=3)
    data.loc[::6, "score"] = np.nan
    options = {"unit_col": "person", "score_col": ("score",)}
    dropped = mp.estimate(data, nan="drop", unit_rows="mean", **options)
    assert dropped.design.n_members == 40
    lowest = mp.check(data, nan="category", unit_rows="min", **options)
    assert lowest.columns[0].infinite == 40


def test_infinite_scores_have_no_sum():
    data = people(6, each=2)
    data.loc[:1, "score"] = (np.inf, -np.inf)
    options = {"unit_col": "person", "score_col": ("score",)}
    with pytest.raises(InputError) as caught:
        mp.estimate(data, unit_rows="mean", **options)
    assert caught.value.code == "unit_infinite"
    assert mp.estimate(data, unit_rows="max", **options).design.n_members == 40


def test_the_kind_of_a_persons_score():
    data = people(7).assign(score=lambda d: d.score > 0)
    kinds = {
        rule: mp.check(data, unit_col="person", unit_rows=rule, score_col=("score",))
        .columns[0]
        .kind
        for rule in RULES
    }
    assert kinds == {"one": "bool", "mean": "float", "max": "bool", "min": "bool", "sum": "integer"}


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_values(name):
    run, data = COMMANDS[name], people(8)
    for bad in ({"unit_rows": "median"}, {"unit_rows": 3}, {"unit_rows": "mean"}):
        units = {} if bad["unit_rows"] == "mean" else {"unit_col": "person"}
        with pytest.raises(UsageError) as caught:
            run(data, **units, **bad)
        assert caught.value.code == "unit_rows"
    with pytest.raises(UsageError) as caught:
        run(data, rows_are="dependent")
    assert caught.value.code == "rows_are"


def test_arrays_have_no_persons():
    with pytest.raises(UsageError, match="unit_rows"):
        mp.estimate(members=np.arange(9.0), holdout=np.arange(8.0), unit_col="a", unit_rows="one")


def test_verify_makes_the_report_again(tmp_path):
    data = people(9)
    path = tmp_path / "scores.csv"
    data.to_csv(path, index=False)
    for options in (
        {"unit_col": "person", "unit_rows": "mean"},
        {"rows_are": "independent"},
    ):
        report = mp.estimate(str(path), max_advantage=0.3, score_col=("score",), **options)
        assert mp.verify(report, input=str(path)).agrees
