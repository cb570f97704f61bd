"""Epsilon from scores and counts: what each design may and may not certify."""

from __future__ import annotations

import json
import math

import jsonschema
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import betaincinv, logit

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.report.forms import report_text
from mipaudit.report.messages.told import told
from tests.fixtures.codes import codes

# Files of correct mechanisms: epsilon at delta 0, or at 1e-5.
TRUTH = {
    "dpaudit_laplace_eps1": (1.0, 0.0),
    "dpaudit_geometric_count_eps1": (1.0, 0.0),
    "dpaudit_rr_binary_eps1": (1.0, 0.0),
    "dpaudit_gauss_mu1": (4.37717809, 1e-5),
    "dpaudit_null_no_leak": (0.0, 0.0),
}


def runs(members, holdout, **settings):
    settings = {"design": "independent-runs", "delta": 0.0, **settings}
    return mipaudit.epsilon(members=members, holdout=holdout, **settings)


def lower(report):
    return report.statements[0].lower


def laplace(rng, epsilon, size):
    return rng.laplace(epsilon, 1, size), rng.laplace(0, 1, size)


@pytest.fixture
def rng():
    return np.random.default_rng(20240601)


@pytest.mark.parametrize("name", TRUTH)
def test_a_correct_mechanism_is_not_found_to_be_worse_than_it_is(data_dir, name):
    epsilon, delta = TRUTH[name]
    asked = {"design": "independent-runs", "delta": delta, "claimed_epsilon": epsilon}
    report = mipaudit.epsilon(data_dir / f"{name}.parquet", **asked)
    assert (0.8 if delta == 0 else 0.4) * epsilon <= lower(report) <= epsilon
    assert report.claim.status == "not_refuted"
    assert report.claim.reason.code == "nothing_against_claim"


def test_a_broken_claim_is_refuted(rng):
    report = runs(*laplace(rng, 2.0, 3000), claimed_epsilon=1.0)
    assert report.claim.status == "refuted"
    assert 1.0 < lower(report) <= 2.0
    assert report.statements[0].validity == "finite-sample"


COUNTS = {"tp": 90, "fn": 10, "fp": 5, "tn": 95}


def counted(**settings):
    return mipaudit.epsilon(**{"design": "independent-runs", "delta": 0, **COUNTS, **settings})


def clopper_pearson(report):
    return {one.method: one.lower for one in report.statements}["clopper-pearson"]


def test_clopper_pearson_of_counts():
    perfect = counted(confidence=0.99, tp=500, fn=0, fp=0, tn=500)
    half = 0.005 ** (1 / 500)
    assert lower(perfect) == pytest.approx(math.log(half / (1 - half)), abs=1e-9)
    assert clopper_pearson(perfect) == pytest.approx(4.541916, abs=5e-7)
    found = clopper_pearson(counted(tp=900, fn=100, fp=10, tn=990))
    assert found == pytest.approx(3.871970, abs=5e-7)


@pytest.mark.parametrize(
    ("numerator", "right", "wrong", "alpha"),
    [("member", 90, 5, 0.05), ("holdout", 95, 10, 0.05), ("either", 90, 5, 0.025)],
)
def test_the_conditional_limit_of_counts_is_that_of_a_share(numerator, right, wrong, alpha):
    expected = logit(betaincinv(right, wrong + 1, alpha))
    assert lower(counted(numerator=numerator)) == pytest.approx(expected, abs=1e-9)


def test_scores_that_are_all_equal_show_nothing_and_have_no_power():
    report = runs([1.0, 1.0], [1.0], claimed_epsilon=1.0)
    assert [one.needed for one in report.claim.power] == [None, None]
    assert report.claim.power[0].needed_reason.code == "no_attack"
    assert not report.statements[0].counts
    report = runs(np.zeros(200), np.zeros(200))
    assert lower(report) == 0
    assert report.statements[0].lower_reason
    assert "constant_column" in codes(report)
    assert report.answer.get("limit").code == "no_epsilon_refuted"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, bool])
