"""Replications: files drawn from a cell, judged by a panel of methods, by several processes.

Several processes, one answer.

Files, their random numbers, and what methods say of them.
"""

from __future__ import annotations

import math
import os
import signal
from dataclasses import replace
from multiprocessing import active_children

import numpy as np
import pytest

from mipaudit.errors import MipauditError
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.validation.coverage import Ledger, carry_out
from mipaudit.validation.estimands.estimand import Interval
from mipaudit.validation.estimands.methods import ALTERNATIVES
from mipaudit.validation.replications import (
    Cell,
    Panel,
    draw_file,
    failures,
    joined,
    replicate,
    results,
    tally,
)

CONSTANT = (
    Panel(estimands=("auc",), alternatives=()),
    [Cell("constant", 20, 20, 0.5, "shuffled", 300)],
)
PANEL = Panel(estimands=("advantage", "tpr_at_fpr"), alternatives=tuple(ALTERNATIVES))


def collect(work, *, seed, jobs):
    pieces = [(cell, methods, seed, part) for cell, methods in work for part in cell.pieces()]
    found = results(replicate, pieces, jobs=jobs)
    return [tally(cell, joined([next(found) for _ in cell.pieces()])) for cell, _ in work]


class Fatal:
    """Methods that end their process, or raise, at one file."""

    strict, estimands = False, ()

    def __init__(self, *, kill):
        self.kill = kill

    def say(self, audited, law):
        del audited, law
        if self.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        raise ZeroDivisionError


def test_the_answer_does_not_depend_on_the_number_of_processes(cell):
    work = [
        (cell("null-ties", replications=120), PANEL),
        (cell("gauss-shift-1", prior=0.1, replications=3), PANEL),
    ]
    alone = collect(work, seed=3, jobs=1)
    assert alone == collect(work, seed=3, jobs=2)
    assert alone != collect(work, seed=4, jobs=1)
    assert {row.replications for rows in alone for row in rows} == {120, 3}
    assert active_children() == []


def test_progress_goes_from_little_to_all():
    seen = []
    carry_out(
        *CONSTANT,
        jobs=1,
        progress=lambda done, total: seen.append((done, total)),
        seed=0,
        ledger=Ledger(),
    )
    assert len({total for _, total in seen}) == 1
    done = [at for at, _ in seen]
    assert done == sorted(done)
    assert len(done) > 1
    assert done[-1] == pytest.approx(seen[0][1], rel=1e-6)


def test_what_stops_the_run_between_two_pieces_ends_the_processes():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as kept:  # and with it the frames of the run
        carry_out(*CONSTANT, jobs=2, progress=stop, seed=0, ledger=Ledger())
    assert kept.tb is not None
    assert active_children() == []


def test_nothing_to_do_is_done(cell):
    assert collect([], seed=0, jobs=2) == []


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_process_that_is_killed_is_reported(cell):
    with pytest.raises(MipauditError, match="ended before its work was done") as caught:
        collect([(cell(replications=400), Fatal(kill=True))], seed=0, jobs=2)
    assert caught.value.code == "worker_lost"
    assert active_children() == []


def test_an_error_in_a_process_ends_the_run(cell):
    with pytest.raises(ZeroDivisionError):
        collect([(cell(replications=400), Fatal(kill=False))], seed=0, jobs=2)
    assert active_children() == []


def run(cell, methods, seed=0):
    return tally(cell, replicate(cell, methods, seed, range(cell.replications)))


def flag_rate(audited):
    """Clopper-Pearson limits of P(score 1 | member), which is the TPR at FPR 1%."""
    n, flagged = audited.n_members, int(audited.score[audited.member].sum())
    return [
        Interval(
            estimand="tpr_at_fpr",
            args=(0.01, "high"),
            lower=clopper_pearson_lower(flagged, n, alpha),
            upper=clopper_pearson_upper(flagged, n, alpha),
            nominal=0.975,
            value=flagged / n,
            label=label,
        )
        for label, alpha in (("valid", 0.025), ("too short", 0.1))
    ]


