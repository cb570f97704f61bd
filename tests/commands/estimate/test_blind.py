"""``estimate --blind``: what is taken of a report of ``shift``; neither accused nor cleared."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.estimate import blind_report
from mipaudit.commands.estimate.blind_report import read_blind
from mipaudit.commands.estimate.options import EstimateOptions
from mipaudit.report.messages.told import told
from tests.fixtures.codes import findings, refused

N = 400


def judged(members, holdout, inside, outside, most, **settings):
    """Audit scores beside the records that they are of."""
    scores = {"members": inside, "holdout": outside, "max_advantage": most}
    return mipaudit.estimate(**scores, blind=mipaudit.shift(members, holdout), **settings)


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
    both = np.random.default_rng(seed).random((2, rows))
    both[0] = (np.floor(both[0] * 4000) + 0.5 * (both[0] * 4000 % 1)) / 4000
    return *(numbers(one[:, None]) for one in both), *(one * 4000 % 1 for one in both)


@pytest.mark.parametrize("law", [families, parity, comb])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_function_of_the_record_alone_is_never_accused(law, seed):
    members, holdout, inside, outside = law(seed)
    scores = {"members": inside, "holdout": outside}
    assert mipaudit.estimate(**scores, max_advantage=0.1).verdict.status == "not_met"
    shift = mipaudit.shift(members, holdout)
    for settings in ({}, {"blind_against": "thresholds"}, {"prior": 0.4, "max_eta": 0.05}):
        found = mipaudit.estimate(**scores, max_advantage=0.3, blind=shift, **settings)
        assert found.verdict.status == "inconclusive"
        assert found.blind.excess[0].lower <= found.design.baseline


@pytest.mark.parametrize(("rows", "moved"), [(800, 0.6), (2000, 1.0), (2000, 0.4)])
def test_a_leak_that_a_shift_cancels_is_never_cleared(rows, moved):
    """The score has one law in both classes, and leaks among records that are alike."""
    rng = np.random.default_rng(rows)
    members, holdout = rng.normal(moved, 1, rows), rng.normal(0, 1, rows)
    tables = numbers(members[:, None]), numbers(holdout[:, None])
    alone = mipaudit.estimate(members=moved - members, holdout=-holdout, max_advantage=0.3)
    found = judged(*tables, moved - members, -holdout, 0.3)
    assert (alone.verdict.status, found.verdict.status) == ("met", "inconclusive")
    for one in (found, mipaudit.from_json(mipaudit.to_json(found))):
        assert mipaudit.rejudge(one, max_advantage=0.35).verdict.status == "inconclusive"
    assert 'failures="1"' in mipaudit.render_report(found, format="junit")


def discrete(seed, rows, *, apart, leak, noise=0.1):
    """Return records of 3 x 2 x 2 values, and a score of the record and of membership."""
    rng = np.random.default_rng(seed)
    tables, scores = [], []
    for member in (True, False):
        ward = rng.choice(3, rows, p=[1 / 3 + apart * member, 1 / 3, 1 / 3 - apart * member])
        rest = rng.integers(0, 2, (rows, 2))
        words = np.array(list("abc"))[ward]
        tables.append(pd.DataFrame({"ward": words, "u": rest[:, 0], "v": rest[:, 1]}))
        shown = member & (rng.random(rows) < leak)
        scores.append(ward + 5 * shown + noise * rng.normal(size=rows))
    return *tables, *scores


def test_real_excess_of_records_of_few_values_is_found():
    members, holdout, inside, outside = discrete(1, 1500, apart=0.1, leak=0.8)
    report = mipaudit.shift(members, holdout)
    everyone = next(one for one in report.estimates if one.attackers == "any")
    assert 0.1 < everyone.upper < 0.3
    scores = {"members": inside, "holdout": outside, "max_advantage": 0.3}
    found = mipaudit.estimate(**scores, blind=report)
    assert found.verdict.status == "not_met"
    assert 0.5 < found.blind.excess[0].lower < 0.8
    page = mipaudit.render_report(found, format="markdown")
    assert "for any attacker on the columns compared" in page
    assert mipaudit.rejudge(found, max_advantage=0.3).verdict.status == "not_met"
    # Several scores share what the one limit of the records leaves: its error is paid for once.
    both = [pd.DataFrame({"a": one, "b": -one}) for one in (inside, outside)]
    found = mipaudit.estimate(members=both[0], holdout=both[1], max_advantage=0.3, blind=report)
    excess = {one.score: one.lower for one in found.blind.excess}
    assert excess == {one.score: one.lower for one in found.policy}


def test_what_members_and_holdout_of_few_values_explain_is_not():
    """The score is the ward alone: in no file is more than the records held against it."""
    found = [judged(*discrete(seed, 500, apart=0.2, leak=0.0), 0.02) for seed in range(12)]
    assert sum(one.verdict.status == "not_met" for one in found) <= 1
    assert all(one.blind.everyone is not None for one in found)


def test_whole_records_limit_the_truth():
    """Coverage of the limit for any attacker on the records, at a known total variation."""
    tables = (discrete([seed, 7], 300, apart=0.15, leak=0)[:2] for seed in range(40))
    uppers = [mipaudit.shift(*both).estimates[0].upper for both in tables]
    # 2.5% of 40, and three standard errors
    assert sum(one is not None and one < 0.15 for one in uppers) <= 4


def edited(report, **changes):
    first, *others = report.estimates
    return replace(report, estimates=(replace(first, **changes), *others))


def test_edited_reports_of_shift_are_refused():
    members, holdout, *_ = discrete(2, 1000, apart=0.2, leak=0.5)
    report = mipaudit.shift(members, holdout)
    assert read_blind(EstimateOptions(blind=report)).everyone is not None
    hidden = mipaudit.shift(*parity(4, 1500, 4, 6)[:2])
    assert hidden.estimates[0].lower > 0
    # No column shows the first, but the report says where it is shown.
    for wrong in (edited(hidden, lower=0.0), edited(report, upper=0.01)):
        refused("bad_report", read_blind, EstimateOptions(blind=wrong))


def test_a_report_that_says_less_holds_nothing_against_the_model():
    """It limits classes of attackers, and does not say at which error it shows a difference."""
    members, holdout, inside, outside = parity(3)
    less = edited(replace(mipaudit.shift(members, holdout), shown_at=None), upper=None)
    found = mipaudit.estimate(members=inside, holdout=outside, blind=less, max_advantage=0.1)
    assert found.verdict.status == "inconclusive"


@pytest.mark.parametrize(("shift", "audit"), [(0.95, 0.95), (0.975, 0.99), (0.975, 0.975)])
def test_a_limit_that_takes_all_of_the_error_is_refused(shift, audit):
    members, holdout, inside, outside = discrete(1, 600, apart=0.1, leak=0.8)
    report = mipaudit.shift(members, holdout, confidence=shift)
    given = {"members": inside, "holdout": outside, "max_advantage": 0.3, "confidence": audit}
    error = refused("blind", mipaudit.estimate, **given, blind=report)
    confidence = re.search(r"mipaudit shift .* --confidence (\S+) ", error.hint)[1]
    again = mipaudit.shift(members, holdout, confidence=float(confidence))
    assert mipaudit.estimate(**given, blind=again).verdict.status == "not_met"
    # What is asserted takes no error.
    assert mipaudit.estimate(**given, blind=report, blind_bound=0.4).blind.bound == 0.4


def test_a_shift_at_another_confidence_hides_nothing():
    """A difference is shown or not at the error of the audit, whatever that of the report."""
    rng = np.random.default_rng(5)
    members, holdout = rng.normal(0.25, 1, 1500), rng.normal(0, 1, 1500)
    tables = numbers(members[:, None]), numbers(holdout[:, None])
    sure = mipaudit.shift(*tables, confidence=1 - 1e-13)
    assert sure.estimates[0].lower == 0
    scores = {"members": 0.25 - members, "holdout": -holdout}
    found = mipaudit.estimate(**scores, max_advantage=0.3, blind=mipaudit.to_json(sure))
    assert found.verdict.status == "inconclusive"


# --- records of an age and a ward, and scores that are the age but for what the model leaks


def table(seed, older=0.0):
    rng = np.random.default_rng(seed)
    age = np.round(rng.normal(50 + older, 10, N), 1)
    return pd.DataFrame({"age": age, "ward": rng.choice(list("abcd"), N)})


@pytest.fixture(scope="module")
def apart():
    return mipaudit.shift(table(1, 8), table(2))


@pytest.fixture(scope="module")
def alike():
    return mipaudit.shift(table(1), table(2))


def estimated(leak, blind=None, **settings):
    rng = np.random.default_rng(5)
    inside, outside = (
        one["age"].to_numpy() / 10 + more + 0.1 * rng.normal(size=N)
        for one, more in ((table(1, 8), leak), (table(2), 0.0))
    )
    return mipaudit.estimate(members=inside, holdout=outside, blind=blind, **settings)


def noise(seed, blind=None, leak=0.0, **settings):
    """Audit scores that tell nothing of the record."""
    inside, outside = np.random.default_rng(seed).normal(size=(2, N))
    return mipaudit.estimate(members=inside + leak, holdout=outside, blind=blind, **settings)


def test_the_excess_over_an_asserted_bound_is_held_against_the_model(apart):
    """Of continuous columns somebody may know all: a class of attackers limits nobody else."""
    plain = estimated(4, apart, max_advantage=0.1)
    assert (plain.verdict.status, plain.blind.everyone) == ("inconclusive", None)
    assert "`blind_bound`" in told(plain.policy[0].reason)
    assert "blind_open" in findings(plain)
    report = estimated(4, apart, max_advantage=0.1, blind_bound=0.4)
    assert report.verdict.status == "not_met"
    beyond = pytest.approx((report.estimates[0].lower - 0.4) / 0.6)
    assert report.policy[0].lower == report.blind.excess[0].lower == beyond
    assert "blind_bound" in findings(report)
    assumed = "assuming that nobody who sees only the records has an advantage above 0.4"
    again = mipaudit.rejudge(report, max_advantage=0.2)
    assert (again.verdict.status, again.rejudged.limits) == ("not_met", 1)
    page = mipaudit.render_report(report, format="markdown")
    for text in (told(report.answer), page, told(again.answer)):
        assert assumed in text


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        *(({"blind_bound": one}, "") for one in (-0.1, 1, 1.5, float("nan"), "much")),
        ({"blind_bound": 0.01}, "contradicts"),
        ({"blind_against": "learned"}, ""),
    ],
)
def test_what_cannot_be_said_of_the_records_alone(apart, settings, words):
    error = refused(*settings, estimated, 4, apart, says=words, **settings)
    assert ("contradicts" in str(error)) == bool(words)


def test_a_difference_can_hide_a_leak(apart, alike):
    """Met over all records says little of those that are alike."""
    alone, beside = (estimated(3, blind, max_advantage=0.999) for blind in (None, apart))
    assert (alone.verdict.status, beside.verdict.status) == ("met", "inconclusive")
    assert "can hide a leak" in told(beside.policy[0].reason)
    upper = noise(4, max_advantage=0.9).policy[0].upper
    asserted = noise(4, apart, max_advantage=0.9, blind_bound=0.3)
    assert asserted.verdict.status == "met"
    assert asserted.policy[0].upper == pytest.approx((upper + 0.3) / 0.7)
    # Where no difference is shown, it does not change.
    alone, beside = (noise(3, blind, max_advantage=0.3) for blind in (None, alike))
    assert alone.verdict.status == beside.verdict.status == "met"
    assert alone.policy[0].upper == beside.policy[0].upper


def test_a_claim_is_contradicted_by_the_excess_alone(apart):
    claim = {"claimed_epsilon": 0.1, "adjacency": "substitution"}
    asserted = estimated(4, apart, blind_bound=0.4, **claim)
    reports = (
        estimated(0, **claim),
        estimated(0, apart, **claim),
        estimated(4, apart, **claim),
        asserted,
    )
    found = [one.claims[0].status for one in reports]
    assert found == ["contradicted", "consistent", "consistent", "contradicted"]
    assert "assuming that" in mipaudit.render_report(asserted, format="markdown")


def test_other_quantities(apart):
    limits = {"max_eta": 0.05, "max_tpr_at_fpr": (0.2, 0.1), "max_metric": {"ppv": 0.51}}
    listed = [{"quantity": "auc", "max": 0.55}, {"quantity": "any_difference", "max": 0}]
    report = estimated(0, apart, limits=listed, **limits)
    assert {check.status for check in report.policy} == {"inconclusive"}
    for check in report.policy:
        assert check.blind is not None
        assert (check.lower is None) == (check.quantity in {"metric", "any_difference"})
        assert (check.quantity == "any_difference") == ("the exact test" in told(check.reason))


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
def test_at_any_prior(apart, alike, prior):
    (excess,) = estimated(4, apart, prior=prior).blind.excess
    assert excess.taken_off <= 2 * min(prior, 1 - prior)
    assert excess.lower >= abs(2 * prior - 1)
    # Nothing beyond blind guessing is not an advantage.
    report = noise(3, alike, prior=prior)
    assert report.answer.code == "no_leak"
    assert any("can hide a leak" in told(one) for one in report.limitations)


def test_the_attackers_on_the_records_can_be_named(apart):
    widest, named = (
        estimated(4, apart, max_advantage=0.1, blind_against=one) for one in (None, "thresholds")
    )
    assert named.blind.attackers == "thresholds"
    assert named.blind.upper < widest.blind.upper
    assert named.verdict == widest.verdict  # a class limit decides nothing


def test_a_report_is_taken_of_a_file_and_of_bytes(apart, tmp_path):
    path = tmp_path / "shift.json"
    path.write_bytes(mipaudit.to_json(apart))
    by_path, by_bytes = (estimated(0, one).blind for one in (path, path.read_bytes()))
    assert by_path == by_bytes
    assert by_path.report_sha256 is not None
    assert replace(by_path, report_sha256=None) == estimated(0, apart).blind


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.973, 0.999999999])
def test_reports_of_any_confidence_are_taken(confidence):
    report = mipaudit.shift(table(1, 10), table(2), confidence=confidence)
    blind = noise(1, mipaudit.to_json(report), leak=1.5, confidence=confidence).blind
    assert blind.upper >= blind.lower


def test_strict_takes_strict_limits_of_the_same_records_alone(apart):
    refused("blind", noise, 1, apart, strict=True, says="--strict")
    strict = mipaudit.shift(table(1), table(2), strict=True)
    assert noise(1, strict, strict=True).blind is not None
    scores = {"members": np.arange(N - 1) / 7, "holdout": np.arange(N) / 9}
    refused("blind_other_records", mipaudit.estimate, **scores, blind=apart)
    refused("blind", estimated, 0, estimated(0))


WRONG = {
    "$.estimates[0].lower": lambda f: f["estimates"][0].update(lower=-0.25),
    "$.estimates[1].upper": lambda f: f["estimates"][1].update(upper=1.01),
    "$.columns[0].adjusted": lambda f: f["columns"][0].update(adjusted=-1.0),
    "$.shown_at": lambda f: f.update(shown_at=0.0),
    "$.design.confidence": lambda f: f["design"].update(confidence=1.0),
}


@pytest.mark.parametrize("place", WRONG)
def test_numbers_that_cannot_be_are_refused_by_every_reader(alike, place):
    fields = json.loads(mipaudit.to_json(alike))
    WRONG[place](fields)
    data = json.dumps(fields).encode()
    refused("bad_report", noise, 1, data, says=place)
    refused("bad_report", mipaudit.render_report, data, says=place)
    tables = {"members": table(1), "holdout": table(2)}
    refused("bad_report", mipaudit.verify, data, **tables, says=place)


# --- the files of records and of scores


def written(folder, *frames, suffix="csv"):
    """Write the tables of both classes; return their paths."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{name}.{suffix}" for name in "mh"]
    for frame, path in zip(frames, paths, strict=True):
        getattr(frame, f"to_{suffix}")(path, index=False)
    return list(map(str, paths))


