import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    member, labels = rng.random(200) < 0.5, rng.integers(0, 4, 200)
    logits = rng.normal(size=(200, 4))
    logits[np.arange(200), labels] += 1 + 2 * member
    return logits, labels, member


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


def table(made):
    return made.table.to_pandas()


def test_arrays_files_and_tables_give_the_same_scores(model, tmp_path):
    logits, labels, member = model
    wanted = table(mipaudit.query_losses(logits=logits, labels=labels, membership=member))
    np.savez(tmp_path / "m.npz", logits=logits.astype(np.float64), labels=labels, member=member)
    for name, array in (("z", logits), ("y", labels), ("m", member)):
        np.save(tmp_path / f"{name}.npy", array)
    frame = pd.DataFrame(logits, columns=list("abcd"))
    frame.insert(0, "record_id", np.arange(200))
    frame["label"], frame["member"] = labels, np.where(member, "train", "test")
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    path = str(tmp_path)
    for keywords in (
        {"logits": f"{path}/m.npz"},
        {"logits": f"{path}/z.npy", "labels": f"{path}/y.npy", "membership": f"{path}/m.npy"},
        {"logits": f"{path}/t.csv"},
        {"logits": f"{path}/t.parquet"},
    ):
        found = table(mipaudit.query_losses(**keywords))
        pd.testing.assert_frame_equal(found, wanted)


def test_two_sets_of_files_are_members_then_holdout(model):
    logits, labels, member = model
    whole = table(mipaudit.query_losses(logits=logits, labels=labels, membership=member))
    apart = table(
        mipaudit.query_losses(
            logits=logits[member],
            labels=labels[member],
            holdout_logits=logits[~member],
            holdout_labels=labels[~member],
        )
    )
    wanted = pd.concat([whole[whole.member], whole[~whole.member]], ignore_index=True)
    pd.testing.assert_frame_equal(apart, wanted)


def test_probabilities_give_what_logits_give(model):
    logits, labels, member = model
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    one = table(mipaudit.query_losses(logits=logits, labels=labels, membership=member))
    other = table(mipaudit.query_losses(probabilities=p, labels=labels, membership=member))
    pd.testing.assert_frame_equal(one, other, rtol=1e-9)
    # Of float32, the sums are not quite 1.
    rough = mipaudit.query_losses(
        probabilities=p.astype(np.float32), labels=labels, membership=member
    )
    assert table(rough)["loss"].to_numpy() == pytest.approx(one["loss"].to_numpy(), rel=1e-4)


def test_the_calibrated_loss_is_a_difference(model):
    logits, labels, member = model
    reference = np.roll(logits, 1, axis=0)
    made = mipaudit.query_losses(
        logits=logits, labels=labels, membership=member, reference_logits=reference
    )
    beside = mipaudit.query_losses(logits=reference, labels=labels, membership=member)
    frame = table(made)
    wanted = frame["loss"] - table(beside)["loss"]
    assert frame["loss_calibrated"].to_numpy() == pytest.approx(wanted.to_numpy())


def test_scores_that_need_no_label_need_none_beside_a_reference(model):
    logits, _, member = model
    made = mipaudit.query_losses(
        logits=logits, membership=member, reference_logits=logits + 1.0, scores="entropy"
    )
    assert list(made.columns) == ["member", "entropy"]