def miss_probability(side, alpha, n=200, rate=0.1):
    """The exact chance of a Clopper-Pearson miss: the binomial tail that is within alpha."""
    mass = [math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]
    tails = np.cumsum(mass if side == "upper" else mass[::-1])
    return tails[tails <= alpha].max()


def test_a_valid_interval_passes_and_one_too_short_is_caught(cell, saying):
    rows = run(cell(replications=1500), saying(flag_rate), seed=1)
    by = {(found.label, found.side): found for found in rows}
    assert len(by) == 4
    assert {found.label for found in failures(rows)} == {"too short"}
    for side in ("lower", "upper"):
        for label, alpha in (("valid", 0.025), ("too short", 0.1)):
            miss = miss_probability(side, alpha)
            error = math.sqrt(miss * (1 - miss) / 1500)
            assert by[label, side].coverage == pytest.approx(1 - miss, abs=4 * error)
            assert by[label, side].coverage_error == pytest.approx(error, rel=0.5)
        assert by["valid", side].truth == pytest.approx(0.1)
    assert by["valid", "lower"].mean_width == pytest.approx(0.085, abs=0.01)
    assert by["valid", "lower"].median_width == pytest.approx(0.085, abs=0.01)
    assert by["valid", "lower"].bias == pytest.approx(0, abs=0.002)


def test_each_replication_has_its_own_file_and_seed(cell, saying):
    seen = []

    def spy(audited):
        seen.append((audited.score.sum(), audited.seed, audited.n_members, audited.member.size))
        return []

    assert run(cell("gauss-shift-1", replications=5), saying(spy)) == ()
    assert len({sums for sums, *_ in seen}) == len({seed for _, seed, *_ in seen}) == 5
    assert {tuple(rest) for _, _, *rest in seen} == {(200, 500)}


def test_cells_of_one_run_share_no_random_numbers(cell, saying):
    seeds = []

    def spy(audited):
        seeds.append(audited.seed)
        return []

    others = (cell(prior=0.1), cell(order="sorted"), cell("constant"), cell(n=(9, 9)))
    for setting in (cell(), *others):
        run(replace(setting, replications=2), saying(spy))
    assert len(set(seeds)) == 10


def test_a_replication_does_not_depend_on_the_others(cell, saying):
    for methods, label in ((saying(flag_rate), "valid"), (PANEL, "advantage")):
        whole, part = (replicate(cell(), methods, 5, of) for of in (range(10), range(6, 8)))
        assert whole[label][1][6:8] == part[label][1]


def test_files_learn_together_where_the_limits_for_any_attacker_are_asked_for(cell, monkeypatch):
    learnt = []
    monkeypatch.setattr("mipaudit.validation.replications.learn_together", learnt.append)
    for estimands in (("advantage",), ("attack_epsilon",)):
        methods = Panel(estimands=estimands, alternatives=())
        replicate(cell("gauss-shift-1"), methods, 0, range(3))
    assert [len(files) for files in learnt] == [3]


def test_pieces_are_all_replications_in_order(cell):
    for n, replications in (((25, 25), 1), ((25, 25), 4001), ((50_000, 50_000), 40)):
        pieces = cell(n=n, replications=replications).pieces()
        numbers = [number for piece in pieces for number in piece]
        assert numbers == list(range(replications))


def test_orders_of_rows_hold_the_same_records(cell):
    files = {
        order: draw_file(cell("infinite-scores", order=order), np.random.default_rng(7))
        for order in ("shuffled", "sorted", "reversed", "by class")
    }
    member, score = files["sorted"]
    assert (score[1:] >= score[:-1]).all()
    assert (files["reversed"][1] == score[::-1]).all()
    assert (files["reversed"][0] == member[::-1]).all()
    for order in ("shuffled", "by class"):
        assert sorted(zip(*files[order], strict=True)) == sorted(zip(member, score, strict=True))
    by_class = files["by class"][0].argmin()
    assert not files["by class"][0][by_class:].any()
    for one in np.split(files["by class"][1], [by_class]):
        assert (one[1:] >= one[:-1]).all()
    changes = (np.diff(files["shuffled"][0].astype(int)) != 0).sum()
    assert changes > 150
