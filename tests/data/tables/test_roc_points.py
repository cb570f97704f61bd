from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data.tables.splits import read_roc_points
from mipaudit.errors import InputError

FPR, TPR = [0.0, 0.1, 0.5, 1.0], [0.05, 0.4, 0.8, 1.0]


def write_csv(path):
    lines = [f"{x},{y}" for x, y in zip(FPR, TPR, strict=True)]
    path.write_text("\n".join(["fpr,tpr", *lines]) + "\n")


def write_curves(path):
    rows = [f"roc,{x},{y}" for x, y in zip(FPR, TPR, strict=True)]
    path.write_text("\n".join(["curve,x,y", "trade-off,0.0,7.5", *rows, "other,3,4"]) + "\n")


def write_json(path):
    path.write_text(json.dumps({"fpr": FPR, "tpr": TPR, "epsilon": [1]}))


def write_parquet(path):
    pq.write_table(pa.table({"note": ["a"] * 4, "tpr": TPR, "fpr": FPR}), path)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("c.csv", write_csv),
        ("c.csv", write_curves),
        ("c.json", write_json),
        ("c.parquet", write_parquet),
    ],
)
def test_every_form_holds_the_same_points(tmp_path, name, write):
    write(tmp_path / name)
    rates, source = read_roc_points(str(tmp_path / name))
    assert rates.T.tolist() == [FPR, TPR]
    assert (source.rows, len(source.sha256)) == (4, 64)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a,b\n0.1,0.2\n", "no_curve"),
        ("curve,x,y\nother,0.1,0.2\n", "no_curve"),
        ('{"fpr": [0.1]}', "no_curve"),
        ('{"fpr": [0.1, 0.2], "tpr": [0.3]}', "bad_curve"),
        ("fpr,tpr\n0.1,0.2\n0.5,1.7\n", "bad_curve"),
        ("fpr,tpr\n0.1,0.2\n0.5,0.4\n", "bad_curve"),
    ],
)
def test_what_is_no_roc_is_refused(tmp_path, text, code):
    path = tmp_path / ("c.json" if text.startswith("{") else "c.csv")
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_roc_points(str(path))
    assert refused.value.code == code
    if "point" in str(refused.value) and code == "bad_curve" and not text.startswith("{"):
        assert "point 2" in str(refused.value)
        assert "1.7" not in str(refused.value)


def test_not_a_number_is_refused(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("fpr,tpr\n0.1,0.2\nnan,0.4\n")
    with pytest.raises(InputError):
        read_roc_points(str(path))
