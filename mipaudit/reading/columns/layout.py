"""Which columns an input has in common, and which of them are needed.

Which column says who is a member, and how; and which says what was released word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from mipaudit.data.parts import named_fault
from mipaudit.errors import InputError, UsageError
from mipaudit.reading.columns.column import Field, Kind
from mipaudit.reading.columns.membership import (
    CANDIDATES,
    Label,
    MemberRule,
    Where,
    distinct_labels,
    empty_class_error,
    label_error,
    parse_where,
    rule_from_labels,
    rule_from_value,
)
from mipaudit.reading.columns.names import id_kind, is_id_like, name_words, splits_audits
from mipaudit.reading.columns.score_selection import (
    Selection,
    candidate_columns,
    find_column,
    is_candidate,
    select_named,
    select_scores,
    shown_names,
)
from mipaudit.reading.rows.intake import Coarse
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from mipaudit.data.parts import Part
    from mipaudit.data.request import ReadRequest
    from mipaudit.model.message import Message

# Floats that round more than text and float64 do, the coarsest first.
_COARSE: Final = ("float16", "float32")
_NAMED: Final = 3
_NUMBERS: Final = frozenset({"float", "integer", "bool", "empty"})
_BOOLEANS: Final = frozenset({0.0, 1.0})
_COUNTED: Final = 1000
_COPY_KINDS: Final = frozenset({"bool", "integer", "float", "string"})
_COPY_WORDS: Final = name_words(COPY_COLUMN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The columns that are read, and what for.

    ``candidates`` may say membership; ``hashed`` are needed as hashes alone, ``carried``
    with the values that groups and keys are written with. ``ids`` name records, persons or runs,
    and ``splits`` may say to which of several audits a row belongs. ``copies`` tells whether the
    input says which records were released.
    """

    selection: Selection
    candidates: tuple[str, ...]
    where: Where | None
    ids: tuple[str, ...]
    splits: tuple[str, ...]
    needed: frozenset[str]
    hashed: frozenset[str]
    carried: frozenset[str]
    copies: bool

    def load(self, part: Part) -> Callable[[], None]:
        """Return what gets the columns of a part ready.

        Raises:
            InputError: ``columns_differ`` when it lacks a column that is read.
        """
        present = {field.name for field in part.fields}
        scores = [field.name for field in self.selection.scores]
        filtered = [self.where.column] if self.where else []
        for name in (*scores, *filtered, *sorted(self.hashed | self.carried)):
            if name not in present:
                raise InputError(
                    "columns_differ",
                    f"{part.name}: there is no column {quoted_name(name)}, which other files have.",
                )
        keys = self.carried.difference(scores)
        return partial(part.load, self.needed & present, self.hashed & present, keys & present)


def merge_fields(parts: Sequence[Part]) -> tuple[Field, ...]:
    """Return the columns of all parts, each once, with the kind that fits everywhere."""
    kinds: dict[str, Kind] = {}
    folders: set[str] = set()
    lists: set[str] = set()
    for part in parts:
        for field in part.fields:
            known = kinds.get(field.name)
            kinds[field.name] = field.kind if known is None else merged_kind({known, field.kind})
            if field.folder:
                folders.add(field.name)
            if field.lists:
                lists.add(field.name)
    return tuple(
        Field(name=name, kind=kind, folder=name in folders, lists=name in lists)
        for name, kind in kinds.items()
    )


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


def tells_copies(fields: Sequence[Field]) -> bool:
    """Tell whether a column of a part says which records were released word for word."""
    return any(field.name == COPY_COLUMN and field.kind in _COPY_KINDS for field in fields)


def require_copies_read(fields: Sequence[Field], *, told: bool) -> None:
    """Refuse a column that would say it, under another name or in a kind that is not read.

    Args:
        fields: of the whole input.
        told: whether a part says it in a way that is read.

    Raises:
        InputError: ``copies_unread``.
    """
    for field in fields:
        unread = field.name != COPY_COLUMN or (field.kind == "other" and not told)
        if unread and name_words(field.name) == _COPY_WORDS:
            raise InputError(
                "copies_unread",
                f"Column {quoted_name(field.name)} is not read, and seems to say which records "
                "were released word for word.",
                hint=f"Call it {COPY_COLUMN}, and write 1 or 0 in it.",
            )


