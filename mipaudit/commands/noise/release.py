"""The vector that noise is to be added to: read, compared with its splits, and written.

If the release and the B splits are exchangeable, as draws of one algorithm are, so are
figures that are the same function of each of the B + 1 vectors and of their set. The
release then has the strictly largest with a probability of at most 1 / (B + 1), for any
law: an exact rank test. It has one that is several times the largest of the splits far
more rarely.
"""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, TypeAlias

import numpy as np

from mipaudit.commands.noise.options import Unlike
from mipaudit.data.parts import other_hints
from mipaudit.data.tables.json_file import cells_part
from mipaudit.data.tables.splits import LEAVE_OUT, Splits
from mipaudit.data.tables.table import ArrayTable, Form, Matrix, Table, Whole, open_whole
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Floats, Places
from mipaudit.model.message import Finding
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.provenance import InputFile

_SUFFIXES: Final[dict[str, Form]] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".json": "json",
}
# numpy's own limit.
_DEEPEST: Final = 64
_HINT: Final = "A release is one row with a column per number, or one column with a row per number."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A vector, and what to write beside its numbers.

    Attributes:
        values: shape (d,), finite; an array in C order.
        names: of the d numbers; None where they have only a position.
        column: of a table, what their one column is called where they have no names; None for no
            header.
        shape: of the array or of the lists; (d,) for a table.
        format: of the file.
        source: the file, with its rows and its hash.
    """

    values: Floats
    names: tuple[str, ...] | None
    shape: tuple[int, ...]
    format: Form
    source: InputFile
    column: str | None = None


# Numbers, rows of the file, the shape of an array, names of the numbers, and that of one column.
_Vector: TypeAlias = tuple[Floats, int, tuple[int, ...] | None, tuple[str, ...] | None, str | None]


def suffix_format(path: str) -> Form | None:
    """Return the format that the suffix of ``path`` means; None for any other suffix."""
    return _SUFFIXES.get(PurePath(path).suffix.casefold())


def read_release(path: str) -> Release:
    """Read one numeric vector from CSV, Parquet, ``.npy`` or JSON.

    CSV and Parquet: one row of d columns, or one column of d rows. ``.npy``: an array of
    any shape. JSON: a number, lists of numbers of one shape, or an object of numbers.
    Every number is part of the vector, also what looks like a row number.

    Args:
        path: a file, or ``-`` for standard input.

    Raises:
        UsageError: an empty or remote path.
        InputError: ``not_a_vector``, or it cannot be read, or is not finite.
    """
    with open_whole(path, "the release") as whole, other_hints({"unparsable": LEAVE_OUT}):
        if whole.form == "json":
            values, rows, shape, names, column = _of_json(whole)
        elif whole.table is None:
            values, rows, shape, names, column = _of_array(whole)
        else:
            values, rows, shape, names, column = _of_table(whole, whole.table)
        assert whole.form is not None  # noqa: S101 - a release is a file
        return Release(
            values=values.ravel(),
            names=names,
            shape=(values.size,) if shape is None else shape,
            format=whole.form,
            source=whole.described(rows),
            column=column,
        )


def _of_table(whole: Whole, table: Table) -> _Vector:
    """Return the vector of a table: one row, or one column."""
    width = len(table.fields)
    if whole.form == "parquet":
        # How many rows there are is known before they are read, and read they may be many.
        rows = table.part.rows_about
        if not _is_across(rows, width, whole.name) and table.lists:
            raise _not_a_vector(whole.name, f"{rows} rows of lists")
    names, values = _numbers(table)
    across = _is_across(len(values), width, whole.name)
    own = names if table.named and across else None
    return values, len(values), None, own, names[0] if table.named else None


def _of_array(whole: Whole) -> _Vector:
    array = whole.arrays[""]
    if not array.size:
        raise InputError("no_rows", f"{whole.name}: the array is empty.")
    values = ArrayTable(name=whole.name, array=array.reshape(-1, 1)).matrix(["c0"])[1]
    return values, array.shape[0] if array.ndim else 1, array.shape, None, None


def _of_json(whole: Whole) -> _Vector:
    """Return the vector of a number, of nested lists, or of an object of numbers."""
    document = whole.document
    if isinstance(document, list) and len(document) == 1 and isinstance(document[0], dict):
        document = document[0]
    if isinstance(document, (dict, list)) and not document:
        raise InputError("no_rows", f"{whole.name}: there is no number in it.")
    shape: tuple[int, ...] | None = None
    if isinstance(document, dict):
        cells = {key: [cell] for key, cell in document.items()}
    else:
        shape, flat = _flattened(document, whole.name)
        cells = {"values": flat}
    _, values = _numbers(Table(part=cells_part(whole.name, cells)))
    return (
        values,
        shape[0] if shape else 1,
        shape,
        None if shape is not None else tuple(cells),
        None,
    )


def _flattened(document: Any, name: str) -> tuple[tuple[int, ...], list[Any]]:  # noqa: ANN401
    """Return the shape of nested lists, and their cells in C order."""
    shape: list[int] = []
    level = [document]
    while any(isinstance(item, list) for item in level):
        lengths = {len(item) if isinstance(item, list) else -1 for item in level}
        if len(lengths) > 1 or len(shape) == _DEEPEST:
            raise _not_a_vector(name, "lists of different lengths or depths")
        shape += lengths
        level = [cell for item in level for cell in item]
    if not level:
        raise InputError("no_rows", f"{name}: the list is empty.")
    return tuple(shape), level


def _is_across(rows: int, width: int, name: str) -> bool:
    if rows > 1 and width > 1:
        raise _not_a_vector(name, f"{rows} rows and {width} columns")
    return rows == 1


def _not_a_vector(name: str, found: str) -> InputError:
    return InputError("not_a_vector", f"{name}: {found} where one vector is expected.", _HINT)


def _numbers(table: Table) -> Matrix:
    """Return all columns of a table, none of which may hold text."""
    for field in table.fields:
        if field.kind in {"string", "other"} and field.name not in table.lists:
            raise InputError(
                "text_column",
                f"{table.name}: column {quoted_name(field.name)} holds no numbers.",
                "Noise can only be added to numbers: remove this column from the release.",
            )
    return table.matrix([field.name for field in table.fields])


def encode_release(release: Release, values: Floats) -> bytes:
    """Return ``values`` as a file like that of ``release``: its format, names, order and shape.

    Names are a header or an object; everything is float64, written so that it reads back the same.

    Args:
        release: what was read.
        values: shape (d,), finite, in the order of ``release.values``.

    Raises:
        ValueError: a wrong shape, or a number that is not finite.
    """
    if values.shape != release.values.shape or not np.isfinite(values).all():
        raise ValueError("a release needs finite numbers in its own shape")
    header = release.names or (() if release.column is None else (release.column,))
    rows = values.reshape(-1, max(1, len(header)))
    match release.format:
        case "csv":
            return _csv([header] if header else [], rows)
        case "parquet":
            return _parquet(header, rows)
        case "npy":
            stream = io.BytesIO()
            np.save(stream, values.reshape(release.shape), allow_pickle=False)
            return stream.getvalue()
        case _:
            document: Any = values.reshape(release.shape).tolist()
            if release.names is not None:
                document = dict(zip(release.names, document, strict=True))
            return (json.dumps(document) + "\n").encode("ascii")


def _csv(head: list[tuple[str, ...]], rows: Floats) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([*head, *rows.tolist()])
    return text.getvalue().encode("utf-8")


def _parquet(names: tuple[str, ...], rows: Floats) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table([*rows.T], names=names), sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written


# How many times as far as the farthest split is too far, by the number of splits: of few
# splits the farthest may be near the centre by chance. Measured in mipaudit help methods.
_TOO_FAR: Final = ((20, 3.0), (8, 5.0), (5, 30.0), (0, 10_000.0))
_MOST: Final = 1e70  # steps whose squares can be added
_SHOWN: Final = 3
_TRY: Final = (
    "Compare units, the order of the columns and the algorithm: noise calibrated on these splits "
    "promises nothing for another release. If the release is right, add splits like it, or give "
    "`release_unlike_splits` accept."
)


def too_far(splits: int) -> float:
    """Return how many times as far as the farthest of so many splits is too far."""
    return next(factor for least, factor in _TOO_FAR if splits >= least)


def likeness(splits: Floats, release: Floats) -> tuple[float, Places, Places, Places]:
    """Compare a release with its splits.

    Distances are in units of each coordinate's median deviation from the median, over splits
    and release alike: the largest coordinate, and the root mean square of all.

    Args:
        splits: (B, d), finite, B at least 1.
        release: (d,), finite, in the order of the splits' coordinates.

    Returns:
        Its distance from the centre by the largest of the splits', infinite where the splits are
        all one vector and the release is another; coordinates that by themselves lie farther than
        any split's, as often as `too_far` says; coordinates in which all splits agree and the
        release does not; splits that are the release, number for number.
    """
    steps = _steps(np.concatenate([release[None, :], splits]))
    figures = np.stack([steps.max(axis=1), np.sqrt((steps**2).mean(axis=1))], axis=1)
    by_column = _ratios(steps)
    constant = (splits == splits[0]).all(axis=0)
    return (
        float(_ratios(figures).max()),
        np.flatnonzero((by_column > too_far(len(splits))) & ~constant),
        np.flatnonzero(constant & (splits[0] != release)),
        np.flatnonzero((splits == release).all(axis=1)),
    )


def _steps(pool: Floats) -> Floats:
    """Return how far each vector's coordinates lie from the middle, in units of the spread.

    Where more than half of the vectors agree the mean deviation of all but the farthest is
    the unit; where that is 0 too, the farthest has no unit, and counts as one step.
    """
    half = pool / 2  # so that no difference overflows
    away = np.abs(half - np.median(half, axis=0))
    unit = np.median(away, axis=0)
    flat = unit == 0
    if flat.any():
        rest = np.sort(away[:, flat], axis=0)[:-1].mean(axis=0)
        unit[flat] = np.where(rest > 0, rest, away[:, flat].max(axis=0))
        unit[unit == 0] = 1.0
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(away / unit, _MOST))


def _ratios(figures: Floats) -> Floats:
    """Return for each column the first figure by the largest of the others."""
    first, others = figures[0], figures[1:].max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(first > others, first / others, 0.0)


def among_splits(vector: Floats, splits: Splits, name: str, unlike: Unlike) -> tuple[Finding, ...]:
    """Return what the owner of a release must know of it beside its splits.

    No number of the release is in it.

    Args:
        vector: the release, in the order of the splits' coordinates.
        splits: of the same algorithm.
        name: of the release's file.
        unlike: what to do with a release that can hardly be one more of the splits.

    Raises:
        InputError: ``release_unlike_splits``.
    """
    count = len(splits.values)
    ratio, *places, equal = likeness(splits.values, vector)
    far, odd = (_where(one, splits) for one in places)
    # Where all splits agree nothing is known of how far is far.
    if too_far(count) < ratio < np.inf and unlike == "refuse":
        raise InputError(
            "release_unlike_splits",
            f"{name}: the release lies far beyond all {count} splits{far}.",
            _TRY,
        )
    told = []
    if equal.size:
        rows = ", ".join(str(at + 1) for at in equal[:_SHOWN])
        more = "" if equal.size <= _SHOWN else f" and {equal.size - _SHOWN} more"
        told.append(Finding.of("release_among_splits", rows=f"{rows}{more}"))
    if ratio > 1 or odd:
        case, counts = "odd" if odd else "far", {"splits": count, "tables": count + 1}
        told.append(Finding.of("release_beyond_splits", case=case, **counts, far=far, odd=odd))
    return tuple(told)


def _where(places: Places, splits: Splits) -> str:
    """Name the coordinates, or nothing where no single one stands out."""
    if not places.size:
        return ""
    shown = ", ".join(quoted_name(splits.columns[at]) for at in places[:_SHOWN])
    more = f" and {places.size - _SHOWN} more" if places.size > _SHOWN else ""
    return f" in {shown}{more}"
