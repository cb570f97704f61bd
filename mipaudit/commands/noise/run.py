"""``mipaudit noise``: how much noise makes a release membership-inference private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import ArrayLike

    from mipaudit.commands.noise.calibrate.demand import CalibrationKind
    from mipaudit.commands.noise.mechanisms.shape import ShapeKind
    from mipaudit.commands.noise.release.layout import ReleaseFormat
    from mipaudit.commands.noise.release.noised_release import NoisedRelease
    from mipaudit.commands.noise.report import NoiseReport
    from mipaudit.maths.mip import Mechanism
    from mipaudit.statements.origin import Setting


def noise(  # noqa: PLR0913 - one keyword for each setting
    *,
    eta: float,
    k: float = 2.0,
    train_fraction: float = 0.5,
    moment: float | None = None,
    swap_distance: float | None = None,
    sensitivity: float | None = None,
    dimension: int | None = None,
    splits: str | PathLike[str] | ArrayLike | None = None,
    pairs: str | PathLike[str] | None = None,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
    confidence: float = 0.95,
    strict: bool = False,
    clip_radius: float | None = None,
    clip_centre: Sequence[float] | None = None,
    calibration: CalibrationKind | None = None,
    mechanism: Mechanism | None = None,
    shape: ShapeKind | None = None,
    protect: Literal["every-record", "tested-records", "average-record"] = "every-record",
    error_units: Literal["standardised", "given"] = "standardised",
    scaled_by: Literal["upper", "value"] = "upper",
    seed: int | None = None,
    settings: Sequence[Setting] | None = None,
) -> NoiseReport:
    """Say how much noise keeps every attacker's accuracy within eta of guessing.

    Without ``splits`` this is mathematics: multipliers of what each calibration needs to
    know. With them it is an estimate, and the noise of least error is chosen.

    Args:
        eta: in (0, 1/2): accuracy is at most max(q, 1-q) + eta.
        k: order of the moment of the published calibration, at least 1; may be infinite.
        train_fraction: q, the share of the records that is trained on, in (0, 1).
        moment: sigma_k, the k-th root of the k-th central moment of the release.
        swap_distance: mean distance the release moves when one record is exchanged.
        sensitivity: largest such distance.
        dimension: number of coordinates of the release; 1 by default.
        splits: one row for each random split, one column for each coordinate: a file, or an
            array of shape (B, d).
        pairs: a file of releases in pairs that differ in one record: columns ``pair_id``,
            ``side`` and perhaps ``record``, and the coordinates.
        columns: the coordinates by name; by default all columns but row labels.
        ignore: columns that are no coordinates.
        confidence: of the limits, in (0, 1).
        strict: scale the noise by limits that hold at every sample size, whatever the
            release; it takes more splits.
        clip_radius: strict too: the release is clipped into this ball, which must not
            depend on the data.
        clip_centre: of the ball; by default the origin.
        calibration: choose only among these calibrations.
        mechanism: choose only among this kind of noise.
        shape: choose only among noise of this shape.
        protect: whose membership is hidden. ``tested-records`` allows swap calibrations,
            which speak for the records that the pairs exchange; ``average-record`` those
            that hold on average over records.
        error_units: in which units the total error is made least.
        scaled_by: scale the noise by the upper limit of what is estimated, or by its value.
        seed: repeat a run, for experiments only: whoever knows it can take the noise away.
        settings: where each setting came from; by default, from this call.

    Raises:
        UsageError: a setting is out of its range, or has no meaning beside another.
        InputError: the splits or pairs cannot be used.
    """
    given = {name: value for name, value in locals().items() if name != "settings"}
    from mipaudit.commands.noise.promise import check_promise, promise_report

    promise = check_promise(given)
    if splits is None:
        return promise_report(promise, settings=settings, given=given)
    from mipaudit.commands.noise.answer import calibrate_splits

    return calibrate_splits(promise, given).report(promise, given, settings)


def add_noise(
    release: str | PathLike[str],
    *,
    format: ReleaseFormat | None = None,  # noqa: A002
    release_unlike_splits: Literal["refuse", "accept"] = "refuse",
    settings: Sequence[Setting] | None = None,
    **keywords: Any,  # noqa: ANN401 - those of noise
) -> NoisedRelease:
    """Add the noise that a promise takes to a release (Izzo et al. 2022, Algorithm 1).

    Args:
        release: a file with one numeric vector: CSV, Parquet, ``.npy`` or JSON. Its training
            set must be drawn independently of the splits'.
        format: of the noised vector; by default the release's own.
        release_unlike_splits: ``refuse`` a release that can hardly be one more of the splits,
            for which the noise would promise nothing, or ``accept`` it.
        settings: where each setting came from; by default, from this call.
        **keywords: those of :func:`noise`; ``eta`` and ``splits`` are needed. The entropy is
            the operating system's unless there is a ``seed``.

    Returns:
        What may be published, and the report; and what the owner alone should know.

    Raises:
        TypeError: a keyword that is not one of ``noise``.
        UsageError: a setting is out of its range, or has no meaning beside another.
        InputError: the splits, pairs or release cannot be used, or do not belong together.
    """
    from mipaudit.commands.noise.answer import calibrate_splits
    from mipaudit.commands.noise.asked import refuse_shared_stdin
    from mipaudit.commands.noise.promise import check_promise
    from mipaudit.commands.noise.release.noised_release import noised_release
    from mipaudit.options.plain_values import one_of, path_of, require

    defaults = {k: v for k, v in (noise.__kwdefaults__ or {}).items() if k != "settings"}
    unknown = keywords.keys() - defaults.keys() - {"eta"}
    if unknown:
        raise TypeError(f"add_noise() got an unexpected keyword argument {min(unknown)!r}")
    given = {**defaults, **keywords}
    require(
        given.get("splits") is not None and given.get("eta") is not None,
        "needs_splits",
        "Noise is added by its calibration on random splits.",
        "Give eta and the splits (--from SPLITS).",
    )
    one_of("release_unlike_splits", release_unlike_splits, ("refuse", "accept"))
    promise = check_promise(given)
    path = path_of(release)
    refuse_shared_stdin(given["splits"], given["pairs"], path)
    calibrated = calibrate_splits(promise, given)
    return noised_release(
        path,
        calibrated,
        promise,
        {**given, "release_unlike_splits": release_unlike_splits},
        format=format,
        unlike=release_unlike_splits,
        settings=settings,
    )


def output_format(path: str) -> ReleaseFormat | None:
    """Return the form that the suffix of a noised release's name asks for, if any."""
    from mipaudit.commands.noise.release.layout import suffix_format

    return suffix_format(path)
