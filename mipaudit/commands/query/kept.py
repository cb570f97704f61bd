"""Columns of members and holdout that are carried to the score file."""

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np

from mipaudit.data.columns.words import find_column, is_candidate, is_score_like
from mipaudit.data.records.tables import RecordColumn, RecordTable
from mipaudit.errors import InputError, UsageError
from mipaudit.statements.text.printable_names import quoted_name

_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
# What a CSV score file takes for whole, and so for a label: 19 digits are read as a fraction.
_LABEL: Final = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def check_kept(
    tables: Sequence[RecordTable], names: Sequence[str], *, scores: Collection[str]
) -> None:
    """Check that columns can be carried to the score file.

    Args:
        tables: members and holdout.
        names: of the columns.
        scores: names of the score file's own columns.

    Raises:
        UsageError: ``keep``, its name would be taken for something else.
        InputError: ``unknown_column``, or ``unreadable_column``.
    """
    for name in names:
        if name in scores or is_candidate(name) or is_score_like(name):
            raise UsageError(
                "keep",
                f"`keep`: in the score file {quoted_name(name)} would be taken for a score, or "
                "for membership.",
                hint="Rename the column in the tables.",
            )
        for table in tables:
            find_column(table.fields, name, option=f"`keep`, in the {table.role} table")
            if "other" in table.kinds[name]:
                raise InputError(
                    "unreadable_column",
                    f"`keep`: column {quoted_name(name)} of the {table.role} table holds neither "
                    "numbers, nor words, nor days.",
                )


def read_kept(tables: Sequence[RecordTable], names: Sequence[str]) -> dict[str, Any]:
    """Return the columns of members and holdout as Arrow arrays: whole numbers, or words.

    Raises:
        InputError: ``not_a_label``, for numbers that are not whole.
    """
    read = [table.read(names, categorical=names) for table in tables] if names else []
    return {name: _labels(name, [one[name] for one in read]) for name in names}


def _labels(name: str, columns: Sequence[RecordColumn]) -> Any:  # noqa: ANN401 - Arrow's
    import pyarrow as pa

    texts = [
        [_day(float(word)) for word in one.words or ()] if one.kind == "date" else one.words or ()
        for one in columns
    ]
    every = [word for words in texts for word in words]
    # A reader of CSV, which knows no types, would take the words for scores.
    if all(map(_is_number, every)) and not all(map(_LABEL.fullmatch, every)):
        raise InputError(
            "not_a_label",
            f"`keep`: column {quoted_name(name)} holds numbers that are not whole, or that have "
            "more than 18 digits: in the score file they would be scores.",
            hint="Keep columns that name a record, a person or a group; a letter before the digits "
            "makes a name of a number.",
        )
    whole = all(map(_WHOLE.fullmatch, every))
    kind = pa.int64() if whole else pa.string()
    parts = []
    for words, column in zip(texts, columns, strict=True):
        known = pa.array([int(word) for word in words] if whole else words, type=kind)
        places = pa.array(np.maximum(column.values, 0), mask=column.missing)
        parts.append(known.take(places))
    return pa.concat_arrays(parts)


def _is_number(word: str) -> bool:
    try:
        float(word.replace(",", ".", 1))
    except ValueError:
        return False
    return True


def _day(days: float) -> str:
    moment = _EPOCH + timedelta(days=days)
    return str(moment.date()) if days == int(days) else moment.replace(tzinfo=None).isoformat()
