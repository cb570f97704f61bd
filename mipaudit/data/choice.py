"""Which columns of an input are read, and what for: who is a member, what is a score.

The user names them, or rules do by name and kind, never by looking at values: a column is a score
whose name says so (`is_score_like`), and so is every other column of floats; integers, and then
booleans, only where there is no score yet. What looks like an id, a label, a prediction or a group
is none. A column that may be a score and is left out all the same is told with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mipaudit.data import words
from mipaudit.data.parts import named_fault
from mipaudit.data.rows.units import GroupColumns
from mipaudit.errors import InputError, UsageError
from mipaudit.model.message import Finding, Message
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.verdict import CHOSEN, LEFT_OUT

if TYPE_CHECKING:
    from mipaudit.data.column import Field, Kind, Part
    from mipaudit.data.request import ReadRequest
    from mipaudit.options.scores import NanPolicy

# A column, and why it is no score.
Skipped = tuple[tuple[str, Message], ...]
# Why a column is no score, and how an error says it.
_UNREADABLE: Final = {
    "string": "text_column",
    "empty": "empty_column",
    "other": "unreadable_column",
}
_ID_LIKE: Final = "named_like_id"
_WHY: Final = {
    "lists": "lists of numbers",
    _ID_LIKE: "named like an id, label, prediction or group",
    "unreadable_column": "neither numbers nor text",
    "empty_column": "no values",
    "text_column": "text",
    "role": "given to another option, such as `member_col`, `where` or `key_col`",
    "folder_key": "a key of the folders",
    "copy_column": "says which records were released unchanged",
    "membership_like": "named like a membership column",
}
# Why a column was never a candidate: no number in a report depends on whether it is there.
UNUSED: Final = frozenset({"not_named", _ID_LIKE, "text_column"})
# Beside so many columns of text, whole numbers are more likely ages and codes than scores.
_FEWEST_TEXTS: Final = 2
_LISTS: Final = (
    "A list of numbers is no score. Write one number of it for each record, such as its mean or "
    "its least value, into a column."
)
_COPY_KINDS: Final = words.NUMBERS | {"string"}
MOST_COORDINATES: Final = 100
_LABELS_COUNTED: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The columns that are read, and what for.

    Attributes:
        scores: in file order, also those that are part of a vector alone.
        scalars: names of those that are scores by themselves.
        vectors: the columns of each score of several numbers, as they were named.
        skipped: every other column with the reason.
        unaudited: of those the ones that may be scores, which nobody left out by name.
        members: columns that may say who is a member, in order of priority.
        where: the filter, or None.
        copies: whether the input says which records were released.
        carried: needed with the values that groups and keys are written with.
        key: names the row, or the person, by the user's word.
        named: whether rows carry the key's values.
        groups: name a row's group, or None.
        nan: what to do with a missing score.
        ids: name records, persons or runs by their own.
        splits: may say to which of several audits a row belongs.
    """

    scores: tuple[Field, ...]
    scalars: frozenset[str]
    vectors: tuple[tuple[str, ...], ...] = ()
    skipped: Skipped = ()
    unaudited: Skipped = ()
    members: tuple[str, ...] = ()
    where: words.Where | None = None
    copies: bool = False
    carried: frozenset[str] = frozenset()
    key: str | None = None
    named: bool = False
    groups: GroupColumns | None = None
    nan: NanPolicy = "error"
    ids: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The score columns."""
        return [field.name for field in self.scores]

    def of_part(
        self, part: Part, beside: Collection[str]
    ) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Return the columns of a part that are read, those as hashes alone, and those as text.

        Args:
            part: of the input.
            beside: columns that are looked at, too, where they are there.

        Raises:
            InputError: ``columns_differ`` when the part lacks a column that is read.
        """
        filtered = [] if self.where is None else [self.where.column]
        copies = [COPY_COLUMN] if self.copies else []
        with_values = self.carried.union(self.names, self.members, filtered, copies)
        hashed = {*self.ids, *self.splits, *([self.key] if self.key else [])} - with_values
        present = {field.name for field in part.fields}
        for name in (*self.names, *filtered, *sorted(hashed | self.carried)):
            if name not in present:
                raise InputError(
                    "columns_differ",
                    f"{part.name}: there is no column {quoted_name(name)}, which other files have.",
                    "It needs the same name in every file. For several models: mipaudit compare.",
                )
        texts = self.carried.difference(self.names)
        return (
            with_values.union(hashed, beside) & present,
            frozenset(hashed) & present,
            texts & present,
        )


