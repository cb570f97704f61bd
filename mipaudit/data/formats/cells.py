"""Cells as columns: the text of a CSV file, and Arrow's arrays by their buffers.

Both read the same numbers, to the last bit, and mark those that a float64 does not hold.
Arrow's own conversions import pandas wherever it is installed; buffers do not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import ne
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.column import (
    EXACT,
    TOLD_APART,
    Column,
    Field,
    Kind,
    Vocabulary,
    column_missing,
    met_numbers,
    moment_days,
    moment_of,
    text_column,
)
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.statements.printable_names import quoted_name

if TYPE_CHECKING:
    import pyarrow as pa

_FRACTION, _INTEGER = 1, 2
# The least float64 of full precision.
LEAST: Final = float(np.finfo(np.float64).tiny)
# A float64 has no more significant digits than that, all of them written out.
_MOST: Final = 767
# What an empty cell may be written as; a score that says so is missing.
MISSING: Final = frozenset(
    {"", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "-nan", "-NaN", "null", "NULL", "Null"}
    | {"None", "<NA>", "#N/A"}
)
TRUE: Final = frozenset({"true", "True", "TRUE"})
FALSE: Final = frozenset({"false", "False", "FALSE"})
_DECIMAL_COMMA: Final = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
_PROBED: Final = 100


def lost_digits(cells: Sequence[str], values: Floats) -> NDArray[np.uint8] | None:
    """Return the marks of cells that say more than the float64 that they were read as.

    A cell of n digits does unless they are those of its float64, rounded to n digits: then
    it says no more than that, and so its writer may have had a float64.

    Args:
        cells: numbers as text.
        values: the float64 of each, shape (n,).

    Returns:
        1 for numbers with a fraction, 2 for integers, 0 for cells that lose nothing; None where
        none does.
    """
    size = np.abs(values)
    doubtful = (size < LEAST) | (size == np.inf)
    if len(cells) and len(max(cells, key=len)) > TOLD_APART:
        # Most are written as Python writes them, and lose nothing.
        doubtful |= np.fromiter(map(ne, cells, map(repr, values.tolist())), np.bool_, len(cells))
    marks = np.zeros(values.shape, dtype=np.uint8)
    for at in np.flatnonzero(doubtful).tolist():
        if loses_digits(cells[at], float(values[at])):
            whole = _is_integer(cells[at], float(values[at]))
            marks[at] = _INTEGER if whole else _FRACTION
    return marks if marks.any() else None


def loses_digits(cell: str, value: float) -> bool:
    """Tell whether ``cell`` says more than ``value``, the nearest float64.

    Args:
        cell: a number as text; infinity and NaN lose nothing.
        value: what it was read as.
    """
    mantissa, _, _ = cell.strip().lstrip("+-").lower().partition("e")
    digits = mantissa.replace(".", "", 1)
    if not digits.isdigit():
        return False
    digits = digits.strip("0")
    if not digits or (len(digits) <= TOLD_APART and LEAST <= abs(value) < np.inf):
        return False
    if value == 0 or abs(value) == np.inf or len(digits) > _MOST:
        return True
    shown = format(abs(value), f".{len(digits) - 1}e").partition("e")[0]
    return shown.replace(".", "").strip("0") != digits


def _is_integer(cell: str, value: float) -> bool:
    """Tell whether a number as text is an integer; what is beyond all floats is one."""
    mantissa, _, exponent = cell.strip().lower().partition("e")
    fraction = mantissa.partition(".")[2].rstrip("0")
    large = abs(value) >= EXACT
    return large and (value in {np.inf, -np.inf} or int(exponent or 0) >= len(fraction))


def is_decimal_comma(cell: str) -> bool:
    """Tell whether ``cell`` looks like a number with a comma for its point."""
    return _DECIMAL_COMMA.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """Tell whether ``cell`` is a number as every reader here understands it."""
    if not cell.isascii() or "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def labels_of(cells: Sequence[str]) -> Column:
    """Return cells as text; those that say that they are empty are null."""
    places = {word: at for at, word in enumerate(dict.fromkeys(cells))}
    codes = np.fromiter(map(places.__getitem__, cells), dtype=np.int64, count=len(cells))
    return without(text_column(codes, [*places]), MISSING)


def without(cells: Column, blank: Collection[str]) -> Column:
    """Return text of which the words in ``blank`` are null."""
    words = cells.words
    left = [at for at, word in enumerate(words) if word not in blank]
    if len(left) == len(words):
        return cells
    places = np.full(len(words) + 1, -1, dtype=np.int64)
    places[left] = np.arange(len(left))
    return text_column(places[cells.values], [words[at] for at in left])


def numbers_of(cells: Column) -> Column | None:
    """Return what is written as integers or floats, or None where a word is not a number.

    Of numbers that lose digits, integers are lost, and others where rows meet in one float64.
    """
    values = _values(cells.words)
    if values is None:
        return None
    marks = lost_digits(cells.words, values) if values.dtype.kind == "f" else None
    found = _spread(values, cells)
    if marks is None:
        return found
    rows = cells.told(marks, np.uint8(0))
    return replace(found, lost=(rows == _INTEGER) | met_numbers(found.values, rows > 0))


def _values(words: Sequence[str]) -> NDArray[Any] | None:
    # Python takes 1_000 and digits of any script for numbers; no other reader does.
    joined = "".join(words)
    if not joined.isascii() or "_" in joined:
        return None
    with suppress(ValueError):
        integers = list(map(int, words))
        for dtype in (np.int64, np.uint64):
            with suppress(OverflowError):
                return np.array(integers, dtype=dtype)
    with suppress(ValueError):
        return np.fromiter(map(float, words), dtype=np.float64, count=len(words))
    return None


def _spread(values: NDArray[Any], cells: Column) -> Column:
    """Return the column whose words are ``values``."""
    return Column(values=cells.told(values, values.dtype.type(0)), missing=column_missing(cells))


def booleans_of(cells: Column) -> Column | None:
    """Return what is written as booleans, or None where a word is not, or there is none."""
    if not cells.words or not set(cells.words) <= TRUE | FALSE:
        return None
    return _spread(np.array([word in TRUE for word in cells.words], dtype=np.bool_), cells)


def keys_of(cells: Column) -> Column:
    """Return what names records, persons or groups.

    Numbers where each is written as its number always is: as text 007 and 7 are two, and so are
    1.0 and 1, or 1000 and 1e3.
    """
    values = _values(cells.words)
    if values is None:
        return booleans_of(cells) or cells
    written = [word.strip() for word in cells.words] == list(map(str, values.tolist()))
    return _spread(values, cells) if written else cells


def looks_numeric(cells: Column, *, score_like: bool) -> bool:
    """Tell whether a column that is not all numbers was meant to be one.

    True when more than half of its first cells are numbers, or a single one in a
    column whose name says that it is a score. Such a column is never passed
    over as text: its bad cell is an error.
    """
    first = cells.values[:_PROBED]
    probed = [cells.words[at] for at in first[first >= 0].tolist()]
    numbers = sum(is_number(cell) or is_decimal_comma(cell) for cell in probed)
    return numbers > 0 and (score_like or 2 * numbers > len(probed))


def column_kind(column: Column) -> Kind:
    """Return the kind of a parsed column."""
    if not column.numeric:
        return "string"
    if column.missing is not None and bool(column.missing.all()):
        return "empty"
    kinds: dict[str, Kind] = {"b": "bool", "i": "integer", "u": "integer"}
    return kinds.get(column.values.dtype.kind, "float")


# 10^22 is the last power of ten that a float64 holds exactly.
_EXACT_POWERS: Final = 22


def arrow_fields(schema: pa.Schema) -> tuple[Field, ...]:
    """Return the columns of ``schema`` by kind."""
    return tuple(_field(field.name, field.type) for field in schema)


def _field(name: str, stored: pa.DataType) -> Field:
    kind, value = arrow_kind(stored), _value_type(stored)
    return Field(
        name=name,
        kind=kind,
        storage=_dtype(value) if kind == "float" else None,
        moment=moment_of(value),
        lists=_lists_numbers(stored),
    )


def _value_type(kind: pa.DataType) -> pa.DataType:
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def is_list(kind: pa.DataType) -> bool:
    """Tell whether ``kind`` is a list of anything."""
    from pyarrow import types

    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)  # type: ignore[no-any-return]


def _lists_numbers(kind: pa.DataType) -> bool:
    """Tell whether ``kind`` is a list of numbers, or of such lists."""
    if not is_list(kind):
        return False
    inner = _value_type(kind.value_type)
    return arrow_kind(inner) in {"float", "integer", "bool"} or _lists_numbers(inner)


def read_batches(
    batches: Iterable[pa.RecordBatch], names: Collection[str], source: str
) -> Iterator[tuple[int, dict[str, Column]]]:
    """Yield rows and named columns of each batch that has rows.

    Raises:
        InputError: ``unreadable_column``, such as text that is not UTF-8; or
            ``damaged_column``, where cells refer to words that are not there.
    """
    known: dict[str, list[Any]] = {name: [] for name in names}
    for batch in batches:
        if batch.num_rows:
            found = {name: _read(batch.column(name), known[name], name, source) for name in names}
            yield batch.num_rows, found


def _read(array: pa.Array, known: list[Any], name: str, source: str) -> Column:
    import pyarrow as pa

    try:
        return column_of(array, known)
    except _DanglingError:
        raise InputError(
            "damaged_column",
            f"{source}: column {quoted_name(name)} refers to values that are not there.",
            "Was the file damaged while it was written or copied?",
        ) from None
    except (pa.ArrowException, UnicodeDecodeError):
        # Their messages may quote the data.
        raise InputError(
            "unreadable_column", f"{source}: column {quoted_name(name)} cannot be read."
        ) from None


class _DanglingError(Exception):
    """A cell's code has no word: Arrow does not look, and would read beyond the dictionary."""


