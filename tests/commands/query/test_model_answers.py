"""The storage of outputs must not tell who is a member."""

import numpy as np
import pytest

import mipaudit
from mipaudit.errors import UsageError


def _repeated(n=300, seed=0):
    """Return few different rows of logits, drawn alike for both classes, and their labels."""
    rng = np.random.default_rng(seed)
    pool, labels = rng.normal(size=(40, 10)) * 3, rng.integers(0, 10, 40)
    return pool, labels, rng.integers(0, 40, n), rng.integers(0, 40, n)


def _atoms(members, holdout, labels, of_holdout, **kind):
    name = kind.get("name", "logits")
    made = mipaudit.query_losses(
        **{name: members, f"holdout_{name}": holdout}, labels=labels, holdout_labels=of_holdout
    )
    return made, [
        set(np.asarray(values)[made.columns["member"]].tolist())
        == set(np.asarray(values)[~made.columns["member"]].tolist())
        for score, values in made.columns.items()
        if score not in {"member", "label"}
    ]


def test_how_an_array_lies_in_memory_tells_nobody_who_is_a_member():
    pool, labels, one, other = _repeated()
    made, same = _atoms(pool[one], np.asfortranarray(pool[other]), labels[one], labels[other])
    assert all(same)
    assert "rounded_outputs" not in {finding.code for finding in made.report.findings}


@pytest.mark.parametrize("name", ["logits", "probabilities"])
@pytest.mark.parametrize(
    ("fine", "coarse"), [("f8", "f4"), ("f4", "f2"), ("f2", "f8"), ("f4", "bf16")]
)
def test_the_precision_of_a_file_tells_nobody_who_is_a_member(name, fine, coarse):
    pool, labels, one, other = _repeated()
    if name == "probabilities":
        pool = np.exp(pool) / np.exp(pool).sum(axis=1, keepdims=True)

    def stored(rows, kind):
        if kind != "bf16":
            return rows.astype(kind)
        bits = (rows.astype("f4").view("u4") + 0x8000) & 0xFFFF0000
        return bits.astype("u4").view("f4")

    made, same = _atoms(
        stored(pool[one], fine), stored(pool[other], coarse), labels[one], labels[other], name=name
    )
    assert all(same)
    assert "rounded_outputs" in {finding.code for finding in made.report.findings}


def test_the_precision_of_a_reference_tells_nobody_who_is_a_member():
    pool, labels, one, other = _repeated()
    reference = pool[::-1] * 0.7
    made = mipaudit.query_losses(
        logits=pool[one],
        labels=labels[one],
        holdout_logits=pool[other],
        holdout_labels=labels[other],
        reference_logits=reference[one].astype("f4"),
        holdout_reference_logits=reference[other],
        scores=("loss_calibrated",),
    )
    member, found = made.columns["member"], made.columns["loss_calibrated"]
    assert set(found[member]) == set(found[~member])


def test_logits_of_one_class_and_probabilities_of_the_other_are_refused():
    pool, labels, one, other = _repeated()
    p = np.exp(pool) / np.exp(pool).sum(axis=1, keepdims=True)
    with pytest.raises(UsageError) as refused:
        mipaudit.query_losses(
            logits=pool[one],
            labels=labels[one],
            holdout_probabilities=p[other],
            holdout_labels=labels[other],
        )
    assert refused.value.code == "two_kinds"