def test_narrow_types_are_the_same_scores(rng, dtype):
    members, holdout = (rng.random((2, 1500)) < [[0.73], [0.27]]).astype(dtype)
    wide = runs(members.astype(float), holdout.astype(float))
    assert lower(runs(members, holdout)) == lower(wide)
    assert 0.7 < lower(wide) < 1.1


@pytest.mark.parametrize("delta", [0.0, 1e-300, 0.5, 0.999999, 1.0])
def test_every_delta_has_an_answer(rng, delta):
    found = lower(runs(*laplace(rng, 3.0, 500), delta=delta))
    truth = 0.0 if delta == 1 else max(0.0, 3 + 2 * math.log1p(-delta))
    assert 0.3 * truth <= found <= truth


def test_columns_share_the_error(rng):
    members, holdout = laplace(rng, 2.0, 1000)
    two = runs(np.c_[members, rng.normal(size=1000)], np.c_[holdout, rng.normal(size=1000)])
    assert [s.confidence for s in two.statements] == pytest.approx([0.975, 0.975])
    assert [s.score for s in two.statements] == ["score_0", "score_1"]  # strongest first
    alone = runs(members, holdout, confidence=0.975)
    assert two.statements[0].lower == alone.statements[0].lower


def test_a_key_makes_the_order_of_rows_irrelevant(rng):
    members, holdout = laplace(rng, 2.0, 400)
    scores = {"score": np.r_[members, holdout], "canary": np.repeat([True, False], 400)}
    frame = pd.DataFrame(scores | {"name": [f"run {i}" for i in range(800)]})
    shuffled = frame.sample(frac=1, random_state=1)
    for design in ("independent-runs", "one-run"):
        one, other = (mipaudit.epsilon(f, design=design, key_col="name") for f in (frame, shuffled))
        assert one.statements == other.statements
    frame["name"] = "same"
    with pytest.raises(mipaudit.InputError, match="repeats its values"):
        mipaudit.epsilon(frame, design="one-run", key_col="name")


def test_threads_and_parts_change_nothing(rng, tmp_path):
    members, holdout = laplace(rng, 1.0, 3000)
    order = rng.permutation(6000)
    columns = {"score": np.r_[members, holdout], "member": np.repeat([True, False], 3000)}
    table = pa.table({name: values[order] for name, values in columns.items()})
    pq.write_table(table, tmp_path / "one.parquet", row_group_size=500)
    for design in ("independent-runs", "one-run"):
        found = [
            mipaudit.epsilon(tmp_path / "one.parquet", design=design, jobs=jobs).statements
            for jobs in (1, 3)
        ]
        assert found[0] == found[1]
        assert found[0] == mipaudit.epsilon(table, design=design).statements


def test_neither_the_seed_nor_the_order_of_runs_is_in_the_answer(rng):
    members, holdout = laplace(rng, 1.0, 2000)
    first = runs(members, holdout, seed=0, delta=1e-5, assume_gdp=True, claimed_mu=0.5)
    asked = {"seed": "fresh", "delta": 1e-5, "assume_gdp": True, "claimed_mu": 0.5}
    other = runs(np.sort(members), holdout[::-1], **asked)
    assert (first.statements, first.claim) == (other.statements, other.claim)


def test_gaussian_limits_are_for_gaussian_mechanisms_only(rng):
    members, holdout = rng.normal(1, 1, 4000), rng.normal(0, 1, 4000)
    report = runs(members, holdout, delta=1e-5, assume_gdp=True)
    plain, gaussian = report.statements
    assert [one.standing.code for one in (plain, gaussian)] == ["decides", "assumes-gdp"]
    assert (plain.validity, gaussian.validity) == ("finite-sample", "assumes-gdp")
    assert plain.lower < gaussian.lower < 4.38
    assert gaussian.lower == pytest.approx(GaussianDP(mu=gaussian.mu_lower).epsilon_at(1e-5))
    assert 0.8 < gaussian.mu_lower < 1
    assert report.answer.get("limit").get("worth") is None
    deciding = runs(members, holdout, delta=1e-5, method="gdp", assume_gdp=True)
    assert deciding.answer.get("limit").get("worth").code == "assumes-gdp"


