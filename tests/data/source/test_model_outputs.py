"""Columns that are a model's outputs are no scores one by one, and what is said leads out."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mipaudit
from mipaudit.data.model_outputs import class_columns
from mipaudit.errors import InputError
from tests.fixtures.files import save

WORDS = ["heron", "auk", "tern", "gull", "coot", "rail", "kite"]


def numbered(classes):
    return [f"prob_{at}" for at in range(classes)]


def outputs(rows=260, classes=4, names=None, *, sharp=2.0, member="member", label="label", seed=0):
    """Return what a model says of records, the true classes, and who is a member."""
    rng = np.random.default_rng(seed)
    said = np.exp(rng.normal(size=(rows, classes)) * sharp)
    said /= said.sum(axis=1, keepdims=True)
    table = pd.DataFrame(said, columns=names or numbered(classes))
    if label:
        table[label] = (said.cumsum(axis=1) < rng.uniform(size=(rows, 1))).sum(axis=1)
    if member:
        table[member] = rng.permutation(np.arange(rows) % 2)
    return table


def refused(done):
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("Error: The columns "), done.stderr
    assert "add up to 1" in done.stderr
    line = re.search(r"^  mipaudit (query losses .*)$", done.stderr, re.MULTILINE)[1]
    name = re.search(
        r"^If the columns are scores of an attack, name one: --score-col (.*)$",
        done.stderr,
        re.MULTILINE,
    )[1]
    return shlex.split(line), *shlex.split(name)


def findings(done):
    assert done.returncode == 0, done.stderr
    return [(one["code"], one["serious"]) for one in json.loads(done.stdout)["findings"]]


@pytest.fixture
def audit(mipaudit, tmp_path):
    """Return a function that runs a command on a table."""

    def run(table, *options, command="estimate", name="said.csv", **written):
        save(table, tmp_path / name, **written)
        return mipaudit(command, name, *options)

    return run


def test_commands_that_audit_say_the_same_of_a_models_outputs(mipaudit, tmp_path):
    outputs().to_csv(tmp_path / "said.csv", index=False)
    commands = [[one] for one in ("estimate", "records", "attack", "compare", "check")]
    commands.append(["summarize", "-o", "x.summary"])
    assert len({mipaudit(*words, "said.csv").stderr for words in commands}) == 1
    line, name = refused(mipaudit("estimate", "said.csv"))
    assert line == ["query", "losses", "--probabilities", "said.csv", "-o", "said_scores.csv"]
    assert mipaudit("estimate", "said.csv", "--score-col", name).returncode == 0
    as_json = mipaudit("estimate", "said.csv", "-f", "json")
    assert json.loads(as_json.stderr)["error"]["code"] == "class_probabilities"


def of_words(table):
    return table.assign(label=[WORDS[at] for at in table["label"]])


# A loss without a bound, an id, text and a score from 0 to 1.
OTHERS = {"loss": np.where(np.arange(260) == 3, np.inf, 2.5), "city": "x", "conf_max": 0.4}
STEMS = [f"prob_{word}" for word in WORDS[:4]]
CASES = {
    "words behind the stem, out of order": of_words(outputs(names=STEMS)),
    "words that columns are called by": of_words(outputs(classes=7, names=WORDS, seed=1)),
    "two decimals": outputs(classes=6, seed=2).round(2),
    "one decimal": outputs(classes=3, seed=3).round(1),
    "single precision": outputs(classes=9, seed=4).astype(dict.fromkeys(numbered(9), "float32")),
    "columns out of order, membership between": outputs(classes=3, seed=5)[
        ["prob_2", "label", "prob_0", "member", "prob_1"]
    ],
    "numbers from 1 on": outputs(names=["p1", "p2", "p3", "p4"], seed=6).assign(
        label=lambda table: table["label"] + 1
    ),
    "two columns": outputs(classes=2, names=["p0", "p1"], label="y", seed=7),
    "beside others": outputs(seed=8, label="Target").assign(row_id=range(260), **OTHERS),
    "a class that is never said": outputs(classes=3, seed=9).assign(prob_3=0.0),
}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("case", CASES)
def test_the_command_that_is_printed_makes_the_losses_of_the_true_class(
    mipaudit, audit, tmp_path, case, ending
):
    table = CASES[case]
    line, _ = refused(audit(table, name=f"what it said.{ending}"))
    done = mipaudit(*line)
    assert done.returncode == 0, done.stderr
    label = next(name for name in table if name.lower() in {"label", "y", "target"})
    places = {name.removeprefix("prob_").removeprefix("p"): name for name in table}
    truth = map(str, table[label].tolist())
    said = [table[places[word]].iloc[at] for at, word in enumerate(truth)]
    own = [name for name in table if re.match(r"prob_|p\d", name) or name in WORDS]
    total = table[own].sum(axis=1)
    with np.errstate(divide="ignore"):
        wanted = -np.log(np.asarray(said, float) / total)
    np.testing.assert_allclose(pd.read_csv(tmp_path / line[-1])["loss"], wanted, atol=1e-6)
    assert mipaudit("estimate", line[-1]).returncode == 0


def test_members_and_holdout_in_files_of_their_own(mipaudit, tmp_path):
    table = outputs(classes=5, member=None).round(3)
    table[:130].to_csv(tmp_path / "in.csv", index=False)
    table[130:].to_csv(tmp_path / "out.csv", index=False)
    line, _ = refused(mipaudit("attack", "--members", "in.csv", "--holdout", "out.csv"))
    assert mipaudit(*line).returncode == 0
    assert line[-1] == "in_scores.csv", "the input is not written over"
    assert len(pd.read_csv(tmp_path / line[-1])) == 260


def test_what_query_losses_lacks_is_said(audit):
    table = outputs(label=None, member="trained").assign(person=range(260))
    done = audit(table, "--member-col", "trained", "--unit-col", "person")
    line, _ = refused(done)
    assert "--labels" in line
    for words in ("needs the true classes", "column 'member'", "--unit-col"):
        assert words in done.stderr


@pytest.mark.parametrize("names", [["p_malignant", "p_benign"], ["yes", "no"], None])
def test_two_classes_beside_a_label_of_any_name_are_a_models_outputs(audit, names):
    table = outputs(classes=2, names=names, label=None)
    table["diagnosis"] = np.where(table.iloc[:, 0] > 0.5, "malignant", "benign")
    refused(audit(table, "--max-advantage", "0.3"))


@pytest.mark.parametrize(
    "table",
    [
        outputs(classes=2, label=None, names=["p_in", "p_out"]),
        outputs(rows=19),
        outputs().round(0).assign(prob_0=lambda one: 1.0 - one.prob_1 - one.prob_2 - one.prob_3),
        outputs().assign(prob_0=0.25, prob_1=0.25, prob_2=0.25, prob_3=0.25, loss=np.arange(260.0)),
        outputs(names=["a", "b", "c", "d"]).drop(columns="b"),
        outputs(classes=12).assign(prob_0=lambda one: one.prob_0 / 2),
    ],
    ids=["what an attack says", "19 rows", "one-hot", "constant", "part of them", "no sum"],
)
@pytest.mark.parametrize("float_format", [None, "%.2f"])
def test_other_columns_are_audited(audit, table, float_format):
    done = audit(table, "-f", "json", float_format=float_format)
    assert not [code for code, _ in findings(done) if "class_prob" in code]


def test_rounding_explains_no_more_than_half_a_unit_of_each_column(audit):
    table = outputs(classes=8).round(2)
    refused(audit(table))
    table.loc[17:19, "prob_0":"prob_7"] = [0.9, 0.15, 0, 0, 0, 0, 0, 0]
    assert audit(table).returncode == 0


@pytest.mark.parametrize("decimals", [2, 16])
@pytest.mark.parametrize(("astray", "status"), [(0, 2), (1, 2), (2, 2), (3, 0)])
def test_one_row_in_a_hundred_may_be_astray(audit, decimals, astray, status):
    table = outputs(classes=6).round(decimals)
    table.loc[: astray - 1, "prob_0":"prob_5"] = 0.12345678
    done = audit(table)
    assert done.returncode == status, done.stderr


@pytest.mark.parametrize("decimals", [2, 16])
@pytest.mark.parametrize(("before", "behind"), [(1, 0), (0, 1), (2, 1)])
def test_other_numbers_from_0_to_1_beside_them_hide_none(mipaudit, audit, decimals, before, behind):
    rng = np.random.default_rng(before)
    table = outputs(classes=4, names=WORDS[:4]).round(decimals)
    for at in range(before):
        table.insert(0, "xyz"[at], rng.random(len(table)))
    for at in range(behind):
        table.insert(before + 4, "uvw"[at], rng.random(len(table)))
    done = audit(of_words(table))
    line, _ = refused(done)
    assert f"The columns {', '.join(WORDS[:4])} are" in done.stderr
    assert mipaudit(*line).returncode == 0


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(20, 400),
    classes=st.integers(2, 30),
    others=st.integers(0, 6),
    decimals=st.integers(1, 8),
    gaps=st.floats(0, 0.9),
)
def test_neither_classes_as_marks_nor_random_scores_are_taken_for_outputs(
    seed, rows, classes, others, decimals, gaps
):
    rng = np.random.default_rng(seed)
    marks = np.eye(classes)[rng.integers(classes, size=rows)]
    marks[0] = 0.4 / classes if seed % 2 and rows > 100 else marks[0]
    scores = rng.random((rows, others)).round(decimals)
    scores[rng.random(scores.shape) < gaps] = np.nan
    both = np.concatenate([marks, scores], axis=1)[:, rng.permutation(classes + others)]
    for table in (np.concatenate([marks, scores], axis=1), both, scores):
        assert not class_columns(
            ["abcdefg"[at % 7] * (at + 1) for at in range(table.shape[1])], [*table.T]
        )


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        (["p1"], [("class_probability", True)]),
        *((one, [("class_probabilities", True)]) for one in (["p0", "p1"], ["p0,p1"])),
        (["q_1", "q_2"], [("class_probabilities", True)]),
        *((one, []) for one in (["p_in"], ["loss", "conf_x"], ["p_in", "p1"])),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_said_of_columns_that_were_named(audit, named, wanted, ending):
    rng = np.random.default_rng(3)
    table = outputs(400, 2, ["p0", "p1"], sharp=3.0).assign(
        p_in=rng.uniform(size=400), loss=rng.exponential(size=400), conf_x=rng.uniform(size=400)
    )
    others = outputs(400, 5, [f"q_{at}" for at in range(5)], label=None, member=None, seed=4)
    table = pd.concat([table, others], axis=1)
    options = [word for name in named for word in ("--score-col", name)]
    written = {"row_group_size": 150} if ending == "parquet" else {}
    done = audit(table, "-f", "json", *options, name=f"said.{ending}", **written)
    assert [one for one in findings(done) if "class_prob" in one[0]] == wanted


@pytest.mark.parametrize(
    "name", ["p", "risk", "loss", "conf_of_it", "lira", "attack_score", "score1"]
)
def test_a_lone_column_beside_a_label_may_be_an_output(audit, name):
    table = outputs(classes=2).drop(columns="prob_0").rename(columns={"prob_1": name})
    done = audit(table, "-f", "json", command="check")
    if name in {"p", "risk"}:
        assert ("class_probability", False) in findings(done)
        assert "mipaudit query losses --probabilities said.csv -o said_scores.csv" in done.stdout
    else:
        assert "class_probability" not in done.stdout
    unlabelled = audit(table.drop(columns="label"), "-f", "json", command="check")
    assert "class_prob" not in unlabelled.stdout


def test_python_is_told_what_to_call():
    table = outputs(classes=3)
    with pytest.raises(InputError, match=r"mipaudit.query_losses\(probabilities=frame\)"):
        mipaudit.estimate(table)
    made = mipaudit.query_losses(probabilities=table)
    assert made.columns["loss"].size == 260
    said = table[["prob_0", "prob_1", "prob_2"]].to_numpy()
    with pytest.raises(InputError, match="labels=labels, holdout_probabilities=holdout"):
        mipaudit.estimate(members=said[:130], holdout=said[130:])
    assert mipaudit.estimate(members=said[:130, 0], holdout=said[130:, 0]).findings is not None
    with pytest.raises(InputError, match="query_losses"):
        mipaudit.estimate_many(
            pd.concat([table, table + 0]).assign(epoch=np.arange(520) // 260), by="epoch"
        )


def test_a_large_file_is_looked_at_here_and_there(tmp_path, monkeypatch):
    """Of an ordinary one a single chunk is read more than without the look."""
    from mipaudit.data import model_outputs
    from mipaudit.data.formats import parquet

    monkeypatch.setattr(model_outputs, "_LOOKED_AT", 1000)
    read = []
    chunks = parquet.RowGroup.chunks
    monkeypatch.setattr(
        parquet.RowGroup, "chunks", lambda self, *given: read.append(given) or chunks(self, *given)
    )
    table = outputs(4000, 5, seed=7)
    table.to_parquet(tmp_path / "said.parquet", row_group_size=100)
    with pytest.raises(InputError, match="add up to 1"):
        mipaudit.estimate(tmp_path / "said.parquet")
    assert len(read) <= 12
    counted = []
    for names in (["a", "b", "c", "d", "e"], ["loss_a", "loss_b", "loss_c", "loss_d", "loss_e"]):
        other = table.set_axis([*names, "label" if "a" in names else "place", "member"], axis=1)
        other[names] *= 3
        other.to_parquet(tmp_path / "other.parquet", row_group_size=100)
        read.clear()
        mipaudit.estimate(tmp_path / "other.parquet")
        counted.append(len(read))
    assert counted[0] - counted[1] <= 1
