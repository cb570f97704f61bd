"""Arrays of one row per record: .npy, .npz, or the columns of a table."""

import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.model.class_columns import read_class_columns
from mipaudit.data.memory import open_arrow
from mipaudit.data.parts import other_hints
from mipaudit.data.tables.coordinates import Coordinates, read_coordinates
from mipaudit.data.tables.table import (
    ArrayTable,
    Table,
    content_kind,
    describe_unchanged,
    only_blob,
    part_table,
)
from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import ZIP_MAGIC, Blob, blob_format
from mipaudit.reading.bytes.foreign import HEAD, require_table
from mipaudit.reading.bytes.unpacked import read_array, read_npy, require_room
from mipaudit.reading.columns.membership import CANDIDATES, HOLDOUT_LABELS, MEMBER_LABELS
from mipaudit.reading.columns.score_selection import find_column
from mipaudit.statements.sources import InputFile
from mipaudit.statements.text.printable_names import quoted_name, safe_name

LABEL_HINT: Final = "Number the classes in the order of the outputs, from 0."
# Others are about options and noise, which there are none of here.
_HINTS: Final = {
    "unparsable": "Save a table that has only the outputs, label and member.",
    "text_column": "Save a table that has only the outputs, label and member.",
    "infinite_cells": "Every number must be finite. Probabilities may be 0 and 1, where logits and "
    "losses would be infinite.",
}
_MATRIX: Final = 2
_TEXT_HINT: Final = "Only labels may be text, and well-known words say who is a member."
_SUFFIX: Final = ".npy"
# Of words for members and for the holdout.
_FORMS: Final = (str.lower, str.upper, str.capitalize)
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArrayFile:
    """One file with one row per record.

    Attributes:
        name: what messages call it.
        arrays: by name; one without a name for an .npy file; none for a table.
        table: the table, or None.
        blob: the bytes, to tell whether they changed; None for arrays in memory.
    """

    name: str
    arrays: Mapping[str, NDArray[Any]]
    table: Table | None
    blob: Blob | None

    def has(self, names: Sequence[str], *, dimensions: int | None = None) -> bool:
        """Tell whether the file holds an array or a column by one of these names.

        Args:
            names: that it may have.
            dimensions: of an array in an archive: 1 for one number per record, 2 for several;
                None for either.
        """
        return self._found(names, dimensions) is not None

    def coordinates(
        self, names: Sequence[str], *, reserved: Sequence[str] = (), classes: bool = False
    ) -> Coordinates:
        """Return finite numbers of shape (rows, columns), with the names that a table has.

        Args:
            names: what the array may be called in an archive; the only matrix otherwise.
            reserved: columns of a table that have another role.
            classes: they are probabilities of classes, which a table's other columns are not.

        Raises:
            InputError: there is no such array, or it holds no finite numbers;
                ``row_numbers``: a column counts the rows.
        """
        with other_hints(_HINTS, but=LABEL_HINT):
            if self.table is not None:
                folded = {name.casefold() for name in reserved}
                taken = [f.name for f in self.table.fields if f.name.strip().casefold() in folded]
                read = read_class_columns if classes else read_coordinates
                found = read(self.table, self.name, reserved=taken)
            else:
                values = self._numbers(self._matrix(names))
                found = Coordinates(columns=(), values=values, skipped=())
        _refuse_row_numbers(found, self.name)
        return found

    def vector(self, names: Sequence[str], what: str, *, alone: bool = True) -> NDArray[np.float64]:
        """Return finite numbers of shape (rows,).

        Args:
            names: what the array or the column may be called.
            what: what messages call it.
            alone: the file was given for it, and its only array or column is meant whatever
                its name; where it was given for something else, the name must be right.

        Raises:
            InputError: there is no such array or column, or it holds no finite numbers;
                ``several_columns``: it has more than one number for each record.
        """
        with other_hints(_HINTS, but=LABEL_HINT):
            found = self._chosen(names, what, alone=alone)
            if self.table is not None:
                if self._kinds[found] in {"string", "other"}:
                    raise InputError(
                        "text_column",
                        f"{self.name}: column {quoted_name(found)} holds text in place of the "
                        f"numbers of {what}.",
                        hint=LABEL_HINT if what == "labels" else None,
                    )
                return self.table.matrix([found])[1][:, 0]
            array = self.arrays[found]
            if _dimensions(array) != 1:
                raise InputError(
                    "several_columns",
                    f"{self.name}: several columns, where {what} is one number for each record.",
                    hint="Of classes that are coded by a column each, numpy.argmax(labels, axis=1) "
                    "makes one.",
                )
            return self._numbers(array)[:, 0]

    def words(self, names: Sequence[str], *, alone: bool = True) -> NDArray[np.str_] | None:
        """Return text of shape (rows,); None where there is none, or it is of numbers.

        Args:
            names: what the array or the column may be called.
            alone: as of `vector`.
        """
        found, here = self._found(names, 1), self._names()
        if found is None and alone and len(here) == 1:
            found = here[0]
        if found is None:
            return None
        if self.table is not None:
            return self.table.words(found) if self._kinds[found] == "string" else None
        array = self.arrays[found]
        return array.reshape(-1) if array.dtype.kind == "U" and _dimensions(array) == 1 else None

    def member(self, names: Sequence[str] = CANDIDATES, *, alone: bool = True) -> NDArray[np.bool_]:
        """Return which rows are members, bool, shape (rows,).

        Args:
            names: what the array or the column may be called.
            alone: as of `vector`.

        Raises:
            InputError: ``unknown_labels``: neither 0 and 1 nor well-known words; as `vector`.
        """
        found = self._found(names)
        if self.table is not None and found is not None and self._kinds[found] == "string":
            return self._from_words(self.table, found)
        values = self.vector(names, "membership", alone=alone)
        if not np.isin(values, (0.0, 1.0, -1.0)).all():
            raise self._unknown_labels()
        return np.asarray(values == 1.0)

    @property
    def _kinds(self) -> dict[str, str]:
        return {} if self.table is None else {one.name: one.kind for one in self.table.fields}

    def _names(self) -> list[str]:
        return [*(self.arrays if self.table is None else self._kinds)]

    def _found(self, names: Sequence[str], dimensions: int | None = None) -> str | None:
        here = self._names()
        if self.table is None and dimensions is not None:
            here = [name for name in here if _dimensions(self.arrays[name]) == dimensions]
        folded = {name.strip().casefold(): name for name in reversed(here)}
        return next((folded[n.casefold()] for n in names if n.casefold() in folded), None)

    def _matrix(self, names: Sequence[str]) -> NDArray[Any]:
        found = self._found(names, _MATRIX) or self._found(names)
        if found is not None:
            return self.arrays[found]
        fitting = [one for one in self.arrays.values() if _dimensions(one) == _MATRIX]
        if len(fitting) == 1:
            return fitting[0]
        if "" in self.arrays:
            return self.arrays[""]
        raise self._absent(names)

    def _chosen(self, names: Sequence[str], what: str, *, alone: bool) -> str:
        """Return the column or array by one of the names; another if it was given for this."""
        found = self._found(names, 1) or self._found(names)
        if found is not None:
            return found
        if not alone:
            raise InputError(
                "not_given",
                f"{self.name}: no column or array in it is called {quoted_name(names[0])}, and "
                f"there is no file of its own for {what}.",
                hint=f"Add `{what}` FILE, or save it with the outputs: as a column of a table, or "
                "by numpy.savez(path, logits=..., labels=..., member=...).",
            )
        here = self._names()
        if len(here) > 1:
            if self.table is not None:
                return find_column(self.table.fields, names[0], option=f"{self.name}, {what}").name
            here = [name for name in here if _dimensions(self.arrays[name]) == 1]
        if len(here) != 1:
            raise self._absent(names)
        return here[0]

    def _absent(self, names: Sequence[str]) -> InputError:
        return InputError(
            "no_such_array",
            f"{self.name}: there is no array called {quoted_name(names[0])}.",
            hint=f"It holds: {', '.join(safe_name(name) for name in sorted(self.arrays))}.",
        )

    def _numbers(self, array: NDArray[Any]) -> NDArray[np.float64]:
        if array.ndim == 1:
            array = array.reshape(-1, 1)
        if array.ndim != _MATRIX or not array.size:
            raise InputError(
                "wrong_shape",
                f"{self.name}: an array of {array.ndim} dimensions, or an empty one, where one row "
                "for each record is expected.",
            )
        if array.dtype.kind == "U":
            raise InputError(
                "text_column", f"{self.name}: text, where numbers are expected.", hint=_TEXT_HINT
            )
        names = [f"c{at}" for at in range(array.shape[1])]
        return ArrayTable(name=self.name, array=array).matrix(names)[1]

    def _from_words(self, table: Table, column: str) -> NDArray[np.bool_]:
        words = table.words(column)
        inside, outside = (
            np.isin(words, [spell(one) for one in side if isinstance(one, str) for spell in _FORMS])
            for side in (MEMBER_LABELS, HOLDOUT_LABELS)
        )
        if not (inside | outside).all():
            raise self._unknown_labels()
        return np.asarray(inside)

    def _unknown_labels(self) -> InputError:
        return InputError(
            "unknown_labels",
            f"{self.name}: membership is neither 0 and 1 nor a well-known pair of words "
            "everywhere.",
            hint="Write 1 for members and 0 for holdout records.",
        )


