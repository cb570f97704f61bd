"""Which columns are scores: by name and kind, never by looking at values.

Where nothing is named a column is a score whose name says so (`is_score_like`), and so is
every other column of floats; integers, and then booleans, only where there is no score yet.
What looks like an id, a label, a prediction or a group is none. A column that may be a score
and is left out all the same is told with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.data.csv.cells import MISSING
from mipaudit.errors import InputError, UsageError
from mipaudit.model.message import Message
from mipaudit.reading.columns.membership import CANDIDATES
from mipaudit.reading.columns.names import (
    ends_as_id,
    hints_score,
    id_kind,
    is_answer,
    is_id_like,
    is_plain_word,
    is_score_like,
    says_score,
)
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name, safe_name
from mipaudit.statements.verdict import LEFT_OUT

if TYPE_CHECKING:
    from mipaudit.reading.columns.column import Field, Kind

# A first line of cells has one of these at most where others have numbers.
_CELLS: Final = frozenset({"", "inf", "infinity", *map(str.casefold, MISSING)})
_NUMBERS: Final = frozenset({"float", "integer", "bool"})
_TAKEABLE: Final = frozenset({"float", "integer", "bool", "string"})
# Why a column is no score, and how an error says it.
_UNREADABLE: Final = {
    "string": "text_column",
    "empty": "empty_column",
    "other": "unreadable_column",
}
_LISTS: Final = "lists"
_NOT_NAMED: Final = "not_named"
_ID_LIKE: Final = "named_like_id"
_WHY: Final = {
    _LISTS: "lists of numbers",
    _ID_LIKE: "named like an id, label, prediction or group",
    "unreadable_column": "neither numbers nor text",
    "empty_column": "no values",
    "text_column": "text",
    "role": "has another role",
    "folder_key": "a key of the folders",
    "copy_column": "says which records were released word for word",
    "membership_like": "named like a membership column",
}
# Beside so many columns of text, whole numbers are more likely ages and codes than scores.
_FEWEST_TEXTS: Final = 2
_NAMED_OR_UNREADABLE: Final = frozenset({_ID_LIKE, *_UNREADABLE.values()})
# Why a column was never a candidate: no number in a report depends on whether it is there.
UNUSED: Final = frozenset({_NOT_NAMED, _ID_LIKE, "text_column"})
_SHOWN: Final = 12
_KEY: Final = re.compile(r"\d{3}")
MOST_COORDINATES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The score columns in file order, and every other column with the reason.

    Attributes:
        scores: the columns that are read, also those that are part of a vector alone.
        skipped: (column, why).
        vectors: the columns of each score of several numbers, as they were named.
        scalars: names of the columns that are scores by themselves.
        found: whether the rules chose the scores, and not the user.
        unaudited: (column, why), of those that the rules left out, which may be scores.
    """

    scores: tuple[Field, ...]
    skipped: tuple[tuple[str, Message], ...]
    vectors: tuple[tuple[str, ...], ...]
    scalars: frozenset[str]
    found: bool = False
    unaudited: tuple[tuple[str, Message], ...] = ()


def is_candidate(name: str) -> bool:
    """Tell whether ``name`` is one of the membership columns' names."""
    return name.strip().casefold() in CANDIDATES


def candidate_columns(fields: Iterable[Field]) -> tuple[str, ...]:
    """Return the membership candidates that are present, in order of priority."""
    present = [field.name for field in fields if is_candidate(field.name)]
    return tuple(sorted(present, key=lambda name: CANDIDATES.index(name.strip().casefold())))


def find_column(fields: Sequence[Field], name: str, *, option: str) -> Field:
    """Return the column called ``name``.

    Raises:
        InputError: ``unknown_column``, with the closest name as a hint.
    """
    for field in fields:
        if field.name == name:
            return field
    raise InputError(
        "unknown_column",
        f"{option}: there is no column {quoted_name(name)}.",
        hint=_in_commas(name, fields, option) or _closest(name, fields),
    )


def _in_commas(name: str, fields: Sequence[Field], option: str) -> str | None:
    """Return how to name a column to group by whose own name was taken for a list."""
    for field in fields if option == "`by`" else ():
        if "," in field.name and name in map(str.strip, field.name.split(",")):
            return f"{quoted_name(field.name)} has a comma: put it in quotation marks of its own."
    return None


def _closest(name: str, fields: Sequence[Field]) -> str:
    from difflib import get_close_matches

    names = [field.name for field in fields]
    folded = {other.casefold(): other for other in names}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if close and (is_known(folded[close[0]]) or not _doubtful(names, fields)):
        return f"Did you mean {quoted_name(folded[close[0]])}?"
    return f"The columns are: {shown_names(names, fields)}."


