"""How exposed records are, in a screenful."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from mipaudit.commands.records.page import COUNTS, RECORD, RELATED, RISK
from mipaudit.commands.records.report import CellRisk, Direction, GroupRisk, RecordsReport, RiskBand
from mipaudit.formats.brief import (
    AXIS,
    NO_VERDICT,
    Axis,
    Brief,
    Interval,
    blind_guessing,
    short_names,
)
from mipaudit.formats.document import AT_LEAST, Grid
from mipaudit.formats.html_page import (
    ALIKE,
    NEITHER,
    Front,
    confidence_words,
    limit_fact,
    member_words,
    only_tried,
)
from mipaudit.formats.policy.blocks import policy_mood
from mipaudit.formats.policy.judged import judged_brief
from mipaudit.statements.text.guesses import compared, guess_words, right_at_least, scale_words
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

_FEW: Final = 3
_GROUP: Final = "records with like scores; its risk is the average over them."
_AVERAGE: Final = "Single records of a group can be exposed more than the group, or less."
_UNSHOWN: Final = "That a group is not shown to be exposed does not prove that it is not."
_NARROW: Final = 12  # characters of an interval beside many columns


def records_brief(report: RecordsReport) -> Brief:
    """Return the largest risk, how many records have what risk, and the most exposed groups."""
    found, leaks = _found(report)
    brief = Brief(
        answer=f"{found} {NO_VERDICT}",
        mood="bad" if leaks else "plain",
        about=_about(report),
        tables=(
            _bands(report),
            *([_groups(report)] if report.groups else []),
            *([_top(report)] if report.top else []),
            *([_cells(report)] if report.cells and not report.groups else []),
        ),
        notes=tuple(_notes(report)),
    )
    score = report.design.score_column
    return judged_brief(report, brief, unshown=report.policy, score=score)


def records_front(report: RecordsReport, brief: Brief) -> Front:
    """Return what a page says first: who is exposed as used, then who as not used.

    Args:
        report: as answered.
        brief: its answer for a terminal.
    """
    design, largest = report.design, report.estimates[0]
    told, exposed = _exposed(report, "member"), _exposed(report, "holdout")
    shown = [_told(report, told, "used"), _told(report, exposed, "not used")]
    if not told and exposed:
        shown = ["No group of records with like scores is shown to give away that they were used."]
        shown.append(_told(report, exposed, "not used"))
    found = [one for one in shown if one] or [
        "No group of records with like scores is shown to give away whether they were used."
    ]
    lower, upper = largest.lower or 0.0, 1.0 if largest.upper is None else largest.upper
    answer = brief.answer if report.policy else f"{found.pop(0)} {NEITHER}"
    return Front(
        answer=answer,
        mood=policy_mood(report.verdict) if report.policy else "plain",
        also=(*found, *_apart(report)),
        figures=(
            f"The largest risk of a group is between {lower_text(lower)} and {upper_text(upper)}."
        ),
        facts=(
            ("tried", f"what can be told from the score '{safe_name(design.score_column)}'"),
            ("with", member_words(design.n_members, design.n_holdout)),
            limit_fact(report.policy, report.provenance.settings),
        ),
        terms=(
            ("Group", _GROUP),
            (
                "Risk",
                f"how surely one can tell whether a record was used, {scale_words(design.prior)}",
            ),
            ("Guessing right", guess_words(design.prior)),
            confidence_words(design.confidence),
        ),
        unsaid=(_AVERAGE, only_tried(1), ALIKE, _UNSHOWN),
    )


def _exposed(report: RecordsReport, speaks_for: Direction) -> list[CellRisk]:
    """Return the groups that give away one class for sure, the most exposed first."""
    found = [
        one
        for one in report.cells
        if one.speaks_for == speaks_for and one.lower > report.design.baseline
    ]
    return sorted(found, key=lambda one: -one.lower)


def _told(report: RecordsReport, cells: Sequence[CellRisk], what: str) -> str:
    """Say how many records are exposed as used or as not used, and how surely the first are."""
    if not cells:
        return ""
    first, several = cells[0], len(cells) > 1
    own = [one.members if what == "used" else one.holdout for one in cells]
    others = [one.holdout if what == "used" else one.members for one in cells]
    whose = ("members", "holdout records") if what == "used" else ("holdout records", "members")
    least = right_at_least(first.lower, (report.design.baseline,))
    groups = f"{len(cells)} groups" if several else "One group"
    where = f" in the one that tells most, of {_sizes(first)}," if several else ""
    return (
        f"{groups} of records with like scores ({count_text(sum(own))} {whose[0]}, "
        f"{count_text(sum(others))} {whose[1]}) {'give' if several else 'gives'} away that a "
        f"record was {what}:{where} that guess is right at least {least} times in 100 "
        f"({compared(report.design.prior)})."
    )


def _sizes(cell: CellRisk) -> str:
    return f"{count_text(cell.members)} members and {count_text(cell.holdout)} holdout records"


def _apart(report: RecordsReport) -> Iterator[str]:
    """Yield what is shown of the groups that a column makes."""
    first = max(report.groups, key=lambda one: one.lower, default=None)
    blind = report.design.baseline
    if first is not None and first.lower > blind:
        least = right_at_least(first.lower, (blind,))
        yield (
            f"Within '{safe_name(first.group)}' whoever sees the score guesses right at least "
            f"{least} times in 100 whose records were used ({compared(report.design.prior)})."
        )
    for one in report.groups:
        if one.differs != "not shown":
            better = "better" if one.differs == "higher" else "worse"
            yield f"One attack does surely {better} in '{safe_name(one.group)}' than in the rest."
            return


def _found(report: RecordsReport) -> tuple[str, bool]:
    """Return what is shown of the most exposed records, and whether that is a leak."""
    design, largest = report.design, report.estimates[0]
    lower, upper = largest.lower or 0.0, 1.0 if largest.upper is None else largest.upper
    if lower > design.baseline:
        what = "value" if design.discrete else "cell"
        most = f", and no cell one above {upper_text(upper)}" if upper < 1 else ""
        told = next(iter(report.members_first(report.cells)), None)
        members = ""
        if told is not None and told.speaks_for == "member" and told.lower < lower:
            least = lower_text(told.lower)
            members = f"gives members away most has a risk of at least {least}, that which "
        return (
            f"Records are exposed: the {what} of the score that {members}tells most "
            f"{'one' if members else 'has a risk'} of at least "
            f"{lower_text(lower)}{blind_guessing(design.baseline)}{most}."
        ), True
    group = max(report.groups, key=lambda one: one.lower, default=None)
    if group is not None and group.lower > design.baseline:
        return (
            f"Membership leaks in group '{safe_name(group.group)}': an advantage of at least "
            f"{lower_text(group.lower)}{blind_guessing(design.baseline)}. The largest risk is "
            f"at most {upper_text(upper)}."
        ), True
    listed = report.listed_members + report.listed_holdout
    if listed:
        return f"{_listed(report)} The largest risk is at most {upper_text(upper)}.", True
    differing = [one for one in report.groups if one.differs != "not shown"]
    if differing:
        first = differing[0]
        better = "better" if first.differs == "higher" else "worse"
        return (
            f"One attack does surely {better} in group '{safe_name(first.group)}' than in the "
            f"rest. The largest risk is at most {upper_text(upper)}."
        ), True
    return (
        f"No record is shown to be exposed: the largest risk is at least {lower_text(lower)}"
        f"{blind_guessing(design.baseline)}, at most {upper_text(upper)}."
    ), False


def _listed(report: RecordsReport) -> str:
    design = report.design
    return (
        f"{count_text(report.listed_members)} members and {count_text(report.listed_holdout)} "
        f"holdout records are in cells listed with a risk above {number_text(design.tau)} (about "
        f"{percent_text(design.fdr)} of such cells may be listed wrongly)."
    )


def _about(report: RecordsReport) -> str:
    design = report.design
    return (
        f"Score '{safe_name(design.score_column)}': {count_text(design.n_members)} members, "
        f"{count_text(design.n_holdout)} holdout records in {count_text(design.cells)} cells, "
        f"{percent_text(design.confidence)} confidence; a score that says nothing has a risk of "
        f"{number_text(design.baseline)}."
    )


def _bands(report: RecordsReport) -> Grid:
    """Return how many records have a risk, the most exposed first."""

    def above(band: RiskBand, counted: Callable[[RiskBand], int]) -> str:
        return count_text(sum(counted(one) for one in report.bands if one.low >= band.low))

    return Grid.of(
        [band for band in reversed(report.bands) if band.low > 0],
        ("risk of at least", lambda band: number_text(band.low)),
        ("surely: members", lambda band: count_text(band.at_least_members)),
        ("holdout", lambda band: count_text(band.at_least_holdout)),
        ("best estimate: members", lambda band: above(band, lambda one: one.members)),
        ("holdout", lambda band: above(band, lambda one: one.holdout)),
        caption=f"Records by the risk of their cell: {_ends(report.design.baseline)}, 1 is "
        "certain.",
    )


def _ends(baseline: float) -> str:
    """Return what risks that are not certain mean: away from an even prior 0 is no ignorance."""
    if not baseline:
        return "0 tells nothing"
    return f"0 is even odds, {value_text(baseline)} blind guessing"


def _cells(report: RecordsReport) -> Grid:
    baseline = report.design.baseline
    axis = Axis.over([], [1.0])
    mark = baseline or None
    cells = report.members_first(report.cells)
    sure = [one for one in cells if one.in_list or one.lower > baseline]
    shown = sure or report.cells[:_FEW]
    return Grid.of(
        shown,
        ("cell", lambda one: str(one.cell)),
        ("speaks for", lambda one: one.speaks_for),
        (axis.head, lambda one: axis.drawn(Interval(one.lower, one.risk, one.upper), mark)),
        *RISK,
        *COUNTS,
        caption=f"{'The exposed cells' if sure else 'The cells nearest to being exposed'}; limits "
        f"for all cells together.{' ┃ is blind guessing.' if baseline else ''}",
        words=3,
    )


def _top(report: RecordsReport) -> Grid:
    return Grid.of(
        report.top,
        *RECORD,
        *RISK,
        caption=f"The most exposed records; {count_text(report.top_tied)} are as exposed as the "
        "last. Rows count from 0.",
        words=3,
    )


def _groups(report: RecordsReport) -> Grid:
    names = short_names(one.group for one in report.groups)
    differing = any(one.differs != "not shown" for one in report.groups)
    baseline = report.design.baseline
    width = _NARROW if differing else AXIS
    axis = Axis.over(map(_drawn, report.groups), start=baseline, width=width)
    also = "; and one attack there beside the rest" if differing else ""
    said = {"higher": "better", "lower": "worse", "not shown": "not shown"}
    return Grid.of(
        report.groups,
        ("group", lambda one: names[one.group]),
        (axis.head, lambda one: axis.drawn(_drawn(one))),
        *[("beside the rest", lambda one: said[one.differs])] * differing,
        (AT_LEAST, lambda one: lower_text(one.lower)),
        ("best", lambda one: value_text(one.value)),
        *COUNTS,
        caption=f"Advantage within each group, any attacker{also}{blind_guessing(baseline)}.",
        words=2 + differing,
    )


def _drawn(group: GroupRisk) -> Interval:
    return Interval(group.lower, group.value, None)


def _notes(report: RecordsReport) -> Iterator[str]:
    yield RELATED
    if report.listed_members + report.listed_holdout:
        yield _listed(report)
    if report.groups and all(one.differs == "not shown" for one in report.groups):
        yield f"None of {count_text(len(report.groups))} groups is shown to differ from the rest."
    if report.small_cells:
        yield (
            f"Cells of fewer than {count_text(report.design.min_cell)} records are not shown: "
            f"{count_text(report.small_cells)}."
        )
