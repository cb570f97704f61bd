"""Parts of an input, whatever their format: columns, chunks of rows, what is in memory.

Parts that cannot be read are told apart from data that cannot be audited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, Self
from urllib.parse import unquote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mipaudit.data.column import (
    CHUNK_ROWS,
    Chunk,
    ChunkStore,
    Column,
    Field,
    Kind,
    Part,
    Piece,
    column_hashes,
    met_numbers,
    text_column,
)
from mipaudit.data.files.blob import describe_blob, each_at_once
from mipaudit.data.formats.cells import arrow_fields, column_kind, read_batches
from mipaudit.data.words import NUMBERS, unique_names
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Bools
from mipaudit.model.message import Finding
from mipaudit.statements.printable_names import first_names, quoted_name, safe_name
from mipaudit.statements.provenance import InputFile
from mipaudit.statements.verdict import PARTS_SKIPPED
from mipaudit.summaries.rows import ScoreKind  # noqa: TC001 - msgspec reads it

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.data.files.blob import Blob
    from mipaudit.data.rows.intake import Coarse, Intake
    from mipaudit.summaries.rows import Rows

# Floats that round more than text and float64 do, the coarsest first.
_COARSE: Final = ("float16", "float32")


def merge_fields(parts: Iterable[Part]) -> tuple[Field, ...]:
    """Return the columns of all parts, each once, with the kind that fits everywhere."""
    found: dict[str, Field] = {}
    for one in (one for part in parts for one in part.fields):
        known = found.get(one.name, one)
        found[one.name] = Field(
            name=one.name,
            kind=merged_kind({known.kind, one.kind}),
            folder=one.folder or known.folder,
            lists=one.lists or known.lists,
        )
    return tuple(found.values())


def merged_kind(kinds: set[Kind]) -> Kind:
    """Return the kind of a column that has these kinds in different places."""
    present = kinds - {"empty"}
    if not present:
        return "empty"
    if len(present) == 1:
        return next(iter(present))
    if present <= {"float", "integer"}:
        return "float"
    return "integer" if present == {"integer", "bool"} else "other"


def uneven_storage(
    names: Iterable[str], parts: Iterable[Part]
) -> tuple[dict[str, Coarse], tuple[str, ...]]:
    """Return columns that some loaded parts store more coarsely, and the others of several types.

    Scores on a coarser grid in one class tell the classes apart although nothing leaks. Text and
    integers are taken for as fine as can be.
    """
    # For all columns at once: a file may have thousands.
    stored: dict[str, list[tuple[Field, str]]] = {}
    for part in parts:
        for field in part.fields if part.rows_about else ():
            stored.setdefault(field.name, []).append((field, part.name))
    rounded: dict[str, Coarse] = {}
    mixed: list[str] = []
    for name in names:
        found = stored.get(name, [])
        kinds = {one.kind for one, _ in found} - {"empty"}
        types = {one.storage for one, _ in found if one.kind != "empty"}
        coarse = next((one for one in _COARSE if one in types), None)
        if coarse is not None and len(types) > 1 and kinds <= NUMBERS:
            where = [part for one, part in found if one.storage == coarse]
            rounded[name] = (coarse, first_names(where))
        elif len(kinds) > 1 or len({one.storage for one, _ in found} - {None}) > 1:
            mixed.append(name)
    return rounded, tuple(mixed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumn:
    """A score column that is read, or was counted.

    Of what was counted it is told whether it is ``discrete``, every burn-in value being a cell of
    its own, and how many scores are infinite.
    """

    name: str
    kind: ScoreKind
    discrete: bool = False
    infinite: int = 0


class Partition(Protocol):
    """A part of the input that can be read on its own, here or by another process."""

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows in order, and count in ``intake`` what is left out or wrong of them.

        May be called several times, and for different partitions from several
        threads at once, each with an intake of its own.

        Raises:
            BadPartsError: the part cannot be read.
        """


