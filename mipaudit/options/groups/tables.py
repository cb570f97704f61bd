"""Tables of records: which file has which, and which columns count.

Few modules are read for it: `noise` asks without any table, too.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from mipaudit.options.declare import Choice, Free, Input, T
from mipaudit.options.ranges import at_least
from mipaudit.options.texts import column_list

MembersOption = Annotated[Any, Input("--members", "The members' scores, with `holdout`.")]
HoldoutOption = Annotated[Any, Input("--holdout", "The holdout records' scores, with `members`.")]
SyntheticOption = Annotated[Any, Input("--synthetic", "The records that were released.")]
ReferenceOption = Annotated[
    Any, Input("--reference", "Records of neither class, for density and classifier.")
]
ClaimedCurveOption = Annotated[
    Any,
    Free(
        "--claimed-curve",
        "A claim that no attacker exceeds the ROC in this file: columns fpr and tpr, or the "
        "curve that mipaudit bounds writes.",
        is_input=True,
        in_python="Or a pair of sequences, FPR and TPR.",
    ),
]
ColumnsOption = Annotated[
    Sequence[str],
    Choice(
        "--columns",
        "Compare these. Default: all but row labels.",
        metavar="COL,COL",
        read=column_list,
        repeated=True,
    ),
]
IgnoreOption = Annotated[
    Sequence[str],
    Choice("--ignore", "Leave these out.", metavar="COL,COL", read=column_list, repeated=True),
]
ByOption = Annotated[
    Sequence[str],
    Free(
        "--by",
        "Tell groups apart by these columns; repeat for several. A name with a comma: '\"a,b\"'.",
        metavar="COL,COL",
        read=column_list,
        repeated=True,
    ),
]
KeyColumnOption = Annotated[
    str | None,
    Choice(
        "--key-col",
        "Identifies a row. Default: its position in the input.",
        recorded_as="key_column",
    ),
]
MinCellOption = Annotated[
    T,
    Choice("--min-cell", "Fewest records of a cell or a group that is shown.", within=at_least(1)),
]
