"""Who is a member: labels, values, files of one class; what is said of a wrong column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mipaudit import InputError, check
from mipaudit.data.words import HOLDOUT_LABELS, MEMBER_LABELS, rule_from_labels, rule_from_value

A = "score\n1.5\n2.5\n"
B = "score\n3.5\n4.5\n5.5\n"
ROWS = 60
FRAME = pd.DataFrame({"member": [0, 1] * (ROWS // 2), "score": np.arange(ROWS) / 64})


def test_labels_are_known_for_one_class_only():
    assert not MEMBER_LABELS & HOLDOUT_LABELS
    assert all(label == label.casefold() for label in MEMBER_LABELS if isinstance(label, str))


@pytest.mark.parametrize(
    "labels", [{0.0, 1.0}, {-1.0, 1.0}, {"train", "test"}, {"t", "f"}, {"1", "0"}, {1.0}, {"out"}]
)
def test_known_pairs(labels):
    rule = rule_from_labels("member", labels)
    assert rule.members | rule.holdout == labels


@pytest.mark.parametrize(
    "labels", [{0.0, -1.0}, {1.0, 2.0}, {"a", "b"}, {"train", "member"}, {1.0, 0.0, -1.0}, {"x"}]
)
def test_unknown_pairs(labels):
    assert rule_from_labels("member", labels) is None


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
    fails("ambiguous_membership", path)
    assert read(path, member_column="member").member == [True, False]
    assert read(path, member_column="split").member == [False, True]
    assert read(path, member_column="who", member_value="a").member == [False, True]
    fails("empty_class", path, member_column="who", member_value="c")
    error = fails("unknown_column", path, member_column="membr")
    assert error.hint == "Did you mean 'member'?"
    fails("two_roles", path, member_column="member", score_columns=("member",))


def test_a_candidate_that_cannot_say_it_is_passed_over(read, write):
    text = "split,member,score\nfold1,1,0.5\nfold2,0,1.5\nfold3,1,2.5\n"
    everything = read(write(text))
    assert everything.member == [True, False, True]
    assert everything.skipped["split"].code == "membership_like"


def test_pair_of_files(read, fails, write, tmp_path):
    a, b = write(A, "a.csv"), str(write(B, "b.csv"))
    everything = read(members=str(a), holdout=b)
    assert everything.scores == [[1.5, 2.5, 3.5, 4.5, 5.5]]
    assert everything.member == [True, True, False, False, False]
    assert (everything.positions, everything.findings) == ([0, 1, 2, 3, 4], [])
    assert "same file" in fails("same_file", members=str(a), holdout=str(a)).message
    (tmp_path / "link.csv").symlink_to(a)
    fails("same_file", members=str(a), holdout=str(tmp_path / "link.csv"))
    fails("columns_differ", members=str(a), holdout=str(write("loss\n1.5\n", "c.csv")))
    fails("two_stdin", members="-", holdout="-")


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


def test_pair_of_directories(read, write):
    for name, text in (("m/1.csv", A), ("m/2.csv", A), ("h/1.csv", B)):
        root = write(text, name).parent.parent
    everything = read(members=str(root / "m"), holdout=str(root / "h"))
    assert everything.member == [True] * 4 + [False] * 3


@pytest.mark.parametrize(
    ("frame", "asked", "code", "said", "unsaid"),
    [
        (
            *(FRAME.assign(loss=FRAME.score * 3), {"member_col": "loss"}, "many_labels"),
            ["It may be a score. Membership is 1 and 0", "member; name it with --member-col."],
            "Say with",
        ),
        (
            *(FRAME.assign(member=["train", "test", "other"] * (ROWS // 3)), {}, "many_labels"),
            ["Say with --member-value which one means member"],
            "may be a score",
        ),
        (
            *(FRAME.assign(member=FRAME.member + 1), {}, "unknown_labels"),
            ["in and out, member and holdout, train and test"],
            "may be a score",
        ),
        (
            *(FRAME.assign(score=["5%"] * ROWS), {}, "no_score_column"),
            ["score (text)", "member (named like a membership column)"],
            "5%",
        ),
        (
            *(FRAME.assign(score=[None] * ROWS), {}, "no_score_column"),
            ["score (no values)", "member (named like a membership column)"],
            "None",
        ),
        (*(FRAME, {"member_col": "score"}, "no_score_column"), ["score (has another role)"], "0.5"),
        # What may be a record in place of the header is not repeated.
        (
            pd.DataFrame({"PATIENT00001": ["x"] * ROWS, "member": FRAME.member}),
            *({}, "no_score_column", ["Name one with --score-col."], "PATIENT"),
        ),
    ],
)
def test_what_is_said_of_a_column_that_was_not_meant(frame, asked, code, said, unsaid):
    with pytest.raises(InputError) as found:
        check(frame, **asked)
    assert found.value.code == code
    assert all(each in found.value.hint for each in said)
    assert unsaid not in str(found.value)