@contextmanager
def other_hints(hints: Mapping[str, str], *, but: str | None = None) -> Iterator[None]:
    """Give errors the hints of a command that reads something else than scores.

    Args:
        hints: by code.
        but: a hint that stays.
    """
    try:
        yield
    except InputError as error:
        if error.code not in hints or (but is not None and error.hint == but):
            raise
        raise error.worded(error.message, hints[error.code]) from None


# Damage: bytes that are not there, or not what the format says. What the data say, such as
# a missing score, a third label or a word among numbers, is never among them.
UNREADABLE: Final = frozenset(
    {
        "bad_parquet",
        "bad_quotes",
        "damaged_column",
        "empty_file",
        "not_a_table",
        "not_utf8",
        "ragged_rows",
        "truncated",
        "unreadable",
    }
)
_NAMED: Final = 10
_LONGEST_NAME: Final = 400


class BadPartsError(InputError):
    """Parts that cannot be read; the message is that of the first.

    Attributes:
        parts: their names, safe to print.
    """

    parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: InputError, parts: Iterable[str]) -> Self:
        """Return ``error`` with the names of the parts, each once."""
        bad = cls(error.code, error.message, hint=error.hint)
        bad.parts = tuple(dict.fromkeys(parts))
        return bad

    @classmethod
    def together(cls, errors: Sequence[BadPartsError]) -> Self:
        """Return several as one, which says what the first does."""
        return cls.of(errors[0], (name for one in errors for name in one.parts))

    def plain(self) -> InputError:
        """Return the error as one that no part can be skipped for."""
        return InputError(self.code, self.message, self.hint)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between processes with the names."""
        return BadPartsError.of, (self.plain(), self.parts)


def named_fault(error: InputError, part: str) -> InputError:
    """Return ``error`` as that of a bad part where it tells of damage, else as it is."""
    if error.code not in UNREADABLE or isinstance(error, BadPartsError):
        return error
    return BadPartsError.of(error, (part,))


def input_changed(blob: Blob) -> InputError:
    """Return the error for a file that is not as the run found it: never a bad part."""
    return InputError(
        "input_changed",
        f"{blob.name}: the file changed while it was read.",
        "Audit a copy that nobody writes to.",
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opened:
    """All that an input is read from.

    Attributes:
        parts: in row order.
        bare: files with a header alone, among others.
        left_out: files that cannot be read and are skipped.
    """

    parts: tuple[Part, ...]
    bare: tuple[Blob, ...] = ()
    left_out: tuple[Blob, ...] = ()

    @property
    def blobs(self) -> tuple[Blob, ...]:
        """The files that are read."""
        return (*(part.blob for part in self.parts if part.blob is not None), *self.bare)

    @property
    def skipped(self) -> tuple[Finding, ...]:
        """What the reader must know of files that were left out; nothing where none was."""
        names = [f"'{safe_name(one.name, longest=_LONGEST_NAME)}'" for one in self.left_out]
        if not names:
            return ()
        files = len(self.parts) + len(self.bare) + len(names)
        listed = first_names(names, _NAMED)
        return (Finding.of(PARTS_SKIPPED, skipped=len(names), files=files, names=listed),)

    @property
    def remote(self) -> bool:
        """Tell whether a file is far away."""
        return any(blob.remote for blob in self.blobs)

    def described(self, *, hash_all: bool, together: bool = False) -> tuple[InputFile, ...]:
        """Return how the report names the inputs.

        Args:
            hash_all: sha256 of every input; otherwise one of more than 64 MiB has a fingerprint
                of its size, footer and ends.
            together: every input has, where they have more than that in all: many parts take as
                long to hash as one large file, and may be far away.
        """
        total = sum(blob.size for blob in self.blobs) if together else None

        def describe(file: tuple[Blob | None, str, int]) -> InputFile:
            """Return how the report names one file, or what was in memory."""
            blob, name, rows = file
            if blob is None:
                return InputFile(name=name, rows=rows, bytes=None)
            return describe_blob(blob, rows, hash_all=hash_all, together=total)

        files = [(part.blob, part.name, part_rows(part)) for part in self.parts]
        files += [(blob, blob.name, 0) for blob in self.bare]
        return tuple(each_at_once(describe, files, remote=self.remote))

    def check_unchanged(self) -> None:
        """Raise InputError ``input_changed`` if a file is not as it was at opening."""
        blobs = [*self.blobs, *self.left_out]
        changed = each_at_once(lambda blob: blob.changed(), blobs, remote=self.remote)
        for blob, now_different in zip(blobs, changed, strict=True):
            if now_different:
                raise input_changed(blob)

    def close(self) -> None:
        """Release files, memory and temporary files."""
        closed: tuple[Part | Blob, ...] = (*self.parts, *self.bare, *self.left_out)
        for one in closed:
            one.close()


def part_rows(part: Part) -> int:
    """Return the rows of a loaded part."""
    return sum(piece.rows for piece in part.pieces())


# Rows, and their columns by name.
Read = Callable[[Collection[str]], Iterator[tuple[int, Mapping[str, Column]]]]
# What is in memory already costs nothing more to keep there.
_UNLIMITED = 1 << 62


class MemoryPart(Part):
    """Columns in memory, which are converted when asked for."""

    def __init__(self, name: str, fields: tuple[Field, ...], rows: int, read: Read) -> None:
        """Keep what reads the columns."""
        self.name, self.fields, self.rows_about = name, fields, rows
        self._read = read
        self._store = ChunkStore(in_memory=_UNLIMITED)

    def load(
        self, names: Collection[str], hashed: Collection[str] = (), keys: Collection[str] = ()
    ) -> None:
        """Convert the named columns."""
        del keys  # what is in memory has types
        self._store.clear()
        for rows, columns in self._read(names):
            own = {
                name: column_hashes(column) if name in hashed else column
                for name, column in columns.items()
            }
            self._store.append(own, rows)


def is_frame(data: object) -> bool:
    """Tell a table from a series, which offers the same stream without columns."""
    has_columns = hasattr(data, "__arrow_c_stream__") or type(data).__name__ == "DataFrame"
    return has_columns and (hasattr(data, "columns") or hasattr(data, "schema"))


def open_arrow(frame: object, name: str = "the frame") -> MemoryPart:
    """Return a pandas or polars frame, or an Arrow table, as a part.

    Args:
        frame: anything with ``__arrow_c_stream__``.
        name: what messages call it.

    Raises:
        InputError: ``not_a_frame``, ``no_rows`` or ``duplicate_columns``.
    """
    table = arrow_table(frame)
    if not table.num_rows:
        raise InputError("no_rows", f"{name.capitalize()} has no rows.")
    unique_names(table.schema.names, name)

    def read(names: Collection[str]) -> Iterator[tuple[int, Mapping[str, Column]]]:
        """Read the named columns of the table, a chunk at a time."""
        batches = table.select(list(names)).to_batches(max_chunksize=CHUNK_ROWS)
        return read_batches(batches, names, name)

    return MemoryPart(name, arrow_fields(table.schema), table.num_rows, read)


def arrow_table(frame: object) -> pa.Table:
    """Return a frame as an Arrow table.

    Args:
        frame: anything with ``__arrow_c_stream__``.

    Raises:
        InputError: ``not_a_frame``.
    """
    import pyarrow as pa

    if not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            "not_a_frame",
            f"An object of type {type(frame).__name__} is not a table.",
            "Pass a path, a pandas or polars DataFrame, or an Arrow table. Give arrays of "
            "scores as members=scores[member], holdout=scores[~member].",
        )
    try:
        return frame if isinstance(frame, pa.Table) else pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError):
        # Arrow's message may quote the data.
        raise InputError(
            "not_a_frame", "A column of the frame mixes types and cannot be read."
        ) from None


def array_part(side: str, values: ArrayLike) -> MemoryPart:
    """Return the scores of one class as a part, called ``score``, or ``score_0`` and so on.

    Args:
        side: ``"members"`` or ``"holdout"``.
        values: shape (n,) or (n, d), numbers or booleans; masked values are missing.

    Raises:
        InputError: ``bad_array`` or ``empty_class``.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(
            "bad_array", f"The scores of {side} are not an array: their rows differ in length."
        ) from None
    if array.dtype.kind not in "biuf" or array.ndim not in {1, 2}:
        raise InputError(
            "bad_array", f"The scores of {side} must be numbers in one or two dimensions."
        )
    if not array.size:
        raise InputError("empty_class", f"There are no scores of {side}.")
    table = array.reshape(len(array), -1)
    names = ["score"] if table.shape[1] == 1 else [f"score_{at}" for at in range(table.shape[1])]
    masks: Sequence[Bools | None] = [None] * len(names)
    if isinstance(values, np.ma.MaskedArray):
        masks = [*np.ma.getmaskarray(values).reshape(table.shape).T]
    columns = {
        name: _numbers(one, mask) for name, one, mask in zip(names, table.T, masks, strict=True)
    }
    fields = tuple(
        Field(
            name=name,
            kind=column_kind(column),
            storage=column.values.dtype.name if column.values.dtype.kind == "f" else None,
        )
        for name, column in columns.items()
    )
    return MemoryPart(side, fields, len(table), lambda _: iter([(len(table), columns)]))


