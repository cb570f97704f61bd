"""What a report of ``records`` shows: tables, words, and pictures of the risk by group and cell."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from mipaudit.commands.records.report import (
    CellRisk,
    ExposedRecord,
    GroupRisk,
    RecordsDesign,
    RecordsReport,
    RiskBand,
)
from mipaudit.formats.document import (
    AT_LEAST,
    AT_MOST,
    BEST_ESTIMATE,
    Document,
    Grid,
    Note,
    Paragraph,
    Picture,
    Section,
    best,
    framed,
    limits,
)
from mipaudit.formats.drawing import Interval, intervals, marks_of
from mipaudit.formats.policy.blocks import check_cases, policy_headline, policy_mood, policy_section
from mipaudit.report.verdict_sentence import SKIPPED, judged
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

_MOST_CELLS: Final = 20
_MOST_DRAWN: Final = 12  # more rows would fill the screen, and say little
# Columns of several tables.
RISK: Final[tuple[tuple[str, Callable[[CellRisk | ExposedRecord], str]], ...]] = (
    (AT_LEAST, lambda one: lower_text(one.lower)),
    ("risk", lambda one: value_text(one.risk)),
    (AT_MOST, lambda one: upper_text(one.upper)),
)
COUNTS: Final[tuple[tuple[str, Callable[[CellRisk | GroupRisk | RiskBand], str]], ...]] = (
    ("members", lambda one: count_text(one.members)),
    ("holdout", lambda one: count_text(one.holdout)),
)
RECORD: Final[tuple[tuple[str, Callable[[ExposedRecord], str]], ...]] = (
    ("row", lambda one: str(one.row)),
    ("is", lambda one: "member" if one.member else "holdout"),
    ("speaks for", lambda one: one.speaks_for),
)
_CLASSES: Final = {"any": "any attacker", "thresholds": "one threshold", "bins-16": "16 bins"}
_AVERAGE: Final = (
    "The score is continuous: each risk is the average risk of the records in a cell, and single "
    "records of a cell can be exposed more, or less. No method can limit the risk of a single "
    "value of a continuous score from above."
)
_VALUES: Final = (
    "Each value of the score that is frequent enough is a cell; rarer values share one with their "
    "neighbours, and its risk is their average: a single rare value can be exposed more, or less."
)
_BURN_IN: Final = (
    "The records that chose the cells are in no count; they have the risk of their cell."
)
_POINTWISE: Final = (
    "Limits named pointwise hold for one cell at a time: among many cells some will miss."
)
RELATED: Final = (
    "A risk is that of one cell, of all the largest, and no average over records as the advantage "
    "of mipaudit estimate is."
)
_LIST: Final = (
    "The list bounds the expected share of cells listed wrongly, not that of records, "
    "and takes the counts of different cells to be independent or nearly so."
)
_GROUPS: Final = (
    "A difference is that of one attack, the same threshold for everybody; the best attacks on "
    "two groups may differ more, or less. Each quantity holds jointly over the groups; different "
    "quantities are not joint."
)
_POPULATION: Final = (
    "The risk concerns these training records: the members are taken to be a sample of them, "
    "drawn without replacement."
)
_APPROXIMATE: Final = (
    "The limits are approximate where class sizes are fixed; their coverage is in the "
    "documentation."
)
_ALIKE: Final = (
    "Members and holdout records are taken to be independent draws, and alike but for "
    "membership. If they differ in other ways, the risk includes that difference."
)
_ONE_QUERY: Final = (
    "The limits concern this score of this release. Another query, or an attacker who "
    "sees more than the score, may learn more."
)


def records_document(report: RecordsReport) -> Document:
    """Return the report as a document."""
    return framed(
        report,
        _sections(report),
        cases=check_cases(report.policy, "records", report.verdict),
        headline=policy_headline(report.policy, report.verdict, report.findings),
        mood=policy_mood(report.verdict),
    )


def _sections(report: RecordsReport) -> Iterator[Section]:
    if len(report.policy) > 1 or report.verdict.waived:  # one limit is in the summary
        yield policy_section(report.policy)
    yield _largest(report)
    yield _bands(report)
    yield _cells(report)
    yield _top(report)
    yield from _groups(report)


def _largest(report: RecordsReport) -> Section:
    sure = percent_text(report.design.confidence)
    text = (
        f"The largest risk is the least alpha of (alpha, p)-membership privacy, at p = "
        f"{number_text(report.design.prior)}. The pair holds with {sure} confidence, the upper "
        "limit for the cells that were cut."
    )
    grid = Grid(
        caption="The largest risk of a record",
        head=("", "at least", "best estimate", "at most"),
        rows=(("largest risk", *limits(report.estimates[0])),),
        words=1,
    )
    return (grid, Note(text=text))


def _bands(report: RecordsReport) -> Section:
    grid = Grid.of(
        report.bands,
        ("risk", lambda band: f"{number_text(band.low)} to {number_text(band.high)}"),
        *COUNTS,
        ("members surely so high", lambda band: count_text(band.at_least_members)),
        ("holdout surely so high", lambda band: count_text(band.at_least_holdout)),
        caption="Records by the risk of their cell",
    )
    text = (
        "Surely so high: the lower limit of their cell is the row's first number or more; each "
        "row counts those of the rows below it too."
    )
    return (grid, Note(text=text))


def _cells(report: RecordsReport) -> Section:
    shown = report.members_first(report.cells)[:_MOST_CELLS]
    if not shown:
        return ()
    grid = Grid.of(
        shown,
        ("cell", lambda one: str(one.cell)),
        ("speaks for", lambda one: one.speaks_for),
        ("listed", lambda one: "yes" if one.in_list else ""),
        *COUNTS,
        *RISK,
        caption="The most exposed cells",
        words=3,
        marked=lambda one: one.in_list,
    )
    return (grid, Note(text=_about_cells(report, len(report.cells) - len(shown))))


def _about_cells(report: RecordsReport, rest: int) -> str:
    text = (
        f"Listed: risk above {number_text(report.design.tau)} at a false-discovery rate of "
        f"{percent_text(report.design.fdr)}. The limits hold for all cells together."
    )
    parts = [text]
    if rest > 0:
        parts.append(f"{count_text(rest)} more cells are in the report for programs (-f json).")
    if report.small_cells:
        parts.append(
            f"{count_text(report.small_cells)} cells of fewer than "
            f"{count_text(report.design.min_cell)} records are not shown."
        )
    return " ".join(parts)


def _top(report: RecordsReport) -> Section:
    if not report.top:
        return ()
    keyed = any(one.key is not None for one in report.top)
    grid = Grid.of(
        report.top,
        *[("record", lambda one: safe_name(one.key or ""))] * keyed,
        *RECORD,
        ("cell", lambda one: str(one.cell)),
        *RISK,
        caption="The most exposed records",
        words=3 + keyed,
    )
    text = (
        "The most exposed records by the row of the input, counted from 0. All records of a cell "
        f"have the same risk: {count_text(report.top_tied)} share the last one's, and which of "
        "them are shown is drawn, not by the order of the rows."
    )
    return (grid, Note(text=text))


def _groups(report: RecordsReport) -> Iterator[Section]:
    """Yield how much leaks of each group, and which groups differ from the rest."""
    if report.groups:
        yield _advantage(report)
        yield _upper_limits(report)
        yield _differences(report)


def _advantage(report: RecordsReport) -> Section:
    grid = Grid.of(
        report.groups,
        ("group", lambda one: safe_name(one.group)),
        *COUNTS,
        (AT_LEAST, lambda one: lower_text(one.lower)),
        (BEST_ESTIMATE, lambda one: value_text(one.value)),
        caption="Advantage within each group",
    )
    text = f"Advantage within each group, for any attacker. {_jointly(report)}"
    return (grid, Note(text=text))


def _jointly(report: RecordsReport) -> str:
    sure = percent_text(report.design.confidence)
    return f"Each column holds with {sure} confidence for all groups together."


def _upper_limits(report: RecordsReport) -> Section:
    found = [one for one in report.estimates if one.quantity == "advantage"]
    upper: dict[tuple[str | None, str], str] = {
        (one.group, one.attackers): limits(one)[2] for one in found
    }
    # A continuous score has no upper limit for all attackers.
    known = {one.attackers for one in found} - (set() if report.design.discrete else {"any"})
    classes = [name for name in _CLASSES if name in known]
    if not classes:
        return ()
    grid = Grid(
        caption="Advantage within each group, at most",
        head=("group", *(_CLASSES[name] for name in classes)),
        rows=tuple(
            (safe_name(one.group), *(upper.get((one.group, name), "none") for name in classes))
            for one in report.groups
        ),
        words=1,
    )
    text = f"The advantage within each group is at most this, by attackers. {_jointly(report)}"
    return (Paragraph(text=text), grid)


def _differences(report: RecordsReport) -> Section:
    grid = Grid.of(
        report.groups,
        ("group", lambda one: safe_name(one.group)),
        ("differs", lambda one: one.differs),
        ("difference", lambda one: best(one.difference)),
        (
            "from",
            lambda one: "-" if one.difference_lower is None else lower_text(one.difference_lower),
        ),
        (
            "to",
            lambda one: "-" if one.difference_upper is None else upper_text(one.difference_upper),
        ),
        caption="One attack in the group, less the same attack in the rest",
        words=2,
        marked=lambda one: one.differs == "higher",
    )
    text = (
        "The difference is that of one attack, the best threshold on everybody, in the group less "
        f"in the rest. {_jointly(report)}"
    )
    return (grid, Note(text=text))


def records_summary(report: RecordsReport, *, incomplete: bool) -> str:
    """Return what was measured, how sure, and what is exposed.

    Args:
        report: without a summary.
        incomplete: bad parts of the input were left out.
    """
    design, largest = report.design, report.estimates[0]
    rows = f"{count_text(design.n_members)} members and {count_text(design.n_holdout)} holdout"
    name = f"'{safe_name(design.score_column)}'"
    kind = "value" if design.discrete else "cell of the score"
    measured = (
        f"From {rows} records in {count_text(design.cells)} cells of the score {name}: with "
        f"{percent_text(design.confidence)} confidence the most exposed {kind} has a risk of at "
        f"least {lower_text(largest.lower or 0.0)}, and no cell a risk above "
        f"{upper_text(1.0 if largest.upper is None else largest.upper)} (a score that says "
        f"nothing: {number_text(design.baseline)})."
    )
    parts = [
        SKIPPED if incomplete else "",
        measured,
        _listed(design, report.listed_members, report.listed_holdout),
        _grouped(report.groups),
        judged(report.verdict),
    ]
    return " ".join(part for part in parts if part)


def _listed(design: RecordsDesign, members: int, holdout: int) -> str:
    tau, rate = number_text(design.tau), percent_text(design.fdr)
    if not members + holdout:
        return f"No cell is shown to have a risk above {tau}."
    return (
        f"{count_text(members)} members and {count_text(holdout)} holdout records are in cells "
        f"listed with a risk above {tau} (false-discovery rate {rate})."
    )


def _grouped(groups: Sequence[GroupRisk]) -> str:
    differing = [group for group in groups if group.differs != "not shown"]
    if not groups:
        return ""
    if not differing:
        return f"Of {len(groups)} groups none is shown to differ from the rest."
    higher = sum(group.differs == "higher" for group in differing)
    lower = len(differing) - higher
    return (
        f"Of {len(groups)} groups, one attack does surely better in {higher} than in the rest, "
        f"and worse in {lower}."
    )


def records_limitations(design: RecordsDesign) -> tuple[str, ...]:
    """Return what the numbers do not show."""
    return (
        _VALUES if design.discrete else _AVERAGE,
        _BURN_IN,
        _POINTWISE,
        _LIST,
        RELATED,
        *([_GROUPS] if design.group_columns else []),
        *([_POPULATION] if design.member_population is not None else []),
        _APPROXIMATE,
        _ONE_QUERY,
        _ALIKE,
    )


def records_pictures(report: RecordsReport) -> Iterator[Picture]:
    """Yield the risk by group, where there are groups, and by cell of the score."""
    floor = report.design.baseline
    marks = [one.limit for one in report.policy if one.quantity == "risk"]
    allowed = {one.group: one.limit for one in report.policy if one.quantity == "advantage"}
    groups = sorted(report.groups, key=lambda one: -one.lower)
    if groups:
        yield intervals(
            [
                Interval(one.group, one.lower, one.value, None, allowed.get(one.group))
                for one in groups
            ],
            name="groups",
            what="mean risk of a group",
            caption="Each group, the most exposed first.",
            ends=(floor, 1.0),
            marks=marks_of((), floor),
        )
    # First those that give away who was used, as the page asks; then the others.
    cells = sorted(report.cells, key=lambda one: (one.speaks_for != "member", -one.lower))
    rows = [Interval(_named(one), one.lower, one.risk, one.upper) for one in cells[:_MOST_DRAWN]]
    more = len(cells) - len(rows)
    if rows:
        yield intervals(
            rows,
            name="cells",
            what="risk of a record",
            caption="Groups of records with like scores, the most exposed as used first."
            + (f" {count_text(more)} more are in the tables." if more else ""),
            ends=(floor, 1.0),
            marks=marks_of(marks, floor),
        )


def _named(cell: CellRisk) -> str:
    """Return how many of either class a group has, and what it gives away for sure."""
    says = {"member": ": used", "holdout": ": not used"}.get(cell.speaks_for, "")
    return f"{count_text(cell.members)} members, {count_text(cell.holdout)} holdout{says}"
