"""What words of an input say: the names of its columns, and the labels of membership.

A name says whether a column is a score, a label, an answer of a model or an id. Which columns name
a record, a person or a run is told by their names alone. A message shows a name only where no line
of values can stand in the place of the header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.column import Column, Field, Kind, column_missing, column_scores
from mipaudit.data.formats.cells import MISSING
from mipaudit.errors import InputError, UsageError
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.statements.printable_names import first_names, quoted_name, safe_name

# A number (booleans are 0 and 1) or a string without case and outer spaces.
Label = float | str

CANDIDATES: Final = (
    "member",
    "is_member",
    "membership",
    "in_train",
    "is_train",
    "canary",
    "included",
    "inclusion",
    "coin",
    "split",
)
MEMBER_LABELS: Final = frozenset[Label](
    {1.0}
    | {"1", "true", "t", "yes", "y", "in", "included", "member", "members", "train", "training"}
    | {"in_train", "in-train", "is_member", "canary"}
)
HOLDOUT_LABELS: Final = frozenset[Label](
    {0.0, -1.0}
    | {"0", "-1", "false", "f", "no", "n", "out", "excluded", "holdout", "hold-out", "hold_out"}
    | {"held-out", "held_out", "heldout", "test", "testing", "non-member", "non-members"}
    | {"nonmember", "nonmembers", "non_member", "non_members", "not_in_train", "not_member"}
    | {"reference", "val", "valid", "validation"}
)
_KNOWN_PAIRS: Final = (
    "1 and 0, true and false, yes and no, in and out, member and holdout, train and test"
)
_TRUE: Final = frozenset({"true", "t", "yes", "y"})
_SAYS_YES: Final = _TRUE | {"1", "1.0"}
_FALSE: Final = frozenset({"false", "f", "no", "n"})
_SAYS_NOTHING: Final = _FALSE | {"0", "0.0"} | frozenset(map(str.casefold, MISSING))

_HOLDOUT, _MEMBER, _UNKNOWN, _NULL = 0, 1, 2, 3
Mask = NDArray[np.bool_]
# Membership per row, and the rows with another label and with none; None where no row is marked.
Decoded = tuple[Mask, Mask | None, Mask | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRule:
    """Tells members from holdout in one column.

    ``holdout`` is None when every label that is not a member's is holdout.
    """

    column: str
    members: frozenset[Label]
    holdout: frozenset[Label] | None

    def decode(self, column: Column) -> Decoded:
        """Return the membership of every row, and which have another label or none."""
        others = _HOLDOUT if self.holdout is None else _UNKNOWN
        codes = dict.fromkeys(self.holdout or (), _HOLDOUT) | dict.fromkeys(self.members, _MEMBER)
        if column.vocabulary is not None:
            labels = (codes.get(_normal_label(word), others) for word in column.words)
            return _decoded(column.told([*labels], _NULL, np.uint8))
        if column.missing is None and self._plain(column.values):
            # One byte a row, each 0 or 1: booleans as they are.
            return column.values.view(np.bool_), None, None
        found = np.full(column.values.shape, others, dtype=np.uint8)
        for label, code in codes.items():
            if isinstance(label, float):
                found[column.values == label] = code
        missing = column_missing(column)
        if missing is not None:
            found[missing] = _NULL
        return _decoded(found)

    def _plain(self, values: NDArray[Any]) -> bool:
        if self.members != {1.0} or not (self.holdout is None or 0.0 in self.holdout):
            return False
        if values.dtype == np.bool_:
            return True
        byte = values.dtype.kind in "iu" and values.dtype.itemsize == 1 and values.size > 0
        return byte and bool(values.min() >= 0) and bool(values.max() <= 1)


def _decoded(codes: NDArray[np.uint8]) -> Decoded:
    member = codes == _MEMBER
    if not codes.size or codes.max() <= _MEMBER:
        return member, None, None
    unknown, null = codes == _UNKNOWN, codes == _NULL
    return member, unknown if unknown.any() else None, null if null.any() else None


def _normal_label(word: str) -> Label:
    """Return ``word`` as labels are compared: no outer spaces, no case."""
    return word.strip().casefold()


def said_of(column: Column) -> Floats:
    """Return 1 for yes, 0 for no, and what is neither, or nothing, as another number or NaN.

    A text is taken at its word where it says yes; that it says no clears nobody.
    """
    if column.vocabulary is None:
        return column_scores(column)
    words = map(_normal_label, column.words)
    said = [1 if one in _SAYS_YES else np.nan if one in _SAYS_NOTHING else 2 for one in words]
    return column.told(said, np.nan, np.float64)


def distinct_labels(column: Column) -> set[Label]:
    """Return the labels that occur in ``column``, nulls left out."""
    if column.vocabulary is not None:
        return {*map(_normal_label, column.used_words)}
    missing = column_missing(column)
    values = column.values if missing is None else column.values[~missing]
    # Most columns of membership have two values or one: nothing need be sorted.
    ends: set[Label] = {float(values.min()), float(values.max())} if values.size else set()
    known = len(ends) < 2 or values.dtype == np.bool_  # noqa: PLR2004
    return ends if known else set(np.unique(values).astype(float).tolist())


def label_rows(column: Column) -> dict[Label, int]:
    """Return how many rows of a column of words have each label."""
    if column.vocabulary is None:
        return {}
    labels = [*map(_normal_label, column.words)]
    places = column.told([*range(len(labels))], len(labels), np.int64)
    rows = np.bincount(places, minlength=len(labels) + 1).tolist()
    found: dict[Label, int] = dict.fromkeys(labels, 0)
    for label, many in zip(labels, rows, strict=False):
        found[label] += many
    return found


def rule_from_labels(column: str, labels: Iterable[Label]) -> MemberRule | None:
    """Return the rule for well-known labels, or None when they are not a known pair."""
    known = frozenset(labels)
    members, holdout = known & MEMBER_LABELS, known & HOLDOUT_LABELS
    if members | holdout != known or len(members) > 1 or len(holdout) > 1:
        return None
    return MemberRule(column=column, members=members, holdout=holdout)


def rule_from_value(column: str, value: str) -> MemberRule:
    """Return the rule "equal to ``value`` is a member, everything else is holdout"."""
    word = value.strip().casefold()
    labels: set[Label] = {word}
    if word in _TRUE:
        labels.add(1.0)
    elif word in _FALSE:
        labels.add(0.0)
    else:
        with suppress(ValueError):
            labels.add(float(word))
    return MemberRule(column=column, members=frozenset(labels), holdout=None)


_BOOLEANS: Final = {"true": True, "false": False}
# With the sign of equality after it: !=, <=, >=.
_COMPARED: Final = "!<>"
_MARKED: Final = (
    "It keeps the rows in which a column equals a value. For another comparison, first add a "
    "column that marks the rows to keep."
)
_QUOTES: Final = ("'", '"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Keeps the rows whose ``column`` equals ``value``."""

    column: str
    value: str

    def mask(self, column: Column) -> Bools:
        """Return which rows are kept; a null equals nothing.

        Raises:
            UsageError: ``bad_where`` when the column is numeric and the value is not.
        """
        if column.vocabulary is not None:
            return column.told([word == self.value for word in column.words], False, np.bool_)  # noqa: FBT003 - what a null does
        kept = np.asarray(column.values == self._number(column.values))
        return kept if column.missing is None else kept & ~column.missing

    def _number(self, values: NDArray[Any]) -> float:
        word = self.value.casefold()
        if word in _BOOLEANS:
            return _BOOLEANS[word]
        # A large integer would lose digits as a float.
        for read in (int, float) if values.dtype.kind in "iu" else (float,):
            with suppress(ValueError):
                return read(word)
        raise UsageError(
            "bad_where",
            "`where`: the column holds numbers, but the value is not a number.",
            "Write a number, as in 'member = 1'.",
        )