def test_a_claimed_mu_is_tested_without_an_assumption(rng):
    members, holdout = rng.normal(1, 1, 4000), rng.normal(0, 1, 4000)
    for delta in (0.0, 1e-5, 0.5, 0.9):
        asked = {"members": members, "holdout": holdout, "delta": delta}
        broken, true = (runs(**asked, claimed_mu=mu).claim for mu in (0.5, 1.0))
        assert (broken.status, true.status) == ("refuted", "not_refuted")
    assert "Gaussian" in told(broken.reason)
    assert broken.power == ()


def test_a_claimed_curve_may_be_points_and_agrees_with_the_mu_that_they_are_of(rng):
    members, holdout = rng.normal(1, 1, 2000), rng.normal(0, 1, 2000)
    fprs = np.geomspace(1e-5, 1, 200).tolist()
    curves = ((fprs, [*map(GaussianDP(mu=mu).tpr, fprs)]) for mu in (0.5, 1.0))
    found = [runs(members, holdout, claimed_curve=curve).claim.status for curve in curves]
    assert found == ["refuted", "not_refuted"]


def test_counts_test_a_claimed_mu():
    mus = (0.0, 0.5, 0.8, 1.0)
    found = [counted(tp=841, fn=159, fp=500, tn=500, claimed_mu=mu).claim.status for mu in mus]
    assert found == ["refuted"] * 3 + ["not_refuted"]


# ---- one run


def canaries(rng, size, shift):
    included = rng.random(size) < 0.5
    scores = rng.normal(size=size) + shift * included
    return scores[included], scores[~included]


def one_run(members, holdout, **settings):
    return runs(members, holdout, **{"design": "one-run", "delta": 1e-5, **settings})


def test_one_run_of_counts_is_the_same_as_of_scores(rng):
    members, holdout = canaries(rng, 2000, 1.5)
    asked = {"guesses": 400, "member_side": "high", "claimed_epsilon": 2, "inclusion_rate": 0.5}
    scored = one_run(members, holdout, **asked)
    right = scored.statements[0].counts["correct"]
    counted = mipaudit.epsilon(canaries=2000, guesses=400, correct=right, claimed_epsilon=2)
    assert counted.design.kind == "one-run"
    assert lower(counted) == lower(scored)
    assert counted.claim.p_value == scored.claim.p_value


def test_a_correct_run_keeps_its_claim(data_dir):
    asked = {"score_col": ["score"], "design": "one-run", "claimed_epsilon": 1, "assume_gdp": True}
    report = mipaudit.epsilon(data_dir / "dpaudit_onerun_wb_eps1.parquet", **asked)
    assert lower(report) <= 1
    assert report.claim.status == "not_refuted"
    assert (report.coin.canaries, report.coin.included) == (1000, 482)
    assert report.coin.p_value == pytest.approx(0.2684, abs=1e-3)
    assert report.statements[1].validity == "assumes-gdp"
    assert report.statements[1].mu_lower is not None


def test_a_gaussian_claim_about_one_run(rng):
    members, holdout = canaries(rng, 4000, 2.0)
    asked = {"guesses": 400, "member_side": "high"}
    claims = [one_run(members, holdout, **asked, claimed_mu=mu).claim for mu in (0.5, 2.0)]
    assert [claim.status for claim in claims] == ["refuted", "not_refuted"]
    assert claims[0].p_value < 0.01 < claims[1].p_value
    at_zero = one_run(members, holdout, assume_gdp=True, delta=0)
    assumed = at_zero.statements[1]
    assert (assumed.lower, assumed.lower_reason.code) == (None, "gaussian_without_epsilon")
    assert assumed.mu_lower > 0.5


# ---- one model


