"""The main job on real and on hard files: what a correct audit must find, and what it is asked."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import fields
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import stats

import mipaudit
from mipaudit.commands.estimate.options import EstimateOptions
from mipaudit.report.forms import report_text
from mipaudit.report.messages.told import told
from tests.fixtures.codes import findings, refused
from tests.fixtures.leaks import table

TRUTH = {
    "dpaudit_gauss_mu1": 0.38292,
    "dpaudit_laplace_eps1": 0.39347,
    "dpaudit_geometric_count_eps1": 0.46212,
    "dpaudit_rr_binary_eps1": 0.46212,
    "dpaudit_null_no_leak": 0.0,
}
DISCRETE = {"dpaudit_rr_binary_eps1", "dpaudit_geometric_count_eps1"}


def found(report):
    """Index the estimates by (score, quantity, attackers, fpr)."""
    return {(e.score, e.quantity, e.attackers, e.fpr): e for e in report.estimates}


def advantage(report, score=None, attackers="any"):
    name = score or report.design.score_columns[0]
    return found(report)[name, "advantage", attackers, None]


def metrics(report, attackers="any"):
    asked = (x for x in report.estimates if (x.quantity, x.attackers) == ("metric", attackers))
    return [x for x in asked if x.validity != "not-an-interval"]


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("name", TRUTH)
def test_limits_enclose_a_known_truth_and_are_near(data_dir, name, strict):
    report, truth = mipaudit.estimate(data_dir / f"{name}.parquet", strict=strict), TRUTH[name]
    assert truth - 0.06 <= advantage(report).lower <= truth
    assert truth <= advantage(report, attackers="intervals-4").upper
    for attackers in ("thresholds", "intervals-1"):
        assert truth <= advantage(report, attackers=attackers).upper <= truth + 0.13
    if name in DISCRETE and not strict:
        assert truth <= advantage(report).upper <= truth + 0.04


def test_nothing_leaks_from_the_null_file_and_what_is_published_decides_nothing(data_dir):
    path = data_dir / "dpaudit_null_no_leak.parquet"
    plain, published = (
        mipaudit.estimate(path, max_advantage=0.2, **more) for more in ({}, {"method": "mace"})
    )
    row = advantage(plain)
    assert (row.lower, row.upper) == (0, None)
    assert row.upper_reason
    assert row.plugin > 0.1  # biased upward, and labelled so
    (extra,) = (one for one in published.estimates if one not in plain.estimates)
    assert extra.validity == "not-an-interval"
    assert extra.value > 0.02
    assert (published.policy, published.verdict) == (plain.policy, plain.verdict)
    assert sum(one.n_members for one in published.mace_cells) == 4000


def test_a_copula_release_leaks_nothing_and_bootstrap_rows_nearly_everything(data_dir):
    private = mipaudit.estimate(data_dir / "synrelease_adult_queries_copula.parquet")
    leaky = mipaudit.estimate(data_dir / "synrelease_adult_queries_bootnoise.parquet")
    assert all(advantage(private, score).lower == 0 for score in private.design.score_columns)
    assert leaky.design.score_columns[0] == "nn_l2"
    assert advantage(leaky).lower > 0.8
    # Members are nearer: low distances.
    assert found(leaky)["nn_l2", "auc", "thresholds", None].side == "low"


def test_lira_is_strong_where_the_loss_is_not(data_dir):
    report = mipaudit.estimate(data_dir / "lira_digits_target0.parquet")
    rows = found(report)
    lira, loss = (rows[name, "tpr_at_fpr", "thresholds", 0.01] for name in ("lira_online", "loss"))
    assert lira.value == pytest.approx(0.125, abs=0.02)
    assert loss.value == pytest.approx(0.007, abs=0.01)
    assert lira.lower > loss.upper
    assert report.design.score_columns[0] == "lira_online"
    assert rows["lira_online", "auc", "thresholds", None].value == pytest.approx(0.676, abs=0.02)


def test_a_reversed_direction_is_found(data_dir):
    """Under MemGuard the margin of members is lower, not higher."""
    rows = found(mipaudit.estimate(data_dir / "published_location30_shadow.parquet"))
    margin = rows["margin12_memguard", "auc", "thresholds", None]
    assert margin.side == "low"
    assert margin.value == pytest.approx(1 - 0.3802, abs=0.03)
    assert margin.lower > 0.5
    assert rows["margin12_natural", "auc", "thresholds", None].side == "high"


def test_a_leak_in_both_tails_is_found_without_the_absolute_value(data_dir):
    """Yeom's tree: the signed residual hides from thresholds, not from intervals."""
    paths = [data_dir / f"yeom_diabetes_{one}_split0.csv" for one in ("tree_d4", "ols")]
    leaky, quiet = map(mipaudit.estimate, paths)
    assert advantage(leaky).lower > 0.05
    assert advantage(quiet).lower == 0
    # And a report holds no value of the data.
    text = mipaudit.to_json(quiet).decode()
    residuals = np.loadtxt(paths[1], delimiter=",", skiprows=1, usecols=-1, dtype=str)
    assert not [value for value in residuals if len(value) > 6 and value in text]
    assert quiet.design.n_members == 221


