"""Ids that repeat: which columns are ids, what repeats, and the ways out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data.opening import open_input
from mipaudit.data.request import ReadRequest
from mipaudit.data.rows import repetition
from mipaudit.data.words import id_kind, splits_audits
from mipaudit.errors import InputError
from tests.fixtures.files import save

_IDS = (
    "record_id RecordID run_id runId id ID person Person patient patient_id PatientID "
    "patientid user user_id UserId subject canary canary_id household household_id "
    "HouseholdID uuid sample_id id_patient customer_no participant row_id visit_id user_key"
)
IDS = _IDS.split()
_LABELS = (
    "target y class class_id label label_id group group_id site_id hospital_id model_id "
    "batch_id region fold seed rep eps cohort split_id dataset_id covid grid valid index key"
)
LABELS = _LABELS.split()


@pytest.mark.parametrize("name", [*IDS, *LABELS])
def test_a_column_of_ids_is_known_by_its_name(name):
    assert (id_kind(name) is not None) == (name in IDS)


@pytest.mark.parametrize(
    "name", ["eps", "epsilon", "rep", "seed", "model", "model_id", "run", "fold", "trial", "runId"]
)
def test_columns_that_split_a_file_are_known(name):
    assert splits_audits(name)


def frame(name, people=40, each=5, seed=0):
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(2 * people), each)
    return pd.DataFrame(
        {name: ids, "member": (ids < people).astype(int), "score": rng.normal(size=ids.size)}
    )


def refusal(data, **options):
    with pytest.raises(InputError) as caught, open_input(data, None, None, ReadRequest(**options)):
        pass
    return caught.value


def taken(data, **options):
    """Return what is taken on the user's word."""
    with open_input(data, None, None, ReadRequest(**options)) as source:
        return [one.code for one in source.assumed]


@pytest.mark.parametrize("name", IDS)
def test_repeated_ids_are_refused_with_the_ways_out(name):
    error = refusal(frame(name))
    assert error.code == "repeated_ids"
    assert "80 values" in error.message
    assert "up to 5" in error.message
    for way in (f"--unit-col {name} --unit-rows", "--where", "--rows-are independent"):
        assert way in error.hint
    assert taken(frame(name), rows_are="independent") == ["rows_taken_as_independent"]
    assert taken(frame(name, each=1), rows_are="independent") == []


@pytest.mark.parametrize("name", LABELS)
def test_a_label_that_repeats_is_ordinary(name):
    data = frame("label_of")
    data[name] = data.pop("label_of") % 7
    assert taken(data, score_columns=("score",)) == []


@pytest.mark.parametrize("column", ["id", "record_id", "Record_ID", "uuid", "canary_id"])
def test_one_record_in_both_classes(fails, read, write, column):
    text = f"{column},member,score\nsecret1,1,0.5\nsecret2,0,1.5\nsecret1,0,2.5\nsecret2,0,3.5\n"
    error = fails("duplicate_ids", write(text))
    assert error.message.startswith("1 values of column")
    assert "secret" not in str(error)
    assert "emove" not in str(error)
    # Each of the two is in one class.
    assert len(read(write(text), unit_column=column).member) == 2
    twice_in_one_class = write(text.replace("secret1,0", "secret2,0"))
    assert fails("repeated_ids", twice_in_one_class).message.startswith("1 values of column")
    assert len(read(twice_in_one_class, rows_are="independent").member) == 4


def test_ids_are_compared_across_files_and_empty_ones_are_not(fails, read, write):
    a = str(write("id,score\n7,1.5\n8,2.5\n", "a.csv"))
    fails("duplicate_ids", members=a, holdout=str(write("id,score\n8,1.5\n9,2.5\n", "b.csv")))
    a = str(write("id,score\n,1.5\n8,2.5\n", "a.csv"))
    assert read(members=a, holdout=str(write("id,score\n,1.5\n9,2.5\n", "b.csv"))).keys is None


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "frame", "text", "two frames"])
def test_every_form_of_input_is_looked_at(kind, tmp_path, fails):
    data = frame("patient")
    if kind == "text":
        data["patient"] = "p" + data["patient"].astype(str)
    if kind == "two frames":
        sides = [data[data.member == side].drop(columns="member") for side in (1, 0)]
        with pytest.raises(InputError, match="patient"):
            open_input(None, *sides, ReadRequest())
    elif kind in {"frame", "text"}:
        assert refusal(data).code == "repeated_ids"
    else:
        written = {"row_group_size": 33} if kind == "parquet" else {}
        fails("repeated_ids", save(data, tmp_path / f"scores.{kind}", **written))


def test_ids_that_repeat_in_different_files_of_a_folder(tmp_path, fails, read):
    data = frame("patient", each=2)
    for run in (0, 1):
        (tmp_path / f"run={run}").mkdir()
        data[run::2].to_parquet(tmp_path / f"run={run}" / "a.parquet")
    error = fails("repeated_ids", tmp_path)
    assert "--where 'run = VALUE'" in error.hint
    assert len(read(tmp_path, where="run = 1").member) == 80


def test_a_folder_may_name_persons(tmp_path, fails):
    for person in range(4):
        (tmp_path / f"person={person}").mkdir()
        table = pa.table({"member": [person % 2] * 9, "score": np.arange(9) + person / 7})
        pq.write_table(table, tmp_path / f"person={person}" / "a.parquet")
    assert "4 values" in fails("repeated_ids", tmp_path).message


