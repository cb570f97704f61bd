"""A report to JSON and back, also in its page; and the JSON Schema, made of the dataclasses.

The page is for people and the report for programs; whoever has the page has both.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import InputError
from mipaudit.model.message import is_message, message_of
from mipaudit.report.messages.told import is_serious, told
from mipaudit.statements.kinds import KINDS, VERSION, kind_of_schema, report_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mipaudit.statements.any_report import AnyReport
    from mipaudit.statements.kinds import Kind

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
    "Give a report, as .json or .html: mipaudit estimate SCORES -o report.json. (verify takes "
    "statements, too.) An annex, a card or another form of render is no report: make it again from "
    "the report whose sha256 it names, with the same command, and compare the two with cmp."
)


def to_json(report: AnyReport) -> bytes:
    """Return the report as indented JSON, UTF-8 in ASCII characters, newline at the end.

    Fields keep the order in which the dataclasses declare them, save that
    ``schema`` comes first and ``provenance`` last. Characters outside ASCII are
    escaped, so that a column name cannot steer the terminal that shows the file.

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


def from_json(data: bytes) -> AnyReport:
    """Return the report that ``data`` holds, as JSON or in its page.

    Fields that this version lacks are ignored.

    Raises:
        InputError: a page without a report, not JSON, not a report of a schema that this
            version reads, or a field is missing, of the wrong type, or outside its range. The
            message names the field, never what it holds.
    """
    import msgspec

    data = taken_out(data)
    kind = _kind(data)
    try:
        report: AnyReport = msgspec.json.decode(data, type=report_type(kind))
    except msgspec.ValidationError as error:
        place = re.search(r"at `(\$[^`]*)`", str(error))
        where = f" at {place[1]}" if place else ""
        raise InputError(
            "bad_report", f"The report does not follow {kind.schema}{where}.", hint=_HINT
        ) from None
    except (msgspec.DecodeError, RecursionError):
        # What Python's parser takes and this one does not: NaN, lone surrogates, deep nesting.
        raise InputError("bad_report", "The report is not JSON.", hint=_HINT) from None
    # It decides how the report is shown.
    if report.command not in kind.commands:
        raise InputError(
            "bad_report", f"The report does not follow {kind.schema} at $.command.", hint=_HINT
        )
    try:
        _fields(report)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        raise InputError(
            "bad_report",
            "The report says something that this version of mipaudit has no sentence for.",
            hint="Use the file as the command wrote it.",
        ) from None
    if report.lacking:
        raise InputError(
            "bad_report",
            "The report holds something that no command writes: scores without an advantage.",
            hint="Use the file as the command wrote it.",
        )
    wrong = _impossible(report)
    if wrong is not None:
        raise InputError(
            "bad_report",
            f"The report holds a number at {wrong} that is outside its range.",
            hint="Use the file as the command wrote it.",
        )
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
    """An object of JSON has two members of one name: of two, readers take either."""


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
        raise InputError(
            "bad_report",
            "The file has two members of one name in one object: readers differ in which counts.",
            hint="Use the file as the command wrote it.",
        ) from None
    except (ValueError, RecursionError):
        text = "The file is neither the JSON of a report nor its page."
        raise InputError("bad_report", text, hint=_OTHER) from None
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
            f"The report is of the format {safe_name(named)}; this version of mipaudit reads "
            f"{now.schema}.",
            hint=f"Make it again with `mipaudit {command}`, or use the version that wrote it.",
        )
    raise InputError("report_schema", "The file is not a report of mipaudit.", hint=_OTHER)


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
        raise InputError("bad_report", "The page holds no report, or several.", hint=_OTHER)
    one: bytes = found[0]
    return one
