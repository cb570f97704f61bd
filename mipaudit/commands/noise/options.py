"""What ``mipaudit noise`` may be asked."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

from mipaudit.errors import UsageError
from mipaudit.maths.noise_scales import Mechanism
from mipaudit.options import game
from mipaudit.options.declare import Options, act, choice, required
from mipaudit.options.game import COLUMNS_OPTION, IGNORE_OPTION, SEED_OPTION, Recorded
from mipaudit.options.shown import Shown
from mipaudit.options.values import PROBABILITY, Range, above, file_path, path_of

CalibrationKind = Literal["moment", "swap", "direct", "direct-swap", "paper"]
ShapeKind = Literal["isotropic", "diagonal", "full"]
# From the strongest protection to the weakest.
Protects = Literal["every-record", "tested-records", "average-record"]
Unlike = Literal["refuse", "accept"]

_KNOWN: Final = ("moment", "swap_distance", "sensitivity", "dimension")
_STDIN: Final = "-"
# Beyond it squares, times a large multiplier, leave the floats.
LARGEST: Final = 1e50
_ONLY_ESTIMATED: Final = frozenset({"moment", "swap", "paper"})
# Its shares must still be told from 0 beside 1.
_LEAST_ERROR: Final = 0.999e-12
_SIZE: Final = above(0)
# Below the least the answer is no longer a float.
_ETA: Final = Range(lambda x: 1e-12 <= x < 0.5, "at least 1e-12 and below 0.5")  # noqa: PLR2004


def _path_alone(given: object) -> str | None:
    return given if isinstance(given, str) else None


# What an option of several columns is that each are a text of their own.
_APART: Final[Mapping[str, Any]] = {
    "default": (),
    "metavar": "NAME",
    "only_with": "splits",
    "read": None,
    "repeated": None,
}


class _Promise(Options):
    eta: float = required(game.ETA_OPTION.but(within=_ETA))
    k: float = choice(
        "How spread is measured: take each value's distance from the mean, raise it to the power "
        "k, average (the k-th central moment), take the k-th root. With 2: standard deviation.",
        default=2.0,
        metavar="K",
        within=Range(lambda k: k >= 1, "at least 1; it may be inf"),
    )
    train_fraction: float = choice(
        "Share of records in the training set.", default=0.5, metavar="Q", within=PROBABILITY
    )


class _Known(Options):
    GROUP = "Known spread of the release"

    moment: float | None = choice(
        "How much the release varies from split to split, measured as `k` says.",
        metavar="SIGMA",
        within=_SIZE,
    )
    swap_distance: float | None = choice(
        "Mean change of the release if one record is exchanged.", metavar="D", within=_SIZE
    )
    sensitivity: float | None = game.SENSITIVITY_OPTION.but(
        "Largest change of the release if one record is exchanged, for any data."
    )
    dimension: int | None = choice(
        "Number of released numbers; 1 by default.",
        within=Range(lambda n: 1 <= n <= 10**12, "at least 1 and at most 1e12"),
    )


class _Tables(Options):
    splits: Any = choice(
        "A table: one row for each random split, one column for each released number.",
        flag="--from",
        metavar="SPLITS",
        read=path_of,
        told=_path_alone,
        is_input=True,
    )
    pairs: str | None = choice(
        "A table of releases before and after one record is exchanged. Columns: pair_id, side "
        "('before' or 'after'), the released numbers; optional: record (the exchanged one).",
        metavar="PAIRS",
        read=file_path,
        only_with="splits",
        is_input=True,
        in_python="",
    )
    columns: Sequence[str] = COLUMNS_OPTION.but(
        "A column of released numbers; repeat. Default: all but row numbers and ids.",
        **_APART,
    )
    ignore: Sequence[str] = IGNORE_OPTION.but("A column to leave out; repeat.", **_APART)


class _Calibration(Options):
    GROUP = "Calibration"

    confidence: float = game.CONFIDENCE_OPTION.but(
        "Confidence of the limits.", default=0.95, within=PROBABILITY, only_with="splits"
    )
    strict: bool = game.STRICT_OPTION.but(
        "Use confidence limits that hold even with very few splits. These limits are wider.",
        default=False,
        only_with="splits",
        in_python=None,
    )
    calibration: CalibrationKind | None = choice(
        "Use only this method (mipaudit help mip-noise).", only_with="splits"
    )
    mechanism: Mechanism | None = choice("Use only this kind of noise.", only_with="splits")
    shape: ShapeKind | None = choice(
        "Use only this noise. isotropic: equally large on each number; diagonal: of its own size "
        "for each; full: the noise on one number may also depend on the noise on others.",
        only_with="splits",
    )
    protect: Protects = choice(
        "Whom the promise covers: every record, those in `pairs`, or records on average.",
        default="every-record",
        only_with="splits",
    )
    error_units: Literal["standardised", "given"] = choice(
        "The noise that moves the release least is chosen. The move is measured in each number's "
        "spread (standardised), or in its own unit (given).",
        default="standardised",
        only_with="splits",
    )
    scaled_by: Literal["upper", "value"] = choice(
        "Scale noise by the spread's upper confidence limit (upper) or by its estimate (value).",
        default="upper",
        only_with="splits",
    )
    seed: int | None = SEED_OPTION.but(
        "Only for experiments: with the seed, anybody can take the noise away.", only_with="splits"
    )


class NoiseOptions(_Promise, _Known, _Tables, _Calibration, Recorded):
    """A promise, and what is known of the release, or splits that tell it."""

    HELP = """Find how much noise hides who was in the data.

