"""Whether rows are counted as they were told apart when the cuts were made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.reading.summaries.file import Manifest, SummaryFile
    from mipaudit.statements.origin import InputFile, Value

_KEYS: Final = ("key_col", "unit_col")


def check_place(file: SummaryFile, sites: Sequence[SummaryFile]) -> None:
    """Refuse rows that made the cuts at another place: they would train and be judged.

    Raises:
        InputError: ``moved_rows``.
    """
    own = file.manifest
    if own.keyed:
        _check_key(own, sites)
    places = places_of(own.inputs)
    for site in sites:
        other = site.manifest
        if places & places_of(other.inputs) and own.extents and other.extents:
            start, end = other.extents[0].first_row, other.extents[0].rows
            inside = start <= own.extents[0].first_row < start + end
            if not inside:
                raise InputError(
                    "moved_rows",
                    f"{site.name} was made from the same file with another `first_row`.",
                    hint="Count with the `first_row` that the cuts were made with.",
                )


def _check_key(own: Manifest, sites: Sequence[SummaryFile]) -> None:
    """Refuse rows that another column told apart where their file made the cuts.

    Raises:
        InputError: ``moved_rows``.
    """
    places = places_of(own.inputs)
    for site in sites:
        if places & places_of(site.manifest.inputs) and _keys(site.manifest) != _keys(own):
            raise InputError(
                "moved_rows",
                f"{site.name} was made from the same file with another key.",
                hint="Count with the `key_column` or `unit_column` that the cuts were made with.",
            )


def places_of(inputs: Sequence[InputFile]) -> set[str | None]:
    """Return the digests of files; data in memory have none."""
    return {one.sha256 or one.fingerprint for one in inputs} - {None}


def _keys(manifest: Manifest) -> dict[str, Value]:
    """Return the settings that name a key; the command line has a dash in their names."""
    named = {one.name.replace("-", "_"): one.value for one in manifest.settings}
    return {name: value for name, value in named.items() if name.startswith(_KEYS)}
