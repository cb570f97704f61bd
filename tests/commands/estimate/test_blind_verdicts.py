"""What ``estimate --blind`` concludes where the truth is known: neither accused nor cleared."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.estimate.blind_report import read_blind
from mipaudit.commands.estimate.options import EstimateOptions
from mipaudit.errors import InputError, UsageError


def judged(members, holdout, inside, outside, most, **settings):
    shift = mipaudit.shift(members, holdout)
    return mipaudit.estimate(
        members=inside, holdout=outside, max_advantage=most, blind=shift, **settings
    )


def numbers(values):
    return pd.DataFrame(values, columns=[f"x{at}" for at in range(values.shape[1])])


def families(seed, rows=600):
    """Return records around family centres, and how near each is to a member's."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(60, 3))
    of = rng.integers(0, 30, rows), rng.integers(30, 60, rows)
    both = [centres[one] + 0.03 * rng.normal(size=(rows, 3)) for one in of]
    near = [np.linalg.norm(one[:, None] - centres[None, :30], axis=2).min(1) for one in both]
    return *map(numbers, both), *near


def parity(seed, rows=800, ways=5, columns=9):
    """Return records whose first columns are even among members, and that as a score."""
    rng = np.random.default_rng(seed)
    members, holdout = rng.integers(0, 2, (2, rows, columns))
    odd = members[:, :ways].sum(1) % 2 == 1
    members[odd, 0] ^= 1
    scores = [one[:, :ways].sum(1) % 2 + 0.01 * rng.normal(size=rows) for one in (members, holdout)]
    return numbers(members), numbers(holdout), *scores


def comb(seed, rows=800):
    """Return a continuous column whose fine digits alone tell, and these as a score."""
    rng = np.random.default_rng(seed)
    both = rng.random((2, rows))
    both[0] = (np.floor(both[0] * 4000) + 0.5 * (both[0] * 4000 % 1)) / 4000
    return *(numbers(one[:, None]) for one in both), *(one * 4000 % 1 for one in both)


@pytest.mark.parametrize("law", [families, parity, comb])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_function_of_the_record_alone_is_never_accused(law, seed):
    members, holdout, inside, outside = law(seed)
    alone = mipaudit.estimate(members=inside, holdout=outside, max_advantage=0.1)
    assert alone.verdict.status == "not_met"
    for settings in ({}, {"blind_against": "thresholds"}, {"prior": 0.4, "max_eta": 0.05}):
        found = judged(members, holdout, inside, outside, 0.3, **settings)
        assert found.verdict.status == "inconclusive"
        assert found.blind.excess[0].lower <= found.design.baseline


@pytest.mark.parametrize(("rows", "moved"), [(800, 0.6), (2000, 1.0), (2000, 0.4)])
def test_a_leak_that_a_shift_cancels_is_never_cleared(rows, moved):
    """The score has one law in both classes, and leaks among records that are alike."""
    rng = np.random.default_rng(rows)
    members, holdout = rng.normal(moved, 1, rows), rng.normal(0, 1, rows)
    tables = numbers(members[:, None]), numbers(holdout[:, None])
    found = judged(*tables, moved - members, -holdout, 0.3)
    alone = mipaudit.estimate(members=moved - members, holdout=-holdout, max_advantage=0.3)
    assert (alone.verdict.status, found.verdict.status) == ("met", "inconclusive")
    reports = [found, mipaudit.from_json(mipaudit.to_json(found))]
    again = [mipaudit.rejudge(one, max_advantage=0.35) for one in reports]
    assert [one.verdict.status for one in again] == ["inconclusive"] * 2
    junit = mipaudit.render_report(found, format="junit")
    assert 'failures="1"' in (junit if isinstance(junit, str) else junit.decode())


def discrete(seed, rows, *, apart, leak, noise=0.1):
    """Return records of 3 x 2 x 2 values, and a score of the record and of membership."""
    rng = np.random.default_rng(seed)
    tables, scores = [], []
    for member in (True, False):
        ward = rng.choice(3, rows, p=[1 / 3 + apart * member, 1 / 3, 1 / 3 - apart * member])
        rest = rng.integers(0, 2, (rows, 2))
        frame = pd.DataFrame(
            {"ward": np.array(list("abc"))[ward], "u": rest[:, 0], "v": rest[:, 1]}
        )
        told = member & (rng.random(rows) < leak)
        tables.append(frame)
        scores.append(ward + 5 * told + noise * rng.normal(size=rows))
    return *tables, *scores


