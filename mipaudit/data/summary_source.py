"""Summary files as an input: whose they are, whether they belong together, and their sum.

Cuts of a site that never counts choose cells as well as any others, so that every limit holds:
for the records that were counted, and for no others. Files that are added up belong together: they
are of one plan, and of no row twice. Their arrays are checked, since anybody may edit them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from math import log, pi
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.summary_file import Manifest, SiteRows, SummaryFile, bad_summary, narrow
from mipaudit.errors import InputError, UsageError
from mipaudit.maths.arrays import Ints
from mipaudit.maths.class_limits.roc_counts import Ladder
from mipaudit.model.message import Finding, Message
from mipaudit.statements.printable_names import first_names, quoted_name
from mipaudit.statements.rounding import count_text
from mipaudit.statements.verdict import SITES_LEFT_OUT, SITES_MISSING
from mipaudit.summaries.counts import ScoreCounts, Summary, occupied, sum_of
from mipaudit.summaries.plan import FEWEST_BURN_IN_BLOCKS, MOST_BURN_IN_BLOCKS
from mipaudit.summaries.rows import MICRO_BLOCKS
from mipaudit.summaries.seed import Content
from mipaudit.summaries.sites import ColumnCuts, Cuts

if TYPE_CHECKING:
    from mipaudit.data.parts import ScoreColumn

# That two parts have the same counts by chance, by their cells: less than once in 10^12.
_NO_CHANCE: Final = 12 * log(10)
# What all files must say alike, and what to do where they do not.
_ALIKE: Final = (
    ("scores", "hold different scores", "Name them alike everywhere, with `score_col`."),
    ("prior", "were cut for different priors", "Give every site the same `prior`."),
    ("keyed", "identify rows in different ways", "Give `key_col` everywhere, or nowhere."),
    (
        "sites",
        "are counted with the cuts of different sites",
        "Give every site the cuts of all sites, with `cuts`.",
    ),
    (
        "plan",
        "are counted in different score ranges",
        "Make cuts first (`cuts_only`), and give all of them to every run with `cuts`.",
    ),
)
_CLASSES: Final = 2
# What is computed from counts takes memory and time by the root of their total.
MOST_ROWS: Final = 1 << 40


def same_name(site: str) -> str:
    """Return what is equal of names that nobody tells apart by ear: case does not count."""
    return site.casefold()


def sites_of(cuts: Iterable[SummaryFile]) -> tuple[SiteRows, ...]:
    """Return whose cuts these are, in an order that does not depend on theirs."""
    told = sorted((one.manifest for one in cuts), key=lambda one: same_name(one.site or ""))
    return tuple(
        SiteRows(name=one.site or "", n_members=one.n_members, n_holdout=one.n_holdout)
        for one in told
    )


def uncounted(files: Sequence[SummaryFile], without: Sequence[str]) -> list[Finding]:
    """Return what the reader must know of sites whose cuts were used and whose counts are not here.

    Args:
        files: of counts, by the cuts of the same sites.
        without: those of which the user says that no record is in the release.

    Raises:
        InputError: ``bad_summary``: a file is of no such site, or not of its rows.
        UsageError: ``without_site``: a site is none of them, or its counts are here.
    """
    told = files[0].manifest.sites
    sites = {same_name(one.name): one for one in told}
    if len(sites) < len(told) or any(min(one.n_members, one.n_holdout) < 0 for one in told):
        raise bad_summary(files[0].name)
    here = set()
    for file in files:
        own, name = file.manifest, same_name(file.manifest.site or "")
        known = sites.get(name)
        if sites and (known is None or _sizes(known) != _sizes(own)):
            raise bad_summary(file.name)
        here.add(name)
    for site in without:
        _require_missing(site, sites, here)
    left_out = dict.fromkeys(map(same_name, without))
    missing = [one for name, one in sites.items() if name not in here and name not in left_out]
    found = []
    if missing:
        names = _with_rows(missing)
        counts = {"sites": len(sites), "missing": len(missing)}
        found.append(Finding.of(SITES_MISSING, **counts, names=names))
    if left_out:
        found.append(Finding.of(SITES_LEFT_OUT, names=_with_rows([sites[one] for one in left_out])))
    return found


def _sizes(one: Manifest | SiteRows) -> tuple[int, int]:
    return one.n_members, one.n_holdout


def _require_missing(site: str, sites: Mapping[str, SiteRows], here: Collection[str]) -> None:
    """Refuse to leave out what is there, or what nobody expects."""
    if same_name(site) not in sites:
        known = first_names([one.name for one in sites.values()])
        hint = f"They used the cuts of {known}."
        alone = "They are from one input with its own cuts: leave out `without_site`."
        raise UsageError(
            "without_site",
            f"The counts did not use cuts of a site {quoted_name(site)}.",
            hint if sites else alone,
        )
    if same_name(site) in here:
        raise UsageError(
            "without_site",
            f"The summary of {quoted_name(site)} is given, so its records count.",
            "Leave out `without_site`, or the summary.",
        )


def _with_rows(sites: Sequence[SiteRows]) -> str:
    told = "{} ({} members, {} holdout records)"
    counts = [(quoted_name(one.name), *map(count_text, _sizes(one))) for one in sites]
    return first_names([told.format(*one) for one in counts])


def check_alike(files: Sequence[SummaryFile]) -> None:
    """Refuse files that cannot be of one input.

    Raises:
        InputError: ``summaries_differ``.
    """
    first = files[0]
    for other, (field, what, hint) in product(files[1:], _ALIKE):
        if _said(first.manifest, field) != _said(other.manifest, field):
            message = f"{first.name} and {other.name} {what}."
            raise InputError("summaries_differ", message, hint)


def _said(manifest: Manifest, field: str) -> object:
    scores = [(one.name, one.kind) for one in manifest.scores]
    return scores if field == "scores" else getattr(manifest, field)


def check_apart(files: Sequence[SummaryFile]) -> None:
    """Refuse files of which two hold the same rows, as far as anybody can tell.

    Raises:
        InputError: ``same_site`` or ``same_rows``.
    """
    inputs = [
        {file.sha256, *(one.sha256 or one.fingerprint for one in file.manifest.inputs)} - {None}
        for file in files
    ]
    _require_apart(files, inputs, "same_rows", "hold the same rows", "Give every part once.")
    sites = [[same_name(one.manifest.site)] if one.manifest.site else [] for one in files]
    hint = "Give every part once, and every site a name of its own, with `site`."
    _require_apart(files, sites, "same_site", "are both of the site {site}", hint)


def check_unlike(files: Sequence[SummaryFile], parts: Sequence[Summary]) -> None:
    """Refuse the same rows under two names: every cell of every score has as many of each class.

    How many records of a class lie in a cell does not depend on the seed, nor on how the rows
    are stored or ordered.

    Raises:
        InputError: ``same_rows``.
    """
    counted = []
    for part in parts:
        totals = [
            np.stack([one.everyone.members, one.everyone.holdout], axis=1) for one in part.columns
        ]
        # Two of one law agree in a cell of n records with a chance of about 1 / sqrt(4 pi n).
        unlikely = max(0.5 * float(np.log(4 * pi * one[one > 0]).sum()) for one in totals)
        counted.append([_digest(b"", totals)] if unlikely > _NO_CHANCE else [])
    what = "hold the same rows: every cell has as many members and as many holdout records"
    _require_apart(files, counted, "same_rows", what, "Give every part once, under one name.")


def _require_apart(
    files: Sequence[SummaryFile], marks: Sequence[Iterable[object]], code: str, what: str, hint: str
) -> None:
    """Refuse two files that have a mark in common: ``what`` says what that means."""
    seen: dict[object, int] = {}
    for at, (file, own) in enumerate(zip(files, marks, strict=True)):
        for mark in own:
            if seen.setdefault(mark, at) != at:
                said = what.format(site=quoted_name(file.manifest.site or ""))
                message = f"{files[seen[mark]].name} and {file.name} {said}."
                raise InputError(code, message, hint)


def _digest(start: bytes, arrays: Iterable[Ints]) -> bytes:
    digest = blake2b(start, digest_size=32)
    for one in arrays:
        digest.update(np.ascontiguousarray(one, dtype="<i8").tobytes())
    return digest.digest()


def cuts_arrays(cuts: Cuts) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file of cuts."""
    arrays: dict[str, NDArray[Any]] = {}
    for at, column in enumerate(cuts.columns):
        arrays[f"{at}/edges"] = column.edges
        arrays[f"{at}/atoms"] = column.atoms
        arrays[f"{at}/counts"] = narrow(column.counts)
    return arrays


