"""``mipaudit summarize``: scores to a small file that adds up with those of other parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from mipaudit.commands.summarize.options import SummarizeOptions
from mipaudit.commands.summarize.sites import (
    asked_discrete,
    drawn_seed,
    own_cuts,
    require_cells,
    require_large,
    require_own_rows,
    require_own_seed,
    require_sizes,
    rows_enough,
    stated_findings,
    told_findings,
)
from mipaudit.counting.columns import (
    Meter,
    fold_source,
    require_classes,
    require_identities,
    require_spread,
)
from mipaudit.counting.retried_reading import read_input
from mipaudit.data.request import read_request
from mipaudit.engine.workers import Workers, engine_of
from mipaudit.errors import InputError
from mipaudit.options.plain_values import require
from mipaudit.options.public import public
from mipaudit.output.destination import Destination
from mipaudit.output.exit_code import OK
from mipaudit.output.terminal import note, progress_bar
from mipaudit.reading.rows.units import choose_units
from mipaudit.reading.summaries.file import (
    SCHEMA,
    Manifest,
    ScoreName,
    SummaryFile,
    checksums,
    plan_digest,
    read_summaries,
)
from mipaudit.reading.summaries.sites import check_alike, check_apart, sites_of
from mipaudit.reading.summaries.source import counts_arrays, cuts_arrays, cuts_of
from mipaudit.statements.provenance import TIME_FORM, moment
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.summaries.counts import Summary
from mipaudit.summaries.sample import FEWEST_BURN_IN_BLOCKS, BurnInSample, burn_in_blocks
from mipaudit.summaries.sites.cuts import make_cuts
from mipaudit.summaries.sites.shared_plan import least_of, shared_plan
from mipaudit.summaries.tally import Survey
from mipaudit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.summarize.options import SummarizeShown
    from mipaudit.data.source import ScoreSource
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
    if shown.plan is not None:
        from mipaudit.commands.summarize.plan import plan_text

        text = plan_text(asked, shown.plan)
        Destination.open(shown.output, inputs=asked.inputs()).write(text.encode())
        return OK
    require(
        shown.output is not None,
        "no_output",
        "Say where to write the summary.",
        "For example: `output` part.summary, or - for standard output.",
    )
    destination = Destination.open(shown.output, inputs=asked.inputs())
    with progress_bar(quiet=shown.quiet) as progress:
        file = answer_summarize(asked.but(progress=progress))
    data = file.to_bytes()
    destination.write(data)
    where = (
        ""
        if destination.path is None
        else f" Written to {safe_name(destination.name, longest=400)}."
    )
    note(f"{file.headline(len(data))}{where}", quiet=shown.quiet)
    if asked.cuts_only and asked.min_cell is not None:
        note(f"{rows_enough(asked.min_cell)}.", quiet=shown.quiet)
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
            InputError: the input has too few rows, or a discrete score too many values.
        """
        seed = self._drawn()
        found = self._own_cuts(seed, alone=False)
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
        own = own_cuts(self.asked.site, sites)
        seed = self._drawn() if own is None else own.manifest.seed
        if own is not None:
            require_own_seed(self.asked.stated_seed, self.asked.site, self._names(), seed)
        cuts = [cuts_of(one) for one in sites] or [self._own_cuts(seed, alone=True)]
        plan = shared_plan(cuts, prior=self.asked.prior)
        summary, sample = self._counted(plan, seed)
        if own is not None:
            made = self._made(
                sample,
                discrete=asked_discrete(own),
                seed=seed,
                burn_in=own.manifest.burn_in,
                least=own.manifest.least,
            )
            require_own_rows(own, (made.n_members, made.n_holdout), cuts_arrays(made))
        require_spread(summary.columns[0])
        least = least_of(cuts)
        if least is not None:
            require_large(summary, least)
        discrete = [one.discrete for one in plan.columns]
        return self._file(
            seed=seed,
            sizes=(summary.n_members, summary.n_holdout),
            burn_in=plan.burn_in,
            discrete=discrete,
            arrays=counts_arrays(summary),
            least=least,
            infinite=[one.infinite for one in summary.columns],
            plan=plan_digest(plan, self._names(discrete), [one.seed for one in cuts]),
            sites=sites,
        )

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

    def _drawn(self) -> int:
        return drawn_seed(self.asked.stated_seed, self.asked.site, self._names())

    def _counted(self, plan: Plan, seed: int) -> tuple[Summary, BurnInSample]:
        """Return the counts of all rows, and those of them that any burn-in has.

        Raises:
            InputError: keys repeat, or the input changed meanwhile.
        """
        self._choose(seed)
        start = partial(Survey, len(self.source.columns), seed, plan)
        survey = fold_source(self.source, start, workers=self.workers, progress=self.meter)
        sample, tally = survey.sample, survey.tally
        sample.settle()
        require_identities(sample)
        self.source.opened.check_unchanged()
        summary = Summary(
            columns=() if tally is None else tally.counts(),
            n_members=sample.members.rows,
            n_holdout=sample.holdout.rows,
        )
        return summary, sample

    def _choose(self, seed: int) -> None:
        """Choose the row that stands for each person anew, by the seed of these rows."""
        if self.source.unit_seed is not None:
            self.source.stand_for(choose_units(self.source.every_row().rows(), seed))

    def _own_cuts(self, seed: int, *, alone: bool) -> Cuts:
        """Return the input's cuts, from as many rows as are surely burn-in rows in the end."""
        least = self.asked.min_cell
        self._choose(seed)
        start = partial(BurnInSample, len(self.source.columns), seed)
        sample = fold_source(self.source, start, workers=self.workers, progress=self.meter)
        sample.settle()
        require_identities(sample)
        burn_in = FEWEST_BURN_IN_BLOCKS
        if alone:
            require_classes(sample)
            burn_in = burn_in_blocks(sample.members.rows, sample.holdout.rows)
        self.source.opened.check_unchanged()
        found = self._made(
            sample, discrete=self.asked.discrete, seed=seed, burn_in=burn_in, least=least
        )
        if least is not None:
            require_cells(found, least)
        return found

    def _made(
        self, sample: BurnInSample, *, discrete: bool, seed: int, burn_in: int, least: int | None
    ) -> Cuts:
        kinds = [column.kind for column in self.source.columns]
        return make_cuts(sample, kinds, discrete=discrete, seed=seed, burn_in=burn_in, least=least)

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
        inputs = self.source.inputs(hash_all=asked.hash_inputs) if arrays else ()
        if least is not None:
            require_sizes(sizes, least)
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
                site=asked.site,
                sites=sites_of(sites),
                keyed=asked.keyed,
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
