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
from mipaudit.data.formats.parquet import arrow_errors
from mipaudit.data.opening import open_part
from mipaudit.errors import MipauditError
from tests.fixtures.codes import refused
from tests.fixtures.files import held, opened
from tests.places import ROOT

ROWS = 50
WORDS = pa.array([f"w{at % 7}" for at in range(ROWS)])
DRAW = np.random.default_rng(0)
PLAIN = pa.table({"member": DRAW.random(ROWS) < 0.5, "score": DRAW.normal(size=ROWS)})
# Columns of every shape that a footer describes in its own way.
MORE = {
    "word": WORDS,
    "code": WORDS.dictionary_encode(),
    "when": pa.array(range(ROWS), pa.timestamp("us", "UTC")),
    "digits": pa.array(range(ROWS), pa.int64()).cast(pa.decimal128(22, 2)),
    "vector": pa.array([[1.0, 2.0]] * ROWS),
    "nested": pa.array([{"a": 1, "b": [1, 2]}] * ROWS),
}
MIXED = pa.table({**{name: PLAIN[name] for name in PLAIN.column_names}, **MORE})


def stored(what, **options):
    file = io.BytesIO()
    pq.write_table(what, file, **options)
    return file.getvalue()


def footer_of(data):
    size = int.from_bytes(data[-8:-4], "little")
    return data[-8 - size : -8]


FILES = {
    "plain": stored(PLAIN),
    "mixed": stored(MIXED),
    "groups": stored(MIXED, row_group_size=7, compression="zstd"),
    "index": stored(MIXED, data_page_version="2.0", write_page_index=True, store_schema=False),
}


def test_nothing_asks_pyarrow_about_a_row_group():
    """The answer may end the process: no flipped bit does only where nobody asks."""
    texts = (path.read_text("utf-8") for path in (ROOT / "mipaudit").rglob("*.py"))
    trees = [ast.parse(text) for text in texts if "row_group" in text or "iter_batches" in text]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert "iter_batches" in names
    assert "row_group" not in names


def forked(work):
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


def read_all(path, **asked):
    with opened(str(path), **asked) as source:
        found = [rows.member.size for part in source.partitions() for rows in part.batches()]
    return sum(found)


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize("name", FILES)
def test_no_flipped_bit_ends_the_process_or_loses_a_row(write, name):
    data = FILES[name]
    start = len(data) - 8 - len(footer_of(data))
    draw = random.Random(name)  # noqa: S311 - no secret
    # Those that made the schema and the statistics disagree: pyarrow's accessors abort over them.
    flips = [(start + 19, bit) for bit in range(2)] + [(start + 20, bit) for bit in range(5)]
    flips += [(draw.randrange(start, len(data)), draw.randrange(8)) for _ in range(33)]
    found = set()
    for at, bit in flips:
        changed = bytearray(data)
        changed[at] ^= 1 << bit
        path = write(bytes(changed), "s.parquet")
        found.add(forked(lambda path=path: read_all(path)))
    assert found == {2, ROWS}


def altered(rows):
    """Return a file of 50 rows whose row group says that it has ``rows``."""
    data = FILES["plain"]
    footer = footer_of(data)
    # The row group's num_rows, a zigzag varint behind total_byte_size, follows its columns.
    at = footer.rindex(b"\x16\x64")
    changed = footer[:at] + bytes([0x16, 2 * rows]) + footer[at + 2 :]
    return held(data[: -8 - len(footer)] + changed + data[-8:], "s.parquet")


@pytest.mark.parametrize("rows", [1, 18, 49, 51, 63])
def test_a_file_that_says_fewer_rows_than_it_has_is_damaged(rows):
    refused("bad_parquet", open_part, altered(rows))
    open_part(altered(50))


@pytest.mark.parametrize("codes", [[0, 2], [-1, 1]])
@pytest.mark.parametrize("words", [["a", "b"], [0.5, 1.5]])
def test_codes_beyond_the_dictionary_are_damage(codes, words):
    wild = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(words), safe=False)
    batch = pa.record_batch({"x": wild})
    refused("damaged_column", lambda: list(read_batches([batch], ["x"], "s.parquet")))


class Keys:
    """A key service for tests: it wraps keys in base64."""

    @staticmethod
    def factory(_):
        import pyarrow.parquet.encryption as pe

        class Client(pe.KmsClient):
            def wrap_key(self, key, _):
                return base64.b64encode(key)

            def unwrap_key(self, wrapped, _):
                return base64.b64decode(wrapped)

        return Client()


@pytest.fixture
def encrypted(tmp_path):
    """Return a function that writes a file of which some columns are encrypted."""
    pe = pytest.importorskip("pyarrow.parquet.encryption")

    def write(*columns, plaintext_footer=True):
        config = pe.EncryptionConfiguration(
            footer_key="footer", column_keys={"k": columns}, plaintext_footer=plaintext_footer
        )
        properties = pe.CryptoFactory(Keys.factory).file_encryption_properties(
            pe.KmsConnectionConfig(), config
        )
        path = tmp_path / "s.parquet"
        with pq.ParquetWriter(path, MIXED.schema, encryption_properties=properties) as writer:
            writer.write_table(MIXED)
        return path

    return write


@pytest.mark.parametrize("column", ["score", "member", "word"])
def test_an_encrypted_column_is_said_to_be_one(encrypted, column):
    asked = {"score_columns": ("score", "word")}
    error = refused("encrypted_parquet", read_all, encrypted(column), **asked)
    assert repr(column) in error.message


def test_an_encrypted_file_is_said_to_be_one_and_columns_that_nobody_needs_may_be(encrypted):
    refused("encrypted_parquet", read_all, encrypted("score", plaintext_footer=False))
    assert read_all(encrypted("word", "vector")) == ROWS


def test_want_of_memory_is_not_damage():
    for error in (pa.ArrowMemoryError("x"), MemoryError(), OSError(errno.ENOMEM, "x")):
        with pytest.raises(type(error)), arrow_errors("s.parquet"):
            raise error
