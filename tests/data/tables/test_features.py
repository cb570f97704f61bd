from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mipaudit.commands.shift.options import ShiftOptions
from mipaudit.data.tables.features import open_features
from mipaudit.errors import InputError, UsageError


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def columns_of(source):
    """Return the features of all rows, in order, and whose they are."""
    batches = list(source.batches())
    values = [np.concatenate(found) for found in zip(*(b.scores for b in batches), strict=True)]
    return values, np.concatenate([rows.member for rows in batches])


def opened(members, holdout, **request):
    asked = ShiftOptions(members, holdout, **request)
    return open_features(
        asked.members,
        asked.holdout,
        columns=asked.columns,
        ignore=asked.ignore,
        id_col=asked.id_col,
    )


@pytest.fixture
def tables(tmp_path):
    members = "id,age,town,seen,ok\n1,30,x,2024-01-01,true\n2,,y,2024-01-31,false\n"
    holdout = "town,id,seen,ok,age,more\ny,7,2024-02-01,true,2.5,1\n,8,,false,4,1\n"
    return write(tmp_path, "m.csv", members), write(tmp_path, "h.csv", holdout)


def test_types_are_found_and_columns_paired_by_name(tables):
    with opened(*tables) as source:
        assert [(one.name, one.kind) for one in source.columns] == [
            ("age", "number"),
            ("town", "category"),
            ("seen", "date"),
            ("ok", "number"),
        ]
        assert dict(source.skipped) == {
            "id": "names_a_record",
            "more": "in_one_table",
        }
        (age, town, seen, ok), member = columns_of(source)
    np.testing.assert_array_equal(age, [30, np.nan, 2.5, 4])
    assert town[1] == town[2] != town[0]
    assert np.isnan(town[3])
    np.testing.assert_array_equal(seen[1:] - seen[0], [30, 31, np.nan])
    assert ok.tolist() == [1, 0, 1, 0]
    assert member.tolist() == [True, True, False, False]


def test_what_is_asked_for_is_taken(tables):
    with opened(*tables, columns=("town", "id")) as source:
        assert {one.name for one in source.columns} == {"id", "town"}
    with opened(*tables, ignore=("more", "age")) as source:
        assert {one.name for one in source.columns} == {"town", "seen", "ok"}


def test_columns_that_number_or_name_the_rows_are_left_out(tmp_path):
    rows = range(30)
    for name in ("m", "h"):
        frame = pd.DataFrame(
            {
                "number": rows,
                "name": [f"{name}{row}" for row in rows],
                "x": [row % 3 for row in rows],
                "day": [f"2024-01-{row + 1:02}" for row in rows],
            }
        )
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    with opened(str(tmp_path / "m.csv"), str(tmp_path / "h.csv")) as source:
        assert [one.name for one in source.columns] == ["x", "day"]
        assert {name for name, _ in source.skipped} == {"number", "name"}


def test_one_row_for_each_person_and_class(tmp_path):
    members = write(tmp_path, "m.csv", "who,x\na,1\na,2\nb,3\n")
    holdout = write(tmp_path, "h.csv", "who,x\na,4\nc,5\nc,6\n")
    with opened(members, holdout, id_col="who") as source:
        source.choose(0)
        (x,), member = columns_of(source)
        assert (source.chosen.dropped_members, source.chosen.dropped_holdout) == (1, 1)
    assert member.tolist() == [True, True, False, False]
    assert x[1:3].tolist() == [3, 4]


A = "a,b\n1,2\n3,4\n"
BAD = [
    (A, "c,d\n1,2\n", {}, InputError, "no_common_columns"),
    (A, "a,b\n", {}, InputError, "no_rows"),
    (A, "", {}, InputError, "empty_file"),
    (A, "a,b\nx,2\ny,3\n", {}, InputError, "mixed_column"),
    (A, "a,b\nx,2\n1,3\n", {}, InputError, "mixed_column"),
    ("a,b\n,\n,\n", "a,b\n,\n", {}, InputError, "no_features"),
    (A, A + "1,2,3\n", {}, InputError, "ragged_rows"),
    (A, A.replace("3", "5"), {"columns": ("z",)}, InputError, None),
    (A, A.replace("3", "5"), {"ignore": ("z",)}, InputError, None),
    (A, A.replace("3", "5"), {"ignore": ("a", "b")}, InputError, "no_features"),
    (A, A.replace("3", "5"), {"columns": ("a",), "ignore": ("a",)}, UsageError, "two_roles"),
    (A, A.replace("3", "5"), {"columns": ("a",), "id_col": "a"}, UsageError, "two_roles"),
    ("a,p\n1,2\n", "a,p\n1,x\n", {"id_col": "p"}, InputError, "mixed_column"),
    ("a,p\n1,2\n", "a,p\n1,\n", {"id_col": "p"}, InputError, "missing_id"),
]


@pytest.mark.parametrize(("members", "holdout", "request_", "kind", "code"), BAD)
def test_bad_tables(tmp_path, members, holdout, request_, kind, code):
    paths = write(tmp_path, "m.csv", members), write(tmp_path, "h.csv", holdout)
    with pytest.raises(kind) as caught, opened(*paths, **request_) as source:
        columns_of(source)
    assert code is None or caught.value.code == code
    assert caught.value.exit_code == 2


def test_parts_of_a_table_must_have_the_same_columns(tmp_path):
    (tmp_path / "m").mkdir()
    write(tmp_path / "m", "a.csv", "a,b\n1,2\n")
    write(tmp_path / "m", "b.csv", "a\n1\n")
    other = write(tmp_path, "h.csv", "a,b\n1,2\n")
    with pytest.raises(InputError) as caught:
        opened(str(tmp_path / "m"), other)
    assert caught.value.code == "missing_column"
