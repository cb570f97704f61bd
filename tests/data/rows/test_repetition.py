"""Ids that repeat, equal files and copied rows: what is refused, what is ordinary, the ways out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mipaudit.data.rows import repetition
from mipaudit.data.words import id_kind, splits_audits
from tests.fixtures.codes import refused
from tests.fixtures.files import opened, save
from tests.places import ROOT

_IDS = (
    "record_id RecordID run_id runId id ID person Person patient patient_id PatientID "
    "patientid user user_id UserId subject canary canary_id household household_id "
    "HouseholdID uuid sample_id id_patient customer_no participant row_id visit_id user_key"
)
_LABELS = (
    "target y class class_id label label_id group group_id site_id hospital_id model_id "
    "batch_id region fold seed rep eps cohort split_id dataset_id covid grid valid index key"
)
IDS, LABELS = _IDS.split(), _LABELS.split()
SPLITS = ["eps", "Epsilon", "rep", "seed", "model", "run", "fold", "trial"]


@pytest.mark.parametrize("name", [*IDS, *LABELS, *SPLITS, "epsilon", "model_id", "runId"])
def test_columns_of_ids_and_columns_that_split_a_file_are_known_by_name(name):
    assert (id_kind(name) is not None) == (name in IDS)
    assert splits_audits(name) or name not in {*SPLITS, "epsilon", "model_id", "runId"}


def frame(name, people=40, each=5, seed=0):
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(2 * people), each)
    score = rng.normal(size=ids.size)
    return pd.DataFrame({name: ids, "member": (ids < people).astype(int), "score": score})


def refusal(data, code="repeated_ids", **asked):
    return refused(code, opened, data, **asked)


def taken(data, **asked):
    """Return what is taken on the user's word."""
    with opened(data, **asked) as source:
        return [one.code for one in source.assumed]


@pytest.mark.parametrize("name", IDS)
def test_repeated_ids_are_refused_with_the_ways_out(name):
    error = refusal(frame(name))
    assert "repeats 80 of its values" in error.message
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
    assert error.message.startswith("Column")
    assert "secret" not in str(error)
    assert "emove" not in str(error)
    # Each of the two is in one class.
    assert len(read(write(text), unit_column=column).member) == 2
    twice_in_one_class = write(text.replace("secret1,0", "secret2,0"))
    assert fails("repeated_ids", twice_in_one_class).message.startswith("Column")
    assert len(read(twice_in_one_class, rows_are="independent").member) == 4


def test_ids_are_compared_across_files_and_empty_ones_are_not(fails, read, write):
    sides = [
        {
            "members": str(write(f"id,score\n{first},1.5\n8,2.5\n", "a.csv")),
            "holdout": str(write(f"id,score\n{second},1.5\n9,2.5\n", f"{second}.csv")),
        }
        for first, second in (("", ""), ("7", "8"))
    ]
    fails("duplicate_ids", **sides[1])
    write("id,score\n,1.5\n8,2.5\n", "a.csv")
    assert read(**sides[0]).keys is None


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "frame", "text", "two frames"])
def test_every_form_of_input_is_looked_at(kind, tmp_path):
    data, sides = frame("patient"), ()
    if kind == "text":
        data["patient"] = "p" + data["patient"].astype(str)
    elif kind == "two frames":
        sides = [data[data.member == side].drop(columns="member") for side in (1, 0)]
    elif kind != "frame":
        written = {"row_group_size": 33} if kind == "parquet" else {}
        data = str(save(data, tmp_path / f"scores.{kind}", **written))
    error = refused("repeated_ids", opened, None if sides else data, *sides)
    assert "patient" in error.message


def test_ids_that_repeat_in_different_files_of_a_folder(tmp_path, fails, read):
    data = frame("patient", each=2)
    for run in (0, 1):
        save(data[run::2], tmp_path / f"run={run}" / "a.parquet")
    assert '--where "run = VALUE"' in fails("repeated_ids", tmp_path).hint
    assert len(read(tmp_path, where="run = 1").member) == 80


def test_a_folder_may_name_persons(tmp_path, fails):
    for person in range(4):
        table = pd.DataFrame({"member": [person % 2] * 9, "score": np.arange(9) + person / 7})
        save(table, tmp_path / f"person={person}" / "a.parquet")
    assert "repeats 4 of its values" in fails("repeated_ids", tmp_path).message


@pytest.mark.parametrize("name", SPLITS)
def test_a_column_that_tells_an_ids_rows_apart_is_named(name):
    data = frame("record_id").assign(**{name: np.tile(np.arange(5), 80)})
    assert f'--where "{name} = VALUE"' in refusal(data, score_columns=("score",)).hint
    assert taken(data, score_columns=("score",), where=f"{name} = 3") == []
    assert '"COLUMN = VALUE"' in refusal(frame("record_id").assign(rep=[0, 0, 1, 2, 3] * 80)).hint


