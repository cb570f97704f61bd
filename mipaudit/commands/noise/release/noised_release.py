"""A release with its noise added."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.commands.noise.answer import calibrate_splits, generator
from mipaudit.commands.noise.report import Applied
from mipaudit.statements.origin import InputFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.commands.noise.answer import CalibratedSplits
    from mipaudit.commands.noise.mechanisms.uniforms import UniformSource
    from mipaudit.commands.noise.options import NoiseOptions, ReleaseFormat, Unlike
    from mipaudit.commands.noise.report import NoiseReport
    from mipaudit.statements.estimate import Finding

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
    "The release was not held to its splits (--release-unlike-splits accept): the noise is made to "
    "measure of the splits, and whether the release is one more of them was left to its owner."
)


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
    from mipaudit.commands.noise.release.alignment import align
    from mipaudit.commands.noise.release.encoding import encode_release
    from mipaudit.commands.noise.release.likeness_to_splits import among_splits
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
    from mipaudit.commands.noise.mechanisms.uniforms import uniforms_from, uniforms_from_bytes

    return uniforms_from_bytes(os.urandom) if seed is None else uniforms_from(generator(seed))


def _noised(
    vector: NDArray[np.float64], calibrated: CalibratedSplits, uniforms: UniformSource
) -> NDArray[np.float64]:
    from mipaudit.commands.noise.release.noised_vector import noised

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
