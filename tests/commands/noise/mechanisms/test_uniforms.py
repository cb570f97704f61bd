from __future__ import annotations

import os

import numpy as np
from scipy import stats

from mipaudit.commands.noise.mechanisms.uniforms import uniforms_from, uniforms_from_bytes


def test_uniforms_are_uniform_and_a_seed_repeats_them():
    draw = uniforms_from(np.random.default_rng(3))(20_000)
    assert stats.kstest(draw, "uniform").pvalue > 1e-3
    np.testing.assert_array_equal(draw, uniforms_from(np.random.default_rng(3))(20_000))


def test_uniforms_from_the_operating_system_differ():
    source = uniforms_from_bytes(os.urandom)
    assert not np.array_equal(source(8), source(8))


def test_uniforms_are_inside_the_open_interval_and_symmetric_at_its_ends():
    words = iter([b"\x00" * 6 + b"\x00\x00", b"\x00\x08" + b"\x00" * 6])
    # The first word is zero but for the 11 bits that are dropped: it is drawn again.
    low = uniforms_from_bytes(lambda _: next(words))(1)
    high = uniforms_from_bytes(lambda count: b"\xff" * count)(1)
    assert low[0] == 2.0**-53
    assert high[0] == 1 - 2.0**-53


def test_only_the_zeros_are_drawn_again():
    asked = []

    def some_bytes(count):
        asked.append(count)
        return (b"\x00" * 8 + b"\x80" * 8)[:count] if len(asked) == 1 else b"\xc0" * count

    draw = uniforms_from_bytes(some_bytes)(2)
    assert asked == [16, 8]
    assert draw[0] > draw[1] > 0.5


def test_all_53_bits_are_used():
    words = np.array([(1 << 63) | (1 << 11)], dtype="<u8").tobytes()
    assert uniforms_from_bytes(lambda _: words)(1)[0] == 0.5 + 2.0**-53
