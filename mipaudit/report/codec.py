"""A report to JSON and back, also in its page; its tables as CSV and data frames; the JSON Schema.

The page is for people and the report for programs; a page contains both.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, is_dataclass
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin, get_type_hints

from mipaudit.errors import InputError, bad_report
from mipaudit.model.message import Message, is_message, message_of
from mipaudit.report.messages.told import is_serious, told
from mipaudit.statements.kinds import KINDS, VERSION, Kind, kind_of, kind_of_schema, report_type
from mipaudit.statements.printable_names import inert_text, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd

    from mipaudit.statements.any_report import AnyReport

# Quantities from -1 to 1, and what is beyond them also of an approximate limit.
_SHARES: Final = frozenset({"advantage", "accuracy", "auc", "tpr_at_fpr", "any_difference"})
_FARTHEST: Final = 2.0
# What changes between two equal runs stands last, so that the rest of two files
# can be compared line by line.
_FIRST: Final = "schema"
_LAST: Final = ("findings", "limitations", "provenance")

_HINT: Final = "Make it again with -f json, for example `mipaudit estimate SCORES -f json`."
# An annex looks like the page of a report, and is none.
_OTHER: Final = (
    "Give a report, as .json or .html: mipaudit estimate SCORES -o report.json. An annex, a card "
    "or another form of render is no report. To check one, make it again from its report and "
    "compare the two files. To check a statement: mipaudit verify STATEMENT."
)


def to_json(report: AnyReport) -> bytes:
    """Return the report as indented JSON, UTF-8 in ASCII characters, newline at the end.

    Fields keep the order in which the dataclasses declare them, except that ``schema`` comes first
    and ``provenance`` last. Characters outside ASCII are escaped, so that a column name cannot
    steer the terminal that shows the file.

    Raises:
        ValueError: a number is NaN or infinite, which no report may hold.
    """
    # The answer follows from the rest, and is not read again.
    answer = _with_sentences(asdict(report.answer))
    fields = {_FIRST: report.schema, "answer": answer, **_fields(report)}
    last = {name: fields.pop(name) for name in _LAST}
    return indented({**fields, **last})


def indented(fields: Mapping[str, Any]) -> bytes:
    """Return the fields of a report as its file has them."""
    return json.dumps(fields, indent=2, allow_nan=False).encode("ascii") + b"\n"


def to_dict(report: AnyReport) -> dict[str, Any]:
    """Return what the JSON of a report holds, as dictionaries, lists, texts and numbers."""
    found: dict[str, Any] = json.loads(to_json(report))
    return found


def from_json(data: bytes | str) -> AnyReport:
    """Return the report that ``data`` holds, as JSON or in its page.

    Fields that this version lacks are ignored.

    Raises:
        InputError: a page without a report, not JSON, not a report of a schema that this
            version reads, or a field is missing, of the wrong type, or outside its range. The
            message names the field, never what it holds.
    """
    import msgspec

    data = taken_out(data.encode() if isinstance(data, str) else data)
    kind = _kind(data)
    try:
        report: AnyReport = msgspec.json.decode(data, type=report_type(kind))
    except msgspec.ValidationError as error:
        place = re.search(r"at `(\$[^`]*)`", str(error))
        where = f" at {place[1]}" if place else ""
        raise bad_report(f"The report does not follow {kind.schema}{where}.", hint=_HINT) from None
    except (msgspec.DecodeError, RecursionError):
        # What Python's parser takes and this one does not: NaN, lone surrogates, deep nesting.
        raise bad_report("The report is not JSON.", hint=_HINT) from None
    # It decides how the report is shown.
    if report.command not in kind.commands:
        raise bad_report(f"The report does not follow {kind.schema} at $.command.", hint=_HINT)
    try:
        _fields(report)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        raise bad_report(
            "The report holds a message that this version of mipaudit does not know."
        ) from None
    if report.lacking:
        raise bad_report(
            "The report holds something that no command writes: scores without an advantage."
        )
    wrong = _impossible(report)
    if wrong is not None:
        raise bad_report(f"The report holds a number at {wrong} that is outside its range.")
    return report


def _impossible(report: AnyReport) -> str | None:
    """Return where a report holds a number that is outside its range, of what is looked at."""
    prior = getattr(getattr(report, "design", None), "prior", None)
    if prior is not None and not 0 < prior < 1:
        return "$.design.prior"
    return report.impossible or next(_beyond(report), None)


def _beyond(report: AnyReport) -> Iterator[str]:
    """Yield where a row or a check holds a number that its quantity never has."""
    for field in fields_of(report):
        rows = getattr(report, field.name)
        for at, one in enumerate(rows if isinstance(rows, tuple) else ()):
            if getattr(one, "quantity", None) not in _SHARES:
                continue
            for name in ("value", "lower", "upper", "limit"):
                number = getattr(one, name, None)
                if number is not None and not abs(number) <= _FARTHEST:
                    yield f"$.{field.name}[{at}].{name}"


def _fields(report: AnyReport) -> dict[str, Any]:
    """Return the fields of a report, with the sentences and how grave each finding is."""
    fields: dict[str, Any] = _with_sentences(asdict(report))
    for one, finding in zip(fields["findings"], report.findings, strict=True):
        one["serious"] = is_serious(finding)
    return fields


def _with_sentences(part: Any) -> Any:  # noqa: ANN401 - of a report
    """Return a part of a report with the sentence of each message beside its code."""
    if isinstance(part, dict):
        found = {name: _with_sentences(one) for name, one in part.items()}
        if is_message(part):
            return {"text": told(message_of(part)), **found}
        return found
    return [_with_sentences(one) for one in part] if isinstance(part, list | tuple) else part


class NameTwiceError(ValueError):
    """An object of JSON has the same key twice: of two, programs read either."""


def read_once(data: bytes | str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what JSON holds, in which no name stands twice within an object.

    Raises:
        NameTwiceError: one does.
        ValueError: it is not JSON.
    """
    return json.loads(data, object_pairs_hook=_members)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise NameTwiceError
    for name in members:
        # Half a surrogate pair is no text, and could not be written again.
        name.encode()
    return members


