"""What is shown of a validation report, in tables and in pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import (
    Case,
    Document,
    Grid,
    Heading,
    Pairs,
    Paragraph,
    bulleted,
    told_all,
)
from mipaudit.formats.drawing import Interval, intervals
from mipaudit.maths.binomial import clopper_pearson_upper
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    upper_text,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mipaudit.formats.document import Picture, Section, View
    from mipaudit.validation.report import (
        ControlOutcome,
        CoverageRow,
        ExactRow,
        LimitSummary,
        ValidationReport,
    )

NOTHING: Final = "-"
SHORT_MARK: Final = "!"
DETAIL_LEGEND: Final = (
    "Coverage, and in brackets the median gap, by records per file and prior. Where two numbers of "
    f"records are added, the first are members. A mark ({SHORT_MARK}) says: less than promised."
)
LEGEND: Final = (
    ("coverage", "share of the files in which the limit was on the right side of the truth"),
    ("false alarms", "share of the files with nothing to find whose lower limit found something"),
    ("gap", "distance from the truth to the limit: smaller is tighter; below 0, it misses"),
)
_MORE: Final = (
    "Every limit in every cell is in the other forms: -f markdown, html or json. With `resume` "
    "FILE finished cells are kept, so that another form takes no time."
)


def headline(report: ValidationReport) -> str:
    """Return the outcome in one line."""
    short = len(report.failures) + sum(row.falls_short for row in report.exact)
    if not all(control.caught for control in report.controls):
        return "NOT VALIDATED: a method that is known to be invalid was not caught."
    if short:
        return f"FALLS SHORT: {short} limit{'s' if short > 1 else ''}, listed below."
    return "HOLDS: no limit covers the truth less often than it promises."


def design_line(report: ValidationReport) -> str:
    """Return what was run, in one line."""
    design = report.design
    methods = "strict methods" if design.strict else "default methods"
    return (
        f"Form: {design.form}, {methods}, seed {design.seed}. Scenarios: {len(design.scenarios)}. "
        f"Records per file: {', '.join(map(count_text, design.sizes))}. "
        f"Priors: {', '.join(map(number_text, design.priors))}. "
        f"Files per cell: {count_text(design.replications)}."
    )


def versions_line(report: ValidationReport) -> str:
    """Return what it was run with."""
    libraries = report.provenance.libraries
    numeric = [f"{name} {libraries[name]}" for name in ("numpy", "scipy") if name in libraries]
    origin = report.provenance
    return ", ".join([f"mipaudit {origin.mipaudit}", f"Python {origin.python}", *numeric])


def limits_table(report: ValidationReport, *, ours: bool) -> Grid:
    """Return one line for each limit and side: our limits, or those of other methods."""
    sizes = sorted({one.records for one in report.limits})
    head = ("promised", "least coverage", "false alarms", "mean gap")
    medians = (f"median gap at {count_text(size)}" for size in sizes[:1])
    lines = [_limit_line(group, sizes) for group in _by_limit(report.limits, ours=ours)]
    return Grid(
        caption="Limits that mipaudit prints" if ours else "Other methods on the same files",
        head=("limit", "side", *head, *medians, *map(count_text, sizes[1:])),
        rows=tuple(lines),
        words=2,
    )


def failures_table(rows: Sequence[CoverageRow]) -> Grid:
    """Return one line for each limit that falls short."""
    head = ("limit", "side", "scenario", "order", "records", "prior")
    return Grid(
        caption="Falls short",
        head=(*head, "promised", "coverage", "misses", "files", "p"),
        rows=tuple(_failure_line(row) for row in rows),
        words=4,
    )


def exact_table(rows: Sequence[ExactRow]) -> Grid:
    """Return one line for each limit and side, where it misses most beside what it promises."""
    worst: dict[tuple[str, str], ExactRow] = {}
    for row in sorted(rows, key=_ratio, reverse=True):
        worst.setdefault((row.label, row.side), row)
    return Grid(
        caption="Where few files exist, over all of them: members have the value 1 with "
        "probability T, holdout records with F",
        head=("limit", "side", "promised", "least coverage", "records", "prior", "T", "F", "says"),
        rows=tuple(
            (
                row.label,
                row.side,
                number_text(round(row.nominal, 6)),
                lower_text(row.coverage) + SHORT_MARK * row.falls_short,
                count_text(row.records),
                number_text(row.prior),
                number_text(row.tpr),
                value_text(row.fpr),
                "finite-sample" if row.finite_sample else "approximate",
            )
            for row in worst.values()
        ),
        words=2,
    )


def _ratio(row: ExactRow) -> tuple[bool, float]:
    """Return how often it misses beside what it says; first those that fall short."""
    return row.falls_short, (1 - row.coverage) / (1 - row.nominal)


def controls_table(controls: Sequence[ControlOutcome]) -> Grid:
    """Return one line for each method that must be caught."""
    return Grid(
        caption="Methods that are known to be invalid, on files without any leak",
        head=("method", "caught", "promised", "coverage", "misses", "files"),
        rows=tuple(
            (
                one.label,
                "yes" if one.caught else "NO",
                number_text(round(one.nominal, 6)),
                lower_text((one.replications - one.misses) / one.replications),
                count_text(one.misses),
                count_text(one.replications),
            )
            for one in controls
        ),
        words=2,
    )


def detail_tables(report: ValidationReport) -> list[Grid]:
    """Return one table for each limit and side: coverage and median gap, cell by cell."""
    groups: dict[tuple[str, str], list[CoverageRow]] = {}
    for row in report.rows:
        groups.setdefault((row.label, row.side), []).append(row)
    order = dict.fromkeys((one.label, one.side) for one in report.limits)
    return [_detail(groups[key]) for key in order]


def _by_limit(limits: Iterable[LimitSummary], *, ours: bool) -> list[list[LimitSummary]]:
    groups: dict[tuple[str, str], list[LimitSummary]] = {}
    for one in limits:
        if (one.source == "mipaudit") == ours:
            groups.setdefault((one.label, one.side), []).append(one)
    return list(groups.values())


def _limit_line(group: Sequence[LimitSummary], sizes: Sequence[int]) -> tuple[str, ...]:
    first = group[0]
    alarms = [one.false_alarms for one in group if one.false_alarms is not None]
    gaps = [(one.mean_gap, one.cells) for one in group if one.mean_gap is not None]
    cells = sum(count for _, count in gaps)
    mean = sum(gap * count for gap, count in gaps) / cells if cells else None
    by_size = {one.records: one.median_gap for one in group}
    mark = SHORT_MARK if any(one.falls_short for one in group) else ""
    return (
        first.label,
        first.side,
        number_text(round(first.nominal, 6)),
        lower_text(min(one.least_coverage for one in group)) + mark,
        upper_text(max(alarms)) if alarms else NOTHING,
        _gap(mean),
        *(_gap(by_size.get(size)) for size in sizes),
    )


def _failure_line(row: CoverageRow) -> tuple[str, ...]:
    return (
        row.label,
        row.side,
        row.scenario,
        row.order,
        _records(row.n_members, row.n_holdout),
        number_text(row.prior),
        number_text(round(row.nominal, 6)),
        lower_text(row.coverage),
        count_text(row.misses),
        count_text(row.replications),
        f"{row.p_value:.2g}",
    )


def _detail(rows: Sequence[CoverageRow]) -> Grid:
    first = rows[0]
    columns = sorted({_column(row) for row in rows}, key=lambda c: (c[0] + c[1], c[0], -c[2]))
    found = {(row.scenario, _column(row)): row for row in rows}
    scenarios = dict.fromkeys(row.scenario for row in rows)
    return Grid(
        caption=f"{first.label}, {first.side} (promises {number_text(round(first.nominal, 6))})",
        head=("scenario", *(f"{_records(n, m)} at {number_text(p)}" for n, m, p in columns)),
        rows=tuple(
            (name, *(_cell(found.get((name, column))) for column in columns)) for name in scenarios
        ),
        words=1,
    )


def _column(row: CoverageRow) -> tuple[int, int, float]:
    return row.n_members, row.n_holdout, row.prior


def _cell(row: CoverageRow | None) -> str:
    if row is None:
        return ""
    mark = SHORT_MARK if row.falls_short else ""
    return f"{lower_text(row.coverage)}{mark} ({_gap(row.median_gap)})"


def _records(n_members: int, n_holdout: int) -> str:
    if abs(n_members - n_holdout) <= 1:
        return count_text(n_members + n_holdout)
    return f"{count_text(n_members)}+{count_text(n_holdout)}"


def _gap(gap: float | None) -> str:
    return NOTHING if gap is None else value_text(gap)


def validation_document(report: ValidationReport, view: View) -> Document:
    """Return the report as a document.

    Args:
        report: what was found.
        view: a terminal has what decides, in short; the others every limit in every cell.
    """
    return Document(
        title="mipaudit validate",
        headline=headline(report),
        mood="good" if report.passed else "bad",
        summary=report.summary,
        sections=tuple(_sections(report, in_full=view != "text")),
        cases=tuple(_cases(report)),
        created=report.provenance.created,
    )


def _sections(report: ValidationReport, *, in_full: bool) -> Iterator[Section]:
    yield (
        Paragraph(text=design_line(report)),
        Paragraph(text=f"With {versions_line(report)}."),
    )
    if report.failures:
        yield _titled(failures_table(report.failures))
    yield _titled(limits_table(report, ours=True))
    theirs = limits_table(report, ours=False)
    if theirs.rows:
        yield _titled(theirs)
    yield _titled(controls_table(report.controls))
    if report.exact:
        yield _titled(exact_table(report.exact))
    yield (Heading(text="How to read it"), Pairs(pairs=LEGEND))
    yield bulleted("Keep in mind", told_all(report.limitations))
    if not in_full:
        yield (Paragraph(text=_MORE),)
        return
    described = tuple((one.label, one.description) for one in report.controls)
    yield (Heading(text="The methods that must be caught"), Pairs(pairs=described))
    yield (Heading(text="Cell by cell"), Paragraph(text=DETAIL_LEGEND))
    for table in detail_tables(report):
        yield (Heading(text=table.caption, level=3), table)


def _titled(table: Grid) -> Section:
    return (Heading(text=table.caption), table)


def _cases(report: ValidationReport) -> Iterator[Case]:
    for limit in report.limits:
        if limit.source == "mipaudit":
            yield _limit_case(limit)
    for row in report.failures:
        if row.source != "mipaudit":
            yield Case(
                group=row.estimand,
                name=f"{row.label}, {row.side}, {row.scenario}",
                status="failed",
                text="a method that is known to be valid misses: the truths or the run are wrong",
            )
    for one in report.exact:
        if one.falls_short:
            yield Case(
                group="exact",
                name=f"{one.label}, {one.side}, {count_text(one.records)} records",
                status="failed",
                text=f"covers {number_text(round(one.coverage, 4))} of "
                f"{number_text(round(one.nominal, 6))} promised",
            )
    for control in report.controls:
        yield Case(
            group="controls",
            name=control.label,
            status="passed" if control.caught else "failed",
            text=f"{count_text(control.misses)} misses in {count_text(control.replications)} files",
        )


def _limit_case(limit: LimitSummary) -> Case:
    return Case(
        group=limit.estimand,
        name=f"{limit.label}, {limit.side}, {count_text(limit.records)} records",
        status="failed" if limit.falls_short else "passed",
        text=f"least coverage {number_text(round(limit.least_coverage, 4))} of "
        f"{number_text(round(limit.nominal, 6))} promised, over {limit.cells} cells",
    )


def validation_pictures(report: ValidationReport) -> Iterator[Picture]:
    """Yield every limit where it did worst, and the methods that must be caught.

    A limit falls short where its coverage is surely below what it promises, in view of
    everything that was tested.
    """
    alpha = report.design.level / max(report.design.tests, 1)
    worst: dict[tuple[str, str], CoverageRow] = {}
    for row in sorted(report.rows, key=lambda one: (not one.falls_short, one.p_value)):
        if row.source == "mipaudit":
            worst.setdefault((row.label, row.side), row)
    if worst:
        yield intervals(
            [_limit(row, alpha) for row in worst.values()],
            name="coverage",
            what="how often the limit was right",
            caption="Each limit where it did worst. One that stays left of what it promises, "
            "arrow and all, falls short.",
            ends=(_floor(worst.values()), 1.0),
            allowed="promised",
        )
    if report.controls:
        yield intervals(
            [_control(one, report.design.level) for one in report.controls],
            name="controls",
            what="how often the method was right",
            caption="Methods that are known to be invalid: all must stay left of their promise.",
            allowed="promised",
        )


def _floor(rows: Iterable[CoverageRow]) -> float:
    """Return where an axis begins: at a tenth below the least of what is drawn."""
    return max(0.0, int(10 * min(row.coverage for row in rows) - 1) / 10)


def _limit(row: CoverageRow, alpha: float) -> Interval:
    most = _most(row.replications - row.misses, row.replications, alpha)
    short = " (falls short)" * row.falls_short
    return Interval(f"{row.label}, {row.side}{short}", None, row.coverage, most, row.nominal)


def _control(one: ControlOutcome, alpha: float) -> Interval:
    right = one.replications - one.misses
    most = _most(right, one.replications, alpha)
    name = f"{one.label}{'' if one.caught else ' (not caught)'}"
    return Interval(name, None, right / one.replications, most, one.nominal)


def _most(right: int, files: int, alpha: float) -> float:
    return float(clopper_pearson_upper(right, files, alpha))