def shown_names(names: Sequence[str], fields: Sequence[Field] | None = None) -> str:
    """Return the first names, made safe, and how many more there are.

    Where one looks like a record's key, such as PATIENT00001, or nothing tells names from words,
    the first line of a file may be a record: only names that columns of scores, labels or ids
    have are then shown.

    Args:
        names: of columns.
        fields: all columns of the file; None where it is known that they have names.
    """
    doubtful = _doubtful(names, fields)
    listed = ", ".join(
        f"(column {at})" if doubtful and not is_known(name) else safe_name(name)
        for at, name in enumerate(names[:_SHOWN], start=1)
    )
    more = len(names) - _SHOWN
    return listed if more <= 0 else f"{listed} and {more} more"


def shown_column(name: str, fields: Sequence[Field]) -> str:
    """Return one of the fields' names in quotes, or its place where that may be a record's."""
    names = [field.name for field in fields]
    if is_known(name) or not _doubtful(names, fields):
        return quoted_name(name)
    return f"number {names.index(name) + 1}"


def _doubtful(names: Sequence[str], fields: Sequence[Field] | None) -> bool:
    if any(_KEY.search(name) and not is_known(name) for name in names):
        return True
    return fields is not None and not any(
        is_known(one.name) or (one.kind in _NUMBERS and not is_cell(one.name)) for one in fields
    )


def is_cell(name: str) -> bool:
    """Tell whether ``name`` may be how a record writes that a number is missing or infinite."""
    folded = name.strip().casefold().lstrip("+-")
    return folded in _CELLS or folded.startswith("unnamed:")


def is_known(name: str) -> bool:
    """Tell whether ``name`` is one that columns of scores, labels, ids or membership have."""
    return is_candidate(name) or is_score_like(name) or is_plain_word(name)


def select_named(
    fields: Sequence[Field], names: Sequence[str], *, vectors: bool = False
) -> Selection:
    """Return the columns that the user named, in file order.

    Args:
        fields: all columns, in file order.
        names: a column each, or a comma list of columns: one score of several numbers.
            A column whose own name has a comma is that column.
        vectors: whether the caller can audit such scores.

    Raises:
        UsageError: ``vector_score`` for a comma list where none can be audited, or one
            that names a column twice.
        InputError: ``unknown_column`` or ``not_a_score``.
    """
    present = {field.name for field in fields}
    lists = [name for name in dict.fromkeys(names) if name not in present and "," in name]
    if lists and not vectors:
        raise UsageError(
            "vector_score",
            "`score_col`: a comma list is one score with several numbers, which this command "
            "cannot take.",
            hint="Repeat `score_col` once per column, or use `mipaudit estimate`.",
        )
    taken = tuple(dict.fromkeys(_vector(fields, name) for name in lists))
    scalars = frozenset(
        find_column(fields, name, option="`score_col`").name for name in names if name not in lists
    )
    wanted = scalars | {name for vector in taken for name in vector}
    for field in fields:
        if field.name in wanted and field.kind not in _TAKEABLE:
            raise InputError(
                "not_a_score",
                f"`score_col`: column {quoted_name(field.name)} holds no numbers or text.",
            )
    return Selection(
        scores=tuple(field for field in fields if field.name in wanted),
        skipped=tuple((f.name, Message(_NOT_NAMED)) for f in fields if f.name not in wanted),
        vectors=taken,
        scalars=scalars,
    )


def _vector(fields: Sequence[Field], listed: str) -> tuple[str, ...]:
    """Return the columns of a comma list.

    Raises:
        UsageError: a column is named twice, or there are more than 100.
        InputError: ``unknown_column``, or ``not_a_score`` for one of text.
    """
    kinds = {field.name: field.kind for field in fields}
    names = tuple(name if name in kinds else name.strip() for name in listed.split(","))
    found = tuple(find_column(fields, name, option="`score_col`").name for name in names)
    if len(set(found)) < len(found):
        raise UsageError(
            "vector_score", "`score_col`: a comma list names the same column more than once."
        )
    if len(found) > MOST_COORDINATES:
        raise UsageError(
            "vector_score",
            f"`score_col`: a vector score may have at most {MOST_COORDINATES} columns.",
            hint="Audit the columns side by side: repeat `score_col` once per column.",
        )
    for name in found:
        if kinds[name] == "string":
            raise InputError(
                "not_a_score",
                f"`score_col`: column {quoted_name(name)} holds text, which cannot be part of "
                "a vector of numbers.",
                hint="Name it in a `score_col` of its own.",
            )
    return found


