import mpmath
import numpy as np
import pytest

from mipaudit.commands.query.model.lira import phi_of_loss, phi_of_probability
from mipaudit.commands.query.model.losses import SCORES, log_others, log_probabilities, model_scores


def exact_scores(logits, label):
    """Every score in 60 digits."""
    with mpmath.workdps(60):
        powers = [mpmath.exp(mpmath.mpf(z)) for z in logits]
        p = [one / sum(powers) for one in powers]
        rest = [1 - one for one in p]
        true = p[label]
        others = [one for at, one in enumerate(p) if at != label]
        modified = -rest[label] * mpmath.log(true) - sum(
            one * mpmath.log(1 - one) for one in others
        )
        return {
            "loss": float(-mpmath.log(true)),
            "conf_true": float(true),
            "conf_max": float(max(p)),
            "entropy": float(-sum(one * mpmath.log(one) for one in p)),
            "mod_entropy": float(modified),
            "margin": float(mpmath.log(true) - mpmath.log(max(others))),
            "phi": float(mpmath.log(true / rest[label])),
            "correct": p.index(max(p)) == label,
        }


@pytest.mark.parametrize("scale", [0.1, 3.0, 30.0])
@pytest.mark.parametrize("label", [0, 3])
def test_scores_are_exact_also_of_sure_models(scale, label):
    logits = np.random.default_rng(int(scale)).normal(size=5) * scale
    found = model_scores(log_probabilities(logits[None]), np.array([label]))
    for name, wanted in exact_scores(logits, label).items():
        assert found[name][0] == pytest.approx(wanted, rel=1e-11, abs=1e-300), name


def test_a_sure_model_keeps_its_digits():
    # p of the true class is 1 in floating point; its loss is not 0.
    logits = np.array([[50.0, 0.0, 0.0]])
    found, wrong = (model_scores(log_probabilities(logits), np.array([at])) for at in (0, 1))
    assert found["conf_true"][0] == 1.0
    assert found["phi"][0] == pytest.approx(exact_scores(logits[0], 0)["phi"], rel=1e-12)
    assert found["phi"][0] < 50
    assert wrong["mod_entropy"][0] == pytest.approx(exact_scores(logits[0], 1)["mod_entropy"])
    huge = model_scores(log_probabilities(np.array([[1e4, -1e4]])), np.array([1]))
    assert (huge["loss"][0], huge["margin"][0]) == pytest.approx((2e4, -2e4))


def test_probabilities_of_zero_make_infinite_losses_and_no_nan():
    with np.errstate(divide="ignore"):
        log_p = np.log(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]))
    for labels in ([0, 0], [1, 2]):
        found = model_scores(log_p, np.array(labels))
        for name in SCORES:
            assert not np.isnan(found[name].astype(float)).any(), name
    assert np.isinf(found["loss"]).tolist() == [True, True]
    assert found["entropy"].tolist() == pytest.approx([0.0, np.log(2)])


def test_one_column_is_the_second_of_two_classes():
    z = np.array([[0.7], [-2.0]])
    p = 1 / (1 + np.exp(-z[:, 0]))
    found = model_scores(log_probabilities(z), np.array([1, 1]))
    assert found["conf_true"].tolist() == pytest.approx(p.tolist())
    assert found["phi"].tolist() == pytest.approx(z[:, 0].tolist())


def test_blocks_do_not_show():
    rng = np.random.default_rng(2)
    logits, labels = rng.normal(size=(40_000, 3)), rng.integers(0, 3, 40_000)
    whole = model_scores(log_probabilities(logits), labels)
    end = model_scores(log_probabilities(logits[-5:]), labels[-5:])
    for name in SCORES:
        assert (whole[name][-5:] == end[name]).all()


def test_log_others_is_the_log_of_the_rest():
    log_p = log_probabilities(np.random.default_rng(3).normal(size=(20, 4)))
    assert np.exp(log_others(log_p)) == pytest.approx(1 - np.exp(log_p))


def test_phi_from_a_probability_or_a_loss():
    p = np.array([0.2, 0.9, 1 - 1e-9])
    wanted = np.log(p / (1 - p))
    assert phi_of_probability(p, 1e-16, 1e-16)[0] == pytest.approx(wanted)
    assert phi_of_loss(-np.log(p), 1e-16)[0] == pytest.approx(wanted)
    found, moved = phi_of_probability(np.array([0.0, 0.5, 1.0]), 2.0**-53, 2.0**-53)
    assert moved == 2
    assert np.abs(found).max() == pytest.approx(53 * np.log(2))
    assert phi_of_loss(np.array([0.0, 800.0]), 2.0**-53)[0].tolist() == pytest.approx(
        [53 * np.log(2), -800.0]
    )
