from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from mipaudit.validation.estimands.estimand import AuditedFile
from mipaudit.validation.estimands.methods import ESTIMANDS, default_estimands
from mipaudit.validation.estimands.together import file_risks, true_risks
from mipaudit.validation.laws import law

NAMES = ("record_risk", "largest_risk", "group_advantage")


def audited_file(name, n, prior=0.5, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    n_members = int(n * share)
    members, holdout = law(name).sample(rng, n_members, n - n_members)
    return AuditedFile(
        member=np.arange(n) < n_members,
        score=np.concatenate([members, holdout]),
        prior=prior,
        seed=seed,
    )


def test_they_are_run_by_name():
    assert set(NAMES) <= set(ESTIMANDS)
    assert not set(NAMES) & set(default_estimands())


@pytest.mark.parametrize("name", ["gauss-shift-1", "leaked-atoms", "null-ties"])
def test_true_risks_by_simulation(name):
    cells, _ = file_risks(audited_file(name, 2_000))
    rng = np.random.default_rng(1)
    members, holdout = (
        np.bincount(cells.of(one), minlength=cells.count)
        for one in law(name).sample(rng, 400_000, 400_000)
    )
    truth = true_risks(law(name), 0.5, cells.edges, cells.cell)
    total = members + holdout
    often = total > 4_000
    assert often.any()
    share = (members - holdout) / np.maximum(total, 1)
    assert truth[often] == pytest.approx(share[often], abs=0.05)


def test_the_margin_is_that_of_the_nearest_cell():
    audited = audited_file("gauss-shift-1", 1_000)
    (interval,) = ESTIMANDS["record_risk"].intervals(audited)
    cells, risks = file_risks(audited)
    truth = true_risks(law("gauss-shift-1"), 0.5, cells.edges, cells.cell)
    limits = risks.together
    margin = np.minimum(truth - limits.lower, limits.upper - truth)[risks.occupied].min()
    found = ESTIMANDS["record_risk"].truth(law("gauss-shift-1"), 0.5, *interval.args)
    assert found == pytest.approx(margin, abs=1e-9)
    assert interval.lower == 0


@pytest.mark.parametrize(
    ("name", "share", "prior"),
    [("null-gaussian", 0.5, 0.5), ("gauss-shift-1", 0.1, 0.1), ("leaked-atoms", 0.5, 0.5)],
)
def test_coverage(name, share, prior):
    runs = 15
    held = dict.fromkeys(range(6), 0)
    nominal = {}
    for seed in range(runs):
        audited = audited_file(name, 400, prior=prior, seed=seed, share=share)
        intervals = [i for one in NAMES for i in ESTIMANDS[one].intervals(audited)]
        for at, interval in enumerate(intervals):
            truth = ESTIMANDS[interval.estimand].truth(law(name), prior, *interval.args)
            nominal[at] = (
                2 * interval.nominal - 1 if interval.upper is not None else interval.nominal
            )
            held[at] += (interval.lower is None or interval.lower <= truth) and (
                interval.upper is None or truth <= interval.upper
            )
    for at, promised in nominal.items():
        assert held[at] >= binom.ppf(1e-4, runs, promised), at
