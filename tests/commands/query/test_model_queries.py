"""Scores of what models say: from arrays, frames and files, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mipaudit
from tests.fixtures.codes import findings, refused
from tests.fixtures.files import save

WORDS = np.array(["cat", "dog", "eel", "fox"])
ANIMALS = ("cat", "dog", "horse")


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    member, labels = rng.random(200) < 0.5, rng.integers(0, 4, 200)
    logits = rng.normal(size=(200, 4))
    logits[np.arange(200), labels] += 1 + 2 * member
    return {"logits": logits, "labels": labels, "membership": member}


@pytest.fixture
def frame(model):
    """One table of the outputs, beside labels and membership."""
    columns = pd.DataFrame(model["logits"], columns=list("abcd"))
    return columns.assign(label=model["labels"], member=model["membership"])


@pytest.fixture
def shadows():
    rng = np.random.default_rng(1)
    included = rng.random((41, 300)) < 0.5
    phi = rng.normal(size=300) + 2.0 * included + rng.normal(size=(41, 300))
    return {
        "shadow": phi[1:],
        "inclusion": included[1:],
        "target": phi[0],
        "membership": included[0],
    }


def losses(**given):
    return mipaudit.query_losses(**given).table.to_pandas()


def lira(**given):
    return mipaudit.query_lira(**given).table.to_pandas()


def codes(made):
    return findings(made.report).keys()


def p_of(phi):
    return 1 / (1 + np.exp(-phi))


def softmax(logits):
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


def refuse(code, query=mipaudit.query_losses, **given):
    """Return the error that a query ends in, which names no label."""
    error = refused(code, query, **given)
    assert not any(word in str(error) for word in WORDS)
    return error


def test_arrays_files_frames_and_tables_give_the_same_scores(model, frame, tmp_path):
    logits, labels, member = model.values()
    np.savez(tmp_path / "m.npz", logits=logits, labels=labels, member=member)
    for name, array in (("z", logits), ("y", labels), ("m", member)):
        np.save(tmp_path / f"{name}.npy", array)
    save(frame, tmp_path / "plain.csv")
    frame.insert(0, "record_id", np.arange(200))
    frame["member"] = np.where(member, "train", "test")
    for name, columns in (("t.csv", list(frame)), ("t.parquet", list(frame))):
        save(frame[columns], tmp_path / name)
    save(frame[["label", "member"]], tmp_path / "y.csv")
    path, outputs = str(tmp_path), frame[list("abcd")]
    wanted = losses(**model)
    for keywords in (
        *({"logits": f"{path}/{name}"} for name in ("m.npz", "t.csv", "plain.csv", "t.parquet")),
        {"logits": f"{path}/z.npy", "labels": f"{path}/y.npy", "membership": f"{path}/m.npy"},
        {"logits": f"{path}/z.npy", "labels": f"{path}/y.csv"},  # with the membership beside
        {"logits": frame},
        {"logits": pa.table(frame)},
        {"logits": outputs, "labels": frame["label"], "membership": member},
        {"logits": outputs, "labels": frame[["label"]], "membership": frame[["member"]]},
    ):
        pd.testing.assert_frame_equal(losses(**keywords), wanted)
    parts = {
        f"{start}{name}": model[name][side]
        for start, side in (("", member), ("holdout_", ~member))
        for name in ("logits", "labels")
    }
    in_turn = pd.concat([wanted[wanted.member], wanted[~wanted.member]], ignore_index=True)
    pd.testing.assert_frame_equal(losses(**parts), in_turn)


def test_probabilities_give_what_logits_give(model):
    p, one = softmax(model["logits"]), losses(**model)
    given, labels = {**model, "logits": None}, model["labels"]
    pd.testing.assert_frame_equal(one, losses(**given, probabilities=p), rtol=1e-9)
    # Of float32, the sums are not quite 1.
    rough = losses(**given, probabilities=p.astype(np.float32))
    assert rough["loss"].to_numpy() == pytest.approx(one["loss"].to_numpy(), rel=1e-4)
    # A rounding outside is taken.
    p = np.eye(4)[labels]
    p[0], p[1, labels[1]] = [-1e-9, 1 + 1e-9, 0, 0], np.nextafter(1, 2)
    loss = losses(**given, probabilities=p)["loss"].to_numpy()
    assert (loss[1:] == 0).all()
    assert not np.signbit(loss[1:]).any()


def test_the_calibrated_loss_is_a_difference(model):
    reference = np.roll(model["logits"], 1, axis=0)
    found = losses(**model, reference_logits=reference)
    wanted = found["loss"] - losses(**{**model, "logits": reference})["loss"]
    assert found["loss_calibrated"].to_numpy() == pytest.approx(wanted.to_numpy())


@pytest.mark.parametrize(
    ("scores", "more", "columns"),
    [
        (("phi", "loss"), ("labels",), ["member", "label", "loss", "phi"]),
        ("entropy", ("reference",), ["member", "entropy"]),
        (("entropy", "conf_max"), (), ["member", "conf_max", "entropy"]),
    ],
)
def test_the_scores_named_are_made_and_need_no_more_than_they_do(model, scores, more, columns):
    given = {name: model[name] for name in ("logits", "membership", *set(more) & set(model))}
    if "reference" in more:
        given["reference_logits"] = model["logits"] + 1.0
    made = mipaudit.query_losses(**given, scores=scores)
    assert list(made.columns) == list(made.report.columns) == columns
    report = mipaudit.estimate(made.table, score_col=columns[-1])
    assert report.design.n_members == int(model["membership"].sum())


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"labels": np.full(200, 4)}, "bad_labels"),
        ({"labels": np.full(200, 0.5)}, "bad_labels"),
        ({"labels": np.zeros(199)}, "rows_differ"),
        ({"labels": np.eye(4)[np.zeros(200, int)]}, "several_columns"),
        ({"labels": WORDS[np.arange(200) % 3]}, "bad_labels"),
        ({"membership": np.ones(200)}, "empty_class"),
        ({"membership": np.full(200, 3)}, "unknown_labels"),
        ({"logits": np.full((200, 4), np.nan)}, "missing_cells"),
        ({"logits": np.zeros((2, 2, 2))}, "wrong_shape"),
        ({"logits": np.full((200, 4), "cat")}, "text_column"),
        ({"logits": None, "probabilities": np.ones((200, 4))}, "no_probabilities"),
        ({"reference_logits": np.zeros((200, 3))}, "classes_differ"),
        ({"scores": ("los",)}, "scores"),
        ({"scores": ("loss_calibrated",)}, "scores"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(model, change, code):
    found = refuse(code, **{**model, **change})
    assert code != "empty_class" or "--holdout-logits" in found.hint


def test_outputs_that_are_another_thing_are_refused(model, tmp_path):
    p, labels, path = softmax(model["logits"]), model["labels"], tmp_path / "m.npz"
    refuse("reference_is_model", **model, reference_logits=model["logits"])
    refuse("look_like_probabilities", **{**model, "logits": p})
    one = mipaudit.query_losses(**{**model, "logits": p[:, :1], "labels": labels % 2})
    assert "look_like_probabilities" in codes(one)
    np.savez(path, probabilities=p, labels=labels, member=model["membership"])
    refuse("other_outputs", logits=str(path))
    both = {"holdout_logits": model["logits"], "holdout_labels": labels, "membership": None}
    refuse("same_outputs", **{**model, **both})
    np.savez(path, logits=np.zeros((3, 2)))
    path.write_bytes(path.read_bytes()[:-30])
    refuse("bad_npz", logits=path)
    np.savez(path, logits=np.array([object()]))
    refuse("pickled", logits=path)


def test_labels_membership_and_outputs_never_stand_in_for_each_other(model, tmp_path):
    logits, labels, member = model.values()
    arrays, path = {"logits": logits[:, :2], "labels": labels % 2, "member": member}, "m.npz"
    for left_out, said in (("labels", "to 'label'"), ("member", "--holdout-logits")):
        np.savez(tmp_path / path, **{name: arrays[name] for name in {*arrays} - {left_out}})
        error = refuse("not_given", logits=tmp_path / path)
        assert error.hint.startswith("If a column or array holds it, rename it to ")
        assert said in error.hint
    hard = np.eye(4, dtype=int)[labels]
    save(pd.DataFrame({"p": labels % 2}), tmp_path / "p.csv")
    for given in ({}, {"labels": labels}, {"membership": member}):
        refuse("not_given", probabilities=hard, **given)
    refuse("not_given", probabilities=tmp_path / "p.csv")


def test_what_is_taken_of_a_table_is_said(frame):
    assert "patient" in refuse("row_numbers", logits=frame.assign(patient=range(200))).message
    made = mipaudit.query_losses(logits=frame.assign(loss=frame["a"] ** 2, id=frame["label"]))
    said = findings(made.report)
    assert "a, b, c, d, loss." in said["columns_taken"]
    assert "Left out: id." in said["columns_taken"]
    assert "unseen_classes" in said


def test_labels_and_membership_in_a_frame_are_no_classes():
    rng = np.random.default_rng(6)
    noise = pd.DataFrame(rng.normal(size=(4000, 3)), columns=list("abc"))
    made = mipaudit.query_losses(
        logits=noise.assign(label=rng.integers(0, 3, 4000), member=np.arange(4000) % 2 == 0)
    )
    assert made.report.classes == 3
    report = mipaudit.estimate(made.table, score_col=["conf_max"], max_advantage=0.2)
    assert report.estimates[0].lower < 0.05


def test_words_for_labels_are_those_of_scikit_learn(model, frame, tmp_path):
    wanted, words = losses(**model), WORDS[model["labels"]]
    np.save(tmp_path / "labels.npy", words)
    np.savez(tmp_path / "all.npz", logits=model["logits"], labels=words, member=model["membership"])
    path = tmp_path / "labels.npy"
    for labels in (words, words.astype(object), pd.Series(words), list(words), path):
        made = mipaudit.query_losses(**{**model, "labels": labels})
        pd.testing.assert_frame_equal(made.table.to_pandas(), wanted)
        assert "labels_sorted" in codes(made)
    for whole in (tmp_path / "all.npz", frame.assign(label=words)):
        pd.testing.assert_frame_equal(losses(logits=whole), wanted)


def test_words_find_the_columns_by_name(model, frame, tmp_path):
    order = np.array(["eel", "cat", "dog", "fox"])
    named = frame.rename(columns=dict(zip("abcd", order, strict=True)))
    named["label"] = order[model["labels"]]
    made = mipaudit.query_losses(logits=named)
    assert "labels_sorted" not in codes(made)
    for one in (named, str(save(named, tmp_path / "named.csv"))):
        pd.testing.assert_frame_equal(losses(logits=one), losses(**model))
    # Also where a class is nobody's.
    assert mipaudit.query_losses(logits=named[named["label"] != "dog"]).report.classes == 4


@pytest.mark.parametrize("words", [["Dog", "cat", "horse"], ["CAT", "dog", "horse"]])
@pytest.mark.parametrize("stem", ["", "p_"])
def test_words_that_name_some_columns_are_never_matched_in_order(words, stem):
    rng = np.random.default_rng(3)
    made = pd.DataFrame(rng.normal(size=(99, 3)), columns=[f"{stem}{x}" for x in ANIMALS])
    made["member"], made["label"] = np.arange(99) % 2, np.resize(words, 99)
    error = refuse("bad_labels", logits=made)
    assert "but 1 of 3 different labels are not" in error.message
    assert "alike, capitals too" in error.hint


@pytest.mark.parametrize("other", ["no", "zero"])
def test_a_word_that_names_the_only_column_is_the_second_class(other):
    values = np.random.default_rng(3).normal(size=40)
    one = pd.DataFrame({"p_yes": values, "member": np.arange(40) % 2})
    true = (values > 0) | (np.arange(40) % 3 == 0)
    made = losses(logits=one.assign(label=np.where(true, "yes", other)))
    pd.testing.assert_frame_equal(made, losses(logits=one.assign(label=true.astype(int))))


@pytest.mark.parametrize("change", ["order", "names", "reference"])
def test_tables_with_their_classes_in_another_order_are_refused(model, frame, change):
    member = model["membership"]
    ours, theirs = (frame[side].drop(columns="member") for side in (member, ~member))
    given = {"logits": ours, "holdout_logits": theirs}
    assert mipaudit.query_losses(**given).report.n_members == member.sum()
    turned = theirs[["b", "a", "c", "d", "label"]]
    if change == "names":
        turned = theirs.rename(columns={"a": "e"})
    given["holdout_logits"] = turned
    if change == "reference":
        given = {"logits": theirs, "holdout_logits": ours, "reference_logits": turned}
        given["holdout_reference_logits"] = ours[list("abcd")] + 1
    refuse("classes_differ", **given)


def test_a_file_of_members_that_holds_others_is_refused(model, frame):
    member = model["membership"]
    theirs = frame[~member].drop(columns="member").assign(split="test")
    refuse("contradicted_membership", logits=frame, holdout_logits=theirs)
    made = mipaudit.query_losses(logits=frame[member].assign(member=1), holdout_logits=theirs)
    assert made.report.n_holdout == (~member).sum()


# --- the storage of outputs must not tell who is a member


def stored(rows, kind):
    if kind == "turned in memory":
        return np.asfortranarray(rows)
    if kind != "bf16":
        return rows.astype(kind)
    bits = (rows.astype("f4").view("u4") + 0x8000) & 0xFFFF0000
    return bits.astype("u4").view("f4")


@pytest.mark.parametrize("name", ["logits", "probabilities", "reference"])
@pytest.mark.parametrize(
    ("fine", "coarse"),
    [("f8", "f4"), ("f4", "f2"), ("f2", "f8"), ("f4", "bf16"), ("f8", "turned in memory")],
)
def test_how_outputs_are_stored_tells_nobody_who_is_a_member(name, fine, coarse):
    # Few different rows of logits, drawn alike for both classes.
    rng = np.random.default_rng(0)
    pool, labels = rng.normal(size=(40, 10)) * 3, rng.integers(0, 10, 40)
    one, other = rng.integers(0, 40, (2, 300))
    given = {"labels": labels[one], "holdout_labels": labels[other]}
    if name == "reference":
        given |= {"logits": pool[one], "holdout_logits": pool[other], "scores": "loss_calibrated"}
        name, pool = "reference_logits", pool[::-1] * 0.7
    pool = softmax(pool) if name == "probabilities" else pool
    given[name], given[f"holdout_{name}"] = stored(pool[one], fine), stored(pool[other], coarse)
    made = mipaudit.query_losses(**given)
    scores = made.table.to_pandas().drop(columns="label").groupby("member")
    inside, outside = ({name: set(x[name]) for name in x} for _, x in scores)
    assert inside | {"member": 0} == outside | {"member": 0}
    assert ("rounded_outputs" in codes(made)) == (coarse != "turned in memory")


# --- shadow models


def test_lira_from_arrays_frames_and_one_archive(shadows, tmp_path):
    made = mipaudit.query_lira(**shadows)
    assert made.report.columns == ("member", "phi", "lira_online", "lira_offline")
    archive = dict(shadows)
    archive["member"] = archive.pop("membership")
    np.savez(tmp_path / "s.npz", **archive)
    turned = {**shadows, "shadow": shadows["shadow"].T, "inclusion": shadows["inclusion"].T}
    names = [f"m{at}" for at in range(40)]
    frames = {name: pd.DataFrame(turned[name], columns=names) for name in ("shadow", "inclusion")}
    frames["target"] = pd.DataFrame({"target": archive["target"], "member": archive["member"]})
    frames["shadow"]["member"] = archive["member"]
    for given in ({"shadow": tmp_path / "s.npz"}, turned, frames):
        pd.testing.assert_frame_equal(lira(**given), made.table.to_pandas())
    # It tells more than one threshold on phi.
    found = {
        one.score: one.plugin
        for one in mipaudit.estimate(made.table).estimates
        if (one.quantity, one.attackers) == ("advantage", "thresholds")
    }
    assert found["lira_online"] > found["phi"] + 0.1


def test_lira_takes_probabilities_and_losses(shadows):
    wanted = lira(**shadows)["lira_online"].to_numpy()
    p = {name: p_of(shadows[name]) for name in ("shadow", "target")}
    loss = {name: -np.log(one) for name, one in p.items()}
    for values, given in (("probability", p), ("loss", loss)):
        found = lira(**{**shadows, **given}, values=values)
        assert found["lira_online"].to_numpy() == pytest.approx(wanted)
    p["target"][0] = 1.0
    assert "saturated" in codes(mipaudit.query_lira(**{**shadows, **p}, values="probability"))
    # P of one in single precision is next to its neighbour.
    single = {name: p_of(shadows[name] + 12).astype(np.float32) for name in p}
    assert (single["shadow"] == 1).any()
    assert lira(**{**shadows, **single}, values="probability")["phi"].max() < 17.5


@pytest.mark.parametrize(
    ("models", "none", "variance", "code"),
    [
        (40, True, "fixed", "offline_only"),
        (30, False, "per-record", "few_models"),
        (12, False, "fixed", None),
        (40, False, "fixed", None),
    ],
)
def test_what_few_models_leave_is_pointed_out(shadows, models, none, variance, code):
    few = {name: shadows[name][:models] for name in ("shadow", "inclusion")}
    few["inclusion"] = few["inclusion"] & (not none)
    made = mipaudit.query_lira(**{**shadows, **few}, variance=variance)
    assert codes(made) & {"offline_only", "few_models", "counts_tell"} == {code} - {None}
    assert ("lira_online" in made.columns) == (not none)


DIGITS = np.arange(300) % 10
# From the right arrays, those that are given in their place; and how it ends.
UNFIT = [
    (lambda _: {"inclusion": np.full((40, 300), 2)}, "bad_inclusion"),
    (lambda _: {"inclusion": np.ones((40, 299))}, "rows_differ"),
    (lambda _: {"inclusion": np.ones((39, 300))}, "shapes_differ"),
    (lambda _: {"inclusion": np.ones((40, 300))}, "too_few_models"),
    (lambda _: {"values": "probability"}, "bad_confidences"),
    (lambda _: {"membership": np.zeros(300)}, "empty_class"),
    (lambda _: {"target": DIGITS}, "look_like_labels"),
    (
        lambda x: {"shadow": -np.log(p_of(x["shadow"])), "target": DIGITS, "values": "loss"},
        "look_like_labels",
    ),
    (lambda x: {name: p_of(x[name]) for name in ("shadow", "target")}, "look_like_probabilities"),
    (lambda x: {"target": x["shadow"][3]}, "target_among_shadows"),
    *(
        # Also rounded, or trained again.
        (
            lambda x, change=change: {
                "shadow": np.vstack([x["shadow"], change(x["target"])]),
                "inclusion": np.vstack([x["inclusion"], x["membership"]]),
            },
            "target_among_shadows",
        )
        for change in (lambda one: one, np.float32, lambda one: one * 1.5 + 1)
    ),
]


@pytest.mark.parametrize(("change", "code"), UNFIT)
def test_shadow_models_that_do_not_fit_are_refused(shadows, change, code):
    refuse(code, mipaudit.query_lira, **{**shadows, **change(shadows)})


def test_an_archive_without_a_target_or_members_is_refused(shadows, tmp_path):
    np.savez(tmp_path / "s.npz", phi=shadows["shadow"].T, included=shadows["inclusion"].T)
    for given in ({}, {"target": shadows["target"]}):
        refuse("several_columns", mipaudit.query_lira, shadow=tmp_path / "s.npz", **given)


def test_as_many_models_as_records_need_a_word():
    rng = np.random.default_rng(3)
    square = {
        "shadow": rng.normal(size=(30, 30)),
        "inclusion": rng.random((30, 30)) < 0.5,
        "target": rng.normal(size=30),
        "membership": np.arange(30) % 2 == 0,
    }
    refuse("rows", mipaudit.query_lira, **square)
    turned = {**square, "shadow": square["shadow"].T, "inclusion": square["inclusion"].T}
    one, other = lira(**square, rows="models"), lira(**turned, rows="records")
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize(("models", "variance"), [(4, "fixed"), (8, "fixed"), (8, "per-record")])
def test_the_number_of_models_of_a_record_does_not_tell_who_is_a_member(models, variance):
    # All models share out every record evenly, as in the authors' code; there is nothing else.
    rng = np.random.default_rng(7)
    included = rng.random((models, 20_000)).argsort(axis=0) < models // 2
    phi = rng.normal(size=included.shape)
    given = {"inclusion": included[1:], "target": phi[0], "membership": included[0]}
    made = mipaudit.query_lira(phi[1:], **given, variance=variance)
    assert "counts_tell" in codes(made)
    for name in ("lira_online", "lira_offline"):
        member = included[0][np.argsort(made.columns[name])]
        gap = np.cumsum(member) / member.sum() - np.cumsum(~member) / (~member).sum()
        # 5e-7 under the null hypothesis; without the mend 0.05 to 0.10.
        assert np.abs(gap).max() < 2.7 * np.sqrt(2 / 10_000)


def test_shadow_tables_with_columns_in_another_order_are_refused(shadows, tmp_path):
    names, given = [f"model_{at}" for at in range(40)], dict(shadows)
    for name in ("shadow", "inclusion"):
        columns = pd.DataFrame(shadows[name].T.astype(float), columns=names)
        given[name] = str(save(columns, tmp_path / f"{name}.csv"))
    wanted = lira(**shadows)["lira_online"].to_numpy()
    assert lira(**given)["lira_online"].to_numpy() == pytest.approx(wanted)
    save(columns[names[::-1]], tmp_path / "inclusion.csv")
    refuse("columns_differ", mipaudit.query_lira, **given)
