"""Random draws: when they are seeded."""

from __future__ import annotations

import numpy as np

from mipaudit.maths.draws import LateGenerator


def test_draws_are_those_of_a_generator_seeded_at_once():
    late, prompt = LateGenerator([5, 3]), np.random.default_rng([5, 3])
    shape, shares = np.array([1.0, 4.0, 0.5]), np.array([0.2, 0.3, 0.5])
    for _ in range(3):
        assert late.standard_gamma(shape).tolist() == prompt.standard_gamma(shape).tolist()
        assert late.multinomial(9, shares).tolist() == prompt.multinomial(9, shares).tolist()


def test_nothing_is_seeded_before_the_first_draw(monkeypatch):
    made = []
    real = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed: made.append(seed) or real(seed))
    late = LateGenerator([5, 3])
    assert made == []
    late.standard_gamma(np.ones(2))
    late.standard_gamma(np.ones(2))
    assert made == [[5, 3]]
