"""Persons with several rows: every command, every way out, and coverage where nothing leaks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import mipaudit as mp
from mipaudit.errors import UsageError
from mipaudit.report.forms import answer_of
from tests.fixtures.codes import refused

RULES = ("one", "mean", "max", "min", "sum")


def people(seed, *, people=40, each=20, name="person", leak=0.0, noise=0.3):
    """Return rows whose scores share an effect of their person."""
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(2 * people), each)
    effect = rng.normal(size=2 * people)
    member = (ids < people).astype(int)
    score = effect[ids] + leak * member + noise * rng.normal(size=ids.size)
    return pd.DataFrame({name: ids, "member": member, "score": score, "rep": np.arange(ids.size)})


def compared(data, **options):
    return mp.compare(data.assign(score2=data.score**3), **options)


def guessed(data, **options):
    data = data.assign(a=data.person % 3, b=data.rep % 3).drop(columns="score")
    return mp.attribute(data, attribute_col="a", guess_col="b", **options)


COMMANDS = {one.__name__: one for one in (mp.check, mp.records, mp.attack, mp.summarize)}
COMMANDS |= {
    "estimate": partial(mp.estimate, max_advantage=0.3),
    "epsilon": partial(mp.epsilon, design="one-model"),
    "compare": compared,
    "attribute": guessed,
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_asks_and_takes_each_answer(name):
    run, data = COMMANDS[name], people(1)
    assert "person" in str(refused("repeated_ids", run, data))
    assert run(data, unit_col="person", unit_rows="one") is not None
    assert run(data.assign(k=data.rep % 20), where="k = 3") is not None
    answered = run(data, rows_are="independent")
    if name == "summarize":
        answered = mp.estimate(answered, max_advantage=0.3)
    assert "rows_taken_as_independent" in [one.code for one in answered.findings]
    if name != "check":
        assert "If the rows are not, no limit here is true" in answer_of(answered)
    if getattr(answered, "verdict", None) is not None:
        assert "are independent" in answered.verdict.assuming


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
    plain, other = (
        [one.value for one in mp.attack(rows, unit_col="person", unit_rows=rule).attacks]
        for rows in (people(2), people(2).sample(frac=1, random_state=3))
    )
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
    refused("unit_infinite", mp.estimate, data, unit_rows="mean", **options)
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
    for rule in ("median", 3):
        refused("unit_rows", run, data, unit_col="person", unit_rows=rule)
    refused("unit_rows", run, data, unit_rows="mean")
    refused("rows_are", run, data, rows_are="dependent")


def test_arrays_have_no_persons():
    with pytest.raises(UsageError, match="unit_rows"):
        mp.estimate(members=np.arange(9.0), holdout=np.arange(8.0), unit_col="a", unit_rows="one")


@pytest.mark.parametrize(
    "options", [{"unit_col": "person", "unit_rows": "mean"}, {"rows_are": "independent"}]
)
def test_verify_makes_the_report_again(tmp_path, options):
    path = str(tmp_path / "scores.csv")
    people(9).to_csv(path, index=False)
    report = mp.estimate(path, max_advantage=0.3, score_col=("score",), **options)
    assert mp.verify(report, input=path).agrees


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (3, 1), (5, 200), (1000, 2)])
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
def test_a_handful_of_rows(sizes, strict):
    """Every limit is as wide as it must be, and nothing falls over."""
    asked = {"max_eta": 0.01, "max_tpr_at_fpr": (0.3, 0.1), "claimed_epsilon": 1, "method": "mace"}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        members = rng.normal(size=sizes[0])
        holdout = rng.integers(0, 3, sizes[1]) + rng.normal()
        report = mp.estimate(members=members, holdout=holdout, seed=seed, strict=strict, **asked)
        assert mp.to_json(report)
        for row in report.estimates:
            if row.validity == "not-an-interval":
                continue
            assert row.lower is None or row.upper is None or row.lower <= row.upper
            if row.quantity == "advantage" and row.attackers == "any":
                assert row.lower < 0.9
