from __future__ import annotations

import numpy as np
import pytest

from mipaudit.audit.evidence import Evidence
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally


def count_columns(member, score, *, prior, seed, kind, discrete):
    rows = Rows(
        first_row=0,
        source_rows=member.size,
        kept=None,
        keys=None,
        member=member,
        scores=(np.asarray(score, dtype=np.float64),),
    )
    sample = BurnInSample(1, seed)
    sample.add(rows)
    sample.settle()
    plan = make_plan(sample, [kind], prior=prior, discrete=discrete, seed=seed)
    tally = Tally(plan)
    tally.add(rows)
    (counts,) = tally.counts()
    return counts


@pytest.fixture(scope="session")
def evidence_from():
    """Make the evidence of two arrays of scores, members first."""

    def make(members, holdout, *, prior=0.5, seed=0, kind="float", discrete=False, **settings):
        member = np.repeat([True, False], [len(members), len(holdout)])
        counts = count_columns(
            member,
            np.concatenate([members, holdout]),
            prior=prior,
            seed=seed,
            kind=kind,
            discrete=discrete,
        )
        return Evidence(score="s", counts=counts, prior=prior, seed=seed, **settings)

    return make
