"""Every command takes the same columns for scores, and says what it left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mipaudit.commands.attack.run import attack
from mipaudit.commands.check.run import check
from mipaudit.commands.compare.run import compare
from mipaudit.commands.epsilon.run import epsilon
from mipaudit.commands.estimate.run import estimate
from mipaudit.commands.records.run import records
from mipaudit.commands.render.run import rejudge
from mipaudit.commands.shift.run import shift
from mipaudit.commands.summarize.run import summarize
from mipaudit.data.words import CANDIDATES
from mipaudit.errors import MipauditError
from mipaudit.report.messages.told import is_serious, told
from mipaudit.report.walk import walk_of

LEFT_OUT = "may be scores were left out"


def headline(report):
    return told(report.answer)


def frame(name: str = "score", *, leaks: bool = True, kind: str = "int64") -> pd.DataFrame:
    """Return 400 rows whose column ``name`` leaks, beside floats that say nothing."""
    rng = np.random.default_rng(5)
    member = np.arange(400) % 2 == 0
    score = np.round(rng.normal(3.0 * member * leaks, 1.0) * 100)
    column = score > 150 if kind == "bool" else score.astype(kind)
    return pd.DataFrame({"member": member, name: column, "latency_ms": rng.random(400)})


@pytest.mark.parametrize(
    ("name", "kind"),
    [("score", "int64"), ("LOSS_1", "int8"), ("confidence", "uint16"), ("correct", "bool")],
)
def test_a_leak_in_a_named_column_breaks_the_policy(name, kind):
    table = frame(name)
    table[name] = table[name] > 150 if kind == "bool" else (table[name] // 8 % 97).astype(kind)
    table[name] = np.where(table["member"], 1, 0).astype(kind)
    report = estimate(table, max_advantage=0.2)
    assert report.verdict.status == "not_met"
    assert set(report.design.score_columns) == {name, "latency_ms"}
    assert "scores_found" in {one.code for one in report.findings}


def test_a_verdict_says_that_a_column_was_left_out():
    report = estimate(frame("hits"), max_advantage=0.5)
    assert report.verdict.status == "met"
    assert LEFT_OUT in headline(report)
    again = rejudge(report, max_advantage=0.4)
    assert LEFT_OUT in headline(again)
    named = estimate(frame("hits"), max_advantage=0.5, score_col=["latency_ms"])
    assert LEFT_OUT not in headline(named)
    assert not {"score_left_out", "scores_found"} & {one.code for one in named.findings}


@pytest.mark.parametrize("command", [estimate, check, compare, epsilon, attack])
def test_commands_choose_alike(command):
    given = {"design": "independent-runs"} if command is epsilon else {}
    report = command(frame(), **given)
    told = {one.code for one in report.findings}
    assert "scores_found" in told
    if command is compare:
        return
    left = command(frame("hits"), **given)
    assert "score_left_out" in {one.code for one in left.findings}


def test_records_asks_which_of_two_scores_is_meant():
    with pytest.raises(MipauditError):
        records(frame())
    report = records(frame("hits"), limits=[{"quantity": "risk", "max": 0.99}])
    assert LEFT_OUT in walk_of(report).answer


def test_summaries_carry_what_was_left_out():
    report = estimate(summarize(frame("hits")), max_advantage=0.5)
    assert LEFT_OUT in headline(report)
    assert LEFT_OUT not in headline(replace(report, findings=()))


@pytest.mark.parametrize("name", CANDIDATES)
def test_every_column_of_membership_is_found_and_is_no_feature(name):
    table = frame().rename(columns={"member": name})
    assert check(table).design.member_column == name
    sides = [table[table[name] == side] for side in (True, False)]
    assert {one.column: one.why.code for one in shift(*sides).design.skipped} == {
        name: "says_membership"
    }


def test_records_in_place_of_scores_are_named_so():
    ages = np.arange(200) % 60 + 20
    words = np.where(ages > 50, "old", "young")
    people = pd.DataFrame({"member": np.arange(200) % 2, "age": ages, "job": words, "town": words})
    told = {one.code: one for one in estimate(people).findings}
    assert is_serious(told["looks_like_records"])
    for table in (
        people.drop(columns="town"),
        people.rename(columns={"age": "score_age"}),
        people.assign(age=ages * 0.5 + 0.25),
    ):
        assert "looks_like_records" not in {one.code for one in estimate(table).findings}
    named = estimate(people, score_col="age")
    assert "looks_like_records" not in {one.code for one in named.findings}
