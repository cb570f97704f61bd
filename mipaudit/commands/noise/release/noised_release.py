"""A release with its noise added, each number of it to its coordinate of the splits."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.answer import CalibratedSplits, calibrate_splits, generator
from mipaudit.commands.noise.calibrate.candidate import Candidate
from mipaudit.commands.noise.measured import Applied
from mipaudit.commands.noise.mechanisms.clipping import Ball, clip
from mipaudit.commands.noise.mechanisms.mechanism import UniformSource, round_to_grid, sample_noise
from mipaudit.commands.noise.options import NoiseOptions, ReleaseFormat, Unlike
from mipaudit.commands.noise.release.vector import Release
from mipaudit.commands.noise.report import NoiseReport
from mipaudit.errors import InputError
from mipaudit.statements.estimate import Finding
from mipaudit.statements.origin import InputFile
from mipaudit.statements.text.printable_names import quoted_name

_ROUNDING: Final = (
    "to a grid of about 2^-20 of the noise on each number: the last bits of noise in floating "
    "point can betray what it was added to; this hides them in practice and proves nothing"
)
_UNTOUCHED: Final = "none: no noise was needed"
_SEEDED: Final = (
    "The noise came from a seed: whoever learns or guesses it can take the noise away. This "
    "is an experiment, not a private release."
)
# Said whether or not the release is unlike its splits: that would carry no noise.
_ACCEPTED: Final = (
    "The release was not held to its splits (`release_unlike_splits` accept): the noise is made to "
    "measure of the splits, and whether the release is one more of them was left to its owner."
)
_SHOWN: Final = 3


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

    values: NDArray[np.float64]
    content: bytes
    report: NoiseReport
    findings: tuple[Finding, ...] = ()


def noised_release(
    asked: NoiseOptions, path: str, *, form: ReleaseFormat | None, unlike: Unlike
) -> NoisedRelease:
    """Read a release and add the noise of a calibration on its splits.

    Args:
        asked: the promise, and the splits.
        path: of the release.
        form: of the noised one; None for the release's own.
        unlike: what to do with a release that can hardly be one more of the splits.

    Raises:
        UsageError: settings that no calibration can keep.
        InputError: the release cannot be read, or is not the vector of the splits.
            ``release_unlike_splits``: it can hardly be one more of them.
    """
    from mipaudit.commands.noise.release.encoding import encode_release
    from mipaudit.commands.noise.release.likeness import among_splits
    from mipaudit.commands.noise.release.vector import read_release

    calibrated = calibrate_splits(asked)
    release = read_release(path)
    splits, ball = calibrated.splits, calibrated.found.demand.ball
    places = align(release, splits.columns, named=splits.named)
    vector = release.values[places]
    told: tuple[Finding, ...] = ()
    if calibrated.found.chosen is not None:
        told = among_splits(vector, splits, release.source.name, unlike, ball)
    values = release.values.copy()
    values[places] = _noised(vector, calibrated, _uniforms(asked.seed))
    seeded = asked.seed is not None
    applied = Applied(
        entropy="seed" if seeded else "operating system",
        rounding=_UNTOUCHED if calibrated.found.chosen is None else _ROUNDING,
        clipped=ball is not None and calibrated.found.chosen is not None,
        n_coordinates=values.size,
    )
    report = calibrated.report(
        asked,
        applied=applied,
        inputs=(_unhashed(release.source),),
        limitations=(
            *((_SEEDED,) if seeded else ()),
            *((_ACCEPTED,) if unlike == "accept" else ()),
        ),
    )
    content = encode_release(release, values, format=form)
    return NoisedRelease(values=values, content=content, report=report, findings=told)


def _uniforms(seed: int | None) -> UniformSource:
    from mipaudit.commands.noise.mechanisms.mechanism import uniforms_from, uniforms_from_bytes

    return uniforms_from_bytes(os.urandom) if seed is None else uniforms_from(generator(seed))


def _noised(
    vector: NDArray[np.float64], calibrated: CalibratedSplits, uniforms: UniformSource
) -> NDArray[np.float64]:

    found = calibrated.found
    if found.chosen is None:
        return vector
    return noised(vector, found.chosen, uniforms, found.demand.ball)


def _unhashed(source: InputFile) -> InputFile:
    """Return the release's file without its size and hash.

    The report may be published beside the noised release. Whoever can list what the release
    may have been, say the mean of every possible training set, would find the one that has
    this hash: it would undo the noise.
    """
    return InputFile(name=source.name, rows=source.rows, bytes=None)


def noised(
    vector: NDArray[np.float64],
    candidate: Candidate,
    uniforms: UniformSource,
    ball: Ball | None = None,
    *,
    rounded: bool = True,
) -> NDArray[np.float64]:
    """Return what may be published in the place of ``vector``.

    Izzo et al. 2022, Algorithm 1, with the noise of a calibration.

    Args:
        vector: (d,) finite numbers, from a split that the calibration did not use.
        candidate: noise to add.
        uniforms: from the operating system for a real release.
        ball: that of the calibration, for one in strict mode.
        rounded: to a grid 2^-20 as fine as the noise of each coordinate.

    Returns:
        (d,) numbers.

    Raises:
        InputError: the vector has another number of coordinates than the splits.
    """
    shape = candidate.shape
    if vector.shape != shape.units.shape:
        raise InputError(
            "release_does_not_match",
            f"The release has {vector.size} coordinates; the splits have {shape.units.size}.",
        )
    if ball is not None:
        vector = clip(vector[None, :], ball)[0]
    noise = sample_noise(candidate.mechanism, candidate.scale, vector.size, uniforms, shape.factor)
    published = vector + noise
    return round_to_grid(published, candidate.cost.coordinate_rms) if rounded else published


def align(release: Release, columns: Sequence[str], *, named: bool = True) -> NDArray[np.intp]:
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
    names = release.names
    if names is None or not named:
        if release.values.size != len(columns):
            raise InputError(
                "columns_differ",
                f"{release.source.name}: the release has {release.values.size} numbers, and the "
                f"splits have {len(columns)} columns.",
                hint="Both must hold the same coordinates.",
            )
        return np.arange(len(columns))
    places = {name: at for at, name in enumerate(names)}
    wanted = set(columns)
    absent = [name for name in columns if name not in places]
    extra = [name for name in names if name not in wanted]
    if absent or extra:
        raise _names_differ(release.source.name, absent, extra)
    return np.array([places[name] for name in columns], dtype=np.intp)


def _names_differ(source: str, absent: Sequence[str], extra: Sequence[str]) -> InputError:
    parts = [f"the release lacks {_listed(absent)} of the splits" if absent else ""]
    parts += [f"the splits lack {_listed(extra)} of the release" if extra else ""]
    return InputError(
        "columns_differ",
        f"{source}: {', and '.join(part for part in parts if part)}.",
        hint="Both must hold the same coordinates, in any order; row numbers belong in neither.",
    )


def _listed(names: Sequence[str]) -> str:
    word = "column" if len(names) == 1 else f"{len(names)} columns"
    shown = ", ".join(quoted_name(name) for name in names[:_SHOWN])
    return f"{word} {shown}" if len(names) <= _SHOWN else f"{word} ({shown} and others)"
