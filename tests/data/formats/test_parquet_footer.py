"""Footers that are damaged, contradict themselves or take a key: an answer, never an abort."""

from __future__ import annotations

import ast
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

from mipaudit.data.formats.cells import read_batches
from mipaudit.data.formats.parquet import ParquetPart, arrow_errors
from mipaudit.data.opening import ReadRequest, open_input
from mipaudit.errors import InputError, MipauditError
from tests.fixtures.files import held
from tests.places import ROOT

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


ROWS = 50
FILES = {
    "plain": stored(table()),
    "mixed": stored(mixed()),
    "groups": stored(mixed(), row_group_size=7, compression="zstd"),
    "index": stored(mixed(), data_page_version="2.0", write_page_index=True, store_schema=False),
}


def test_nothing_asks_pyarrow_about_a_row_group():
    """The answer may end the process: no flipped bit does only where nobody asks."""
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "mipaudit").rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert "iter_batches" in names
    assert "row_group" not in names


def forked(work: object) -> int:
    """Return the rows, 2 for an error of ours, 70 for another, or minus a signal."""
    pid = os.fork()
    if not pid:
        status = 70
        faulthandler.disable()
        os.close(2)  # C++ says there what it dies of
        try:
            status = work()
        except MipauditError:
            status = 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def read_all(path: str, **asked: object) -> int:
    with open_input(path, None, None, ReadRequest(**asked)) as source:
        found = [rows.member.size for part in source.partitions() for rows in part.batches()]
    return sum(found)


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize("name", FILES)
def test_no_flipped_bit_ends_the_process_or_loses_a_row(tmp_path, name):
    data = FILES[name]
    path = tmp_path / "s.parquet"
    start = len(data) - 8 - len(footer_of(data))
    draw = random.Random(name)  # noqa: S311 - no secret
    # Those that made the schema and the statistics disagree: pyarrow's accessors abort over them.
    flips = [(start + 19, bit) for bit in range(2)] + [(start + 20, bit) for bit in range(5)]
    flips += [(draw.randrange(start, len(data)), draw.randrange(8)) for _ in range(33)]
    found = set()
    for at, bit in flips:
        changed = bytearray(data)
        changed[at] ^= 1 << bit
        path.write_bytes(changed)
        found.add(forked(lambda: read_all(str(path))))
    assert found == {2, ROWS}


def altered(rows: int) -> bytes:
    """Return a file of 50 rows whose row group says that it has ``rows``."""
    data = FILES["plain"]
    footer = footer_of(data)
    # The row group's num_rows, a zigzag varint behind total_byte_size, follows its columns.
    at = footer.rindex(b"\x16\x64")
    changed = footer[:at] + bytes([0x16, 2 * rows]) + footer[at + 2 :]
    return data[: -8 - len(footer)] + changed + data[-8:]


@pytest.mark.parametrize("rows", [1, 18, 49, 51, 63])
def test_a_file_that_says_fewer_rows_than_it_has_is_damaged(rows):
    with pytest.raises(InputError) as caught:
        ParquetPart(held(altered(rows), "s.parquet"))
    assert caught.value.code == "bad_parquet"
    ParquetPart(held(altered(50), "s.parquet"))


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


@pytest.mark.parametrize("column", ["score", "member", "word"])
def test_an_encrypted_column_is_said_to_be_one(tmp_path, column):
    path = tmp_path / "s.parquet"
    encrypted_file(path, plaintext_footer=True, columns={"k": [column]})
    with pytest.raises(InputError) as caught:
        read_all(str(path), score_columns=("score", "word"))
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
