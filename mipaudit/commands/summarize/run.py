"""``mipaudit summarize``: scores to a small file that adds up with those of other parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from mipaudit.commands.summarize.options import SummarizeOptions
from mipaudit.commands.summarize.sites import (
    check_place,
    drawn_seed,
    own_cuts,
    position_seeds,
    require_large,
    require_own_seed,
    stated_findings,
    told_findings,
    told_rows,
)
from mipaudit.counting.columns import Meter, require_classes, require_identities, require_spread
from mipaudit.counting.retried_reading import read_input
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Workers, engine_of
from mipaudit.errors import InputError
from mipaudit.options.plain_values import require
from mipaudit.options.public import public
from mipaudit.output.destination import Destination
from mipaudit.output.exit_code import OK
from mipaudit.output.progress import progress_bar
from mipaudit.output.terminal import note
from mipaudit.reading.rows.units import choose_units
from mipaudit.reading.source.derived_source import shifted
from mipaudit.reading.source.request import read_request
from mipaudit.reading.summaries.file import (
    SCHEMA,
    Extent,
    Manifest,
    ScoreName,
    SummaryFile,
    checksums,
    plan_digest,
    read_summaries,
)
from mipaudit.reading.summaries.source import (
    check_alike,
    check_apart,
    counts_arrays,
    cuts_arrays,
    cuts_of,
)
from mipaudit.statements.provenance import TIME_FORM, moment
from mipaudit.summaries.sample import FEWEST_BURN_IN_BLOCKS, BurnInSample, burn_in_blocks
from mipaudit.summaries.sites.cuts import make_cuts
from mipaudit.summaries.sites.seeds import SiteSeeds, SiteSurvey
from mipaudit.summaries.sites.shared_plan import least_of, shared_plan
from mipaudit.summaries.tally import Summary
from mipaudit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.summarize.options import SummarizeShown
    from mipaudit.reading.source.derived_source import ChangedPartition
    from mipaudit.reading.source.part import Partitions
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.summaries.plan import Plan
    from mipaudit.summaries.sites.cuts import Cuts

_HERE = "this input"


def answer_summarize(asked: SummarizeOptions) -> SummaryFile:
    """Return a summary of scores: counts without any score, for `mipaudit.estimate`.

    With the cuts of all sites the counts add up with all that are made with the same. A
    site draws its own seed, which its cuts keep; one is stated for a run that can be
    repeated.

    Raises:
        UsageError: an argument is wrong.
        InputError: the input cannot be summarized as it is.
    """
    sites = read_summaries(asked.cuts)

    def run(source: ScoreSource) -> SummaryFile:
        rows = source.rows_hint
        if rows is not None and not (asked.cuts or asked.cuts_only):
            rows *= 2
        meter = None if asked.progress is None else Meter(rows, asked.progress).advance
        summarizer = Summarizer(source=source, asked=asked, workers=workers, meter=meter)
        if asked.cuts_only:
            return summarizer.cuts()
        summarizer.check_sites(sites)
        return summarizer.counts(sites)

    with Workers(engine_of(asked)) as workers:
        return read_input(
            (asked.data, asked.members, asked.holdout), read_request(asked), workers, run
        )


def run_summarize(asked: SummarizeOptions, shown: SummarizeShown) -> int:
    """Count and write the summary; return the exit code."""
    require(
        shown.output is not None,
        "no_output",
        "Say where to write the summary.",
        "For example: -o part.summary, or -o - for standard output.",
    )
    destination = Destination.open(shown.output, inputs=asked.inputs())
    with progress_bar(quiet=shown.quiet) as progress:
        file = answer_summarize(asked.but(progress=progress))
    data = file.to_bytes()
    destination.write(data)
    note(file.headline(len(data)), quiet=shown.quiet)
    return OK


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summarizer:
    """Makes the summary files of one opened input.

    Attributes:
        source: the input.
        asked: what changes the summary.
        workers: who reads.
        meter: called with the rows of each batch, or None.
    """

    source: ScoreSource
    asked: SummarizeOptions
    workers: Workers
    meter: Callable[[int], None] | None

    def cuts(self) -> SummaryFile:
        """Return where the scores lie, for the other sites.

        Raises:
            InputError: the input has no rows left, or a discrete score too many values.
        """
        seed = self._drawn()
        found = self._own_cuts(seed, alone=False, least=self.asked.min_cell)
        return self._file(
            seed=seed,
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
        seeds = self._seeds(sites)
        cuts = [cuts_of(one) for one in sites] or [
            self._own_cuts(seeds.own, alone=True, least=self.asked.min_cell)
        ]
        plan = shared_plan(cuts, prior=self.asked.prior)
        summary = self._counted(plan, seeds)
        require_spread(summary.columns[0])
        least = least_of(cuts)
        if least is not None:
            require_large(summary, least)
        discrete = [one.discrete for one in plan.columns]
        file = self._file(
            seed=seeds.own,
            sizes=(summary.n_members, summary.n_holdout),
            burn_in=plan.burn_in,
            discrete=discrete,
            arrays=counts_arrays(summary),
            least=least,
            infinite=[one.infinite for one in summary.columns],
            plan=plan_digest(plan, self._names(discrete), [one.seed for one in cuts]),
            sites=sites,
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
        own = self._file(seed=0, sizes=(0, 0), burn_in=FEWEST_BURN_IN_BLOCKS, arrays={})
        check_alike([own, *sites])
        check_apart(sites)

    def _partitions(self) -> Partitions[ChangedPartition]:
        return shifted(self.source.partitions(), self.asked.start)

    def _drawn(self) -> int:
        return drawn_seed(self.asked.stated_seed, self.asked.start, self._names())

    def _seeds(self, sites: Sequence[SummaryFile]) -> SiteSeeds:
        """Return the seed of every row: that of its cuts where there are any.

        Raises:
            InputError: ``whose_cuts``.
            UsageError: another seed was stated than the cuts were made with.
        """
        names = self._names()
        if not self.asked.keyed:
            seeds = position_seeds(self._drawn(), sites)
            first = self.asked.start
            mine = [one for one in seeds.spans if one.first_row <= first < one.stop]
            for span in mine:
                require_own_seed(self.asked.stated_seed, span.first_row, names, span.seed)
            return replace(seeds, own=mine[0].seed) if mine else seeds
        found = own_cuts(
            self.source.inputs(hash_all=self.asked.hash_inputs) if sites else (),
            sites,
            lambda one: cuts_arrays(self._own_cuts(one.seed, alone=False, least=one.least)),
        )
        if found is None:
            return SiteSeeds(own=self._drawn())
        require_own_seed(self.asked.stated_seed, 0, names, found.seed)
        return SiteSeeds(own=found.seed)

    def _counted(self, plan: Plan, seeds: SiteSeeds) -> Summary:
        """Return the counts of all rows.

        Raises:
            InputError: keys repeat, or the input changed meanwhile.
        """
        self._choose(seeds.own)
        start = partial(SiteSurvey, len(self.source.columns), seeds, plan)
        survey = fold(self._partitions(), start, workers=self.workers, progress=self.meter)
        for sample in survey.samples.values():
            sample.settle()
            require_identities(sample)
        self.source.check_unchanged()
        n_members, n_holdout = survey.sizes()
        return Summary(columns=survey.tally.counts(), n_members=n_members, n_holdout=n_holdout)

    def _choose(self, seed: int) -> None:
        """Choose the row that stands for each person anew, by the seed of these rows."""
        if self.source.unit_seed is not None:
            self.source.stand_for(choose_units(self.source.every_row().rows(), seed))

    def _own_cuts(self, seed: int, *, alone: bool, least: int | None) -> Cuts:
        """Return the input's cuts, from as many rows as are surely burn-in rows in the end."""
        kinds = [column.kind for column in self.source.columns]
        self._choose(seed)
        start = partial(BurnInSample, len(kinds), seed)
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
            discrete=self.asked.discrete,
            seed=seed,
            burn_in=burn_in,
            least=least,
        )

    def _names(
        self, discrete: Sequence[bool] = (), infinite: Sequence[int] = ()
    ) -> tuple[ScoreName, ...]:
        columns = zip_longest(self.source.columns, discrete, infinite)
        return tuple(
            ScoreName(name=one.name, kind=one.kind, discrete=bool(each), infinite=count or 0)
            for one, each, count in columns
        )

    def _file(  # noqa: PLR0913 - one keyword for each thing that a file says
        self,
        *,
        seed: int,
        sizes: tuple[int, int],
        burn_in: int,
        arrays: Mapping[str, NDArray[Any]],
        discrete: Sequence[bool] = (),
        least: int | None = None,
        infinite: Sequence[int] = (),
        plan: str | None = None,
        sites: Sequence[SummaryFile] = (),
    ) -> SummaryFile:
        asked = self.asked
        # Rounded down: beside a cell's count an exact one would tell of the others in the cell.
        told = [count - count % (least or 1) for count in infinite]
        rows = self.source.rows_hint or 0
        inputs = self.source.inputs(hash_all=asked.hash_inputs) if arrays else ()
        if least is not None:
            rows = told_rows(rows, sizes, least)
            inputs = tuple(replace(one, rows=0) for one in inputs)
        return SummaryFile(
            name=_HERE,
            manifest=Manifest(
                schema=SCHEMA,
                content="cuts" if plan is None else "counts",
                mipaudit=__version__,
                created=moment().strftime(TIME_FORM),
                scores=self._names(discrete, told),
                n_members=sizes[0],
                n_holdout=sizes[1],
                keyed=asked.keyed,
                extents=() if asked.keyed else (Extent(first_row=asked.start, rows=rows),),
                seed=seed,
                burn_in=burn_in,
                prior=None if plan is None else asked.prior,
                least=least,
                plan=plan,
                member_column=self.source.member_column,
                skipped_columns=self.source.passed_over,
                findings=(
                    *told_findings((*self.source.told, *self.source.findings()), least),
                    *stated_findings(asked.stated_seed, sites, seed),
                ),
                inputs=inputs,
                settings=asked.recorded(),
                arrays=checksums(arrays),
            ),
            arrays=arrays,
        )


summarize = public(SummarizeOptions, answer_summarize)