def choice_findings(choice: Choice, request: ReadRequest) -> tuple[Finding, ...]:
    """Return what the reader must know of which scores were taken, and which were left."""
    if not request.score_columns:
        return _of_rules(choice)
    if request.chosen_by is None:
        return ()
    names = ", ".join(f"'{safe_name(name)}'" for name in choice.names)
    case, left = "some" if choice.unaudited else "all", len(choice.unaudited)
    return (Finding.of(CHOSEN, case=case, file=request.chosen_by, names=names, left=left),)


def _of_rules(choice: Choice) -> tuple[Finding, ...]:
    """Return what the rules took for scores, where that is more than one, and what they left."""
    found = []
    names = sorted(choice.names)
    if len(names) > 1:
        shown = words.shown_names(names, choice.scores)
        found.append(Finding.of("scores_found", n=len(names), names=shown))
    texts = sum(why.code == "text_column" for _, why in choice.skipped)
    measured = any(one.kind == "float" or words.says_score(one.name) for one in choice.scores)
    if texts >= _FEWEST_TEXTS and not measured:
        found.append(Finding.of("looks_like_records"))
    order = ["other_kind", *_WHY]
    reasons = {why for _, why in choice.unaudited}
    for why in sorted(reasons, key=lambda one: (order.index(one.code), str(one.values))):
        left = sorted(name for name, reason in choice.unaudited if reason == why)
        case = "lists" if why.code == "lists" else "one" if len(left) == 1 else "several"
        shown, said = words.shown_names(left), None if case == "lists" else why
        found.append(Finding.of(LEFT_OUT, case=case, n=len(left), names=shown, why=said))
    return tuple(found)


def choose(fields: Sequence[Field], parts: Sequence[Part], request: ReadRequest) -> Choice:
    """Choose the columns by the request and the rules.

    Args:
        fields: of the whole input.
        parts: of it.
        request: how to understand them.

    Raises:
        UsageError: a column is asked to play two roles.
        InputError: a named column is not there, or there is no score.
    """
    where = None if request.where is None else words.parse_where(request.where)
    others = frozenset(one.name for part in parts for one in part.fields if one.kind == "other")
    roles = _roles(fields, where, request, others)
    if request.score_columns:
        choice = _named(fields, roles, request)
    else:
        _require_one_kind(fields, parts)
        choice = choose_by_rules(fields, roles)
    scores = frozenset(choice.names)
    if request.member_column in scores:
        raise UsageError("two_roles", "A column cannot be both score and membership.")
    named = request.member_column
    members = words.candidate_columns(fields) if named is None else (named,)
    copies = any(tells_copies(part.fields) for part in parts)
    _require_copies_read(fields, told=copies)
    key, columns = request.key_column, request.group_columns
    common = set.intersection(*({field.name for field in part.fields} for part in parts))
    open_names = sorted(common.difference(others, scores, roles))
    ids = tuple(name for name in open_names if words.id_kind(name) is not None)
    split = bool(ids) or request.unit_column is not None
    groups = GroupColumns(
        columns=columns, option=request.group_option, required=request.run_column is not None
    )
    return replace(
        choice,
        members=tuple(name for name in members if name not in scores | others),
        where=where,
        copies=copies,
        carried=frozenset(columns).union([key] if request.named and key else ()),
        key=request.unit_column or key,
        named=request.named,
        groups=groups if columns else None,
        nan=request.nan,
        ids=ids,
        splits=tuple(name for name in open_names if split and words.splits_audits(name)),
    )