def arrow_kind(kind: pa.DataType) -> Kind:
    """Return what ``kind`` is to an audit."""
    from pyarrow import types

    kind = _value_type(kind)
    if types.is_floating(kind) or types.is_decimal(kind):
        return "float"
    if types.is_boolean(kind):
        return "bool"
    if types.is_integer(kind):
        return "integer"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "string"
    return "empty" if types.is_null(kind) else "other"


def column_of(array: pa.Array, known: list[Any] | None = None) -> Column:
    """Return an array as a column.

    Args:
        array: of any type that `arrow_kind` knows, or of times.
        known: the last dictionary of the column and its words, which consecutive batches of a row
            group share: a list that begins empty, and goes from one array of a column to the next.
    """
    import pyarrow as pa
    from pyarrow import types

    if arrow_kind(array.type) == "string":
        if types.is_string_view(array.type):
            array = array.cast(pa.large_string())
        # Of what is encoded already this is the same array.
        return _text(array.dictionary_encode(), [] if known is None else known)
    if types.is_dictionary(array.type):
        _codes(array)
        array = array.dictionary_decode()
    if types.is_decimal(array.type):
        return _decimals(array)
    if types.is_null(array.type):
        return Column(values=np.full(len(array), np.nan))
    if moment_of(array.type) is not None:
        ticks = _fixed_width(array, f"int{array.type.bit_width}")
        days = moment_days(ticks.values.astype(np.int64), array.type)
        return Column(values=days, missing=ticks.missing)
    return _numbers(array)


