"""What is wrong with a file of a model's outputs, in words that fit them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.reading.sheets.coordinates import Coordinates

_TWO: Final = 2
LABEL_HINT: Final = "Number the classes in the order of the outputs, from 0."
_HINTS: Final = {
    "unparsable": "Save a table that has only the outputs, label and member.",
    "text_column": "Save a table that has only the outputs, label and member.",
    "infinite_cells": "Every number must be finite. Probabilities may be 0 and 1, where logits and "
    "losses would be infinite.",
}


@contextmanager
def output_hints() -> Iterator[None]:
    """Replace hints about options and noise, which there are none of here."""
    try:
        yield
    except InputError as error:
        if error.code not in _HINTS or error.hint == LABEL_HINT:
            raise
        raise InputError(error.code, error.message, hint=_HINTS[error.code]) from None


def refuse_row_numbers(found: Coordinates, name: str) -> None:
    """Refuse a column that counts the rows: it would be taken for what a model said.

    Raises:
        InputError: ``row_numbers``.
    """
    values = found.values
    if values.shape[0] <= _TWO:
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


def not_given(name: str, wanted: str, what: str) -> InputError:
    """Return the error of a vector that was given neither apart nor with the outputs."""
    return InputError(
        "not_given",
        f"{name}: no column or array in it is called {quoted_name(wanted)}, and there is no file "
        f"of its own for {what}.",
        hint=f"Add `{what}` FILE, or save it with the outputs: as a column of a table, or by "
        "numpy.savez(path, logits=..., labels=..., member=...).",
    )


def several_columns(name: str, what: str) -> InputError:
    """Return the error of a matrix where one number for each record is needed."""
    return InputError(
        "several_columns",
        f"{name}: several columns, where {what} is one number for each record.",
        hint="Of classes that are coded by a column each, numpy.argmax(labels, axis=1) makes one.",
    )


def unknown_labels(name: str) -> InputError:
    """Return the error of a membership that cannot be read."""
    return InputError(
        "unknown_labels",
        f"{name}: membership is neither 0 and 1 nor a well-known pair of words everywhere.",
        hint="Write 1 for members and 0 for holdout records.",
    )
