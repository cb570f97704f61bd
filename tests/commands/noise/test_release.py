"""A released vector: read, matched with the splits, and written with its names and order."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mipaudit.commands.noise.answer import align
from mipaudit.commands.noise.release import (
    encode_release,
    likeness,
    read_release,
    suffix_format,
    too_far,
)
from mipaudit.errors import MipauditError

PRIVATE = "topsecret"
FINITE = st.floats(allow_nan=False, allow_infinity=False)
VECTORS = st.lists(FINITE, min_size=1, max_size=8).map(np.array)
ARRAYS = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=0, max_dims=4, max_side=4), elements=FINITE
)


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    """Return a function that reads bytes as a release."""
    folder = tmp_path_factory.mktemp("release")

    def reader(content, name):
        path = folder / name
        path.write_bytes(content)
        return read_release(str(path))

    return reader


def saved(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def stored(columns):
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def loaded(content):
    return pq.read_table(io.BytesIO(content))


ONE_AND_A_HALF = [1.5, 2, 3]


@pytest.mark.parametrize(
    ("text", "names", "values", "given", "noised"),
    [
        (
            '\ufeffb;"a ""x""";  c\r\n1.5;2;3\r\n',
            ("b", 'a "x"', "c"),
            ONE_AND_A_HALF,
            [0.1, -2.0, 1e-300],
            'b,"a ""x""",c\n0.1,-2.0,1e-300\n',
        ),
        ("mean\n1.5\n2\n3\n", None, ONE_AND_A_HALF, [0.5, 1.5, 2.5], "mean\n0.5\n1.5\n2.5\n"),
        *(
            (text, None, ONE_AND_A_HALF, [0.5, 1.5, 2.5], "0.5\n1.5\n2.5\n")
            for text in ("1.5,2,3\n", "1.5\t2\t3", "1.5\r\n2\r\n3\r\n")
        ),
        # What looks like a row number gets noise too.
        ("id,a\n7,0.5\n", ("id", "a"), [7, 0.5], [7.25, 0.5], "id,a\n7.25,0.5\n"),
    ],
)
def test_csv(again, text, names, values, given, noised):
    release = again(text.encode(), "r.csv")
    assert (release.names, release.values.tolist()) == (names, values)
    assert encode_release(release, np.array(given)).decode() == noised


NARROW = {
    "f8": [0.5],
    "f4": pa.array([0.5], pa.float32()),
    "n": [3],
    "b": [True],
    "f2": pa.array(np.array([0.5], np.float16)),
    "d": pa.array([1], pa.decimal128(5, 2)),
}
COLUMN = (pa.float32(), pa.float64(), pa.int32())
LISTS = (
    *(pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.int16())),
    pa.list_(pa.float64(), 2),
)


@pytest.mark.parametrize(
    ("columns", "names", "values"),
    [
        (NARROW, tuple(NARROW), [0.5, 0.5, 3, 1, 0.5, 1]),
        *(({"w": pa.array([1, 2, 3], kind)}, None, [1, 2, 3]) for kind in COLUMN),
        # Lists become columns.
        *(
            (
                {"a": [0.5], "theta": pa.array([[1, 2]], kind), "z": [3]},
                ("a", "theta[0]", "theta[1]", "z"),
                [0.5, 1, 2, 3],
            )
            for kind in LISTS
        ),
    ],
)
def test_parquet(again, columns, names, values):
    release = again(stored(columns), "r.parquet")
    assert (release.names, release.values.tolist()) == (names, values)
    noised = [value + 1 / 3 for value in values]
    written = loaded(encode_release(release, np.array(noised)))
    assert set(written.schema.types) == {pa.float64()}
    if names is None:
        assert written.to_pydict() == {"w": noised}
    else:
        assert written.to_pylist() == [dict(zip(names, noised, strict=True))]


@pytest.mark.parametrize("shape", [(), (1,), (6,), (2, 3), (3, 1, 2)])
@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "f8", "i4", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_array_keeps_its_shape(again, shape, dtype, order):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype, order=order)
    release = again(saved(array), "r.npy")
    assert release.names is None
    assert release.values.tolist() == array.ravel().astype(float).tolist()
    values = release.values + 0.25
    noised = np.load(io.BytesIO(encode_release(release, values)))
    assert (noised.shape, noised.dtype) == (shape, np.float64)
    assert noised.ravel().tolist() == values.tolist()