def test_one_model_restates_the_advantage(data_dir):
    path = data_dir / "dpaudit_rr_binary_eps1.parquet"
    report = mipaudit.epsilon(path, design="one-model", delta=0.01, confidence=0.975)
    advantage = mipaudit.estimate(path).estimates[0].lower  # one-sided at 97.5%
    implied = {s.method: s for s in report.statements}["advantage"]
    expected = math.log((1 + advantage - 0.02) / (1 - advantage))
    assert implied.lower == pytest.approx(expected, abs=1e-9)


def test_one_model_that_tells_nothing_or_everything():
    scores = np.zeros(500), np.ones(500)
    nothing, everything = (runs(one, scores[0], design="one-model") for one in scores)
    assert [s.lower for s in nothing.statements] == [0, 0]
    assert all(s.lower is None or 0 < s.lower < 20 for s in everything.statements)


# ---- power, curve, form


def test_power_is_about_epsilons_above_the_claim(rng):
    claim = runs(*laplace(rng, 1.0, 2000), claimed_epsilon=0.5, delta=1e-5).claim
    gaussian, laplacian = claim.power
    assert (gaussian.mechanism, laplacian.mechanism) == ("gaussian", "laplace")
    assert 0.5 < laplacian.refutable_epsilon < 0.8 < gaussian.refutable_epsilon
    assert laplacian.true_epsilon == 1.0
    assert laplacian.needed < gaussian.needed
    closer = runs(*laplace(rng, 1.0, 2000), claimed_epsilon=0.5, true_epsilon=0.6).claim.power
    assert closer[1].needed > 5 * laplacian.needed
    assert closer[0].refutable_epsilon is None  # delta 0
    assert closer[0].refutable_reason


@pytest.mark.parametrize("sizes", [(1, 1), (3, 3), (3, 4), (1, 6)])
def test_a_handful_of_runs_refutes_nothing(sizes):
    # Three of each kind of fixed number are apart by chance once in ten.
    report = runs(5 + np.arange(sizes[0]), np.arange(sizes[1]) / 9, claimed_epsilon=0.1)
    assert lower(report) == 0
    assert not report.statements[0].counts
    assert "fewer than 8 runs" in told(report.statements[0].lower_reason)


def test_the_curve_holds_at_every_delta(rng):
    report = runs(*laplace(rng, 1.0, 4000), delta=0.05, curve=True)
    deltas = [point.delta for point in report.profile]
    assert deltas == sorted({0, 0.05, *deltas})
    limits = [point.lower for point in report.profile]
    assert limits == sorted(limits, reverse=True)
    for point in report.profile:
        # Laplace noise: delta(epsilon) = 1 - exp((epsilon - 1) / 2).
        truth = max(0.0, 1 + 2 * math.log1p(-point.delta))
        assert point.lower <= truth
        assert point.lower - 1e-12 <= point.value <= truth + 0.2


def test_reports_follow_the_schema_and_hold_no_infinity(rng):
    validator = jsonschema.Draft202012Validator(mipaudit.schema())
    reports = [
        runs(*laplace(rng, 1.0, 100), claimed_epsilon=1, curve=True),
        runs([1.0], [0.0]),
        one_run(*canaries(rng, 100, 1.0), assume_gdp=True, delta=0, claimed_mu=1),
        mipaudit.epsilon(members=np.ones(50), holdout=np.zeros(50), design="one-model"),
        mipaudit.epsilon(canaries=10, guesses=10, correct=0, claimed_epsilon=0),
        counted(tp=0, fn=1, fp=1, tn=0, claimed_mu=1),
    ]
    for report in reports:
        written = json.loads(mipaudit.to_json(report))
        assert written["schema"] == "mipaudit.epsilon/3"
        assert list(validator.iter_errors(written)) == []


