import math

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.report.forms import answer_of, brief_report, report_text


def losses(n=1200, seed=0, gap=0.6):
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    label = rng.choice(["a", "b"], n)
    loss = rng.exponential(np.where(member, 1 - gap / 2, 1.0)) * np.where(label == "b", 3, 1)
    return pd.DataFrame({"member": member, "loss": loss, "label": label})


def rows(report):
    return {one.attackers: one for one in report.attacks}


def beside(report, attack, quantity):
    """Return what else is said of an attack, None where nothing is."""
    found = (one for one in report.details if (one.attackers, one.quantity) == (attack, quantity))
    return next(found, None)


def test_every_adversary_that_applies_is_there():
    report = mipaudit.attack(losses(), loss_bound=5.0, by="label")
    found = rows(report)
    names = ["bounded-loss", "mean", "top-n", "top-half", "best-threshold", "per-class"]
    assert [*found] == names
    for one in found.values():
        assert one.lower < one.value < one.upper
        short = beside(report, one.attackers, "shortfall")
        assert short.lower <= short.upper


def test_the_optimum_is_that_of_estimate():
    frame = losses()
    report = mipaudit.attack(frame, seed=3)
    beside = mipaudit.estimate(frame, seed=3)
    wanted = {
        (e.attackers, e.lower, e.upper) for e in beside.estimates if e.quantity == "advantage"
    }
    assert {(e.attackers, e.lower, e.upper) for e in report.optimum} == wanted


def test_the_bounded_loss_adversary_is_the_gap_over_the_bound():
    report = mipaudit.attack(losses(), loss_bound=4.0, member_side="low")
    (gap,) = report.gaps
    found = rows(report)["bounded-loss"]
    assert found.value == pytest.approx(gap.value / 4)
    assert (found.lower, found.upper) == pytest.approx((gap.lower / 4, gap.upper / 4), abs=1e-9)
    assert found.selection == "all rows"
    assert found.validity == "finite-sample"


def test_without_a_bound_a_mean_has_no_limits():
    report = mipaudit.attack(losses())
    (gap,) = report.gaps
    assert (gap.lower, gap.upper) == (None, None)
    assert gap.lower_reason.code == "mean_without_bound"
    assert "no_loss_bound" in {one.code for one in report.findings}
    assert "bounded-loss" not in rows(report)


def test_what_is_learned_is_judged_on_other_rows():
    report = mipaudit.attack(losses(), member_side="low")
    design = report.design
    found = rows(report)["mean"]
    assert found.selection == "rows outside the burn-in"
    assert found.n_members == design.n_members - design.burn_in_members
    told = rows(mipaudit.attack(losses(), member_side="low", mean_loss=1.2))["mean"]
    assert told.selection == "all rows"
    assert told.n_members == design.n_members
    # The side was looked for on the burn-in: its rows do not count.
    sought = rows(mipaudit.attack(losses(), mean_loss=1.2))["mean"]
    assert sought.selection == "rows outside the burn-in"


def test_high_scores_of_members_are_turned_round():
    frame = losses()
    low = rows(mipaudit.attack(frame))
    high = mipaudit.attack(frame.assign(loss=-frame["loss"]))
    assert high.design.sides == ("high",)
    for name, one in rows(high).items():
        # Scores turned round are other scores: other rows of theirs are judged.
        assert one.value == pytest.approx(low[name].value, abs=0.03), name
    confidence = frame.assign(loss=np.exp(-frame["loss"])).rename(columns={"loss": "conf"})
    bounded = rows(mipaudit.attack(confidence, loss_bound=1.0, member_side="high"))
    member = frame["member"].to_numpy()
    conf = confidence["conf"].to_numpy()
    assert bounded["bounded-loss"].value == pytest.approx(
        conf[member].mean() - conf[~member].mean()
    )


