"""Which columns are taken, by name and kind, who is a member, and what is said of the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mipaudit
from mipaudit import check, estimate, rejudge
from mipaudit.commands.query.model.losses import SCORES
from mipaudit.commands.query.options import KINDS, parse_queries
from mipaudit.data.choice import choice_findings, choose_by_rules, choose_named
from mipaudit.data.column import Field
from mipaudit.data.formats.cells import arrow_fields
from mipaudit.data.request import ReadRequest
from mipaudit.data.words import (
    CANDIDATES,
    HOLDOUT_LABELS,
    MEMBER_LABELS,
    candidate_columns,
    find_column,
    is_id_like,
    is_score_like,
    rule_from_labels,
    rule_from_value,
    shown_names,
)
from mipaudit.model.message import Message
from mipaudit.report.messages.told import is_serious, told
from mipaudit.report.walk import walk_of
from tests.fixtures.codes import codes, refused
from tests.fixtures.files import save


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
RADII = ("mc:0.1", "share:1e-05", "mc:12.25", "lnr:7", "kth:9", "density:3")
LIKE_SCORES = (
    *("score", "Loss", "confidence", "score_2", "nn", "kth_5", "mc_0.1", "share_1e-05", "correct"),
    # Every query names its columns as scores.
    *(query.column for query in parse_queries((*KINDS, *RADII))),
    *(*SCORES, "loss_calibrated", "phi", "lira_online", "lira_offline"),
)


@pytest.mark.parametrize("name", [*IDS, *NO_IDS])
def test_id_like(name):
    assert is_id_like(name) == (name in IDS)


def test_score_like_names():
    assert all(map(is_score_like, LIKE_SCORES))
    assert not any(is_score_like(name) for name in ("steps", "score_id", "loss_label", "closs"))


@pytest.mark.parametrize(
    "name", ["score", "Loss_2", "scores", "confidence", "correct", "nn", "share"]
)
@pytest.mark.parametrize("kind", ["integer", "bool"])
def test_a_name_makes_a_score_beside_floats(name, kind):
    names, left, findings = by_rules(**{name: kind, "latency_ms": "float"})
    assert (names, left) == ([name, "latency_ms"], [])
    assert [one.code for one in findings] == ["scores_found"]


@pytest.mark.parametrize(
    ("columns", "names", "left"),
    [
        ({"score": "integer", "age": "integer", "sex": "bool"}, ["score"], ["age", "sex"]),
        # Adult's attribute is no score for its name, and floats are as ever.
        ({"age": "integer", "capital_loss": "integer"}, ["age", "capital_loss"], []),
        *(({name: "float"}, [name], []) for name in ("conf_label", "loss_target")),
        *(({name: "float"}, [name], []) for name in ("score_pred", "conf_true")),
        ({"right": "bool", "sex": "string"}, ["right"], []),
    ],
)
def test_what_the_rules_take(columns, names, left):
    assert by_rules(**columns)[:2] == (names, left)


def test_floats_before_integers_before_booleans():
    columns = {"loss": "float", "hits": "integer", "right": "bool", "sex": "string"}
    for first in ("loss", "hits", "right"):
        assert by_rules(**columns)[0] == [first]
        del columns[first]
    refused("no_score_column", by_rules, **columns)


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


@pytest.mark.parametrize(
    ("kind", "lists"),
    [
        *((pa.list_(kind), True) for kind in (pa.float32(), pa.list_(pa.float64()))),
        *((pa.large_list(pa.int64()), True), (pa.list_(pa.bool_(), 2), True)),
        *((pa.list_(pa.string()), False), (pa.struct([("a", pa.float64())]), False)),
        (pa.float64(), False),
    ],
)
def test_which_columns_are_lists_of_numbers(kind, lists):
    (field,) = arrow_fields(pa.schema([("x", kind)]))
    assert field.lists == lists


def test_every_column_is_taken_or_skipped_with_a_reason():
    columns = fields(a="float", b="integer", c="bool", d="string", e="empty", f="other", id="float")
    roles = fields(member="float", split="float", age="float")
    choice = choose_by_rules((*columns, *roles), {"age"})
    assert choice.names == ["a"]
    reasons = "other_kind other_kind text_column empty_column unreadable_column named_like_id role"
    names = ("b", "c", "d", "e", "f", "id", "age")
    wanted = dict(zip(names, reasons.split(), strict=True))
    wanted |= dict.fromkeys(("member", "split"), "membership_like")
    assert {name: why.code for name, why in choice.skipped} == wanted
    more = fields(split="string", score="float", Is_Member="bool", canary="bool")
    assert candidate_columns(more) == ("Is_Member", "canary", "split")


def test_named_columns_come_in_file_order_once_and_are_told_nothing_of():
    choice = choose_named(
        fields(loss="float", label="integer", name="string"), ("name", "label", "name")
    )
    assert [f.name for f in choice.scores] == ["label", "name"]
    assert choice.skipped == (("loss", Message("not_named")),)
    assert choice_findings(choice, ReadRequest(score_columns=("name",))) == ()
    refused("not_a_score", choose_named, fields(when="other"), ("when",))
    # A comma list is a vector, unless a column is called so.
    vector = refused(None, choose_named, fields(a="float", b="float"), ("a,b",))
    assert "this command cannot use" in vector.message
    assert len(choose_named((Field(name="a,b", kind="float"),), ("a,b",)).scores) == 1


def test_a_record_in_place_of_the_header_is_not_printed():
    assert shown_names(["age", "loss", "x1"]) == "age, loss, x1"
    # Nothing tells words from names, but a name above numbers does.
    words = fields(Anna="string", Rome="string", NA="float")
    assert shown_names(["Anna", "Rome", "NA"], words) == "(column 1), (column 2), (column 3)"
    names = fields(person="string", city="string", height="float")
    assert shown_names(["person", "city", "height"], names) == "person, city, height"
    shown = shown_names(["PATIENT00001", "Meier", "score", "y"])
    assert shown == "(column 1), (column 2), score, y"


@pytest.mark.parametrize(
    ("first", "typed", "said"),
    [
        (("conf_true", "loss"), "conf_tru", "Did you mean 'conf_true'?"),
        (("conf_true", "loss"), "zzz", "The columns are: conf_true, loss"),
        (("PATIENT00001", "Meier"), "Meyer", "The columns are: (column 1), "),
        (("PATIENT00001", "Meier"), "scores", "'score'?"),
    ],
)
def test_unknown_column_gets_a_suggestion(first, typed, said):
    kind = "float" if first[0] == "conf_true" else "string"
    columns = fields(**dict.fromkeys(first, kind)) + fields(score="float") * (kind == "string")
    error = refused("unknown_column", find_column, columns, typed, option="--by")
    assert said in str(error)
    assert "Meier" not in str(error)


# --- what commands say

LEFT_OUT = "may be scores were left out"


def frame(name="score"):
    """Return 400 rows whose column ``name`` leaks, beside floats that say nothing."""
    rng = np.random.default_rng(5)
    member = np.arange(400) % 2 == 0
    score = np.round(rng.normal(3.0 * member, 1.0) * 100).astype(int)
    return pd.DataFrame({"member": member, name: score, "latency_ms": rng.random(400)})


@pytest.mark.parametrize(
    ("name", "kind"),
    [("score", "int64"), ("LOSS_1", "int8"), ("confidence", "uint16"), ("correct", "bool")],
)
def test_a_leak_in_a_named_column_breaks_the_policy(name, kind):
    table = frame(name)
    table[name] = table["member"].astype(kind)
    report = estimate(table, max_advantage=0.2)
    assert report.verdict.status == "not_met"
    assert set(report.design.score_columns) == {name, "latency_ms"}
    assert "scores_found" in codes(report)


def test_a_verdict_says_that_a_column_was_left_out():
    report = estimate(frame("hits"), max_advantage=0.5)
    assert report.verdict.status == "met"
    for one in (report, rejudge(report, max_advantage=0.4)):
        assert LEFT_OUT in told(one.answer)
    named = estimate(frame("hits"), max_advantage=0.5, score_col=["latency_ms"])
    assert LEFT_OUT not in told(named.answer)
    assert not {"score_left_out", "scores_found"} & codes(named)
    risks = mipaudit.records(frame("hits"), limits=[{"quantity": "risk", "max": 0.99}])
    assert LEFT_OUT in walk_of(risks).answer
    summed = estimate(mipaudit.summarize(frame("hits")), max_advantage=0.5)
    assert LEFT_OUT in told(summed.answer)
    assert LEFT_OUT not in told(replace(summed, findings=()).answer)
    refused(None, mipaudit.records, frame())  # which of two scores is meant?


@pytest.mark.parametrize("command", ["estimate", "check", "compare", "epsilon", "attack"])
def test_commands_choose_alike(command):
    ask = getattr(mipaudit, command)
    given = {"design": "independent-runs"} if command == "epsilon" else {}
    assert "scores_found" in codes(ask(frame(), **given))
    if command != "compare":
        assert "score_left_out" in codes(ask(frame("hits"), **given))


def test_a_list_beside_the_scores_is_told_until_they_are_named(tmp_path):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"member": np.arange(4_000) % 2 == 0, "loss": rng.normal(size=4_000)})
    for told_of, one in ((False, table), (True, table.assign(outputs=[[0.5, 1.0]] * 4_000))):
        path = str(save(one, tmp_path / "scores.parquet"))
        for columns in ((), ("loss",)):
            found = codes(estimate(path, score_col=columns))
            assert ("score_left_out" in found) == (told_of and not columns)


@pytest.mark.parametrize("name", CANDIDATES)
def test_every_column_of_membership_is_found_and_is_no_feature(name):
    table = frame().rename(columns={"member": name})
    assert check(table).design.member_column == name
    skipped = mipaudit.shift(*(table[table[name] == side] for side in (True, False))).design.skipped
    assert {one.column: one.why.code for one in skipped} == {name: "says_membership"}


def test_records_in_place_of_scores_are_named_so():
    ages = np.arange(200) % 60 + 20
    words = np.where(ages > 50, "old", "young")
    people = pd.DataFrame({"member": np.arange(200) % 2, "age": ages, "job": words, "town": words})
    found = {one.code: one for one in estimate(people).findings}
    assert is_serious(found["looks_like_records"])
    for table, asked in (
        (people.drop(columns="town"), {}),
        (people.rename(columns={"age": "score_age"}), {}),
        (people.assign(age=ages * 0.5 + 0.25), {}),
        (people, {"score_col": "age"}),
    ):
        assert "looks_like_records" not in codes(estimate(table, **asked))


# --- who is a member

A, B = "score\n1.5\n2.5\n", "score\n3.5\n4.5\n5.5\n"


def test_labels_are_known_for_one_class_only():
    assert not MEMBER_LABELS & HOLDOUT_LABELS
    assert all(label == label.casefold() for label in MEMBER_LABELS if isinstance(label, str))


@pytest.mark.parametrize(
    ("labels", "known"),
    [
        *(({0.0, 1.0}, True), ({-1.0, 1.0}, True), ({1.0}, True), ({0.0, -1.0}, False)),
        *((set(words), True) for words in (("train", "test"), "tf", "10", ("out",))),
        *((set(words), False) for words in ("ab", ("train", "member"), "x")),
        *(({1.0, 2.0}, False), ({1.0, 0.0, -1.0}, False)),
    ],
)
def test_pairs_of_labels(labels, known):
    rule = rule_from_labels("member", labels)
    assert (rule is not None) == known
    assert rule is None or rule.members | rule.holdout == labels


@pytest.mark.parametrize(
    ("value", "label"), [("1", 1.0), ("true", 1.0), ("False", 0.0), ("2.5", 2.5), ("A ", "a")]
)
def test_member_value_fits_numbers_and_text(value, label):
    assert label in rule_from_value("member", value).members


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        *(("abab", "a"), ("2324", "2"), ("xyxz", "x"), ("0101", "0")),
        *((("true", "false") * 2, "true"), (("false", "true") * 2, "false")),
    ],
)
def test_member_value(read, write, cells, value):
    text = "member,score\n" + "".join(f"{cell},{at}.5\n" for at, cell in enumerate(cells))
    assert read(write(text), member_value=value).member == [True, False, True, False]


def test_member_column(read, fails, write):
    path = write("member,split,who,score\n1,test,b,0.5\n0,train,a,1.5\n")
    for asked, member in (
        ({"member_column": "member"}, [True, False]),
        ({"member_column": "split"}, [False, True]),
        ({"member_column": "who", "member_value": "a"}, [False, True]),
    ):
        assert read(path, **asked).member == member
    fails("ambiguous_membership", path)
    fails("empty_class", path, member_column="who", member_value="c")
    assert fails("unknown_column", path, member_column="membr").hint == "Did you mean 'member'?"
    fails("two_roles", path, member_column="member", score_columns=("member",))
    # A candidate that cannot say it is passed over.
    text = "split,member,score\nfold1,1,0.5\nfold2,0,1.5\nfold3,1,2.5\n"
    everything = read(write(text))
    assert everything.member == [True, False, True]
    assert everything.skipped["split"].code == "membership_like"


def test_pair_of_files(read, fails, write, tmp_path):
    a, b = str(write(A, "m/1.csv")), str(write(B, "b.csv"))
    everything = read(members=a, holdout=b)
    assert everything.scores == [[1.5, 2.5, 3.5, 4.5, 5.5]]
    assert everything.member == [True, True, False, False, False]
    assert (everything.positions, everything.findings) == ([0, 1, 2, 3, 4], [])
    assert "same file" in fails("same_file", members=a, holdout=a).message
    (tmp_path / "link.csv").symlink_to(a)
    fails("same_file", members=a, holdout=str(tmp_path / "link.csv"))
    fails("columns_differ", members=a, holdout=str(write("loss\n1.5\n", "c.csv")))
    fails("two_stdin", members="-", holdout="-")
    folders = [str(write(A, "m/2.csv").parent), str(write(B, "h/1.csv").parent)]
    everything = read(members=folders[0], holdout=folders[1])
    assert everything.member == [True] * 4 + [False] * 3


def test_pair_contributes_its_own_class_only(read, fails, write):
    a, b = str(write("member,score\n1,1.5\n0,9.5\n1,2.5\n", "a.csv")), str(write(B, "b.csv"))
    everything = read(members=a, holdout=b)
    assert everything.scores == [[1.5, 2.5, 3.5, 4.5, 5.5]]
    assert everything.positions == [0, 2, 3, 4, 5]
    assert everything.findings == ["other_side_rows"]
    everything = read(members=b, holdout=a)
    assert everything.scores == [[3.5, 4.5, 5.5, 9.5]]
    assert everything.member == [True, True, True, False]
    none = write("member,score\n0,1.5\n0,9.5\n", "none.csv")
    fails("empty_class", members=str(none), holdout=b)


ROWS = 60
FRAME = pd.DataFrame({"member": [0, 1] * (ROWS // 2), "score": np.arange(ROWS) / 64})
OTHERS = FRAME.assign(member=["train", "test", "other"] * (ROWS // 3))
NAMED = "member (named like a membership column)"


@pytest.mark.parametrize(
    ("frame", "asked", "code", "said", "unsaid"),
    [
        (
            *(FRAME.assign(loss=FRAME.score * 3), {"member_col": "loss"}, "many_labels"),
            ["It may be a score. Membership is 1 and 0", "member; name it with --member-col."],
            "Say with",
        ),
        (OTHERS, {}, "many_labels", ["train 20, test 20. --member-value train takes"], "other 20"),
        (
            *(FRAME.assign(member=FRAME.member + 1), {}, "unknown_labels"),
            *(["in and out, member and holdout, train and test"], "may be a score"),
        ),
        *(
            (FRAME.assign(score=[cell] * ROWS), {}, "no_score_column", [said, NAMED], str(cell))
            for cell, said in (("5%", "score (text)"), (None, "score (no values)"))
        ),
        (
            *(FRAME, {"member_col": "score"}, "no_score_column"),
            ["score (given to another option, such as --member-col,"],
            "0.5",
        ),
        # What may be a record in place of the header is not repeated.
        (
            pd.DataFrame({"PATIENT00001": ["x"] * ROWS, "member": FRAME.member}),
            *({}, "no_score_column", ["Name one with --score-col."], "PATIENT"),
        ),
    ],
)
def test_what_is_said_of_a_column_that_was_not_meant(frame, asked, code, said, unsaid):
    error = refused(code, check, frame, **asked)
    assert all(each in error.hint for each in said)
    assert unsaid not in str(error)