def _kind(data: bytes) -> Kind:
    """Return the kind of report that the file says it is."""
    from mipaudit.statements.printable_names import safe_name

    try:
        found = read_once(data)
    except NameTwiceError:
        raise bad_report(
            "The file has the same key twice in one object, so programs may read it differently."
        ) from None
    except (ValueError, RecursionError):
        text = "The file is no report of mipaudit: neither its JSON nor its HTML page."
        raise bad_report(text, hint=_OTHER) from None
    named = found.get("schema") if isinstance(found, dict) else None
    named = named if isinstance(named, str) else ""
    kind = kind_of_schema(named)
    if kind is not None:
        return kind
    name, _, version = named.rpartition("/")
    now = kind_of_schema(f"{name}{VERSION}")
    if version.isdecimal() and now is not None:
        stated = found.get("command")
        command = stated if stated in now.commands else now.commands[0]
        raise InputError(
            "report_schema",
            f"The report has format {safe_name(named)}; this version of mipaudit reads "
            f"{now.schema}.",
            f"Make it again with `mipaudit {command}`, or use the version that wrote it.",
        )
    raise InputError("report_schema", "The file is not a report of mipaudit.", _OTHER)


def report_schema() -> dict[str, Any]:
    """Return one JSON Schema (2020-12) for the reports of all commands.

    Unknown fields are allowed: the format is additive within a major version.
    """
    from inspect import cleandoc

    import msgspec

    types = tuple(map(report_type, KINDS))
    _, components = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for one, kind in zip(types, KINDS, strict=True):
        component = components[one.__name__]
        # What follows from the other fields is written beside them.
        beside = {"schema": {"const": kind.schema}, "answer": {"$ref": "#/$defs/Message"}}
        component["properties"] = beside | component["properties"]
        component["required"] = ["schema", *component["required"]]
    said = {"type": "string", "description": "The sentence. What is read are code and values."}
    for name in ("Message", "Finding"):
        components[name]["properties"]["text"] = said
    components["Finding"]["properties"]["serious"] = {"type": "boolean"}
    for component in components.values():
        if "description" in component:  # from Python 3.13 on the compiler takes the indents away
            component["description"] = cleandoc(component["description"])
    return {
        "title": "mipaudit reports",
        "description": "What `mipaudit estimate`, `records`, `epsilon`, `compare`, `attack`, "
        "`attribute`, `query`, `query losses`, `query lira`, `check`, `bounds`, `noise`, "
        "`shift`, `simulate`, `validate`, `history`, `verify` and `doctor` write as JSON.",
        "oneOf": [{"$ref": f"#/$defs/{one.__name__}"} for one in types],
        "$defs": components,
    }


_NAME: Final = "mipaudit-report"
_OPENING: Final = f'<script type="application/json" id="{_NAME}">'
_CLOSING: Final = "</script>"
_MARK: Final = b"\xef\xbb\xbf"  # what some editors put before UTF-8
_START: Final = 64


def carried(report: bytes) -> str:
    """Return the element of a page that holds a report's JSON: data, which no browser runs.

    JSON has ``<``, ``>`` and ``&`` in texts alone, where it can spell them otherwise.
    """
    text = json.dumps(json.loads(report), separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return f"{_OPENING}{text}{_CLOSING}"


def is_page(data: bytes) -> bool:
    """Tell whether the bytes of a file are a page, and not JSON."""
    return data[:_START].removeprefix(_MARK).lstrip().startswith(b"<")


def taken_out(data: bytes) -> bytes:
    """Return the JSON of a report, of its file or of its page.

    Raises:
        InputError: ``bad_report``: a page without a report, or with more than one.
    """
    if not is_page(data):
        return data
    found = re.findall(
        re.escape(_OPENING.encode()) + rb"([^<]*)" + re.escape(_CLOSING.encode()), data
    )
    if len(found) != 1 or data.count(f'id="{_NAME}"'.encode()) != 1:
        raise bad_report("The page holds no report, or several.", hint=_OTHER)
    one: bytes = found[0]
    return one


_PART: Final = "part"


def report_csv(report: AnyReport) -> str:
    """Return the report's rows, with a header; nested fields are named ``outer.inner``.

    Where a report has several tables, the column ``part`` says which one a row is of. Lists
    within a row are joined by semicolons; what is missing is empty. It holds the figures alone:
    the verdict, the findings and the limitations are in the other forms.

    A report without rows has the header that its rows would have.
    """
    # Here: an answer as JSON does not wait for them.
    import csv
    import io

    rows = [{name: _cell(cell) for name, cell in _flat(row)} for row in _csv_rows(report)]
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


def _csv_rows(report: AnyReport) -> Iterator[dict[str, Any]]:
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
        names += _columns(kind)
    return list(dict.fromkeys(names))


def _columns(kind: type, outer: str = "") -> Iterator[str]:
    """Yield the columns of a record, those of a record within it as ``outer.inner``."""
    for name, hint in get_type_hints(kind).items():
        inner = _record(hint)
        if inner is None:
            yield f"{outer}{name}"
        elif get_origin(hint) is not tuple:
            yield from _columns(inner, f"{outer}{name}.")


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
