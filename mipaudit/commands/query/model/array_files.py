"""Arrays of one row per record, .npy, .npz, or the columns of a table; and scores made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.model.report import ModelQueryReport, WrittenScore
from mipaudit.commands.query.points import parts
from mipaudit.data.model_outputs import class_columns, lone_column
from mipaudit.data.parts import other_hints
from mipaudit.data.tables.splits import Coordinates, is_row_label, read_coordinates
from mipaudit.data.tables.table import AnyTable, ArrayTable, Whole, open_whole
from mipaudit.data.words import (
    CANDIDATES,
    HOLDOUT_LABELS,
    MEMBER_LABELS,
    find_column,
    is_id_like,
    says_score,
)
from mipaudit.errors import InputError
from mipaudit.evidence.scores.curves import spread_alone
from mipaudit.evidence.scores.findings import size_findings
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.output.rows import RowFormat, write_rows
from mipaudit.statements.printable_names import quoted_name, safe_name

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.model.message import Finding, Message
    from mipaudit.statements.provenance import InputFile, Provenance

RENAME: Final = "If a column or array holds it, rename it to '{}'."
LABEL_HINT: Final = "Number the classes in the order of the outputs, from 0."
# Others are about options and noise, which there are none of here.
_HINTS: Final = {
    "unparsable": "Save a table that has only the outputs, label and member.",
    "text_column": "Save a table that has only the outputs, label and member.",
    "infinite_cells": "Every number must be finite. Probabilities may be 0 and 1, where logits and "
    "losses would be infinite.",
}
_MATRIX: Final = 2
_CHUNK: Final = 1 << 16


def _held_in(file: Whole) -> dict[str, int]:
    """Return the dimensions of what a file holds, by name.

    1 for one number per record, also where they stand as a column, and for columns of a table; 2
    for several.
    """
    if file.table is not None:
        return dict.fromkeys((one.name for one in file.table.fields), 1)
    return {
        name: 1 if one.ndim == _MATRIX and one.shape[1] == 1 else one.ndim
        for name, one in file.arrays.items()
    }


def find(file: Whole, names: Sequence[str], *, dimensions: int | None = None) -> str | None:
    """Return the name of the array or the column that is the first of these names.

    Args:
        file: with one row per record.
        names: that it may have.
        dimensions: of an array in an archive: 1 for one number per record, 2 for several;
            None for either.
    """
    folded = {
        name.strip().casefold(): name
        for name, own in reversed([*_held_in(file).items()])
        if dimensions in {None, own}
    }
    return next((folded[n.casefold()] for n in names if n.casefold() in folded), None)


def coordinates(
    file: Whole, names: Sequence[str], *, reserved: Sequence[str] = (), classes: bool = False
) -> Coordinates:
    """Return finite numbers of shape (rows, columns), with the names that a table has.

    Args:
        file: with one row per record.
        names: what the array may be called in an archive; the only matrix otherwise.
        reserved: columns of a table that have another role.
        classes: they are probabilities of classes, which a table's other columns are not.

    Raises:
        InputError: there is no such array, or it holds no finite numbers;
            ``row_numbers``: a column counts the rows.
    """
    with other_hints(_HINTS, but=LABEL_HINT):
        if file.table is None:
            values = _numbers(file, file.arrays[_chosen_name(file, names, _MATRIX)])
            found = Coordinates(columns=(), values=values, skipped=())
        else:
            folded = {name.casefold() for name in reserved}
            taken = [f.name for f in file.table.fields if f.name.strip().casefold() in folded]
            chosen = _class_columns(file.table, taken) if classes else None
            found = chosen or read_coordinates(file.table, reserved=taken)
    _refuse_row_numbers(found, file.name)
    return found


def column(
    file: Whole, names: Sequence[str], what: str, *, alone: bool = True, words: bool = False
) -> NDArray[Any]:
    """Return finite numbers, or words, of shape (rows,).

    Args:
        file: with one row per record.
        names: what the array or the column may be called.
        what: what messages call it.
        alone: the file was given for it, and its only array or column is meant whatever
            its name; where it was given for something else, the name must be right.
        words: text is returned as it is.

    Raises:
        InputError: there is no such array or column, or it holds no finite numbers;
            ``several_columns``: it has more than one number for each record.
    """
    with other_hints(_HINTS, but=LABEL_HINT):
        name = _chosen_name(file, names, 1, what=what, alone=alone)
        if file.table is not None:
            kind = next(one.kind for one in file.table.fields if one.name == name)
            if kind == "string" and words:
                return file.table.words(name)
            if kind in {"string", "other"}:
                raise InputError(
                    "text_column",
                    f"{file.name}: column {quoted_name(name)} holds text instead of the numbers of "
                    f"{what}.",
                    LABEL_HINT if what == "labels" else None,
                )
            return file.table.matrix([name])[1][:, 0]
        if _held_in(file)[name] != 1:
            raise InputError(
                "several_columns",
                f"{file.name}: several columns, but {what} must be one number for each record.",
                "If each class has a column, numpy.argmax(labels, axis=1) makes one.",
            )
        array = file.arrays[name]
        if words and array.dtype.kind == "U":
            return array.reshape(-1)
        return _numbers(file, array)[:, 0]


def members_of(file: Whole, names: Sequence[str] = CANDIDATES, *, alone: bool = True) -> Bools:
    """Return which rows are members, bool, shape (rows,).

    Args:
        file: with one row per record.
        names: what the array or the column may be called.
        alone: as of `column`.

    Raises:
        InputError: ``unknown_labels``: neither 0 and 1 nor well-known words; as `column`.
    """
    found = column(file, names, "membership", alone=alone, words=True)
    text = found.dtype.kind == "U"
    said = np.char.lower(np.char.strip(found)) if text else found
    inside, outside = (
        np.isin(said, [one for one in side if isinstance(one, str) is text])
        for side in (MEMBER_LABELS, HOLDOUT_LABELS)
    )
    if not (inside | outside).all():
        raise InputError(
            "unknown_labels",
            f"{file.name}: membership must be 0 and 1 in every row, or a known pair of words.",
            "Write 1 for members and 0 for holdout records.",
        )
    return np.asarray(inside)


def _chosen_name(
    file: Whole, names: Sequence[str], dimensions: int, *, what: str = "", alone: bool = True
) -> str:
    """Return the column or array by one of the names; the only fitting one if all is for it."""
    found = find(file, names, dimensions=dimensions) or find(file, names)
    if found is not None:
        return found
    if not alone:
        raise InputError(
            "not_given",
            f"{file.name}: no column or array in it is called {quoted_name(names[0])}, and "
            f"there is no file of its own for {what}.",
            f"{RENAME.format(names[0])} Or add `{what}` FILE, or save it with the outputs: as "
            "a column of a table, or by numpy.savez(path, logits=..., labels=..., member=...).",
        )
    held = _held_in(file)
    if "" in held or (len(held) == 1 and dimensions == 1):
        return next(iter(held))
    if file.table is not None:
        return find_column(file.table.fields, names[0], option=f"{file.name}, {what}").name
    fitting = [name for name, own in held.items() if own == dimensions]
    if len(fitting) != 1:
        raise InputError(
            "no_such_array",
            f"{file.name}: there is no array called {quoted_name(names[0])}.",
            f"It holds: {', '.join(safe_name(name) for name in sorted(held))}.",
        )
    return fitting[0]


def _numbers(file: Whole, array: NDArray[Any]) -> Floats:
    """Return an array as finite numbers of shape (rows, columns)."""
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != _MATRIX or not array.size:
        raise InputError(
            "wrong_shape",
            f"{file.name}: an array of {array.ndim} dimensions, or an empty one, where one row for "
            "each record is expected.",
        )
    if array.dtype.kind == "U":
        raise InputError(
            "text_column",
            f"{file.name}: text instead of numbers.",
            "Only labels and membership may be text.",
        )
    names = [f"c{at}" for at in range(array.shape[1])]
    return ArrayTable(name=file.name, array=array).matrix(names)[1]


def _class_columns(table: AnyTable, reserved: Sequence[str]) -> Coordinates | None:
    """Return probabilities of classes, beside which a table may have other columns.

    They are found as the commands find them that audit scores; None where that fails.
    """
    free = [one for one in table.fields if one.name not in reserved]
    numbers = [one for one in free if one.kind in {"float", "integer"} and not is_row_label(one)]
    # What is called a score may hold losses without bounds, and is not looked at.
    numbers = [one for one in numbers if not says_score(one.name)] or numbers
    if not numbers:
        return None
    names = [one.name for one in numbers]
    values = table.matrix(names)[1]
    whole = {one.name for one in numbers if one.kind != "float" or is_id_like(one.name)}
    found = class_columns(names, list(values.T), whole)
    fine = [at for at, name in enumerate(names) if name not in whole]
    lone = lone_column([names[at] for at in fine], [values[:, at] for at in fine])
    if lone is not None and not found:
        found = [(fine[lone],)]
    if len(found) != 1:
        return None
    chosen = tuple(names[at] for at in found[0])
    skipped = tuple(one.name for one in free if one.name not in chosen)
    values = values[:, found[0]] if len(chosen) < len(names) else values
    return Coordinates(columns=chosen, values=values, skipped=skipped)


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
                f"{name}: column {column} numbers the rows, so it is no output of a model.",
                "Leave it out: an id may reveal who is a member.",
            )


def described(files: Iterable[Whole], rows: int) -> tuple[InputFile, ...]:
    """Close the files, of which some may be one, and return how the report names them.

    Raises:
        InputError: ``input_changed``.
    """
    found = []
    for file in {id(one): one for one in files}.values():
        found.append(file.described(rows))
        file.close()
    return tuple(found)


def opened(data: object, name: str) -> Whole | None:
    """Return a file or an array, opened; None for None."""
    return None if data is None else open_whole(data, name, several=True)


class ModelQuery(NamedTuple):
    """Scores made from a model's outputs.

    Attributes:
        columns: arrays of one length by name: ``member``, then the scores.
        report: what they are.
    """

    columns: Mapping[str, NDArray[Any]]
    report: ModelQueryReport

    @property
    def table(self) -> pa.Table:
        """Return the columns as an Arrow table, as ``estimate`` takes it."""
        import pyarrow as pa

        return pa.table(dict(self.columns))

    def write(self, file: BinaryIO, form: RowFormat) -> None:
        """Write the score file."""
        chunks = (
            {name: one[some] for name, one in self.columns.items()}
            for some in parts(self.columns["member"].size, _CHUNK)
        )
        write_rows(file, chunks, form, columns=[*self.columns], repeating=("label",))


def require_rows(found: int, wanted: int, name: str) -> None:
    """Raise InputError ``rows_differ`` unless two inputs have one row for each record."""
    if found != wanted:
        raise InputError(
            "rows_differ",
            f"{name}: the number of rows is {found:,}, but {wanted:,} in the outputs.",
            "Every file has one row for each record, in the same order.",
        )


def require_both_classes(member: Bools, hint: str = "Check who is marked as a member.") -> None:
    """Raise InputError ``empty_class`` unless there are members and holdout records."""
    for chosen, missing in ((member, "member"), (~member, "holdout record")):
        if not chosen.any():
            raise InputError("empty_class", f"No row is a {missing}.", hint)


def model_query(  # noqa: PLR0913 - what a report of either kind says
    command: str,
    scores: Mapping[str, tuple[str, NDArray[Any]]],
    others: Mapping[str, NDArray[Any]],
    *,
    classes: int | None = None,
    models: int | None = None,
    variance: str | None = None,
    findings: Sequence[Finding],
    limitations: Sequence[Message],
    provenance: Provenance,
) -> ModelQuery:
    """Return the columns and their report.

    Args:
        command: that made them.
        scores: meaning and values of each score column.
        others: ``member`` and what else is no score.
        classes: of the model.
        models: shadow models.
        variance: of the normal laws.
        findings: what the reader must know.
        limitations: what the scores do not show.
        provenance: where they came from.
    """
    member = others["member"]
    inside = int(np.count_nonzero(member))
    columns = {**others, **{name: values for name, (_, values) in scores.items()}}
    report = ModelQueryReport(
        command=command,
        n_members=inside,
        n_holdout=int(member.size) - inside,
        classes=classes,
        models=models,
        variance=variance,
        columns=tuple(columns),
        scores=tuple(
            WrittenScore(
                name=name, meaning=meaning, infinite=int(np.count_nonzero(np.isinf(values)))
            )
            for name, (meaning, values) in scores.items()
        ),
        findings=(*size_findings(inside, int(member.size) - inside), *findings),
        limitations=tuple(limitations),
        provenance=provenance,
        curves=tuple(
            spread_alone(name, np.asarray(values, dtype=np.float64), member)
            for name, (_, values) in scores.items()
        ),
    )
    return ModelQuery(columns=columns, report=report)
