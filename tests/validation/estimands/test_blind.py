"""The coverage of what ``shift`` says, on records drawn from known laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mipaudit.commands.shift.differences import learner as shift_learner
from mipaudit.validation.coverage.grid import Choice
from mipaudit.validation.coverage.run import make_run
from mipaudit.validation.estimands.blind import AdvantageBlind
from mipaudit.validation.estimands.estimands import default_estimands
from mipaudit.validation.laws.catalogue import law
from mipaudit.validation.laws.vector_law import VECTOR_LAWS
from mipaudit.validation.rivals.audited_file import AuditedVector

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


def test_it_is_run_without_being_asked_for():
    assert "advantage_blind" in default_estimands()
    for form, sizes in (("quick", {50}), ("full", {50, 1000})):
        run = make_run(form, Choice(), estimands=(), strict=False, seed=0)
        on = [cell for cell in run.cells if ESTIMAND.concerns(law(cell.scenario))]
        assert {cell.records for cell in on} == sizes
        assert {cell.prior for cell in on} == {0.5}
        assert any(law(cell.scenario).advantage(0.5) == 0 for cell in on)
        assert any(law(cell.scenario).advantage(0.5) > 0 for cell in on)


def test_asked_for_alone_it_is_run_where_it_says_something():
    alone = make_run("quick", Choice(), estimands=("advantage_blind",), strict=False, seed=0)
    assert {law(cell.scenario).width for cell in alone.cells} == {2}
    other = make_run("quick", Choice(), estimands=("auc",), strict=False, seed=0)
    assert {law(cell.scenario).width for cell in other.cells} == {1}
    named = make_run("quick", Choice(), estimands=("advantage_vector",), strict=False, seed=0)
    assert {cell.scenario for cell in named.cells} == set(VECTOR_LAWS)
    sizes = Choice(sizes=(60,))
    sized = make_run("quick", sizes, estimands=("advantage_blind",), strict=False, seed=0)
    assert {cell.scenario for cell in sized.cells} == set(VECTOR_LAWS)


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
