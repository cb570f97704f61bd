"""Files that a command writes beside each other: places that are checked before anything runs."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from mipaudit.errors import UsageError
from mipaudit.output.destination import Destination

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Asked(NamedTuple):
    """A file that may be asked for beside a report.

    Attributes:
        option: its keyword.
        what: it holds, for people.
        forms: the endings of its name, each of which stands for a form.
        name: of the file; None where it is not asked for.
    """

    option: str
    what: str
    forms: tuple[str, ...]
    name: str | None


class Beside(NamedTuple):
    """A checked place for such a file, and its form: the ending without its dot."""

    place: Destination
    form: str


def files_beside(
    asked: Iterable[Asked], *, report: Destination, inputs: Iterable[str | None] = ()
) -> dict[str, Beside]:
    """Check the places before anything is computed; return those asked for, by option.

    Args:
        asked: the files that there may be.
        report: where the report goes.
        inputs: what is read: none of it may be overwritten.

    Raises:
        UsageError: a suffix that stands for no form, one file for two things, or an input.
        OutputError: a place that cannot be written to.
    """
    asked, inputs = list(asked), list(inputs)
    found: dict[str, Beside] = {}
    for option, _, forms, name in asked:
        if name is None:
            continue
        suffix = PurePath(name).suffix.lower()
        if suffix not in forms:
            raise UsageError(
                option, f"`{option}` takes a file name that ends in {', '.join(forms)}."
            )
        place = Destination.open(name, inputs=inputs, option=f"`{option}`")
        found[option] = Beside(place, suffix.removeprefix("."))
    wanted = {"output": "the report"} | {one.option: f"the {one.what}" for one in asked}
    _require_apart((report, *(beside.place for beside in found.values())), wanted)
    return found


def report_beside(
    name: str | None, data: Destination | None, *, inputs: Iterable[str | None]
) -> Destination:
    """Return the checked place of a report whose command writes data, too.

    Args:
        name: the file; None is standard output.
        data: where the data go; None: nowhere.
        inputs: what is read.

    Raises:
        UsageError: both would be one file.
        OutputError: the place cannot be written to.
    """
    place = Destination.open(name, inputs=inputs, option="`report`")
    places = (place,) if data is None else (data, place)
    _require_apart(places, {"output": "the data", "report": "the report"})
    return place


def _require_apart(places: Iterable[Destination], wanted: Mapping[str, str]) -> None:
    """Refuse one file for two things; ``wanted`` has what each option asks for, for people."""
    paths = [one.path for one in places if one.path]
    if len(set(paths)) < len(paths):
        things = _joined([*wanted.values()])
        options = _joined([f"`{option}`" for option in wanted])
        raise UsageError(
            "same_file",
            f"{things[0].upper()}{things[1:]} need a file each.",
            hint=f"Name different files for {options}.",
        )


def _joined(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]])