def test_residuals_have_the_two_gaussian_attacks():
    rng = np.random.default_rng(1)
    member = np.arange(4000) % 2 == 0
    residual = rng.normal(size=4000) * np.where(member, 1.0, 1.5)
    frame = pd.DataFrame({"member": member, "residual": residual})
    told = mipaudit.attack(frame, residuals=True, sigma_members=1.0, sigma_holdout=1.5)
    found = rows(told)
    assert "mean" not in found
    predicted = beside(told, "gaussian", "predicted").value
    assert predicted == pytest.approx(0.19358, abs=5e-6)
    assert found["gaussian"].selection == "all rows"
    assert found["gaussian"].lower < 0.19358 < found["gaussian"].upper
    one = math.erf(1 / math.sqrt(2)) - math.erf(1 / 1.5 / math.sqrt(2))
    assert beside(told, "one-standard-error", "predicted").value == pytest.approx(one)
    learned = mipaudit.attack(frame, residuals=True)
    assert rows(learned)["gaussian"].selection == "rows outside the burn-in"
    predicted = beside(learned, "gaussian", "predicted").value
    assert predicted == pytest.approx(0.19358, abs=0.05)


def test_thresholds_by_class_find_what_one_threshold_misses():
    rng = np.random.default_rng(2)
    n = 6000
    member, label = rng.random(n) < 0.5, rng.integers(0, 3, n)
    loss = rng.normal(size=n) - 1.5 * member + 10 * label
    report = mipaudit.attack(
        pd.DataFrame({"member": member, "loss": loss, "label": label}), by=["label"]
    )
    found = rows(report)
    assert found["per-class"].lower > found["best-threshold"].upper
    assert [one.group for one in report.groups] == ["label=0", "label=1", "label=2"]
    assert sum(one.n_members for one in report.groups) == found["per-class"].n_members


def test_small_classes_are_taken_together():
    frame = losses()
    frame.loc[:59, "label"] = [f"rare{i % 6}" for i in range(60)]
    report = mipaudit.attack(frame, by="label")
    assert [one.group for one in report.groups][-1] == "other"
    assert "groups_merged" in {one.code for one in report.findings}


def test_losses_beyond_the_bound_count_as_the_bound_and_it_is_said():
    report = mipaudit.attack(losses(), loss_bound=0.5)
    assert "loss_clipped" in {one.code for one in report.findings}
    assert 0 <= beside(report, "bounded-loss", "tpr").value <= 1


def test_of_a_loss_that_is_high_for_members_the_gap_says_which_class_is_taken_from_which():
    frame = losses(n=4000)
    frame["member"] = ~frame["member"]  # members have the larger loss
    report = mipaudit.attack(frame, loss_bound=20.0)
    (gap,) = report.gaps
    assert report.design.sides == ("high",)
    assert gap.method == "members less holdout"
    assert gap.lower > 0
    assert "side_found_high" in {one.code for one in report.findings}
    said = mipaudit.attack(frame, loss_bound=20.0, member_side="low")
    assert said.gaps[0].method == "holdout less members"
    assert said.gaps[0].upper < 0
    assert "side_found_high" not in {one.code for one in said.findings}


def test_what_is_clipped_is_said_beside_the_gap_itself():
    report = mipaudit.attack(losses(), loss_bound=0.5, member_side="low")
    assert "those above 0.5 as that" in " ".join(report_text(report, width=100).split())


def test_of_scores_that_the_bound_does_not_hold_for_there_is_no_mean():
    frame = losses()
    frame["loss"] = -frame["loss"]  # a log-likelihood
    report = mipaudit.attack(frame, loss_bound=5.0)
    (gap,) = report.gaps
    assert (gap.value, gap.lower, gap.upper) == (None, None, None)
    assert rows(report)["bounded-loss"].value is None
    assert gap.value_reason.code == "all_clipped"


@pytest.mark.parametrize("side", ["low", "auto"])
def test_a_missing_score_is_no_loss_of_0(side):
    frame = losses()
    frame.loc[:99, "loss"] = np.nan
    report = mipaudit.attack(frame, loss_bound=5.0, nan="category", member_side=side)
    assert report.gaps[0].value is None
    assert beside(report, "bounded-loss", "tpr") is None
    whole = mipaudit.attack(frame, loss_bound=5.0, nan="drop", member_side=side)
    assert whole.gaps[0].lower is not None


