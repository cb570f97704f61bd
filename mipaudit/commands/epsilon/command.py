"""``mipaudit epsilon``: the report, and the file with epsilon at many deltas beside it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, Self

from mipaudit.commands.epsilon.run import answer_epsilon
from mipaudit.errors import UsageError
from mipaudit.output.destination import Destination
from mipaudit.output.presentation import write_report

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mipaudit.commands.epsilon.options import EpsilonOptions, EpsilonShown
    from mipaudit.commands.epsilon.report import EpsilonReport, ProfilePoint

_FORMS: Final = (".csv", ".json")
_COLUMNS: Final = ("score", "delta", "lower", "estimate")


def run_epsilon(asked: EpsilonOptions, shown: EpsilonShown) -> int:
    """Run the audit and write its report; return the exit code."""
    if shown.curve is None:
        return write_report(asked, shown, answer_epsilon)

    inputs = asked.inputs()
    report_place = Destination.open(shown.output, inputs=inputs)
    profile = ProfileFile.open(shown.curve, report=report_place, inputs=inputs)

    def answer(asked: EpsilonOptions) -> EpsilonReport:
        report = answer_epsilon(asked)
        profile.write(report)
        return replace(report, profile=None)  # it has a file of its own

    return write_report(asked.but(curve=True), shown, answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileFile:
    """A checked place for the curve, and its form."""

    place: Destination
    form: str

    @classmethod
    def open(cls, name: str, *, report: Destination, inputs: Iterable[str | None]) -> Self:
        """Check the place before anything is computed.

        Args:
            name: the file.
            report: where the report goes.
            inputs: what is read: none of it may be overwritten.

        Raises:
            UsageError: a suffix that stands for no form, or the report's or an input's place.
            OutputError: a place that cannot be written to.
        """
        suffix = PurePath(name).suffix.lower()
        if suffix not in _FORMS:
            raise UsageError(
                "curve", f"`curve` takes a file name that ends in {', '.join(_FORMS)}."
            )
        place = Destination.open(name, inputs=inputs, option="`curve`")
        if report.path is not None and report.path == place.path:
            raise UsageError(
                "same_file",
                "The report and the curve need a file each.",
                hint="Name different files for `output` and `curve`.",
            )
        return cls(place=place, form=suffix.removeprefix("."))

    def write(self, report: EpsilonReport) -> None:
        """Write the points."""
        self.place.write(encode_profile(report.profile or (), self.form))


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
