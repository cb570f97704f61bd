"""What a report found, as others take it: in a model card, a bill of materials, as metrics."""

from __future__ import annotations

import json
import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from mipaudit.report.blocks import Bullets, Grid, Pairs, Text, list_items, plain
from mipaudit.report.exchange.stored import (
    AT_LEAST,
    AT_MOST,
    NONE,
    case_name,
    figures,
    input_name,
    printable,
    sha256_of,
)
from mipaudit.report.markup import blocks_markdown
from mipaudit.report.origin import declared_pairs
from mipaudit.statements.provenance import TIME_FORM, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.report.blocks import Block, Case
    from mipaudit.report.exchange.stored import Figure, Stored

_STATUS: Final = {"passed": "met", "failed": "NOT MET", "waived": "WAIVED", "skipped": "not judged"}


def model_card(stored: Stored) -> str:
    """Return the head of a card in YAML, and its section in Markdown."""
    found = figures(stored.report)
    result = {
        "task": {"type": "membership-inference", "name": "Membership inference"},
        "dataset": {"type": "members-and-holdout", "name": stored.read},
        "metrics": [metric for one in found for metric in _metrics(one)],
    }
    head = {"model-index": [{"name": stored.called, "results": [result]}]}
    section = blocks_markdown(_section(stored, found))
    return "\n".join(("---", *_yaml(head), "---", "", section))


def _metrics(one: Figure) -> Iterator[dict[str, Any]]:
    """Yield the numbers of a figure; a limit that there is not is said in the section."""
    for column, number in one.numbers:
        words = f"{one.of} {column}".strip()
        name = f"{words} ({one.about})" if one.about else words
        yield {"type": words.replace(" ", "_"), "value": number, "name": name}


def _section(stored: Stored, found: tuple[Figure, ...]) -> Iterator[Block]:
    walk, made = stored.walk, stored.report.provenance
    yield Text("Who was in the training data: what the audit found", "h2")
    yield from (Text(text) for text in (walk.answer, walk.about) if text)
    if found:
        yield Grid(
            caption="Figures",
            head=("figure", "of, and for whom", AT_LEAST, "best estimate, or known", AT_MOST),
            rows=tuple((one.of, one.about, *_in_words(one)) for one in found),
            words=2,
        )
    yield judged_grid(walk.cases)
    if declared := declared_pairs(made.declared):
        yield Text("What was declared, and nobody checked", "h3")
        yield Pairs(declared)
    yield Text("What this does not say, and what it rests on", "h3")
    yield Bullets(tuple(text for _, text in list_items(walk.sections())))
    yield Pairs(
        (
            ("report", f"{stored.file.name}, sha256 {stored.file.sha256}"),
            ("made", f"{made.created} (UTC), by mipaudit {made.mipaudit}"),
        )
    )


def judged_grid(cases: Sequence[Case]) -> Grid:
    """Return what a report judged: each limit, what came of it and why, with its waiver."""
    return Grid(
        caption="What was judged",
        head=("limit", "status", "why"),
        rows=tuple(
            (case_name(one), _STATUS.get(one.status, one.status), plain(one.text)) for one in cases
        ),
        words=2,
        prose=True,
    )


def _in_words(one: Figure) -> Iterator[str]:
    """Yield at least, the value and at most; "at least none" would read as no leak."""
    missing = ("no lower limit", "-", "no upper limit")
    for (_, text), absent in zip(one.columns, missing, strict=True):
        yield absent if text == NONE else text or "-"


def _yaml(value: Any) -> Iterator[str]:  # noqa: ANN401 - lists and objects, none of them empty
    """Yield lists and objects as lines of YAML, every text in quotes: none means anything else.

    What JSON has in quotes, of characters that are printed, YAML reads alike.
    """
    if isinstance(value, list):
        for one in value:
            first, *rest = _yaml(one)
            yield from (f"- {first}", *(f"  {line}" for line in rest))
        return
    for key, one in value.items():
        if isinstance(one, (dict, list)) and one:
            yield from (f"{key}:", *(f"  {line}" for line in _yaml(one)))
            continue
        text = json.dumps(one, ensure_ascii=False)
        # Without a point YAML 1.1 takes such a number for a text.
        plain_float = isinstance(one, float) and "." not in text
        yield f"{key}: {text.replace('e', '.0e') if plain_float else text}"


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


# MLflow takes these and a slash, at most 250 characters, and nothing that a path would shorten.
_PLAIN: Final = re.compile(r"\w[\w.-]{0,39}", re.ASCII)
_OTHER: Final = re.compile(r"[^A-Za-z0-9_.-]+|^\.+")
_LONGEST: Final = 31
_LONGEST_WORD: Final = 60
_OF_DATA: Final = frozenset({"score", "group", "versus", "report", "name"})
# What a case is called here: nobody can tell yet whether an open one is met; a skipped one is let
# pass, or there was nothing to judge.
_CASES: Final = {"passed": "met", "failed": "not_met"}
_STATUSES: Final = ("passed", "failed", "open", "waived", "skipped")


def metrics(stored: Stored) -> str:
    """Return one JSON object: a name for each number, none for a limit that there is not.

    A name is the quantity, what tells it apart (score, class of attackers), and ``at_least``,
    ``best_estimate``, ``at_most`` or, of what is known, ``value``. ``confidence`` is the least
    that a limit holds with, ``limits/met`` and its like count the limits of the policy.
    """
    found = figures(stored.report)
    sure = [one.confidence for one in found if one.confidence is not None]
    statuses = Counter(str(case.status) for case in stored.walk.cases)
    numbers = dict(_named(found))
    if sure:
        numbers["confidence"] = min(sure)
    numbers |= {f"limits/{_CASES.get(one, one)}": statuses[one] for one in _STATUSES}
    return json.dumps(numbers, indent=2, allow_nan=False) + "\n"


def _named(found: tuple[Figure, ...]) -> Iterator[tuple[str, float]]:
    """Yield names and numbers; figures that would have one name are numbered from the second.

    Capitals do not tell names apart: MLflow makes files of them, which some systems do not.
    """
    taken: Counter[str] = Counter()
    for one in found:
        name = "/".join((_word(one.of), *(_part(*label) for label in one.labels)))
        taken[plain := name.lower()] += 1
        name += f"/{taken[plain]}" if taken[plain] > 1 else ""
        for column, number in one.numbers:
            yield f"{name}/{column.replace(' ', '_') or 'value'}", number


def _part(label: str, text: str) -> str:
    """Return a part of a name; one of the data that has to change ends in a digest: none meet."""
    if label not in _OF_DATA or _PLAIN.fullmatch(text):
        return _word(text)
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_OTHER.sub('_', text)[:_LONGEST]}-{digest}"


def _word(text: str) -> str:
    return _OTHER.sub("_", text)[:_LONGEST_WORD] or "_"