def _roles(
    fields: Sequence[Field],
    where: words.Where | None,
    request: ReadRequest,
    unreadable: Collection[str],
) -> frozenset[str]:
    """Return the columns that the request gives another role than score."""
    if request.unit_column is not None and request.key_column is not None:
        raise UsageError("two_keys", "Give `unit_col` or `key_col`, not both.")
    named = [
        ("`where`", None if where is None else where.column),
        ("`unit_col`", request.unit_column),
        ("`key_col`", request.key_column),
        ("`member_col`", request.member_column),
        *((request.group_option, name) for name in request.group_columns),
    ]
    present = [(option, name) for option, name in named if name is not None]
    for option, name in present:
        words.find_column(fields, name, option=option)
        if name in unreadable:
            raise unreadable_column(name, option=option)
    return frozenset(name for _, name in present)


def unreadable_column(name: str, *, option: str) -> InputError:
    """Return the error for a column whose type cannot play the role of ``option``."""
    return InputError(
        "unreadable_column",
        f"{option}: column {quoted_name(name)} holds neither numbers nor text.",
        "Store it as text, integers or booleans.",
    )


def _require_one_kind(fields: Sequence[Field], parts: Sequence[Part]) -> None:
    """Refuse a column that may be a score and is numbers here and something else there."""
    numbers = {
        one.name for part in parts for one in part.fields if one.kind in {"float", "integer"}
    }
    for field in fields:
        clash = field.kind == "other" and field.name in numbers
        if clash and not words.is_id_like(field.name) and not words.is_candidate(field.name):
            raise InputError(
                "columns_differ",
                f"Column {quoted_name(field.name)} holds numbers in one file and not in another.",
                "Name the columns to audit with `score_col`.",
            )


def tells_copies(fields: Sequence[Field]) -> bool:
    """Tell whether a column of a part says which records were released unchanged."""
    return any(field.name == COPY_COLUMN and field.kind in _COPY_KINDS for field in fields)


def _require_copies_read(fields: Sequence[Field], *, told: bool) -> None:
    """Refuse a column that says what was released under another name, or in an unread kind.

    Args:
        fields: of the whole input.
        told: whether a part says it in a way that is read.

    Raises:
        InputError: ``copies_unread``.
    """
    for field in fields:
        unread = field.name != COPY_COLUMN or (field.kind == "other" and not told)
        if unread and words.name_words(field.name) == words.name_words(COPY_COLUMN):
            raise InputError(
                "copies_unread",
                f"Column {quoted_name(field.name)} is not used, but seems to say which records "
                "appear in the release unchanged.",
                f"Call it {COPY_COLUMN}, and write 1 or 0 in it.",
            )


def _named(fields: Sequence[Field], roles: Collection[str], request: ReadRequest) -> Choice:
    """Return the scores that the user named, or a file in the user's place."""
    choice = choose_named(fields, request.score_columns, vectors=request.vectors)
    if request.chosen_by is None:
        return choice
    try:
        found = frozenset(choose_by_rules(fields, roles).names)
    except InputError:  # none is a score by its name and its type
        return choice
    left = found.difference(choice.names)
    return replace(choice, unaudited=tuple(one for one in choice.skipped if one[0] in left))


def choose_named(fields: Sequence[Field], names: Sequence[str], *, vectors: bool = False) -> Choice:
    """Return the scores that the user named.

    Args:
        fields: all columns, in file order.
        names: a column each, or a comma list of columns: one score of several numbers.
            A column whose own name has a comma is that column.
        vectors: whether the caller can audit such scores.

    Raises:
        UsageError: ``vector_score`` for a comma list where none can be audited, or one
            that names a column twice, or more than 100.
        InputError: ``unknown_column`` or ``not_a_score``.
    """
    present = {field.name for field in fields}
    lists = [name for name in dict.fromkeys(names) if name not in present and "," in name]
    if lists and not vectors:
        raise UsageError(
            "vector_score",
            "`score_col`: a list with commas is one score of several numbers, which this command "
            "cannot use.",
            "Repeat `score_col` once per column, or use `mipaudit estimate`.",
        )
    several = tuple(dict.fromkeys(_coordinates(fields, name) for name in lists))
    scalars = frozenset(
        words.find_column(fields, name, option="`score_col`").name
        for name in names
        if name not in lists
    )
    wanted = scalars.union(*several)
    scores = tuple(field for field in fields if field.name in wanted)
    for field in scores:
        if field.kind not in _COPY_KINDS:
            raise InputError(
                "not_a_score",
                f"`score_col`: column {quoted_name(field.name)} is neither numbers nor text.",
                _LISTS if field.lists else None,
            )
    skipped = tuple((f.name, Message("not_named")) for f in fields if f.name not in wanted)
    return Choice(scores=scores, scalars=scalars, vectors=several, skipped=skipped)


