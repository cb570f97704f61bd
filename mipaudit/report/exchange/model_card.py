"""A report in a model card of Hugging Face: the ``model-index`` of its head, and a section."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from mipaudit.report.blocks import Bullets, Grid, Heading, Pairs, Paragraph, list_items, plain
from mipaudit.report.exchange.stored import AT_LEAST, AT_MOST, NONE, case_name, figures
from mipaudit.report.markdown import blocks_markdown
from mipaudit.report.origin import declared_pairs

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
    yield Heading("Who was in the training data: what the audit found")
    yield from (Paragraph(text) for text in (walk.answer, walk.about) if text)
    if found:
        yield Grid(
            caption="Figures",
            head=("figure", "of, and for whom", AT_LEAST, "best estimate, or known", AT_MOST),
            rows=tuple((one.of, one.about, *_in_words(one)) for one in found),
            words=2,
        )
    yield judged_grid(walk.cases)
    if declared := declared_pairs(made.declared):
        yield Heading("What was declared, and nobody checked", level=3)
        yield Pairs(declared)
    yield Heading("What this does not say, and what it rests on", level=3)
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