def with_loss(seed):
    return table(seed).assign(loss=np.random.default_rng(seed).normal(seed == 1, 1, N))


def test_parts_of_the_same_name_in_both_classes(tmp_path):
    # A name alone, as where each class is read from its own folder.
    paths = [tmp_path / name for name in "mh"]
    for seed, path in enumerate(paths, 1):
        path.mkdir()
        with_loss(seed).to_parquet(path / "part-0.parquet")
    report = mipaudit.shift(*map(str, paths), ignore=["loss"])
    one = read_blind(EstimateOptions(blind=report))
    same = replace(one, inputs=tuple(("part-0.parquet", content) for _, content in one.inputs))
    inputs = [replace(given, name="part-0.parquet") for given in report.provenance.inputs]
    blind_report.require_same_records(same, N, N, inputs)
    given = {"members": str(paths[0]), "holdout": str(paths[1]), "score_col": ["loss"]}
    assert mipaudit.estimate(**given, blind=report).blind is not None


def test_another_content_of_the_same_file_is_refused(tmp_path):
    paths = written(tmp_path, with_loss(1), with_loss(2))
    report = mipaudit.shift(*paths, ignore=["loss"])
    both = {"members": paths[0], "holdout": paths[1], "score_col": ["loss"], "blind": report}
    assert mipaudit.estimate(**both).blind.n_members == N
    written(tmp_path, with_loss(3), with_loss(2))
    refused("blind_other_records", mipaudit.estimate, **both)


