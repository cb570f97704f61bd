from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data.column import Column, Vocabulary
from mipaudit.data.opening import ReadRequest, open_input
from mipaudit.data.rows.units import MOST_GROUPS, GroupColumns
from mipaudit.data.source import column_values
from mipaudit.errors import InputError


def labels(words, codes):
    return Column(values=np.array(codes), vocabulary=Vocabulary(tuple(words)))


def test_equal_values_make_equal_groups_whatever_their_codes():
    groups = GroupColumns(columns=("a", "b"))
    first = groups.hashes(
        {"a": labels("FM", [0, 1, 0]), "b": Column(values=np.array([1, 1, 2], dtype=np.int8))}
    )
    second = groups.hashes(
        {"a": labels("MF", [1, 0, 1]), "b": Column(values=np.array([1.0, 1.0, 2.0]))}
    )
    assert first.tolist() == second.tolist()
    assert set(groups.found.values()) == {("F", "1"), ("M", "1"), ("F", "2")}
    swapped = groups.hashes({"a": labels("xy", [0, 1]), "b": labels("xy", [1, 0])})
    assert swapped[0] != swapped[1]


GAP = np.array([False, True, False])


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (Column(values=np.array([1234567.5, 1234568.25])), ["1234567.5", "1234568.25"]),
        (Column(values=np.array([np.inf, -np.inf, 1e300])), ["inf", "-inf", "1e+300"]),
        (Column(values=np.array([4.5, np.nan, 4.5])), ["4.5", "missing", "4.5"]),
        (Column(values=np.array([3, 0, 3]), missing=GAP), ["3", "missing", "3"]),
        (Column(values=np.array([True, False, True]), missing=GAP), ["true", "missing", "true"]),
        (labels(["missing", "x"], [0, -1, 1]), ['"missing"', "missing", "x"]),
        (
            labels(["x, b=y", 'say "x"', '"missing"'], [0, 1, 2]),
            ['"x, b=y"', '"say ""x"""', '"""missing"""'],
        ),
    ],
)
def test_unequal_values_have_unequal_words(column, wanted):
    groups = GroupColumns(columns=("a",))
    found = groups.hashes({"a": column})
    assert [word for (word,) in map(groups.found.get, found.tolist())] == wanted


def test_rows_left_out_make_no_group():
    groups = GroupColumns(columns=("a",))
    values = Column(values=np.arange(MOST_GROUPS + 1) * 0.5)
    kept = np.array([3, 5, 9])
    every = GroupColumns(columns=("a",)).hashes({"a": Column(values=np.array([1.5, 2.5, 4.5]))})
    assert groups.hashes({"a": values}, kept).tolist() == every.tolist()
    assert set(groups.found.values()) == {("1.5",), ("2.5",), ("4.5",)}
    assert groups.hashes({"a": values}, kept[:0]).size == 0


def test_measurements_are_no_groups():
    groups = GroupColumns(columns=("a",))
    with pytest.raises(InputError, match="combinations") as caught:
        groups.hashes({"a": Column(values=np.arange(MOST_GROUPS + 1) * 0.37)})
    assert caught.value.code == "too_many_groups"
    assert "0.37" not in str(caught.value)


def test_key_values():
    words = column_values(labels(["u", "v"], [1, 0, -1]))
    assert words.tolist() == ["v", "u", None]
    assert column_values(Column(values=np.array([3, 4]))).tolist() == [3, 4]


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_groups_and_names_travel_with_the_rows(form, tmp_path):
    n = 300
    table = pa.table(
        {
            "member": [i % 2 == 0 for i in range(n)],
            "score": [i / 7 if i % 5 else None for i in range(n)],
            "sex": [["F", "M", None][i % 3] for i in range(n)],
            "who": [f"p, {i}" for i in range(n)],
        }
    )
    request = {
        "key_column": "who",
        "named": True,
        "group_columns": ("sex",),
        "nan": "drop",
        "where": "sex = F",
    }
    if form == "frame":
        source = open_input(table, None, None, ReadRequest(**request))
    else:
        path = tmp_path / f"s.{form}"
        if form == "csv":
            table.to_pandas().to_csv(path, index=False)
        else:
            pq.write_table(table, path, row_group_size=70)
        source = open_input(str(path), None, None, ReadRequest(**request))
    kept = [i for i in range(n) if i % 5 and i % 3 == 0]
    with source:
        assert [column.name for column in source.columns] == ["score"]
        batches = list(source.partitions().rows())
        names = [name for rows in batches for name in rows.names.tolist()]
        assert names == [f"p, {i}" for i in kept]
        groups = np.concatenate([rows.groups for rows in batches])
        assert np.unique(groups).size == 1
        found = source.choice.groups.found
        assert found[int(groups[0])] == ("F",)
        head = batches[0].head(20)
        assert head.groups.size == head.names.size == head.member.size
