"""A report to JSON and back."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mipaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.report.bounds import BoundsReport
    from mipaudit.report.compare import CompareReport
    from mipaudit.report.epsilon import EpsilonReport
    from mipaudit.report.model import CheckReport, Report
    from mipaudit.report.noise import NoiseReport
    from mipaudit.report.records import RecordsReport
    from mipaudit.report.truth import ScenarioList, TruthReport
    from mipaudit.report.validation import ValidationReport

    AnyReport: TypeAlias = (
        Report
        | CheckReport
        | BoundsReport
        | EpsilonReport
        | CompareReport
        | NoiseReport
        | RecordsReport
        | TruthReport
        | ScenarioList
        | ValidationReport
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


def from_json(data: bytes) -> Report:
    """Return the report that ``data`` holds; fields that this version lacks are ignored.

    Raises:
        InputError: not JSON, not a report of schema ``mipaudit.report/1``, or a
            field is missing or of the wrong type. The message names the field,
            never what it holds.
    """
    import msgspec

    from mipaudit.report.model import SCHEMA, Report

    _require_schema(data)
    try:
        return msgspec.json.decode(data, type=Report)
    except msgspec.ValidationError as error:
        place = re.search(r"at `(\$[^`]*)`", str(error))
        where = f" at {place[1]}" if place else ""
        raise InputError(
            "bad_report", f"The report does not follow {SCHEMA}{where}.", hint=_HINT
        ) from None


_HINT: Final = "Make it again with `mipaudit estimate SCORES -f json`."


def _ordered(fields: Mapping[str, Any]) -> dict[str, Any]:
    middle = {key: value for key, value in fields.items() if key not in {_FIRST, _LAST}}
    return {_FIRST: fields[_FIRST], **middle, _LAST: fields[_LAST]}


def _require_schema(data: bytes) -> None:
    from mipaudit.report.model import SCHEMA

    try:
        found = json.loads(data)
    except ValueError:
        raise InputError("bad_report", "The report is not JSON.", hint=_HINT) from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise InputError(
            "report_schema", f"The file is not a report of schema {SCHEMA}.", hint=_HINT
        )
