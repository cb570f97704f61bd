"""A report in a model card of Hugging Face: the ``model-index`` of its head, and a section."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from mipaudit.formats.declared import declared_pairs
from mipaudit.formats.document import (
    AT_LEAST,
    AT_MOST,
    Bullets,
    Grid,
    Heading,
    Pairs,
    Paragraph,
    bullets_of,
    plain,
)
from mipaudit.formats.exchange.stored import figures
from mipaudit.formats.markdown import blocks_markdown
from mipaudit.formats.report_forms import document_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.formats.document import Block, Document
    from mipaudit.formats.exchange.stored import Figure, Stored

_TASK: Final = {"type": "membership-inference", "name": "Membership inference"}
_VALUE: Final = "best estimate, or known"
_STATUS: Final = {
    "passed": "met",
    "failed": "NOT MET",
    "open": "open",
    "waived": "WAIVED",
    "skipped": "not judged",
}


def model_card(stored: Stored) -> str:
    """Return the head of a card in YAML, and its section in Markdown."""
    found = figures(stored.report)
    result = {
        "task": _TASK,
        "dataset": {"type": "members-and-holdout", "name": stored.read},
        "metrics": [metric for one in found for metric in _metrics(one)],
    }
    head = {"model-index": [{"name": stored.called, "results": [result]}]}
    section = blocks_markdown(_section(stored, document_of(stored.report), found))
    return "\n".join(("---", *_yaml(head), "---", "", section))


def _metrics(one: Figure) -> Iterator[dict[str, Any]]:
    """Yield the numbers of a figure; a limit that there is not is said in the section."""
    known = one.lower is None
    columns = ((AT_LEAST, one.lower), ("" if known else "best estimate", one.value))
    for column, text in (*columns, (AT_MOST, one.upper)):
        if text is not None and text[-1].isdigit():
            words = f"{one.of} {column}".strip()
            name = f"{words} ({one.about})" if one.about else words
            yield {"type": words.replace(" ", "_"), "value": float(text), "name": name}


def _section(stored: Stored, document: Document, found: tuple[Figure, ...]) -> Iterator[Block]:
    yield Heading("Who was in the training data: what the audit found")
    if document.headline:
        yield Paragraph(document.headline)
    if document.summary:
        yield Paragraph(document.summary)
    if found:
        yield _figures(found)
    yield judged_grid(document)
    if declared := declared_pairs(stored.report.provenance.declared):
        yield Heading("What was declared, and nobody checked", level=3)
        yield Pairs(declared)
    yield Heading("What this does not say, and what it rests on", level=3)
    yield Bullets(tuple(text for _, text in bullets_of(document)))
    made = stored.report.provenance
    yield Pairs(
        (
            ("report", f"{stored.file.name}, sha256 {stored.file.sha256}"),
            ("made", f"{made.created} (UTC), by mipaudit {made.mipaudit}"),
        )
    )


def judged_grid(document: Document) -> Grid:
    """Return what a report judged: each limit, what came of it and why, with its waiver."""
    return Grid(
        caption="What was judged",
        head=("limit", "status", "why"),
        rows=tuple(
            (f"{plain(one.group)}: {plain(one.name)}", _STATUS[one.status], plain(one.text))
            for one in document.cases
        ),
        words=2,
        prose=True,
    )


def _figures(found: tuple[Figure, ...]) -> Grid:
    return Grid(
        caption="Figures",
        head=("figure", "of, and for whom", AT_LEAST, _VALUE, AT_MOST),
        rows=tuple((one.of, one.about, *one.in_words) for one in found),
        words=2,
    )


def _yaml(value: Any) -> Iterator[str]:  # noqa: ANN401 - lists and objects, none of them empty
    """Yield lists and objects as lines of YAML, every text in quotes: none means anything else.

    What JSON has in quotes, of characters that are printed, YAML reads alike.
    """
    if isinstance(value, list):
        for one in value:
            first, *rest = _yaml(one)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
        return
    for key, one in value.items():
        if isinstance(one, (dict, list)) and one:
            yield f"{key}:"
            yield from (f"  {line}" for line in _yaml(one))
        else:
            yield f"{key}: {_scalar(one)}"


def _scalar(value: Any) -> str:  # noqa: ANN401
    text = json.dumps(value, ensure_ascii=False)
    # Without a point YAML 1.1 takes it for a text.
    return text.replace("e", ".0e") if isinstance(value, float) and "." not in text else text
