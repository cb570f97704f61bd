"""What ``query`` may be asked: typed and of Python it is the same, and bad values are told."""

from __future__ import annotations

import pytest

from mipaudit.commands.query.options import QueryOptions
from mipaudit.errors import UsageError

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
    with pytest.raises(UsageError) as caught:
        asked(**{name: given})
    assert caught.value.code == name
    assert caught.value.message.startswith((f"--{name} takes", f"--{name} must be"))


@pytest.mark.parametrize(
    ("given", "size"),
    [("4G", 4 << 30), ("500M", 500 << 20), ("64 mib", 64 << 20), (1 << 25, 1 << 25)],
)
def test_memory_has_units_or_is_in_bytes(given, size):
    assert asked(memory=given).memory_bytes == size


def test_columns_come_in_a_comma_list_each_once():
    found = asked(columns="age,job,job", keep="id, person")

    assert found.columns == ("age", "job")
    assert found.keep == ("id", "person")


def test_what_is_read_is_known_before_it_is_read():
    found = asked(reference="r.csv")

    assert found.inputs() == ("m.csv", "h.csv", "s.csv", "r.csv")
    assert list(found.tables) == ["members", "holdout", "synthetic", "reference"]
    assert "m.csv" not in [one.value for one in found.recorded()]