def parse_where(text: str) -> Where:
    """Read ``"column = value"``; the value may be in quotes.

    Raises:
        UsageError: ``bad_where``.
    """
    column, equals, value = text.partition("=")
    column, value = column.strip(), value.removeprefix("=").strip()
    if not equals or not column or not value or column[-1] in _COMPARED:
        raise UsageError("bad_where", '`where` must have the form "column = value".', _MARKED)
    if len(value) > 1 and value[0] in _QUOTES and value[-1] == value[0]:
        value = value[1:-1]
    return Where(column=column, value=value)


def label_error(
    column: str,
    count: int,
    *,
    measured: bool = False,
    likely: str | None = None,
    rows: Mapping[str, int] = MappingProxyType({}),
) -> InputError:
    """Return the error for a membership column whose labels are not understood.

    Args:
        column: its name.
        count: how many labels it has.
        measured: whether it holds floats, as scores do.
        likely: names of columns that may be meant; None for none.
        rows: how many rows have each well-known label.
    """
    name = quoted_name(column)
    if count > 2:  # noqa: PLR2004
        meant = "Say with `member_value` which one means member (all others are holdout)."
        if MEMBER_LABELS & rows.keys():
            member = min(MEMBER_LABELS & rows.keys(), key=str)
            told = ", ".join(f"{label} {many:,}" for label, many in rows.items())
            meant = (
                f"Rows of known labels: {told}. `member_value` {member} takes all others for "
                "holdout. To leave some out, mark the rows to keep in another column: `where` "
                "'COLUMN = VALUE'."
            )
        if measured:
            meant = f"It may be a score. Membership is {_KNOWN_PAIRS}."
        if likely is not None:
            meant += f" Named like membership: {likely}; name it with `member_col`."
        return InputError(
            "many_labels",
            f"Membership column {name} has {count} different labels; two are expected.",
            meant,
        )
    return InputError(
        "unknown_labels",
        f"The labels of membership column {name} do not say which one means member.",
        f"Known are {_KNOWN_PAIRS}; for others, name the one that means member with "
        "`member_value`.",
    )


