"""The seed of a site's rows: drawn with its cuts, and found in them again when it counts."""

from __future__ import annotations

from hashlib import blake2b
from secrets import randbits
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.commands.summarize.place import places_of
from mipaudit.errors import InputError, UsageError
from mipaudit.statements.estimate import Finding
from mipaudit.summaries.identity.seed import Content, SeedChoice
from mipaudit.summaries.sites.seeds import SeedSpan, SiteSeeds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.reading.summaries.file import Manifest, ScoreName, SummaryFile
    from mipaudit.statements.origin import InputFile

    Remake = Callable[[Manifest], Mapping[str, NDArray[Any]]]

_SEED_BITS: Final = 64
_DIGEST_BYTES: Final = 32
_STATED: Final = "stated_seed"


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
    stated: int | None, sites: Sequence[SummaryFile] = (), seed: int | None = None
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
        "The seed of this part was stated (--seed), and nothing of its rows is in it: whoever "
        "ordered the rows, or named their keys, could have chosen which of them only train. "
        "Leave --seed out: every site then draws its own."
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
    found = [one for one in sites if places & places_of(one.manifest.inputs)]
    if found:
        return found[0].manifest
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