def _coordinates(fields: Sequence[Field], listed: str) -> tuple[str, ...]:
    """Return the columns of a comma list."""
    present = {field.name for field in fields}
    names = (name if name in present else name.strip() for name in listed.split(","))
    found = [words.find_column(fields, name, option="`score_col`") for name in names]
    coordinates = tuple(field.name for field in found)
    if len(set(coordinates)) < len(found):
        raise UsageError(
            "vector_score", "`score_col`: the list names the same column more than once."
        )
    if len(found) > MOST_COORDINATES:
        raise UsageError(
            "vector_score",
            f"`score_col`: a vector score may have at most {MOST_COORDINATES} columns.",
            "Audit the columns side by side: repeat `score_col` once per column.",
        )
    for field in found:
        if field.kind == "string":
            raise InputError(
                "not_a_score",
                f"`score_col`: column {quoted_name(field.name)} holds text, which cannot be part "
                "of a vector of numbers.",
                "Name it in a `score_col` of its own.",
            )
    return coordinates


def choose_by_rules(fields: Sequence[Field], reserved: Collection[str]) -> Choice:
    """Return the scores by the rules.

    Args:
        fields: all columns, in file order.
        reserved: columns that have another role (where, key, person).

    Raises:
        InputError: ``no_score_column``.
    """
    reasons = {field.name: _reason(field, reserved) for field in fields}
    free = [field for field in fields if reasons[field.name] is None]
    groups = (
        [one for one in free if one.kind == "float" or words.says_score(one.name)],
        [one for one in free if one.kind == "integer"],
        [one for one in free if one.kind == "bool"],
    )
    scores = tuple(next(filter(None, groups), ()))
    if not scores:
        raise InputError(
            "no_score_column",
            f"No numeric score column is found among: {words.shown_names([*reasons], fields)}.",
            f"{_why_none(fields, reasons)}" + no_score_hint(fields),
        )
    taken, kinds = {field.name for field in scores}, {field.kind for field in scores}
    first: Kind = "float" if "float" in kinds else "integer" if "integer" in kinds else "bool"
    others = "named" if any(map(words.says_score, taken)) else first
    left = [field for field in fields if field.name not in taken]
    why = {
        one.name: Message(code)
        if (code := reasons[one.name])
        else Message.of("other_kind", kind=one.kind, others=others)
        for one in left
    }
    return Choice(
        scores=scores,
        scalars=frozenset(taken),
        skipped=tuple(why.items()),
        unaudited=tuple((one.name, why[one.name]) for one in left if _may_be_score(one, why)),
    )


def no_score_hint(fields: Sequence[Field]) -> str:
    """Return what to do where no column is a score."""
    if any(one.lists for one in fields):
        return _LISTS
    if any(one.kind == "string" and words.says_score(one.name) for one in fields):
        return "If the score is text, write plain numbers, without a unit or %."
    return "Name one with `score_col`."


def _may_be_score(field: Field, why: Mapping[str, Message]) -> bool:
    """Tell whether a column that the rules leave out must be told."""
    code = why[field.name].code
    if code in {"other_kind", "lists"}:
        return True
    doubted = code == _ID_LIKE or code in _UNREADABLE.values()
    return doubted and (words.hints_score(field.name) or words.is_answer(field.name, field.kind))


def _reason(field: Field, reserved: Collection[str]) -> str | None:
    """Return the code of why a column is no score, whatever others there are; None for no reason.

    Its role counts first, then what is in it.
    """
    name, kind = field.name, field.kind
    # Of ``conf_label``, the confidence in a label, or ``target_loss``: floats are no label.
    measured = kind == "float" and words.says_score(name) and not words.ends_as_id(name)
    # Whole numbers of persons, such as ``patient``, are no measurements.
    somebody = kind == "integer" and words.id_kind(name) is not None
    rules = (
        ("role", name in reserved),
        ("folder_key", field.folder),
        ("copy_column", name == COPY_COLUMN),
        ("membership_like", words.is_candidate(name)),
        # No label or id is several numbers.
        ("lists", field.lists),
        (_ID_LIKE, (words.is_id_like(name) and not measured) or somebody),
    )
    return next((code for code, applies in rules if applies), _UNREADABLE.get(kind))


