"""From an opened input to a summary file: where its scores lie, or its counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from mipaudit.api.counting import require_classes, require_identities, require_spread
from mipaudit.api.summary_place import check_place
from mipaudit.audit.figures import count_text
from mipaudit.audit.finding import Finding
from mipaudit.engine.fold import fold
from mipaudit.errors import InputError
from mipaudit.report.provenance import TIME_FORM, moment
from mipaudit.summaries.cuts import make_cuts
from mipaudit.summaries.sample import FEWEST_BURN_IN_BLOCKS, BurnInSample, burn_in_blocks
from mipaudit.summaries.shared_plan import least_of, shared_plan
from mipaudit.summaries.summary import Summary
from mipaudit.summaries.survey import Survey
from mipaudit.tables.changed_partition import shifted
from mipaudit.tables.summary_arrays import counts_arrays, cuts_arrays, cuts_of
from mipaudit.tables.summary_file import (
    SCHEMA,
    Extent,
    Manifest,
    ScoreName,
    SummaryFile,
    checksums,
    plan_digest,
)
from mipaudit.tables.summary_source import check_alike, check_apart
from mipaudit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.api.summary_terms import SummaryTerms
    from mipaudit.engine.workers import Workers
    from mipaudit.report.origin import Setting
    from mipaudit.summaries.cuts import Cuts
    from mipaudit.tables.changed_partition import ChangedPartition
    from mipaudit.tables.partitions import Partitions
    from mipaudit.tables.source import ScoreSource

_HERE = "this input"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summarizer:
    """Makes the summary files of one opened input.

    Attributes:
        source: the input.
        terms: what changes the summary.
        settings: recorded in it.
        hash_inputs: sha256 of inputs over 64 MiB too.
        workers: who reads.
        meter: called with the rows of each batch, or None.
    """

    source: ScoreSource
    terms: SummaryTerms
    settings: tuple[Setting, ...]
    hash_inputs: bool
    workers: Workers
    meter: Callable[[int], None] | None

    def cuts(self) -> SummaryFile:
        """Return where the scores lie, for the other sites.

        Raises:
            InputError: the input has no rows left, or a discrete score too many values.
        """
        found = self._own_cuts(alone=False)
        return self._file(
            "cuts",
            sizes=(found.n_members, found.n_holdout),
            burn_in=found.burn_in,
            discrete=[one.discrete for one in found.columns],
            arrays=cuts_arrays(found),
            least=found.least,
        )

    def counts(self, sites: Sequence[SummaryFile]) -> SummaryFile:
        """Return the counts by the cuts of all sites, or by the input's own where none are given.

        Raises:
            InputError: the cuts do not belong to the input, or a count is too small to be told.
        """
        cuts = [cuts_of(one) for one in sites] or [self._own_cuts(alone=True)]
        plan = shared_plan(cuts, prior=self.terms.prior)
        start = partial(Survey, len(self.source.columns), self.terms.seed, plan)
        survey = fold(self._partitions(), start, workers=self.workers, progress=self.meter)
        sample = survey.sample
        sample.settle()
        require_identities(sample)
        self.source.check_unchanged()
        if survey.tally is None:
            raise AssertionError
        summary = Summary(
            columns=survey.tally.counts(),
            n_members=sample.members.rows,
            n_holdout=sample.holdout.rows,
        )
        require_spread(summary.columns[0])
        least = least_of(cuts)
        if least is not None:
            _require_large(summary, least)
        discrete = [one.discrete for one in plan.columns]
        file = self._file(
            "counts",
            sizes=(summary.n_members, summary.n_holdout),
            burn_in=plan.burn_in,
            discrete=discrete,
            arrays=counts_arrays(summary),
            least=least,
            infinite=[one.infinite for one in summary.columns],
            plan=plan_digest(plan, self._names(discrete)),
        )
        if sites:
            check_place(file, sites)
        return file

    def check_sites(self, sites: Sequence[SummaryFile]) -> None:
        """Refuse cuts that were not made for this input and the others beside it.

        Raises:
            InputError: ``counts_not_cuts`` or ``summaries_differ``, or as `check_apart`.
        """
        for one in sites:
            if one.manifest.content != "cuts":
                raise InputError(
                    "counts_not_cuts",
                    f"{one.name}: holds counts, and no cuts to count by.",
                    hint="Cuts are made with mipaudit summarize SCORES --cuts-only -o site.cuts.",
                )
        none: dict[str, NDArray[Any]] = {}
        columns = [False] * len(self.source.columns)
        own = self._file(
            "cuts", sizes=(0, 0), burn_in=FEWEST_BURN_IN_BLOCKS, discrete=columns, arrays=none
        )
        check_alike([own, *sites])
        check_apart(sites)

    def _partitions(self) -> Partitions[ChangedPartition]:
        return shifted(self.source.partitions(), self.terms.first_row)

    def _own_cuts(self, *, alone: bool) -> Cuts:
        """Return the input's cuts, from as many rows as are surely burn-in rows in the end."""
        kinds = [column.kind for column in self.source.columns]
        start = partial(BurnInSample, len(kinds), self.terms.seed)
        sample = fold(self._partitions(), start, workers=self.workers, progress=self.meter)
        sample.settle()
        require_identities(sample)
        burn_in = FEWEST_BURN_IN_BLOCKS
        if alone:
            require_classes(sample)
            burn_in = burn_in_blocks(sample.members.rows, sample.holdout.rows)
        self.source.check_unchanged()
        return make_cuts(
            sample,
            kinds,
            discrete=self.terms.discrete,
            seed=self.terms.seed,
            burn_in=burn_in,
            least=self.terms.least,
        )

    def _names(
        self, discrete: Sequence[bool], infinite: Sequence[int] | None = None
    ) -> tuple[ScoreName, ...]:
        columns = self.source.columns
        return tuple(
            ScoreName(name=one.name, kind=one.kind, discrete=each, infinite=count)
            for one, each, count in zip(
                columns, discrete, infinite or [0] * len(columns), strict=True
            )
        )

    def _file(
        self,
        content: Literal["cuts", "counts"],
        *,
        sizes: tuple[int, int],
        burn_in: int,
        discrete: Sequence[bool],
        arrays: Mapping[str, NDArray[Any]],
        least: int | None = None,
        infinite: Sequence[int] | None = None,
        plan: str | None = None,
    ) -> SummaryFile:
        terms = self.terms
        # Rounded down: beside a cell's count an exact one would tell of the others in the cell.
        told = [count - count % (least or 1) for count in infinite or ()]
        rows = self.source.rows_hint or 0
        inputs = self.source.inputs(hash_all=self.hash_inputs) if arrays else ()
        if least is not None:
            _require_sizes(sizes, least)
            rows = _hushed_rows(rows, sum(sizes), least)
            inputs = tuple(replace(one, rows=0) for one in inputs)
        extent = Extent(first_row=terms.first_row, rows=rows)
        return SummaryFile(
            name=_HERE,
            manifest=Manifest(
                schema=SCHEMA,
                content=content,
                mipaudit=__version__,
                created=moment().strftime(TIME_FORM),
                scores=self._names(discrete, told or None),
                n_members=sizes[0],
                n_holdout=sizes[1],
                keyed=terms.keyed,
                extents=() if terms.keyed else (extent,),
                seed=terms.seed,
                burn_in=burn_in,
                prior=None if content == "cuts" else terms.prior,
                least=least,
                plan=plan,
                member_column=self.source.member_column,
                skipped_columns=tuple(name for name, _ in self.source.skipped),
                findings=_told(self.source.findings(), least),
                inputs=inputs,
                settings=self.settings,
                arrays=checksums(arrays),
            ),
            arrays=arrays,
        )


