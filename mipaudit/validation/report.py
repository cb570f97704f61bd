"""What ``validate`` returns, prints and writes: the JSON format ``mipaudit.validation/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.statements.any_report import AnyReport

# Whose limit it is: ours, or another method's that is known to hold or not to hold.
Source = Literal["mipaudit", "valid", "invalid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    """One side of one limit in one cell.

    Attributes:
        scenario: name of the law that the files were drawn from.
        n_members: members per file.
        n_holdout: holdout records per file.
        prior: p in (0, 1).
        order: order of the rows of a file.
        discrete: whether the audit was told that the score has few values, all known.
        estimand: what the limit is of.
        label: the same with its arguments, or the name of another method.
        source: whose limit it is.
        side: a ``lower`` limit misses when it is above the truth.
        nominal: coverage promised for this side alone.
        replications: how many files were drawn.
        stated: how many of them got a limit; the others cannot miss.
        misses: how many limits were on the wrong side of the truth.
        coverage: share of the files without a miss.
        coverage_error: its Monte-Carlo standard error.
        p_value: chance of at least so many misses at exactly nominal coverage.
        false_alarms: share of the files whose lower limit is above what nothing at all
            would show, where there is nothing to show; else None.
        truth: mean truth (it varies only where it depends on the data).
        mean_gap: mean distance from truth to limit, positive when it does not miss;
            None when a limit was infinite.
        median_gap: its median.
        mean_width: mean of upper minus lower where both were stated, else None.
        median_width: its median.
        bias: mean of best estimate minus truth, None where no estimate is stated.
        falls_short: whether it covers less than it promises, by Holm's test.
    """

    scenario: str
    n_members: int
    n_holdout: int
    prior: float
    order: str
    discrete: bool
    estimand: str
    label: str
    source: Source
    side: Literal["lower", "upper"]
    nominal: float
    replications: int
    stated: int
    misses: int
    coverage: float
    coverage_error: float
    p_value: float
    false_alarms: float | None
    truth: float
    mean_gap: float | None
    median_gap: float | None
    mean_width: float | None
    median_width: float | None
    bias: float | None
    falls_short: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRow:
    """One side of one limit where few files exist, over all of them with their probabilities.

    Attributes:
        label: what the limit is of.
        side: a ``lower`` limit misses when it is above the truth.
        records: of a file; both classes are as large.
        prior: p in (0, 1).
        tpr: share of members with the value 1.
        fpr: of holdout records: where the limit misses most.
        nominal: coverage promised.
        coverage: least coverage over all ``fpr``, just beyond every limit that is printed.
        finite_sample: whether the limit says that it holds at every size.
        falls_short: whether it covers less than it promises; an approximate limit may miss
            1.1 times as often as it says.
    """

    label: str
    side: Literal["lower", "upper"]
    records: int
    prior: float
    tpr: float
    fpr: float
    nominal: float
    coverage: float
    finite_sample: bool
    falls_short: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSummary:
    """One side of one limit over all cells of one size.

    ``least_coverage`` and ``false_alarms`` are the worst of the cells; the gaps, the width
    and the bias are the mean over the cells of their means or medians.
    """

    estimand: str
    label: str
    source: Source
    side: Literal["lower", "upper"]
    records: int
    cells: int
    nominal: float
    least_coverage: float
    false_alarms: float | None
    mean_gap: float | None
    median_gap: float | None
    median_width: float | None
    bias: float | None
    falls_short: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlOutcome:
    """A method that is known to be invalid, and whether the run found that out.

    It is judged on files without any leak, drawn for the purpose in every run.
    """

    label: str
    description: str
    replications: int
    misses: int
    nominal: float
    p_value: float
    caught: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """How small a shortfall the run would have found.

    A limit whose true coverage is ``coverage`` or less is found to fall short with
    probability ``power`` at least, at the strictest level that Holm's test uses.
    """

    nominal: float
    replications: int
    power: float
    coverage: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationDesign:
    """What was run. ``level`` is the chance that a run of valid limits finds any fault."""

    form: Literal["quick", "full"]
    strict: bool
    seed: int
    replications: int
    cells: int
    scenarios: tuple[str, ...]
    sizes: tuple[int, ...]
    priors: tuple[float, ...]
    estimands: tuple[str, ...]
    level: float
    tests: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ValidationReport(AnyReport):
    """Everything that one validation run found.

    Attributes:
        passed: no limit of ours falls short, and every control did what it must.
        limits: by limit and size.
        failures: the rows that fall short, ours or of methods known to be valid.
        controls: the methods known to be invalid.
        detectable: one entry for each promised coverage.
        rows: every limit in every cell.
        exact: limits where few files exist, over all of them.
    """

    passed: bool
    design: ValidationDesign
    limits: tuple[LimitSummary, ...]
    failures: tuple[CoverageRow, ...]
    controls: tuple[ControlOutcome, ...]
    detectable: tuple[Detectable, ...]
    rows: tuple[CoverageRow, ...]
    exact: tuple[ExactRow, ...] = ()
