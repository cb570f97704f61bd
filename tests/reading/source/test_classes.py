"""Who is a member: labels, values, and files given for one class."""

from __future__ import annotations

import pytest

from mipaudit.reading.columns.membership import (
    HOLDOUT_LABELS,
    MEMBER_LABELS,
    rule_from_labels,
    rule_from_value,
)

A = "score\n1.5\n2.5\n"
B = "score\n3.5\n4.5\n5.5\n"


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
        (("a", "b", "a", "b"), "a"),
        (("2", "3", "2", "4"), "2"),
        (("x", "y", "x", "z"), "x"),
        (("true", "false", "true", "false"), "true"),
        (("0", "1", "0", "1"), "0"),
        (("false", "true", "false", "true"), "false"),
    ],
)
def test_member_value(read, write, cells, value):
    text = "member,score\n" + "".join(f"{cell},{at}.5\n" for at, cell in enumerate(cells))
    assert read(write(text), member_value=value).member == [True, False, True, False]


def test_member_value_that_does_not_occur(fails, write):
    fails("empty_class", write("member,score\na,0.5\nb,1.5\n"), member_value="c")


def test_member_column(read, fails, write):
    path = write("member,split,who,score\n1,test,b,0.5\n0,train,a,1.5\n")
    fails("ambiguous_membership", path)
    assert read(path, member_column="member").member == [True, False]
    assert read(path, member_column="split").member == [False, True]
    assert read(path, member_column="who", member_value="a").member == [False, True]
    error = fails("unknown_column", path, member_column="membr")
    assert error.hint == "Did you mean 'member'?"
    fails("two_roles", path, member_column="member", score_columns=("member",))


def test_a_candidate_that_cannot_say_it_is_passed_over(read, write):
    text = "split,member,score\nfold1,1,0.5\nfold2,0,1.5\nfold3,1,2.5\n"
    everything = read(write(text))
    assert everything.member == [True, False, True]
    assert everything.skipped["split"].code == "membership_like"


def test_pair_of_files(read, write):
    everything = read(members=str(write(A, "a.csv")), holdout=str(write(B, "b.csv")))
    assert everything.scores == [[1.5, 2.5, 3.5, 4.5, 5.5]]
    assert everything.member == [True, True, False, False, False]
    assert everything.positions == [0, 1, 2, 3, 4]
    assert everything.findings == []


def test_pair_contributes_its_own_class_only(read, write):
    a = write("member,score\n1,1.5\n0,9.5\n1,2.5\n", "a.csv")
    everything = read(members=str(a), holdout=str(write(B, "b.csv")))
    assert everything.scores == [[1.5, 2.5, 3.5, 4.5, 5.5]]
    assert everything.positions == [0, 2, 3, 4, 5]
    assert everything.findings == ["other_side_rows"]
    everything = read(members=str(write(B, "b.csv")), holdout=str(a))
    assert everything.scores == [[3.5, 4.5, 5.5, 9.5]]
    assert everything.member == [True, True, True, False]


def test_pair_whose_members_have_no_member(fails, write):
    a = write("member,score\n0,1.5\n0,9.5\n", "a.csv")
    fails("empty_class", members=str(a), holdout=str(write(B, "b.csv")))


def test_pair_must_have_the_same_scores(fails, write):
    a, b = write(A, "a.csv"), write("loss\n1.5\n", "b.csv")
    fails("columns_differ", members=str(a), holdout=str(b))


def test_pair_of_directories(read, write):
    for name, text in (("m/1.csv", A), ("m/2.csv", A), ("h/1.csv", B)):
        path = write(text, name)
    root = path.parent.parent
    everything = read(members=str(root / "m"), holdout=str(root / "h"))
    assert everything.member == [True] * 4 + [False] * 3


def test_same_file_for_both_classes(fails, write, tmp_path):
    path = write(A, "a.csv")
    assert "same file" in fails("same_file", members=str(path), holdout=str(path)).message
    (tmp_path / "link.csv").symlink_to(path)
    fails("same_file", members=str(path), holdout=str(tmp_path / "link.csv"))


def test_both_from_standard_input(fails):
    fails("two_stdin", members="-", holdout="-")


@pytest.mark.parametrize("column", ["id", "record_id", "Record_ID", "uuid", "canary_id"])
def test_one_record_in_both_classes(fails, read, write, column):
    text = f"{column},member,score\nsecret1,1,0.5\nsecret2,0,1.5\nsecret1,0,2.5\nsecret2,0,3.5\n"
    error = fails("duplicate_ids", write(text))
    assert error.message.startswith("1 values of column")
    assert "secret" not in str(error)
    assert "--where" in error.hint
    assert "--rows-are independent" in error.hint
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


def test_left_out_rows_do_not_count_as_duplicates(read, write):
    text = "id,member,g,score\n7,1,a,0.5\n8,0,a,1.5\n7,0,b,2.5\n"
    assert read(write(text), where="g = a").positions == [0, 1]
