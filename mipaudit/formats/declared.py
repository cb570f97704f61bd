"""What was declared, which nobody checked, and what follows from it and from what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import (
    AT_LEAST,
    AT_MOST,
    BEST_ESTIMATE,
    Heading,
    Note,
    Pairs,
    Paragraph,
    Section,
    class_grids,
    quoted,
)
from mipaudit.statements.origin import value_words
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text, number_text, percent_text

if TYPE_CHECKING:
    from mipaudit.statements.estimate import Design, Estimate
    from mipaudit.statements.origin import Setting
    from mipaudit.statements.sources import Declaration

_TERMS: Final = {
    "release": "released",
    "data": "trained on",
    "subjects": "people",
    "sensitivity": "sensitivity",
    "controller": "controller",
    "seen_by": "seen by",
    "author": "answers for this report",
}
_SEEN_BY: Final = {"query-access": "whoever may query it"}
_LONGEST: Final = 200
_UNSTATED: Final = ": the default; nobody declared how many of them were in the training data"


def declared_pairs(said: Declaration | None) -> tuple[tuple[str, str], ...]:
    """Return what was declared of a release, as terms and texts; the title stands elsewhere."""
    found = ((term, getattr(said, name, None)) for name, term in _TERMS.items())
    return tuple((term, _words(value)) for term, value in found if value is not None)


def _words(value: str | int) -> str:
    if isinstance(value, int):
        return count_text(value)
    return safe_name(_SEEN_BY.get(value, value_words(value)), longest=_LONGEST)


def declared_section(said: Declaration | None) -> Section:
    """Return what was declared; nothing where nothing was."""
    pairs = declared_pairs(said)
    note = Note(text="As whoever made the report says; nobody checked it.")
    return (Heading(text="What was declared"), Pairs(pairs=pairs), note) if pairs else ()


def people_section(
    rows: Sequence[Estimate], design: Design, said: Declaration | None, settings: Iterable[Setting]
) -> Section:
    """Return how many of the declared people are expected to be found out, with limits.

    Of the score that leaks most for sure: the limits of all scores hold together. The settings
    say whether anybody stated the prior.
    """
    people = 0 if said is None or said.subjects is None else said.subjects
    shown = _strongest(rows)
    if people < 1 or not shown:
        return ()
    prior = Fraction(design.prior)
    chance = abs(2 * prior - 1)

    def expected(advantage: float | None, whole: Callable[[Fraction], int], missing: str) -> str:
        if advantage is None:
            return missing
        return count_text(whole(people * max(Fraction(advantage) - chance, Fraction(0)) / 2))

    cells = [
        (
            one.attackers,
            (
                expected(one.lower, floor, "-"),
                expected(one.value, round, "-"),
                expected(one.upper, ceil, one.unlimited),
            ),
        )
        for one in shown
    ]
    name = quoted(shown[0].score)
    unstated = any((one.name, one.source) == ("prior", "default") for one in settings)
    return (
        Heading(text=f"What it means for the {count_text(people)} people declared"),
        Paragraph(
            text=f"Of {count_text(people)} people, each in the training data with probability "
            f"{number_text(design.prior)} (the prior of the audit{_UNSTATED if unstated else ''}), "
            "the best attacker is expected to be right about so many "
            "more than somebody who gives the likelier answer for everybody: their number times "
            "(accuracy - max(p, 1 - p))."
        ),
        *class_grids(
            "People whose membership is guessed right, beyond blind guessing",
            "by the score",
            (AT_LEAST, BEST_ESTIMATE, AT_MOST),
            [(name, attackers, words) for attackers, words in cells],
        ),
        Note(
            text="It takes the audited records for a random sample of these people's, one each: "
            "members of those who are in the training data, holdout of the others. Limits hold "
            f"with {percent_text(design.confidence)} confidence, as those of the advantage."
        ),
    )


def _strongest(rows: Sequence[Estimate]) -> list[Estimate]:
    """Return the advantages of the score with the highest lower limit that holds."""
    valid = [
        one
        for one in rows
        if one.quantity == "advantage"
        and one.validity != "not-an-interval"
        and one.attackers != "noised-query"
    ]
    best = max(valid, key=lambda one: (one.lower or 0.0, one.value or 0.0), default=None)
    return [one for one in valid if best is not None and one.score == best.score]
