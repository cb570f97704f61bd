"""Summary files: whole, or refused."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

import mipaudit
from mipaudit.errors import InputError
from mipaudit.tables.array_archive import TEXT_NAME, array_bytes, pack
from mipaudit.tables.summary_arrays import counts_of, cuts_of
from mipaudit.tables.summary_file import read_summary


@pytest.fixture(scope="module")
def made():
    generator = np.random.default_rng(0)
    scores = {"members": generator.normal(1, 1, 700), "holdout": generator.normal(0, 1, 600)}
    return mipaudit.summarize(**scores), mipaudit.summarize(**scores, cuts_only=True)


@pytest.mark.parametrize("which", [0, 1])
def test_there_and_back(made, which):
    file = made[which]
    data = file.to_bytes()
    again = read_summary("again", data)
    assert again.manifest == file.manifest
    assert again.to_bytes() == data
    assert again.sha256 == sha256(data).hexdigest()
    for name, array in file.arrays.items():
        assert np.array_equal(again.arrays[name], array)
    read = cuts_of if which else counts_of
    assert read(again).n_members == 700


def test_no_score_is_in_a_summary(made):
    generator = np.random.default_rng(0)
    scores = [*generator.normal(1, 1, 700), *generator.normal(0, 1, 600)]
    for file in made:
        floats = {float(v) for a in file.arrays.values() if a.dtype.kind == "f" for v in a.ravel()}
        assert not floats & set(scores)


def refusal(name, data):
    """Return the error over a file, or None where it is read."""
    try:
        read_summary(name, data)
    except InputError as error:
        return error
    return None


def test_a_damaged_file_is_refused(made):
    data = made[0].to_bytes()
    harmless = 0
    for place in range(0, len(data), max(1, len(data) // 300)):
        wrong = bytearray(data)
        wrong[place] ^= 0x55
        error = refusal("part.summary", bytes(wrong))
        if error is None:
            # A byte that means nothing, such as a time within the archive.
            harmless += 1
            found = read_summary("part.summary", bytes(wrong))
            assert found.manifest == made[0].manifest
            assert all(np.array_equal(found.arrays[k], v) for k, v in made[0].arrays.items())
        else:
            assert error.code == "bad_summary"
            assert "part.summary" in str(error)
    assert harmless < 60


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"member,score\n1,2\n", b"\0" * 99])
def test_what_is_no_summary_is_refused(data):
    with pytest.raises(InputError) as caught:
        read_summary("x.summary", data)
    assert caught.value.code == "bad_summary"


def test_a_file_that_was_cut_off_is_refused(made):
    data = made[0].to_bytes()
    for length in range(0, len(data), max(1, len(data) // 40)):
        with pytest.raises(InputError) as caught:
            read_summary("x.summary", data[:length])
        assert caught.value.code == "bad_summary"


def edited(file, arrays=None, **changes):
    """Write what a dishonest hand would: another content with the right checksums."""
    arrays = {**file.arrays, **(arrays or {})}
    sums = {name: sha256(array_bytes(array)).hexdigest() for name, array in arrays.items()}
    manifest = replace(file.manifest, arrays=sums, **changes)
    return read_summary("edited", replace(file, manifest=manifest, arrays=arrays).to_bytes())


def test_counts_that_do_not_add_up_are_refused(made):
    file = made[0]
    blocks = file.arrays["0/blocks"]
    more = blocks.copy()
    more[3, 0, 0] += 1
    bad = [
        {"arrays": {"0/blocks": more}},
        {"arrays": {"0/blocks": blocks[:, :, :1]}},
        {"arrays": {"0/blocks": blocks.astype(float)}},
        {"arrays": {"0/steps": file.arrays["0/steps"][::-1][:-1]}},
        {"arrays": {"0/single": file.arrays["0/single"].astype(np.int8)}},
        {"n_members": 701},
        {"n_holdout": -600},
        {"burn_in": 0},
        {"burn_in": 64},
        {"burn_in": 9},
        {"scores": ()},
        {"scores": (*file.manifest.scores, *file.manifest.scores)},
        {"scores": (replace(file.manifest.scores[0], infinite=-1),)},
    ]
    for change in bad:
        with pytest.raises(InputError) as caught:
            counts_of(edited(file, **change))
        assert caught.value.code == "bad_summary", change


def test_cuts_that_are_out_of_order_are_refused(made):
    file = made[1]
    edges = file.arrays["0/edges"]
    for wrong in (edges[::-1], np.full_like(edges, np.nan), edges[:-1], edges.astype(np.float32)):
        with pytest.raises(InputError):
            cuts_of(edited(file, arrays={"0/edges": wrong}))


def test_another_version_is_told(made):
    text = json.loads(zipfile.ZipFile(io.BytesIO(made[0].to_bytes())).read(TEXT_NAME))
    text["schema"] = "mipaudit.summary/2"
    with pytest.raises(InputError) as caught:
        read_summary("new.summary", pack(json.dumps(text).encode(), {}))
    assert caught.value.code == "summary_version"
    text["schema"] = "another.format/1"
    with pytest.raises(InputError) as caught:
        read_summary("new.summary", pack(json.dumps(text).encode(), {}))
    assert caught.value.code == "bad_summary"


def test_a_huge_member_is_not_unpacked(made):
    file = io.BytesIO(made[0].to_bytes())
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1/blocks.npy", b"\0" * (65 << 20))
    assert len(file.getvalue()) < 1 << 20
    with pytest.raises(InputError) as caught:
        read_summary("bomb.summary", file.getvalue())
    assert caught.value.code == "bad_summary"
