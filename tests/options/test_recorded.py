"""Recorded settings are the keywords that they were, for every command."""

from __future__ import annotations

import msgspec
import pytest

import mipaudit
from mipaudit.errors import InputError
from mipaudit.options.public import options_of, recorded_keywords
from mipaudit.statements.provenance import Setting, plain_value

ODD_NAMES = ("a, b", "d1,d2", "none", " x", '"quoted"', "")
GIVEN = {
    "estimate": {
        "score_col": ODD_NAMES,
        "member_value": "none",
        "where": 'city = "a, b"',
        "prior": 0.1,
        "max_tpr_at_fpr": (0.02, 1e-3),
        "max_metric": ("ppv=0.6", "cost:fp=1,fn=5=-0.1"),
        "limits": ({"quantity": "auc", "max": 0.6, "score": "a, b"},),
        "strict": True,
        "seed": 7,
    },
    "check": {"score_col": ("loss",), "nan": "drop", "hash_inputs": True},
    "records": {"by": ("sex", "a, b"), "cells": 12, "max_risk": 0.5, "tau": 0.25},
    "epsilon": {"design": "one-run", "guesses": (200, 100), "delta": 1e-5, "curve": False},
    "compare": {"baseline": "a, b", "independent": True, "max_increase": 0.01},
    "bounds": {
        "dp_sgd": {"noise_multiplier": 0.8, "q": 0.01, "steps": 1e4},
        "compose": (("gaussian", {"noise_multiplier": 2.0, "count": 10}),),
        "tpr_at_fpr": (0.2, 0.01),
        "success": (0.2, 0.1),
        "gaussian_noise_for": {"epsilon": 1.0, "delta": 1e-5},
        "rdp": ((2.0, 0.1), (4.0, 0.25)),
        "baseline": (0.1, 0.01),
        "curves": True,
    },
    "noise": {"eta": 0.1, "k": float("inf"), "seed": None},
    "validate": {"estimand": ("auc",), "sizes": (40, 1000), "priors": (0.5, 0.01)},
    "simulate": {"n_members": 10, "order": "sorted"},
}


@pytest.mark.parametrize("command", sorted(GIVEN))
def test_arguments_come_back_with_all_the_defaults(command):
    options = options_of(getattr(mipaudit, command))
    arguments = {
        one.name: GIVEN[command].get(one.name, one.default)
        for one in options
        if one.option.recorded and not one.option.is_input
    }
    assert GIVEN[command].keys() <= arguments.keys()

    names = {one.name: one.recorded_name for one in options}
    recorded = {names[name]: value for name, value in arguments.items()}
    settings = [
        Setting(name=name, value=plain_value(value), source="api")
        for name, value in recorded.items()
    ]
    written = msgspec.json.decode(msgspec.json.encode(settings), type=tuple[Setting, ...])
    assert recorded_keywords(command, written) == arguments


def test_an_option_that_was_not_typed_and_what_no_keyword_takes_are_left_out():
    untyped = [
        Setting(name=name, value=None, source="default") for name in ("score_columns", "curve")
    ]
    policy = Setting(name="config", value="mipaudit.toml", source="file", where="sha256 00")
    for command, settings in (("epsilon", untyped), ("estimate", [policy])):
        assert recorded_keywords(command, settings) == {}


@pytest.mark.parametrize(
    ("name", "value"), [("prior", "half"), ("strict", "1"), ("seed", "0.5"), ("prior", "7")]
)
def test_a_setting_that_cannot_be_read_is_an_error_without_its_value(name, value):
    with pytest.raises(InputError) as caught:
        recorded_keywords("estimate", [Setting(name=name, value=value, source="default")])

    assert name in caught.value.message
    assert value not in str(caught.value)
