"""What a page of ``bounds`` says first, to who never heard of an advantage, and its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.bounds.page import READINGS, guarantee_name, success_sentences
from mipaudit.formats.html_page import Front, front_of
from mipaudit.formats.promised import Point, Promise, promise_name, promised
from mipaudit.statements.text.guesses import advantage_words, compared, guess_words, right_at_most
from mipaudit.statements.text.rounding import percent_text, upper_figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.bounds.readings import Allowance
    from mipaudit.commands.bounds.report import BoundsReport
    from mipaudit.formats.brief import Brief
    from mipaudit.formats.document import Picture

_NOTHING: Final = "Nothing was measured: this is what a promise allows, not what a release does."
_KEPT: Final = "Whether the promise is kept was not looked at."
_UNSAID: Final = "Which reading the promise has was not said: the harsher one counts."
_CERTAIN: Final = 1.0


def bounds_front(report: BoundsReport, brief: Brief) -> Front:
    """Return the most that a promise allows in guesses, the harsher reading first.

    Args:
        report: as answered.
        brief: its answer for a terminal, where no promise was asked about.
    """
    if report.guarantee is None or report.attacker is None:
        return front_of(brief, report.limitations)._replace(subject="What bounds say")
    stated, prior = report.guarantee, report.attacker.prior
    allowed = (report.attacker, *report.other_readings)
    harsher = max(allowed, key=lambda one: one.advantage)
    return Front(
        answer=(
            f"While the promise is kept, nobody guesses right more often than {_times(harsher)} "
            f"times in 100 whose records were used ({compared(prior)})."
        ),
        mood="plain",
        first=(_NOTHING,),
        also=(
            *success_sentences(allowed),
            *_milder(harsher, allowed),
            *([_UNSAID] if stated.adjacency_assumed else []),
        ),
        figures=brief.answer,
        subject=f"The promise of {guarantee_name(stated)}",
        terms=(
            ("Guessing right", guess_words(prior)),
            ("Advantage", advantage_words(prior)),
            _certain(allowed),
        ),
        unsaid=(_KEPT, *report.limitations),
    )


def _milder(harsher: Allowance, allowed: tuple[Allowance, ...]) -> Iterator[str]:
    """Say by which reading the answer is, and what the others allow."""
    for one in allowed:
        if one is not harsher:
            yield (
                f"That is by the reading '{READINGS[harsher.game]}'; by '{READINGS[one.game]}' it "
                f"is at most {_times(one)} times in 100."
            )


def _times(one: Allowance) -> str:
    return right_at_most(min(1.0, one.advantage), (abs(2 * one.prior - 1),))


def _certain(allowed: tuple[Allowance, ...]) -> tuple[str, str]:
    """Return what the certainty in the tables is, which an average over records hides."""
    worst = max(one.posterior_limit for one in allowed)
    if worst < _CERTAIN:
        return ("At worst", f"no output makes anybody more than {upper_figure(worst)} sure of one.")
    return ("At worst", "outputs that give a record away for certain are not ruled out.")


def bounds_pictures(report: BoundsReport) -> Iterator[Picture]:
    """Yield the trade-off of the guarantee at its epsilon and delta, if it has an epsilon.

    Where nobody said which neighbours it is about, both readings are drawn, the harsher first.
    """
    stated, attacker = report.guarantee, report.attacker
    if stated is None or attacker is None or stated.epsilon is None:
        return
    promise = Promise(stated.epsilon, stated.delta, twice=stated.adjacency == "add-remove")
    name = promise_name(promise)
    promises = [(name, promise)]
    if stated.adjacency_assumed:
        (harsher,) = report.other_readings
        promises = [
            (f"{name}, {READINGS[harsher.game]}", promise._replace(twice=True)),
            (f"the same, {READINGS[attacker.game]}", promise._replace(twice=False)),
        ]
        attacker = harsher
    points = [
        Point(float(rate), most, f"at most, at {percent_text(float(rate))} false alarms")
        for rate, most in attacker.tpr_at_fpr.items()
    ]
    yield promised(
        promises,
        points,
        caption="No attacker is above the line while the promise is kept; its own limits, "
        "which can be lower than those of its epsilon and delta, are marked.",
    )
