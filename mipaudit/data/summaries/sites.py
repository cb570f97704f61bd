"""The sites by whose cuts is counted: who they are, of which no counts are given, and of what rows.

Cuts of a site that never counts choose cells as well as any others, so that every limit holds:
for the records that were counted, and for no others. Files that are added up belong together: they
are of one plan, and of no row twice.
"""

from __future__ import annotations

from hashlib import blake2b
from math import log, pi
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.data.summaries.file import SiteRows, SummaryFile, bad_summary
from mipaudit.errors import InputError, UsageError
from mipaudit.model.message import Finding
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.statements.text.rounding import count_text
from mipaudit.statements.verdict import SITES_LEFT_OUT, SITES_MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mipaudit.data.summaries.file import Manifest, SummaryFile
    from mipaudit.summaries.counts import Summary

_SHOWN: Final = 3


def same_name(site: str) -> str:
    """Return what is equal of names that nobody tells apart by ear: case does not count."""
    return site.casefold()


def first_names(names: Sequence[str]) -> str:
    """Return the first of several names, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def sites_of(cuts: Iterable[SummaryFile]) -> tuple[SiteRows, ...]:
    """Return whose cuts these are, in an order that does not depend on theirs."""
    told = [one.manifest for one in cuts]
    sites = [
        SiteRows(name=one.site or "", n_members=one.n_members, n_holdout=one.n_holdout)
        for one in told
    ]
    return tuple(sorted(sites, key=lambda one: same_name(one.name)))


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
    here = {same_name(one.manifest.site or "") for one in files}
    for file in files:
        own = file.manifest
        known = sites.get(same_name(own.site or ""))
        rows = (own.n_members, own.n_holdout)
        if sites and (known is None or (known.n_members, known.n_holdout) != rows):
            raise bad_summary(file.name)
    for site in without:
        _require_missing(site, sites, here=same_name(site) in here)
    stated = [sites[name] for name in dict.fromkeys(map(same_name, without))]
    missing = [one for name, one in sites.items() if name not in here and one not in stated]
    found = []
    if missing:
        found.append(
            Finding.of(
                SITES_MISSING, sites=len(sites), missing=len(missing), names=_with_rows(missing)
            )
        )
    if stated:
        found.append(Finding.of(SITES_LEFT_OUT, names=_with_rows(stated)))
    return found


def _require_missing(site: str, sites: Mapping[str, SiteRows], *, here: bool) -> None:
    """Refuse to leave out what is there, or what nobody expects."""
    if same_name(site) not in sites:
        known = first_names([one.name for one in sites.values()])
        raise UsageError(
            "without_site",
            f"The counts are not by the cuts of a site {quoted_name(site)}.",
            hint=f"They are by those of {known}."
            if sites
            else "They are of one input, by its own cuts: leave out `without_site`.",
        )
    if here:
        raise UsageError(
            "without_site",
            f"The summary of {quoted_name(site)} is given, so that its records count.",
            hint="Leave out `without_site`, or the summary.",
        )


def _with_rows(sites: Sequence[SiteRows]) -> str:
    rows = [
        f"{quoted_name(one.name)} ({count_text(one.n_members)} members, "
        f"{count_text(one.n_holdout)} holdout records)"
        for one in sites
    ]
    return first_names(rows)


# That two parts have the same counts by chance, by their cells: less than once in 10^12.
_NO_CHANCE: Final = 12 * log(10)
# What all files must say alike, and what to do where they do not.
_ALIKE: Final = (
    ("scores", "hold different scores", "Name them alike everywhere, with `score_col`."),
    ("prior", "were cut for different priors", "Give every site the same `prior`."),
    ("keyed", "tell rows apart in different ways", "Give `key_col` everywhere, or nowhere."),
    (
        "sites",
        "are counted by the cuts of different sites",
        "Give every site the cuts of all of them, with `cuts`.",
    ),
    (
        "plan",
        "are counted by different cells",
        "Make cuts first (`cuts_only`), and give all of them to every run with `cuts`.",
    ),
)


def check_alike(files: Sequence[SummaryFile]) -> None:
    """Refuse files that cannot be of one input.

    Raises:
        InputError: ``summaries_differ``.
    """
    first = files[0]
    for other in files[1:]:
        for field, what, hint in _ALIKE:
            if _said(first.manifest, field) != _said(other.manifest, field):
                raise InputError(
                    "summaries_differ", f"{first.name} and {other.name} {what}.", hint=hint
                )


def _said(manifest: Manifest, field: str) -> object:
    if field == "scores":
        return [(one.name, one.kind) for one in manifest.scores]
    return getattr(manifest, field)


def check_apart(files: Sequence[SummaryFile]) -> None:
    """Refuse files of which two hold the same rows, as far as anybody can tell.

    Raises:
        InputError: ``same_site`` or ``same_rows``.
    """
    seen: dict[str | None, int] = {}
    named: dict[str, int] = {}
    for at, file in enumerate(files):
        contents = {one.sha256 or one.fingerprint for one in file.manifest.inputs}
        for content in (contents | {file.sha256}) - {None}:
            if seen.setdefault(content, at) != at:
                raise InputError(
                    "same_rows",
                    f"{files[seen[content]].name} and {file.name} hold the same rows.",
                    hint="Give every part once.",
                )
        site = file.manifest.site
        if site is not None and named.setdefault(same_name(site), at) != at:
            raise InputError(
                "same_site",
                f"{files[named[same_name(site)]].name} and {file.name} are both of the site "
                f"{quoted_name(site)}.",
                hint="Give every part once, and every site a name of its own, with `site`.",
            )


def check_unlike(files: Sequence[SummaryFile], parts: Sequence[Summary]) -> None:
    """Refuse the same rows under two names: every cell of every score has as many of each class.

    How many records of a class lie in a cell does not depend on the seed, nor on how the rows
    are stored or ordered.

    Raises:
        InputError: ``same_rows``.
    """
    seen: dict[bytes, SummaryFile] = {}
    for file, part in zip(files, parts, strict=True):
        totals = [
            np.stack([one.everyone.members, one.everyone.holdout], axis=1) for one in part.columns
        ]
        # Two of one law agree in a cell of n records with a chance of about 1 / sqrt(4 pi n).
        unlikely = max(0.5 * float(np.log(4 * pi * one[one > 0]).sum()) for one in totals)
        digest = blake2b(digest_size=32)
        for one in totals:
            digest.update(np.ascontiguousarray(one, dtype="<i8").tobytes())
        if unlikely > _NO_CHANCE and seen.setdefault(digest.digest(), file) is not file:
            raise InputError(
                "same_rows",
                f"{seen[digest.digest()].name} and {file.name} hold the same rows: every cell "
                "has as many of each class.",
                hint="Give every part once, under one name.",
            )
