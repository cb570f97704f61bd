"""A released vector: read, matched with the splits, and written with its names and order."""

from __future__ import annotations

import io
import json

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


@pytest.fixture
def refused():
    """Return a function that reads a release, and returns the error that it must end in."""

    def reader(code, path):
        with pytest.raises(MipauditError) as caught:
            read_release(str(path))
        error = caught.value
        assert error.code == code
        assert error.__cause__ is None
        assert error.__context__ is None or error.__suppress_context__
        said = str(error).replace(str(path), "")
        for value in (PRIVATE, "987654", "--score-col"):
            assert value not in said
        return error

    return reader


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


def stored(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def loaded(content):
    return pq.read_table(io.BytesIO(content))


def test_csv_row(again):
    text = '\ufeffb;"a ""x""";  c\r\n1,5;2;3\r\n'.replace("1,5", "1.5")
    release = again(text.encode(), "r.csv")
    assert release.names == ("b", 'a "x"', "c")
    assert release.values.tolist() == [1.5, 2, 3]
    assert release.source.rows == 1
    noised = encode_release(release, np.array([0.1, -2.0, 1e-300]))
    assert noised.decode() == 'b,"a ""x""",c\n0.1,-2.0,1e-300\n'


def test_csv_column(again):
    release = again(b"mean\n1.5\n2\n3\n", "r.csv")
    assert release.names is None
    assert release.values.tolist() == [1.5, 2, 3]
    assert encode_release(release, np.array([0.5, 1.5, 2.5])) == b"mean\n0.5\n1.5\n2.5\n"


@pytest.mark.parametrize("text", ["1.5,2,3\n", "1.5\t2\t3", "1.5\r\n2\r\n3\r\n"])
def test_csv_without_a_header(again, text):
    release = again(text.encode(), "r.csv")
    assert release.names is None
    assert release.values.tolist() == [1.5, 2, 3]
    assert encode_release(release, np.array([0.5, 1.5, 2.5])) == b"0.5\n1.5\n2.5\n"


def test_what_looks_like_a_row_number_gets_noise_too(again):
    release = again(b"id,a\n7,0.5\n", "r.csv")
    assert release.names == ("id", "a")
    assert encode_release(release, np.array([7.25, 0.5])) == b"id,a\n7.25,0.5\n"


def test_parquet_row(again):
    table = pa.table(
        {
            "f8": [0.5],
            "f4": pa.array([0.5], pa.float32()),
            "f2": pa.array(np.array([0.5], np.float16)),
            "n": [3],
            "b": [True],
            "d": pa.array([1], pa.decimal128(5, 2)),
        }
    )
    release = again(stored(table), "r.parquet")
    assert release.names == tuple(table.column_names)
    assert release.values.tolist() == [0.5, 0.5, 0.5, 3, 1, 1]
    noised = loaded(encode_release(release, np.full(6, 1 / 3)))
    assert noised.schema.types == [pa.float64()] * 6
    assert noised.to_pylist() == [dict.fromkeys(table.column_names, 1 / 3)]


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64(), pa.int32()])
def test_parquet_column(again, kind):
    release = again(stored(pa.table({"w": pa.array([1, 2, 3], kind)})), "r.parquet")
    assert release.names is None
    assert release.values.tolist() == [1, 2, 3]
    noised = loaded(encode_release(release, np.array([0.5, 1.5, 2.5])))
    assert noised.schema.types == [pa.float64()]
    assert noised.to_pydict() == {"w": [0.5, 1.5, 2.5]}


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float32()),
        pa.large_list(pa.float64()),
        pa.list_(pa.float64(), 2),
        pa.list_(pa.int16()),
    ],
)
def test_parquet_lists_become_columns(again, kind):
    table = pa.table({"a": [0.5], "theta": pa.array([[1, 2]], kind), "z": [3]})
    release = again(stored(table), "r.parquet")
    assert release.names == ("a", "theta[0]", "theta[1]", "z")
    assert release.values.tolist() == [0.5, 1, 2, 3]
    noised = loaded(encode_release(release, np.array([1.5, 2.5, 3.5, 4.5])))
    assert noised.to_pylist() == [{"a": 1.5, "theta[0]": 2.5, "theta[1]": 3.5, "z": 4.5}]


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
    assert noised.shape == shape
    assert noised.dtype == np.float64
    assert noised.ravel().astype(float).tolist() == values.tolist()


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
    release = again(text.encode(), "r.json")
    found = encode_release(release, np.array(json_numbers(noised)))
    assert found.decode() == noised + "\n"


