"""What named attackers and guesses have: the truths beside large samples, and the limits."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from mipaudit.commands.attack.adversaries import bounded_loss_guesses
from mipaudit.maths.advantage import advantage
from mipaudit.validation.estimands.estimand import AuditedFile
from mipaudit.validation.estimands.methods import ESTIMANDS, default_estimands
from mipaudit.validation.estimands.named_attack import BOUND, CUTS
from mipaudit.validation.laws import law

NAMES = [name for name in default_estimands() if ESTIMANDS[name].dear]
LAWS = ["gauss-shift-1", "leaked-atoms", "infinite-scores", "null-ties"]


def file(name, n, prior=0.5, seed=3):
    members, holdout = law(name).sample(np.random.default_rng(seed), n, n)
    return AuditedFile(
        member=np.arange(2 * n) < n,
        score=np.concatenate([members, holdout]),
        prior=prior,
        seed=1,
    )


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_truths_are_those_of_large_samples(name, prior):
    large = file(name, 200_000, prior)
    guesses = bounded_loss_guesses(large.score, BOUND)
    rates = guesses[large.member].mean(), guesses[~large.member].mean()
    gap = ESTIMANDS["generalization_gap"].truth(law(name), prior)
    assert gap == pytest.approx((rates[0] - rates[1]) * BOUND, abs=0.01)
    found = ESTIMANDS["bounded_loss"].truth(law(name), prior)
    assert found == pytest.approx(advantage(*rates, prior), abs=0.01)
    for one in ("attribute_advantage", "attribute_membership"):
        (said,) = ESTIMANDS[one].intervals(large)
        truth = ESTIMANDS[one].truth(law(name), prior, *said.args)
        assert truth == pytest.approx(said.value, abs=0.01)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_limits_surround_the_truth(name, prior):
    """Six seeded files of each law; also at a prior at which an attack may be worse than blind."""
    missed = []
    for which, seed in product(LAWS, range(6)):
        for said in ESTIMANDS[name].intervals(file(which, 1500, prior, seed)):
            truth = ESTIMANDS[name].truth(law(which), prior, *said.args)
            missed += [] if said.lower is None else [said.lower > truth + 1e-9]
            missed += [] if said.upper is None else [said.upper < truth - 1e-9]
    assert sum(missed) <= binom.ppf(0.999, len(missed), 0.025)


def test_the_attribute_has_its_truth_at_the_shares_of_the_file():
    alone = (1.0, *[0.0] * (len(CUTS) - 1))
    rate = ESTIMANDS["attribute_advantage"].truth(law("gauss-shift-1"), 0.5, *alone)
    assert rate == pytest.approx(0.3829, abs=1e-4)