def test_a_record_that_is_a_member_in_one_audit_and_holdout_in_another():
    data = pd.concat([frame("record_id", each=1), frame("record_id", each=1, seed=1)])
    data["eps"] = np.repeat([0, 1], 80)
    data.loc[data.eps == 1, "member"] = 1 - data.member[data.eps == 1]
    assert '--where "eps = VALUE"' in refusal(data, "duplicate_ids").hint


def test_runs_and_places_may_be_numbered_anew_in_each_class():
    for name in ("run_id", "row_id", "sample_index"):
        data = frame(name, each=1)
        data[name] %= 40
        assert taken(data) == []
        data[name] %= 39
        refusal(data)


def test_what_names_nobody_is_ordinary():
    # The same in all rows: it says where the file is from.
    assert taken(frame("run_id", each=1).assign(run_id=7)) == []
    empty = frame("user_id", each=1).astype({"user_id": float})
    empty.loc[empty.index % 3 == 0, "user_id"] = np.nan
    assert taken(empty) == []


def test_one_repeated_id_among_many_is_found_and_not_told():
    data = frame("id", people=5000, each=1)
    data.loc[17, "id"] = 4711
    assert "repeats 1 of its values" in refusal(data).message
    data["id"] = "secret" + data["id"].astype(str)
    assert "secret" not in str(refusal(data))


def test_rows_that_are_left_out_do_not_count(read, write):
    data = frame("person", each=2)
    data.loc[::2, "score"] = np.nan
    assert taken(data, nan="drop") == []
    refusal(data, nan="category")
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
    with opened(data, unit_column="person") as source:
        assert sum(rows.member.size for rows in source.partitions().rows()) == 80


def test_a_large_input_is_sampled(monkeypatch):
    monkeypatch.setattr(repetition, "_COMPARED", 1000)
    monkeypatch.setattr(repetition, "_LOOKED_AT", 500)
    data = frame("person", people=5000, each=2).sample(frac=1, random_state=1)
    assert int(refusal(data).message.split("repeats ")[1].split(" of")[0].replace(",", "")) < 100
    assert taken(frame("person", people=5000, each=1)) == []


@pytest.mark.parametrize("number", range(20))
def test_files_of_classifiers_with_labels_and_groups_are_not_refused(number):
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
    columns |= dict(pool[at] for at in rng.permutation(len(pool))[: int(rng.integers(2, 9))])
    assert taken(pd.DataFrame(columns), score_columns=("loss",)) == []


def test_one_canary_may_be_in_several_runs():
    runs = [frame("canary_id", each=1, seed=seed).assign(run=seed) for seed in range(3)]
    runs[1]["member"] = 1 - runs[1].member
    data = pd.concat(runs)
    refusal(data, "duplicate_ids")
    asked = {"run_column": "run", "group_columns": ("run",)}
    assert taken(data, **asked) == []
    refusal(pd.concat([data, data[:1]]), **asked)


# --- equal files, and rows that were copied

LAWS = {
    "normal": lambda rng, n: np.round(rng.normal(size=n), 6),
    "coarse": lambda rng, n: rng.integers(0, 3, n),
    "half": lambda rng, n: np.round(rng.normal(size=n), 1),
}


def table(n=400, seed=0, law="normal"):
    score = LAWS[law](np.random.default_rng(seed), n)
    return pd.DataFrame({"member": np.arange(n) % 2, "score": score})


def save_all(tables, folder, endings=("csv",)):
    for at, one in enumerate(tables):
        save(one, folder / f"{at}.{endings[at % len(endings)]}")
    return folder


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("endings", [("csv",), ("parquet",), ("csv", "parquet")])
def test_equal_files_are_refused(tmp_path, fails, read, law, endings):
    folder = save_all([table(law=law)] * 2, tmp_path / "parts", endings)
    error = fails("identical_parts", folder)
    assert error.message.startswith("Some files (1 of 2) repeat the rows of another")
    assert "--rows-are independent" in error.hint
    found = read(folder, rows_are="independent")
    assert (found.findings, len(found.member)) == (["rows_taken_as_independent"], 800)
    assert read(folder / f"0.{endings[0]}").findings == []
    thirty = save_all([table(200, law="coarse")] * 30, tmp_path / "thirty")
    assert fails("identical_parts", thirty).message.startswith("Some files (29 of 30)")


@pytest.mark.parametrize("law", LAWS)
def test_different_files_and_small_discrete_ones_are_ordinary(tmp_path, read, law):
    ordered = [table(200, at, "coarse").sort_values(["member", "score"]) for at in range(9)]
    for name, tables in (
        ("large", [table(200, at, law) for at in range(12)]),
        ("small", [table(2, at, "coarse") for at in range(60)]),
        ("sorted", [one.assign(score=one.score > 0) for one in ordered]),
    ):
        assert read(save_all(tables, tmp_path / name)).findings == []