def plan_columns(fields: Sequence[Field], parts: Sequence[Part], request: ReadRequest) -> Layout:
    """Choose the columns by the request and the rules.

    Raises:
        UsageError: a column is asked to play two roles.
        InputError: a named column is not there, or there is no score.
    """
    where = None if request.where is None else parse_where(request.where)
    unreadable = _unreadable(parts)
    roles = _roles(fields, where, request, unreadable)
    if request.score_columns:
        selection = select_named(fields, request.score_columns, vectors=request.vectors)
        if request.chosen_by is not None:
            selection = replace(selection, unaudited=_left_out(selection, fields, roles))
    else:
        _check_kinds(fields, parts)
        selection = select_scores(fields, frozenset(roles))
    scores = {field.name for field in selection.scores}
    if request.member_column in scores:
        raise UsageError("two_roles", "A column cannot be both score and membership.")
    candidates = (
        candidate_columns(fields) if request.member_column is None else (request.member_column,)
    )
    candidates = tuple(n for n in candidates if n not in scores and n not in unreadable)
    plain = scores | set(candidates) | ({where.column} if where else set())
    carried = set(request.group_columns)
    if request.named and request.key_column is not None:
        carried.add(request.key_column)
    plain |= carried
    copies = any(tells_copies(part.fields) for part in parts)
    require_copies_read(fields, told=copies)
    plain |= {COPY_COLUMN} if copies else set()
    ids, splits = _id_columns(
        parts, unreadable | scores | roles, persons=request.unit_column is not None
    )
    keys = {name for name in (request.unit_column, request.key_column) if name is not None}
    hashed = {*keys, *ids, *splits}
    return Layout(
        selection=selection,
        candidates=candidates,
        where=where,
        ids=ids,
        splits=splits,
        needed=frozenset(plain | hashed),
        hashed=frozenset(hashed - plain),
        copies=copies,
        carried=frozenset(carried),
    )


def _left_out(
    selection: Selection, fields: Sequence[Field], roles: Collection[str]
) -> tuple[tuple[str, Message], ...]:
    """Return the columns that would be scores had none been named, each with why it is not."""
    try:
        found = select_scores(fields, frozenset(roles)).scores
    except InputError:  # none is a score by its name and its type
        return ()
    left = {field.name for field in found} - {field.name for field in selection.scores}
    return tuple(one for one in selection.skipped if one[0] in left)


def _roles(
    fields: Sequence[Field],
    where: Where | None,
    request: ReadRequest,
    unreadable: frozenset[str],
) -> set[str]:
    """Return the columns that the request gives another role than score."""
    if request.unit_column is not None and request.key_column is not None:
        raise UsageError("two_keys", "Give `unit_col` or `key_col`, not both.")
    named = (
        ("`where`", None if where is None else where.column),
        ("`unit_col`", request.unit_column),
        ("`key_col`", request.key_column),
        ("`member_col`", request.member_column),
        *((request.group_option, name) for name in request.group_columns),
    )
    present = [(option, name) for option, name in named if name is not None]
    for option, name in present:
        find_column(fields, name, option=option)
        if name in unreadable:
            raise unreadable_column(name, option=option)
    return {name for _, name in present}


def _unreadable(parts: Sequence[Part]) -> frozenset[str]:
    """Return the columns that hold neither numbers nor text in some part."""
    return frozenset(field.name for part in parts for field in part.fields if field.kind == "other")


def unreadable_column(name: str, *, option: str) -> InputError:
    """Return the error for a column whose type cannot play the role of ``option``."""
    return InputError(
        "unreadable_column",
        f"{option}: column {quoted_name(name)} holds neither numbers nor text.",
        hint="Store it as text, integers or booleans.",
    )


def _check_kinds(fields: Sequence[Field], parts: Sequence[Part]) -> None:
    """Raise when a column that may be a score is numbers here and something else there."""
    for field in fields:
        clash = field.kind == "other" and any(
            other.name == field.name and other.kind in {"float", "integer"}
            for part in parts
            for other in part.fields
        )
        if clash and not is_id_like(field.name) and not is_candidate(field.name):
            raise InputError(
                "columns_differ",
                f"Column {quoted_name(field.name)} holds numbers in one file and not in another.",
                hint="Name the columns to audit with `score_col`.",
            )


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
        kinds = {field.kind for field, _ in found}
        types = {field.storage for field, _ in found if field.kind != "empty"}
        coarse = next((one for one in _COARSE if one in types), None)
        if coarse is not None and len(types) > 1 and kinds <= _NUMBERS:
            where = _first_of([part for field, part in found if field.storage == coarse])
            rounded[name] = Coarse(precision=coarse, where=where)
        elif len(kinds - {"empty"}) > 1 or len({field.storage for field, _ in found} - {None}) > 1:
            mixed.append(name)
    return rounded, tuple(mixed)


