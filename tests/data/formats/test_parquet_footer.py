"""Footers that are damaged, contradict themselves or take a key: an answer, never an abort."""

from __future__ import annotations

import base64
import errno
import faulthandler
import io
import os
import random
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mipaudit.data.formats.arrow import read_batches
from mipaudit.data.formats.parquet import arrow_errors, open_parquet
from mipaudit.data.formats.parquet_footer import BadFooterError, Footer
from mipaudit.data.opening import open_input
from mipaudit.data.request import ReadRequest
from mipaudit.errors import InputError, MipauditError
from tests.fixtures.files import held

WORDS = pa.array([f"w{at % 7}" for at in range(50)])


def table(rows: int = 50) -> pa.Table:
    draw = np.random.default_rng(0)
    return pa.table({"member": draw.random(rows) < 0.5, "score": draw.normal(size=rows)})


def mixed() -> pa.Table:
    """Return columns of every shape that a footer describes in its own way."""
    more = {
        "word": WORDS,
        "code": WORDS.dictionary_encode(),
        "when": pa.array(range(50), pa.timestamp("us", "UTC")),
        "digits": pa.array(range(50), pa.int64()).cast(pa.decimal128(22, 2)),
        "vector": pa.array([[1.0, 2.0]] * 50),
        "nested": pa.array([{"a": 1, "b": [1, 2]}] * 50),
    }
    whole = table()
    for name, column in more.items():
        whole = whole.append_column(name, column)
    return whole


def stored(what: pa.Table, **options: object) -> bytes:
    file = io.BytesIO()
    pq.write_table(what, file, **options)
    return file.getvalue()


def footer_of(data: bytes) -> bytes:
    size = int.from_bytes(data[-8:-4], "little")
    return data[-8 - size : -8]


FILES = {
    "plain": stored(table()),
    "mixed": stored(mixed()),
    "pandas": stored(pa.Table.from_pandas(mixed().to_pandas())),
    "groups": stored(mixed(), row_group_size=7, compression="zstd"),
    "index": stored(mixed(), data_page_version="2.0", write_page_index=True, store_schema=False),
    "wide": stored(pa.table({f"c{at}": [0.5, 1.5] for at in range(300)})),
    "no rows": stored(table(0)),
}


@pytest.mark.parametrize("name", FILES)
def test_row_groups_are_what_pyarrow_says(name):
    metadata = pq.read_metadata(pa.BufferReader(FILES[name]))
    footer = Footer.parse(footer_of(FILES[name]), metadata.num_columns)
    assert len(footer.rows) == metadata.num_row_groups
    for group, rows in enumerate(footer.rows):
        theirs = metadata.row_group(group)
        assert rows == theirs.num_rows
        for leaf in range(metadata.num_columns):
            mine, column = footer.column(group, leaf), theirs.column(leaf)
            assert (mine.values, mine.size) == (column.num_values, column.total_compressed_size)
            assert mine.data == column.data_page_offset
            assert mine.dictionary == column.dictionary_page_offset
            assert not mine.encrypted
            assert footer.values(leaf)[group] == mine.values


@pytest.mark.parametrize("name", ["plain", "mixed", "groups"])
def test_a_footer_that_ends_early_or_holds_anything_is_refused_or_read(name):
    data = footer_of(FILES[name])
    width = pq.read_metadata(pa.BufferReader(FILES[name])).num_columns
    for end in range(0, len(data) - 1, 7):
        with pytest.raises(BadFooterError):
            Footer.parse(data[:end], width)
    draw = random.Random(1)  # noqa: S311 - no secret
    for _ in range(1000):
        changed = bytearray(data)
        for _ in range(draw.choice((1, 1, 5))):
            changed[draw.randrange(len(data))] = draw.randrange(256)
        try:
            found = Footer.parse(bytes(changed), width)
        except BadFooterError:
            continue
        assert all(0 <= rows < 2**63 for rows in found.rows)


def test_deep_nesting_and_endless_numbers_are_refused():
    for data in (b"\x1c" * 5000, b"\x15" + b"\xff" * 5000, b"\x19" * 5000, b"\x1b\x01\xbb" * 999):
        with pytest.raises(BadFooterError):
            Footer.parse(data, 1)