def select_scores(fields: Sequence[Field], reserved: frozenset[str]) -> Selection:
    """Return the score columns by the rules.

    Args:
        fields: all columns, in file order.
        reserved: columns that have another role (where, key, person).

    Raises:
        InputError: ``no_score_column``.
    """
    kinds = {field.name: field.kind for field in fields}
    reasons = {field.name: _reason(field, reserved) for field in fields}
    open_fields = [field for field in fields if reasons[field.name] is None]
    taken = _taken(open_fields)
    if not taken:
        raise InputError(
            "no_score_column",
            f"No numeric score column among: {shown_names([f.name for f in fields], fields)}.",
            hint=f"{_why_none(fields, reasons)}Name one with `score_col`.",
        )
    first = (kind for kind in ("float", "integer") if kind in {kinds[name] for name in taken})
    others = "named" if any(map(says_score, taken)) else next(first, "bool")
    skipped = tuple(
        (name, Message(why) if why else Message.of("other_kind", kind=kinds[name], others=others))
        for name, why in reasons.items()
        if name not in taken
    )
    return Selection(
        scores=tuple(field for field in fields if field.name in taken),
        vectors=(),
        scalars=frozenset(taken),
        skipped=skipped,
        found=True,
        unaudited=tuple(
            (name, why)
            for name, why in skipped
            if reasons[name] is None
            or why.code == _LISTS
            or (
                why.code in _NAMED_OR_UNREADABLE
                and (hints_score(name) or is_answer(name, kinds[name]))
            )
        ),
    )


def _why_none(fields: Sequence[Field], reasons: Mapping[str, str | None]) -> str:
    """Return why each column is no score; nothing where their names may be a record's."""
    if _doubtful(list(reasons), fields):
        return ""
    by_reason: dict[str, list[str]] = {}
    for name, why in reasons.items():
        if why is not None:
            by_reason.setdefault(why, []).append(name)
    told = (f"{shown_names(names)} ({_WHY[why]})" for why, names in by_reason.items())
    return f"Left out: {'; '.join(told)}. "


def _taken(fields: Sequence[Field]) -> frozenset[str]:
    """Return what is a score among columns that have no other role."""
    named = [f.name for f in fields if f.kind == "float" or says_score(f.name)]
    kinds: tuple[Kind, ...] = ("integer", "bool")
    groups = (named, *([f.name for f in fields if f.kind == kind] for kind in kinds))
    return frozenset(next(filter(None, groups), ()))


def _reason(field: Field, reserved: frozenset[str]) -> str | None:
    return _role(field, reserved) or _content(field)


def _role(field: Field, reserved: frozenset[str]) -> str | None:
    if field.name in reserved:
        return "role"
    if field.folder:
        return "folder_key"
    if field.name == COPY_COLUMN:
        return "copy_column"
    if is_candidate(field.name):
        return "membership_like"
    return None


def _content(field: Field) -> str | None:
    if field.lists:
        # No label or id is several numbers.
        return _LISTS
    if (is_id_like(field.name) and not _is_measured(field)) or _names_somebody(field):
        return _ID_LIKE
    return _UNREADABLE.get(field.kind)


def _names_somebody(field: Field) -> bool:
    """Tell whether a column is whole numbers of persons, such as ``patient``: no measurements."""
    return field.kind == "integer" and id_kind(field.name) is not None


def _is_measured(field: Field) -> bool:
    """Tell whether a column is a score of what its name holds besides: floats are no label.

    ``conf_label`` is the confidence in a label, ``target_loss`` a loss.
    """
    says = says_score(field.name) and not ends_as_id(field.name)
    return says and field.kind == "float"


def _look_like_records(selection: Selection) -> bool:
    """Tell whether whole numbers between texts were taken, none of them named as a score."""
    texts = sum(why.code == "text_column" for _, why in selection.skipped)
    named = any(field.kind == "float" or says_score(field.name) for field in selection.scores)
    return texts >= _FEWEST_TEXTS and not named


def selection_findings(selection: Selection) -> tuple[Finding, ...]:
    """Return what the rules took for scores, where that is more than one, and what they left."""
    if not selection.found:
        return ()
    found = []
    names = sorted(field.name for field in selection.scores)
    if len(names) > 1:
        found.append(
            Finding.of("scores_found", n=len(names), names=shown_names(names, selection.scores))
        )
    if _look_like_records(selection):
        found.append(Finding.of("looks_like_records"))
    order = ["other_kind", *_WHY]
    reasons = {why for _, why in selection.unaudited}
    for why in sorted(reasons, key=lambda one: (order.index(one.code), str(one.values))):
        left = sorted(name for name, reason in selection.unaudited if reason == why)
        several = "one" if len(left) == 1 else "several"
        case = "lists" if why.code == _LISTS else several
        said = None if why.code == _LISTS else why
        found.append(
            Finding.of(LEFT_OUT, case=case, n=len(left), names=shown_names(left), why=said)
        )
    return tuple(found)
