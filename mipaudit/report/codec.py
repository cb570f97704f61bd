"""A report to JSON and back."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mipaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.report.attack import AttackReport
    from mipaudit.report.attribute import AttributeReport
    from mipaudit.report.bounds import BoundsReport
    from mipaudit.report.compare import CompareReport
    from mipaudit.report.compare_reports import ReportComparison
    from mipaudit.report.epsilon import EpsilonReport
    from mipaudit.report.model import CheckReport, Report
    from mipaudit.report.model_query import ModelQueryReport
    from mipaudit.report.noise import NoiseReport
    from mipaudit.report.query import QueryReport
    from mipaudit.report.records import RecordsReport
    from mipaudit.report.shift import ShiftReport
    from mipaudit.report.truth import ScenarioList, TruthReport
    from mipaudit.report.validation import ValidationReport
    from mipaudit.report.verification import VerifyReport

    AnyReport: TypeAlias = (
        Report
        | CheckReport
        | BoundsReport
        | EpsilonReport
        | CompareReport
        | ReportComparison
        | AttackReport
        | AttributeReport
        | ModelQueryReport
        | NoiseReport
        | QueryReport
        | RecordsReport
        | ShiftReport
        | TruthReport
        | ScenarioList
        | ValidationReport
        | VerifyReport
    )

# What changes between two equal runs stands last, so that the rest of two files
# can be compared line by line.
_FIRST: Final = "schema"
_LAST: Final = "provenance"


def to_json(report: AnyReport) -> bytes:
    """Return the report as indented JSON, UTF-8 in ASCII characters, newline at the end.

    Fields keep the order in which the dataclasses declare them, save that
    ``schema`` comes first and ``provenance`` last. Characters outside ASCII are
    escaped, so that a column name cannot steer the terminal that shows the file.

    Raises:
        ValueError: a number is NaN or infinite, which no report may hold.
    """
    text = json.dumps(_ordered(asdict(report)), indent=2, allow_nan=False)
    return text.encode("ascii") + b"\n"


def from_json(data: bytes) -> AnyReport:
    """Return the report that ``data`` holds; fields that this version lacks are ignored.

    Raises:
        InputError: not JSON, not a report of a schema that this version reads, or a field is
            missing or of the wrong type. The message names the field, never what it holds.
    """
    import msgspec

    from mipaudit.report.kinds import report_kind

    schema = _schema(data)
    try:
        report: AnyReport = msgspec.json.decode(data, type=report_kind(schema))
    except msgspec.ValidationError as error:
        place = re.search(r"at `(\$[^`]*)`", str(error))
        where = f" at {place[1]}" if place else ""
        raise InputError(
            "bad_report", f"The report does not follow {schema}{where}.", hint=_HINT
        ) from None
    except (msgspec.DecodeError, RecursionError):
        # What Python's parser takes and this one does not: NaN, lone surrogates, deep nesting.
        raise InputError("bad_report", "The report is not JSON.", hint=_HINT) from None
    _require_command(report, schema)
    return report


_HINT: Final = "Make it again with -f json, for example `mipaudit estimate SCORES -f json`."
# Two kinds have a command of their own name only in part.
_COMMANDS: Final = {
    "report": ("estimate",),
    "truth": ("simulate",),
    "scenarios": ("simulate --list",),
    "validation": ("validate",),
    "compare-reports": ("compare reports",),
    "verification": ("verify",),
    "model-query": ("query losses", "query lira"),
}


def _ordered(fields: Mapping[str, Any]) -> dict[str, Any]:
    middle = {key: value for key, value in fields.items() if key not in {_FIRST, _LAST}}
    return {_FIRST: fields[_FIRST], **middle, _LAST: fields[_LAST]}


def _schema(data: bytes) -> str:
    """Return the schema that the file names."""
    from mipaudit.report.kinds import SCHEMAS
    from mipaudit.report.names import safe_name

    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError("bad_report", "The report is not JSON.", hint=_HINT) from None
    named = found.get("schema") if isinstance(found, dict) else None
    if isinstance(named, str) and named in SCHEMAS:
        return named
    kind, _, version = named.rpartition("/") if isinstance(named, str) else ("", "", "")
    if version.isdecimal() and f"{kind}/1" in SCHEMAS:
        raise InputError(
            "report_schema",
            f"The report is of schema {safe_name(f'{kind}/{version}')}, which this version of "
            "mipaudit does not read.",
            hint="Use the version of mipaudit that its provenance names.",
        )
    raise InputError("report_schema", "The file is not a report of mipaudit.", hint=_HINT)


def _require_command(report: AnyReport, schema: str) -> None:
    """Refuse a command that does not write this schema: it decides how the report is shown."""
    kind = schema.removeprefix("mipaudit.").partition("/")[0]
    if report.command not in _COMMANDS.get(kind, (kind,)):
        raise InputError(
            "bad_report", f"The report does not follow {schema} at $.command.", hint=_HINT
        )
