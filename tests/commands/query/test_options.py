"""What ``query`` may be asked: typed and of Python it is the same, and bad values are told."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.query.model.options import LossesOptions
from mipaudit.commands.query.options import QueryOptions, parse_queries
from tests.fixtures.codes import refused

TABLES = {"members": "m.csv", "holdout": "h.csv", "synthetic": "s.csv"}


def asked(**given):
    return QueryOptions("nn", **TABLES, **given)


@pytest.mark.parametrize(
    "given",
    [
        ["age=17:90", "a=b=0:0.5"],
        {"age": (17, 90), "a=b": [0, 0.5]},
        {"age": (17.0, 90.0), "a=b": (0.0, 0.5)},
    ],
)
def test_ranges_are_read_in_each_form(given):
    found = asked(range=given)
    assert found.range == {"age": (17.0, 90.0), "a=b": (0.0, 0.5)}
    assert found.but(metric="gower").range == found.range


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *(("range", one) for one in ("age", "=1:2", "age=1", "age=a:b", "age=2:1", "age=1:inf")),
        *(("range", one) for one in ("age=nan:1", ["age=1:2", "age=1:3"], {"age": 1}, 3)),
        *(("range", {"age": one}) for one in ((1, 2, 3), (2, 1))),
        *(("memory", one) for one in ("lots", "1M", "nan", "inf", -1, None)),
    ],
)
def test_what_is_no_range_and_no_size_is_refused_without_its_words(name, given):
    error = refused(name, asked, **{name: given})
    assert error.message.startswith((f"--{name} takes", f"--{name} must be"))


@pytest.mark.parametrize(
    ("given", "size"),
    [("4G", 4 << 30), ("500M", 500 << 20), ("64 mib", 64 << 20), (1 << 25, 1 << 25)],
)
def test_memory_has_units_or_is_in_bytes(given, size):
    assert asked(memory=given).memory_bytes == size


def test_lists_and_inputs_are_known_before_anything_is_read():
    found = asked(columns="age,job,job", keep="id, person", reference="r.csv")
    assert (found.columns, found.keep) == (("age", "job"), ("id", "person"))
    assert found.inputs() == ("m.csv", "h.csv", "s.csv", "r.csv")
    assert list(found.tables) == ["members", "holdout", "synthetic", "reference"]
    assert "m.csv" not in [one.value for one in found.recorded()]


def test_the_words_of_queries():
    found = parse_queries(["nn", "kth", "kth:7", "lnr", "mc", "mc:0.25", "density:3", "classifier"])
    names = ["nn", "kth_5", "kth_7", "lnr", "mc", "mc_0.25", "density_3", "classifier"]
    assert [one.column for one in found] == names
    assert [one.side for one in found] == ["low"] * 4 + ["high"] * 4
    assert found[5].radius == 0.25
    # Radii that differ little have columns of their own.
    found = parse_queries(["mc:0.1234567", "mc:0.12345678", "share:1e-6", "share:2"])
    names = ["mc_0.1234567", "mc_0.12345678", "share_1e-06", "share_2"]
    assert [one.column for one in found] == names


@pytest.mark.parametrize(
    "words",
    [
        *([], ["nearest"], ["nn", "nn"], ["nn:2"], ["kth:0"], ["kth:x"], ["kth:1001"], ["lnr:1"]),
        *(["mc:0"], ["mc:-1"], ["mc:nan"], ["mc:inf"], ["mc:"], ["kth:"], ["kth", "kth:5"]),
        ["classifier:2"],
    ],
)
def test_words_that_are_no_query(words):
    assert refused("query", parse_queries, words).hint


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "outputs"),
        ({"logits": "a", "probabilities": "b"}, "outputs"),
        ({"logits": "a", "holdout_logits": "b", "holdout_probabilities": "c"}, "outputs"),
        ({"logits": "a", "reference_logits": "b", "reference_probabilities": "c"}, "outputs"),
        ({"logits": "a", "holdout_logits": "b", "membership": "c"}, "two_memberships"),
        ({"logits": "a", "holdout_probabilities": "b"}, "two_kinds"),
        ({"logits": "a", "holdout_labels": "b"}, "no_holdout"),
        ({"logits": "a", "holdout_reference_logits": "b"}, "no_holdout"),
    ],
)
def test_files_that_do_not_go_together_are_refused_before_they_are_opened(given, code):
    refused(code, LossesOptions, **given)


def test_the_record_names_files_and_holds_no_arrays(tmp_path):
    asked = LossesOptions(logits=np.full((3, 2), 0.125), labels=tmp_path / "y.npy", scores="loss")
    found = {one.name: one.value for one in asked.recorded()}
    assert found["logits"] == "in memory"
    assert found["labels"].endswith("y.npy")
    assert (found["membership"], found["scores"]) == (None, ["loss"])
