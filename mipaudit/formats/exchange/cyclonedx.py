"""A report in a bill of materials of machine learning: CycloneDX 1.6."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from mipaudit.formats.declared import declared_pairs
from mipaudit.formats.document import bullets_of, plain
from mipaudit.formats.exchange.stored import figures, input_name, printable, sha256_of
from mipaudit.formats.report_forms import document_of
from mipaudit.statements.provenance import TIME_FORM, time_of

if TYPE_CHECKING:
    from mipaudit.formats.exchange.stored import Figure, Stored
    from mipaudit.statements.reports.any_report import AnyReport

_UNKNOWN: Final = "not known"


def cyclonedx(stored: Stored) -> str:
    """Return the bill: one model, its figures with limits, and what was read.

    Equal reports give equal bytes: the time is that of the report, and the serial number
    follows from its sha256.
    """
    made = stored.report.provenance
    serial = uuid5(NAMESPACE_URL, f"urn:sha256:{stored.file.sha256}")
    model = {
        "type": "machine-learning-model",
        "bom-ref": "model",
        "name": stored.called,
        "externalReferences": [
            {
                "type": "quality-metrics",
                "url": quote(stored.file.name),
                "comment": "The report of mipaudit that the figures are from.",
                "hashes": _hashes(stored.file.sha256),
            }
        ],
        "modelCard": _card(stored.report),
    }
    tool = {"type": "application", "name": "mipaudit", "version": printable(made.mipaudit)}
    read = [
        {"type": "data", "bom-ref": f"input-{number}", "name": input_name(one)}
        | ({"hashes": _hashes(digest)} if (digest := sha256_of(one)) else {})
        for number, one in enumerate(made.inputs, start=1)
    ]
    whole = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "timestamp": time_of(made.created).strftime(TIME_FORM),
            "tools": {"components": [tool]},
            "component": model,
        },
        "components": read,
    }
    return json.dumps(whole, indent=2) + "\n"


def _card(report: AnyReport) -> dict[str, Any]:
    document = document_of(report)
    said = [("verdict", document.headline), ("summary", document.summary)]
    said += [
        (f"declared:{term}", text) for term, text in declared_pairs(report.provenance.declared)
    ]
    said += [
        (f"limit:{case.status}", f"{plain(case.group)}: {plain(case.name)}: {plain(case.text)}")
        for case in document.cases
    ]
    return {
        "quantitativeAnalysis": {"performanceMetrics": [_metric(one) for one in figures(report)]},
        "considerations": {
            "technicalLimitations": [f"{head}: {text}" for head, text in bullets_of(document)]
        },
        "properties": [
            {"name": f"mipaudit:{name}", "value": plain(text)} for name, text in said if text
        ],
    }


def _metric(one: Figure) -> dict[str, Any]:
    """Return a figure, of which the schema has every number as text: no limit is ``none``."""
    found = {"type": one.of, "value": one.value or _UNKNOWN, "slice": one.about}
    if one.lower is None:
        return found
    return found | {"confidenceInterval": {"lowerBound": one.lower, "upperBound": one.upper}}


def _hashes(sha256: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": sha256}]