def counts_arrays(summary: Summary) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file of counts.

    ``blocks`` is by micro-block, cell and (holdout, member); ``steps`` by finer cell and
    (holdout, member) outside the burn-in, then within; the others tell which cells hold
    one value.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for at, column in enumerate(summary.columns):
        late, all_rows = column.evaluated, column.everyone
        steps = [late.holdout, late.members]
        steps += [all_rows.holdout - late.holdout, all_rows.members - late.members]
        arrays[f"{at}/blocks"] = narrow(column.blocks)
        arrays[f"{at}/single"] = column.single
        arrays[f"{at}/steps"] = narrow(np.column_stack(steps))
        arrays[f"{at}/step_single"] = late.single
    return arrays


def cuts_of(file: SummaryFile) -> Cuts:
    """Return the cuts that a file holds.

    Raises:
        InputError: ``bad_summary``.
    """
    one = _checked(file)
    return Cuts(
        columns=tuple(_column_cuts(file, at, score) for at, score in enumerate(one.scores)),
        n_members=one.n_members,
        n_holdout=one.n_holdout,
        burn_in=one.burn_in,
        seed=one.seed,
        least=one.least,
    )


def counts_of(file: SummaryFile) -> Summary:
    """Return the counts that a file holds.

    Raises:
        InputError: ``bad_summary``.
    """
    one = _checked(file)
    return Summary(
        columns=tuple(_score_counts(file, at, score) for at, score in enumerate(one.scores)),
        n_members=one.n_members,
        n_holdout=one.n_holdout,
    )


