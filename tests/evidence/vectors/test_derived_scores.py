"""Rows that fit, rows that choose, and the blocks that hold them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mipaudit.errors import InputError
from mipaudit.evidence.derived_scores import joint_score, split_burn_in, vector_burn_in_blocks
from mipaudit.summaries.plan import BurnInSample
from mipaudit.summaries.rows import Rows, micro_blocks, rank_bytes


def sampled(n, size):
    rng = np.random.default_rng(0)
    rows = Rows(
        first_row=0,
        source_rows=n,
        kept=None,
        keys=None,
        member=rng.random(n) < 0.5,
        scores=(np.arange(n, dtype=float), rng.standard_normal(n)),
    )
    sample = BurnInSample(2, 3, size)
    sample.add(rows)
    sample.settle()
    return rows, sample


@pytest.mark.parametrize(("n", "size"), [(600, 65_536), (30_000, 65_536), (30_000, 500)])
def test_fitting_rows_are_in_no_evaluated_or_trained_block(n, size):
    rows, sample = sampled(n, size)
    block = micro_blocks(rank_bytes(rows, 3))
    parts = split_burn_in(sample)
    fitted = block[parts.fitting.values[:, 0].astype(int)]
    chosen = block[parts.choosing.values[:, 0].astype(int)]
    assert fitted.size
    assert chosen.size
    assert fitted.max() < parts.fit_blocks < parts.blocks
    assert chosen.max() < parts.blocks
    assert not set(parts.fitting.values[:, 0]) & set(parts.choosing.values[:, 0])
    assert (
        parts.fitting.member.tolist()
        == rows.member[parts.fitting.values[:, 0].astype(int)].tolist()
    )
    assert fitted.size == pytest.approx(2 * chosen.size, rel=0.35)


def test_small_files_give_more_of_themselves():
    assert vector_burn_in_blocks(10, 10) == 20
    assert vector_burn_in_blocks(10**4, 10**4) == 13
    assert vector_burn_in_blocks(10**8, 10**8) == 7
    assert vector_burn_in_blocks(6400, 10**8) == 16  # 64 * 20 / 80, and no more
    assert vector_burn_in_blocks(10, 10**8) == 20


def few_and_many(asked):
    """Yield what makes the combination of two coordinates with 7 values, and with 100,000."""
    rows, sample = sampled(100_000, 65_536)
    few = replace(rows, scores=(rows.scores[0] % 7, rows.scores[0] % 7))
    small = BurnInSample(2, 3, 65_536)
    small.add(few)
    small.settle()
    for one in (small, sample):
        yield lambda one=one: joint_score(split_burn_in(one), ["float", "float"], asked=asked)


def test_combinations_are_numbered_where_they_are_few():
    few, many = few_and_many(asked=False)
    assert few().form == "joint"
    assert many() is None


def test_who_says_that_a_vector_is_discrete_is_believed_or_told():
    few, many = few_and_many(asked=True)
    assert few().form == "joint"
    with pytest.raises(InputError) as caught:
        many()
    assert caught.value.code == "too_many_values"
