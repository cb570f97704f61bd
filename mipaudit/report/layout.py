"""What a kind of report shows, as data: a layout has no code, and one walker reads them all.

A text with places, such as ``{lower:least}``, is told as a sentence of `report.messages` is:
of the fields of a row, or of the report.

Annotations are objects here: as texts they would be compiled one by one at every start.
"""

from typing import Final, Literal, NamedTuple

from mipaudit.report.messages.told import is_figure

# Fields of a row, each with the values that it must have.
Where = tuple[tuple[str, tuple[object, ...]], ...]


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        head: above it, with places for fields of the report.
        text: of a cell, with places for fields of its row.
        why: the field with the reason where there is no figure, which becomes a footnote.
    """

    head: str
    text: str
    why: str = ""


class Table(NamedTuple):
    """A table of a report: a line for each row of one of its fields.

    A column that is empty in every row is left out, and so is a table without rows.

    Attributes:
        title: above it, with places for fields of the report.
        caption: what its columns are, likewise.
        legend: the same in one line of a screenful, which has no title beside it.
        rows: the field; of a record within it ``outer.inner``. Equal rows are shown once.
        columns: from left to right, words before numbers; ``{message}`` tells a row that is one.
        words: how many at the start hold words; None: those before the first of figures alone.
        where: (field, values): only rows that have one of the values are shown.
        unless: (field, values): rows that have one of the values are not.
        short: rows that the answer in a screenful has; None: as many as there is room for.
        prose: whether the last column is running text; alone it is a list.
        marked: (field, values) of rows that matter more.
        picture: how a page draws the rows: as intervals on one axis, as bars, as a
            curve, or as counts by bin.
        of: what the axis of a picture shows.
        axis: fields of the report: where the axis of drawn intervals starts (empty for 0), what it
            is marked at, or for each quantity; a terminal draws it in the column ``{axis}``.
        note: below it, with places for fields of the report.
        whole: whether it stands in all of the report, too, and not in a screenful alone.
        when: the field of the report without which it is left out.
        beside: the field with further rows: ``also.tpr.value`` of a row is the value of the one
            that has the quantity ``tpr`` and the same subject.
        by: fields of a row: rows with other values stand apart, each under the caption, which may
            name them as ``row.field``.
        allowed: the field of a row with what its picture marks, and what that is.
    """

    title: str
    rows: str
    columns: tuple[Column, ...]
    words: int | None = None
    caption: str = ""
    legend: str = ""
    where: Where = ()
    unless: Where = ()
    short: int | None = 0
    prose: bool = False
    marked: tuple[str, tuple[object, ...]] | None = None
    picture: Literal["", "intervals", "amounts", "roc", "bins"] = ""
    of: str = "advantage"
    axis: tuple[str, str] | None = None
    note: str = ""
    whole: bool = True
    when: str = ""
    beside: str = ""
    by: tuple[str, ...] = ()
    allowed: tuple[str, str] = ("", "the limit")


def words_of(table: Table) -> int:
    """Return how many columns of a table hold words, at its start."""
    if table.words is not None:
        return table.words
    columns = table.columns[: len(table.columns) - table.prose]
    figures = (at for at, one in enumerate(columns) if is_figure(one.text))
    return next(figures, len(columns))


class Cases(NamedTuple):
    """What a pipeline waits for: a case for each row of a field.

    Attributes:
        rows: the field.
        group: what a case is about, with places for fields of the row.
        name: what was to be shown, likewise.
        text: why it came out so, likewise.
        status: the field of the row that says how it came out.
        fails: whether it is true of what fails.
        where: as of a table.
    """

    rows: str
    group: str
    name: str
    text: str
    status: str = "status"
    fails: bool = False
    where: Where = ()


class Layout(NamedTuple):
    """All that a kind of report shows around its answer, its findings and its limitations.

    Attributes:
        about: what was measured and for whom it holds, in a line, with places for fields of the
            report.
        tables: in the order of their importance.
        terms: words of the tables and what they mean, likewise.
        cases: what a pipeline waits for; without any there is one that was skipped.
        untold: why that one was.
        passes: whether that one has passed, instead.
        following: what to run next, likewise; empty: what the answer names.
        lists: whether it is a list that was asked for, which no window cuts.
        topic: the page that says what to do about a limit, where it is not the general one.
        title: of a page whose report read nothing, likewise.
        beside: what a page says beside its answer, of that alone, likewise.
        beside_tells: limitations that it tells, which the page says once.
    """

    about: str = ""
    tables: tuple[Table, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    cases: tuple[Cases, ...] = ()
    passes: bool = False
    untold: str = "no limit was given to compare with"
    following: str = ""
    lists: bool = False
    topic: str = ""
    title: str = ""
    beside: str = ""
    beside_tells: tuple[str, ...] = ()


# Columns, tables and words that the layouts of several commands share.
SCORE: Final = Column("score", "{score:quoted}")
LIMITS: Final = (
    Column("at least", "{lower:lower}", "lower_reason"),
    Column("best estimate", "{value:value}", "value_reason"),
    Column("at most", "{upper:upper}", "upper_reason"),
)
SHORT_LIMITS: Final = (
    Column("at least", "{lower:lower}"),
    Column("best", "{value:value}"),
    Column("at most", "{upper:upper}"),
)
# Of a difference: a lower limit below 0 says that there is none.
_LEAST_DIFFERENCE: Final = "[{lower:least}][none{lower:unless}]"
CHANGE: Final = (
    Column("at least", _LEAST_DIFFERENCE, "lower_reason"),
    Column("best estimate", "{value:value}", "value_reason"),
    Column("at most", "{upper:upper}", "upper_reason"),
)
SHORT_CHANGE: Final = (
    Column("at least", _LEAST_DIFFERENCE),
    Column("best", "{value:value}"),
    Column("at most", "{upper:upper}"),
)
CHANGE_CHECK: Final = (SHORT_CHANGE[0], SHORT_CHANGE[2])
CHECK: Final = (Column("at least", "{lower:lower}"), Column("at most", "{upper:upper}"))
SHORT_SCORE: Final = Column("score", "{short}")
ATTACKERS: Final = Column("attackers", "{attackers:attackers}")
SIZES: Final = (Column("members", "{n_members:count}"), Column("holdout", "{n_holdout:count}"))
# Where a table draws its rows.
AXIS: Final = Column("", "{axis}")
STATUS: Final = Column("status", "{status:state}")
LIMIT_NUMBER: Final = Column("limit", "{limit:number}")
WHY: Final = Column("why", "{reason}")
# Of a table of limits, the rows that matter more.
UNKEPT: Final = ("status", ("not_met", "inconclusive"))

LIMIT: Final = Column("limit", "{limit:limited}")
WAIVER: Final = (
    "[; {status:status}, accepted by {waived.person} until {waived.expires}, reason: "
    "{waived.reason:text}][; the waiver by {expired.person} expired after {expired.expires}]"
)
OPEN_LIMITS: Final = Table(
    "Limits, and the scores that decide them.",
    "open_limits",
    (
        LIMIT,
        Column("score", "{short}"),
        Column("is", "{status:state}"),
        Column("against", "{against:attackers}"),
        *CHECK,
        Column("needed", "{records_to_settle:counted}"),
    ),
    short=None,
    whole=False,
)
POLICY: Final = Table(
    "The limits of the policy beside what was found",
    "policy",
    (
        LIMIT,
        SCORE,
        Column("against", "{against:attackers}"),
        Column("status", "{status:state}"),
        *CHECK,
        Column("why", "{reason}" + WAIVER),
    ),
    prose=True,
    marked=UNKEPT,
)
POLICY_CASES: Final = Cases("policy", "{score}", "{limit:limited}", "{reason}" + WAIVER)

# What pages say beside an answer on several scores.
SCORES_GIVEN: Final = (
    "A score is a number for each record, made from the release; how it was made was not "
    "checked. The figures are averages over records: a few may be exposed far more."
)
LIMIT_WORDS: Final = (
    ("at least", "This much leaks: some attacker who sees the score does at least this well."),
    ("best estimate", "Our best figure. Not a guarantee, in either direction."),
    ("at most", "No attacker of the kind named in the row does better. Other kinds may."),
)
ADVANTAGE_WORDS: Final = (
    ("advantage", "how well somebody can tell whose records were used. {design.prior:scale}"),
    ("times in 100", "{design.prior:guessed}"),
    ("members", "records that were used, as in training; holdout records are similar, unused."),
    ("confidence", "such statements are wrong at most {design.confidence:wrong} times in 100."),
    ("prior", "{design.prior:number}: the probability of being a member, before a score is seen."),
)