def _checked(file: SummaryFile) -> Manifest:
    """Return what a file says of itself, and refuse what no run would have written."""
    one = file.manifest
    _require(
        file,
        min(one.n_members, one.n_holdout) >= 0
        and one.n_members + one.n_holdout <= MOST_ROWS
        and bool(one.scores)
        and FEWEST_BURN_IN_BLOCKS <= one.burn_in <= MOST_BURN_IN_BLOCKS
        and (one.least is None or 1 < one.least <= MOST_ROWS)
        and (one.content == "cuts" or one.plan is not None),
    )
    return one


def _column_cuts(file: SummaryFile, at: int, score: ScoreColumn) -> ColumnCuts:
    edges, atoms = (_array(file, f"{at}/{name}", "f") for name in ("edges", "atoms"))
    for one in (edges, atoms):
        # Differences of what is not a number are not above zero, either.
        rising = bool((np.diff(one) > 0).all()) and not np.isnan(one).any()
        _require(file, one.dtype == np.float64 and rising)
    counts = _table(file, f"{at}/counts", (edges.size + 1, _CLASSES))
    return ColumnCuts(
        kind=score.kind, edges=edges, atoms=atoms, counts=counts, discrete=score.discrete
    )


def _score_counts(file: SummaryFile, at: int, score: ScoreColumn) -> ScoreCounts:
    single, step_single = (_array(file, f"{at}/{n}", "b") for n in ("single", "step_single"))
    blocks = _table(file, f"{at}/blocks", (MICRO_BLOCKS, single.size, _CLASSES))
    steps = _table(file, f"{at}/steps", (step_single.size, 2 * _CLASSES))
    one = file.manifest
    late, early = blocks[one.burn_in :], blocks[: one.burn_in]
    totals = np.concatenate([late.sum(axis=(0, 1)), early.sum(axis=(0, 1))])
    _require(
        file,
        min(single.size, step_single.size) > 0
        and tuple(blocks.sum(axis=(0, 1))) == _sizes(one)[::-1]
        and bool((steps.sum(axis=0) == totals).all())
        and 0 <= score.infinite <= sum(_sizes(one)),
    )
    places, times = occupied(blocks)
    everyone, evaluated = (
        Ladder(members=some[:, 1], holdout=some[:, 0], single=step_single)
        for some in (steps[:, :_CLASSES] + steps[:, _CLASSES:], steps[:, :_CLASSES])
    )
    return ScoreCounts(
        places=places,
        times=times,
        burn_in=one.burn_in,
        single=single,
        everyone=everyone,
        evaluated=evaluated,
        infinite=score.infinite,
        discrete=score.discrete,
    )


def _table(file: SummaryFile, name: str, shape: tuple[int, ...]) -> Ints:
    found = _array(file, name, "u", shape)
    # Totals are below 2^62 then, so that no sum of them wraps round.
    _require(file, float(found.sum(dtype=np.float64)) < float(1 << 62))
    return found.astype(np.int64)


def _array(
    file: SummaryFile, name: str, kind: str, shape: tuple[int, ...] | None = None
) -> NDArray[Any]:
    """Return an array of a kind of type, of this shape or of one dimension."""
    found = file.arrays.get(name, np.empty((0, 0), dtype=np.void))
    fits = found.ndim == 1 if shape is None else found.shape == shape
    _require(file, found.dtype.kind == kind and fits)
    return found