def test_a_mean_of_few_records_is_not_shown():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"member": np.arange(60) < 1, "loss": rng.random(60)})
    report = mipaudit.attack(frame, loss_bound=1.0, member_side="low")
    found = rows(report)["bounded-loss"]
    assert found.value is found.lower is None
    assert {one.attackers for one in report.details}.isdisjoint({"bounded-loss"})
    assert (report.gaps[0].value, report.gaps[0].upper) == (None, None)
    assert report.gaps[0].value_reason.code == "mean_of_few"
    assert mipaudit.attack(losses(), member_side="low").gaps[0].value is not None
    few = mipaudit.attack(frame, loss_bound=1.0, member_side="low", min_cell=1)
    assert few.gaps[0].value is not None


def test_a_mean_that_is_told_must_not_be_that_of_these_rows():
    frame = losses()
    mean = float(frame.loc[frame["member"], "loss"].mean())
    report = mipaudit.attack(frame, member_side="low", mean_loss=mean)
    assert rows(report)["mean"].value is None
    assert rows(report)["mean"].value_reason.code == "told_of_these_rows"
    assert rows(mipaudit.attack(frame, member_side="low", mean_loss=mean * 1.01))["mean"].value
    sigma = float(np.sqrt((frame.loc[frame["member"], "loss"] ** 2).mean()))
    told = rows(mipaudit.attack(frame, residuals=True, sigma_members=sigma, sigma_holdout=2.0))
    assert told["gaussian"].value is None
    assert told["one-standard-error"].value is None


def test_a_bound_that_is_the_largest_loss_is_pointed_out():
    frame = losses()
    codes = [
        {one.code for one in mipaudit.attack(frame, loss_bound=bound).findings}
        for bound in (float(frame["loss"].max()), 100.0)
    ]
    assert ["bound_of_these_rows" in some for some in codes] == [True, False]
    frame["loss"] = frame["loss"].clip(upper=1.0)  # many stop there
    found = mipaudit.attack(frame, loss_bound=1.0, member_side="low").findings
    assert "bound_of_these_rows" not in {one.code for one in found}


@pytest.mark.parametrize("scale", [1e-300, 1e30, 1e300])
@pytest.mark.parametrize("bound", [None, 1e-320, 1e308])
def test_tiny_and_huge_losses_are_written(scale, bound):
    from mipaudit.report.forms import report_text

    frame = losses()
    frame["loss"] *= scale
    report = mipaudit.attack(frame, loss_bound=bound, member_side="low")
    assert max(map(len, report_text(report, width=100).splitlines())) < 120


@pytest.mark.parametrize("prior", [0.05, 0.9])
def test_an_attack_may_fall_short_by_more_than_all_that_is_above_blind_guessing(prior):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"member": rng.random(2000) < 0.5, "loss": rng.random(2000)})
    # It calls half of all records members: about 0 at any prior; blind guessing has 0.8 or 0.9.
    report = mipaudit.attack(frame, prior=prior)
    missing = abs(2 * prior - 1) - rows(report)["top-half"].value
    short = beside(report, "top-half", "shortfall")
    assert 0.6 < short.lower <= missing <= short.upper < missing + 0.1


def test_infinite_scores_have_no_mean_and_the_rest_goes_on():
    frame = losses()
    frame.loc[frame.index[frame["member"]], "loss"] = -np.inf
    found = rows(mipaudit.attack(frame))
    assert found["mean"].value is None
    assert found["mean"].value_reason.code == "mean_of_infinite"
    assert found["best-threshold"].value == 1.0


