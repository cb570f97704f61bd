"""Parts of an input, whatever their format: columns, chunks of rows, what is in memory.

Parts that cannot be read are told apart from data that cannot be audited.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mipaudit.data.column import (
    CHUNK_ROWS,
    ChunkStore,
    Column,
    Field,
    Part,
    column_hashes,
    met_numbers,
)
from mipaudit.data.files.blob import describe_blob, each_at_once
from mipaudit.data.formats.csv_cells import column_kind
from mipaudit.data.words import NUMBERS, unique_names
from mipaudit.errors import InputError
from mipaudit.model.message import Finding
from mipaudit.statements.printable_names import first_names, safe_name
from mipaudit.statements.provenance import InputFile
from mipaudit.statements.verdict import PARTS_SKIPPED
from mipaudit.summaries.rows import ScoreKind  # noqa: TC001 - msgspec reads it

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.data.column import Kind
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
        return InputError(self.code, self.message, hint=self.hint)

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
        hint="Audit a copy that nobody writes to.",
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
    from mipaudit.data.formats.arrow import arrow_fields, read_batches

    table = arrow_table(frame)
    if not table.num_rows:
        raise InputError("no_rows", f"{name.capitalize()} has no rows.")
    unique_names(table.schema.names, name)

    def read(names: Collection[str]) -> Iterator[tuple[int, Mapping[str, Column]]]:
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
            f"An object of type {type(frame).__name__} is no table.",
            hint="Pass a path, a pandas or polars DataFrame, or an Arrow table.",
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
            "bad_array", f"The {side} scores are not an array: their rows differ in length."
        ) from None
    if array.dtype.kind not in "biuf" or array.ndim not in {1, 2}:
        raise InputError(
            "bad_array", f"The {side} scores must be numbers in one or two dimensions."
        )
    if not array.size:
        raise InputError("empty_class", f"There are no {side} scores.")
    table = array.reshape(len(array), -1)
    names = ["score"] if table.shape[1] == 1 else [f"score_{at}" for at in range(table.shape[1])]
    masks: Sequence[NDArray[np.bool_] | None] = [None] * len(names)
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


def _numbers(values: NDArray[Any], missing: NDArray[np.bool_] | None) -> Column:
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