def _require(file: SummaryFile, holds: bool) -> None:  # noqa: FBT001 - an assertion
    if not holds:
        raise bad_summary(file.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySource:
    """Counted scores.

    Attributes:
        columns: the scores.
        member_column: where membership was read.
        passed_over: columns that might have been scores and were not taken.
        notes: what the reader must know about how the counts came about.
    """

    columns: tuple[ScoreColumn, ...]
    member_column: str | None
    passed_over: tuple[str, ...]
    notes: tuple[Finding, ...]

    # Every score is one number, every file was read, and counts do not tell of copies.
    vectors: ClassVar[Mapping[str, tuple[int, ...]]] = MappingProxyType({})
    incomplete: ClassVar[bool] = False
    copies: ClassVar[None] = None
    told: ClassVar[tuple[Finding, ...]] = ()

    @property
    def scalars(self) -> tuple[int, ...]:
        """Every score is one number."""
        return tuple(range(len(self.columns)))

    def findings(self) -> tuple[Finding, ...]:
        """Return what the reader must know."""
        return self.notes

    def sentinels(self, _: str) -> dict[int, int]:
        """Return nothing: the counts of sites hold no values."""
        return {}

    def infinite(self, _: Sequence[str]) -> int | None:
        """Return None: the counts tell."""
        return None


def add_up(
    files: Sequence[SummaryFile], without: Sequence[str] = ()
) -> tuple[SummarySource, Summary]:
    """Return the counts of all files together.

    Args:
        files: at least one, each of counts.
        without: the sites of which the user says that the release has no record.

    Raises:
        UsageError: as `uncounted`.
        InputError: ``bad_summary``, ``cuts_not_counts``, ``summaries_differ``,
            ``same_site`` or ``same_rows``.
    """
    for file in files:
        if file.manifest.content != "counts":
            raise InputError(
                "cuts_not_counts",
                f"{file.name}: holds cuts, not counts.",
                "Count with the cuts: mipaudit summarize SCORES --cuts FILE -o part.summary.",
            )
    check_apart(files)
    check_alike(files)
    first = files[0].manifest
    source = SummarySource(
        columns=first.scores,
        member_column=first.member_column,
        passed_over=first.skipped_columns,
        notes=(_origin(files), *uncounted(files, without), *_gathered(files)),
    )
    parts = [counts_of(one) for one in files]
    _check_counted_alike(files, parts)
    check_unlike(files, parts)
    return source, sum_of(parts)


def counts_content(files: Sequence[SummaryFile], total: Summary) -> Content:
    """Return what the coins of an audit of summaries depend on: all sites' seeds, all counts.

    The rows' own coins are the sites'. These are for what is drawn from counts alone.

    Args:
        files: at least one, which belong together.
        total: their sum, whatever parts it came in.
    """
    arrays = (
        counts
        for column in total.columns
        for counts in (
            column.blocks,
            *(column.evaluated.members, column.evaluated.holdout),
            *(column.everyone.members, column.everyone.holdout),
        )
    )
    return Content(
        kind="counts",
        n_members=total.n_members,
        n_holdout=total.n_holdout,
        digest=_digest(str(files[0].manifest.plan).encode(), arrays),
    )


def _check_counted_alike(files: Sequence[SummaryFile], parts: Sequence[Summary]) -> None:
    """Refuse counts that say they are by one plan and are not, and more rows than there are.

    Raises:
        InputError: ``bad_summary`` or ``too_many_rows``.
    """
    for file, part in zip(files, parts, strict=True):
        if file.manifest.burn_in != files[0].manifest.burn_in:
            raise bad_summary(file.name)
        for own, first in zip(part.columns, parts[0].columns, strict=True):
            if (
                own.discrete != first.discrete
                or not np.array_equal(own.single, first.single)
                or not np.array_equal(own.everyone.single, first.everyone.single)
            ):
                raise bad_summary(file.name)
    if sum(one.n_members + one.n_holdout for one in parts) > MOST_ROWS:
        raise InputError(
            "too_many_rows",
            f"The summaries cover more than {count_text(MOST_ROWS)} rows together.",
            "Audit fewer of them at a time.",
        )


def _origin(files: Sequence[SummaryFile]) -> Finding:
    sites = [one.manifest.site for one in files if one.manifest.site is not None]
    cut = len(files[0].manifest.sites)
    return Finding.of(
        "from_summaries",
        files=len(files),
        named=first_names(sites),
        by=Message.of("by_cuts", sites=cut) if cut > 1 else None,
    )


def _gathered(files: Sequence[SummaryFile]) -> list[Finding]:
    """Return what each file says of its rows, once for each thing that is said."""
    said: dict[Finding, list[str]] = {}
    for file in files:
        for one in file.manifest.findings:
            said.setdefault(one, []).append(file.name)
    return [
        one.with_values(one.code, where=first_names(names)) if len(files) > 1 else one
        for one, names in said.items()
    ]
