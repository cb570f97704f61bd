"""The true class of each record, as the number of the outputs' column that is of it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.model.array_files import LABEL_HINT, ArrayFile
from mipaudit.errors import InputError
from mipaudit.reading.columns.class_outputs import LABELS, stems
from mipaudit.statements.estimate import Finding


def true_classes(
    file: ArrayFile, classes: int, names: Sequence[str], *, alone: bool
) -> tuple[NDArray[np.intp], tuple[Finding, ...]]:
    """Return the class of each record, shape (n,), and what was taken of labels that are words.

    Args:
        file: that holds the labels.
        classes: how many there are.
        names: of the outputs' columns; none of an array.
        alone: the file was given for the labels.

    Raises:
        InputError: there are no labels, or some are no class.
    """
    words = file.words(LABELS, alone=alone)
    if words is not None:
        return _of_words(words, classes, names, file.name)
    known, codes = np.unique(file.vector(LABELS, "labels", alone=alone), return_inverse=True)
    numbers = known.tolist()
    wrong = np.array([one != int(one) or not 0 <= one < classes for one in numbers])[codes]
    # A number is a column's place, unless the columns are numbered otherwise.
    by_name = _by_name([f"{one:.15g}" for one in numbers], names, zero=not wrong.any())
    if by_name is None and wrong.any():
        raise InputError(
            "bad_labels",
            f"{file.name}: labels that are no class from 0 to {classes - 1}: "
            f"{np.count_nonzero(wrong):,}, the first in row {np.argmax(wrong) + 1}.",
            hint=LABEL_HINT,
        )
    return np.array(numbers if by_name is None else by_name, dtype=np.intp)[codes], ()


def _of_words(
    words: NDArray[np.str_], classes: int, names: Sequence[str], name: str
) -> tuple[NDArray[np.intp], tuple[Finding, ...]]:
    """Return the classes of labels that are words.

    A word is the column by its name, or by what its name has behind the stem of all; otherwise
    the classes are the words in order, as scikit-learn's ``classes_`` are, of which none may be
    absent.
    """
    known, codes = np.unique(words, return_inverse=True)
    by_name = _by_name(known.tolist(), names)
    if by_name is not None and "" not in known:
        return np.array(by_name, dtype=np.intp)[codes], ()
    if "" in known or known.size != classes:
        raise InputError(
            "bad_labels",
            f"{name}: {known.size} different labels that are words, where the outputs have "
            f"{classes} classes.",
            hint="Name the columns of the outputs after the classes, or number the classes.",
        )
    found = (Finding.of("labels_sorted", file=name),)
    return codes.astype(np.intp), found


def _by_name(words: Sequence[str], names: Sequence[str], *, zero: bool = False) -> list[int] | None:
    """Return the places of the columns that words name, as wholes or behind a stem of all.

    Args:
        words: different ones.
        names: of the columns.
        zero: the words are numbers that may be places; they name columns only if 0 names one.
    """
    shared = set.intersection(*(set(stems(name)) for name in names)) if names else set()
    for stem in ("", *sorted(shared)):
        places = {name[len(stem) :]: at for at, name in enumerate(names)}
        if places.keys() >= {*words, *("0" * zero)}:
            return [places[word] for word in words]
    return None
