"""The coverage of what ``shift`` says, on records drawn from known laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mipaudit.audit import shift_learner
from mipaudit.scenarios.audited_vector import AuditedVector
from mipaudit.scenarios.estimand_blind import AdvantageBlind
from mipaudit.scenarios.estimands import ESTIMANDS, default_estimands
from mipaudit.scenarios.vector_law import VECTOR_LAWS

ESTIMAND = AdvantageBlind()


def audited(name, number, *, prior=0.5, n=200):
    law = VECTOR_LAWS[name]
    members, holdout = law.sample(np.random.default_rng([n, number]), n, n)
    return AuditedVector(
        score=np.concatenate([members, holdout]),
        member=np.arange(2 * n) < n,
        prior=prior,
        strict=False,
        discrete=False,
        seed=number,
        law=law,
    )


def test_it_is_run_by_name_only():
    assert ESTIMANDS["advantage_blind"].by_name_only
    assert "advantage_blind" not in default_estimands()


def test_it_is_at_prior_one_half():
    assert list(ESTIMAND.intervals(audited("null-cube-2", 0, prior=0.1))) == []
    assert ESTIMAND.truth(VECTOR_LAWS["plane-xor-0.3"], 0.1, ()) == pytest.approx(0.3)
    assert ESTIMAND.baseline(0.1, ()) == 0
    with pytest.raises(ValueError, match="arguments"):
        ESTIMAND.truth(VECTOR_LAWS["plane-xor-0.3"], 0.5, (1.0,))


@pytest.mark.parametrize("name", ["null-cube-2", "plane-xor-0.3"])
def test_limits_cover(name, monkeypatch):
    monkeypatch.setattr(shift_learner, "fit_boosting", lambda *_, **__: None)
    files, above, below = 40, 0, 0
    for number in range(files):
        for one in ESTIMAND.intervals(audited(name, number)):
            truth = ESTIMAND.truth(VECTOR_LAWS[name], 0.5, one.estimand_args)
            above += one.lower is not None and one.lower > truth
            below += one.upper is not None and one.upper < truth
    most = 0.025 * files + 3 * math.sqrt(files * 0.025 * 0.975)
    assert above <= most
    assert below <= most