def _numbers(values: NDArray[Any], missing: Bools | None) -> Column:
    """Return an array's column; floats of more than 64 bits as those that are nearest."""
    if values.dtype.kind != "f" or values.dtype.itemsize <= np.dtype(np.float64).itemsize:
        return Column(values=values, missing=missing)
    with np.errstate(over="ignore", under="ignore"):
        nearest = values.astype(np.float64)
    lost = (nearest != values) & ~np.isnan(values)
    if not lost.any():
        return Column(values=nearest, missing=missing)
    lost = (lost & (np.floor(values) == values)) | met_numbers(nearest, lost)
    return Column(values=nearest, missing=missing, lost=lost)


# Folders that name a column and its value, such as ``member=1``: every row of a file below has it.
_NO_FOLDER_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


# Of a column that one value fills: its kind, and the value; None where it is missing.
FolderValue = tuple[Kind, int | float | str | None]


def _filled(kind: Kind, value: float | str | None, rows: int) -> Column:
    """Return a column of so many rows."""
    if kind == "string":
        codes = np.full(rows, -1 if value is None else 0, dtype=np.int8)
        return text_column(codes, [str(value)])
    wide = np.min_scalar_type(value or 0) if kind == "integer" else np.float64
    missing = np.ones(rows, dtype=np.bool_) if value is None else None
    return Column(values=np.full(rows, value or 0, dtype=wide), missing=missing)


