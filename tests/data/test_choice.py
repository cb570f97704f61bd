"""Which columns are taken, by name and kind, and what every command says that it left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mipaudit
from mipaudit.commands.attack.run import attack
from mipaudit.commands.check.run import check
from mipaudit.commands.compare.run import compare
from mipaudit.commands.epsilon.run import epsilon
from mipaudit.commands.estimate.run import estimate
from mipaudit.commands.records.run import records
from mipaudit.commands.render.run import rejudge
from mipaudit.commands.shift.run import shift
from mipaudit.commands.summarize.run import summarize
from mipaudit.data.choice import choice_findings, choose_by_rules, choose_named
from mipaudit.data.column import Field
from mipaudit.data.formats.arrow import arrow_fields
from mipaudit.data.opening import ReadRequest
from mipaudit.data.words import (
    CANDIDATES,
    candidate_columns,
    find_column,
    is_id_like,
    is_score_like,
    shown_names,
)
from mipaudit.errors import InputError, MipauditError, UsageError
from mipaudit.model.message import Message
from mipaudit.report.messages.told import is_serious, told
from mipaudit.report.walk import walk_of


def fields(**kinds):
    return tuple(Field(name=name, kind=kind) for name, kind in kinds.items())


def by_rules(*others, reserved=(), **kinds):
    """Return the scores by the rules, what may be one besides, and what is said of it."""
    choice = choose_by_rules((*fields(**kinds), *others), reserved)
    left = [name for name, _ in choice.unaudited]
    return choice.names, left, choice_findings(choice, ReadRequest())


IDS = (
    *("id", "ID", "record_id", "run_id", "digits_index", "index", "row", "run", "rep"),
    *("replicate", "y", "target", "label", "label_noisy", "wrong_label", "labels"),
    *("pred", "prediction", "pred_natural", "eps", "epsilon", "group", "subpop", "uuid"),
    *("", "Unnamed: 0", "unnamed:3", "__index_level_0__", "sample-id", "y_true"),
)
NO_IDS = (
    *("score", "loss", "conf_max", "entropy", "phi", "lira_online", "d_logit_ep25", "nn_l2"),
    *("residual", "margin", "mc_count", "rowing", "runner", "yield", "steps", "grad_norm"),
)


@pytest.mark.parametrize("name", [*IDS, *NO_IDS])
def test_id_like(name):
    assert is_id_like(name) == (name in IDS)


def test_score_like_names():
    for name in ("score", "Loss", "confidence", "score_2", "nn", "kth_5", "mc_0.1", "share_1e-05"):
        assert is_score_like(name)
    assert is_score_like("correct")
    assert not any(is_score_like(name) for name in ("steps", "score_id", "loss_label", "closs"))


def test_every_query_names_its_columns_as_scores():
    from mipaudit.commands.query.model.losses import SCORES
    from mipaudit.commands.query.options import KINDS, parse_queries

    radii = ("mc:0.1", "share:1e-05", "mc:12.25", "lnr:7", "kth:9", "density:3")
    written = [query.column for query in parse_queries((*KINDS, *radii))]
    written += [*SCORES, "loss_calibrated", "phi", "lira_online", "lira_offline"]
    assert all(map(is_score_like, written))


@pytest.mark.parametrize(
    "name", ["score", "Loss_2", "scores", "confidence", "correct", "nn", "share"]
)
@pytest.mark.parametrize("kind", ["integer", "bool"])
def test_a_name_makes_a_score_beside_floats(name, kind):
    names, left, findings = by_rules(**{name: kind, "latency_ms": "float"})
    assert (names, left) == ([name, "latency_ms"], [])
    assert [one.code for one in findings] == ["scores_found"]


def test_integers_are_scores_only_where_there_is_none_yet():
    assert by_rules(score="integer", age="integer", sex="bool")[:2] == (["score"], ["age", "sex"])
    # Adult's attribute is no score for its name, and floats are as ever.
    people = by_rules(age="integer", capital_loss="integer")
    assert people[:2] == (["age", "capital_loss"], [])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("score", "string"), ("loss_at", "other"), ("confidence", "empty"), ("Score", "string")),
        *(("score_id", "integer"), ("score_idx", "float"), ("loss_label", "integer")),
        *(("target_loss", "float"), ("pred_score", "bool"), ("ScoreId", "integer")),
        # What a model gave out may tell as much: floats, and lists of numbers.
        *(("prediction", "float"), ("y_pred", "float"), ("logits", "other"), ("probs", "other")),
        # No id has a fraction, and a target may be what an attack aims at.
        *(("id", "float"), ("index", "float"), ("row_id", "float"), ("target_x", "float")),
        *((name, "lists") for name in ("embedding", "outputs", "label", "losses", "per_token")),
    ],
)
def test_what_may_be_a_score_and_is_left_out_is_told(name, kind):
    one = Field(name=name, kind="other" if kind == "lists" else kind, lists=kind == "lists")
    names, left, (finding,) = by_rules(one, latency_ms="float")
    assert (names, left, finding.code) == (["latency_ms"], [name], "score_left_out")
    assert name in told(finding)
    assert by_rules(one, latency_ms="float", reserved={name})[1] == []


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (pa.list_(pa.float32()), True),
        (pa.large_list(pa.int64()), True),
        (pa.list_(pa.bool_(), 2), True),
        (pa.list_(pa.list_(pa.float64())), True),
        (pa.list_(pa.string()), False),
        (pa.struct([("a", pa.float64())]), False),
        (pa.float64(), False),
    ],
)
def test_which_columns_are_lists_of_numbers(kind, told):
    (field,) = arrow_fields(pa.schema([("x", kind)]))
    assert field.lists == told


def test_a_list_beside_the_scores_is_told_until_they_are_named(tmp_path):
    rng = np.random.default_rng(3)
    member = np.arange(4_000) % 2 == 0
    table = {"member": member, "loss": rng.normal(size=4_000)}
    for extra in ({}, {"outputs": list(rng.normal(size=(4_000, 2)))}):
        path = tmp_path / "scores.parquet"
        pq.write_table(pa.table(table | extra), path)
        for columns in ((), ("loss",)):
            report = mipaudit.estimate(str(path), score_col=columns)
            assert ("score_left_out" in codes(report)) == (bool(extra) and not columns)


@pytest.mark.parametrize("name", ["conf_label", "loss_target", "score_pred", "conf_true"])
def test_floats_are_no_labels(name):
    assert by_rules(**{name: "float"})[0] == [name]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("id", "integer"), ("run", "integer"), ("rep", "float"), ("y", "integer")),
        *(("target", "float"), ("label", "bool"), ("eps", "float"), ("group", "integer")),
        *(("index", "integer"), ("target_x", "integer"), ("group_x", "float")),
        *(("name", "string"), ("when", "other"), ("split", "bool"), ("recordId", "integer")),
        *(("prediction", "integer"), ("y_pred", "string"), ("predecessor", "integer")),
    ],
)
def test_what_is_no_score_is_left_out_without_a_word(name, kind):
    assert by_rules(**{name: kind, "loss": "float"}) == (["loss"], [], ())


def test_named_columns_are_told_nothing_of():
    choice = choose_named(fields(loss="float", score="integer"), ("loss",))
    assert choice_findings(choice, ReadRequest(score_columns=("loss",))) == ()


def test_floats_before_integers_before_booleans():
    columns = {"loss": "float", "hits": "integer", "right": "bool", "sex": "string"}
    for first in ("loss", "hits", "right"):
        assert by_rules(**columns)[0] == [first]
        del columns[first]
    with pytest.raises(InputError) as caught:
        by_rules(**columns)
    assert caught.value.code == "no_score_column"


def test_every_column_is_taken_or_skipped_with_a_reason():
    columns = fields(a="float", b="integer", c="bool", d="string", e="empty", f="other", id="float")
    roles = fields(member="float", split="float", age="float")
    choice = choose_by_rules((*columns, *roles), {"age"})
    assert choice.names == ["a"]
    assert {name: why.code for name, why in choice.skipped} == {
        "b": "other_kind",
        "c": "other_kind",
        "d": "text_column",
        "e": "empty_column",
        "f": "unreadable_column",
        "id": "named_like_id",
        "age": "role",
        **dict.fromkeys(("member", "split"), "membership_like"),
    }


def test_candidates_in_order_of_priority():
    columns = fields(split="string", score="float", Is_Member="bool", canary="bool")
    assert candidate_columns(columns) == ("Is_Member", "canary", "split")


@pytest.mark.parametrize(
    ("name", "said"),
    [("conf_tru", r"Did you mean 'conf_true'\?"), ("zzz", "The columns are: conf_true, loss")],
)
def test_unknown_column_gets_a_suggestion(name, said):
    with pytest.raises(InputError, match=said):
        find_column(fields(conf_true="float", loss="float"), name, option="--score-col")


def test_named_columns_come_in_file_order_once():
    columns = fields(loss="float", label="integer", name="string")
    choice = choose_named(columns, ("name", "label", "name"))
    assert [f.name for f in choice.scores] == ["label", "name"]
    assert choice.skipped == (("loss", Message("not_named")),)


def test_comma_list_is_a_vector_unless_a_column_is_called_so():
    with pytest.raises(UsageError, match="this command cannot take"):
        choose_named(fields(a="float", b="float"), ("a,b",))
    assert len(choose_named((Field(name="a,b", kind="float"),), ("a,b",)).scores) == 1


def test_a_date_is_no_score():
    with pytest.raises(InputError) as caught:
        choose_named(fields(when="other"), ("when",))
    assert caught.value.code == "not_a_score"


def test_a_record_in_place_of_the_header_is_not_printed():
    assert shown_names(["age", "loss", "x1"]) == "age, loss, x1"
    # Nothing tells words from names, but a name above numbers does.
    words = fields(Anna="string", Rome="string", NA="float")
    assert shown_names(["Anna", "Rome", "NA"], words) == "(column 1), (column 2), (column 3)"
    names = fields(person="string", city="string", height="float")
    assert shown_names(["person", "city", "height"], names) == "person, city, height"
    shown = shown_names(["PATIENT00001", "Meier", "score", "y"])
    assert shown == "(column 1), (column 2), score, y"
    record = fields(PATIENT00001="string", Meier="string", score="float")
    for typed, hint in (("Meyer", "The columns are: (column 1), "), ("scores", "'score'?")):
        with pytest.raises(InputError) as caught:
            find_column(record, typed, option="--by")
        assert hint in str(caught.value)
        assert "Meier" not in str(caught.value)


LEFT_OUT = "may be scores were left out"


def headline(report):
    return told(report.answer)


def codes(report):
    return {one.code for one in report.findings}


def frame(name: str = "score", *, leaks: bool = True, kind: str = "int64") -> pd.DataFrame:
    """Return 400 rows whose column ``name`` leaks, beside floats that say nothing."""
    rng = np.random.default_rng(5)
    member = np.arange(400) % 2 == 0
    score = np.round(rng.normal(3.0 * member * leaks, 1.0) * 100)
    column = score > 150 if kind == "bool" else score.astype(kind)
    return pd.DataFrame({"member": member, name: column, "latency_ms": rng.random(400)})


@pytest.mark.parametrize(
    ("name", "kind"),
    [("score", "int64"), ("LOSS_1", "int8"), ("confidence", "uint16"), ("correct", "bool")],
)
def test_a_leak_in_a_named_column_breaks_the_policy(name, kind):
    table = frame(name)
    table[name] = table[name] > 150 if kind == "bool" else (table[name] // 8 % 97).astype(kind)
    table[name] = np.where(table["member"], 1, 0).astype(kind)
    report = estimate(table, max_advantage=0.2)
    assert report.verdict.status == "not_met"
    assert set(report.design.score_columns) == {name, "latency_ms"}
    assert "scores_found" in codes(report)


def test_a_verdict_says_that_a_column_was_left_out():
    report = estimate(frame("hits"), max_advantage=0.5)
    assert report.verdict.status == "met"
    assert LEFT_OUT in headline(report)
    again = rejudge(report, max_advantage=0.4)
    assert LEFT_OUT in headline(again)
    named = estimate(frame("hits"), max_advantage=0.5, score_col=["latency_ms"])
    assert LEFT_OUT not in headline(named)
    assert not {"score_left_out", "scores_found"} & codes(named)


@pytest.mark.parametrize("command", [estimate, check, compare, epsilon, attack])
def test_commands_choose_alike(command):
    given = {"design": "independent-runs"} if command is epsilon else {}
    assert "scores_found" in codes(command(frame(), **given))
    if command is not compare:
        assert "score_left_out" in codes(command(frame("hits"), **given))


def test_records_and_summaries_say_what_was_left_out():
    with pytest.raises(MipauditError):
        records(frame())  # which of two scores is meant?
    report = records(frame("hits"), limits=[{"quantity": "risk", "max": 0.99}])
    assert LEFT_OUT in walk_of(report).answer
    report = estimate(summarize(frame("hits")), max_advantage=0.5)
    assert LEFT_OUT in headline(report)
    assert LEFT_OUT not in headline(replace(report, findings=()))


@pytest.mark.parametrize("name", CANDIDATES)
def test_every_column_of_membership_is_found_and_is_no_feature(name):
    table = frame().rename(columns={"member": name})
    assert check(table).design.member_column == name
    sides = [table[table[name] == side] for side in (True, False)]
    assert {one.column: one.why.code for one in shift(*sides).design.skipped} == {
        name: "says_membership"
    }


def test_records_in_place_of_scores_are_named_so():
    ages = np.arange(200) % 60 + 20
    words = np.where(ages > 50, "old", "young")
    people = pd.DataFrame({"member": np.arange(200) % 2, "age": ages, "job": words, "town": words})
    told = {one.code: one for one in estimate(people).findings}
    assert is_serious(told["looks_like_records"])
    for table in (
        people.drop(columns="town"),
        people.rename(columns={"age": "score_age"}),
        people.assign(age=ages * 0.5 + 0.25),
    ):
        assert "looks_like_records" not in codes(estimate(table))
    assert "looks_like_records" not in codes(estimate(people, score_col="age"))