def test_a_gan_leaks_more_the_longer_it_was_trained(data_dir):
    report = mipaudit.estimate(data_dir / "gan_jsgan_digits.parquet")
    lower = [advantage(report, f"d_logit_ep{epoch}").lower for epoch in (25, 600, 1200)]
    assert lower[0] == 0 < lower[1] < lower[2] < 0.58


@pytest.mark.parametrize(
    ("name", "claim", "status", "code"),
    [
        ("humphries_adult_cluster_eps1", (1.0, 1e-5, "substitution"), "contradicted", "not_met"),
        ("humphries_adult_cluster_eps1", (1.0, 1e-5, None), "contradicted", "not_met"),
        ("humphries_synth20_noniid_eps0.5", (0.5, 1e-5, "add-remove"), "contradicted", "not_met"),
        ("humphries_adult_iid_nonpriv", (1.0, 1e-5, "substitution"), "consistent", "no_policy"),
        ("humphries_adult_iid_nonpriv", (10.0, 1e-5, "substitution"), "vacuous", "no_policy"),
        ("dpaudit_onerun_wb_eps1", (1.0, 1e-5, "add-remove"), "consistent", "no_policy"),
        ("dpaudit_laplace_eps1", (1.0, 0.0, "substitution"), "consistent", "no_policy"),
        ("dpaudit_laplace_eps1", (0.5, 0.0, "substitution"), "contradicted", "not_met"),
    ],
)
def test_claims_beside_the_data(data_dir, name, claim, status, code):
    terms = dict(zip(("claimed_epsilon", "delta", "adjacency"), claim, strict=True))
    report = mipaudit.estimate(data_dir / f"{name}.parquet", **terms)
    assert {one.status for one in report.claims} == {status}
    assert report.verdict.status == code
    assert all("independent" in one.rests_on for one in report.claims)


@pytest.mark.parametrize(
    ("limit", "status"), [(0.2, "not_met"), (0.39, "inconclusive"), (0.6, "met")]
)
def test_policy(data_dir, limit, status):
    report = mipaudit.estimate(data_dir / "dpaudit_gauss_mu1.parquet", max_advantage=limit)
    (check,) = report.policy
    assert report.verdict.status == check.status == status
    # The widest of the classes decides for a continuous score.
    uppers = [e.upper for e in report.estimates if e.quantity == "advantage" and e.upper]
    assert check.upper == pytest.approx(max(uppers))


def without_provenance(report):
    return {f.name: getattr(report, f.name) for f in fields(report) if f.name != "provenance"}