def json_numbers(text):
    def flat(item):
        if isinstance(item, dict):
            item = list(item.values())
        return [x for part in item for x in flat(part)] if isinstance(item, list) else [item]

    return flat(json.loads(text))


@pytest.mark.parametrize(
    ("code", "name", "content"),
    [
        ("not_a_vector", "r.csv", b"a,b\n1,987654\n3,4\n"),
        ("not_a_vector", "r.csv", b"1,987654\n3,4\n"),
        ("not_a_vector", "r.parquet", stored(pa.table({"a": [1, 2], "b": [3, 987654]}))),
        ("not_a_vector", "r.parquet", stored(pa.table({"a": [[1], [987654]]}))),
        ("not_a_vector", "r.json", b"[[1, 2], [987654]]"),
        ("not_a_vector", "r.json", b"[[1, 2], 987654]"),
        ("not_a_vector", "r.json", b"[" * 70 + b"1" + b"]" * 70),
        ("text_column", "r.csv", b"a,b\n1,topsecret\n"),
        ("text_column", "r.parquet", stored(pa.table({"a": [1], "b": [PRIVATE]}))),
        ("text_column", "r.parquet", stored(pa.table({"a": [1], "b": [[[PRIVATE]]]}))),
        ("text_column", "r.json", b'{"a": 1, "b": "topsecret"}'),
        ("text_column", "r.json", b'{"a": 1, "b": [987654]}'),
        ("text_column", "r.json", b'["topsecret"]'),
        ("unparsable", "r.json", b'[1, "topsecret"]'),
        ("unparsable", "r.json", b'[1, {"a": 987654}]'),
        ("unparsable", "r.csv", b"a\n1\n2\ntopsecret\n"),
        ("missing_cells", "r.csv", b"a,b\n1,\n"),
        ("missing_cells", "r.json", b"[1, null]"),
        ("missing_cells", "r.json", b'{"a": NaN}'),
        ("missing_cells", "r.json", b"null"),
        ("missing_cells", "r.npy", saved(np.array([0.5, np.nan]))),
        ("missing_cells", "r.parquet", stored(pa.table({"a": [0.5, None]}))),
        ("infinite_cells", "r.csv", b"a\n1e400\n2\n"),
        ("infinite_cells", "r.npy", saved(np.float32("inf"))),
        ("infinite_cells", "r.json", b"[1e999]"),
        ("large_integers", "r.json", b"[9007199254740993]"),
        ("large_integers", "r.npy", saved(np.array([[2**53 + 1]]))),
        ("pickled", "r.npy", saved(np.array([PRIVATE], dtype=object))),
        ("not_numbers", "r.npy", saved(np.array([1j]))),
        ("bad_npy", "r.npy", saved(np.ones(9))[:-1]),
        ("bad_parquet", "r.parquet", stored(pa.table({"a": [0.5]}))[:-9]),
        ("bad_json", "r.json", b"[1, 2"),
        ("bad_json", "r.json", b"[" * 100_000),
        ("duplicate_columns", "r.json", b'{"a": 1, "a": 987654}'),
        ("duplicate_columns", "r.csv", b"a,a\n1,2\n"),
        ("no_rows", "r.json", b"[]"),
        ("no_rows", "r.json", b"[[], []]"),
        ("no_rows", "r.json", b"{}"),
        ("no_rows", "r.npy", saved(np.ones((0, 3)))),
        ("no_rows", "r.csv", b"a,b\n"),
        ("no_rows", "r.parquet", stored(pa.table({"a": pa.array([], pa.float64())}))),
        (
            "no_numeric_column",
            "r.parquet",
            stored(pa.table({"a": pa.array([[]], pa.list_(pa.int8()))})),
        ),
        ("ragged_rows", "r.csv", b"a,b\n1,2,987654\n"),
        ("no_header", "r.csv", b"topsecret,1\n2,3\n"),
        ("empty_file", "r.csv", b""),
        ("empty_file", "r.csv", b"\n\n"),
        ("no_header", "r.csv", b'1,"2\n3"\n4,5\n'),
    ],
)
def test_what_is_no_release(write, refused, code, name, content):
    refused(code, write(content, name))


