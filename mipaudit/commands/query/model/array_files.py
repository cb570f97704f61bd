"""Arrays of one row per record, .npy, .npz, or the columns of a table; and scores made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.model.report import ModelQueryReport, WrittenScore
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
from mipaudit.output.rows import RowFormat, table_of, write_rows
from mipaudit.statements.printable_names import quoted_name, safe_name

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.model.message import Finding, Message
    from mipaudit.statements.provenance import InputFile, Provenance

LABEL_HINT: Final = "Number the classes in the order of the outputs, from 0."
# Others are about options and noise, which there are none of here.
_HINTS: Final = {
    "unparsable": "Save a table that has only the outputs, label and member.",
    "text_column": "Save a table that has only the outputs, label and member.",
    "infinite_cells": "Every number must be finite. Probabilities may be 0 and 1, where logits and "
    "losses would be infinite.",
}
_MATRIX: Final = 2
# Of words for members and for the holdout.
_FORMS: Final = (str.lower, str.upper, str.capitalize)


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
            values = _numbers(file, _matrix(file, names))
            found = Coordinates(columns=(), values=values, skipped=())
        else:
            folded = {name.casefold() for name in reserved}
            taken = [f.name for f in file.table.fields if f.name.strip().casefold() in folded]
            chosen = _class_columns(file.table, taken) if classes else None
            found = chosen or read_coordinates(file.table, reserved=taken)
    _refuse_row_numbers(found, file.name)
    return found


def vector(
    file: Whole, names: Sequence[str], what: str, *, alone: bool = True
) -> NDArray[np.float64]:
    """Return finite numbers of shape (rows,).

    Args:
        file: with one row per record.
        names: what the array or the column may be called.
        what: what messages call it.
        alone: the file was given for it, and its only array or column is meant whatever
            its name; where it was given for something else, the name must be right.

    Raises:
        InputError: there is no such array or column, or it holds no finite numbers;
            ``several_columns``: it has more than one number for each record.
    """
    with other_hints(_HINTS, but=LABEL_HINT):
        found = _chosen(file, names, what, alone=alone)
        if file.table is not None:
            if _kind(file, found) in {"string", "other"}:
                raise InputError(
                    "text_column",
                    f"{file.name}: column {quoted_name(found)} holds text in place of the "
                    f"numbers of {what}.",
                    hint=LABEL_HINT if what == "labels" else None,
                )
            return file.table.matrix([found])[1][:, 0]
        if _held_in(file)[found] != 1:
            raise InputError(
                "several_columns",
                f"{file.name}: several columns, where {what} is one number for each record.",
                hint="Of classes that are coded by a column each, numpy.argmax(labels, axis=1) "
                "makes one.",
            )
        return _numbers(file, file.arrays[found])[:, 0]


def words(file: Whole, names: Sequence[str], *, alone: bool = True) -> NDArray[np.str_] | None:
    """Return text of shape (rows,); None where there is none, or it is of numbers.

    Args:
        file: with one row per record.
        names: what the array or the column may be called.
        alone: as of `vector`.
    """
    found = find(file, names, dimensions=1)
    if found is None and alone and len(_held_in(file)) == 1:
        found = next(iter(_held_in(file)))
    if found is None:
        return None
    if file.table is not None:
        return file.table.words(found) if _kind(file, found) == "string" else None
    array = file.arrays[found]
    return array.reshape(-1) if array.dtype.kind == "U" and _held_in(file)[found] == 1 else None


def members_of(
    file: Whole, names: Sequence[str] = CANDIDATES, *, alone: bool = True
) -> NDArray[np.bool_]:
    """Return which rows are members, bool, shape (rows,).

    Args:
        file: with one row per record.
        names: what the array or the column may be called.
        alone: as of `vector`.

    Raises:
        InputError: ``unknown_labels``: neither 0 and 1 nor well-known words; as `vector`.
    """
    found = find(file, names)
    if file.table is not None and found is not None and _kind(file, found) == "string":
        words = file.table.words(found)
        inside, outside = (np.isin(words, one) for one in _spelled())
    else:
        values = vector(file, names, "membership", alone=alone)
        inside, outside = values == 1.0, np.isin(values, (0.0, -1.0))
    if not (inside | outside).all():
        raise InputError(
            "unknown_labels",
            f"{file.name}: membership is neither 0 and 1 nor a well-known pair of words "
            "everywhere.",
            hint="Write 1 for members and 0 for holdout records.",
        )
    return np.asarray(inside)


def _kind(file: Whole, name: str) -> str:
    fields = () if file.table is None else file.table.fields
    return next(one.kind for one in fields if one.name == name)


def _matrix(file: Whole, names: Sequence[str]) -> NDArray[Any]:
    found = find(file, names, dimensions=_MATRIX) or find(file, names)
    fitting = [name for name, own in _held_in(file).items() if own == _MATRIX]
    if found is None and len(fitting) == 1:
        found = fitting[0]
    if found is None and "" not in _held_in(file):
        raise _absent(file, names)
    return file.arrays[found or ""]


def _chosen(file: Whole, names: Sequence[str], what: str, *, alone: bool) -> str:
    """Return the column or array by one of the names; another if it was given for this."""
    found = find(file, names, dimensions=1) or find(file, names)
    if found is not None:
        return found
    if not alone:
        raise InputError(
            "not_given",
            f"{file.name}: no column or array in it is called {quoted_name(names[0])}, and "
            f"there is no file of its own for {what}.",
            hint=f"Add `{what}` FILE, or save it with the outputs: as a column of a table, or "
            "by numpy.savez(path, logits=..., labels=..., member=...).",
        )
    here = [*_held_in(file)]
    if len(here) > 1 and file.table is not None:
        return find_column(file.table.fields, names[0], option=f"{file.name}, {what}").name
    if len(here) > 1:
        here = [name for name in here if _held_in(file)[name] == 1]
    if len(here) != 1:
        raise _absent(file, names)
    return here[0]


def _absent(file: Whole, names: Sequence[str]) -> InputError:
    return InputError(
        "no_such_array",
        f"{file.name}: there is no array called {quoted_name(names[0])}.",
        hint=f"It holds: {', '.join(safe_name(name) for name in sorted(file.arrays))}.",
    )


def _numbers(file: Whole, array: NDArray[Any]) -> NDArray[np.float64]:
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != _MATRIX or not array.size:
        raise InputError(
            "wrong_shape",
            f"{file.name}: an array of {array.ndim} dimensions, or an empty one, where one row "
            "for each record is expected.",
        )
    if array.dtype.kind == "U":
        raise InputError(
            "text_column",
            f"{file.name}: text, where numbers are expected.",
            hint="Only labels may be text, and well-known words say who is a member.",
        )
    names = [f"c{at}" for at in range(array.shape[1])]
    return ArrayTable(name=file.name, array=array).matrix(names)[1]


def _spelled() -> tuple[list[str], list[str]]:
    """Return the words for members and those for the holdout, in each case of their letters."""
    inside, outside = (
        [spell(one) for one in side if isinstance(one, str) for spell in _FORMS]
        for side in (MEMBER_LABELS, HOLDOUT_LABELS)
    )
    return inside, outside


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
                f"{name}: column {column} counts the rows, which no model does.",
                hint="Leave it out: an id may tell members from holdout records.",
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


_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelQuery:
    """Scores made of a model's outputs.

    Attributes:
        columns: arrays of one length by name: ``member``, then the scores.
        report: what they are.
    """

    columns: Mapping[str, NDArray[Any]]
    report: ModelQueryReport

    @property
    def table(self) -> pa.Table:
        """Return the columns as an Arrow table, as ``estimate`` takes it."""
        return table_of(self._chunks(), columns=[*self.columns])

    def write(self, file: BinaryIO, form: RowFormat) -> None:
        """Write the score file."""
        write_rows(file, self._chunks(), form, columns=[*self.columns], repeating=("label",))

    def _chunks(self) -> Iterator[Mapping[str, NDArray[Any]]]:
        rows = self.columns["member"].size
        for start in range(0, rows, _CHUNK):
            yield {name: one[start : start + _CHUNK] for name, one in self.columns.items()}


def require_rows(found: int, wanted: int, name: str) -> None:
    """Raise InputError ``rows_differ`` unless two inputs have one row for each record."""
    if found != wanted:
        raise InputError(
            "rows_differ",
            f"{name}: {found:,} rows, where the outputs have {wanted:,}.",
            hint="Every file has one row for each record, in the same order.",
        )


def require_both_classes(
    member: NDArray[np.bool_], hint: str = "Check who is marked as a member."
) -> None:
    """Raise InputError ``empty_class`` unless there are members and holdout records."""
    for chosen, missing in ((member, "member"), (~member, "holdout record")):
        if not chosen.any():
            raise InputError("empty_class", f"No row is a {missing}.", hint=hint)


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
