"""How the answer of a report with limits begins, whatever the kind of report."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_OF: Final = "[ ({alike:count} of {limits:count} limits)]"
_BESIDE: Final = (
    "[, assuming that {assuming}][, with {waived:count} {waived:waiver|waivers}]"
    "[; records are released word for word{copies:said}]"
    "[; columns that may be scores were left out{left_out:said}]"
    "[; a waiver matches no limit{unmatched:said}]: {reason}."
)
_PASSES: Final = (
    "[, which this policy lets pass{passes:said}][, which this policy counts as a failure"
    "{fails:said}]"
)

_LITTLE: Final = "That little is shown does not prove that little leaks."

ENTRIES: Final = {
    "answer_met": Entry(
        "MET[, by these attackers alone{alone:said}]" + _OF + _BESIDE,
        mood="good",
        unsaid="To pass does not prove that nothing leaks.",
    ),
    "answer_waived": Entry(
        "WAIVED" + _OF + _BESIDE,
        mood="open",
        unsaid="That somebody accepts a limit that is not kept makes no release safer.",
    ),
    "answer_not_met": Entry(
        "NOT MET" + _OF + _BESIDE,
        mood="bad",
        unsaid="More may leak than is shown: the figure is what leaks at least.",
    ),
    "answer_inconclusive": Entry(
        "INCONCLUSIVE" + _OF + _PASSES + _BESIDE,
        mood="open",
        unsaid="That nothing was decided does not mean that nothing leaks.",
    ),
    # Of a claim of differential privacy, where there is no limit.
    "answer_contradicted": Entry("CONTRADICTED" + _BESIDE, mood="bad"),
    "answer_consistent": Entry("CONSISTENT" + _BESIDE, unsaid=_LITTLE),
    "answer_vacuous": Entry("VACUOUS" + _BESIDE, unsaid=_LITTLE),
    "answer_not_comparable": Entry("NOT COMPARABLE" + _BESIDE, mood="open", unsaid=_LITTLE),
}
