"""What the reports of all commands are, and how Python and notebooks show any of them.

What shows them stands above this room: it is named, not imported, and loaded when first used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from mipaudit.model.message import Finding, Message
from mipaudit.statements.kinds import kind_of, named
from mipaudit.statements.provenance import Provenance  # noqa: TC001 - the codec reads it

if TYPE_CHECKING:
    import os

    import pandas as pd

    from mipaudit.model.row import Row

    class Drawing(Protocol):
        """A picture of a report."""

        @property
        def svg(self) -> str:
            """The drawing, as one ``svg`` element."""

        @property
        def alt(self) -> str:
            """What it shows, in words."""

        def save(self, path: str | os.PathLike[str]) -> None:
            """Write it to a file whose name ends in .svg."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AnyReport:
    """What the reports of all commands have in common; each kind has its own fields.

    Attributes:
        command: that made it.
        findings: what the reader must know of the input.
        limitations: what the figures do not say.
        provenance: where it comes from.
    """

    command: str
    findings: tuple[Finding, ...] = ()
    limitations: tuple[Message, ...] = ()
    provenance: Provenance

    @property
    def schema(self) -> str:
        """The JSON format that it follows."""
        return kind_of(self.command).schema

    @property
    def lacking(self) -> bool:
        """Whether something is not there that every report of the kind has."""
        return False

    @property
    def impossible(self) -> str | None:
        """Where the report holds a number that none can be; None for nowhere."""
        return None

    def __repr__(self) -> str:
        """Return the answer, what can make it untrue and for whom it holds, in five lines."""
        text: str = named("mipaudit.report.forms:report_repr")(self)
        return text

    def _repr_html_(self) -> str:
        """Return the report as HTML: notebooks call this to show it."""
        text: str = named("mipaudit.report.forms:report_html")(self)
        return text

    @property
    def answer(self) -> Message:
        """What was found, or decided: a code with its numbers."""
        found: Message = named(f"{kind_of(self.command).conclusion}:answer")(self)
        return found

    def show(self, *, full: bool = False) -> None:
        """Print the answer in a screenful.

        Args:
            full: print all of the report, with every table and every limitation.
        """
        named("mipaudit.output.presentation:show")(self, full=full)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole report, or leave the file as it was.

        Args:
            path: the file, whose ending says the form: .html, .json, .csv, .md, .xml (JUnit);
                text with any other.

        Raises:
            UsageError: the ending names no form that exists.
            OutputError: the file cannot be written.
        """
        named("mipaudit.output.presentation:save")(self, path)

    def plot(self) -> Drawing:
        """Return the picture of the answer, which notebooks draw and ``.save("a.svg")`` writes.

        Raises:
            UsageError: no picture belongs to this report.
        """
        picture: Drawing = named("mipaudit.report.forms:key_picture")(self)
        return picture

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON form holds, as dictionaries, lists, texts and numbers."""
        found: dict[str, Any] = named("mipaudit.report.codec:to_dict")(self)
        return found

    def to_pandas(self) -> pd.DataFrame:
        """Return the main table, a row each; fields within a field are named ``outer.inner``.

        Numbers are those of the JSON form, with NaN for null. Of several tables, the first that has
        rows is returned; the CSV form has all, with a column ``part``.
        """
        frame: pd.DataFrame = named("mipaudit.report.codec:report_frame")(self)
        return frame


# What it is called that a seed was stated of rows which do not decide with it.
STATED_SEED: Final = "stated_seed"
STRICT_SEED: Final = Finding("strict_seed")


def approximate(rows: Iterable[Row]) -> list[Row]:
    """Return rows of which nothing is promised at every sample size: their seed was stated."""
    return [
        replace(row, validity="approximate") if row.validity == "finite-sample" else row
        for row in rows
    ]
