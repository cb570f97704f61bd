"""What a report on noise shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Column, Layout, Table

_CALIBRATION: Final = Column("calibration", "{calibration}")
_NOISE: Final = Column("noise", "{mechanism}")
_NONE: Final = (None,)
_ERRORS: Final = (
    "For a release of {dimension:count} {dimension:number|numbers} (error: root mean square; "
    "length: Euclidean, its mean)"
)
_CALIBRATED: Final = (
    "Calibrated on {measured.n_splits:count} splits of {measured.n_coordinates:count} "
    "{measured.n_coordinates:number|numbers}[ and {measured.n_pairs:count} swap pairs]. The total "
    "error is the root mean square length of the noise[, in the units of the "
    "table{given_units:said}][, each number in units of its spread over the "
    "splits{given_units:unless}].[ Not used: {measured.skipped_columns:names}.]"
)

LAYOUT: Final = Layout(
    about=(
        "The promise, for {protected}: an attacker who sees the release and guesses whether the "
        "record was used for training is right with probability at most {accuracy:exact}: "
        "{guessing:exact} by guessing, and eta = {eta:number} above that. That is an advantage of "
        "{advantage:exact}[; differential privacy (one record exchanged) allows the same at "
        "epsilon {equivalent_epsilon:figure}]."
    ),
    tables=(
        Table(
            "Any one of these noises keeps the promise (names: mipaudit help mip-noise)",
            "multipliers",
            (_CALIBRATION, _NOISE, Column("scale", "{multiplier:multiple} x {of}")),
            short=None,
        ),
        Table(
            "Calibrations on the splits that were considered",
            "measured.candidates",
            (
                Column("", "[->{chosen:said}]"),
                Column("calibration", "{calibration}[, {protects_only}]"),
                _NOISE,
                Column("shape", "{shape}"),
                Column("scale", "{scale:most_figure}"),
                Column("total error", "{error:most_figure}"),
            ),
            caption=_CALIBRATED,
            legend="{measured.n_splits:count} splits (releases of parts). Total error: noise[, "
            "each number / its spread{given_units:unless}].",
            short=None,
            picture="amounts",
            of="total error",
        ),
        Table(
            "Moments of the release, estimated from the splits; units differ by shape",
            "measured.candidates",
            (
                Column("moment for", "{calibration}"),
                Column("shape", "{shape}"),
                Column("estimate", "{moment.value:most_figure}"),
                Column("lower", "{moment.lower:least_figure}"),
                Column("upper", "{moment.upper:most_figure}"),
            ),
        ),
        Table(
            "The chosen noise on each number of the release",
            "measured.coordinates",
            (
                Column("number", "{column}"),
                Column("noise (rms)", "{noise_rms:most_figure}"),
                Column("spread over splits", "{spread:most_figure}"),
            ),
        ),
        Table(
            "The error that the noise adds to your release",
            "multipliers",
            (
                _CALIBRATION,
                _NOISE,
                Column("scale", "{scale:multiple}"),
                Column("error of a number", "{coordinate_rms:multiple}"),
                Column("length of the error", "{expected_norm:multiple}"),
            ),
            caption=_ERRORS,
            unless=(("scale", _NONE),),
            picture="amounts",
            of="mean length of the error of the release",
        ),
        Table(
            "Where less noise is needed than for differential privacy by the same kind of noise",
            "multipliers",
            (
                _CALIBRATION,
                _NOISE,
                Column("", "{of} < {quieter_than_dp_below:figure} x sensitivity"),
            ),
            unless=(("quieter_than_dp_below", (None, 0.0)),),
        ),
    ),
    terms=(
        ("advantage", "how well somebody can tell whose records were used. {train_fraction:scale}"),
        ("paper", "Izzo et al. 2022, Theorem 7 and Corollary 8"),
        ("moment", "mipaudit help methods, section 28.3: the tighter theorem"),
        ("swap", "mipaudit help methods, section 28.5: one record exchanged"),
        ("dp", "differential privacy at the equivalent epsilon"),
        ("laplace", "density ~ exp(-|x| / scale); for a release of one number"),
        ("norm-exponential", "density ~ exp(-||x|| / scale)"),
        ("gaussian", "the scale is the standard deviation of each number"),
    ),
    title="Noise that keeps eta = {eta:number}",
    untold="noise shows what a promise needs, and judges nothing",
)
