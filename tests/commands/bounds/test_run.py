"""``mipaudit.bounds``: one question at a time, from keywords to a report."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.commands.bounds.run import bounds
from mipaudit.errors import UsageError
from mipaudit.report.codec import to_json
from mipaudit.report.forms import report_text


def parsed(**asked):
    return json.loads(to_json(bounds(**asked)))


def allowed(**asked):
    return bounds(**asked).attacker


@given(
    epsilon=st.floats(0, 700), delta=st.sampled_from([0, 1e-5, 0.3]), prior=st.floats(0.01, 0.99)
)
def test_the_figures_of_one_game_fit_together(epsilon, delta, prior):
    found = allowed(epsilon=epsilon, delta=delta, prior=prior)
    assert (found.baseline, found.eta) == (abs(2 * prior - 1), found.excess / 2)
    assert found.advantage == pytest.approx(found.baseline + found.excess, rel=1e-12)
    right = [(1 + found.advantage) / 2, max(prior, 1 - prior) + found.eta]
    assert right == pytest.approx([found.accuracy] * 2, rel=1e-12)
    assert prior * (1 - 1e-12) <= found.precision <= found.posterior_limit * (1 + 1e-12)


def test_without_adjacency_both_readings_are_shown():
    found = bounds(epsilon=1)
    assert found.guarantee.adjacency_assumed
    (other,) = found.other_readings
    assert other.advantage == pytest.approx(1 - math.exp(-1))
    assert not bounds(epsilon=1, adjacency="substitution").other_readings
    found = bounds(epsilon=1, adjacency="add-remove")
    assert found.attacker.advantage == pytest.approx(1 - math.exp(-1))
    assert found.other_readings[0].advantage == pytest.approx(math.tanh(0.5))


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        ({"noise_sd": 2.0}, {"mu": 0.5}),
        ({"noise_sd": 2.0, "sensitivity": 4}, {"mu": 2.0}),
        ({"counting_queries": {"k": 100, "n": 1000}, "noise_sd": 0.01}, {"mu": 1.0}),
        ({"randomized_response": 0.75}, {"epsilon": math.log(3)}),
        ({"scale": 1000.0, "sensitivity": 500}, {"scale": 2.0}),
    ],
)
def test_two_names_for_one_curve(asked, same):
    one, two = (
        (found.advantage, found.precision, *found.tpr_at_fpr.values())
        for found in (allowed(**asked), allowed(**same, adjacency="substitution"))
    )
    assert one == pytest.approx(two, rel=1e-9)


def test_the_lectures_second_theorem():
    found = bounds(counting_queries={"k": 100, "n": 1000}, noise_sd=0.02).counting_queries
    mu = 10 / (1000 * 0.02)
    assert found.mu == pytest.approx(mu)
    assert found.tpr == 0.5
    assert found.fpr == pytest.approx(math.erfc(mu / math.sqrt(2)) / 2)
    assert found.fpr_bound == pytest.approx(math.exp(-100 / (2 * 1000**2 * 0.02**2)))
    assert found.fpr <= found.fpr_bound


def test_the_noise_that_counting_queries_need():
    found = bounds(counting_queries={"k": 100, "n": 1000}, advantage=0.1)
    needed = found.needed[0]
    assert needed.sensitivity == pytest.approx(0.01)
    back = bounds(counting_queries={"k": 100, "n": 1000}, noise_sd=needed.gaussian_sd * (1 + 1e-12))
    assert back.attacker.advantage == pytest.approx(0.1, rel=1e-9)
    assert len(found.needed) == 1


def test_an_attack_by_its_counts():
    found = bounds(tp=90, fn=10, fp=1, tn=99).refuted
    assert (found.tpr, found.fpr) == (0.9, 0.01)
    methods = [(limit.method, limit.sides) for limit in found.limits]
    assert methods == [*product(("clopper-pearson", "jeffreys"), (1, 2))]
    assert all(limit.epsilon_lower < found.epsilon for limit in found.limits)


def test_no_infinity_reaches_the_report():
    found = parsed(tpr=1, fpr=0)["refuted"]
    assert (found["epsilon"], found["mu"]) == (None, None)
    assert bounds(tpr=1, fpr=0).answer.get("perfect")
    for asked in ({"advantage": 0}, {"advantage": 1}, {"accuracy": 0.5}, {"mu": 1, "delta": 0}):
        assert parsed(**asked)["command"] == "bounds"
    assert parsed(advantage=1e-12, sensitivity=1e300)["needed"][0]["gaussian_sd"] is None


@pytest.mark.parametrize(
    ("asked", "figure", "value"),
    [
        *(({name: 0.75}, "delta", 0) for name in ("epsilon", "scale", "randomized_response")),
        *(({name: 1}, "delta", 1e-5) for name in ("mu", "rho")),
        ({"mu": 1, "delta": 0}, "epsilon", None),
        ({"mu": 1, "delta": 1}, "epsilon", 0),
        ({"scale": 1.0}, "epsilon", 1),
    ],
)
def test_the_delta_that_nobody_gave_and_its_epsilon(asked, figure, value):
    assert getattr(bounds(**asked).guarantee, figure) == value


def test_curves():
    found = bounds(mu=1.0, adjacency="substitution", curves=True).curves
    assert (found.fpr[0], found.fpr[-1]) == (0, 1)
    assert (found.tpr[0], found.tpr[-1]) == (0, 1)
    assert np.all(np.diff(found.fpr) > 0)
    np.testing.assert_allclose(np.add(found.tpr, found.fnr), 1, rtol=1e-12)
    assert np.all(np.diff(found.delta) <= 0)
    assert found.delta[-1] == pytest.approx(1e-10, rel=1e-6)
    assert set(found.advantage) == {"yeom", "erlingsson", "mace", "izzo", "humphries"}
    assert bounds(mu=1.0).curves is None
    assert bounds(epsilon=1, curves=True).curves.epsilon[-1] == pytest.approx(2)


FAST = ({"epsilon": 0.7}, {"epsilon": 3, "delta": 1e-4}, {"mu": 0.4}, {"scale": 2.0})


# Of concentrated privacy a curve takes many seconds.
@pytest.mark.parametrize(
    "asked",
    [{**one, "prior": p, "curves": True} for one in FAST for p in (0.5, 0.1)] + [{"rho": 0.1}],
    ids=repr,
)
def test_the_harsher_reading_is_used_where_nobody_said_which(asked):
    unsaid, said = bounds(**asked), bounds(**asked, adjacency="add-remove")
    assert unsaid.guarantee.adjacency_assumed
    assert unsaid.guarantee.adjacency == "add-remove"
    assert unsaid.other_readings == (said.attacker,)
    assert (unsaid.bounds, unsaid.curves) == (said.bounds, said.curves)
    words = " ".join(report_text(unsaid, width=80).split())
    assert (
        "only one figure fits, it is that of 'added or removed', which allows more to leak" in words
    )


EXTREMES = [
    *({"epsilon": x, "delta": d} for x, d in ((0, 0), (0, 1), (1e-8, 5e-324), (1e6, 1e-5))),
    {"epsilon": 746},
    *({name: x} for name in ("mu", "rho") for x in (0, 1e-300, 1e6)),
    *({"scale": 1e-6}, {"scale": 1e308, "sensitivity": 1e-300}),
    *({"noise_sd": 1e308, "sensitivity": 5e-324}, {"geometric_scale": 1e-6}),
    {"geometric_scale": 1e308, "sensitivity": 1e15},
    *({"randomized_response": 5e-324}, {"randomized_response": 1, "categories": 10**15}),
    {"counting_queries": {"k": 1e300, "n": 1e300}, "noise_sd": 1e-150},
]


@pytest.mark.parametrize("extreme", EXTREMES, ids=repr)
@pytest.mark.parametrize("prior", [1e-300, 0.5])
def test_no_end_overflows(extreme, prior):
    found = parsed(**extreme, prior=prior, recall_floor=1e-300)
    readings = [found["attacker"], *found["other_readings"]]
    names = ("advantage", "accuracy", "eta", "precision", "posterior_limit")
    for reading in readings:
        figures = [*(reading[name] for name in names), *reading["tpr_at_fpr"].values()]
        assert all(0 <= figure <= 1 for figure in figures)
    # Two steps allow no less than one.
    assert readings[0]["advantage"] <= readings[-1]["advantage"] * (1 + 1e-12)
    assert all(0 <= bound["advantage"] <= 1 for bound in found["bounds"])
    if "epsilon" in extreme and extreme["epsilon"] > 700:
        assert all(reading["accuracy"] == 1 for reading in readings)
        assert found["guarantee"]["epsilon"] == extreme["epsilon"]


AVERAGES = {"k": 1, "n": 9}
SEEN = {"tp": 9, "fn": 1, "fp": 1, "tn": 9}
# What no option says of itself: `tests/options/test_every_option.py` has the ranges of each.
BAD = [
    *((one, "nothing_asked", "Give a guarantee") for one in ({}, {"delta": 1e-5}, {"compose": []})),
    *(({"epsilon": x}, "epsilon", "must be a number") for x in ("1", 10**400)),
    ({"scale": 1e-9}, "sensitivity", "at most 1e+06 times the noise"),
    ({"geometric_scale": 1, "sensitivity": 1.5}, "sensitivity", "whole number, at most 1e15"),
    ({"geometric_scale": 1e300, "sensitivity": 1e16}, "sensitivity", "at most 1e15"),
    ({"noise_sd": 1, "sensitivity": 0}, "sensitivity", "above 0 and finite"),
    ({"eta": 0.1, "sensitivity": math.inf}, "sensitivity", "above 0 and finite"),
    ({"epsilon": 1, "mu": 1}, "one_guarantee", "--epsilon, --mu"),
    ({"noise_sd": 1, "scale": 1}, "one_guarantee", "--noise-sd, --scale"),
    ({"epsilon": 1, "advantage": 0.1}, "one_question", "a guarantee, one target, or an attack"),
    *(({"eta": 0.1, x: 0.1}, "one_question", "one target") for x in ("advantage", "tpr")),
    ({"epsilon": 1, "counting_queries": AVERAGES, "eta": 0.1}, "one_question", "one target"),
    ({"epsilon": 1, "sensitivity": 2}, "sensitivity", "can only be used with"),
    ({"tpr": 0.9, "fpr": 0.1, "sensitivity": 2}, "attack", "--sensitivity cannot be used"),
    ({"tpr": 0.9, "fpr": 0.1, "adjacency": "add-remove"}, "attack", "--adjacency cannot be used"),
    *(
        ({**one, "categories": 2}, "categories", "with --randomized-response")
        for one in ({"tpr": 0.9, "fpr": 0.1}, {"eta": 0.1}, {"epsilon": 1})
    ),
    ({"randomized_response": 0.7, "categories": 10**400}, "categories", "at most 1e15"),
    ({"randomized_response": 0.7, "categories": 2.5}, "categories", "whole number"),
    ({"randomized_response": 0.7, "adjacency": "add-remove"}, "adjacency", "Leave --adjacency out"),
    ({"counting_queries": AVERAGES}, "noise_sd", "--noise-sd"),
    *(
        ({"counting_queries": x, "noise_sd": 1}, "counting_queries", said)
        for x, said in (
            *(({"k": 1}, "takes exactly k, n"), (5, "takes exactly k, n")),
            *(({"k": 1.5, "n": 9}, "whole number for k"), ({"k": 0, "n": 9}, "at least 1")),
        )
    ),
    ({"counting_queries": AVERAGES, "eta": 0.1, "sensitivity": 1}, "sensitivity", "k and n"),
    ({"counting_queries": AVERAGES, "eta": 0.1, "adjacency": "add-remove"}, "adjacency", "Leave"),
    ({"dp_sgd": {"noise_multiplier": 1}}, "dp_sgd", "takes exactly noise_multiplier, q, steps"),
    *(({"compose": [x]}, "compose", "KIND being one") for x in (("noise", {"count": 1}), 3)),
    ({"compose": [("gaussian", {"count": 1})]}, "compose", "noise_multiplier, count after gauss"),
    ({"advantage": -0.1}, "advantage", "at least 0 and"),
    ({"advantage": math.nan}, "advantage", "must be a number"),
    ({"advantage": 0.7, "prior": 0.1}, "advantage", "at least 0.8"),
    ({"accuracy": 0.4}, "accuracy", "at least 0.5"),
    ({"eta": 0.6}, "eta", "at most 0.5"),
    ({"tpr_at_fpr": (0.001, 0.02)}, "tpr_at_fpr", "from the FPR up to 1"),
    ({"tpr_at_fpr": (0.5, 0)}, "tpr_at_fpr", "the FPR above 0 and below 1"),
    ({"tpr_at_fpr": 0.5}, "tpr_at_fpr", "a true-positive rate and a false-positive rate"),
    ({"tpr": 0.9}, "attack", "--tpr and --fpr"),
    ({"tp": 9}, "attack", "--tp, --fn, --fp and --tn"),
    ({**SEEN, "tpr": 0.9}, "attack", "and no rates"),
    ({**SEEN, "tp": 10**400}, "tp", "at least 0 and at most 1e9"),
    ({**SEEN, "fp": 0, "tn": 0}, "attack", "needs some members"),
    ({"eta": 0.1, "curves": True}, "curves", "Curves belong to a guarantee"),
]


@pytest.mark.parametrize(("asked", "code", "words"), BAD, ids=[repr(bad[0])[:70] for bad in BAD])
def test_a_bad_setting_is_one_clear_error(asked, code, words):
    with pytest.raises(UsageError) as caught:
        bounds(**asked)
    assert caught.value.code == code
    assert words in str(caught.value)
    assert caught.value.exit_code == 2


def test_numbers_may_come_as_numpys():
    assert allowed(epsilon=np.float64(1), prior=np.float32(0.5)) == allowed(epsilon=1)
    assert isinstance(allowed(epsilon=np.float64(1)).advantage, float)
    assert bounds(tp=np.int64(9), fn=np.int64(1), fp=1, tn=9).refuted.counts["tp"] == 9
