"""Whether summary files belong together: of one plan, and of no row twice."""

from __future__ import annotations

from hashlib import blake2b
from math import log, pi
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.reading.summaries.sites import same_name
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.reading.summaries.file import Manifest, SummaryFile
    from mipaudit.summaries.tally import Summary

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
    seen: dict[object, int] = {}
    named: dict[str, int] = {}
    for at, file in enumerate(files):
        contents = {one.sha256 or one.fingerprint for one in file.manifest.inputs}
        for content in (contents | {file.sha256}) - {None}:
            other = files[seen.setdefault(content, at)]
            if seen[content] != at:
                raise InputError(
                    "same_rows",
                    f"{other.name} and {file.name} hold the same rows.",
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