def _text(array: pa.DictionaryArray, known: list[Any]) -> Column:
    """Return text whose nulls are negative codes, also where the dictionary holds a null."""
    codes, dictionary = _codes(array), array.dictionary
    if not known or not dictionary.equals(known[0]):
        known[:] = dictionary, Vocabulary(tuple(word or "" for word in dictionary.to_pylist()))
    null = _missing(dictionary)
    if null is not None:
        codes[np.append(null, True)[codes]] = -1
    return Column(values=codes, vocabulary=known[1])


def _codes(array: pa.DictionaryArray) -> Ints:
    """Return the place of every cell in the dictionary, -1 where it is missing."""
    codes = _numbers(array.indices)
    signed = codes.values.astype(np.int64)
    words = len(array.dictionary)
    if signed.min(initial=0) < 0 or signed.max(initial=-1) >= words:
        wild = (signed < 0) | (signed >= words)
        if codes.missing is None or (wild & ~codes.missing).any():
            raise _DanglingError
    if codes.missing is not None:
        signed[codes.missing] = -1
    return signed


def _numbers(array: pa.Array) -> Column:
    from pyarrow import types

    if not types.is_boolean(array.type):
        return _fixed_width(array, _dtype(array.type))
    values = _bits(array.buffers()[1], array.offset, len(array))
    return Column(values=values, missing=_missing(array))


def _missing(array: pa.Array) -> Bools | None:
    """Return where an array is null, None for nowhere."""
    if array.null_count == 0:
        return None
    return ~_bits(array.buffers()[0], array.offset, len(array))


