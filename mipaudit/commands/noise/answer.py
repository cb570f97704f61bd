"""From random splits to calibrated noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from mipaudit.commands.noise.asked import check_choices, refuse_shared_stdin
from mipaudit.commands.noise.calibration_records import measured_noise
from mipaudit.commands.noise.promise import promise_report
from mipaudit.errors import InputError
from mipaudit.options.plain_values import number, path_of, require, whole
from mipaudit.reading.source.any_input import column_names
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from mipaudit.commands.noise.calibrate.calibration import Calibration
    from mipaudit.commands.noise.calibrate.demand import Demand
    from mipaudit.commands.noise.calibrate.swap import SwapPairs
    from mipaudit.commands.noise.mechanisms.clipping import Ball
    from mipaudit.commands.noise.promise import Promise
    from mipaudit.commands.noise.report import Applied, NoiseReport
    from mipaudit.reading.sheets.pairs import Pairs
    from mipaudit.reading.sheets.splits import Splits
    from mipaudit.statements.origin import InputFile, Setting

_LARGEST: Final = 1e50
_CONFIDENCE: Final = "The confidence must be above 0 and below 1."
_RADIUS: Final = "The clip radius must be at least 1e-50 and at most 1e50."
_CENTRE: Final = "The clip centre must be numbers from -1e50 to 1e50, one for each coordinate."
# What the report says of a promise by itself, the calibration need not repeat.
_SAID: Final = frozenset({"no_noise_needed", "paper_needs_half"})
_ESTIMATED: Final = (
    "The noise rests on estimates from random splits, which must be independent of the released "
    "one: few splits can miss a rare, large output. --strict takes limits that hold at every "
    "sample size."
)
_STRICT: Final = (
    "The limit that the noise rests on holds at every sample size, for any release, if the "
    "splits (and pairs) are independent of each other and of the released one"
)
_BALL: Final = ", and the ball was fixed without the data"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalibratedSplits:
    """A calibration and the tables that it came from."""

    splits: Splits
    pairs: Pairs | None
    found: Calibration

    def report(
        self,
        promise: Promise,
        given: Mapping[str, Any],
        settings: Sequence[Setting] | None,
        *,
        applied: Applied | None = None,
        inputs: Sequence[InputFile] = (),
        limitations: Sequence[str] = (),
    ) -> NoiseReport:
        """Return the report; ``applied`` and the rest describe a release, if there is one."""
        tables = (self.splits, self.pairs)
        return promise_report(
            promise,
            given=given,
            settings=settings,
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


def calibrate_splits(promise: Promise, given: Mapping[str, Any]) -> CalibratedSplits:
    """Read the tables and calibrate.

    Args:
        promise: what is promised.
        given: every keyword of ``noise``, with splits.

    Raises:
        UsageError: a setting is out of its range.
        InputError: the splits or pairs cannot be used.
    """
    from mipaudit.commands.noise.calibrate.calibration import calibrate

    check_choices(given)
    refuse_shared_stdin(given["splits"], given["pairs"])
    splits = _splits(given)
    pairs = _pairs(given, splits)
    _check_size(splits.values)
    demand = _demand(promise, given, len(splits.columns))
    swaps = None if pairs is None else _swap_pairs(pairs, splits)
    found = calibrate(splits.values, demand, generator(given["seed"]), swaps)
    return CalibratedSplits(splits=splits, pairs=pairs, found=found)


def generator(seed: object) -> np.random.Generator:
    """Return what divides the splits: repeatable, with a seed or without."""
    import numpy as np

    if seed is None:
        return np.random.default_rng(0)
    found = whole("seed", seed)
    require(found >= 0, "seed", "The seed must be a whole number of at least 0.")
    return np.random.default_rng(found)


def _splits(given: Mapping[str, Any]) -> Splits:
    from mipaudit.reading.sheets.splits import read_splits, splits_of

    data = path_of(given["splits"])
    read = read_splits if isinstance(data, str) else splits_of
    splits = read(
        data, columns=column_names(given["columns"]), ignore=column_names(given["ignore"])
    )
    if not given["columns"]:
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
            "is taken with --columns.",
        )


def _pairs(given: Mapping[str, Any], splits: Splits) -> Pairs | None:
    if given["pairs"] is None:
        return None
    from mipaudit.reading.sheets.pairs import read_pairs

    path = path_of(given["pairs"])
    require(isinstance(path, str), "pairs", "The pairs must be a file.")
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

    spread = np.ptp(values, axis=0) if np.abs(values).max() <= _LARGEST else np.array([math.inf])
    if not ((spread == 0) | ((spread >= 1 / _LARGEST) & (spread <= 2 * _LARGEST))).all():
        raise InputError(
            "numbers_out_of_range",
            "A column of the splits or pairs holds numbers above 1e50, or that differ by less "
            "than 1e-50.",
            hint="Use another unit for that column, in the release as well.",
        )


def _demand(promise: Promise, given: Mapping[str, Any], dimension: int) -> Demand:
    from mipaudit.commands.noise.calibrate.demand import Demand

    confidence = number("confidence", given["confidence"], _CONFIDENCE)
    require(0 < confidence < 1, "confidence", _CONFIDENCE)
    chosen = {
        field: frozenset({given[name]})
        for field, name in (
            ("allow", "calibration"),
            ("mechanisms", "mechanism"),
            ("shapes", "shape"),
        )
        if given[name] is not None
    }
    return Demand(
        eta=promise.eta,
        order=promise.k,
        train_fraction=promise.train_fraction,
        confidence=confidence,
        error_units=given["error_units"],
        scaled_by=given["scaled_by"],
        strict=bool(given["strict"]),
        ball=_ball(given, dimension),
        protect=given["protect"],
        **cast("dict[str, Any]", chosen),
    )


def _ball(given: Mapping[str, Any], dimension: int) -> Ball | None:
    if given["clip_radius"] is None:
        require(
            given["clip_centre"] is None,
            "clip_centre",
            "A clip centre has no meaning without a clip radius.",
        )
        return None
    import numpy as np

    from mipaudit.commands.noise.mechanisms.clipping import Ball

    centre = np.zeros(dimension)
    if given["clip_centre"] is not None:
        centre = np.array([number("clip_centre", x, _CENTRE) for x in given["clip_centre"]])
        require(bool((np.abs(centre) <= _LARGEST).all()), "clip_centre", _CENTRE)
    radius = number("clip_radius", given["clip_radius"], _RADIUS)
    require(1 / _LARGEST <= radius <= _LARGEST, "clip_radius", _RADIUS)
    return Ball(centre=centre, radius=radius)
