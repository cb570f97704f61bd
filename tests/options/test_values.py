"""Lists of columns as they are typed, and names that hold a comma themselves."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import InputError
from mipaudit.options.values import column_list, listed_columns

COMMA = '"a,b"'


# As in a CSV file.
TYPED = {"a,b": ["a", "b"], " a , b ": ["a", "b"], COMMA: ["a,b"], "": [""], ",": ["", ""]}
TYPED |= {f"c, {COMMA} ,d": ["c", "a,b", "d"], "a b,c'd": ["a b", "c'd"]}
TYPED |= {'"say ""hi""",b': ['say "hi"', "b"]}


@pytest.mark.parametrize("typed", TYPED)
def test_a_list_is_cut_at_commas_outside_quotation_marks(typed):
    assert listed_columns([typed]) == TYPED[typed]
    assert column_list(typed) == tuple(dict.fromkeys(TYPED[typed]))


def test_lists_are_read_one_by_one_and_a_sequence_holds_names():
    assert listed_columns(['"a', "b,c"]) == ["a", "b", "c"]
    assert column_list(["a,b", "c", "c"]) == ("a,b", "c")
    assert column_list(None) == ()


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(3)
    member = np.arange(800) % 2 == 0
    frame = pd.DataFrame({"member": member, "score": random.normal(size=800) + member})
    frame["a,b"] = random.integers(2, size=800).astype(str)
    frame.to_parquet(tmp_path / "scores.parquet", index=False)
    return frame


@pytest.mark.parametrize("command", ["records", "attack"])
def test_a_column_whose_name_has_a_comma_is_asked_for_in_quotation_marks(
    mipaudit, table, tmp_path, command
):
    given = (command, "scores.parquet", "--score-col", "score", "--by")
    refused = mipaudit(*given, "a,b")
    assert refused.returncode == 2
    assert "there is no column 'a'" in refused.stderr
    assert "'a,b' has a comma: put the name in quotation marks" in refused.stderr
    done = mipaudit(*given, COMMA, "-f", "json")
    assert done.returncode == 0, done.stderr
    (tmp_path / "report.json").write_text(done.stdout)
    again = mipaudit("verify", "report.json", "--input", "scores.parquet", "-q")
    assert again.stdout == "The report AGREES with what was computed now.\n", again.stderr


@pytest.mark.parametrize("flag", ["--columns", "--ignore"])
def test_columns_that_are_compared_are_asked_for_alike(mipaudit, table, tmp_path, flag):
    table[table["member"]].to_csv(tmp_path / "a.csv", index=False)
    table[~table["member"]].to_csv(tmp_path / "b.csv", index=False)
    given = ("shift", "a.csv", "b.csv", "-f", "json", flag)
    done = mipaudit(*given, f"score,{COMMA}" if flag == "--columns" else f"member,{COMMA}")
    assert done.returncode == 0, done.stderr
    compared = {one["column"] for one in json.loads(done.stdout)["columns"]}
    assert compared == ({"score", "a,b"} if flag == "--columns" else {"score"})


def test_in_python_a_sequence_names_it_as_it_is(table):
    assert mipaudit.attack(table, score_col="score", by=["a,b"]).design.classes == ("a,b",)
    assert mipaudit.records(table, by=("a,b",)).groups
    with pytest.raises(InputError, match="no column 'a'") as caught:
        mipaudit.attack(table, score_col="score", by="a,b")
    assert "has a comma" in caught.value.hint