def test_the_scores_named_are_made(model):
    logits, labels, member = model
    made = mipaudit.query_losses(
        logits=logits, labels=labels, membership=member, scores=("phi", "loss")
    )
    assert made.report.columns == ("member", "label", "loss", "phi")
    report = mipaudit.estimate(made.table, score_col=("loss",))
    assert report.design.n_members == int(member.sum())


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"labels": np.full(200, 4)}, "bad_labels"),
        ({"labels": np.full(200, 0.5)}, "bad_labels"),
        ({"labels": np.zeros(199)}, "rows_differ"),
        ({"membership": np.ones(200)}, "empty_class"),
        ({"membership": np.full(200, 3)}, "unknown_labels"),
        ({"logits": np.full((200, 4), np.nan)}, "missing_cells"),
        ({"logits": np.zeros((2, 2, 2))}, "wrong_shape"),
        ({"logits": None, "probabilities": np.ones((200, 4))}, "no_probabilities"),
        ({"reference_logits": np.zeros((200, 3))}, "classes_differ"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(model, change, code):
    logits, labels, member = model
    given = {"logits": logits, "labels": labels, "membership": member, **change}
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(**given)
    assert caught.value.code == code


def test_wrong_settings_are_refused(model):
    logits, labels, member = model
    given = {"labels": labels, "membership": member}
    for wrong in (
        {},
        {"logits": logits, "probabilities": logits},
        {"logits": logits, "scores": ("los",)},
        {"logits": logits, "scores": ("loss_calibrated",)},
        {"logits": logits, "holdout_logits": logits},
        {"logits": logits, "holdout_labels": labels},
    ):
        with pytest.raises(UsageError):
            mipaudit.query_losses(**given, **wrong)


def test_damaged_archives_and_objects_are_refused(tmp_path):
    path = tmp_path / "m.npz"
    np.savez(path, logits=np.zeros((3, 2)))
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(logits=str(path))
    assert caught.value.code == "bad_npz"
    np.savez(path, logits=np.array([object()]))
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(logits=str(path))
    assert caught.value.code == "pickled"


def test_lira_from_arrays_and_from_one_archive(shadows, tmp_path):
    made = mipaudit.query_lira(**shadows)
    assert made.report.columns == ("member", "phi", "lira_online", "lira_offline")
    archive = dict(shadows)
    archive["member"] = archive.pop("membership")
    np.savez(tmp_path / "s.npz", **archive)
    pd.testing.assert_frame_equal(table(mipaudit.query_lira(str(tmp_path / "s.npz"))), table(made))
    turned = {**shadows, "shadow": shadows["shadow"].T, "inclusion": shadows["inclusion"].T}
    pd.testing.assert_frame_equal(table(mipaudit.query_lira(**turned)), table(made))


def test_lira_tells_more_than_one_threshold_on_phi(shadows):
    made = mipaudit.query_lira(**shadows)
    report = mipaudit.estimate(made.table)
    found = {
        e.score: e.plugin
        for e in report.estimates
        if (e.quantity, e.attackers) == ("advantage", "thresholds")
    }
    assert found["lira_online"] > found["phi"] + 0.1


def test_lira_takes_probabilities_and_losses(shadows):
    wanted = table(mipaudit.query_lira(**shadows))["lira_online"].to_numpy()
    p = {name: 1 / (1 + np.exp(-shadows[name])) for name in ("shadow", "target")}
    found = mipaudit.query_lira(**{**shadows, **p}, values="probability")
    assert table(found)["lira_online"].to_numpy() == pytest.approx(wanted)
    loss = {name: -np.log(one) for name, one in p.items()}
    found = mipaudit.query_lira(**{**shadows, **loss}, values="loss")
    assert table(found)["lira_online"].to_numpy() == pytest.approx(wanted)


def test_a_sure_confidence_is_moved_and_said(shadows):
    p = {name: 1 / (1 + np.exp(-shadows[name])) for name in ("shadow", "target")}
    p["target"][0] = 1.0
    made = mipaudit.query_lira(**{**shadows, **p}, values="probability")
    assert "saturated" in {one.code for one in made.report.findings}


def test_without_models_of_every_record_there_is_the_offline_score(shadows):
    none = {**shadows, "inclusion": np.zeros(shadows["inclusion"].shape)}
    made = mipaudit.query_lira(**none)
    assert made.report.columns == ("member", "phi", "lira_offline")
    assert "offline_only" in {one.code for one in made.report.findings}


def test_few_models_are_pointed_out(shadows):
    few = {name: shadows[name][:12] for name in ("shadow", "inclusion")}
    made = mipaudit.query_lira(**{**shadows, **few}, variance="fixed")
    assert "few_models" not in {one.code for one in made.report.findings}
    few = {name: shadows[name][:30] for name in ("shadow", "inclusion")}
    made = mipaudit.query_lira(**{**shadows, **few}, variance="per-record")
    assert "few_models" in {one.code for one in made.report.findings}


def test_the_target_must_not_be_among_the_shadows(shadows):
    with pytest.raises(InputError) as caught:
        mipaudit.query_lira(**{**shadows, "target": shadows["shadow"][3]})
    assert caught.value.code == "target_among_shadows"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"inclusion": np.full((40, 300), 2)}, "bad_inclusion"),
        ({"inclusion": np.ones((40, 299))}, "rows_differ"),
        ({"inclusion": np.ones((39, 300))}, "shapes_differ"),
        ({"inclusion": np.ones((40, 300))}, "too_few_models"),
        ({"values": "probability"}, "bad_confidences"),
        ({"membership": np.zeros(300)}, "empty_class"),
    ],
)
def test_shadow_models_that_do_not_fit_are_refused(shadows, change, code):
    with pytest.raises(InputError) as caught:
        mipaudit.query_lira(**{**shadows, **change})
    assert caught.value.code == code