def test_another_file_of_the_same_name_is_told_apart_in_words(tmp_path, monkeypatch):
    written(tmp_path / "records", table(1), table(2))
    written(tmp_path / "scores", with_loss(1)[["loss"]], with_loss(2)[["loss"]])
    monkeypatch.chdir(tmp_path / "records")
    report = mipaudit.shift("m.csv", "h.csv")
    monkeypatch.chdir(tmp_path / "scores")
    given = {"members": "m.csv", "holdout": "h.csv", "blind": report}
    refused("blind_other_records", mipaudit.estimate, **given, says="give paths that differ")
    given |= {"members": "../scores/m.csv", "holdout": "../scores/h.csv"}
    assert mipaudit.estimate(**given).blind is not None


def postcodes(member, rows=1000):
    """Return records from the south or the north, which only their postcodes tell."""
    rng = np.random.default_rng([9, member])
    south = rng.random(rows) < (0.8 if member else 0.2)
    codes = (rng.integers(0, 200, rows) + 200 * south) * 7919 % 400
    frame = pd.DataFrame({"x": rng.normal(size=rows), "postcode": [f"p{one}" for one in codes]})
    return frame, south + 0.1 * rng.normal(size=rows)


def test_texts_that_nobody_looked_at_may_explain_everything():
    """The score tells south from north alone: all of its advantage is the records'."""
    (members, inside), (holdout, outside) = postcodes(1), postcodes(0)
    report = mipaudit.shift(members, holdout, max_blind=0.5)
    assert "many_texts" in findings(report)
    assert report.verdict.status == "inconclusive"
    assert "takes off the upper limit" not in told(report.answer)
    assert mipaudit.from_json(mipaudit.to_json(report)) == report
    given = {"members": inside, "holdout": outside, "max_advantage": 0.05}
    assert mipaudit.estimate(**given).verdict.status == "not_met"
    found = mipaudit.estimate(**given, blind=mipaudit.to_json(report))
    assert (found.verdict.status, found.blind.excess[0].lower) == ("inconclusive", 0)
    assert found.answer.get("reason").code.startswith("unbounded_records")
    given |= {"blind": report, "blind_against": "thresholds"}
    refused("blind_against", mipaudit.estimate, **given, says="findings")
    # What is shown to be too much stays so.
    apart = mipaudit.shift(members.assign(x=members["x"] + 3), holdout, max_blind=0.1)
    assert apart.verdict.status == "not_met"
    for one in (found, report, apart):
        assert mipaudit.from_json(mipaudit.to_json(one)) == one
        for form in ("html", "junit", "csv", "markdown"):
            assert mipaudit.render_report(one, format=form)
