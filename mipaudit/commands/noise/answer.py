"""From random splits to calibrated noise, and to the records of it in a report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.commands.noise.measured import CoordinateNoise, Measured, NoiseCandidate
from mipaudit.commands.noise.options import LARGEST
from mipaudit.commands.noise.promise import promise_report
from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from mipaudit.commands.noise.calibrate.calibration import Calibration
    from mipaudit.commands.noise.calibrate.candidate import Candidate
    from mipaudit.commands.noise.calibrate.demand import Demand
    from mipaudit.commands.noise.calibrate.swap import SwapPairs
    from mipaudit.commands.noise.measured import Applied
    from mipaudit.commands.noise.mechanisms.clipping import Ball
    from mipaudit.commands.noise.options import NoiseOptions
    from mipaudit.commands.noise.report import NoiseReport
    from mipaudit.reading.sheets.splits import Pairs, Splits
    from mipaudit.statements.origin import InputFile

_MOST_LISTED: Final = 1000
# What the report says of a promise by itself, the calibration need not repeat.
_SAID: Final = frozenset({"no_noise_needed", "paper_needs_half"})
_ESTIMATED: Final = (
    "The noise rests on estimates from random splits, which must be independent of the released "
    "one: few splits can miss a rare, large output. `strict` takes limits that hold at every "
    "sample size."
)
_STRICT: Final = (
    "The limit that the noise rests on holds at every sample size, for any release, if the "
    "splits (and pairs) are independent of each other and of the released one"
)
_BALL: Final = ", and the ball was fixed without the data"


def measured_noise(found: Calibration, splits: Splits, pairs: Pairs | None) -> Measured:
    """Return what a calibration found on these tables, for the report."""
    ball = found.demand.ball
    return Measured(
        n_splits=found.n_splits,
        n_coordinates=len(splits.columns),
        n_pairs=0 if pairs is None else len(pairs.one),
        skipped_columns=splits.skipped,
        constant_columns=tuple(splits.columns[at] for at in found.constant[:_MOST_LISTED]),
        error_units=str(found.demand.error_units),
        strict=found.demand.sure,
        clip_radius=None if ball is None else float(ball.radius),
        candidates=tuple(_candidate(c, chosen=c is found.chosen) for c in found.candidates),
        coordinates=_coordinates(found, splits),
    )


def _candidate(candidate: Candidate, *, chosen: bool) -> NoiseCandidate:
    return NoiseCandidate(
        calibration=candidate.calibration,
        mechanism=candidate.mechanism,
        shape=candidate.shape.kind,
        protects=candidate.protects,
        multiplier=candidate.multiplier,
        moment=candidate.moment,
        gap=candidate.gap,
        scaled_by=candidate.scaled_by,
        scale=candidate.scale,
        guaranteed=candidate.guaranteed,
        total_error=candidate.cost.total,
        rms_norm=candidate.cost.rms_norm,
        expected_norm=candidate.cost.expected_norm,
        chosen=chosen,
    )


def _coordinates(found: Calibration, splits: Splits) -> tuple[CoordinateNoise, ...]:
    from mipaudit.commands.noise.mechanisms.shape import coordinate_spreads

    chosen = found.chosen
    if chosen is None or len(splits.columns) > _MOST_LISTED:
        return ()
    spreads = coordinate_spreads(splits.values)
    return tuple(
        CoordinateNoise(column=column, noise_rms=float(rms), spread=float(spread))
        for column, rms, spread in zip(
            splits.columns, chosen.cost.coordinate_rms, spreads, strict=True
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalibratedSplits:
    """A calibration and the tables that it came from."""

    splits: Splits
    pairs: Pairs | None
    found: Calibration

    def report(
        self,
        asked: NoiseOptions,
        *,
        applied: Applied | None = None,
        inputs: Sequence[InputFile] = (),
        limitations: Sequence[str] = (),
    ) -> NoiseReport:
        """Return the report; ``applied`` and the rest describe a release, if there is one."""
        tables = (self.splits, self.pairs)
        return promise_report(
            asked,
            dimension=len(self.splits.columns),
            measured=measured_noise(self.found, self.splits, self.pairs),
            applied=applied,
            inputs=(*(table.source for table in tables if table is not None), *inputs),
            findings=tuple(f for f in self.found.findings if f.code not in _SAID),
            limitations=(_rests_on(self.found.demand), *limitations),
        )


def _rests_on(demand: Demand) -> str:
    if not demand.sure:
        return _ESTIMATED
    return f"{_STRICT}{'' if demand.ball is None else _BALL}."


def calibrate_splits(asked: NoiseOptions) -> CalibratedSplits:
    """Read the tables and calibrate.

    Raises:
        UsageError: settings that no calibration can keep.
        InputError: the splits or pairs cannot be used.
    """
    from mipaudit.commands.noise.calibrate.calibration import calibrate

    splits = _splits(asked)
    pairs = _pairs(asked.pairs, splits)
    _check_size(splits.values)
    demand = _demand(asked, len(splits.columns))
    swaps = None if pairs is None else _swap_pairs(pairs, splits)
    found = calibrate(splits.values, demand, generator(asked.seed), swaps)
    return CalibratedSplits(splits=splits, pairs=pairs, found=found)


def generator(seed: int | None) -> np.random.Generator:
    """Return what divides the splits: repeatable, with a seed or without."""
    import numpy as np

    return np.random.default_rng(seed or 0)


def _splits(asked: NoiseOptions) -> Splits:
    from mipaudit.reading.sheets.splits import read_splits, splits_of

    read = read_splits if isinstance(asked.splits, str) else splits_of
    splits = read(asked.splits, columns=tuple(asked.columns), ignore=tuple(asked.ignore))
    if not asked.columns:
        _refuse_scores(splits)
    return splits


def _refuse_scores(splits: Splits) -> None:
    """Refuse a score file: its rows are records, and noise would be made to measure of them."""
    from mipaudit.reading.columns.membership import CANDIDATES

    found = [name for name in splits.columns if name.casefold() in CANDIDATES]
    if found:
        raise InputError(
            "score_file",
            f"{splits.source.name}: the column {quoted_name(found[0])} says that the rows are "
            "records, not random splits.",
            hint="Give a table with one row per random split; a released number of that name "
            "is taken with `columns`.",
        )


def _pairs(path: str | None, splits: Splits) -> Pairs | None:
    if path is None:
        return None
    from mipaudit.reading.sheets.splits import read_pairs

    return read_pairs(path, columns=splits.columns if splits.named else ())


def _swap_pairs(pairs: Pairs, splits: Splits) -> SwapPairs:
    """Return the pairs with their coordinates in the order of the splits."""
    from mipaudit.commands.noise.calibrate.swap import SwapPairs

    one, other = pairs.one, pairs.other
    if splits.named:
        places = [pairs.columns.index(name) for name in splits.columns]
        one, other = one[:, places], other[:, places]
    _check_size(one)
    _check_size(other)
    return SwapPairs(in_side=one, out_side=other, record=pairs.records)


def _check_size(values: np.ndarray) -> None:
    """Refuse numbers whose squares, times a large multiplier, leave the floats."""
    import numpy as np

    spread = np.ptp(values, axis=0) if np.abs(values).max() <= LARGEST else np.array([math.inf])
    if not ((spread == 0) | ((spread >= 1 / LARGEST) & (spread <= 2 * LARGEST))).all():
        raise InputError(
            "numbers_out_of_range",
            "A column of the splits or pairs holds numbers above 1e50, or that differ by less "
            "than 1e-50.",
            hint="Use another unit for that column, in the release as well.",
        )


def _demand(asked: NoiseOptions, dimension: int) -> Demand:
    from mipaudit.commands.noise.calibrate.demand import MECHANISMS, PROVED, SHAPES, Demand

    return Demand(
        eta=asked.eta,
        order=asked.k,
        train_fraction=asked.train_fraction,
        confidence=asked.confidence,
        error_units=asked.error_units,
        scaled_by=asked.scaled_by,
        strict=asked.strict,
        ball=_ball(asked, dimension),
        protect=asked.protect,
        allow=frozenset({asked.calibration}) if asked.calibration else PROVED,
        mechanisms=frozenset({asked.mechanism}) if asked.mechanism else MECHANISMS,
        shapes=frozenset({asked.shape}) if asked.shape else SHAPES,
    )


def _ball(asked: NoiseOptions, dimension: int) -> Ball | None:
    if asked.clip_radius is None:
        return None
    import numpy as np

    from mipaudit.commands.noise.mechanisms.clipping import Ball

    centre = np.zeros(dimension) if asked.clip_centre is None else np.array(asked.clip_centre)
    return Ball(centre=centre, radius=asked.clip_radius)