def test_as_many_models_as_records_need_a_word():
    rng = np.random.default_rng(3)
    square = {
        "shadow": rng.normal(size=(30, 30)),
        "inclusion": rng.random((30, 30)) < 0.5,
        "target": rng.normal(size=30),
        "membership": np.arange(30) % 2 == 0,
    }
    with pytest.raises(UsageError) as caught:
        mipaudit.query_lira(**square)
    assert caught.value.code == "rows"
    one = table(mipaudit.query_lira(**square, rows="models"))
    turned = {**square, "shadow": square["shadow"].T, "inclusion": square["inclusion"].T}
    pd.testing.assert_frame_equal(table(mipaudit.query_lira(**turned, rows="records")), one)


@pytest.mark.parametrize("coded", [np.eye(4), np.eye(4)[:, :3]])
def test_labels_of_a_column_each_are_refused_not_cut(model, coded):
    logits, labels, member = model
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(logits=logits, labels=coded[labels], membership=member)
    assert caught.value.code == "several_columns"


@pytest.mark.parametrize("left_out", ["labels", "member"])
def test_labels_and_membership_never_stand_in_for_each_other(model, tmp_path, left_out):
    logits, labels, member = model
    arrays = {"logits": logits[:, :2], "labels": labels % 2, "member": member}
    del arrays[left_out]
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(logits=str(tmp_path / "m.npz"))
    assert caught.value.code == "not_given"


def test_outputs_never_stand_in_for_labels_or_membership(model, tmp_path):
    _, labels, member = model
    hard = np.eye(4, dtype=int)[labels]
    for given in ({}, {"labels": labels}, {"membership": member}):
        with pytest.raises(InputError) as caught:
            mipaudit.query_losses(probabilities=hard, **given)
        assert caught.value.code == "not_given"
    pd.DataFrame({"p": labels % 2}).to_csv(tmp_path / "p.csv", index=False)
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(probabilities=str(tmp_path / "p.csv"))
    assert caught.value.code == "not_given"


def test_a_column_that_counts_the_rows_is_no_class(model, tmp_path):
    logits, labels, member = model
    frame = pd.DataFrame(logits, columns=list("abcd"))
    frame = frame.assign(label=labels, member=member, patient=range(200))
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match="patient") as caught:
        mipaudit.query_losses(logits=str(tmp_path / "t.csv"))
    assert caught.value.code == "row_numbers"


def test_the_columns_taken_and_classes_never_seen_are_said(model, tmp_path):
    logits, labels, member = model
    frame = pd.DataFrame(logits, columns=list("abcd"))
    frame = frame.assign(label=labels, member=member, loss=logits[:, 0] ** 2, id=labels)
    frame.to_csv(tmp_path / "t.csv", index=False)
    made = mipaudit.query_losses(logits=str(tmp_path / "t.csv"))
    said = {one.code: told(one) for one in made.report.findings}
    assert "a, b, c, d, loss." in said["columns_taken"]
    assert "Passed over: id." in said["columns_taken"]
    assert "unseen_classes" in said


def test_probabilities_given_as_logits_are_refused(model, tmp_path):
    logits, labels, member = model
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(logits=p, labels=labels, membership=member)
    assert caught.value.code == "look_like_probabilities"
    made = mipaudit.query_losses(logits=p[:, :1], labels=labels % 2, membership=member)
    assert "look_like_probabilities" in {one.code for one in made.report.findings}
    np.savez(tmp_path / "m.npz", probabilities=p, labels=labels, member=member)
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(logits=str(tmp_path / "m.npz"))
    assert caught.value.code == "other_outputs"