def empty_class_error(*, members: bool) -> InputError:
    """Return the error for a class without rows."""
    present, absent = ("holdout", "member") if members else ("member", "holdout")
    return InputError(
        "empty_class",
        f"There is no {absent} record: every row is a {present} record.",
        "Check the membership column (`member_col`, `member_value`) and the filter (`where`).",
    )


# A column that names records or persons all over the input, what may be numbered anew in each
# class, or a run.
IdKind = Literal["record", "place", "run"]
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN: Final = re.compile(r"[\W_]+")
_IDS: Final = frozenset({"id", "ids", "uuid", "guid", "uid", "pid"})
_PLACES: Final = frozenset({"index", "idx", "no", "nr", "num", "number"})
_CODES: Final = frozenset({"key", "code", "hash", "name", "ref"})
_ID_WORDS: Final = (
    "id|idx|index|row|rownum|row_number|run|rep|repl|replicate|repeat|fold|seed|trial|y|y_true|"
    "target|label|class|group|subgroup|subpop|subpopulation|cohort|uuid|key"
)
_PLAIN_WORDS: Final = frozenset(_ID_WORDS.split("|"))
_NOT_SCORES: Final = re.compile(
    rf"^({_ID_WORDS})$|^$|^unnamed([:_ ].*)?$|^__index_level_\d+__$"
    r"|(^|[_\W])(id|idx|index|uuid)$|label|^(pred|eps|target|group|subpop)|_(pred|eps|target|group)$"
)
# Named for an id, whatever else the name says: score_id numbers the scores.
_ID_ENDING: Final = re.compile(r"(^|[_\W])(id|idx|index|uuid|key|rownum|row_number)$")
_SCORES: Final = re.compile(r"^(score|loss|conf)")
# capital_loss is an attribute of a person: such a name alone makes no score of integers.
_ENDS: Final = re.compile(r"[_\W](scores?|loss(es)?|conf|confidences?)(_?\d+)?$")
# What a model said of a record may be as telling as its loss.
_ANSWERS: Final = re.compile(r"^(pred|prob|logit)|[_\W](preds?|prediction|probs?|logits?)$")
# camelCase: attackScore is attack_score.
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# `query`, with the number that is asked for, `query losses` and `query lira`.
_OF_QUERIES: Final = re.compile(
    r"(nn|kth_\d+|lnr(_\d+)?|(mc|share)(_[\d.e+-]+)?|density(_\d+)?|classifier"
    r"|loss|conf_true|conf_max|entropy|mod_entropy|margin|phi|correct|loss_calibrated"
    r"|lira_online|lira_offline)"
)
# A first line of cells has one of these at most where others have numbers.
_CELLS: Final = frozenset({"", "inf", "infinity", *map(str.casefold, MISSING)})
NUMBERS: Final = frozenset({"float", "integer", "bool"})
_KEY: Final = re.compile(r"\d{3}")
_SHOWN: Final = 12


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words that name somebody or something by themselves.
_PERSONS: Final = _set(
    "canary client customer donor employee household individual participant patient person pupil "
    "record respondent student subject user"
)


