from __future__ import annotations

import sys

import pytest

from mipaudit.errors import MissingExtraError, UsageError
from mipaudit.maths.privacy.accountant import account
from mipaudit.maths.privacy.composition import (
    ApproximatePart,
    Composition,
    DpSgd,
    GaussianPart,
    LaplacePart,
    ResponsePart,
)


@pytest.mark.parametrize("noise", [0, -1, 0.0099, 10001, float("inf"), float("nan")])
@pytest.mark.parametrize("part", [GaussianPart, LaplacePart])
def test_noise_out_of_range(part, noise):
    with pytest.raises(UsageError, match=r"from 0\.01 to 10000") as caught:
        part(noise_multiplier=noise)
    assert caught.value.code == "bad_noise_multiplier"


@pytest.mark.parametrize(
    ("code", "parameters"),
    [
        ("bad_noise_multiplier", {"noise_multiplier": 0}),
        ("bad_sampling", {"q": 0}),
        ("bad_sampling", {"q": 1.01}),
        ("bad_sampling", {"q": float("nan")}),
        ("bad_count", {"steps": 0}),
        ("bad_count", {"steps": 10**7 + 1}),
        ("bad_count", {"steps": 10.5}),
        ("bad_count", {"steps": True}),
    ],
)
def test_dp_sgd_out_of_range(code, parameters):
    with pytest.raises(UsageError) as caught:
        DpSgd(**{"noise_multiplier": 1.0, "q": 0.01, "steps": 10, **parameters})
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("code", "part", "parameters"),
    [
        ("bad_epsilon", ApproximatePart, {"epsilon": -0.1}),
        ("bad_epsilon", ApproximatePart, {"epsilon": 301.0}),
        ("bad_epsilon", ApproximatePart, {"epsilon": float("nan")}),
        ("bad_delta", ApproximatePart, {"epsilon": 1.0, "delta": 1.0}),
        ("bad_delta", ApproximatePart, {"epsilon": 1.0, "delta": -1e-9}),
        ("bad_count", ApproximatePart, {"epsilon": 1.0, "count": 0}),
        ("bad_truth", ResponsePart, {"truth": 0.0}),
        ("bad_truth", ResponsePart, {"truth": 1.0}),
        ("bad_categories", ResponsePart, {"truth": 0.7, "categories": 1}),
        ("bad_categories", ResponsePart, {"truth": 0.7, "categories": 2.5}),
        ("bad_count", ResponsePart, {"truth": 0.7, "count": -1}),
        ("bad_count", GaussianPart, {"noise_multiplier": 1.0, "count": 0}),
        ("bad_count", LaplacePart, {"noise_multiplier": 1.0, "count": 0}),
    ],
)
def test_parts_out_of_range(code, part, parameters):
    with pytest.raises(UsageError) as caught:
        part(**parameters)
    assert caught.value.code == code


def test_nothing_to_compose():
    with pytest.raises(UsageError) as caught:
        Composition(parts=())
    assert caught.value.code == "empty_composition"


@pytest.mark.parametrize("missing", ["dp_accounting", "dp_accounting.pld.common"])
def test_a_missing_accountant_says_how_to_get_it(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=r'pip install "mipaudit\[accounting\]"') as caught:
        account(Composition(parts=(DpSgd(noise_multiplier=1.0, q=0.01, steps=10),)))
    assert caught.value.code == "accounting_missing"
