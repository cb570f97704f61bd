"""One table of a model's outputs, as a file, a frame and arrays: the same scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from mipaudit.commands.estimate.run import estimate
from mipaudit.commands.query.model.lira import query_lira
from mipaudit.commands.query.model.losses import query_losses
from mipaudit.errors import InputError

WORDS = np.array(["cat", "dog", "eel"])


def table(rows: int = 600) -> pd.DataFrame:
    """Return logits of noise, beside labels and a membership that go together."""
    rng = np.random.default_rng(6)
    member = np.arange(rows) % 2 == 0
    label = rng.integers(0, 3, rows)
    logits = rng.normal(size=(rows, 3))
    frame = pd.DataFrame(logits, columns=["a", "b", "c"])
    return frame.assign(label=label, member=member)


def scores(made) -> dict[str, np.ndarray]:
    return {name: np.asarray(values) for name, values in made.columns.items()}


def alike(one, other) -> bool:
    first, second = scores(one), scores(other)
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) for name in first
    )


def test_files_frames_and_arrays_give_the_same_scores(tmp_path):
    frame = table()
    path = tmp_path / "outputs.parquet"
    frame.to_parquet(path)
    frame.to_csv(tmp_path / "outputs.csv", index=False)
    logits = frame[["a", "b", "c"]]
    said = {"labels": frame["label"], "membership": frame["member"]}
    whole = query_losses(logits=frame)
    for other in (
        query_losses(logits=str(path)),
        query_losses(logits=str(tmp_path / "outputs.csv")),
        query_losses(logits=pa.table(frame)),
        query_losses(logits=logits, **said),
        query_losses(logits=logits.to_numpy(), **said),
        query_losses(logits=logits, labels=frame[["label"]], membership=frame[["member"]]),
    ):
        assert alike(whole, other)


def test_labels_and_membership_in_a_frame_are_no_classes():
    made = query_losses(logits=table(4000))
    assert made.report.classes == 3
    report = estimate(made.table, score_col=["conf_max"], max_advantage=0.2)
    assert report.estimates[0].lower < 0.05


def test_words_for_labels_are_those_of_scikit_learn(tmp_path):
    frame = table()
    words = WORDS[frame["label"]]
    logits, member = frame[["a", "b", "c"]].to_numpy(), frame["member"].to_numpy()
    wanted = query_losses(logits=logits, labels=frame["label"], membership=member)
    np.save(tmp_path / "labels.npy", words)
    np.savez(tmp_path / "all.npz", logits=logits, labels=words, member=member)
    for labels in (words, words.astype(object), pd.Series(words), list(words)):
        made = query_losses(logits=logits, labels=labels, membership=member)
        assert alike(made, wanted)
        assert "labels_sorted" in {one.code for one in made.report.findings}
    saved = query_losses(logits=logits, labels=str(tmp_path / "labels.npy"), membership=member)
    assert alike(saved, wanted)
    assert alike(query_losses(logits=str(tmp_path / "all.npz")), wanted)
    assert alike(query_losses(logits=frame.assign(label=words)), wanted)


def test_words_find_the_columns_by_name(tmp_path):
    frame = table()
    wanted = query_losses(logits=frame)
    named = frame.rename(columns=dict(zip("abc", ("eel", "cat", "dog"), strict=True)))
    order = np.array(["eel", "cat", "dog"])
    named["label"] = order[frame["label"]]
    made = query_losses(logits=named)
    assert alike(made, wanted)
    assert "labels_sorted" not in {one.code for one in made.report.findings}
    named.to_csv(tmp_path / "named.csv", index=False)
    assert alike(query_losses(logits=str(tmp_path / "named.csv")), wanted)
    # Also where a class is nobody's.
    some = named[named["label"] != "dog"]
    assert query_losses(logits=some).report.classes == 3


def test_words_of_an_absent_class_are_refused():
    frame = table()
    frame["label"] = WORDS[np.minimum(frame["label"], 1)]
    with pytest.raises(InputError) as caught:
        query_losses(logits=frame)
    assert caught.value.code == "bad_labels"
    assert "cat" not in str(caught.value)


def test_text_is_no_output():
    with pytest.raises(InputError) as caught:
        query_losses(logits=np.array([["a", "b"]]), labels=[0], membership=[1])
    assert caught.value.code == "text_column"


def test_lira_takes_frames_as_it_takes_arrays():
    rng = np.random.default_rng(7)
    records, models = 200, 16
    bits = rng.integers(0, 2, (records, models))
    phi = rng.normal(size=(records, models)) + bits
    member = rng.integers(0, 2, records)
    target = rng.normal(size=records) + member
    arrays = query_lira(phi, inclusion=bits, target=target, membership=member, rows="records")
    names = [f"m{at}" for at in range(models)]
    shadow = pd.DataFrame(phi, columns=names)
    kept = pd.DataFrame(bits, columns=names)
    asked = pd.DataFrame({"target": target, "member": member})
    frames = query_lira(shadow.assign(member=member), inclusion=kept, target=asked, rows="records")
    assert alike(arrays, frames)
