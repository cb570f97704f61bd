"""A report in a bill of materials of machine learning: CycloneDX 1.6."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from mipaudit.report.blocks import list_items, plain
from mipaudit.report.exchange.stored import case_name, figures, input_name, printable, sha256_of
from mipaudit.report.origin import declared_pairs
from mipaudit.statements.provenance import TIME_FORM, time_of

if TYPE_CHECKING:
    from mipaudit.report.exchange.stored import Figure, Stored


def cyclonedx(stored: Stored) -> str:
    """Return the bill: one model, its figures with limits, and what was read.

    Equal reports give equal bytes: the time is that of the report, and the serial number
    follows from its sha256.
    """
    made = stored.report.provenance
    source = {
        "type": "quality-metrics",
        "url": quote(stored.file.name),
        "comment": "The report of mipaudit that the figures are from.",
        "hashes": _hashes(stored.file.sha256),
    }
    model = {
        "type": "machine-learning-model",
        "bom-ref": "model",
        "name": stored.called,
        "externalReferences": [source],
        "modelCard": _card(stored),
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
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'urn:sha256:{stored.file.sha256}')}",
        "version": 1,
        "metadata": {
            "timestamp": time_of(made.created).strftime(TIME_FORM),
            "tools": {"components": [tool]},
            "component": model,
        },
        "components": read,
    }
    return json.dumps(whole, indent=2) + "\n"


def _card(stored: Stored) -> dict[str, Any]:
    walk = stored.walk
    declared = declared_pairs(stored.report.provenance.declared)
    said = (
        ("verdict", walk.answer),
        ("summary", walk.about),
        *((f"declared:{term}", text) for term, text in declared),
        *((f"limit:{one.status}", f"{case_name(one)}: {one.text}") for one in walk.cases),
    )
    return {
        "quantitativeAnalysis": {"performanceMetrics": [*map(_metric, figures(stored.report))]},
        "considerations": {
            "technicalLimitations": [
                f"{head}: {text}" for head, text in list_items(walk.sections())
            ]
        },
        "properties": [
            {"name": f"mipaudit:{name}", "value": plain(text)} for name, text in said if text
        ],
    }


def _metric(one: Figure) -> dict[str, Any]:
    """Return a figure, of which the schema has every number as text: no limit is ``none``."""
    found = {"type": one.of, "value": one.value or "not known", "slice": one.about}
    if one.lower is None:
        return found
    return found | {"confidenceInterval": {"lowerBound": one.lower, "upperBound": one.upper}}


def _hashes(sha256: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": sha256}]
