"""A site among others: its name, the seed of its rows, and what it keeps to itself.

The seed is drawn with the cuts, and found in them again when the site counts.
"""

from __future__ import annotations

import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.data.summaries.source import same_name
from mipaudit.errors import InputError, UsageError
from mipaudit.model.message import Finding
from mipaudit.statements.estimate import STATED_SEED
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.statements.text.rounding import count_text
from mipaudit.summaries.identity.seed import Content, SeedChoice
from mipaudit.summaries.sites.shared_plan import enough_rows, shared_plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.data.summaries.file import ScoreName, SummaryFile
    from mipaudit.summaries.counts import Summary
    from mipaudit.summaries.sites.cuts import Cuts

_SHOWN: Final = 3
# Cells of which every count is large follow from no prior.
_ANY_PRIOR: Final = 0.5
_SEED_BITS: Final = 64
_DIGEST_BYTES: Final = 32


def drawn_seed(stated: int | None, site: str | None, scores: Sequence[ScoreName]) -> int:
    """Return the seed of a site that has none yet, in [0, 2^64).

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
        f"None of the cuts is of the site {quoted_name(site)}: they are of {named}{more}.",
        hint="Give the name that its cuts were made with, and these cuts too, with `cuts`.",
    )


def asked_discrete(own: SummaryFile) -> bool:
    """Tell whether the scores of cuts were said to be discrete when they were made."""
    return any(one.name == "discrete" and one.value is True for one in own.manifest.settings)


def require_own_rows(
    own: SummaryFile, sizes: tuple[int, int], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Refuse rows whose cuts are not those that the site gave: some would train and be judged.

    Args:
        own: the cuts of this site, as they were given.
        sizes: (members, holdout) of the rows that are counted.
        arrays: of the cuts that these rows have, by the same seed.

    Raises:
        InputError: ``moved_rows``.
    """
    told = (own.manifest.n_members, own.manifest.n_holdout)
    if sizes == told and all(
        np.array_equal(array, own.arrays.get(name, ())) for name, array in arrays.items()
    ):
        return
    raise InputError(
        "moved_rows",
        f"{own.name}: not made of these rows, or with another order or key of them.",
        hint="Count the same input with the same settings; if it has changed, all sites need "
        "new cuts of it.",
    )


def require_own_seed(
    stated: int | None, site: str | None, scores: Sequence[ScoreName], seed: int
) -> None:
    """Refuse a stated seed that is not the one of the cuts.

    Raises:
        UsageError: ``seed``.
    """
    if stated is not None and drawn_seed(stated, site, scores) != seed:
        raise UsageError(
            "seed",
            "The cuts of these rows were made with another seed.",
            hint="Leave `seed` out where `cuts` are given: they have the seed.",
        )


def require_sizes(sizes: tuple[int, int], least: int) -> None:
    """Refuse a class that is itself too small to be told.

    Raises:
        InputError: ``too_few_rows``.
    """
    if any(0 < size < least for size in sizes):
        raise InputError(
            "too_few_rows",
            f"One class has fewer than {least} records, and how many there are is told.",
            hint="Put parts together first, or ask for a smaller `min_cell`.",
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
            f"Too few rows for counts of {count_text(least)} records or more: "
            f"{count_text(cuts.n_members)} members and {count_text(cuts.n_holdout)} holdout "
            f"records. {rows_enough(least)}.",
            hint="Put parts together first, or ask for a smaller `min_cell`.",
        )


def rows_enough(least: int) -> str:
    """Return in a sentence how many rows of a site nearly always suffice for its counts."""
    rows = count_text(enough_rows(least))
    return (
        f"At every site {rows} members and {rows} holdout records are nearly always enough, where "
        "their scores lie at most one standard deviation apart"
    )


def told_findings(findings: Sequence[Finding], least: int | None) -> tuple[Finding, ...]:
    """Return what is said of rows left out; of few rows not even how many."""
    if least is None:
        return tuple(findings)
    return tuple(Finding.of(one.code, case="untold") for one in findings)


def require_large(summary: Summary, least: int) -> None:
    """Refuse counts that are too small to be told, and a score of which nothing is left to tell."""
    if any(one.single.size == 1 for one in summary.columns):
        raise InputError(
            "too_few_rows",
            "The sites together have no cells in which every one of them has enough records of "
            f"both classes. {rows_enough(least)}.",
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
