"""The rows of a report as CSV: every number in full, one table for each kind of report."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin, get_type_hints

from mipaudit.model.message import Message, is_message, message_of
from mipaudit.report.blocks import plain
from mipaudit.report.messages.told import told
from mipaudit.statements.kinds import kind_of, report_type
from mipaudit.statements.printable_names import inert_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd

    from mipaudit.statements.any_report import AnyReport

_PART: Final = "part"


def report_csv(report: AnyReport) -> str:
    """Return the report's rows, with a header; nested fields are named ``outer.inner``.

    Where a report has several tables, the column ``part`` says which one a row is of. Lists
    within a row are joined by semicolons; what is missing is empty. It holds the figures alone:
    the verdict, the findings and the limitations are in the other forms.

    A report without rows has the header that its rows would have.
    """
    rows = [{name: _cell(cell) for name, cell in _flat(row)} for row in _rows(report)]
    names = list(dict.fromkeys(name for row in rows for name in row)) or _header(report)
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def report_frame(report: AnyReport) -> pd.DataFrame:
    """Return the first of a report's tables that has rows, as a data frame."""
    import pandas as pd

    tables = (tuple(table_rows(report, name)) for name in kind_of(report.command).tables)
    rows = next(filter(None, tables), ())
    names = () if rows else _header(report)
    return pd.DataFrame([dict(_flat(asdict(row))) for row in rows], columns=names or None)


def _rows(report: AnyReport) -> Iterator[dict[str, Any]]:
    names = kind_of(report.command).tables
    for name in names:
        for row in table_rows(report, name):
            yield {_PART: name, **asdict(row)} if len(names) > 1 else asdict(row)


def _header(report: AnyReport) -> list[str]:
    """Return the names of all columns that the report's tables can have."""
    written = kind_of(report.command)
    names = [_PART] if len(written.tables) > 1 else []
    for table in written.tables:
        kind: Any = report_type(written)
        for part in table.split("."):
            kind = _record(get_type_hints(kind)[part])
        names += _fields(kind)
    return list(dict.fromkeys(names))


def _fields(kind: type, outer: str = "") -> Iterator[str]:
    """Yield the columns of a record, those of a record within it as ``outer.inner``."""
    for name, hint in get_type_hints(kind).items():
        inner = _record(hint)
        if inner is None:
            yield f"{outer}{name}"
        elif get_origin(hint) is not tuple:
            yield from _fields(inner, f"{outer}{name}.")


def _record(hint: Any) -> type | None:  # noqa: ANN401 - whatever an annotation is
    """Return the dataclass of an annotation: ``A``, ``A | None``, ``tuple[A, ...]``; or None."""
    if is_dataclass(hint) and isinstance(hint, type):
        return None if hint is Message else hint
    return next(filter(None, map(_record, get_args(hint))), None)


def table_rows(report: AnyReport, name: str) -> Iterable[Any]:
    """Return the rows of a field; of a record within it as ``outer.inner``."""
    found: Any = report
    for part in name.split("."):
        found = None if found is None else getattr(found, part)
    if found is None:
        return ()
    return found if isinstance(found, tuple) else (found,)


def _flat(row: Mapping[str, Any], outer: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict) and is_message(value):
            yield f"{outer}{name}", told(message_of(value))
        elif isinstance(value, dict):
            yield from _flat(value, f"{outer}{name}.")
        elif not _is_table(value):
            yield f"{outer}{name}", value


def _is_table(value: object) -> bool:
    """Tell whether a field is a table of its own, which has rows of its own or is in the JSON."""
    return isinstance(value, (tuple, list)) and any(isinstance(one, dict) for one in value)


def _cell(value: Any) -> str:  # noqa: ANN401 - whatever a report holds
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return "; ".join(map(_cell, value))
    # A number is written as it is; a text that a spreadsheet would run as a formula is not.
    return inert_text(plain(value)) if isinstance(value, str) else str(value)