def _why_none(fields: Sequence[Field], reasons: Mapping[str, str | None]) -> str:
    """Return why each column is no score; nothing where their names may be a record's."""
    if words.is_doubtful(list(reasons), fields):
        return ""
    by_reason: dict[str, list[str]] = {}
    for name, why in reasons.items():
        if why is not None:
            by_reason.setdefault(why, []).append(name)
    told = (f"{words.shown_names(names)} ({_WHY[why]})" for why, names in by_reason.items())
    return f"Left out: {'; '.join(told)}. "


def member_rule(
    parts: Sequence[Part], candidates: Sequence[str], request: ReadRequest, *, required: bool
) -> words.MemberRule | None:
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
    columns = [{field.name: field.kind for field in part.fields} for part in parts]
    present = [name for name in candidates if all(name in one for one in columns)]
    if not present:
        if required:
            raise no_member_column(parts)
        return None
    if request.member_value is not None:
        _require_one(present)
        return words.rule_from_value(present[0], request.member_value)
    labels = {name: _labels(parts, name, enough=2) for name in present}
    rules = [rule for name in present if (rule := words.rule_from_labels(name, labels[name]))]
    _require_one([rule.column for rule in rules])
    if not rules:
        name = present[0]
        others = [other for other in words.candidate_columns(parts[0].fields) if other != name]
        raise words.label_error(
            name,
            len(_labels(parts, name, enough=_LABELS_COUNTED)),
            measured=columns[0][name] == "float",
            likely=words.shown_names(others, parts[0].fields) if others else None,
            rows=known_rows(parts, name),
        )
    if required and len(labels[rules[0].column]) == 1:
        raise words.empty_class_error(members=not rules[0].members)
    return rules[0]


def _require_one(names: Sequence[str]) -> None:
    if len(names) > 1:
        raise InputError(
            "ambiguous_membership",
            f"Several columns may say who is a member: {words.shown_names(names)}.",
            "Choose one with `member_col`.",
        )


def _labels(parts: Sequence[Part], name: str, *, enough: int) -> set[words.Label]:
    """Return the labels in column ``name``, in row order until there are ``enough``."""
    kinds = {field.kind for part in parts for field in part.fields if field.name == name}
    if kinds == {"bool"}:
        return {0.0, 1.0}
    labels: set[words.Label] = set()
    for part in parts:
        try:
            for chunk in part.chunks((name,)):
                labels |= words.distinct_labels(chunk.columns[name])
                if len(labels) >= enough:
                    return labels
        except InputError as error:
            raise named_fault(error, part.name) from None
    return labels


def known_rows(parts: Sequence[Part], name: str) -> Mapping[str, int]:
    """Return how many rows have each label that is well known; of others nothing is told."""
    rows = Counter[words.Label]()
    for part in parts:
        for chunk in part.chunks((name,)):
            rows.update(words.label_rows(chunk.columns[name]))
    known = words.MEMBER_LABELS | words.HOLDOUT_LABELS
    return {one: count for one, count in rows.items() if isinstance(one, str) and one in known}


def no_member_column(parts: Sequence[Part]) -> InputError:
    """Return the error for an input in which no column says who is a member."""
    fields = parts[0].fields
    hint = (
        "Name it with `member_col`, or give two files: `members` FILE `holdout` FILE.\n"
        "For a file of another kind: mipaudit help which-file"
    )
    if len(fields) == 1 and parts[0].blob is not None:
        hint = (
            "There is only one column. If members and holdout have a file each: `members` FILE "
            "`holdout` FILE. If it should have more columns: separate cells by comma, semicolon, "
            "tab or bar."
        )
    return InputError(
        "no_member_column",
        f"No membership column is found ({', '.join(words.CANDIDATES)}). The columns are: "
        f"{words.shown_names([field.name for field in fields], fields)}.",
        hint,
    )
