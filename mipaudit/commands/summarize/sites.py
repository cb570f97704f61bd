"""A site among others: the seed and the place of its rows, and what it keeps to itself.

The seed is drawn with the cuts, and found in them again when the site counts.
"""

from __future__ import annotations

from hashlib import blake2b
from secrets import randbits
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.errors import InputError, UsageError
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.rounding import count_text
from mipaudit.summaries.identity.seed import Content, SeedChoice
from mipaudit.summaries.sites.seeds import SeedSpan, SiteSeeds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.reading.summaries.file import Manifest, ScoreName, SummaryFile
    from mipaudit.statements.origin import InputFile, Value
    from mipaudit.summaries.tally import Summary

    Remake = Callable[[Manifest], Mapping[str, NDArray[Any]]]

_KEYS: Final = ("key_col", "unit_col")
_SEED_BITS: Final = 64
_DIGEST_BYTES: Final = 32
_STATED: Final = "stated_seed"


def check_place(file: SummaryFile, sites: Sequence[SummaryFile]) -> None:
    """Refuse rows that made the cuts at another place, or under another key.

    They would train and be judged.

    Raises:
        InputError: ``moved_rows``.
    """
    own = file.manifest
    places = places_of(own.inputs)
    for site in sites:
        other = site.manifest
        if not places & places_of(other.inputs):
            continue
        if own.keyed and _keys(other) != _keys(own):
            raise InputError(
                "moved_rows",
                f"{site.name} was made from the same file with another key.",
                hint="Count with the `key_col` or `unit_col` that the cuts were made with.",
            )
        if own.extents and other.extents:
            start, end = other.extents[0].first_row, other.extents[0].rows
            if not start <= own.extents[0].first_row < start + end:
                raise InputError(
                    "moved_rows",
                    f"{site.name} was made from the same file with another `first_row`.",
                    hint="Count with the `first_row` that the cuts were made with.",
                )


def places_of(inputs: Sequence[InputFile]) -> set[str | None]:
    """Return the digests of files; data in memory have none."""
    return {one.sha256 or one.fingerprint for one in inputs} - {None}


def _keys(manifest: Manifest) -> dict[str, Value]:
    """Return the settings that name a key; the command line has a dash in their names."""
    named = {one.name.replace("-", "_"): one.value for one in manifest.settings}
    return {name: value for name, value in named.items() if name.startswith(_KEYS)}


def drawn_seed(stated: int | None, first_row: int, scores: Sequence[ScoreName]) -> int:
    """Return the seed of a site that has none yet, in [0, 2^64).

    Nothing of its rows is in it: a digest of a small site's rows would let anybody who has
    the cuts confirm a guess of a single record.

    Args:
        stated: what the user stated; None draws from the operating system.
        first_row: position of its first row in the whole.
        scores: that it has.
    """
    if stated is None:
        return randbits(_SEED_BITS)
    named = "\0".join(one.name for one in scores)
    place = blake2b(f"{first_row}\0{named}".encode(), digest_size=_DIGEST_BYTES)
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
    if stated is None and not any(f.code == _STATED for one in told for f in one.findings):
        return ()
    text = (
        "The seed of this part was stated (`seed`), and nothing of its rows is in it: whoever "
        "ordered the rows, or named their keys, could have chosen which of them only train. "
        "Leave `seed` out: every site then draws its own."
    )
    return (Finding(code=_STATED, text=text),)


def position_seeds(own: int, sites: Sequence[SummaryFile]) -> SiteSeeds:
    """Return the seeds of rows that their positions tell apart.

    Args:
        own: of rows that are at no site's positions.
        sites: cuts whose positions do not overlap.
    """
    spans = [
        SeedSpan(
            first_row=extent.first_row,
            stop=extent.first_row + extent.rows,
            seed=site.manifest.seed,
        )
        for site in sites
        for extent in site.manifest.extents
    ]
    return SiteSeeds(own=own, spans=tuple(sorted(spans, key=lambda one: one.first_row)))


def own_cuts(
    inputs: Sequence[InputFile], sites: Sequence[SummaryFile], remake: Remake
) -> Manifest | None:
    """Return what the cuts of these very rows say of themselves; None where none are.

    Args:
        inputs: what is counted.
        sites: cuts of keyed rows.
        remake: makes the arrays of the cuts once more, with the seed of a manifest.

    Raises:
        InputError: ``whose_cuts``: it cannot be told, and rows that trained might be judged.
    """
    places = places_of(inputs)
    for one in sites:
        if places & places_of(one.manifest.inputs):
            return one.manifest
    alike = [one for one in sites if _alike(inputs, one.manifest.inputs)]
    for one in alike:
        made = remake(one.manifest)
        if made.keys() == one.arrays.keys() and all(
            np.array_equal(array, one.arrays[name]) for name, array in made.items()
        ):
            return one.manifest
    if alike:
        raise InputError(
            "whose_cuts",
            "It cannot be told which of the cuts were made of this input.",
            hint="Make its cuts again, with the settings that it is counted with.",
        )
    return None


def require_own_seed(
    stated: int | None, first_row: int, scores: Sequence[ScoreName], seed: int
) -> None:
    """Refuse a stated seed that is not the one of the cuts.

    Raises:
        UsageError: ``seed``.
    """
    if stated is not None and drawn_seed(stated, first_row, scores) != seed:
        raise UsageError(
            "seed",
            "The cuts of these rows were made with another seed.",
            hint="Leave `seed` out where `cuts` are given: they have the seed.",
        )


def _alike(ours: Sequence[InputFile], theirs: Sequence[InputFile]) -> bool:
    """Tell whether inputs without a digest may be the same; rows that are not told are 0."""
    if len(ours) != len(theirs) or any(one.bytes is not None for one in (*ours, *theirs)):
        return False
    return all(
        one.rows == other.rows or 0 in {one.rows, other.rows}
        for one, other in zip(ours, theirs, strict=True)
    )


def told_rows(rows: int, sizes: tuple[int, int], least: int) -> int:
    """Return the rows of the input; where few of them were left out, more than there are.

    What was counted is told, too: the difference must be of nobody or of enough records.

    Raises:
        InputError: ``too_few_rows``: a class itself is too small to be told.
    """
    if any(0 < size < least for size in sizes):
        raise InputError(
            "too_few_rows",
            f"One class has fewer than {least} records, and how many there are is told.",
            hint="Put parts together first, or ask for a smaller `min_cell`.",
        )
    counted = sum(sizes)
    return counted + least if 0 < rows - counted < least else rows


def told_findings(findings: Sequence[Finding], least: int | None) -> tuple[Finding, ...]:
    """Return what is said of rows left out; of few rows not even how many."""
    if least is None:
        return tuple(findings)
    return tuple(
        Finding(code=one.code, text="Rows were left out or changed; how many is not told.")
        for one in findings
    )


def require_large(summary: Summary, least: int) -> None:
    """Refuse counts that are too small to be told, and a score of which nothing is left to tell."""
    if any(one.single.size == 1 for one in summary.columns):
        raise InputError(
            "too_few_rows",
            f"Too few rows to cut a score where every count is of at least {least} records.",
            hint="Put parts together first, or ask for a smaller `min_cell`.",
        )
    smallest = summary.smallest_count()
    if smallest is not None and smallest < least:
        small = sum(int(((one.blocks > 0) & (one.blocks < least)).sum()) for one in summary.columns)
        raise InputError(
            "small_counts",
            f"{count_text(small)} counts are of fewer than {least} records each.",
            hint="This input is too small for this `min_cell`, or unlike the cuts: "
            "put parts together, or ask for a smaller one.",
        )