@pytest.mark.parametrize(("name", "design"), [("canary_id", "one-run"), ("record_id", "one-model")])
def test_ids_of_records_cast_doubt_on_independent_runs(rng, name, design):
    columns = {"score": rng.normal(size=200), "member": rng.random(200) < 0.5}
    frame = pd.DataFrame({name: range(200), **columns})
    doubted = mipaudit.epsilon(frame, design="independent-runs")
    assert "design_doubtful" in codes(doubted)
    assert f"`design` {design}" in told(doubted.findings[-1])
    assert "design_doubtful" not in codes(mipaudit.epsilon(frame, design=design))


WITHOUT = {"members": None, "holdout": None}
NINE = {**WITHOUT, "tp": 9, "fn": 1, "fp": 1, "tn": 9}
CANARIES = {**WITHOUT, "design": "one-run", "canaries": 9, "guesses": 9}
# What no option says of itself: `tests/options/test_every_option.py` has the ranges of each.
BAD = {
    "no_design": [{"design": None}],
    "delta": [{"assume_gdp": True, "delta": 0}, {"claimed_epsilon": 1, "delta": 1}],
    "assume_gdp": [{"method": "gdp"}],
    "one_claim": [{"claimed_epsilon": 1, "claimed_mu": 1}],
    "true_epsilon": [{"claimed_epsilon": 2, "true_epsilon": 2}, {"true_epsilon": 2}],
    "numerator": [{"numerator": "both"}],
    "other_design": [
        *({"guesses": 10}, {"member_side": "high"}, {"design": "one-run", "curve": True}),
        {"design": "one-run", "method": "gdp", "assume_gdp": True},
        {"design": "one-model", "assume_gdp": True},
        *({**NINE, "design": "one-model"}, {**CANARIES, "design": "independent-runs"}),
    ],
    "two_inputs": [{"tp": 1}],
    "no_input": [WITHOUT],
    "counts": [{**NINE, "tn": None}, {**NINE, "tn": 0, "fp": 0}, CANARIES],
    "tn": [{**NINE, "tn": -1}],
    "needs_scores": [{**NINE, "curve": True}],
    "bad_guesses": [{"design": "one-run", "guesses": guesses} for guesses in (0, 21)],
    "guesses": [{"design": "one-run", "guesses": guesses} for guesses in ((1, 2, 3), 1.5)],
    "bad_correct": [{**CANARIES, "correct": 10}],
    "inclusion_rate": [
        {**CANARIES, "correct": 5, "inclusion_rate": rate}
        for rate in (0, 1, math.nan, "half", 1e-9)
    ],
    "claimed_curve": [
        {"claimed_curve": points}
        for points in (([0.1], [0.2, 0.3]), ([], []), ([0.5], [0.4]), 7, ([0.1],))
    ],
    "empty_class": [{"members": [], "holdout": [1.0]}],
    "nan_scores": [{"members": [math.nan], "holdout": [1.0]}],
}


@pytest.mark.parametrize(("code", "change"), [(code, one) for code in BAD for one in BAD[code]])
def test_a_bad_setting_is_an_error(rng, code, change):
    members, holdout = rng.normal(size=(2, 10))
    settings = {"members": members, "holdout": holdout, "design": "independent-runs", **change}
    with pytest.raises(mipaudit.MipauditError) as caught:
        mipaudit.epsilon(**settings)
    assert caught.value.code == code


def test_missing_scores_are_outputs_and_may_not_be_left_out(rng):
    members, holdout = laplace(rng, 2.0, 500)
    members[:50] = np.nan
    for design in ("independent-runs", "one-run"):
        with pytest.raises(UsageError) as refused:
            mipaudit.epsilon(members=members, holdout=holdout, design=design, nan="drop")
        assert refused.value.code == "nan"
    assert runs(members, holdout, nan="category").design.n_members == 500
    dropped = mipaudit.epsilon(members=members, holdout=holdout, design="one-model", nan="drop")
    assert dropped.design.n_members == 450
    assert "nan_dropped" in codes(dropped)


