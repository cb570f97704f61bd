from __future__ import annotations

import numpy as np
import pytest

from mipaudit.errors import InputError
from mipaudit.summaries.plan import is_discrete


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (np.repeat([0.0, 1.0], 50), "float", True),
        (np.arange(100.0), "float", False),
        (np.repeat(np.arange(257.0), 4), "float", False),
        (np.repeat(np.arange(256.0), 4), "float", True),
        (np.arange(2048.0), "integer", True),
        (np.arange(2049.0), "integer", False),
        (np.arange(3000.0), "string", True),
        (np.concatenate([np.zeros(90), np.arange(1, 11.0)]), "float", True),
        (np.concatenate([np.zeros(89), np.arange(1, 12.0)]), "float", False),
    ],
)
def test_what_is_discrete(values, kind, expected):
    assert is_discrete(values, kind, asked=False) is expected


def test_the_user_may_say_so():
    assert is_discrete(np.arange(100.0), "float", asked=True)


@pytest.mark.parametrize(("kind", "asked"), [("float", True), ("string", False)])
def test_too_many_values_for_an_alphabet(kind, asked):
    with pytest.raises(InputError) as caught:
        is_discrete(np.arange(9000.0), kind, asked=asked)
    assert caught.value.code == "too_many_values"