def folder_keys(files: Sequence[tuple[str, Sequence[str]]]) -> list[dict[str, FolderValue]]:
    """Return the columns that the folders of each file name.

    A key's values are whole numbers if all files of the input have such values, else decimal
    numbers if all have those and no two are the same number, else text. Nothing at all and
    ``__HIVE_DEFAULT_PARTITION__`` are a missing value; percent signs are undone.

    Args:
        files: what messages call each file, and the names of its folders.

    Raises:
        InputError: ``folders_differ`` unless all files have the same keys in the same order;
            ``duplicate_columns`` for a key twice.
    """
    pairs = [_pairs(folders) for _, folders in files]
    first = [key for key, _ in pairs[0]]
    for (name, _), own in zip(files, pairs, strict=True):
        keys = [key for key, _ in own]
        if len(set(keys)) < len(keys):
            raise InputError("duplicate_columns", f"{name}: two of its folders have the same key.")
        if keys != first:
            raise InputError(
                "folders_differ",
                f"{name} is below {_listed(keys)}, but {files[0][0]} is below {_listed(first)}.",
                "All files need the same key=value folders in the same order. Name a folder "
                "or pattern in which they agree, or move the other files away.",
            )
    columns = {key: _typed([own[at][1] for own in pairs]) for at, key in enumerate(first)}
    return [
        {key: (kind, values[at]) for key, (kind, values) in columns.items()}
        for at in range(len(files))
    ]


