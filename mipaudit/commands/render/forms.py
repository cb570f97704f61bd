"""Forms that others define, each once: what makes it, and how its files are called.

They name the file of a report by its sha256, so that there has to be one: `render` has these
forms, and the commands that make reports do not.
"""

from __future__ import annotations

import stat
from hashlib import file_digest, sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from mipaudit.errors import InputError, UsageError
from mipaudit.options.values import path_of
from mipaudit.output.stored_report import read_report, report_bytes, why_unread
from mipaudit.report.codec import is_page
from mipaudit.report.exchange.stored import File, Stored, printable, require_standing
from mipaudit.statements.kinds import named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mipaudit.options.shown import Format
    from mipaudit.statements.any_report import AnyReport

ExchangeName = Literal["in-toto", "cyclonedx", "model-card", "metrics", "github", "gitlab"]


class ExchangeForm(NamedTuple):
    """A form that others define.

    Attributes:
        name: as it is asked for.
        make: what makes its text of a ``Stored`` report, within `report.exchange`.
        like: the forms of all reports whose endings its files may have, too.
        ending: of a file's name, that says this form and no other; empty where none does.
    """

    name: ExchangeName | Literal["annex"]
    make: str
    like: tuple[Format, ...]
    ending: str = ""


EXCHANGE: Final = (
    ExchangeForm("in-toto", "others:statement", ("json",), ".intoto.json"),
    ExchangeForm("cyclonedx", "others:cyclonedx", ("json",), ".cdx.json"),
    ExchangeForm("model-card", "others:model_card", ("markdown",)),
    ExchangeForm("metrics", "others:metrics", ("json",)),
    ExchangeForm("github", "others:github", ("table",)),
    ExchangeForm("gitlab", "others:gitlab", ("json",)),
)
# Of a source, and of several reports: it is asked for in other words.
ANNEX: Final = ExchangeForm("annex", "annex:annex", ("table", "markdown", "html", "json"))


def exchange_form(name: str | None) -> ExchangeForm | None:
    """Return the form of that name; None for one of all reports."""
    return next((one for one in (*EXCHANGE, ANNEX) if one.name == name), None)


def ending_says(name: str) -> ExchangeForm | None:
    """Return the form that the ending of a file's name says; None where it says none of these."""
    lower = name.lower()
    return next((one for one in EXCHANGE if one.ending and lower.endswith(one.ending)), None)


def exchanged(
    form: ExchangeForm, stored: Stored, of_annex: tuple[object, ...], report: AnyReport
) -> str:
    """Return a stored report in such a form.

    Args:
        form: the form.
        stored: the report, and the sha256 of its file.
        of_annex: its source, the further reports as they are stored, and its layout.
        report: the same as in ``stored``, with what is declared of it now.

    Raises:
        UsageError: the report cannot be in it, or not without what was left out; or its verdict
            is by a waiver that has expired since.
    """
    require_standing(report)
    make = named(f"mipaudit.report.exchange.{form.make}")
    text: str = make(stored._replace(report=report), *of_annex)
    return text


def stored_report(report: Any, subjects: Iterable[Any] = ()) -> Stored:  # noqa: ANN401
    """Return a report with the sha256 of its file, and of the files that it names.

    Args:
        report: a path, ``"-"``, the bytes of a file, or what a command returned: its file is
            then the one that it would be as JSON.
        subjects: paths.

    Raises:
        UsageError: a subject is no file.
        InputError: a file cannot be read, or holds no report.
    """
    data = report_bytes(report)
    path = path_of(report)
    name = PurePath(path).name if isinstance(path, str) and path != "-" else ""
    shown = printable(name) or f"report.{'html' if is_page(data) else 'json'}"
    file = File(shown, sha256(data).hexdigest())
    return Stored(read_report(data), file, tuple(map(hashed, subjects)))


def hashed(subject: Any) -> File:  # noqa: ANN401 - a path
    """Return a file that is released, by its name and its sha256; a link is what it leads to.

    Raises:
        UsageError: ``subject``: it is no file: a folder has no sha256.
        InputError: ``unreadable_subject``: it cannot be read.
    """
    path = path_of(subject)
    if not isinstance(path, str):
        raise UsageError("subject", "`subject` must be the path of a file.")
    shown = printable(path)
    try:
        found = Path(path)
        if not stat.S_ISREG(found.stat().st_mode):
            raise UsageError(
                "subject",
                f"The subject {shown} is not a file, so it has no sha256.",
                "Name a file; make an archive of a folder.",
            )
        with found.open("rb") as file:
            return File(printable(found.name), file_digest(file, "sha256").hexdigest())
    except (OSError, ValueError) as error:
        # ValueError: a NUL in the name.
        raise InputError(
            "unreadable_subject",
            f"The subject {shown} cannot be read: {why_unread(error)}.",
            "Name a file on this machine.",
        ) from None