def test_leaving_out_missing_outputs_would_have_certified_what_is_not_true(rng):
    """An exactly (1, 0)-private mechanism that says nothing at all about many records."""
    counts = {"members": (300, 431, 269), "holdout": (110, 159, 731)}
    outputs = np.array([1.0, np.nan, 0.0])
    members, holdout = (np.repeat(outputs, np.multiply(one, 25)) for one in counts.values())
    kept = runs(members, holdout, nan="category", claimed_epsilon=1)
    assert kept.claim.status == "not_refuted"
    inner = (one[~np.isnan(one)] for one in (members, holdout))
    assert lower(runs(*inner)) > 1


@pytest.mark.parametrize(
    "idle", [{"score_col": ["a"]}, {"where": "a = 1"}, {"nan": "category"}, {"key_col": "k"}]
)
def test_ways_to_read_scores_are_refused_where_there_are_counts(idle):
    for counts in ({"design": "independent-runs", **COUNTS}, CANARIES | {"correct": 5}):
        with pytest.raises(UsageError) as refused:
            mipaudit.epsilon(**counts, **idle)
        assert refused.value.code == "needs_scores"


def test_a_curve_is_not_tested_for_hours():
    huge = {"canaries": 10**9, "guesses": 10**9, "correct": 10**9 // 2 + 10**6}
    assert mipaudit.epsilon(**huge, claimed_epsilon=0.001).claim is not None
    with pytest.raises(UsageError) as refused:
        mipaudit.epsilon(**huge, claimed_mu=0.0001)
    assert refused.value.code == "correct"


def test_canaries_that_no_fair_coins_included_certify_nothing(rng):
    scores = rng.normal(size=1000)
    unfair = one_run(scores[:800], scores[800:], claimed_epsilon=0.5, guesses=500)
    assert unfair.claim.status == "not_certifiable"
    assert unfair.claim.power == ()
    assert unfair.coin.ruled_out
    assert unfair.statements[0].validity == "if-fair-coins"
    assert unfair.answer.code == "claim_not_certifiable"
    half = one_run(scores[:500] + 2, scores[500:], claimed_epsilon=0.5)
    assert half.claim.status == "refuted"
    assert half.claim.reason.get("worth").code == "if-fair-coins"
    mu = one_run(scores[:500] + 2, scores[500:], claimed_mu=0.1)
    assert mu.claim.reason.get("worth").code == "if-fair-coins"


def test_labels_have_no_order_and_a_filter_may_leave_one_class(rng):
    member = np.arange(40) < 20
    columns = {"member": member, "score": rng.normal(size=40), "site": np.where(member, "x", "y")}
    frame = pd.DataFrame(columns)
    with pytest.raises(UsageError, match="no order"):
        mipaudit.epsilon(frame, design="independent-runs", score_col=["site"])
    with pytest.raises(InputError, match="no member record"):
        mipaudit.epsilon(frame, design="one-run", where="site = y")


def test_what_the_coins_are_is_recorded(rng):
    members, holdout = canaries(rng, 2000, 1.5)
    unstated, stated = one_run(members, holdout), one_run(members, holdout, inclusion_rate=0.5)
    assert (unstated.coin.rate, stated.coin.rate) == (None, 0.5)
    assert lower(unstated) < lower(stated)
    codes = [one.rests_on[0].code for one in (unstated, stated)]
    assert codes == ["coins_unstated", "coins_stated"]
    other = one_run(members, holdout, inclusion_rate=0.7)
    assert [f.code for f in other.findings if "inclusion" in f.code] == ["inclusion_not_fair"]
    assert other.coin.ruled_out
    # The odds of a guess at another rate: what a biased coin gives is no leak.
    fair, biased = (
        mipaudit.epsilon(canaries=1000, guesses=500, correct=300, inclusion_rate=rate)
        for rate in (0.5, 0.6)
    )
    assert lower(fair) > 0.2
    assert lower(biased) == 0


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"guesses": 5000, "correct": 3667, "delta": 0.02}, "delta_allows"),
        ({"guesses": 5000, "correct": 2550, "delta": 0.0}, "guesses_within_chance"),
        ({"guesses": 500, "correct": 500, "delta": 0.02}, "not_even_right_guesses"),
    ],
)
def test_delta_is_named_where_it_explains_the_right_guesses(asked, code):
    report = mipaudit.epsilon(canaries=10_000, **asked)
    assert (lower(report), report.statements[0].lower_reason.code) == (0, code)
    hopeless = [told(one) for one in report.findings if one.code == "nothing_can_be_refuted"]
    assert len(hopeless) == len(report.findings) == (code == "not_even_right_guesses")
    assert all("at least 2,000 guesses that all say the same" in text for text in hopeless)