def _require_sizes(sizes: tuple[int, int], least: int) -> None:
    """Refuse an input of which a class itself is too small to be told."""
    if any(0 < size < least for size in sizes):
        raise InputError(
            "too_few_rows",
            f"One class has fewer than {least} records, and how many there are is told.",
            hint="Put parts together first, or ask for a smaller --min-cell.",
        )


def _hushed_rows(rows: int, counted: int, least: int) -> int:
    """Return the rows of the input; where few of them were left out, more than there are.

    What was counted is told, too: the difference must be of nobody or of enough records.
    """
    return counted + least if 0 < rows - counted < least else rows


def _told(findings: Sequence[Finding], least: int | None) -> tuple[Finding, ...]:
    """Return what is said of rows left out; of few rows not even how many."""
    if least is None:
        return tuple(findings)
    return tuple(
        Finding(code=one.code, text="Rows were left out or changed; how many is not told.")
        for one in findings
    )


def _require_large(summary: Summary, least: int) -> None:
    """Refuse counts that are too small to be told, and a score of which nothing is left to tell."""
    if any(one.single.size == 1 for one in summary.columns):
        raise InputError(
            "too_few_rows",
            f"Too few rows to cut a score where every count is of at least {least} records.",
            hint="Put parts together first, or ask for a smaller --min-cell.",
        )
    smallest = summary.smallest_count()
    if smallest is not None and smallest < least:
        small = sum(int(((one.blocks > 0) & (one.blocks < least)).sum()) for one in summary.columns)
        raise InputError(
            "small_counts",
            f"{count_text(small)} counts are of fewer than {least} records each.",
            hint="This input is too small for this --min-cell, or unlike the cuts: "
            "put parts together, or ask for a smaller one.",
        )