def test_places_of_bad_numbers(write, refused):
    path = write("[0.5, 1.5, null]", "r.json")
    assert "in 1 row, first in data row 3" in refused("missing_cells", path).message
    path = write("a,b\n0.5,inf\n", "r.csv")
    assert "column 'b'" in refused("infinite_cells", path).message


def test_coordinates_are_matched_by_name(again):
    release = again(b"b,c,a\n2,3,1\n", "r.csv")
    places = align(release, ("a", "b", "c"))
    assert release.values[places].tolist() == [1, 2, 3]
    noised = np.empty(3)
    noised[places] = [10, 20, 30]
    assert encode_release(release, noised) == b"b,c,a\n20.0,30.0,10.0\n"


def test_coordinates_without_names_are_matched_by_position(again):
    column = again(b"mean\n2\n3\n", "r.csv")
    assert align(column, ("a", "b")).tolist() == [0, 1]
    named = again(b"b,a\n2,3\n", "r.csv")
    assert align(named, ("c0", "c1"), named=False).tolist() == [0, 1]
    for release, columns, options in (
        (column, ("a", "b", "c"), {}),
        (named, ("c0",), {"named": False}),
    ):
        with pytest.raises(MipauditError, match=rf"2 numbers, and the splits have {len(columns)} "):
            align(release, columns, **options)


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


def test_values_must_fit(again):
    release = again(b"a,b\n1,2\n", "r.csv")
    for values in ([1.0], [1.0, np.nan], [np.inf, 1.0], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="finite numbers in its own shape"):
            encode_release(release, np.array(values))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.csv", "csv"),
        ("x.y/a.CSV", "csv"),
        ("a.parquet", "parquet"),
        ("a.npy", "npy"),
        ("a.json", "json"),
        ("a.txt", None),
        ("csv", None),
    ],
)
def test_format_by_suffix(path, expected):
    assert suffix_format(path) == expected


@given(VECTORS)
def test_csv_round_trip(again, values):
    for header, between in (
        ("", ","),
        (";".join(f"w{at}" for at in range(values.size)) + "\n", ";"),
    ):
        start = (header + between.join(["0.5"] * values.size) + "\n").encode()
        release = again(start, "r.csv")
        found = again(encode_release(release, values), "r2.csv")
        assert found.names == release.names
        assert np.array_equal(found.values, values)
        assert np.array_equal(np.signbit(found.values), np.signbit(values))


@given(VECTORS)
def test_column_round_trip(again, values):
    release = again(b"w\n" + b"0.5\n" * values.size, "r.csv")
    assert np.array_equal(again(encode_release(release, values), "r2.csv").values, values)
    release = again(stored(pa.table({"w": values})), "r.parquet")
    assert np.array_equal(again(encode_release(release, values), "r2.parquet").values, values)


@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=0, max_dims=4, max_side=4),
        elements=FINITE,
    )
)
def test_array_round_trip(again, array):
    values = array.ravel()
    release = again(saved(array), "r.npy")
    assert np.array_equal(release.values, values)
    assert np.array_equal(np.load(io.BytesIO(encode_release(release, -values))), -array)