def _pairs(folders: Sequence[str]) -> list[tuple[str, str | None]]:
    found = [folder.partition("=") for folder in folders]
    return [
        (unquote(key), None if value in {"", _NO_FOLDER_VALUE} else unquote(value))
        for key, equals, value in found
        if key and equals
    ]


def _typed(values: Sequence[str | None]) -> tuple[Kind, list[int | float | str | None]]:
    """Return what kind of values a key has, and the values."""
    present = {value for value in values if value is not None}
    kind, read = _kind(present)
    return kind, [None if value is None else read(value) for value in values]


def _kind(present: Collection[str]) -> tuple[Kind, Callable[[str], int | float | str]]:
    if not present:
        return "empty", str
    if all(map(_INTEGER.fullmatch, present)):
        return "integer", int
    # Folders 007 and 7 are two, and so are 1.0 and 1.
    if all(map(_DECIMAL.fullmatch, present)) and len(set(map(float, present))) == len(present):
        return "float", float
    return "string", str


def _listed(keys: Sequence[str]) -> str:
    if not keys:
        return "no key=value folder"
    names = ", ".join(map(quoted_name, keys))
    return f"key=value folders of {names}"


class HivePart(Part):
    """A part, and the keys of the folders that it lies in."""

    def __init__(self, part: Part, keys: Mapping[str, FolderValue]) -> None:
        """Keep both."""
        self._part, self._keys = part, keys
        self.name, self.blob, self.rows_about = part.name, part.blob, part.rows_about
        self._take_fields()

    def _take_fields(self) -> None:
        """Have the file's columns, then the keys, which go before a column of the same name."""
        own = (field for field in self._part.fields if field.name not in self._keys)
        keys = self._keys.items()
        named = (Field(name=name, kind=kind, folder=True) for name, (kind, _) in keys)
        self.fields = (*own, *named)

    def load(
        self, names: Collection[str], hashed: Collection[str] = (), keys: Collection[str] = ()
    ) -> None:
        """Get ready to read the named columns.

        Raises:
            InputError: ``folder_column`` for a key that is a column of the file, too.
        """
        for field in self._part.fields:
            if field.name in self._keys and field.name in names:
                raise InputError(
                    "folder_column",
                    f"{self.name}: {quoted_name(field.name)} is a column of the file and also a "
                    "key of its folders, and the two may differ.",
                    "Name the files by a pattern below these folders, or remove the column.",
                )
        folders = self._keys.keys()
        self._part.load(set(names) - folders, set(hashed) - folders, set(keys) - folders)
        self._take_fields()

    def pieces(self) -> Sequence[Piece]:
        """Return the file's pieces with the keys in them."""
        return [
            replace(piece, chunks=partial(_with_keys, piece, self._keys))
            for piece in self._part.pieces()
        ]

    def close(self) -> None:
        """Release what is held."""
        self._part.close()


def _with_keys(
    piece: Piece, keys: Mapping[str, FolderValue], names: Collection[str], first_row: int
) -> Iterator[Chunk]:
    """Yield the named columns of a piece; the file is read only for what is in it."""
    filled = {name: value for name, value in keys.items() if name in names}
    own = [name for name in names if name not in filled]
    found = piece.chunks(own, first_row) if own else _bare(piece.rows, first_row)
    for chunk in found:
        fills = {name: _filled(*value, chunk.rows) for name, value in filled.items()}
        yield replace(chunk, columns={**chunk.columns, **fills})


def _bare(rows: int, first_row: int) -> Iterator[Chunk]:
    for start in range(0, rows, CHUNK_ROWS):
        yield Chunk(first_row=first_row + start, rows=min(CHUNK_ROWS, rows - start), columns={})