def test_real_excess_of_records_of_few_values_is_found():
    members, holdout, inside, outside = discrete(1, 1500, apart=0.1, leak=0.8)
    report = mipaudit.shift(members, holdout)
    everyone = next(one for one in report.estimates if one.attackers == "any")
    assert 0.1 < everyone.upper < 0.3
    found = judged(members, holdout, inside, outside, 0.3)
    assert found.verdict.status == "not_met"
    assert 0.5 < found.blind.excess[0].lower < 0.8
    assert "for any attacker on the columns compared" in str(
        mipaudit.render_report(found, format="markdown")
    )
    again = mipaudit.rejudge(found, max_advantage=0.3)
    assert again.verdict.status == "not_met"


def test_what_members_and_holdout_of_few_values_explain_is_not():
    """The score is the ward alone: in no file is more than the records held against it."""
    accused = 0
    for seed in range(12):
        found = judged(*discrete(seed, 500, apart=0.2, leak=0.0), 0.02)
        accused += found.verdict.status == "not_met"
        assert found.blind.everyone is not None
    assert accused <= 1


def test_whole_records_limit_the_truth():
    """Coverage of the limit for any attacker on the records, at a known total variation."""
    missed = 0
    for seed in range(40):
        members, holdout, _, _ = discrete([seed, 7], 300, apart=0.15, leak=0)
        upper = mipaudit.shift(members, holdout).estimates[0].upper
        missed += upper is not None and upper < 0.15
    assert missed <= 4  # 2.5% of 40, and three standard errors


def edited(report, **changes):
    first, *others = report.estimates
    return replace(report, estimates=(replace(first, **changes), *others))


def test_edited_reports_of_shift_are_refused():
    members, holdout, *_ = discrete(2, 1000, apart=0.2, leak=0.5)
    report = mipaudit.shift(members, holdout)
    assert read_blind(EstimateOptions(blind=report)).everyone is not None
    hidden = mipaudit.shift(*parity(4, 1500, 4, 6)[:2])
    assert hidden.estimates[0].lower > 0
    for wrong in (
        edited(hidden, lower=0.0),  # no column shows it, but the report says where it is shown
        edited(report, upper=0.01),
    ):
        with pytest.raises(InputError) as caught:
            read_blind(EstimateOptions(blind=wrong))
        assert caught.value.code == "bad_report"


def test_a_report_that_says_less_holds_nothing_against_the_model():
    """It limits classes of attackers, and does not say at which error it shows a difference."""
    members, holdout, inside, outside = parity(3)
    report = replace(mipaudit.shift(members, holdout), shown_at=None)
    less = edited(report, upper=None)
    found = mipaudit.estimate(members=inside, holdout=outside, blind=less, max_advantage=0.1)
    assert found.verdict.status == "inconclusive"


@pytest.mark.parametrize(("shift", "audit"), [(0.95, 0.95), (0.975, 0.99), (0.975, 0.975)])
def test_a_limit_that_takes_all_of_the_error_is_refused(shift, audit):
    members, holdout, inside, outside = discrete(1, 600, apart=0.1, leak=0.8)
    report = mipaudit.shift(members, holdout, confidence=shift)
    given = {"members": inside, "holdout": outside, "max_advantage": 0.3, "confidence": audit}
    with pytest.raises(UsageError) as caught:
        mipaudit.estimate(**given, blind=report)
    assert caught.value.exit_code == 2
    confidence = re.search(r"mipaudit shift .* --confidence (\S+) ", caught.value.hint)[1]
    again = mipaudit.shift(members, holdout, confidence=float(confidence))
    assert mipaudit.estimate(**given, blind=again).verdict.status == "not_met"
    # What is asserted takes no error.
    assert mipaudit.estimate(**given, blind=report, blind_bound=0.4).blind.bound == 0.4


def test_the_error_of_the_records_is_paid_for_once():
    """Several scores share what the one limit of the records leaves."""
    members, holdout, inside, outside = discrete(1, 1500, apart=0.1, leak=0.5)
    both = [pd.DataFrame({"a": one, "b": -one}) for one in (inside, outside)]
    found = judged(members, holdout, *both, 0.3)
    excess = {one.score: one.lower for one in found.blind.excess}
    assert excess == {one.score: one.lower for one in found.policy}


def test_a_shift_at_another_confidence_hides_nothing():
    """A difference is shown or not at the error of the audit, whatever that of the report."""
    rng = np.random.default_rng(5)
    members, holdout = rng.normal(0.25, 1, 1500), rng.normal(0, 1, 1500)
    tables = numbers(members[:, None]), numbers(holdout[:, None])
    sure = mipaudit.shift(*tables, confidence=1 - 1e-13)
    assert sure.estimates[0].lower == 0
    found = mipaudit.estimate(
        members=0.25 - members, holdout=-holdout, max_advantage=0.3, blind=mipaudit.to_json(sure)
    )
    assert found.verdict.status == "inconclusive"