@pytest.mark.parametrize(
    ("text", "noised"),
    [
        ("3", "1.5"),
        ("[1, 2.5, true]", "[1.5, 3.0, 1.5]"),
        ("[[1, 2], [3, 4]]", "[[1.5, 2.5], [3.5, 4.5]]"),
        ("[[[1]], [[2]]]", "[[[1.5]], [[2.5]]]"),
        ('{"b": 1, "a": 2}', '{"b": 1.5, "a": 2.5}'),
        ('[{"b": 1, "a": 2}]', '{"b": 1.5, "a": 2.5}'),
        ('{"\\u001b[2J": 1}', '{"\\u001b[2J": 1.5}'),
    ],
)
def test_json(again, text, noised):
    found = json.loads(noised)
    numbers = np.ravel(list(found.values()) if isinstance(found, dict) else found)
    assert encode_release(again(text.encode(), "r.json"), numbers).decode() == noised + "\n"


# By the code of the error: contents of CSV, of JSON, of numpy arrays, and columns of Parquet.
EMPTY = pa.array([], pa.float64())
NO_RELEASE = {
    "not_a_vector": (
        ["a,b\n1,987654\n3,4\n", "1,987654\n3,4\n"],
        ["[[1, 2], [987654]]", "[[1, 2], 987654]", "[" * 70 + "1" + "]" * 70],
        [],
        [{"a": [1, 2], "b": [3, 987654]}, {"a": [[1], [987654]]}],
    ),
    "text_column": (
        ["a,b\n1,topsecret\n"],
        ['{"a": 1, "b": "topsecret"}', '{"a": 1, "b": [987654]}', '["topsecret"]'],
        [],
        [{"a": [1], "b": [PRIVATE]}, {"a": [1], "b": [[[PRIVATE]]]}],
    ),
    "unparsable": (["a\n1\n2\ntopsecret\n"], ['[1, "topsecret"]', '[1, {"a": 987654}]'], [], []),
    "missing_cells": (
        ["a,b\n1,\n"],
        ["[1, null]", '{"a": NaN}', "null"],
        [np.array([0.5, np.nan])],
        [{"a": [0.5, None]}],
    ),
    "infinite_cells": (["a\n1e400\n2\n"], ["[1e999]"], [np.float32("inf")], []),
    "large_integers": ([], ["[9007199254740993]"], [np.array([[2**53 + 1]])], []),
    "pickled": ([], [], [np.array([PRIVATE], dtype=object)], []),
    "not_numbers": ([], [], [np.array([1j])], []),
    "bad_json": ([], ["[1, 2", "[" * 100_000], [], []),
    "duplicate_columns": (["a,a\n1,2\n"], ['{"a": 1, "a": 987654}'], [], []),
    "no_rows": (["a,b\n"], ["[]", "[[], []]", "{}"], [np.ones((0, 3))], [{"a": EMPTY}]),
    "no_numeric_column": ([], [], [], [{"a": pa.array([[]], pa.list_(pa.int8()))}]),
    "ragged_rows": (["a,b\n1,2,987654\n"], [], [], []),
    "no_header": (["topsecret,1\n2,3\n", '1,"2\n3"\n4,5\n'], [], [], []),
    "empty_file": (["", "\n\n"], [], [], []),
}
ENDS = {"csv": str.encode, "json": str.encode, "npy": saved, "parquet": stored}
CUT = {"bad_npy": ("npy", saved(np.ones(9))[:-1]), "bad_parquet": ("parquet", stored({"a": [0.5]}))}
FILES = [
    *((code, end, content) for code, (end, content) in CUT.items()),
    *(
        (code, end, make(one))
        for code, contents in NO_RELEASE.items()
        for (end, make), made in zip(ENDS.items(), contents, strict=True)
        for one in made
    ),
]


@pytest.mark.parametrize(("code", "end", "content"), FILES)
def test_what_is_no_release(tmp_path, code, end, content):
    path = tmp_path / f"r.{end}"
    path.write_bytes(content[:-9] if code == "bad_parquet" else content)
    with pytest.raises(MipauditError) as caught:
        read_release(str(path))
    error = caught.value
    assert (error.code, error.__cause__) == (code, None)
    assert error.__context__ is None or error.__suppress_context__
    said = str(error).replace(str(path), "")
    assert not [value for value in (PRIVATE, "987654", "--score-col") if value in said]


