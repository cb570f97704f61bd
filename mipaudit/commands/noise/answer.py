"""From random splits to calibrated noise, its records in a report, and a noised release."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from mipaudit.commands.noise.calibration import Candidate, calibrate
from mipaudit.commands.noise.measured import CoordinateNoise, Measured
from mipaudit.commands.noise.mechanism import (
    UniformSource,
    coordinate_rms,
    coordinate_spreads,
    round_to_grid,
    sample_noise,
    uniforms_from_bytes,
)
from mipaudit.commands.noise.options import LARGEST, NoiseOptions, Unlike
from mipaudit.commands.noise.release import Release, among_splits, encode_release
from mipaudit.commands.noise.report import NoiseReport, promise_report
from mipaudit.commands.noise.yardsticks import SwapPairs
from mipaudit.data.tables.splits import Pairs, Splits, read_pairs, read_splits
from mipaudit.data.words import CANDIDATES
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Floats, Places
from mipaudit.model.message import Finding, Message
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.provenance import InputFile

_MOST_LISTED: Final = 1000
_SHOWN: Final = 3
_ROUNDING: Final = (
    "to a grid of about 2^-20 of the noise on each number: the last bits of noise in floating "
    "point can betray what it was added to; this hides them in practice and proves nothing"
)
_UNTOUCHED: Final = "none: no noise was needed"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisedRelease:
    """What may be published, and why.

    Attributes:
        values: (d,) the noised numbers, in the order of the release.
        content: the same, as the bytes of a file.
        report: what was added and on what grounds. It may be published as well: it says
            nothing about the release that the noised one does not.
        findings: what the owner must know of the release beside its splits. They are not to
            be published: they carry no noise.
    """

    values: Floats
    content: bytes
    report: NoiseReport
    findings: tuple[Finding, ...] = ()


def report_on_splits(
    asked: NoiseOptions, more: Sequence[InputFile] = ()
) -> tuple[NoiseReport, Splits, Candidate | None]:
    """Read the tables, calibrate and report; return the tables' splits and the noise, too.

    Args:
        asked: the promise, and the tables.
        more: inputs beside the tables.

    Raises:
        UsageError: settings that no calibration can keep.
        InputError: the splits or pairs cannot be used.
    """
    splits, pairs = _splits(asked), None
    if asked.pairs is not None:
        pairs = read_pairs(asked.pairs, columns=splits.columns if splits.named else ())
    _check_size(splits.values)
    swaps = None if pairs is None else _swaps(pairs, splits)
    candidates, chosen, constant, findings = calibrate(splits.values, asked, _random(asked), swaps)
    tables = [splits.source, *(() if pairs is None else (pairs.source,)), *more]
    promise = promise_report(asked, dimension=len(splits.columns), inputs=tables)
    measured = Measured(
        n_splits=len(splits.values),
        n_coordinates=len(splits.columns),
        n_pairs=0 if pairs is None else len(pairs.one),
        skipped_columns=splits.skipped,
        constant_columns=tuple(splits.columns[at] for at in constant[:_MOST_LISTED]),
        error_units=asked.error_units,
        strict=asked.strict,
        candidates=tuple(one for one, _ in candidates),
        coordinates=() if chosen is None else _coordinates(chosen, splits),
    )
    sure = Message("noise_strict" if asked.strict else "noise_estimated")
    report = replace(
        promise,
        measured=measured,
        findings=(*promise.findings, *findings),
        limitations=(*promise.limitations, sure),
    )
    return report, splits, chosen


def noised_release(asked: NoiseOptions, release: Release, unlike: Unlike) -> NoisedRelease:
    """Add the noise of a calibration on its splits to a release.

    Args:
        asked: the promise, and the splits.
        release: the vector, as it was read.
        unlike: what to do with a release that can hardly be one more of the splits.

    Raises:
        UsageError: settings that no calibration can keep.
        InputError: the release is not the vector of the splits.
            ``release_unlike_splits``: it can hardly be one more of them.
    """
    # The report may be published beside the noised release, so it has neither size nor hash of
    # the release's file. Somebody who lists what the release may have been, say the mean of every
    # possible training set, would find the one that has this hash: it would undo the noise.
    source = InputFile(name=release.source.name, rows=release.source.rows, bytes=None)
    report, splits, chosen = report_on_splits(asked, [source])
    places = align(release, splits.columns, named=splits.named)
    values = release.values.copy()
    told: tuple[Finding, ...] = ()
    if chosen is not None:
        vector = values[places]
        told = among_splits(vector, splits, release.source.name, unlike)
        uniforms = uniforms_from_bytes(os.urandom if asked.seed is None else _random(asked).bytes)
        values[places] = noised(vector, chosen, uniforms)
    limitations = (
        *report.limitations,
        *[Message("noise_seeded")] * (asked.seed is not None),
        *[Message("noise_accepted")] * (unlike == "accept"),
    )
    return NoisedRelease(
        values=values,
        content=encode_release(release, values),
        report=replace(
            report,
            entropy="operating system" if asked.seed is None else "seed",
            rounding=_UNTOUCHED if chosen is None else _ROUNDING,
            limitations=limitations,
        ),
        findings=told,
    )


def _coordinates(chosen: Candidate, splits: Splits) -> tuple[CoordinateNoise, ...]:
    if len(splits.columns) > _MOST_LISTED:
        return ()
    spreads, sizes = coordinate_spreads(splits.values), _sizes(chosen)
    return tuple(
        CoordinateNoise(column=column, noise_rms=float(rms), spread=float(spread))
        for column, rms, spread in zip(splits.columns, sizes, spreads, strict=True)
    )


def _sizes(candidate: Candidate) -> Floats:
    """Return the root mean square of the noise on each coordinate."""
    noise, shape = candidate
    return coordinate_rms(noise.mechanism, noise.scale, shape)


def _random(asked: NoiseOptions) -> np.random.Generator:
    """Return what divides the splits: repeatable, with a seed or without."""
    return np.random.default_rng(asked.seed or 0)


def _splits(asked: NoiseOptions) -> Splits:
    """Return the table of splits, unless its rows are records."""
    columns, ignore = tuple(asked.columns), tuple(asked.ignore)
    splits = read_splits(asked.splits, columns=columns, ignore=ignore)
    found = [name for name in splits.columns if name.casefold() in CANDIDATES]
    if found and not asked.columns:
        # Its rows are records, and noise would be made to measure of them.
        raise InputError(
            "score_file",
            f"{splits.source.name}: the column {quoted_name(found[0])} shows that the rows are "
            "records, not random splits.",
            "Give a table with one row per random split. If that column is a released number, name "
            "it in `columns`.",
        )
    return splits


def _swaps(pairs: Pairs, splits: Splits) -> SwapPairs:
    """Return the pairs with their coordinates in the order of the splits."""
    one, other = pairs.one, pairs.other
    if splits.named:
        places = [pairs.columns.index(name) for name in splits.columns]
        one, other = one[:, places], other[:, places]
    _check_size(one)
    _check_size(other)
    return one, other, pairs.records


def _check_size(values: Floats) -> None:
    """Refuse numbers whose squares, times a large multiplier, leave the floats."""
    spread = np.ptp(values, axis=0) if np.abs(values).max() <= LARGEST else np.array([math.inf])
    if not ((spread == 0) | ((spread >= 1 / LARGEST) & (spread <= 2 * LARGEST))).all():
        raise InputError(
            "numbers_out_of_range",
            "A column of the splits or pairs holds numbers above 1e50, or differences below 1e-50.",
            "Use another unit for that column, in the release as well.",
        )


def noised(vector: Floats, candidate: Candidate, uniforms: UniformSource) -> Floats:
    """Return what may be published in the place of ``vector``.

    Izzo et al. 2022, Algorithm 1, with the noise of a calibration; on a grid 2^-20 as fine as
    the noise of each coordinate.

    Args:
        vector: (d,) finite numbers, from a split that the calibration did not use.
        candidate: noise to add.
        uniforms: from the operating system for a real release.

    Returns:
        (d,) numbers.
    """
    noise, shape = candidate
    drawn = sample_noise(noise.mechanism, noise.scale, vector.size, uniforms, shape.factor)
    return round_to_grid(vector + drawn, _sizes(candidate))


def align(release: Release, columns: Sequence[str], *, named: bool = True) -> Places:
    """Return where each coordinate of the splits is in the release.

    With names on both sides they must be the same set, in any order; otherwise the
    coordinates are matched by position.

    Args:
        release: the vector.
        columns: the d coordinates of the splits.
        named: whether these are names from the file.

    Returns:
        ``places`` of shape (d,): ``release.values[places]`` is in the order of
        ``columns``, and ``noised[places] = ...`` puts numbers back in the release's.

    Raises:
        InputError: ``columns_differ``.
    """
    names, source = release.names, release.source.name
    if names is None or not named:
        if release.values.size != len(columns):
            raise InputError(
                "columns_differ",
                f"{source}: numbers in the release: {release.values.size}; columns of the splits: "
                f"{len(columns)}.",
                "Both must have the same columns.",
            )
        return np.arange(len(columns))
    places, wanted = {name: at for at, name in enumerate(names)}, set(columns)
    absent = [name for name in columns if name not in places]
    extra = [name for name in names if name not in wanted]
    parts = [f"the release lacks {_listed(absent)} of the splits"] if absent else []
    parts += [f"the splits lack {_listed(extra)} of the release"] if extra else []
    if parts:
        raise InputError(
            "columns_differ",
            f"{source}: {', and '.join(parts)}.",
            "Both must have the same columns, in any order, and no column of row numbers.",
        )
    return np.array([places[name] for name in columns], dtype=np.intp)


def _listed(names: Sequence[str]) -> str:
    word = "column" if len(names) == 1 else f"{len(names)} columns"
    shown = ", ".join(quoted_name(name) for name in names[:_SHOWN])
    return f"{word} {shown}" if len(names) <= _SHOWN else f"{word} ({shown} and others)"
