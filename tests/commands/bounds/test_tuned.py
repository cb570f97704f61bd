"""The best of several runs, and Renyi divergences that are stated."""

from __future__ import annotations

import json

import pytest

from mipaudit import bounds
from mipaudit.errors import UsageError
from mipaudit.maths.privacy.concentrated import RenyiDP
from mipaudit.output.stored_report import read_report
from mipaudit.report.forms import report_text

RUN = {"noise_multiplier": 1.0, "q": 0.02, "steps": 10}
LAWS = ("fixed", "poisson", "geometric", "logarithmic")


def test_every_way_to_come_by_the_number_stands_beside_one_run():
    report = bounds(dp_sgd=RUN, best_of=10, drawn="geometric")
    one, *ways = report.tuned
    assert (one.runs, one.drawn) == (1, "fixed")
    assert [way.drawn for way in ways] == list(LAWS)
    assert all(way.runs == 10 and way.epsilon > one.epsilon for way in ways)
    assert [way.drawn for way in ways if way.asked] == ["geometric"]
    asked = next(way for way in ways if way.asked)
    assert report.guarantee.epsilon == asked.epsilon
    assert report.other_readings[0].advantage == asked.advantage
    text = report_text(report, width=100)
    assert "10 on average, geometric (asked)" in text
    assert "a number of runs that was chosen: every run counts as published" in " ".join(
        text.split()
    )
    assert "drawn from it before the first run" in " ".join(text.split())


@pytest.mark.parametrize("drawn", LAWS)
def test_neighbours_are_those_that_a_run_is_stated_for(drawn):
    tuned = {"best_of": 3, "drawn": drawn}
    noise = bounds(mu=0.5, adjacency="substitution", **tuned)
    unsaid = bounds(mu=0.5, **tuned)
    assert noise.other_readings == ()
    assert unsaid.attacker.advantage == noise.attacker.advantage
    assert unsaid.other_readings[0].advantage > noise.attacker.advantage
    trained = bounds(dp_sgd=RUN, adjacency="substitution", **tuned)
    assert trained.guarantee.adjacency == "substitution"
    assert trained.attacker.advantage == bounds(dp_sgd=RUN, **tuned).attacker.advantage


def test_a_fixed_number_is_the_composition_of_all_runs():
    tuned = bounds(noise_sd=2.0, best_of=4, adjacency="substitution", delta=1e-5)
    composed = bounds(rho=4 / 8, adjacency="substitution", delta=1e-5)
    exact = bounds(mu=1.0, adjacency="substitution", delta=1e-5)
    # By zero-concentrated privacy, of some orders: never below the composition itself.
    assert tuned.guarantee.epsilon == pytest.approx(composed.guarantee.epsilon, rel=0.02)
    assert tuned.guarantee.epsilon > exact.guarantee.epsilon
    assert tuned.attacker.advantage > exact.attacker.advantage


def test_divergences_are_read_from_text_and_come_back():
    typed, given = bounds(rdp="2:0.1,4:0.25"), bounds(rdp={2: 0.1, 4.0: 0.25})
    assert typed.attacker == given.attacker
    assert typed.guarantee.renyi == {"2": 0.1, "4": 0.25}
    curve = RenyiDP(limits=((2.0, 0.1), (4.0, 0.25)))
    assert typed.attacker.tpr_at_fpr["0.1"] == curve.tpr(0.1)
    assert bounds(rho=0.5).guarantee.renyi["8"] == 4.0
    assert bounds(mu=1.0).guarantee.renyi["8"] == 4.0
    assert bounds(epsilon=1.0, delta=1e-5).guarantee.renyi == {}


WRONG = {
    "best_of": [
        *({"epsilon": 1.0, "best_of": 3}, {"rdp": "2:0.1", "best_of": 3}),
        *({"advantage": 0.1, "best_of": 3}, {"mu": 1.0, "best_of": 0}),
        {"compose": ("approximate-dp:epsilon=1,delta=0,count=1",), "best_of": 3},
    ],
    "drawn": [{"mu": 1.0, "drawn": "poisson"}],
    "rdp": [{"rdp": limits} for limits in ("1:0.1", "2:-0.1", "2", {}, "2:nan")],
    "one_guarantee": [{"rdp": "2:0.1", "mu": 1.0}],
    # Of guesses about a person, and of the noise for a guarantee.
    "baseline": [{"baseline": 0.1, "advantage": 0.2}, {"baseline": 1.1, "epsilon": 1.0}],
    "success": [{"success": (0.1, 0.2)}, {"success": "0.1"}],
    "one_question": [{"success": (0.2, 0.1), "epsilon": 1.0}],
    "gaussian_noise_for": [
        {"gaussian_noise_for": wanted}
        for wanted in ({"epsilon": 1.0, "delta": 0.0}, {"epsilon": 1.0}, "epsilon=1,delta=1")
    ],
}


@pytest.mark.parametrize(("code", "asked"), [(code, one) for code in WRONG for one in WRONG[code]])
def test_what_makes_no_sense_is_refused_by_its_name(code, asked):
    with pytest.raises(UsageError) as raised:
        bounds(**asked)
    assert raised.value.code == code


def test_a_report_from_before_is_read(mipaudit, tmp_path):
    """Without what newer reports say of divergences, of success and of the number of runs."""
    path = tmp_path / "old.json"
    fields = json.loads(mipaudit("bounds", "--epsilon", "1", "-f", "json").stdout)
    del fields["guarantee"]["renyi"], fields["attacker"]["success_at"], fields["tuned"]
    del fields["other_readings"][0]["success_at"]
    path.write_text(json.dumps(fields))
    read = read_report(str(path))
    assert (read.guarantee.renyi, read.attacker.success_at, read.tuned) == ({}, {}, ())
