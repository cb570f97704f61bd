"""What the name of a column says of it: a score, an id, a label, an answer of a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mipaudit.reading.columns.column import Kind

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
_IDS: Final = re.compile(r"(^|[_\W])(id|idx|index|uuid|key|rownum|row_number)$")
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
    """Tell whether a column is numbers, or cells of some, that a model gave out."""
    return kind in {"float", "other"} and _ANSWERS.search(_folded(name)) is not None


def is_plain_word(name: str) -> bool:
    """Tell whether ``name`` is a word that ids, labels and groups have."""
    return _folded(name) in _PLAIN_WORDS


def ends_as_id(name: str) -> bool:
    """Tell whether ``name`` is that of an id, whatever else it says: ``score_id``."""
    return _IDS.search(_folded(name)) is not None
