"""What the name of a column says of it: a score, a label, an answer of a model, an id.

Which columns name a record, a person or a run is told by their names alone. A message shows a name
only where no line of values can stand in the place of the header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.data.columns.membership import CANDIDATES
from mipaudit.data.csv.cells import MISSING
from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import quoted_name, safe_name

if TYPE_CHECKING:
    from mipaudit.data.columns.column import Field, Kind

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


def is_plain_word(name: str) -> bool:
    """Tell whether ``name`` is a word that ids, labels and groups have."""
    return _folded(name) in _PLAIN_WORDS


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
    listed = ", ".join(
        f"(column {at})" if doubtful and not is_known(name) else safe_name(name)
        for at, name in enumerate(names[:_SHOWN], start=1)
    )
    more = len(names) - _SHOWN
    return listed if more <= 0 else f"{listed} and {more} more"


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
    return is_candidate(name) or is_score_like(name) or is_plain_word(name)
