"""``mipaudit epsilon``: the report, and the file with epsilon at many deltas beside it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.epsilon.run import answer_epsilon
from mipaudit.output.beside import Asked, files_beside
from mipaudit.output.destination import Destination
from mipaudit.output.presentation import write_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.epsilon.options import EpsilonOptions, EpsilonShown
    from mipaudit.commands.epsilon.report import EpsilonReport, ProfilePoint

_FORMS: Final = (".csv", ".json")
_COLUMNS: Final = ("score", "delta", "lower", "estimate")


def run_epsilon(asked: EpsilonOptions, shown: EpsilonShown) -> int:
    """Run the audit and write its report; return the exit code."""
    if shown.curve is None:
        return write_report(asked, shown, answer_epsilon)

    inputs = list(asked.inputs())
    report_place = Destination.open(shown.output, inputs=inputs)
    curve = Asked("curve", "curve", _FORMS, shown.curve)
    place, form = files_beside([curve], report=report_place, inputs=inputs)["curve"]

    def answer(asked: EpsilonOptions) -> EpsilonReport:
        report = answer_epsilon(asked)
        place.write(encode_profile(report.profile or (), form))
        return replace(report, profile=None)  # it has a file of its own

    return write_report(asked.but(curve=True), shown, answer, ("the curve", place))


def encode_profile(points: Sequence[ProfilePoint], form: str) -> bytes:
    """Return the points in a form.

    Args:
        points: by score, of rising delta.
        form: ``csv``: one row per point with the columns score, delta, lower, estimate;
            or ``json``: a list of objects with these keys.
    """
    rows = [asdict(point) for point in points]
    if form == "json":
        return json.dumps(rows, indent=1, allow_nan=False).encode("ascii") + b"\n"
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")