def test_probabilities_a_rounding_outside_are_taken(model):
    _, labels, member = model
    p = np.eye(4)[labels]
    p[0], p[1, labels[1]] = [-1e-9, 1 + 1e-9, 0, 0], np.nextafter(1, 2)
    made = mipaudit.query_losses(probabilities=p, labels=labels, membership=member)
    loss = made.columns["loss"]
    assert (loss[1:] == 0).all()
    assert not np.signbit(loss[1:]).any()


def test_scores_that_need_no_label_need_none(model):
    logits, _, member = model
    made = mipaudit.query_losses(logits=logits, membership=member, scores=("entropy", "conf_max"))
    assert made.report.columns == ("member", "conf_max", "entropy")


def test_a_reference_that_is_the_model_is_refused(model):
    logits, labels, member = model
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(
            logits=logits, labels=labels, membership=member, reference_logits=logits
        )
    assert caught.value.code == "reference_is_model"


def test_membership_may_stand_beside_the_labels(model, tmp_path):
    logits, labels, member = model
    pd.DataFrame({"label": labels, "member": member}).to_csv(tmp_path / "y.csv", index=False)
    made = mipaudit.query_losses(logits=logits, labels=str(tmp_path / "y.csv"))
    assert (made.columns["member"] == member).all()


@pytest.mark.parametrize(("models", "variance"), [(4, "fixed"), (8, "fixed"), (8, "per-record")])
def test_the_number_of_models_of_a_record_does_not_tell_who_is_a_member(models, variance):
    # All models share out every record evenly, as in the authors' code; there is nothing else.
    rng = np.random.default_rng(7)
    included = rng.random((models, 20_000)).argsort(axis=0) < models // 2
    phi = rng.normal(size=included.shape)
    made = mipaudit.query_lira(
        phi[1:],
        inclusion=included[1:],
        target=phi[0],
        membership=included[0],
        variance=variance,
    )
    assert "counts_tell" in {one.code for one in made.report.findings}
    for name in ("lira_online", "lira_offline"):
        order = np.argsort(made.columns[name])
        member = included[0][order]
        gap = np.cumsum(member) / member.sum() - np.cumsum(~member) / (~member).sum()
        # 5e-7 under the null hypothesis; without the mend 0.05 to 0.10.
        assert np.abs(gap).max() < 2.7 * np.sqrt(2 / 10_000)


def test_coins_thrown_for_every_model_are_left_as_they_are(shadows):
    made = mipaudit.query_lira(**shadows)
    assert "counts_tell" not in {one.code for one in made.report.findings}


def test_the_target_rounded_or_trained_again_must_not_be_among_the_shadows(shadows):
    for row in (shadows["target"].astype(np.float32), shadows["target"] * 1.5 + 1):
        knowing = {
            "shadow": np.vstack([shadows["shadow"], row]),
            "inclusion": np.vstack([shadows["inclusion"], shadows["membership"]]),
        }
        with pytest.raises(InputError) as caught:
            mipaudit.query_lira(**{**shadows, **knowing})
        assert caught.value.code == "target_among_shadows"


def test_an_array_of_one_kind_is_not_taken_for_another(shadows, tmp_path):
    archive = {"phi": shadows["shadow"].T, "included": shadows["inclusion"].T}
    np.savez(tmp_path / "s.npz", **archive)
    for given in ({}, {"target": shadows["target"]}):
        with pytest.raises((InputError, UsageError)):
            mipaudit.query_lira(str(tmp_path / "s.npz"), **given)


def test_p_of_one_in_single_precision_is_next_to_its_neighbour(shadows):
    p = {n: 1 / (1 + np.exp(-shadows[n] - 12)) for n in ("shadow", "target")}
    single = {n: one.astype(np.float32) for n, one in p.items()}
    assert (single["shadow"] == 1).any()
    found = mipaudit.query_lira(**{**shadows, **single}, values="probability")
    assert found.columns["phi"].max() < 17.5


def test_probabilities_given_as_phi_are_refused(shadows):
    p = {name: 1 / (1 + np.exp(-shadows[name])) for name in ("shadow", "target")}
    with pytest.raises(InputError) as caught:
        mipaudit.query_lira(**{**shadows, **p})
    assert caught.value.code == "look_like_probabilities"