def _first_of(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _id_columns(
    parts: Sequence[Part], taken: Collection[str], *, persons: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that name records in every part, and those that may split them.

    What is taken for something else is not among them.
    """
    common = set.intersection(*({field.name for field in part.fields} for part in parts))
    names = sorted(common.difference(taken))
    ids = tuple(name for name in names if id_kind(name) is not None)
    found = ids or persons
    return ids, tuple(name for name in names if found and splits_audits(name))


def member_rule(
    parts: Sequence[Part], candidates: Sequence[str], request: ReadRequest, *, required: bool
) -> MemberRule | None:
    """Return how the parts tell members from holdout.

    Args:
        parts: loaded parts that are read in the same way.
        candidates: the columns that may say it.
        request: names the column or the member's label, if the user did.
        required: an error when no column says it; None otherwise.

    Raises:
        InputError: ``no_member_column``, ``ambiguous_membership``,
            ``unknown_labels``, ``many_labels`` or ``empty_class``.
    """
    present = [name for name in candidates if all(_has(part, name) for part in parts)]
    if not present:
        if required:
            raise no_member_column(parts)
        return None
    if request.member_value is not None:
        if len(present) > 1:
            raise _ambiguous(present)
        return rule_from_value(present[0], request.member_value)
    surveys = {name: _survey(parts, name, enough=2) for name in present}
    rules = [rule for name in present if (rule := _rule(name, surveys[name])) is not None]
    if len(rules) > 1:
        raise _ambiguous([rule.column for rule in rules])
    if not rules:
        count = len(_survey(parts, present[0], enough=_COUNTED))
        raise _label_error(parts[0].fields, present[0], count)
    if required and len(surveys[rules[0].column]) == 1:
        raise empty_class_error(members=not rules[0].members)
    return rules[0]


def _label_error(fields: Sequence[Field], name: str, count: int) -> InputError:
    kinds = {field.name: field.kind for field in fields}
    likely = [other for other in candidate_columns(fields) if other != name]
    return label_error(
        name,
        count,
        measured=kinds[name] == "float",
        likely=shown_names(likely, fields) if likely else None,
    )


def _has(part: Part, name: str) -> bool:
    return any(field.name == name for field in part.fields)


def _rule(name: str, labels: set[Label]) -> MemberRule | None:
    if not labels:
        # Every row is null: the first pass says so, with their number.
        return MemberRule(column=name, members=frozenset({1.0}), holdout=frozenset({0.0}))
    return rule_from_labels(name, labels)


def _survey(parts: Sequence[Part], name: str, *, enough: int) -> set[Label]:
    """Return the labels in column ``name``, in row order until there are ``enough``."""
    kinds = {field.kind for part in parts for field in part.fields if field.name == name}
    if kinds == {"bool"}:
        return set(_BOOLEANS)
    labels: set[Label] = set()
    for part in parts:
        for piece in part.pieces():
            try:
                for chunk in piece.chunks((name,), 0):
                    labels |= distinct_labels(chunk.columns[name])
                    if len(labels) >= enough:
                        return labels
            except InputError as error:
                raise named_fault(error, part.name) from None
    return labels


def _ambiguous(names: Sequence[str]) -> InputError:
    return InputError(
        "ambiguous_membership",
        f"Several columns may say who is a member: {shown_names(names)}.",
        hint="Choose one with `member_col`.",
    )


def no_member_column(parts: Sequence[Part]) -> InputError:
    """Return the error for an input in which no column says who is a member."""
    names = [field.name for field in parts[0].fields]
    single = len(names) == 1 and parts[0].blob is not None
    hint = (
        "There is a single column: CSV cells are separated by comma, semicolon, tab or bar."
        if single
        else "Name it with `member_col`, or give the classes as `members` and `holdout`."
    )
    return InputError(
        "no_member_column",
        f"No membership column ({', '.join(CANDIDATES)}) among: "
        f"{shown_names(names, parts[0].fields)}.",
        hint=hint,
    )