def forked(work: object) -> int:
    """Return 0 or 2 for an answer or an error of ours, 70 for another, or minus a signal."""
    pid = os.fork()
    if not pid:
        status = 70
        faulthandler.disable()
        os.close(2)  # C++ says there what it dies of
        try:
            work()
            status = 0
        except MipauditError:
            status = 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def read_all(path: str) -> None:
    with open_input(path, None, None, ReadRequest()) as source:
        for part in source.partitions():
            for _ in part.batches():
                pass


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize("name", ["plain", "mixed", "index"])
def test_no_flipped_bit_ends_the_process(tmp_path, name):
    data = FILES[name]
    path = tmp_path / "s.parquet"
    start = len(data) - 8 - len(footer_of(data))
    draw = random.Random(name)  # noqa: S311 - no secret
    # Those that made the schema and the statistics disagree: pyarrow aborts over them.
    flips = [(start + 19, bit) for bit in range(2)] + [(start + 20, bit) for bit in range(5)]
    flips += [(draw.randrange(start, len(data)), draw.randrange(8)) for _ in range(33)]
    found = set()
    for at, bit in flips:
        changed = bytearray(data)
        changed[at] ^= 1 << bit
        path.write_bytes(changed)
        found.add(forked(lambda: read_all(str(path))))
    assert found <= {0, 2}
    assert 2 in found


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_the_abort_of_pyarrow_is_still_there():
    """Otherwise the module that goes round it can be given up."""
    data = bytearray(FILES["plain"])
    data[len(data) - 8 - len(footer_of(data)) + 20] ^= 1
    metadata = pq.read_metadata(pa.BufferReader(bytes(data)))
    assert forked(lambda: metadata.row_group(0).column(0)) == -6


def altered(rows: int) -> bytes:
    """Return a file of 50 rows whose row group says that it has ``rows``."""
    data = FILES["plain"]
    footer = footer_of(data)
    # The row group's num_rows, a zigzag varint behind total_byte_size, follows its columns.
    at = footer.rindex(b"\x16\x64")
    changed = footer[:at] + bytes([0x16, 2 * rows]) + footer[at + 2 :]
    assert Footer.parse(changed, 2).rows == (rows,)
    return data[: -8 - len(footer)] + changed + data[-8:]


@pytest.mark.parametrize("rows", [1, 18, 49, 51, 63])
def test_a_file_that_says_fewer_rows_than_it_has_is_damaged(rows):
    with pytest.raises(InputError) as caught:
        open_parquet(held(altered(rows), "s.parquet"))
    assert caught.value.code == "bad_parquet"
    open_parquet(held(altered(50), "s.parquet"))


def test_codes_beyond_the_dictionary_are_damage():
    words = pa.array(["a", "b"])
    for codes in ([0, 2], [-1, 1]):
        wild = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), words, safe=False)
        numbers = pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32()), pa.array([0.5, 1.5]), safe=False
        )
        for array in (wild, numbers):
            batch = pa.record_batch({"x": array})
            with pytest.raises(InputError) as caught:
                list(read_batches([batch], ["x"], "s.parquet"))
            assert caught.value.code == "damaged_column"


class Keys:
    """A key service for tests: it wraps keys in base64."""

    @staticmethod
    def factory(_: object) -> object:
        import pyarrow.parquet.encryption as pe

        class Client(pe.KmsClient):
            def wrap_key(self, key: bytes, _: str) -> bytes:
                return base64.b64encode(key)

            def unwrap_key(self, wrapped: bytes, _: str) -> bytes:
                return base64.b64decode(wrapped)

        return Client()


def encrypted_file(path: object, *, plaintext_footer: bool, columns: dict[str, list[str]]) -> None:
    pe = pytest.importorskip("pyarrow.parquet.encryption")
    config = pe.EncryptionConfiguration(
        footer_key="footer", column_keys=columns, plaintext_footer=plaintext_footer
    )
    properties = pe.CryptoFactory(Keys.factory).file_encryption_properties(
        pe.KmsConnectionConfig(), config
    )
    with pq.ParquetWriter(path, mixed().schema, encryption_properties=properties) as writer:
        writer.write_table(mixed())


@pytest.mark.parametrize("column", ["score", "member"])
def test_an_encrypted_column_is_said_to_be_one(tmp_path, column):
    path = tmp_path / "s.parquet"
    encrypted_file(path, plaintext_footer=True, columns={"k": [column]})
    with pytest.raises(InputError) as caught:
        read_all(str(path))
    assert caught.value.code == "encrypted_parquet"
    assert repr(column) in caught.value.message


def test_a_file_with_encrypted_columns_is_read_without_them(tmp_path):
    path = tmp_path / "s.parquet"
    encrypted_file(path, plaintext_footer=True, columns={"k": ["word", "vector"]})
    read_all(str(path))


def test_an_encrypted_file_is_said_to_be_one(tmp_path):
    path = tmp_path / "s.parquet"
    encrypted_file(path, plaintext_footer=False, columns={"k": ["score"]})
    with pytest.raises(InputError) as caught:
        read_all(str(path))
    assert caught.value.code == "encrypted_parquet"


def test_want_of_memory_is_not_damage():
    for error in (pa.ArrowMemoryError("x"), MemoryError(), OSError(errno.ENOMEM, "x")):
        with pytest.raises(type(error)), arrow_errors("s.parquet"):
            raise error