def saved(folder, name, values, labels, **more):
    frame = pd.DataFrame(values, columns=list("abcd")).assign(label=labels, **more)
    frame.to_csv(folder / name, index=False)
    return frame, str(folder / name)


@pytest.mark.parametrize("change", ["order", "names", "reference"])
def test_tables_with_their_classes_in_another_order_are_refused(model, tmp_path, change):
    logits, labels, member = model
    _, ours = saved(tmp_path, "m.csv", logits[member], labels[member])
    frame, theirs = saved(tmp_path, "h.csv", logits[~member], labels[~member])
    given = {"logits": ours, "holdout_logits": theirs}
    assert mipaudit.query_losses(**given).report.n_members == member.sum()
    if change == "names":
        frame.rename(columns={"a": "e"}).to_csv(theirs, index=False)
    else:
        frame[["b", "a", "c", "d", "label"]].to_csv(theirs, index=False)
    if change == "reference":
        given = {
            "logits": logits[~member],
            "holdout_logits": logits[member],
            "labels": labels[~member],
            "holdout_labels": labels[member],
        }
        _, straight = saved(tmp_path, "s.csv", logits[~member], labels[~member])
        given |= {"logits": straight, "reference_logits": theirs}
        given["holdout_reference_logits"] = logits[member] + 1
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(**given)
    assert caught.value.code == "classes_differ"


def test_a_file_of_members_that_holds_others_is_refused(model, tmp_path):
    logits, labels, member = model
    _, everybody = saved(tmp_path, "m.csv", logits, labels, member=member)
    _, theirs = saved(tmp_path, "h.csv", logits[~member], labels[~member], split="test")
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(logits=everybody, holdout_logits=theirs)
    assert caught.value.code == "contradicted_membership"
    _, ours = saved(tmp_path, "m.csv", logits[member], labels[member], member=1)
    made = mipaudit.query_losses(logits=ours, holdout_logits=theirs)
    assert made.report.n_holdout == (~member).sum()


def test_one_file_for_members_and_holdout_is_refused(model):
    logits, labels, _ = model
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(
            logits=logits, labels=labels, holdout_logits=logits, holdout_labels=labels
        )
    assert caught.value.code == "same_outputs"


def test_shadow_tables_with_columns_in_another_order_are_refused(shadows, tmp_path):
    names = [f"model_{at}" for at in range(40)]
    pd.DataFrame(shadows["shadow"].T, columns=names).to_csv(tmp_path / "phi.csv", index=False)
    coins = pd.DataFrame(shadows["inclusion"].T.astype(int), columns=names)
    coins.to_csv(tmp_path / "in.csv", index=False)
    given = {"target": shadows["target"], "membership": shadows["membership"]}
    paths = {"shadow": str(tmp_path / "phi.csv"), "inclusion": str(tmp_path / "in.csv")}
    made = mipaudit.query_lira(**given, **paths)
    wanted = table(mipaudit.query_lira(**shadows))["lira_online"].to_numpy()
    assert made.columns["lira_online"] == pytest.approx(wanted)
    coins[names[::-1]].to_csv(tmp_path / "in.csv", index=False)
    with pytest.raises(InputError) as caught:
        mipaudit.query_lira(**given, **paths)
    assert caught.value.code == "columns_differ"


def test_members_alone_are_told_where_the_holdout_goes(model):
    logits, labels, _ = model
    with pytest.raises(InputError) as caught:
        mipaudit.query_losses(logits=logits, labels=labels, membership=np.ones(200))
    assert "--holdout-logits" in caught.value.hint


@pytest.mark.parametrize("values", ["phi", "loss"])
def test_labels_given_as_the_target_are_refused(shadows, values):
    labels = np.arange(shadows["target"].size) % 10
    p = 1 / (1 + np.exp(-shadows["shadow"]))
    shadow = shadows["shadow"] if values == "phi" else -np.log(p)
    with pytest.raises(InputError) as caught:
        mipaudit.query_lira(**{**shadows, "shadow": shadow, "target": labels}, values=values)
    assert caught.value.code == "look_like_labels"
