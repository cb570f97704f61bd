"""The file with epsilon at many deltas that ``epsilon`` writes beside its answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, Self

from mipaudit.errors import UsageError
from mipaudit.output.destination import Destination

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mipaudit.commands.epsilon.report import EpsilonReport

_FORMS: Final = (".csv", ".json")


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
            raise UsageError("curve", f"--curve takes a file name that ends in {_ENDS}.")
        place = Destination.open(name, inputs=inputs, option="--curve")
        if report.path is not None and report.path == place.path:
            raise UsageError(
                "same_file",
                "The report and the curve need a file each.",
                hint="Name different files for -o and --curve.",
            )
        return cls(place=place, form=suffix.removeprefix("."))

    def write(self, report: EpsilonReport) -> None:
        """Write the points."""
        from mipaudit.commands.epsilon.pages.profile import encode_profile

        self.place.write(encode_profile(report.profile or (), self.form))


_ENDS: Final = ", ".join(_FORMS)
