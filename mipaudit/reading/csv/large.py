"""CSV files of any size: by Arrow where the text is plain, else by pandas in blocks.

pandas fills short rows with nulls and ignores cells beyond the last column. Three cheap
sums catch both; only when they do not add up are the rows walked one by one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.reading.bytes.unpacked import plain_stream
from mipaudit.reading.columns.column import Column, Kind, Labels, Numbers, Vocabulary, column_hashes
from mipaudit.reading.columns.column_cache import (
    ChunkStore,
    column_arrays,
    compact_column,
    slice_column,
)
from mipaudit.reading.columns.layout import merged_kind
from mipaudit.reading.csv.cells import (
    MISSING,
    categories,
    column_kind,
    exact_numbers,
    from_numbers,
    needs_text,
    parse_keys,
    parse_numbers,
    spread,
)
from mipaudit.reading.csv.dialect import Dialect, csv_rows, diagnose_csv
from mipaudit.reading.csv.stream import (
    CountedStream,
    NotPlainError,
    Piece,
    PlainReader,
    in_order,
    pieces,
)
from mipaudit.reading.source.part import CHUNK_ROWS
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    import pandas as pd

    from mipaudit.reading.bytes.blob import Blob, Format

# Rows that pandas parses at once: fewer cost more per row, more need more memory.
_BLOCK_ROWS: Final = 4 * CHUNK_ROWS
# And fewer rows where they are long.
_BLOCK_BYTES: Final = 32 << 20
# Python reads "nan" in any case, with a sign and after a space; pandas only as it is listed.
_NAN: Final = frozenset(
    blank + sign + "".join(letters)
    for blank in ("", " ")
    for sign in ("", "+", "-")
    for letters in product("nN", "aA", "nN")
)
_NUMBERS: Final = frozenset({"float", "integer", "empty"})
# pandas' words where its stream raised something that pandas then lost.
_LOST: Final = "Error tokenizing data. C error: Calling read(nbytes)"


class SeenLateError(Exception):
    """Columns that must be read otherwise than their first rows said.

    Attributes:
        exact: those whose numbers must be read as text first.
        words: those of keys that are no numbers, or not written as those always are.
    """

    def __init__(self, exact: frozenset[str], words: frozenset[str]) -> None:
        """Keep the names."""
        super().__init__()
        self.exact, self.words = exact, words


@dataclass(slots=True, kw_only=True)
class LargeCsv:
    """A CSV file to parse, once, and what was seen of it.

    ``kinds`` are those of its first rows. ``exact`` columns are read as text first, and then as
    numbers, which tells what a float64 takes from them. ``keys`` name records, persons or groups,
    as `parse_keys` reads them. ``row_bytes`` is about the length of a row, at least 1. ``threads``
    parse plain text.
    """

    blob: Blob
    format: Format
    dialect: Dialect
    kinds: Mapping[str, Kind]
    exact: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    row_bytes: int = 1
    threads: int = 1
    _wanted: list[str] = field(init=False, default_factory=list)
    _hashed: Collection[str] = field(init=False, default=())
    _rows: int = field(init=False, default=0)
    _last_missing: bool = field(init=False, default=False)
    _found: dict[str, set[Kind]] = field(init=False, default_factory=dict)
    _doubtful: set[str] = field(init=False, default_factory=set)
    _forms: dict[str, set[str]] = field(init=False, default_factory=dict)

    def parse(
        self, store: ChunkStore, names: Collection[str], hashed: Collection[str]
    ) -> dict[str, Kind]:
        """Parse the named columns into ``store``; return the kinds found in all rows.

        Raises:
            InputError: every fault that ``diagnose_csv`` knows, and ``mixed_column``.
            SeenLateError: columns that are not in ``exact`` should be, or keys are words.
        """
        self._wanted = [name for name in self.dialect.names if name in names]
        self._hashed = hashed
        lines: list[bytes] | None = None
        with suppress(NotPlainError):
            lines = self._parse_plain(store)
        if lines is None:
            store.clear()
            lines = self._parse_any(store)
        self._refuse_mixed()
        self._doubt_lines(lines)
        words = frozenset(name for name, forms in self._forms.items() if len(forms) > 1)
        if words or self._doubtful - self.exact:
            raise SeenLateError(frozenset(self._doubtful), words)
        return {name: merged_kind(kinds) for name, kinds in self._found.items()}

    def _begin(self) -> None:
        self._found = {name: set() for name in self._wanted}
        self._doubtful, self._forms = set(), {}

    def _parse_plain(self, store: ChunkStore) -> list[bytes]:
        """Parse everything with Arrow; return some of the lines.

        Raises:
            NotPlainError: it must be read otherwise.
        """
        if "empty" in map(self.kinds.get, self._wanted):
            raise NotPlainError
        self._begin()
        plain = PlainReader(
            names=self.dialect.names,
            delimiter=self.dialect.delimiter,
            wanted={name: self.kinds[name] for name in self._wanted},
            words=frozenset(name for name in self._wanted if self._dtype(name) == "object"),
        )
        lines: list[bytes] = []
        with plain_stream(self.blob, self.format) as stream:
            stream.read(self.dialect.header_bytes)
            work = partial(self._piece, plain)
            for rows, columns, some in in_order(work, pieces(stream), self.threads):
                _append(store, columns, rows)
                lines += some
        return lines

    def _piece(
        self, plain: PlainReader, piece: Piece
    ) -> tuple[int, dict[str, Column], list[bytes]]:
        rows, cells = plain.columns(piece)
        breaking = "\n" if len(self.dialect.names) == 1 else self.dialect.delimiter
        extreme = partial(piece.extreme, breaking)
        try:
            columns = {name: self._column(name, cells[name], extreme) for name in self._wanted}
        except ValueError:
            raise NotPlainError from None
        return rows, columns, piece.lines()

    def _parse_any(self, store: ChunkStore) -> list[bytes]:
        """Parse everything with pandas; return some of the lines.

        Raises:
            InputError: every fault that ``diagnose_csv`` knows.
        """
        self._begin()
        width = len(self.dialect.names)
        with plain_stream(self.blob, self.format) as stream:
            stream.read(self.dialect.header_bytes)
            counted = CountedStream(
                stream, self.dialect.delimiter, single=width == 1, name=self.blob.name
            )
            understood = self._understood(counted, store)
        if not understood:
            self._diagnose(certain=True)
        if self._last_missing or counted.delimiters != self._rows * (width - 1):
            self._diagnose(certain=False)
        return counted.lines

    def _understood(self, counted: CountedStream, store: ChunkStore) -> bool:
        """Parse everything; return False on something that does not fit.

        pandas' errors quote the data: they end here, and are not even the
        context of ours.
        """
        try:
            self._parse(counted, store)
        except ValueError as error:
            if isinstance(counted.failure, ValueError):
                return False
            if counted.failure is not None:
                raise counted.failure from None
            if str(error).startswith(_LOST):
                # Nothing but control-C comes between pandas and our read.
                raise KeyboardInterrupt from None
            return False
        return True

    def _parse(self, counted: CountedStream, store: ChunkStore) -> None:
        for frame in self._frames(counted):
            counted.in_block = 0
            columns = {
                name: self._column(name, self._cells(frame, name), lambda: counted.extreme)
                for name in self._wanted
            }
            _append(store, columns, len(frame))
            self._rows += len(frame)
            last = frame[len(self.dialect.names) - 1]
            self._last_missing = self._last_missing or bool(last.isna().any())

    def _frames(self, counted: CountedStream) -> Iterator[pd.DataFrame]:
        import pandas as pd

        names = self.dialect.names
        last = len(names) - 1
        used = sorted({*(names.index(name) for name in self._wanted), last})
        with pd.read_csv(
            counted,
            sep=self.dialect.delimiter,
            header=None,
            names=list(range(len(names))),
            usecols=used,
            dtype={at: dtype for at in used if (dtype := self._dtype(names[at]))},
            index_col=False,
            engine="c",
            low_memory=False,
            chunksize=max(1, min(_BLOCK_ROWS, _BLOCK_BYTES // self.row_bytes)),
            na_values={at: self._missing(names[at]) for at in used},
            keep_default_na=False,
            **_exact_floats(pd.__version__),
        ) as reader:
            yield from reader

    def _missing(self, name: str) -> Sequence[str]:
        if name not in self._wanted:
            # The last column, read only to tell where a row is short.
            return [""]
        words = MISSING | _NAN if self.kinds[name] in _NUMBERS else MISSING
        return sorted(words)

    def _dtype(self, name: str) -> str | None:
        match self.kinds[name]:
            case "float" | "integer" | "empty" if name in self.exact | self.keys:
                return "object"
            case "float" if name in self._wanted:
                return "float64"
            case "float" | "integer" | "empty":
                # Left to pandas, block by block: int64, or float64 where some are missing.
                return None
            case _:
                # pandas' categories become numbers where all of a block look so: 007 and 7 one.
                return "object"

    def _cells(self, frame: pd.DataFrame, name: str) -> Numbers | Labels:
        series = frame[self.dialect.names.index(name)]
        if self._dtype(name) != "object":
            return from_numbers(series.to_numpy(), self.kinds[name])
        import pandas as pd

        codes, words = pd.factorize(series)
        return Labels(codes=codes, vocabulary=Vocabulary(tuple(str(word) for word in words)))

    def _column(self, name: str, cells: Column, extreme: Callable[[], bool]) -> Column:
        """Return a column of some rows as it is kept; several threads may ask at once.

        Args:
            name: of the column.
            cells: numbers, or the words that are to become some.
            extreme: tells whether numbers out of the range of floats may be among these rows.
        """
        column = cells
        numeric = self.kinds[name] in _NUMBERS
        if isinstance(cells, Labels):
            if not numeric:
                column = categories(cells, boolean=self.kinds[name] == "bool")
            else:
                column = self._key(cells, name) if name in self.keys else exact_numbers(cells)
        elif isinstance(cells, Numbers) and self._doubts(name, cells, extreme):
            self._doubtful.add(name)
        if self.kinds[name] != "float" or name in self.keys:
            self._found[name].add(column_kind(column))
        else:
            self._found[name].add("float")
        return column_hashes(column) if name in self._hashed else compact_column(column)

    def _key(self, cells: Labels, name: str) -> Column:
        """Return keys that were numbers so far, and note in which form they are."""
        table = parse_keys(cells.vocabulary.words)
        kind = column_kind(table)
        if kind == "empty":
            missing = cells.codes < 0
            return Numbers(values=np.zeros(missing.size, np.int64), missing=missing)
        forms = self._forms.setdefault(name, set())
        forms.add(kind)
        if isinstance(table, Labels):
            # The rows before were read as numbers.
            forms.add("late")
        return spread(table, cells.codes)

    def _doubts(self, name: str, column: Numbers, extreme: Callable[[], bool]) -> bool:
        """Tell whether only the text says what a float64 takes from a column."""
        values, _, _ = column_arrays(column)
        if values.dtype.kind != "f" or name in self._doubtful:
            return False
        return needs_text(values, extreme=True) and needs_text(values, extreme=extreme())

    def _doubt_lines(self, lines: Sequence[bytes]) -> None:
        """Note the columns that lose digits in some of the lines."""
        text = b"\n".join(lines).decode("utf-8", errors="replace")
        names = self.dialect.names
        with suppress(csv.Error):
            rows = [
                cells
                for cells in csv_rows(text.splitlines(), self.dialect.delimiter)
                if len(cells) == len(names)
            ]
            for name in self._wanted:
                # Keys are told by their text, and integers are read as such or not at all.
                if self.kinds[name] not in _NUMBERS or name in self.keys:
                    continue
                if self._found[name] == {"integer"}:
                    continue
                at = names.index(name)
                column = parse_numbers([cells[at] for cells in rows])
                if column is not None and column.rounded is not None:
                    self._doubtful.add(name)

    def _refuse_mixed(self) -> None:
        """Raise InputError when a column is booleans in one block and text in another.

        The same cell would have two values: 1 here, a hash of its text there.
        """
        for name, kinds in self._found.items():
            if kinds >= {"bool", "string"}:
                raise InputError(
                    "mixed_column",
                    f"{self.blob.name}: column {quoted_name(name)} holds true and false "
                    "in most rows and other words in some.",
                    hint="Write one kind of value in all rows of a column.",
                )

    def _diagnose(self, *, certain: bool) -> None:
        """Walk the rows and raise the fault; one must be there when ``certain``."""
        numeric = [name for name in self._wanted if self.kinds[name] in _NUMBERS]
        with plain_stream(self.blob, self.format) as stream:
            stream.read(self.dialect.header_bytes)
            diagnose_csv(stream, self.dialect, numeric, self.blob.name)
        if certain:
            raise InputError("unparsable", f"{self.blob.name}: some rows cannot be read as CSV.")


def _exact_floats(version: str) -> dict[str, Any]:
    """Return the options that make pandas read floats as Python does.

    Before 3.1 pandas' own parser is off by one unit in the last place in a third
    of the cells, so that equal scores of a small and a large file would differ;
    from 3.1 on it is exact, and the option deprecated.
    """
    release = re.match(r"(\d+)\.(\d+)", version)
    exact = release is not None and (int(release[1]), int(release[2])) >= (3, 1)
    return {} if exact else {"float_precision": "round_trip"}


def _append(store: ChunkStore, columns: Mapping[str, Column], rows: int) -> None:
    for start in range(0, rows, CHUNK_ROWS):
        stop = min(start + CHUNK_ROWS, rows)
        store.append({n: slice_column(c, start, stop) for n, c in columns.items()}, stop - start)
