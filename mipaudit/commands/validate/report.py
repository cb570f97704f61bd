"""What a validation concludes: its answer and its remarks as codes, and the rows of its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mipaudit.maths.binomial import clopper_pearson_upper
from mipaudit.model.message import Message

if TYPE_CHECKING:
    from mipaudit.validation.report import CoverageRow, ExactRow, ValidationReport


class Overall(NamedTuple):
    """One side of a limit over all cells: where it did worst, and how tight it is.

    ``upper`` is the most that its coverage can be there, in view of everything that was tested.
    """

    label: str
    side: str
    nominal: float
    value: float
    upper: float
    false_alarms: float | None
    mean_gap: float | None
    falls_short: bool
    lower: float | None = None


class Cells(NamedTuple):
    """One side of a limit with one law and prior, at each number of members and of holdout."""

    label: str
    side: str
    nominal: float
    scenario: str
    prior: float
    sizes: tuple[tuple[int, int], ...]
    coverage: tuple[float, ...]
    gaps: tuple[float | None, ...]
    falls_short: bool


def answer(report: ValidationReport) -> Message:
    """Return whether every limit is as often right as it promises, if the run could tell."""
    if not all(one.caught for one in report.controls):
        return Message("validation_caught_nothing")
    short = len(report.failures) + sum(one.falls_short for one in report.exact)
    return Message.of("limits_fall_short", short=short) if short else Message("limits_hold")


def remarks(report: ValidationReport) -> Iterator[Message]:
    """Yield what was run, what falls short, what would have been seen, and what was caught."""
    design = report.design
    yield Message.of(
        "validation_drawn", cells=design.cells, files=design.replications, limits=design.tests
    )
    ours = sum(one.source == "mipaudit" for one in report.failures)
    yield Message.of("validation_short", ours=ours, theirs=len(report.failures) - ours)
    yield from _detectable(report)
    missed = tuple(one.label for one in report.controls if not one.caught)
    caught = "methods_not_caught" if missed else "methods_caught"
    yield Message.of(caught, missed=missed, methods=len(report.controls))
    if report.exact:
        yield Message.of(
            "validation_enumerated",
            sizes=len({(one.records, one.tpr) for one in report.exact}),
            limits=len(report.exact),
            short=sum(one.falls_short for one in report.exact),
        )


def _detectable(report: ValidationReport) -> Iterator[Message]:
    """Yield how small a shortfall would have been found, and of limits tried on fewer files."""
    first = next((one for one in report.detectable if one.coverage > 0), None)
    if first is None:
        return
    alike = (one for one in report.detectable if one.nominal == first.nominal)
    fewest = min(alike, key=lambda one: one.replications)
    dear = fewest.replications != first.replications
    yield Message.of(
        "shortfall_seen",
        nominal=first.nominal,
        coverage=round(first.coverage, 3),
        power=first.power,
        files=fewest.replications if dear else None,
        dear=round(fewest.coverage, 3) if dear else None,
    )


def methods(report: ValidationReport) -> Message:
    """Return which methods were run."""
    return Message("methods_strict" if report.design.strict else "methods_default")


def numeric(report: ValidationReport) -> tuple[str, ...]:
    """Return the libraries that compute."""
    libraries = report.provenance.libraries
    return tuple(f"{name} {libraries[name]}" for name in ("numpy", "scipy") if name in libraries)


def scenarios(report: ValidationReport) -> int:
    """Return how many laws there were."""
    return len(report.design.scenarios)


def ours(report: ValidationReport) -> tuple[Overall, ...]:
    """Return our limits, each side over all cells."""
    return _overall(report, "mipaudit")


def theirs(report: ValidationReport) -> tuple[Overall, ...]:
    """Return those of other methods."""
    return _overall(report, "valid", "invalid")


def _overall(report: ValidationReport, *sources: str) -> tuple[Overall, ...]:
    alpha = report.design.level / max(report.design.tests, 1)
    groups: dict[tuple[str, str], list[CoverageRow]] = {
        (one.label, one.side): [] for one in report.limits if one.source in sources
    }
    for row in report.rows:
        groups.get((row.label, row.side), []).append(row)
    return tuple(_together(rows, alpha) for rows in groups.values())


def _together(cells: Sequence[CoverageRow], alpha: float) -> Overall:
    """Return one side of a limit over its cells, by the worst of them."""
    worst = min(cells, key=lambda one: (not one.falls_short, one.p_value, one.coverage))
    right = worst.replications - worst.misses
    alarms = [one.false_alarms for one in cells if one.false_alarms is not None]
    gaps = [one.mean_gap for one in cells if one.mean_gap is not None]
    return Overall(
        label=worst.label,
        side=worst.side,
        nominal=worst.nominal,
        value=worst.coverage,
        upper=float(clopper_pearson_upper(right, worst.replications, alpha)),
        false_alarms=max(alarms, default=None),
        mean_gap=sum(gaps) / len(gaps) if gaps else None,
        falls_short=any(one.falls_short for one in cells),
    )


def exact_worst(report: ValidationReport) -> tuple[ExactRow, ...]:
    """Return each limit and side where it misses most beside what it promises."""

    def missed(row: ExactRow) -> tuple[bool, float]:
        return row.falls_short, (1 - row.coverage) / (1 - row.nominal)

    worst: dict[tuple[str, str], ExactRow] = {}
    for row in sorted(report.exact, key=missed, reverse=True):
        worst.setdefault((row.label, row.side), row)
    return tuple(worst.values())


def cells(report: ValidationReport) -> tuple[Cells, ...]:
    """Return every limit with every law, ours first."""
    order = [(one.label, one.side) for one in report.limits]
    groups: dict[tuple[str, str, str, float], list[CoverageRow]] = {}
    for row in sorted(report.rows, key=lambda one: order.index((one.label, one.side))):
        key = row.label, row.side, row.scenario, row.prior
        groups.setdefault(key, []).append(row)
    return tuple(map(_cells, groups.values()))


def _cells(rows: Sequence[CoverageRow]) -> Cells:
    """Return one side of a limit at each size."""
    first, found = rows[0], sorted(rows, key=lambda one: one.n_members + one.n_holdout)
    return Cells(
        label=first.label,
        side=first.side,
        nominal=first.nominal,
        scenario=first.scenario,
        prior=first.prior,
        sizes=tuple((one.n_members, one.n_holdout) for one in found),
        coverage=tuple(one.coverage for one in found),
        gaps=tuple(one.median_gap for one in found),
        falls_short=any(one.falls_short for one in found),
    )
