"""The choices that ``noise`` offers beside a table of splits, checked before it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from mipaudit.maths.mip import Mechanism
from mipaudit.options.plain_values import one_of, require

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROTECT: Final = ("every-record", "tested-records", "average-record")
_UNITS: Final = ("standardised", "given")
_SCALED_BY: Final = ("upper", "value")
_STDIN: Final = "-"


def check_choices(given: Mapping[str, Any]) -> None:
    """Refuse a word that is no choice: it would be taken for another one in silence.

    Args:
        given: every keyword of ``noise``, with splits.

    Raises:
        UsageError: with the words that are accepted.
    """
    from mipaudit.commands.noise.calibrate.demand import CalibrationKind
    from mipaudit.commands.noise.mechanisms.shape import ShapeKind

    one_of("protect", given["protect"], _PROTECT)
    one_of("error_units", given["error_units"], _UNITS)
    one_of("scaled_by", given["scaled_by"], _SCALED_BY)
    for name, words in (
        ("calibration", get_args(CalibrationKind)),
        ("mechanism", get_args(Mechanism)),
        ("shape", get_args(ShapeKind)),
    ):
        if given[name] is not None:
            one_of(name, given[name], words)
    require(
        "swap" not in (given["calibration"] or "") or given["pairs"] is not None,
        "needs_pairs",
        "The swap calibration needs pairs of releases that differ in one record.",
        "Add --pairs PAIRS, or leave --calibration out.",
    )


def refuse_shared_stdin(*inputs: object) -> None:
    """Refuse standard input for two inputs: it can be read once.

    Raises:
        UsageError: ``stdin_twice``.
    """
    count = sum(isinstance(path, str) and path == _STDIN for path in inputs)
    require(
        count <= 1, "stdin_twice", "Standard input can be only one of the inputs.", "Use files."
    )