@pytest.mark.parametrize("name", ["eps", "Epsilon", "rep", "seed", "model", "run", "fold", "trial"])
def test_a_column_that_tells_an_ids_rows_apart_is_named(name):
    data = frame("record_id")
    data[name] = np.tile(np.arange(5), 80)
    assert f"--where '{name} = VALUE'" in refusal(data, score_columns=("score",)).hint
    assert taken(data, score_columns=("score",), where=f"{name} = 3") == []


def test_a_column_that_does_not_tell_them_apart_is_not_named():
    data = frame("record_id")
    data["rep"] = np.tile([0, 0, 1, 2, 3], 80)
    assert "'COLUMN = VALUE'" in refusal(data).hint


def test_a_record_that_is_a_member_in_one_audit_and_holdout_in_another():
    data = pd.concat([frame("record_id", each=1), frame("record_id", each=1, seed=1)])
    data["eps"] = np.repeat([0, 1], 80)
    data.loc[data.eps == 1, "member"] = 1 - data.member[data.eps == 1]
    error = refusal(data)
    assert error.code == "duplicate_ids"
    assert "--where 'eps = VALUE'" in error.hint


def test_runs_and_places_may_be_numbered_anew_in_each_class():
    for name in ("run_id", "row_id", "sample_index"):
        data = frame(name, each=1)
        data[name] %= 40
        assert taken(data) == []
        data[name] %= 39
        assert refusal(data).code == "repeated_ids"


def test_what_names_nobody_is_ordinary():
    # The same in all rows: it says where the file is from.
    assert taken(frame("run_id", each=1).assign(run_id=7)) == []
    empty = frame("user_id", each=1).astype({"user_id": float})
    empty.loc[empty.index % 3 == 0, "user_id"] = np.nan
    assert taken(empty) == []


def test_one_repeated_id_among_many_is_found_and_not_told():
    data = frame("id", people=5000, each=1)
    data.loc[17, "id"] = 4711
    assert "1 values" in refusal(data).message
    data["id"] = "secret" + data["id"].astype(str)
    assert "secret" not in str(refusal(data))


def test_rows_that_are_left_out_do_not_count(read, write):
    data = frame("person", each=2)
    data.loc[::2, "score"] = np.nan
    assert taken(data, nan="drop") == []
    assert refusal(data, nan="category").code == "repeated_ids"
    text = "id,member,g,score\n7,1,a,0.5\n8,0,a,1.5\n7,0,b,2.5\n"
    assert read(write(text), where="g = a").positions == [0, 1]


def test_a_unit_of_single_rows_does_not_hide_what_is_larger():
    data = frame("person")
    data["row_id"] = np.arange(len(data))
    assert "'person'" in refusal(data, unit_column="row_id").message
    # A household of several persons, too; but not a run, which tells a person's rows apart.
    data["household"] = data.person // 2
    assert "'household'" in refusal(data, unit_column="person").message
    data = data.drop(columns="household").assign(run_id=np.tile(np.arange(5), 80))
    with open_input(data, None, None, ReadRequest(unit_column="person")) as source:
        assert sum(rows.member.size for rows in source.partitions().rows()) == 80


def test_a_large_input_is_sampled(monkeypatch):
    monkeypatch.setattr(repetition, "_COMPARED", 1000)
    monkeypatch.setattr(repetition, "_LOOKED_AT", 500)
    data = frame("person", people=5000, each=2).sample(frac=1, random_state=1)
    few = refusal(data).message
    assert int(few.split()[0].replace(",", "")) < 100
    assert taken(frame("person", people=5000, each=1)) == []


def ordinary(number):
    """Return one of many files of classifiers' scores with labels and groups."""
    rng = np.random.default_rng(number)
    n = int(rng.choice([60, 400, 2000]))
    numbers = {"label": 10, "y": 2, "class_id": 100, "pred": 10, "age_group": 8, "region": 20}
    numbers |= {"site_id": 6, "fold": 5, "correct": 2}
    words = {"target": ["cat", "dog"], "class": list("abc"), "group": ["x", "y"]}
    words |= {"sex": ["f", "m"], "hospital": ["A", "B", "C"]}
    alike = {"seed": 3, "model": "resnet", "run_id": "2024-05-01", "epoch": 12}
    pool = [(name, rng.integers(0, most, n)) for name, most in numbers.items()]
    pool += [(name, rng.choice(some, n)) for name, some in words.items()]
    pool += [(name, np.full(n, one)) for name, one in alike.items()]
    pool += [(name, rng.permutation(n)) for name in ("record_id", "index")]
    pool += [("Unnamed: 0", np.arange(n)), ("batch_id", np.arange(n) // 32)]
    columns = {"member": rng.integers(0, 2, n), "loss": rng.gamma(2, size=n)}
    for at in rng.permutation(len(pool))[: int(rng.integers(2, 9))]:
        columns[pool[at][0]] = pool[at][1]
    return pd.DataFrame(columns)


@pytest.mark.parametrize("number", range(20))
def test_ordinary_files_are_not_refused(number):
    assert taken(ordinary(number), score_columns=("loss",)) == []


def test_one_canary_may_be_in_several_runs():
    runs = [frame("canary_id", each=1, seed=seed).assign(run=seed) for seed in range(3)]
    runs[1]["member"] = 1 - runs[1].member
    data = pd.concat(runs)
    assert refusal(data).code == "duplicate_ids"
    asked = {"run_column": "run", "group_columns": ("run",)}
    assert taken(data, **asked) == []
    assert refusal(pd.concat([data, data[:1]]), **asked).code == "repeated_ids"