def test_equal_files_of_several_audits_are_told_apart_by_where(tmp_path, fails, read):
    for seed in (0, 1):
        save(table(), tmp_path / f"seed={seed}" / "a.csv")
    fails("identical_parts", tmp_path)
    assert read(tmp_path, where="seed = 1").findings == []


@pytest.mark.parametrize(
    ("names", "orders", "case"),
    [
        ("model_0 model_1", (0, 1), "named"),
        ("a/scores b/scores", (0, 1), "named"),
        ("fold-1 part-1", (0, 1), "named"),
        ("part-0 part-1", (0, 0), "alike"),
        ("part-0 part-1 model_2", (0, 1, 0), "alike"),
        ("part-0 part-1", (0, 1), None),
        ("train-0-of-2 train-1-of-2", (0, 1), None),
        ("2024-01 2024-02", (0, 1), None),
        ("shard1 5f0c2a9e7b314d68", (0, 1), None),
        # Members first: parts may be so, too.
        ("part-0 part-1", (None, None), None),
        ("part-0", (0,), None),
    ],
)
def test_files_that_may_be_of_several_models_are_named(tmp_path, names, orders, case):
    for at, (name, order) in enumerate(zip(names.split(), orders, strict=True)):
        member = np.sort(np.arange(200) % 2)[::-1]
        member = member if order is None else np.random.default_rng(order).permutation(member)
        save(table(200, at).assign(member=member), tmp_path / f"{name}.csv")
    with opened(tmp_path) as source:
        found = [one.get("case") for one in source.assumed]
    assert found == ([case] if case else [])


@pytest.mark.parametrize("times", [2, 3, 10])
def test_copied_rows_of_a_continuous_score(times):
    copies = pd.concat([table()] * times).sample(frac=1, random_state=1)
    refusal(copies, "copied_rows")
    refusal(copies.assign(loss=copies.score * np.pi), "copied_rows")
    assert taken(copies, rows_are="independent") == ["rows_taken_as_independent"]


@pytest.mark.parametrize("apart", [2e-16, 1e-12, 1e-9, 1e-6])
def test_copies_that_differ_in_their_last_digits(apart):
    for seed in range(5):
        copies = pd.concat([table(seed=seed)] * 5, ignore_index=True)
        noise = np.random.default_rng(seed).normal(size=len(copies))
        refusal(copies.assign(score=copies.score * (1 + apart * noise)), "copied_rows")


def test_copied_rows_of_a_large_input():
    """Values are chosen by their hash, so that all rows of a value are counted or none."""
    big = table(200_000)
    assert taken(big) == []
    refusal(pd.concat([big, big]), "copied_rows")
    copies = pd.concat([big[:100_000]] * 2, ignore_index=True)
    changed = np.nextafter(copies.score, np.where(copies.index % 3, np.inf, -np.inf))
    refusal(copies.assign(score=changed), "copied_rows")


ORDINARY = {
    "ranks": lambda rng, n: rng.permutation(n) / n,
    "ends": lambda rng, n: np.linspace(-1, 1, n),
    "confident": lambda rng, n: 1 - 10 ** rng.uniform(-12, 0, n),
    "saturated": lambda rng, n: -np.log1p(np.exp(-rng.normal(15, 9, n))),
    "single": lambda rng, n: rng.normal(size=n).astype(np.float32).astype(float),
    "half": lambda rng, n: rng.normal(size=n).astype(np.float16).astype(float),
    "leaves": lambda rng, n: rng.random(n // 9)[rng.integers(0, n // 9, n)],
    "near leaves": lambda rng, n: rng.integers(0, n // 9, n) / 7 + 1e-13 * rng.normal(size=n),
    "times": lambda rng, n: 1.7e9 + 60.001 * np.arange(n),
}


@pytest.mark.parametrize("law", ORDINARY)
@pytest.mark.parametrize("rows", [50, 600, 20_000, 200_000])
def test_scores_that_lie_close_are_ordinary(law, rows):
    rng = np.random.default_rng(rows)
    for _ in range(3 if rows > 1000 else 20):
        score = ORDINARY[law](rng, rows)
        assert taken(pd.DataFrame({"member": rng.random(rows) < 0.5, "score": score})) == []


def test_ties_are_ordinary():
    for law in ("coarse", "half"):
        assert taken(pd.concat([table(law=law)] * 2)) == []
    # Rows with the same score in the two classes were not copied within one.
    assert taken(table().assign(score=np.repeat(table(200).score.to_numpy(), 2))) == []


def test_the_files_of_this_project_are_ordinary():
    samples = ROOT / "sample_data"
    for name in ("leaky.parquet", "private.parquet"):
        assert taken(str(samples / name)) == []
    sides = {one: str(samples / f"{one}.csv") for one in ("members", "holdout")}
    assert taken(None, **sides) == []
