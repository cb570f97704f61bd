"""The store between the passes, and the hashes of identities."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.data.column import (
    ChunkStore,
    Hashes,
    Labels,
    Numbers,
    Vocabulary,
    column_hashes,
    column_missing,
    column_scores,
    compact_column,
    mix64,
    words64,
)


def columns():
    words = Vocabulary(("b", "a"))
    return {
        "x": Numbers(values=np.array([0.5, -1.5, np.inf])),
        "n": Numbers(values=np.array([1, 2, 300]), missing=np.array([False, True, False])),
        "b": Numbers(values=np.array([True, False, True])),
        "w": Labels(codes=np.array([0, -1, 1], dtype=np.int8), vocabulary=words),
        "h": Hashes(values=np.array([1, 2, 2**64 - 1], dtype=np.uint64)),
    }


@pytest.mark.parametrize("pread", [True, False])
@pytest.mark.parametrize("in_memory", [0, 30, 60, 1 << 20])
def test_what_is_stored_comes_back(in_memory, pread, monkeypatch):
    if not pread:  # as on Windows
        monkeypatch.delattr(os, "pread")
    store = ChunkStore(in_memory=in_memory)
    for _ in range(3):
        store.append(columns(), 3)
        store.get(0, ("x",))
    for at in range(3):
        for name, column in columns().items():
            found = store.get(at, (name,))[name]
            assert type(found) is type(column)
            np.testing.assert_array_equal(column_scores(found), column_scores(column))
            missing = (column_missing(found), column_missing(column))
            assert (missing[0] is None) == (missing[1] is None)
    assert (store._file is None) == (in_memory == 1 << 20)
    store.close()


def test_temporary_file_is_unlinked_and_private():
    import stat

    store = ChunkStore(in_memory=0)
    store.append(columns(), 3)
    state = os.fstat(store._file.fileno())
    assert state.st_nlink == 0
    assert stat.S_IMODE(state.st_mode) == 0o600
    store.close()


def test_empty_chunks():
    store = ChunkStore(in_memory=0)
    store.append({"x": Numbers(values=np.empty(0))}, 0)
    assert store.rows == []


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_compacting_changes_no_value(values):
    column = compact_column(Numbers(values=np.array(values, dtype=np.int64)))
    assert column.values.tolist() == values


def test_splitmix_is_the_published_one():
    # The first outputs of the reference implementation with seed 0.
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        states = np.arange(3, dtype=np.uint64) * golden
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert mix64(states).tolist() == expected


def test_hash_of_words_is_fixed_for_ever():
    from hashlib import blake2b

    word = int.from_bytes(blake2b(b"caf\xc3\xa9", digest_size=8).digest(), "little")
    assert words64(("café", "")).tolist()[0] == word
    assert words64(()).size == 0


def test_equal_numbers_hash_equally_whatever_their_type():
    types = (np.int8, np.int64, np.uint64, np.float32, np.float64, np.bool_)
    values = [column_hashes(Numbers(values=np.array([0, 1], dtype=t))).values for t in types]
    assert len({tuple(v.tolist()) for v in values}) == 1
    halves = column_hashes(Numbers(values=np.array([0.5, 1.5, 0.5]))).values
    assert halves[0] == halves[2] != halves[1]


def test_scores_of_words_do_not_depend_on_the_vocabulary():
    one = Labels(codes=np.array([0, 1, -1]), vocabulary=Vocabulary(("a", "b")))
    other = Labels(codes=np.array([1, 0, -1]), vocabulary=Vocabulary(("b", "a")))
    np.testing.assert_array_equal(column_scores(one), column_scores(other))
    assert np.isnan(column_scores(one)[2])