def several_runs(rng, runs, canaries, *, mu=1.0, shared=False):
    """Return the canaries of several runs of one Gaussian mechanism as a frame."""
    included = rng.random((1 if shared else runs, canaries)) < 0.5
    included = np.broadcast_to(included, (runs, canaries))
    run, canary = np.indices((runs, canaries)).reshape(2, -1)
    score = rng.normal(size=runs * canaries) + mu * included.ravel()
    member = included.ravel().astype(int)
    return pd.DataFrame({"run": run, "canary": canary, "member": member, "score": score})


RUNS_OF_CANARIES = {"design": "one-run", "run_col": "run", "key_col": "canary"}
RUNS_OF_CANARIES |= {"score_col": ["score"]}


def test_several_runs_with_fresh_coins_are_one_audit(rng):
    frame = several_runs(rng, 10, 100)
    together = mipaudit.epsilon(frame, **RUNS_OF_CANARIES)
    assert together.design.runs == 10
    assert together.statements[0].counts["canaries"] == 1000
    assert "10 runs with 1,000 canaries in all" in report_text(together, width=200)
    assert "anew" in told(together.rests_on[0])
    parts = [frame[frame.run == run].copy() for run in range(4)]
    single = [lower(mipaudit.epsilon(part, **RUNS_OF_CANARIES)) for part in parts]
    assert lower(together) > np.mean(single) + 0.2
    again = mipaudit.epsilon(frame.sample(frac=1, random_state=1), **RUNS_OF_CANARIES)
    assert again.statements == together.statements


@pytest.mark.parametrize("form", ["frame", "csv"])
def test_a_row_without_a_run_is_no_run_of_its_own(rng, tmp_path, form):
    frame = several_runs(rng, 3, 40)
    frame["run"] = [None if row in {7, 90} else f"run{run}" for row, run in frame.run.items()]
    frame.to_csv(tmp_path / "runs.csv", index=False)
    given = frame if form == "frame" else str(tmp_path / "runs.csv")
    with pytest.raises(InputError, match="empty in 2 rows, first in data row 8") as caught:
        mipaudit.epsilon(given, **RUNS_OF_CANARIES)
    assert caught.value.code == "missing_run"
    # Rows that are not asked for lack nothing.
    told = frame.assign(named=frame.run.notna().map({True: "yes", False: "no"}))
    assert mipaudit.epsilon(told, **RUNS_OF_CANARIES, where="named = yes").design.runs == 3


def repeated(rng):
    frame = several_runs(rng, 5, 100)
    frame.loc[3, "canary"] = 4
    return frame


@pytest.mark.parametrize(
    ("make", "changed", "code"),
    [
        (lambda rng: several_runs(rng, 5, 100, shared=True), {}, "shared_coins"),
        (repeated, {}, "repeated_keys"),
        *(
            (lambda rng: several_runs(rng, 3, 40), changed, code)
            for changed, code in (
                ({"key_col": None}, "run_col"),
                ({"design": "independent-runs"}, "other_design"),
                ({"run_col": "absent"}, "unknown_column"),
            )
        ),
    ],
)
def test_runs_that_share_coins_or_cannot_be_named_are_refused(rng, make, changed, code):
    with pytest.raises((InputError, UsageError)) as caught:
        mipaudit.epsilon(make(rng), **RUNS_OF_CANARIES | changed)
    assert caught.value.code == code