_ALONE: Final = _PERSONS | {"canaries", "email", "mrn", "ssn", "username"}


# Those that do so with "id" or a number behind them only.
_NAMED: Final = _PERSONS | _set(
    "account applicant author borrower case citizen device driver family instance owner player "
    "resident sample sibling speaker twin visitor voter worker"
)


_RUNS: Final = _set("experiment job run simulation trial")


# What many records share by nature: an id of one of these is a label.
_GROUPS: Final = _set(
    "age area arm attack bank batch bin block branch brand bucket cat category cell center centre "
    "city class clinic cluster code cohort community company config country county course data "
    "dataset date day dept department district document_type drug education epoch ethnicity exp "
    "fold gender genre gpu group hospital host hour industry institution insurer item kind label "
    "lang language layer leaf level location machine major model month movie municipality node "
    "occupation office org organisation organization part partition payer place plan platform "
    "practice product profession prompt province provider query race region release rep rule "
    "sector seed sex shard shop site source species split stage state step store strata stratum "
    "study subgroup subpop survey target task team tier time topic town treatment tree type "
    "unit_type vendor version ward week y year zip zone"
)


_SPLITS: Final = _set(
    "checkpoint ckpt config eps epsilon epoch exp experiment fold iter iteration mechanism method "
    "model noise release rep repeat repetition repl replicate replication round run seed setting "
    "shadow sigma step temperature trial variant version"
)


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a column's name: ``PatientID`` and ``patient_id`` have the same."""
    parted = _BETWEEN.split(_HUMPS.sub("_", name.strip()))
    return tuple(word.casefold() for word in parted if word)


def id_kind(name: str) -> IdKind | None:
    """Tell what a column of this name identifies; None for no id, or the id of a group."""
    words = name_words(name)
    if len(words) < 2:  # noqa: PLR2004 - a word by itself
        return _alone("".join(words))
    first, head, last = words[0], words[-2], words[-1]
    if last in _IDS:
        return _of(head)
    if first in _IDS and last in _NAMED:
        return "record"
    if last in _PLACES and head in _NAMED:
        return "place"
    return "record" if last in _CODES and head in _PERSONS else None


def _alone(word: str) -> IdKind | None:
    """Tell what a single word identifies, such as ``patient``, ``uuid`` or ``userid``."""
    joined = word.removesuffix("id")
    if joined != word and joined in _NAMED | _RUNS:
        return _of(joined)
    return "record" if word in _IDS | _ALONE else None


def _of(word: str) -> IdKind | None:
    """Tell what the id of a ``word`` identifies."""
    if word in _GROUPS:
        return None
    return "run" if word in _RUNS else "record" if word in _NAMED else "place"


def splits_audits(name: str) -> bool:
    """Tell whether a column of this name may say to which of several audits a row belongs."""
    return not _SPLITS.isdisjoint(name_words(name))


def _folded(name: str) -> str:
    return _HUMP.sub("_", name.strip()).casefold()


def is_id_like(name: str) -> bool:
    """Tell whether ``name`` is an identifier, a true label, a prediction or a group."""
    return _NOT_SCORES.search(_folded(name)) is not None