def _bits(buffer: pa.Buffer | None, offset: int, size: int) -> Bools:
    """Return ``size`` bits from bit ``offset`` on."""
    if size == 0 or buffer is None:
        return np.zeros(size, dtype=np.bool_)
    first = offset // 8
    packed = np.frombuffer(buffer, dtype=np.uint8)[first : (offset + size + 7) // 8]
    start = offset - 8 * first
    bits = np.unpackbits(packed, count=start + size, bitorder="little")
    return bits[start:].view(np.bool_)


def _fixed_width(array: pa.Array, name: str) -> Column:
    """Return the stored numbers of an array, whose type numpy calls ``name``."""
    data, size, dtype = array.buffers()[1], len(array), np.dtype(name)
    if data is None:
        return Column(values=np.zeros(size, dtype=dtype), missing=_missing(array))
    values = np.frombuffer(data, dtype=dtype, count=size, offset=array.offset * dtype.itemsize)
    return Column(values=values, missing=_missing(array))


def _decimals(array: pa.Array) -> Column:
    """Return the nearest float64 of each, and which of them others may have, too."""
    missing, lost = _missing(array), merges_decimals(array)
    if lost is not None and missing is not None:
        lost &= ~missing
    kept = lost if lost is not None and lost.any() else None
    return Column(values=decimal_floats(array), missing=missing, lost=kept)


def _dtype(kind: pa.DataType) -> str:
    """Return numpy's name of a fixed-width number: Arrow's, but for half, float and double."""
    name = str(kind)
    return {"halffloat": "float16", "float": "float32", "double": "float64"}.get(name, name)


def decimal_floats(array: pa.Array) -> Floats:
    """Return the float64 that is nearest to each decimal; what nulls become has no meaning.

    Arrow's own conversion may miss by one unit in the last place, so that the same number
    would differ from what a CSV file of it holds.

    Args:
        array: decimals of any width.
    """
    import pyarrow as pa

    scale = array.type.scale
    words = _words(array)
    low = words[:, 0]
    if 0 <= scale <= _EXACT_POWERS and _are_plain(words).all() and not _beyond(low).any():
        # Both are exact, so that their quotient is rounded once.
        quotients: Floats = low / 10.0**scale
        return quotients
    return _fixed_width(array.cast(pa.string()).cast(pa.float64()), "float64").values


def merges_decimals(array: pa.Array) -> Bools | None:
    """Return where others may round to the same float64; None where the type forbids it.

    Integers (a scale of 0 or less) are those beyond 2^53. Others have more than 15 digits,
    zeros at the end left out: 0.5 with 18 decimal places has one.

    Args:
        array: decimals of any width; what nulls hold is of no meaning.
    """
    kind = array.type
    if kind.precision <= TOLD_APART:
        return None
    words = _words(array)
    low, plain = words[:, 0], _are_plain(words)
    mask = _beyond(low) if kind.scale <= 0 else _many_digits(low)
    wide = np.flatnonzero(~plain)
    if kind.scale <= 0:
        mask[wide] = True
    elif wide.size:
        mask[wide] = [_wide_digits(words[at]) for at in wide]
    return mask


def _are_plain(words: Ints) -> Bools:
    # Of two's complement, the least word says it all if the others repeat its sign.
    return np.asarray((words[:, 1:] == (words[:, 0] >> 63)[:, None]).all(axis=1))


def _words(array: pa.Array) -> Ints:
    """Return the integers behind the decimals, of shape (rows, words), the least word first."""
    width = array.type.byte_width
    data, size, offset = array.buffers()[1], len(array), array.offset
    if data is None or not size:
        return np.zeros((size, max(1, width // 8)), dtype=np.int64)
    held: Any = np.dtype(np.int32 if width == 4 else np.int64)  # noqa: PLR2004 - bytes
    each = max(1, width // 8)
    words = np.frombuffer(data, dtype=held, count=size * each, offset=offset * width)
    return words.reshape(size, each).astype(np.int64, copy=False)


def _beyond(integers: Ints) -> Bools:
    return np.asarray((integers < -EXACT) | (integers > EXACT))


def _many_digits(integers: Ints) -> Bools:
    # The least integer of all has no positive twin; as unsigned it has.
    size = np.abs(integers).view(np.uint64)
    mask = np.zeros(size.shape, dtype=np.bool_)
    for more in range(1, 20 - TOLD_APART):
        # From the first number of 15 digits and so many more on.
        at = size >= np.uint64(10 ** (TOLD_APART + more - 1))
        if not at.any():
            break
        mask = np.where(at, size % np.uint64(10**more) != 0, mask)
    return mask


def _wide_digits(words: Ints) -> bool:
    number = abs(int.from_bytes(words.astype("<i8").tobytes(), "little", signed=True))
    return len(str(number).rstrip("0")) > TOLD_APART
