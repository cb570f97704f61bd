"""Scores to a small file that adds up with those of other parts: ``mipaudit summarize``.

And ``--plan``: what each site has to run, and the centre, ready to paste.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import zip_longest
from shlex import quote
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.commands.summarize.options import SummarizeOptions, SummarizeShown
from mipaudit.counting.counts import (
    fold_source,
    require_classes,
    require_identities,
    require_spread,
    row_meter,
)
from mipaudit.counting.scores import read_input
from mipaudit.data.request import read_request
from mipaudit.data.rows.units import choose_units
from mipaudit.data.summary_file import (
    SCHEMA,
    Manifest,
    SummaryFile,
    checksums,
    plan_digest,
    read_summaries,
)
from mipaudit.data.summary_source import (
    check_alike,
    check_apart,
    counts_arrays,
    cuts_arrays,
    cuts_of,
    same_name,
    sites_of,
)
from mipaudit.engine.workers import Workers, engine_of
from mipaudit.errors import InputError
from mipaudit.model.message import Finding
from mipaudit.options.declare import Declared, declared, is_left_out
from mipaudit.options.public import public
from mipaudit.options.values import path_of, require
from mipaudit.output.destination import Destination
from mipaudit.output.exit_code import OK
from mipaudit.output.terminal import note, progress_bar
from mipaudit.statements.any_report import STATED_SEED
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.provenance import TIME_FORM, moment
from mipaudit.statements.rounding import count_text
from mipaudit.summaries.counts import Summary
from mipaudit.summaries.plan import FEWEST_BURN_IN_BLOCKS, BurnInSample, Plan, burn_in_blocks
from mipaudit.summaries.seed import Content, SeedChoice
from mipaudit.summaries.sites import Cuts, enough_rows, least_of, make_cuts, shared_plan
from mipaudit.summaries.tally import Survey
from mipaudit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.data.parts import ScoreColumn
    from mipaudit.data.source import ScoreSource

_CLASSES: Final = (SummarizeOptions, SummarizeShown)
_SCORES: Final = "scores.parquet"
_WIDTH: Final = 78
_NEXT_LINE: Final = " \\\n  "
# What only the cuts say: who counts has it from them.
_OF_CUTS: Final = frozenset({"min_cell", "discrete", "seed"})

_AGREED: Final = (
    "Before anybody looks, all agree on the limit (mipaudit help choose-a-limit), on the attackers "
    "that it is against, and on the score columns: others take new cuts of every site."
)
_FIRST: Final = "Each site says where its scores lie, and sends its .cuts to all."
_SECOND: Final = (
    "With the .cuts of all beside it, each site counts; its .summary goes to the centre."
)
_DROPPED: Final = (
    "If a site drops out, no limit is met without its summary: its records may be in the release. "
    "If none of them is, the centre says so (mipaudit estimate ... --without-site NAME). Else the "
    "others count again without its cuts, before anybody looks; the answer says nothing of its "
    "records."
)
_CENTRE: Final = (
    "3. The centre, with the summaries of all. Add the limit that was agreed on, such as mipaudit "
    "estimate ... --max-advantage X, or a policy file."
)


def plan_text(asked: SummarizeOptions, sites: int) -> str:
    """Return the commands of all rounds as a script with comments.

    Args:
        asked: what every site is asked alike, such as columns and the least count.
        sites: how many there are.

    Raises:
        UsageError: ``plan``: what the plan names itself is given.
    """
    require(
        not (asked.site or asked.cuts or asked.cuts_only),
        "plan",
        "`plan` already names the sites and their cuts.",
        "Leave out `site`, `cuts` and `cuts_only`, or `plan`.",
    )
    names = [f"site-{number}" for number in range(1, sites + 1)]
    flags = {one.name: one.word for kind in _CLASSES for one in declared(kind)}
    site, output = flags["site"], flags["output"]
    cuts = [f"{flags['cuts']} {name}.cuts" for name in names]
    scores, given = _scores(asked), list(_given(asked))
    named = f"Here every site finds its own: name them in all commands with {flags['score_col']}."
    told = [words for one, words in given if one.name not in _OF_CUTS]
    lines = _said(
        "Each site runs its own commands where its scores are"
        + (f", here called {scores[0]}" if len(scores) == 1 else "")
        + ". Names of sites may be others, but each always the same, and no two alike."
    )
    if asked.min_cell is not None:
        lines += _said(f"{rows_enough(asked.min_cell)}.")
    lines += ["", *_said(_AGREED if asked.score_col else f"{_AGREED} {named}")]
    every = [words for _, words in given]
    for number, (title, words, ending) in enumerate(
        ((_FIRST, [*every, flags["cuts_only"]], "cuts"), (_SECOND, [*told, *cuts], "summary")), 1
    ):
        lines += ["", *_said(f"{number}. {title}")]
        for name in names:
            own = [*scores, f"{site} {name}", *words, f"{output} {name}.{ending}"]
            lines += [f"# At {name}:", _command("mipaudit summarize", own)]
    lines += ["", *_said(_DROPPED), "", *_said(_CENTRE)]
    prior = [words for one, words in given if one.name == "prior"]
    lines += [_command("mipaudit estimate", [*(f"{name}.summary" for name in names), *prior])]
    return "\n".join(lines) + "\n"


def rows_enough(least: int) -> str:
    """Return in a sentence how many rows of a site nearly always suffice for its counts."""
    rows = count_text(enough_rows(least))
    return (
        f"At every site {rows} members and {rows} holdout records are nearly always enough, if "
        "members and holdout have similar average scores (within one standard deviation)"
    )


def _scores(asked: SummarizeOptions) -> list[str]:
    """Return the input as it was named, or a name for it."""
    files = [
        (one.word, getattr(asked, one.name))
        for one in declared(type(asked))
        if one.name in {"members", "holdout"}
    ]
    apart = [f"{flag} {_word(file)}" for flag, file in files if file is not None]
    given = asked.data if isinstance(asked.data, (tuple, list)) else [asked.data]
    return [_word(one) for one in given if one is not None] + apart or [_SCORES]


def _given(asked: SummarizeOptions) -> Iterator[tuple[Declared, str]]:
    """Yield the options that change an answer and are given, as they are typed."""
    for one in declared(type(asked)):
        value: Any = getattr(asked, one.name)
        if one.option.flag is None or not one.option.recorded or is_left_out(one, value):
            continue
        name = one.word
        if one.many:
            yield one, " ".join(f"{name} {quote(str(each))}" for each in value)
        else:
            yield one, name if value is True else f"{name} {quote(str(value))}"


def _word(file: object) -> str:
    return quote(str(path_of(file)))


def _said(text: str) -> list[str]:
    return wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def _command(start: str, words: Iterable[str]) -> str:
    """Return a command, over several lines where it is long."""
    lines = [start]
    for word in words:
        if len(lines[-1]) + len(word) + 3 > _WIDTH:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return _NEXT_LINE.join(lines)


_SHOWN: Final = 3
# Cells of which every count is large follow from no prior.
_ANY_PRIOR: Final = 0.5
_SEED_BITS: Final = 64
_DIGEST_BYTES: Final = 32


def drawn_seed(stated: int | None, site: str | None, scores: Sequence[ScoreColumn]) -> int:
    """Return the seed of a site that has none yet, in [0, 2^64); its cuts keep it.

    Nothing of its rows is in it: a digest of a small site's rows would let anybody who has
    the cuts confirm a guess of a single record.

    Args:
        stated: what the user stated; None draws from the operating system.
        site: its name, if it has one.
        scores: that it has.
    """
    if stated is None:
        return secrets.randbits(_SEED_BITS)
    named = "\0".join(one.name for one in scores)
    place = blake2b(f"{same_name(site or '')}\0{named}".encode(), digest_size=_DIGEST_BYTES)
    choice = SeedChoice(origin="stated", number=stated)
    return choice.in_use(Content(kind="site", n_members=0, n_holdout=0, digest=place.digest()))


def stated_findings(
    stated: int | None, sites: Sequence[SummaryFile], seed: int
) -> tuple[Finding, ...]:
    """Return what the reader must know of a part whose seed somebody stated.

    Args:
        stated: with this part; None if it was not.
        sites: by whose cuts it is counted.
        seed: of its rows: what those who made its cuts stated counts, too.
    """
    told = [one.manifest for one in sites if one.manifest.seed == seed]
    if stated is None and not any(f.code == STATED_SEED for one in told for f in one.findings):
        return ()
    return (Finding.of(STATED_SEED, case="part"),)


def own_cuts(site: str | None, sites: Sequence[SummaryFile]) -> SummaryFile | None:
    """Return the cuts of the site that counts; None where no cuts are given.

    Rows that any cuts tell of train, and no others may: so a site counts beside its own.

    Raises:
        InputError: ``whose_cuts``: none of them is of this site.
    """
    if site is None or not sites:
        return None
    for one in sites:
        if one.manifest.site is not None and same_name(one.manifest.site) == same_name(site):
            return one
    named = " and ".join(quoted_name(one.manifest.site or "") for one in sites[:_SHOWN])
    more = " and others" if sites[_SHOWN:] else ""
    raise InputError(
        "whose_cuts",
        f"No cuts come from the site {quoted_name(site)}, only from {named}{more}.",
        "Name the site as when its cuts were made, and give those too, with `cuts`.",
    )


def require_sizes(sizes: tuple[int, int], least: int) -> None:
    """Refuse a class that is itself too small to be told.

    Raises:
        InputError: ``too_few_rows``.
    """
    if any(0 < size < least for size in sizes):
        raise InputError(
            "too_few_rows",
            f"One class has fewer than {least} records, and the file would show how many.",
            "Join parts first, or give a smaller `min_cell`.",
        )


def require_cells(cuts: Cuts, least: int) -> None:
    """Refuse a site of so few rows that nothing can be counted with it, whatever the others have.

    Raises:
        InputError: ``too_few_rows``.
    """
    require_sizes((cuts.n_members, cuts.n_holdout), least)
    plan = shared_plan([cuts], prior=_ANY_PRIOR)
    if any(one.cells.count == 1 for one in plan.columns):
        raise InputError(
            "too_few_rows",
            f"Too few rows for score ranges of {count_text(least)} records or more: "
            f"{count_text(cuts.n_members)} members and {count_text(cuts.n_holdout)} holdout "
            f"records. {rows_enough(least)}.",
            "Join files of records first, or give a smaller `min_cell`. If all records are at one "
            "place: run mipaudit estimate there and take out only its report; no record and no "
            "single score is in it. Tell whoever checks it how many records it rests on: "
            f"{count_text(cuts.n_members)} members and {count_text(cuts.n_holdout)} holdout "
            "records.",
        )


def require_large(summary: Summary, least: int) -> None:
    """Refuse counts that are too small to be told, and a score of which nothing is left to tell."""
    if any(one.single.size == 1 for one in summary.columns):
        raise InputError(
            "too_few_rows",
            "No score range has enough members and holdout records at every site. "
            f"{rows_enough(least)}.",
            "Join parts first, or give a smaller `min_cell`.",
        )
    smallest = summary.smallest_count()
    if smallest is not None and smallest < least:
        small = sum(int(((one.blocks > 0) & (one.blocks < least)).sum()) for one in summary.columns)
        raise InputError(
            "small_counts",
            f"Counts of fewer than {least} records: {count_text(small)}.",
            "This input is too small for this `min_cell`, or its scores are unlike those of the "
            "cuts. Join parts, or give a smaller `min_cell`.",
        )


_HERE = "this input"


def answer_summarize(asked: SummarizeOptions) -> SummaryFile:
    """Return a summary of scores: counts without any score, for `mipaudit.estimate`.

    Counts made with the same cuts of all sites can be added up. A site draws its own seed, which
    its cuts keep. State a seed for a run that can be repeated.

    Raises:
        UsageError: an argument is wrong.
        InputError: the input cannot be summarized as it is.
    """
    sites = read_summaries(asked.cuts)

    def run(source: ScoreSource) -> SummaryFile:
        """Summarize the opened input."""
        passes = 1 if asked.cuts or asked.cuts_only else 2
        meter = row_meter(source.rows_hint * passes, asked.progress)
        summarizer = Summarizer(source=source, asked=asked, workers=workers, meter=meter)
        if asked.cuts_only:
            return summarizer.cuts()
        summarizer.check_sites(sites)
        return summarizer.counts(sites)

    with Workers(engine_of(asked)) as workers:
        inputs = (asked.data, asked.members, asked.holdout)
        return read_input(inputs, read_request(asked), workers, run)


def run_summarize(asked: SummarizeOptions, shown: SummarizeShown) -> int:
    """Count and write the summary; return the exit code."""
    if shown.plan is not None:
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
    name = safe_name(destination.name, longest=400)
    where = "" if destination.path is None else f" Written to {name}."
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
        found = self._own_cuts(self._drawn(), alone=False)
        said = replace(
            self._unread(),
            scores=self._names([one.discrete for one in found.columns]),
            n_members=found.n_members,
            n_holdout=found.n_holdout,
            seed=found.seed,
            burn_in=found.burn_in,
            least=found.least,
        )
        return self._file(said, cuts_arrays(found))

    def counts(self, sites: Sequence[SummaryFile]) -> SummaryFile:
        """Return the counts by the cuts of all sites, or by the input's own where none are given.

        Raises:
            InputError: the cuts do not belong to the input, or a count is too small to be told.
        """
        asked, own = self.asked, own_cuts(self.asked.site, sites)
        seed = self._drawn() if own is None else own.manifest.seed
        require(
            own is None or asked.stated_seed is None or self._drawn() == seed,
            "seed",
            "The cuts of these rows were made with another seed.",
            "Leave `seed` out with `cuts`, which contain the seed.",
        )
        cuts = [cuts_of(one) for one in sites] or [self._own_cuts(seed, alone=True)]
        plan, least = shared_plan(cuts, prior=asked.prior), least_of(cuts)
        survey = self._survey(seed, plan)
        summary = Summary(
            columns=() if survey.tally is None else survey.tally.counts(),
            n_members=survey.sample.members.rows,
            n_holdout=survey.sample.holdout.rows,
        )
        if own is not None:
            self._require_own_rows(own, survey.sample)
        require_spread(summary.columns[0])
        if least is not None:
            require_large(summary, least)
        discrete = [one.discrete for one in plan.columns]
        # Rounded down: beside a cell's count an exact one would tell of the others in the cell.
        infinite = [one.infinite - one.infinite % (least or 1) for one in summary.columns]
        said = replace(
            self._unread(),
            content="counts",
            scores=self._names(discrete, infinite),
            n_members=summary.n_members,
            n_holdout=summary.n_holdout,
            sites=sites_of(sites),
            seed=seed,
            burn_in=plan.burn_in,
            prior=asked.prior,
            least=least,
            plan=plan_digest(plan, self._names(discrete), [one.seed for one in cuts]),
        )
        return self._file(said, counts_arrays(summary), sites)

    def _require_own_rows(self, own: SummaryFile, sample: BurnInSample) -> None:
        """Refuse rows whose cuts are not those that the site gave: some would train and be judged.

        Args:
            own: the cuts of this site, as they were given.
            sample: of the rows that are counted, which have cuts by the same seed.

        Raises:
            InputError: ``moved_rows``.
        """
        told = own.manifest
        discrete = any(one.name == "discrete" and one.value is True for one in told.settings)
        made = self._made(
            sample, discrete=discrete, seed=told.seed, burn_in=told.burn_in, least=told.least
        )
        sizes = (made.n_members, made.n_holdout), (told.n_members, told.n_holdout)
        if sizes[0] != sizes[1] or not all(
            np.array_equal(array, own.arrays.get(name, ()))
            for name, array in cuts_arrays(made).items()
        ):
            raise InputError(
                "moved_rows",
                f"{own.name}: made from other rows, or in another order or with another key.",
                "Count the same input with the same settings; if it has changed, all sites need "
                "new cuts of it.",
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
                    f"{one.name}: holds counts, not cuts.",
                    "Cuts are made with mipaudit summarize SCORES --cuts-only -o site.cuts.",
                )
        own = SummaryFile(name=_HERE, manifest=self._unread(), arrays={})
        check_alike([own, *sites])
        check_apart(sites)

    def _drawn(self) -> int:
        return drawn_seed(self.asked.stated_seed, self.asked.site, self._names())

    def _survey(self, seed: int, plan: Plan | None = None) -> Survey:
        """Return the rows that any burn-in has, and with a plan the counts of all rows.

        Raises:
            InputError: keys repeat, or the input changed meanwhile.
        """
        source = self.source
        if source.unit_seed is not None:
            # The row that stands for each person is chosen anew, by the seed of these rows.
            source.stand_for(choose_units(source.every_row().rows(), seed))
        start = partial(Survey, len(source.columns), seed, plan)
        survey = fold_source(source, start, workers=self.workers, progress=self.meter)
        survey.sample.settle()
        require_identities(survey.sample)
        source.opened.check_unchanged()
        return survey

    def _own_cuts(self, seed: int, *, alone: bool) -> Cuts:
        """Return the input's cuts, from as many rows as are surely burn-in rows in the end."""
        sample, least = self._survey(seed).sample, self.asked.min_cell
        burn_in = FEWEST_BURN_IN_BLOCKS
        if alone:
            require_classes(sample)
            burn_in = burn_in_blocks(sample.members.rows, sample.holdout.rows)
        discrete = self.asked.discrete
        found = self._made(sample, discrete=discrete, seed=seed, burn_in=burn_in, least=least)
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
    ) -> tuple[ScoreColumn, ...]:
        columns = zip_longest(self.source.columns, discrete, infinite)
        return tuple(
            replace(one, discrete=bool(each), infinite=count or 0) for one, each, count in columns
        )

    def _unread(self) -> Manifest:
        """Return what a file of the input says before a row is read."""
        asked, source = self.asked, self.source
        return Manifest(
            schema=SCHEMA,
            content="cuts",
            mipaudit=__version__,
            created=moment().strftime(TIME_FORM),
            scores=self._names(),
            n_members=0,
            n_holdout=0,
            site=asked.site,
            sites=(),
            keyed=asked.keyed,
            seed=0,
            burn_in=FEWEST_BURN_IN_BLOCKS,
            prior=None,
            least=None,
            plan=None,
            member_column=source.member_column,
            skipped_columns=source.passed_over,
            findings=(),
            inputs=(),
            settings=asked.recorded(),
            arrays={},
        )

    def _file(
        self, said: Manifest, arrays: Mapping[str, NDArray[Any]], sites: Sequence[SummaryFile] = ()
    ) -> SummaryFile:
        """Return the file, with what was read and what is to be known of it."""
        source, least = self.source, said.least
        inputs = source.inputs(hash_all=self.asked.hash_inputs)
        if least is not None:
            require_sizes((said.n_members, said.n_holdout), least)
            inputs = tuple(replace(one, rows=0) for one in inputs)
        told: Sequence[Finding] = (*source.told, *source.findings())
        if least is not None:
            # Of few rows that were left out not even how many is said.
            told = [Finding.of(one.code, case="untold") for one in told]
        findings = (*told, *stated_findings(self.asked.stated_seed, sites, said.seed))
        whole = replace(said, inputs=inputs, findings=findings, arrays=checksums(arrays))
        return SummaryFile(name=_HERE, manifest=whole, arrays=arrays)


summarize = public(SummarizeOptions, answer_summarize)