@pytest.fixture(scope="module")
def frame():
    """Two scores with ties, atoms and infinities, in no order."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    member = rng.random(9000) < 0.45
    score = rng.normal(size=9000) + 0.6 * member
    score[rng.random(9000) < 0.03] = np.inf
    loss = np.round(rng.exponential(1 + 0.3 * member), 1)
    return pa.table({"member": member, "score": score, "loss": loss})


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "cells"])
def test_row_groups_and_threads_change_nothing(frame, tmp_path, monkeypatch, exact, strict):
    if not exact:
        monkeypatch.setattr("mipaudit.summaries.plan.EXACT_ROWS", 1000)
    settings = {"max_advantage": 0.4, "claimed_epsilon": 1.0, "strict": strict, "seed": 0}
    reports = []
    for rows, jobs in ((9000, 1), (9000, 3), (700, 2), (137, 4)):
        pq.write_table(frame, tmp_path / "scores.parquet", row_group_size=rows)
        reports.append(mipaudit.estimate(tmp_path / "scores.parquet", jobs=jobs, **settings))
    first, *others = map(without_provenance, reports)
    assert first["estimates"]
    assert all(one == first for one in others)


def test_seed_changes_the_blocks_and_little_else(frame):
    here, there = (mipaudit.estimate(frame, seed=seed) for seed in (0, 1))
    assert advantage(here).lower != advantage(there).lower
    assert advantage(here).lower == pytest.approx(advantage(there).lower, abs=0.03)
    # All rows count for thresholds, whatever the blocks.
    for name in ("score", "loss"):
        upper, other = (advantage(x, name, "thresholds").upper for x in (here, there))
        assert upper == other


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("prior", [0.1, 0.5])
@pytest.mark.parametrize("sizes", [(15, 12), (9, 1000), (1000, 10), (200, 300)])
def test_small_and_lopsided_classes(sizes, prior, strict):
    rng = np.random.default_rng(sum(sizes))
    given = {"members": rng.normal(0.5, 1, sizes[0]), "holdout": rng.normal(0, 1, sizes[1])}
    limits = {"max_eta": 0.05, "max_tpr_at_fpr": (0.4, 0.1)}
    report = mipaudit.estimate(**given, prior=prior, strict=strict, **limits)
    least = {"advantage": abs(2 * prior - 1), "accuracy": max(prior, 1 - prior)}
    for row in report.estimates:
        low = least.get(row.quantity, 0.0)
        for number in (row.lower, row.value, row.upper):
            assert number is None or (math.isfinite(number) and low - 1e-9 <= number <= 1)
    assert json.loads(mipaudit.to_json(report))["verdict"]["status"] == report.verdict.status
    assert ("small_class" in findings(report)) is (min(sizes) < 20)


def test_confidence_is_shared_over_the_columns():
    frame = table(1.0, rows=1000)
    noise = np.random.default_rng(0).normal(size=(1000, 3))
    alone, single = (mipaudit.estimate(frame, confidence=one) for one in (0.95, 0.9875))
    four = mipaudit.estimate(frame.assign(**dict(zip("abc", noise.T, strict=True))))
    assert four.design.score_columns[0] == "s0"
    assert advantage(four).lower < advantage(alone).lower
    assert advantage(four).value == advantage(alone).value
    wide, narrow = (advantage(one, "s0", "thresholds").upper for one in (four, alone))
    assert wide > narrow
    # Four columns at 95% are one at 98.75%.
    assert advantage(single).lower == pytest.approx(advantage(four).lower)


def test_limits_are_narrower_at_lower_confidence(data_dir):
    path = data_dir / "dpaudit_gauss_mu1.parquet"
    reports = [mipaudit.estimate(path, confidence=c) for c in (0.5, 0.8, 0.95, 0.999)]
    limits = [(advantage(r).lower, -advantage(r, None, "thresholds").upper) for r in reports]
    for (lower, upper), (below, above) in itertools.pairwise(limits):
        assert lower > below
        assert upper > above


def test_a_constant_column_among_others_is_a_finding():
    report = mipaudit.estimate(table(0.5, rows=180).assign(one=1.0))
    assert "constant_column" in findings(report)
    assert report.design.score_columns == ("s0", "one")
    assert advantage(report, "one").lower == 0


MEMBERS, HOLDOUT = np.linspace(0, 1, 50), np.linspace(0.1, 1.2, 50)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"members": np.ones(50), "holdout": np.ones(40)}, "constant_scores"),
        ({"holdout": MEMBERS[::-1]}, "identical_classes"),
        ({"members": np.empty(0)}, "empty_class"),
        ({"holdout": np.append(HOLDOUT, np.nan)}, "nan_scores"),
        ({"max_advantage": 0.0}, "max_advantage"),
        ({"max_advantage": 1.1}, "max_advantage"),
        ({"max_advantage": 0.8, "prior": 0.1}, "max_advantage"),
        ({"max_eta": 0.0}, "max_eta"),
        ({"max_eta": 0.11, "prior": 0.1}, "max_eta"),
        ({"max_tpr_at_fpr": (0.01, 0.02)}, "max_tpr_at_fpr"),
        ({"max_tpr_at_fpr": (0.5, 0.0)}, "max_tpr_at_fpr"),
        ({"delta": 1e-5}, "delta"),
        ({"adjacency": "add-remove"}, "adjacency"),
        ({"joint": True, "method": "kde"}, "joint"),
        ({"metric": "precision"}, "metric"),
        ({"metric": 3}, "metric"),
        # The trivial attacker has 0.5.
        *(({"max_metric": {"ppv": one}}, "max_metric") for one in (0.4, 0.5, 1.0, "x")),
        ({"max_metric": ["f1=0.8", "f1=0.9"]}, "max_metric"),
        ({"max_metric": "tpr=0.9"}, "max_metric"),
        ({"min_recall": 0}, "min_recall"),
        ({"limits": [{"quantity": "any_difference", "max": 0, "score": "lost"}]}, "no_such_score"),
        ({"blind_against": "thresholds"}, "blind_against"),
        ({"blind_bound": 0.1}, "blind_bound"),
    ],
)
def test_what_cannot_be_audited_or_asked(asked, code):
    error = refused(code, mipaudit.estimate, **{"members": MEMBERS, "holdout": HOLDOUT, **asked})
    assert "blind" not in code or "--blind" in error.message
    assert asked.get("max_metric") != "tpr=0.9" or "guesses the same for everybody" in str(error)


# --- what is asked, and recorded


def test_what_strict_proves_is_proved_over_a_fresh_seed():
    for origin, asked in (
        ("default", {}),
        ("fresh", {"strict": True}),
        ("stated", {"strict": True, "seed": 0}),
    ):
        assert EstimateOptions(**asked).chosen_seed.origin == origin


@pytest.mark.parametrize(
    ("blind", "name"), [(None, None), ("shift.json", "shift.json"), (b"{}", "a report in memory")]
)
def test_a_report_is_recorded_by_its_path_and_never_by_what_it_holds(blind, name):
    assert {x.name: x.value for x in EstimateOptions(blind=blind).recorded()}["blind"] == name


def test_a_claim_of_zero_is_a_claim():
    stated = EstimateOptions(claimed_epsilon=0, delta=0.1, adjacency="add-remove")
    assert stated.claim == (0.0, 0.1, "add-remove")
    assert EstimateOptions(claimed_epsilon=0).claim == (0.0, 0.0, "unknown")
    assert EstimateOptions().claim is None


def test_metrics_are_those_asked_for_and_those_limited_each_once():
    listed = {"quantity": "metric", "metric": " F1", "max": 0.9}, {"quantity": "risk", "max": 1}
    judged = EstimateOptions(metric=("ppv", "f1"), max_metric={"ppv": 0.6}, limits=listed).judged
    assert [one.name for one in judged.metrics] == ["ppv", "f1"]
    assert judged.policy.max_metric == (("ppv", 0.6),)
    assert [one.metric for one in judged.policy.limits] == ["f1"]
    assert judged.elsewhere == 1


# --- metrics


@pytest.fixture(scope="module")
def plain():
    return table(1.5, rows=800, seed=0)


def test_metrics_have_rows_checks_and_findings(plain):
    limits = {"am": 0.6, "f1": 0.99}
    report = mipaudit.estimate(plain, metric=["f1", "tpr"], max_metric=limits, prior=0.4)
    assert {row.metric for row in metrics(report)} == {"f1", "tpr", "am"}
    assert [(c.metric, c.status) for c in report.policy] == [("am", "not_met"), ("f1", "met")]
    assert report.verdict.status == "not_met"
    assert "trivial_metric" in findings(report)
    settings = {s.name: s.value for s in report.provenance.settings}
    assert (settings["metric"], settings["max_metric"]) == (["f1", "tpr"], ["am=0.6", "f1=0.99"])
    published = mipaudit.estimate(plain, metric="am", method="mace").estimates
    (row,) = (x for x in published if (x.quantity, x.validity) == ("metric", "not-an-interval"))
    assert "Algorithm 2" in row.method


def test_error_is_shared_over_the_columns_and_metrics(plain):
    two = plain.assign(loss=plain["s0"] * 2 + 1)
    (one,) = metrics(mipaudit.estimate(plain, metric="f1"))
    both = metrics(mipaudit.estimate(two, metric="f1"))
    assert len(both) == 2
    assert all(row.lower < one.lower for row in both)


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        ({"min_recall": 0.1}, "min_recall_unused", True),
        ({"metric": "f1", "min_recall": 0.1}, "min_recall_unused", True),
        ({"metric": ["f1", "ppv"], "min_recall": 0.1}, "min_recall_unused", False),
        ({"metric": "f1"}, "min_recall_unused", False),
        ({"prior": 0.01}, "prior_hides_leaks", True),
        (
            {"prior": 0.1, "claimed_epsilon": 1, "adjacency": "substitution"},
            "prior_excludes_attackers",
            True,
        ),
    ],
)
def test_what_nothing_needs_or_hides_a_leak_is_said(plain, asked, code, said):
    assert (code in findings(mipaudit.estimate(plain, **asked))) == said


# --- joint limits


@pytest.mark.parametrize(
    ("frame", "rows", "asked"),  # rows of each score
    [
        # Any attacker, four classes, the AUC and three TPRs.
        (table(0.6, rows=800), 9, {}),
        (table(0.6, 0.2, rows=800), 14, {"metric": "ppv"}),
    ],
)
def test_every_limit_has_its_share_of_one_error(frame, rows, asked):
    alone = mipaudit.estimate(frame, confidence=1 - 0.05 / rows, **asked)
    report = mipaudit.estimate(frame, joint=True, **asked)
    for row, other in zip(report.estimates, alone.estimates, strict=True):
        assert (row.quantity, row.attackers, row.fpr) == (
            other.quantity,
            other.attackers,
            other.fpr,
        )
        assert row.lower == pytest.approx(other.lower, abs=1e-9)
        assert row.upper == pytest.approx(other.upper, abs=1e-9)
        assert row.confidence == 0.95
    assert report.design.joint
    assert any(
        "holds for all lines of the tables together" in told(one) for one in report.limitations
    )
    assert not any("several quantities at once" in told(one) for one in report.limitations)


def test_joint_limits_of_labels_and_verdicts_are_as_before(plain):
    labels = pd.DataFrame({"member": [True, False] * 150, "s": (["a"] * 9 + ["b"] * 6) * 20})
    of_labels = [mipaudit.estimate(labels, score_col=["s"], joint=x) for x in (True, False)]
    uppers = {one.estimates[0].upper for one in of_labels}
    assert len(uppers) == 1  # of one row
    joint, other = (mipaudit.estimate(plain, joint=x, max_advantage=0.1) for x in (True, False))
    assert joint.policy == other.policy
    shown, beside = (" ".join(report_text(one, width=200).split()) for one in (joint, other))
    assert "All limits together hold with 95% confidence, except those of the verdict" in shown
    assert "those of different quantities need not hold together" in beside
    assert "need not hold together" not in shown
    (setting,) = (one for one in joint.provenance.settings if one.name == "joint")
    assert setting.value is True


# --- a policy that lets nothing show at all: the exact test decides it, and never clears it


NOTHING = {"quantity": "any_difference", "max": 0}
APART, ALIKE = table(0.8, seed=0), table(0.0, seed=0)


def of_nothing(frame, **more):
    return mipaudit.estimate(frame, limits=[NOTHING], **more)


def test_a_difference_is_not_met_and_is_called_membership_or_another(tmp_path):
    APART.to_csv(tmp_path / "scores.csv", index=False)
    report = of_nothing(tmp_path / "scores.csv")
    (check,) = report.policy
    assert (check.status, check.limit, check.lower, check.upper) == ("not_met", 0, 1, None)
    assert report.verdict.status == "not_met"
    assert "by membership or for another reason" in told(report.answer)
    for form in ("json", "csv", "markdown", "html", "junit"):
        text = mipaudit.render_report(report, format=form)
        assert "any_difference" in text or "any difference" in text
    cases = ET.fromstring(text).iter("testcase")  # noqa: S314 - our own
    (case,) = (case for case in cases if "any difference" in case.attrib["name"])
    assert case.find("failure") is not None
    assert mipaudit.from_json(mipaudit.to_json(report)) == report
    assert mipaudit.verify(report, input=tmp_path / "scores.csv").agrees


def test_finding_nothing_is_open_and_never_met():
    report = of_nothing(ALIKE, max_advantage=1.0)
    of_advantage, check = report.policy
    assert (of_advantage.status, check.status) == ("met", "inconclusive")
    assert (check.lower, check.upper, report.verdict.status) == (0, None, "inconclusive")
    assert "does not prove" in told(check.reason)


def test_the_error_is_shared_over_limits_and_scores():
    # The least p-value is 1/1000: 25 shares of 2.5% reach it, 26 do not.
    for many, status in ((25, "not_met"), (26, "inconclusive")):
        report = mipaudit.estimate(APART, limits=[NOTHING] * many)
        assert report.verdict.status == status


def test_nothing_is_called_a_difference_more_often_than_the_error():
    drawn = (table(0.0, rows=120, seed=seed) for seed in range(120))
    found = sum(of_nothing(x, confidence=0.6).verdict.status == "not_met" for x in drawn)
    assert stats.binom.sf(found - 1, 120, 0.2) > 1e-4
    assert found > 0


def test_a_stored_report_is_judged_by_its_p_value():
    def again(report):
        return mipaudit.rejudge(report, limits=[NOTHING])

    plain, alike = mipaudit.estimate(APART), of_nothing(ALIKE)
    assert again(plain).policy == of_nothing(APART).policy
    assert again(of_nothing(APART)).verdict.status == "not_met"
    assert again(alike).verdict.status == "inconclusive"
    report = mipaudit.estimate(table(0.26, 0.26, seed=0))
    errors = {row.value for row in report.estimates if row.quantity == "any_difference"}
    expected = "not_met" if min(errors) <= 0.025 / 2 else "inconclusive"
    assert again(report).verdict.status == expected


def test_a_difference_can_be_waived_and_labels_without_an_order_are_judged():
    waiver = {"quantity": "any_difference", "reason": "known", "person": "A"}
    waivers = [{**waiver, "expires": "2999-12-31"}]
    report = of_nothing(APART, waivers=waivers, max_advantage=1.0)
    assert (report.verdict.status, report.verdict.waived) == ("waived", 1)
    rng = np.random.default_rng(0)
    for spread, status in ((60, "inconclusive"), (10, "not_met")):
        words = np.concatenate([rng.integers(0, spread, 300), rng.integers(0, 60, 300)])
        frame = pd.DataFrame({"member": [1] * 300 + [0] * 300, "word": [f"w{n}" for n in words]})
        assert of_nothing(frame, score_col=["word"]).verdict.status == status