@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=0, max_dims=4, max_side=4),
        elements=FINITE,
    )
)
def test_list_round_trip(again, array):
    release = again(json.dumps(np.ones(array.shape).tolist()).encode(), "r.json")
    lists = again(encode_release(release, array.ravel()), "r2.json")
    assert np.array_equal(lists.values, array.ravel())
    assert lists.shape == array.shape


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), FINITE, min_size=1, max_size=6))
def test_object_round_trip(again, numbers):
    release = again(json.dumps(dict.fromkeys(numbers, 0)).encode(), "r.json")
    assert release.names == tuple(numbers)
    written = encode_release(release, np.array(list(numbers.values())))
    assert json.loads(written) == numbers
    assert list(json.loads(written)) == list(numbers)


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
        FINITE,
        min_size=1,
        max_size=6,
    )
)
def test_parquet_round_trip(again, numbers):
    table = pa.table({name: [0.0] for name in numbers})
    release = again(stored(table), "r.parquet")
    assert release.names == tuple(numbers)
    found = again(encode_release(release, np.array(list(numbers.values()))), "r2.parquet")
    assert found.names == tuple(numbers)
    assert found.values.tolist() == list(numbers.values())


LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "correlated": lambda rng, shape: (
        3 * rng.normal(size=(shape[0], 1)) + 0.1 * rng.normal(size=shape)
    ),
    "cauchy": lambda rng, shape: rng.standard_cauchy(size=shape),
    "counts": lambda rng, shape: rng.poisson(2, size=shape).astype(float),
    "rare": lambda rng, shape: (rng.random(shape) < 0.02).astype(float),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("splits", "coordinates"), [(8, 1), (8, 30), (40, 3)])
def test_one_more_split_is_seldom_beyond_and_hardly_refused(law, splits, coordinates):
    rng = np.random.default_rng([splits, coordinates, len(law)])
    times, beyond, unlike = 400, 0, 0
    for _ in range(times):
        drawn = LAWS[law](rng, (splits + 1, coordinates))
        found = likeness(drawn[1:], drawn[0])
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
    released = drawn[0].copy()
    assert not likeness(drawn[1:], released).unlike
    # Of few splits and many coordinates one has by chance a split that is far by itself.
    for factor in (1000, -50) if splits < 20 else (1000, 0.001, -1, 0.45):
        other = released.copy()
        other[-1] *= factor
        found = likeness(drawn[1:], other)
        assert found.unlike
        assert list(found.far) == [coordinates - 1]


def test_another_order_of_the_coordinates_is_seen():
    rng = np.random.default_rng(1)
    drawn = np.array([50.0, 3.0, -20.0]) + rng.normal(size=(31, 3))
    found = likeness(drawn[1:], drawn[0][::-1])
    assert found.unlike
    assert list(found.far) == [0, 2]


def test_a_little_of_every_coordinate_is_seen():
    rng = np.random.default_rng(2)
    drawn = rng.normal(size=(101, 400))
    found = likeness(drawn[1:], drawn[0] + 4)
    assert found.unlike
    assert found.far.size < 400


def test_scale_and_place_change_nothing():
    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(21, 4))
    plain = likeness(drawn[1:], drawn[0])
    moved = likeness(1e40 * drawn[1:] + 5e41, 1e40 * drawn[0] + 5e41)
    assert moved.ratio == pytest.approx(plain.ratio, rel=1e-6)
    assert likeness(drawn[1:], np.full(4, -1.7e308)).unlike


def test_equal_and_constant_coordinates():
    rng = np.random.default_rng(4)
    splits = np.column_stack([rng.normal(size=30), np.full(30, 7.0)])
    same = likeness(splits, splits[17])
    assert list(same.equal) == [17]
    assert not same.beyond
    odd = likeness(splits, np.array([splits[0, 0], 8.0]))
    assert list(odd.odd) == [1]
    assert odd.beyond
    assert not odd.unlike  # nothing is known of how far is far
    alike = likeness(np.ones((5, 1)), np.array([2.0]))
    assert alike.beyond
    assert not alike.unlike


def test_fewer_splits_need_more():
    assert [too_far(count) for count in (2, 5, 8, 20, 500)] == [10_000, 30, 5, 3, 3]