def test_places_of_bad_numbers(again):
    for content, name, said in (
        (b"[0.5, 1.5, null]", "r.json", "in 1 row, first in data row 3"),
        (b"a,b\n0.5,inf\n", "r.csv", "column 'b'"),
    ):
        with pytest.raises(MipauditError, match=said):
            again(content, name)


def test_coordinates_are_matched_by_name_or_by_position(again):
    release = again(b"b,c,a\n2,3,1\n", "r.csv")
    places = align(release, ("a", "b", "c"))
    assert release.values[places].tolist() == [1, 2, 3]
    noised = np.empty(3)
    noised[places] = [10, 20, 30]
    assert encode_release(release, noised) == b"b,c,a\n20.0,30.0,10.0\n"
    column, named = again(b"mean\n2\n3\n", "r.csv"), again(b"b,a\n2,3\n", "r.csv")
    assert align(column, ("a", "b")).tolist() == [0, 1]
    assert align(named, ("c0", "c1"), named=False).tolist() == [0, 1]
    for one, columns, options in (
        (column, ("a", "b", "c"), {}),
        (named, ("c0",), {"named": False}),
    ):
        with pytest.raises(
            MipauditError, match=rf"release: 2; columns of the splits: {len(columns)}\."
        ):
            align(one, columns, **options)


def test_coordinates_that_do_not_match(again):
    release = again(b"b,a,Unnamed: 0\n2,3,0\n", "r.csv")
    with pytest.raises(MipauditError) as caught:
        align(release, ("a", "b", "x\x1b", "y", "z", "w"))
    assert caught.value.code == "columns_differ"
    assert (
        "the release lacks 4 columns ('x\\x1b', 'y', 'z' and others) of the splits, and "
        "the splits lack column 'Unnamed: 0' of the release." in caught.value.message
    )
    with pytest.raises(MipauditError, match=r"csv: the splits lack 2 columns 'b', 'Unnamed: 0' of"):
        align(release, ("a",))


@pytest.mark.parametrize("values", [[1.0], [1.0, np.nan], [np.inf, 1.0], [[1.0, 2.0]]])
def test_values_must_fit(again, values):
    with pytest.raises(ValueError, match="finite numbers in its own shape"):
        encode_release(again(b"a,b\n1,2\n", "r.csv"), np.array(values))


def test_format_by_suffix():
    names = ("a.csv", "x.y/a.CSV", "a.parquet", "a.npy", "a.json", "a.txt", "csv")
    expected = ["csv", "csv", "parquet", "npy", "json", None, None]
    assert [suffix_format(name) for name in names] == expected


@given(VECTORS)
def test_vectors_come_back(again, values):
    header = ";".join(f"w{at}" for at in range(values.size)) + "\n"
    for start, name in (
        (",".join(["0.5"] * values.size).encode(), "r.csv"),
        ((header + ";".join(["0.5"] * values.size)).encode(), "r.csv"),
        (b"w\n" + b"0.5\n" * values.size, "r.csv"),
        (stored({"w": values}), "r.parquet"),
    ):
        release = again(start, name)
        found = again(encode_release(release, values), name)
        assert found.names == release.names
        assert np.array_equal(found.values, values)
        assert np.array_equal(np.signbit(found.values), np.signbit(values))


@given(ARRAYS)
def test_arrays_and_lists_come_back(again, array):
    values = array.ravel()
    release = again(saved(array), "r.npy")
    assert np.array_equal(release.values, values)
    assert np.array_equal(np.load(io.BytesIO(encode_release(release, -values))), -array)
    release = again(json.dumps(np.ones(array.shape).tolist()).encode(), "r.json")
    lists = again(encode_release(release, values), "r2.json")
    assert np.array_equal(lists.values, values)
    assert lists.shape == array.shape


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), FINITE, min_size=1, max_size=6))
def test_names_come_back(again, numbers):
    values, names = np.array(list(numbers.values())), tuple(numbers)
    release = again(json.dumps(dict.fromkeys(numbers, 0)).encode(), "r.json")
    assert release.names == names
    assert list(json.loads(encode_release(release, values)).items()) == list(numbers.items())
    if all(name and "\0" not in name for name in names):
        release = again(stored({name: [0.0] for name in names}), "r.parquet")
        found = again(encode_release(release, values), "r2.parquet")
        assert release.names == found.names == names
        assert found.values.tolist() == values.tolist()


LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "correlated": lambda rng, shape: (
        3 * rng.normal(size=(shape[0], 1)) + 0.1 * rng.normal(size=shape)
    ),
    "cauchy": lambda rng, shape: rng.standard_cauchy(size=shape),
    "counts": lambda rng, shape: rng.poisson(2, size=shape).astype(float),
    "rare": lambda rng, shape: (rng.random(shape) < 0.02).astype(float),
}


def compared(splits, release):
    """Return how a release lies among its splits, and whether it is beyond, or unlike them."""
    ratio, far, odd, equal = likeness(splits, release)
    beyond, unlike = ratio > 1 or odd.size > 0, too_far(len(splits)) < ratio < np.inf
    found = {"ratio": ratio, "far": far, "odd": odd, "equal": equal}
    return SimpleNamespace(**found, beyond=beyond, unlike=unlike)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("splits", "coordinates"), [(8, 1), (8, 30), (40, 3)])
def test_one_more_split_is_seldom_beyond_and_hardly_refused(law, splits, coordinates):
    rng = np.random.default_rng([splits, coordinates, len(law)])
    times, beyond, unlike = 400, 0, 0
    for _ in range(times):
        drawn = LAWS[law](rng, (splits + 1, coordinates))
        found = compared(drawn[1:], drawn[0])
        beyond += found.ratio > 1
        unlike += found.unlike
    most = 2 / (splits + 1)  # two figures, each an exact rank test
    assert beyond <= times * most + 3 * np.sqrt(times * most)
    assert unlike <= times * (0.04 if law == "cauchy" else 0.003)


@pytest.mark.parametrize("splits", [8, 20, 200])
@pytest.mark.parametrize("coordinates", [1, 5, 300])
def test_another_unit_of_one_coordinate_is_seen(splits, coordinates):
    rng = np.random.default_rng([splits, coordinates])
    drawn = 50 + rng.normal(size=(splits + 1, coordinates))
    assert not compared(drawn[1:], drawn[0]).unlike
    # Of few splits and many coordinates one has by chance a split that is far by itself.
    for factor in (1000, -50) if splits < 20 else (1000, 0.001, -1, 0.45):
        other = drawn[0].copy()
        other[-1] *= factor
        found = compared(drawn[1:], other)
        assert found.unlike
        assert list(found.far) == [coordinates - 1]


def test_another_order_and_a_little_of_every_coordinate_are_seen():
    drawn = np.array([50.0, 3.0, -20.0]) + np.random.default_rng(1).normal(size=(31, 3))
    found = compared(drawn[1:], drawn[0][::-1])
    assert (found.unlike, list(found.far)) == (True, [0, 2])
    drawn = np.random.default_rng(2).normal(size=(101, 400))
    found = compared(drawn[1:], drawn[0] + 4)
    assert found.unlike
    assert found.far.size < 400


def test_scale_and_place_change_nothing():
    drawn = np.random.default_rng(3).normal(size=(21, 4))
    plain = compared(drawn[1:], drawn[0])
    moved = compared(1e40 * drawn[1:] + 5e41, 1e40 * drawn[0] + 5e41)
    assert moved.ratio == pytest.approx(plain.ratio, rel=1e-6)
    assert compared(drawn[1:], np.full(4, -1.7e308)).unlike


def test_equal_and_constant_coordinates():
    splits = np.column_stack([np.random.default_rng(4).normal(size=30), np.full(30, 7.0)])
    same, odd = compared(splits, splits[17]), compared(splits, np.array([splits[0, 0], 8.0]))
    assert (list(same.equal), same.beyond) == ([17], False)
    # Beyond a constant nothing is known of how far is far.
    assert (list(odd.odd), odd.beyond, odd.unlike) == ([1], True, False)
    alike = compared(np.ones((5, 1)), np.array([2.0]))
    assert (alike.beyond, alike.unlike) == (True, False)


def test_fewer_splits_need_more():
    assert [too_far(count) for count in (2, 5, 8, 20, 500)] == [10_000, 30, 5, 3, 3]