def is_score_like(name: str) -> bool:
    """Tell whether ``name`` alone says that the column is a score.

    It begins with score, loss or conf, or is what one of the queries of this program calls
    its scores; and it is not like an id.
    """
    return says_score(name) and not is_id_like(name)


def says_score(name: str) -> bool:
    """Tell whether ``name`` says that the column is a score, whatever else it says."""
    folded = _folded(name)
    return _SCORES.search(folded) is not None or _OF_QUERIES.fullmatch(folded) is not None


def hints_score(name: str) -> bool:
    """Tell whether ``name`` says so, or may mean it: ``capital_loss``."""
    return says_score(name) or _ENDS.search(_folded(name)) is not None


def is_answer(name: str, kind: Kind) -> bool:
    """Tell whether a column is numbers, or cells of some, that a model gave out.

    So may floats be that are called an id, or ``target_`` something: no id has a fraction.
    """
    if kind == "float" and (ends_as_id(name) or _folded(name).startswith("target_")):
        return True
    return kind in {"float", "other"} and _ANSWERS.search(_folded(name)) is not None


def ends_as_id(name: str) -> bool:
    """Tell whether ``name`` is that of an id, whatever else it says: ``score_id``."""
    return _ID_ENDING.search(_folded(name)) is not None


def unique_names(names: Sequence[str], source: str) -> None:
    """Raise InputError ``duplicate_columns`` when two of ``names`` are equal.

    The columns are told by position: without a header the name would be a value.
    """
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        if first.setdefault(name, at) != at:
            raise InputError(
                "duplicate_columns",
                f"{source}: columns {first[name] + 1} and {at + 1} have the same name.",
            )


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
        _in_commas(name, fields, option) or _closest(name, fields),
    )


def _in_commas(name: str, fields: Sequence[Field], option: str) -> str | None:
    """Return how to name a column to group by whose own name was taken for a list."""
    for field in fields if option == "`by`" else ():
        if "," in field.name and name in map(str.strip, field.name.split(",")):
            return f"{quoted_name(field.name)} has a comma: put the name in quotation marks."
    return None


def _closest(name: str, fields: Sequence[Field]) -> str:
    from difflib import get_close_matches

    names = [field.name for field in fields]
    folded = {other.casefold(): other for other in names}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if close and (is_known(folded[close[0]]) or not is_doubtful(names, fields)):
        return f"Did you mean {quoted_name(folded[close[0]])}?"
    return f"The columns are: {shown_names(names, fields)}."


def shown_names(names: Sequence[str], fields: Sequence[Field] | None = None) -> str:
    """Return the first names, made safe, and how many more there are.

    Args:
        names: of columns; of doubtful ones those that scores, labels and ids have are shown.
        fields: all columns of the file; None where it is known that they have names.
    """
    doubtful = is_doubtful(names, fields)
    safe = [
        f"(column {at})" if doubtful and not is_known(name) else safe_name(name)
        for at, name in enumerate(names, start=1)
    ]
    return first_names(safe, _SHOWN)


def shown_column(name: str, fields: Sequence[Field]) -> str:
    """Return one of the fields' names in quotes, or its place where that may be a record's."""
    names = [field.name for field in fields]
    if is_known(name) or not is_doubtful(names, fields):
        return quoted_name(name)
    return f"number {names.index(name) + 1}"


def is_doubtful(names: Sequence[str], fields: Sequence[Field] | None) -> bool:
    """Tell whether the first line of a file may be a record.

    A name looks like a record's key, such as PATIENT00001, or nothing tells names from words.
    """
    if any(_KEY.search(name) and not is_known(name) for name in names):
        return True
    return fields is not None and not any(
        is_known(one.name) or (one.kind in NUMBERS and not is_cell(one.name)) for one in fields
    )


def is_cell(name: str) -> bool:
    """Tell whether ``name`` may be how a record writes that a number is missing or infinite."""
    folded = name.strip().casefold().lstrip("+-")
    return folded in _CELLS or folded.startswith("unnamed:")


def is_known(name: str) -> bool:
    """Tell whether ``name`` is one that columns of scores, labels, ids or membership have."""
    return is_candidate(name) or is_score_like(name) or _folded(name) in _PLAIN_WORDS