The promise: nobody who sees the release can tell members from other records with an accuracy of
more than eta above guessing. Without --from, the noise follows from formulas. With --from, it is
computed from splits: releases that you made from random parts of your data.

\b
Examples:
  mipaudit noise --eta 0.1 --k 2
      The noise as a multiple of the release's spread, by every known method.
  mipaudit noise --eta 0.1 --moment 0.5 --sensitivity 20 --dimension 10 --full
      For a release with this spread: the noise in numbers, and the error that it adds.
  mipaudit noise --eta 0.1 --from splits.parquet
      The noise for your data: each row is a split, each column a number of the release.
  mipaudit noise --eta 0.1 --from splits.parquet --strict
      The same, with wider confidence limits, which hold even with very few splits, for any release.
  mipaudit noise --eta 0.1 --from splits.csv --apply release.csv -o noised.csv
      Writes release.csv with noise to noised.csv, and the report to noised.csv.report.json.
"""

    def may_choose(self, calibration: CalibrationKind, protects: Protects) -> bool:
        """Return whether noise of this kind, and for these records, is what is asked for.

        Whatever protects more records is admitted as well. The published calibration is for
        comparison, unless it is named.
        """
        order = get_args(Protects)
        named = calibration == self.calibration
        return order.index(protects) <= order.index(self.protect) and (
            named or (self.calibration is None and calibration != "paper")
        )

    def check(self) -> None:
        """Refuse what the splits say themselves, and what no limit can keep."""
        super().check()
        known = [name for name in _KNOWN if self.splits is not None and getattr(self, name)]
        if known:
            raise UsageError(
                "measured_instead",
                f"`{known[0]}` cannot be used with `from`: the splits determine it.",
            )
        if self.calibration in {"swap", "direct-swap"} and self.pairs is None:
            raise UsageError(
                "needs_pairs",
                "The swap calibration needs pairs of releases that differ in one record.",
                "Add `pairs`, or leave `calibration` out.",
            )
        if self.strict and 1 - self.confidence < _LEAST_ERROR:
            raise UsageError(
                "confidence_out_of_range",
                "In strict mode the confidence must be at most 1 - 1e-12.",
            )
        if self.strict and self.calibration in _ONLY_ESTIMATED:
            raise UsageError(
                "strict_needs_direct",
                "Strict mode needs a direct calibration: only those have limits.",
                "Use `calibration` direct.",
            )
        _refuse_shared_stdin(self.splits, self.pairs)


_RELEASE: Any = act(
    "The release to add noise to, as numbers. The result goes to `output`, the report beside it.",
    flag="--apply",
    metavar="RELEASE",
    read=file_path,
    is_input=True,
    in_python="A file: CSV, Parquet, .npy or JSON. Its training set must be drawn independently of "
    "the splits'.",
    recorded=True,
)


class _Release(Options, kw_only=False):
    release: str = required(_RELEASE)


class _Unlike(Options):
    release_unlike_splits: Unlike = choice(
        "If the release is far outside all splits: stop, or go on.", default="refuse"
    )


class AddNoiseOptions(_Release, _Unlike, NoiseOptions):
    """A release too, to which the noise is added."""

    def check(self) -> None:
        """Refuse a release without splits."""
        super().check()
        check_release(self, self.release)


class NoiseShown(_Unlike, Shown):
    """The report, or the noised release with the report beside it."""

    release: str | None = _RELEASE

    @classmethod
    def report_file(cls, given: Mapping[str, Any]) -> str | None:
        """Return `output`, unless the noised release goes there."""
        return None if given["release"] is not None else super().report_file(given)


def check_release(asked: NoiseOptions, release: str) -> None:
    """Refuse a release without splits, and standard input for both.

    Raises:
        UsageError: ``needs_splits``, ``stdin_twice``.
    """
    if asked.splits is None:
        raise UsageError(
            "needs_splits",
            "To add noise to a release, its random splits are needed.",
            "Give them with `from` FILE.",
        )
    _refuse_shared_stdin(asked.splits, asked.pairs, release)


def _refuse_shared_stdin(*inputs: object) -> None:
    """Refuse standard input for two inputs: it can be read once."""
    if sum(isinstance(path, str) and path == _STDIN for path in inputs) > 1:
        raise UsageError("stdin_twice", "Only one input can be standard input.", "Use files.")