def _dimensions(array: NDArray[Any]) -> int:
    """Return 1 for a vector, also one that stands as a column, else the dimensions."""
    column = array.ndim == _MATRIX and array.shape[1] == 1
    return 1 if column else array.ndim


def _refuse_row_numbers(found: Coordinates, name: str) -> None:
    """Refuse a column that counts the rows: it would be taken for what a model said."""
    values = found.values
    if len(values) <= 2:  # noqa: PLR2004
        return
    steps = values[1] - values[0]
    for at in np.flatnonzero(np.abs(steps) == 1.0):
        if (np.diff(values[:, at]) == steps[at]).all():
            column = quoted_name(found.columns[at]) if found.columns else f"{at + 1}"
            raise InputError(
                "row_numbers",
                f"{name}: column {column} counts the rows, which no model does.",
                hint="Leave it out: an id may tell members from holdout records.",
            )


def described(files: Iterable[ArrayFile], rows: int) -> tuple[InputFile, ...]:
    """Close the files, of which some may be one, and return how the report names them.

    Raises:
        InputError: ``input_changed``.
    """
    found = []
    for file in {id(one): one for one in files}.values():
        if file.blob is None:
            found.append(InputFile(name=file.name, rows=rows, bytes=None))
        else:
            found.append(describe_unchanged(file.blob, rows))
            file.blob.close()
    return tuple(found)