@pytest.mark.parametrize("n", [2, 3, 6])
def test_tiny_inputs_have_an_answer(n):
    frame = pd.DataFrame({"member": [True, False] * n, "loss": np.arange(2.0 * n)})
    report = mipaudit.attack(frame, loss_bound=1.0, by=())
    for one in report.attacks:
        assert one.value is None or one.lower <= one.value <= one.upper


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"sigma_members": 1.0}, "sigma_members"),
        ({"mean_loss": 1.0, "residuals": True}, "mean_loss"),
        ({"member_side": "low", "residuals": True}, "member_side"),
        ({"score_col": ("loss", "more"), "mean_loss": 1.0}, "several_scores"),
        ({"score_col": ("label",)}, "no_order"),
    ],
)
def test_wrong_settings_are_refused(wrong, code):
    with pytest.raises(UsageError) as caught:
        mipaudit.attack(losses().assign(more=0.5), **wrong)
    assert caught.value.code == code


def test_scores_that_show_nothing_are_refused():
    with pytest.raises(InputError) as caught:
        mipaudit.attack(losses().assign(loss=1.0))
    assert caught.value.code == "constant_scores"


def test_limits_of_a_loss_that_is_nought_or_the_bound_are_those_of_counts():
    rng = np.random.default_rng(0)
    member = np.arange(400) < 200
    whole = pd.DataFrame({"member": member, "loss": (rng.random(400) < 0.5) * 2.0})
    parts = whole.assign(loss=rng.random(400) * 2)
    validity = [
        next(row.validity for row in report.attacks if row.attackers == "bounded-loss")
        for report in (
            mipaudit.attack(frame, loss_bound=2.0, member_side="low") for frame in (whole, parts)
        )
    ]
    assert validity == ["approximate", "finite-sample"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("extreme", [np.inf, -np.inf])
@pytest.mark.parametrize("options", [{}, {"loss_bound": 5.0}, {"residuals": True}])
def test_an_infinite_loss_is_an_extreme_and_no_bug(seed, extreme, options):
    """It is a loss as any to a threshold; only what needs the mean of it is not there."""
    draw = np.random.default_rng(seed)
    loss, member = draw.exponential(size=300), np.arange(300) % 2 == 0
    at = draw.integers(300)
    loss[at] = extreme
    frame = pd.DataFrame({"loss": loss, "member": member})
    report = mipaudit.attack(frame, score_col=["loss"], **options)
    found = rows(report)
    assert found["top-half"].value is not None
    for one in found.values():
        assert (one.value is None) == (one.value_reason is not None)
        if one.attackers == "mean":
            assert (beside(report, "mean", "same_rows") is None) == member[at]


@pytest.mark.parametrize(("limit", "seed"), [(None, 1), (None, 2), (0.05, 3)])
def test_the_strongest_score_stands_first_everywhere(limit, seed):
    rng, size = np.random.default_rng(seed), 600
    member = np.repeat([1, 0], size)
    strength = {"b weak": 0.2, "a strong": 1.0, "c none": 0.0, "d middle": 0.6}
    table = {name: rng.normal(0, 1, 2 * size) + apart * member for name, apart in strength.items()}
    frame = pd.DataFrame({"member": member, **table})
    report = mipaudit.attack(frame, member_side="high", max_advantage=limit)
    order = ["a strong", "d middle", "b weak", "c none"]
    assert [*report.design.score_columns] == order
    for rows in (report.optimum, report.attacks, report.gaps, report.together, report.policy):
        assert [*dict.fromkeys(one.score for one in rows)] == order[: 4 if rows else 0]
    assert "'a strong'" in answer_of(report)
    lower = {one.score: one.lower for one in report.optimum if one.attackers == "any"}
    alike = mipaudit.estimate(frame, member_side="high").estimates
    for row in alike:  # as the note says
        if (row.quantity, row.attackers) == ("advantage", "any"):
            assert row.lower == lower[row.score]
    text = " ".join(brief_report(report, width=80).split())
    assert "any attacker: the best, as in mipaudit estimate" in text
    assert text.index("a strong") < text.index("d middle") < text.index("b weak")
