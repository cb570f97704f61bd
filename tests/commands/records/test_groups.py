from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from mipaudit.commands.records.counts import (
    MOST_COUNTED,
    GroupCounts,
    attack_differences,
    best_attack,
    choose_groups,
    difference_limits,
)
from mipaudit.commands.records.options import RecordTableOptions
from mipaudit.data.parts import ScoreColumn
from mipaudit.data.rows.units import GroupColumns
from mipaudit.errors import UsageError
from mipaudit.summaries.plan import BurnInSample, make_plan
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.tally import Grouping, Tally
from mipaudit.validation.laws import MINORITY


def counted(member, score, group, seed=0):
    place = {"first_row": 0, "source_rows": member.size, "kept": None, "keys": None}
    rows = Rows(**place, member=member, scores=(score,), groups=group.astype(np.uint64))
    sample = BurnInSample(1, seed)
    sample.add(rows)
    sample.settle()
    kept = np.unique(group).astype(np.uint64)
    plan = make_plan(sample, ["float"], prior=0.5, discrete=False, seed=seed)
    tally = Tally(plan, Grouping(kept=kept, merged=kept[:0]))
    tally.add(rows)
    return tally.counts()


def said(tp, n_members, fp, n_holdout):
    """Of how many records one attack says *member* in one group, and of how many in all."""
    return np.array([[[fp, tp], [n_holdout, n_members]]])


@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_the_attack_is_the_best_threshold_of_the_burn_in(prior):
    trained = np.random.default_rng(0).integers(0, 30, (12, 2))
    share = trained / trained.sum(axis=0)
    gains = prior * share[:, 1] - (1 - prior) * share[:, 0]
    cells = np.arange(12)
    thresholds = [side for at in cells for side in (cells <= at, cells > at)]
    best = {True: max(gains[one].sum() for one in thresholds), False: np.maximum(gains, 0).sum()}
    for ordered, gain in best.items():
        assert gains[best_attack(trained, prior, ordered=ordered)].sum() == pytest.approx(gain)


@pytest.mark.parametrize(("prior", "sizes"), [(0.5, (60, 80)), (0.1, (40, 300))])
def test_difference_coverage(prior, sizes):
    rng = np.random.default_rng(1)
    runs, held = 1_000, 0
    rates = (0.7, 0.3, 0.5, 0.45)
    truth = 2 * (prior * (0.7 - 0.5) - (1 - prior) * (0.3 - 0.45))
    for _ in range(runs):
        mine, others = (
            said(rng.binomial(n, tpr), n, rng.binomial(rest, fpr), rest)
            for n, rest, tpr, fpr in ((*sizes, *rates[:2]), (500, 900, *rates[2:]))
        )
        (found,) = difference_limits(mine, others, prior=prior, alpha=0.05)
        held += found.lower <= truth <= found.upper
    assert held >= binom.ppf(1e-4, runs, 0.95)


def test_an_empty_class_says_nothing():
    none, some = said(0, 0, 0, 9), said(5, 9, 1, 9)
    both = np.concatenate([none, some]), np.concatenate([some, some])
    found = difference_limits(*both, prior=0.5, alpha=0.05)
    assert [(one.lower, one.upper) == (-2, 2) for one in found] == [True, False]


def test_the_value_is_the_difference_of_the_advantages():
    # 1-2p + 2(p TPR - (1-p) FPR) is 0.4 of the group, and 0 of the rest.
    both = said(60, 100, 20, 100), said(5, 10, 5, 10)
    for prior, value in ((0.5, 0.4), (0.1, 2 * (0.06 - 0.18) - 2 * (0.05 - 0.45))):
        (found,) = difference_limits(*both, prior=prior, alpha=0.1)
        assert found.value == pytest.approx(value)


def test_the_exposed_minority_differs():
    rng, none = np.random.default_rng(2), np.array([], dtype=np.uint64)
    member, group = rng.random(8_000) < 0.5, (rng.random(8_000) < 0.1).astype(int)
    counts = counted(member, rng.normal(size=8_000) + 2.0 * (group & member), group)
    told = {"names": ("a", "b"), "sizes": (), "findings": ()}
    groups = GroupCounts(grouping=Grouping(kept=none, merged=none), counts=counts, **told)
    rows = groups.estimates(ScoreColumn(name="s", kind="float"), 0.5, 0.95)
    by = {(e.group, e.quantity, e.attackers): e for e in rows}
    truth = MINORITY["minority"][1].advantage(0.5)
    exposed = by["b", "advantage", "any"]
    assert 0.5 < exposed.lower < truth
    assert by["b", "advantage", "thresholds"].upper > truth
    assert by["a", "advantage", "any"].lower < 0.05
    assert by["b", "difference", "thresholds"].lower > 0.4
    assert by["a", "difference", "thresholds"].upper < -0.4
    assert by["b", "difference", "thresholds"].versus == "the rest"


def test_alike_groups_rarely_differ():
    rng = np.random.default_rng(3)
    runs, wrong = 150, 0
    for seed in range(runs):
        member = rng.random(600) < 0.5
        score = rng.normal(size=600) + member
        found = attack_differences(
            counted(member, score, rng.integers(0, 3, 600), seed), prior=0.5, alpha=0.05 / 3
        )
        wrong += any(one.lower > 0 or one.upper < 0 for one in found)
    assert wrong <= binom.ppf(1 - 1e-4, runs, 0.05)
    # One group has no rest.
    counts = counted(member, score, np.zeros(600, dtype=int))
    assert attack_differences(counts, prior=0.5, alpha=0.05) == []


def test_groups_of_too_many_rows_to_keep_are_few():
    asked = RecordTableOptions(by=["a"])
    sizes = dict.fromkeys(range(MOST_COUNTED + 1), (50, 50))
    words = GroupColumns(columns=("a",), found={group: (str(group),) for group in sizes})
    assert len(choose_groups(sizes, words, asked, in_memory=True).names) == MOST_COUNTED + 1
    with pytest.raises(UsageError, match="65 groups, but an input of this size may"):
        choose_groups(sizes, words, asked, in_memory=False)