def opened(data: object, name: str) -> ArrayFile | None:
    """Return a file or an array, opened; None for None."""
    return None if data is None else arrays_of(data, name)


def arrays_of(data: object, name: str) -> ArrayFile:
    """Return an array that is in memory, called ``name``; or open the file of a path.

    Raises:
        UsageError: as ``only_blob``.
        InputError: it is no CSV, Parquet, .npy, .npz or JSON file, or damaged, or holds Python
            objects; ``bad_array``.
    """
    if isinstance(data, str):
        return _open_arrays(data)
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "columns"):
        # A table's columns have names, and not every one is a class.
        return ArrayFile(name=name, arrays={}, table=Table(part=open_arrow(data, name)), blob=None)
    try:
        array = _plain(np.asarray(data))
    except (TypeError, ValueError):
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biufU" or not array.ndim:
        raise InputError(
            "bad_array",
            f"{name}: no array of numbers.",
            hint="Give numbers of one type; only labels may be text.",
        )
    return ArrayFile(name=name, arrays={"": array}, table=None, blob=None)


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return Python's words as numpy's."""
    words = array.dtype.kind in "OT" and all(isinstance(one, str) for one in array.flat)
    return array.astype(np.str_) if words and array.size else array


def _open_arrays(path: str) -> ArrayFile:
    blob = only_blob(path)
    with blob.open() as stream:
        head = stream.read(HEAD)
    require_table(blob.name, head, numbers=True)
    if head.startswith(ZIP_MAGIC):
        return ArrayFile(name=blob.name, arrays=_unpack(blob), table=None, blob=blob)
    kind = blob_format(blob)
    content = content_kind(blob, kind)
    if content == "npy":
        array = read_npy(blob, kind, words=True)
        return ArrayFile(name=blob.name, arrays={"": array}, table=None, blob=blob)
    return ArrayFile(name=blob.name, arrays={}, table=part_table(blob, kind, content), blob=blob)


def _unpack(blob: Blob) -> dict[str, NDArray[Any]]:
    found = {}
    try:
        with blob.open() as stream, zipfile.ZipFile(stream) as archive:
            require_room(blob, sum(one.file_size for one in archive.infolist()))
            for one in archive.namelist():
                if one.endswith(_SUFFIX):
                    with archive.open(one) as file:
                        found[one.removesuffix(_SUFFIX)] = read_array(
                            file, blob, packed=True, words=True
                        )
    except _UNREADABLE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk or of memory, not of the archive
        raise InputError(
            "bad_npz",
            f"{blob.name}: not a complete .npz archive of plain arrays.",
            hint="Write it with numpy.savez.",
        ) from None
    return found
