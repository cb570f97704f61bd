"""The smallest input that makes each code of the reports with layouts appear."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.noise.run import add_noise
from mipaudit.model.message import Message
from mipaudit.report.forms import explanations
from mipaudit.report.messages.estimate import CHECK, ESTIMATE
from mipaudit.report.messages.noise import NOISE
from mipaudit.report.messages.records import QUERY
from mipaudit.report.messages.told import told
from mipaudit.report.messages.verdicts import ANSWERS
from mipaudit.statements.kinds import kind_of
from tests.fixtures.codes import within
from tests.fixtures.leaks import beside_records, coins, table, with_rows

CODES = {*ANSWERS, *CHECK, *ESTIMATE, *NOISE, *QUERY}
CODES -= {one for one in CODES if one.endswith(".line")}  # the same in fewer words
# Of a claim that is contradicted the answer is NOT MET; noise that rests on an upper limit has one;
# and where no noise is chosen none is needed.
NEVER = {"answer_contradicted", "number_not-an-interval", "no_noise_keeps"}
SPLITS = np.random.default_rng(7).normal(size=(400, 2))


def some_settled():
    """Return an audit of which one limit is open however many records there are."""
    report = mipaudit.estimate(table(0.4, 0.3, 0.2, rows=2000), max_advantage=0.2)
    first, *rest = report.policy
    return replace(report, policy=(replace(first, records_to_settle=None), *rest))


def records_of_any_attacker():
    report = beside_records("many")
    return replace(report, blind=replace(report.blind, attackers="any"))


WAIVER = {"quantity": "advantage", "reason": "a", "person": "A", "expires": "2999-01-01"}


@cache
def no_leak():
    return mipaudit.estimate(table(0.0))


def judged(*shifts, rows=400, **given):
    return mipaudit.estimate(table(*shifts, rows=rows), **given)


def queried(copied=0, **given):
    """Return queries against released records, some of which are members."""
    members, holdout, released = (
        pd.DataFrame(SPLITS[at : at + 40], columns=["a", "b"]) for at in (0, 40, 80)
    )
    released.iloc[:copied] = members.iloc[:copied]
    return mipaudit.query("nn", members=members, holdout=holdout, synthetic=released, **given)


def of_model():
    given = {"labels": np.arange(40) % 2, "holdout_labels": np.arange(40) % 2}
    return mipaudit.query_losses(logits=SPLITS[:40], holdout_logits=SPLITS[40:80], **given).report


def of_splits(rows=64, **given):
    return mipaudit.noise(eta=0.1, splits=SPLITS[:rows], **given)


def of_pairs(folder, calibration, protect):
    """Return noise by pairs of releases whose sides are a little apart."""
    sides = [
        pd.DataFrame(SPLITS[:40] + step, columns=["a", "b"]).assign(
            pair_id=range(40), side=side, record=np.arange(40) % 2
        )
        for side, step in (("in", 0.0), ("out", 0.01))
    ]
    pd.concat(sides).to_csv(folder / "pairs.csv", index=False)
    splits = pd.DataFrame(SPLITS[:64], columns=["a", "b"])
    given = {"calibration": calibration, "protect": protect, "pairs": folder / "pairs.csv"}
    return mipaudit.noise(eta=0.1, splits=splits, **given)


def applied(folder, **given):
    np.save(folder / "release.npy", np.ones(2))
    return add_noise(folder / "release.npy", splits=SPLITS[:64], seed=1, **given).report


# Each makes the codes below it, and perhaps others.
AUDITS = {
    "leaks right_leaks difference_p another_seed_moves": lambda _: mipaudit.estimate(table(2.0)),
    "leaks_beyond_records right_leaks_beyond_records records_bounded": lambda _: beside_records(
        "two"
    ),
    "records_asserted": lambda _: beside_records("two", blind_bound=0.1),
    "told_apart right_told_apart records_unbounded_but_kind": lambda _: beside_records("many"),
    "records_unbounded": lambda _: records_of_any_attacker(),
    "no_leak right_not_shown right_most_kind no_difference_p": lambda _: no_leak(),
    "no_leak_of_advantage": lambda _: mipaudit.estimate(table(0.0), metric="ppv"),
    "auc_above_chance but_above_chance auc_implies": lambda _: with_rows(
        no_leak(), "auc", lower=0.8
    ),
    "tpr_above_chance tpr_implies": lambda _: with_rows(no_leak(), "tpr_at_fpr", lower=0.3),
    "rejudged": lambda _: mipaudit.rejudge(no_leak(), max_eta=0.1),
    "differ_by_test but_differ_by_test": lambda _: with_rows(
        no_leak(), "any_difference", value=0.001
    ),
    "answer_not_met right_above error_shared": lambda _: judged(2.0, 1.0, max_advantage=0.1),
    "answer_met right_within": lambda _: mipaudit.estimate(coins(8000), max_advantage=0.2),
    "right_within_kind": lambda _: judged(0.0, rows=4000, max_advantage=0.3),
    "answer_waived": lambda _: judged(2.0, max_advantage=0.1, waivers=[WAIVER]),
    "answer_inconclusive right_open right_unlimited": lambda _: judged(
        0.0, max_advantage=0.5, against="any"
    ),
    "right_most_any": lambda _: mipaudit.estimate(coins(400), max_advantage=0.05),
    "right_open_above verdict_shares_error records_settle_each": lambda _: judged(
        0.4, 0.3, 0.2, rows=2000, max_advantage=0.2
    ),
    "records_settle_some": lambda _: some_settled(),
    "answer_consistent": lambda _: judged(0.0, claimed_epsilon=0.1),
    "claim_beside_limits": lambda _: judged(0.0, claimed_epsilon=0.1, max_advantage=0.9),
    "answer_vacuous": lambda _: judged(0.0, claimed_epsilon=20),
    "answer_not_comparable": lambda _: judged(1.0, claimed_epsilon=0.5),
    "fit columns_unused not_audited_yet": lambda _: mipaudit.check(
        table(0.0).assign(name="x"), score_col=["s0"]
    ),
    "no_copies scores_alone tables_read metric_euclidean": lambda _: queried(),
    "copies_released metric_gower": lambda _: queried(copied=1, metric="gower"),
    "scores_made": lambda _: of_model(),
    "noise_for_any_data every_record needs_paper needs_moment needs_swap needs_dp": lambda _: (
        mipaudit.noise(eta=0.1)
    ),
    "noise_not_needed": lambda _: mipaudit.noise(eta=0.3, train_fraction=0.2, splits=SPLITS),
    "noise_of_splits scale_of_moment number_approximate": lambda _: of_splits(),
    "number_value": lambda _: of_splits(scaled_by="value"),
    "scale_of_move number_finite-sample": lambda _: of_splits(
        400, calibration="direct", strict=True
    ),
    "scale_of_swap_moment average_record": lambda folder: of_pairs(
        folder, "swap", "average-record"
    ),
    "scale_of_swap_move tested_records": lambda folder: of_pairs(
        folder, "direct-swap", "tested-records"
    ),
    "noise_added": lambda folder: applied(folder, eta=0.1),
    "nothing_added": lambda folder: applied(folder, eta=0.3, train_fraction=0.2),
}
MAKES = {code: audit for codes, audit in AUDITS.items() for code in codes.split()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return cache(lambda audit: audit(tmp_path_factory.mktemp("audit")))


def test_every_code_has_an_input():
    assert {*MAKES, *NEVER} == CODES


@pytest.mark.parametrize("code", MAKES)
def test_the_smallest_input_makes_it_appear(made, code):
    report = made(MAKES[code])
    concluded = import_module(kind_of(report.command).conclusion)
    said = [report.answer]
    for name in ("remarks", "protected", "sizes", "compared_by"):
        made_of = getattr(concluded, name, lambda _: ())
        found = made_of(report)
        said += [found] if isinstance(found, Message) else found
    found = [part for one in said for part in within(one) if part.code == code]
    assert found
    text = told(found[0])
    assert text
    assert not set(text) & set("{}[]")


@pytest.mark.parametrize("code", ["infinite_scores.column", "groups_merged.values", "ties"])
def test_a_count_of_one_is_in_the_singular_and_help_shows_the_plural(code):
    values = {"column": "x", "rows": 1, "groups": 1, "others": 1}
    name, _, case = code.partition(".")
    one = told(Message.of(name, case=case or None, **values))
    assert not {"1 rows", "1 values", "1 other rows"} & set(re.findall(r"1 (?:other )?\w+s\b", one))
    assert "<rows> <rows>" not in explanations()[code]
