"""What a page of ``estimate`` says first, to who never heard of an advantage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from mipaudit.commands.estimate.page import mood
from mipaudit.commands.estimate.words import AVERAGE
from mipaudit.evidence.judgement.implication import strongest_implication
from mipaudit.evidence.scores.rows import joint_p_value
from mipaudit.formats.html_page import (
    ALIKE,
    NEITHER,
    Front,
    confidence_words,
    limit_fact,
    member_words,
    only_tried,
)
from mipaudit.formats.policy.blocks import limit_name
from mipaudit.formats.policy.judged import UNDECIDED, verdict_head
from mipaudit.report.messages.told import told
from mipaudit.statements.copies import accepted_words
from mipaudit.statements.policy import against_phrase, restatement, settling_words
from mipaudit.statements.text.guesses import (
    advantage_words,
    blind_guesser,
    compared,
    guess_words,
    right_at_least,
    right_at_most,
    simple_kind,
)
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import number_text, upper_text
from mipaudit.statements.verdict import COMMON, COPIES, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.commands.estimate.report import Report
    from mipaudit.evidence.judgement.blind import Blind
    from mipaudit.formats.brief import Brief
    from mipaudit.statements.copies import Copies
    from mipaudit.statements.estimate import Attackers, Estimate
    from mipaudit.statements.policy import PolicyCheck

_LONGEST: Final = 2000
_FEW: Final = 4  # more scores are counted, not named
_UNSAID: Final = {
    "met": "To pass does not prove that nothing leaks.",
    "waived": "That somebody accepts a limit that is not kept makes no release safer.",
    "not_met": "More may leak than is shown: the figure is what leaks at least.",
    "inconclusive": "That nothing was decided does not mean that nothing leaks.",
    "no_policy": "That little is shown does not prove that little leaks.",
}


class Guesses(NamedTuple):
    """A check of the policy on the scale of the advantage, at the prior of the check."""

    lower: float
    upper: float | None
    limit: float
    prior: float
    against: Attackers

    @property
    def marks(self) -> tuple[float, float]:
        """With what its limits are compared."""
        return self.limit, abs(2 * self.prior - 1)

    @property
    def compared(self) -> str:
        """The same in words."""
        return compared(self.prior, self.limit)


def estimate_front(report: Report, brief: Brief) -> Front:
    """Return the answer in guesses, with what a reader must know beside it.

    Args:
        report: as answered.
        brief: its answer for a terminal, where guesses cannot say it.
    """
    judged = report.verdict.status != "no_policy"
    answer = (_verdict(report) if judged else _found(report)) or brief.answer
    plainly = answer != brief.answer
    design = report.design
    term = (("Guessing right", guess_words(design.prior)),) if plainly else ()
    settings = report.rejudged.settings if report.rejudged else report.provenance.settings
    return Front(
        answer=answer,
        mood=mood(report) if judged or report.claims else "plain",
        first=tuple(_copies(report)),
        also=tuple(_also(report)),
        figures=_figures(report) if judged and plainly else "",
        facts=(
            ("tried", _tried(report)),
            ("with", member_words(design.n_members, design.n_holdout)),
            limit_fact(report.policy, settings),
        ),
        terms=(
            *term,
            ("Advantage", advantage_words(design.prior)),
            confidence_words(design.confidence),
        ),
        unsaid=(
            AVERAGE,
            only_tried(len(design.score_columns)),
            ALIKE,
            _UNSAID[report.verdict.status],
        ),
        told=(COPIES, COMMON),
    )


def _tried(report: Report) -> str:
    names = report.design.score_columns
    shown = ", ".join(f"'{safe_name(one)}'" for one in names[:_FEW])
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"what can be told from the score{'s' * (len(names) > 1)} {shown}{more}"


def _copies(report: Report) -> Iterator[str]:
    """Say what was released word for word, and whether the verdict counts it."""
    copies: Copies | None = report.copies
    if copies is None or not copies.members + copies.holdout:
        return
    limit = next((int(one.limit) for one in report.policy if one.quantity == "copies"), None)
    if limit is not None:
        said = f"{accepted_words(copies, limit).capitalize()}."
    elif copies.chance:
        said = "Such rows are common."
    elif UNLIMITED in {one.code for one in report.verdict.reasons}:
        said = "No limit on copies was set: nothing is met."
    else:
        said = "No limit on copies was set: they do not count in what follows."
    of = f"{copies.of_members}, and {copies.of_holdout},"
    yield f"{of} stand in the release word for word. {said}"


def _verdict(report: Report) -> str:
    """Return the verdict in guesses; empty where it does not rest on an advantage."""
    verdict = report.verdict
    check = _deciding(report)
    guesses = None if check is None else _guesses(check, report.design.prior)
    if check is None or guesses is None:
        return ""
    head = verdict_head(report, COPIES)
    match verdict.status:
        case "not_met":
            least = right_at_least(guesses.lower, guesses.marks)
            return (
                f"{head}: whoever sees the score '{safe_name(check.score)}' can guess whose "
                f"records were used, and be right at least {least} times in 100 "
                f"({guesses.compared})."
            )
        case "met":
            return f"{head}{_met(report, guesses)}"
        case _:
            return f"{head}: {UNDECIDED}"


def _figures(report: Report) -> str:
    """Return what decided, as a statistician would say it."""
    check = _deciding(report)
    guesses = None if check is None else _guesses(check, report.design.prior)
    if check is None or guesses is None:
        return ""
    if check.status != "inconclusive" or guesses.lower > guesses.marks[1]:
        return f"{safe_name(told(report.verdict.reasons[0]), longest=_LONGEST)}."
    most = "no upper limit" if check.upper is None else f"at most {upper_text(check.upper)}"
    return (
        f"score '{safe_name(check.score)}': {check.quantity} {most} "
        f"{against_phrase(check.against)}; the limit is {number_text(check.limit)}: "
        f"{settling_words(check)}."
    )


def _deciding(report: Report) -> PolicyCheck | None:
    """Return the check that the verdict names first; of one that is met, the closest."""
    status = report.verdict.status
    checks = [one for one in report.policy if one.waived is None]
    if status == "met":
        within = [one for one in checks if one.upper is not None]
        sole = len({(one.quantity, one.limit, one.against, one.prior) for one in checks}) == 1
        return max(within, key=lambda one: one.upper or 0.0) if sole and within else None
    found = next((one for one in checks if one.status == status or one.expired is not None), None)
    first = report.verdict.reasons[0]
    # What else decides, such as parts of the input that were left out, has words of its own.
    return found if found is not None and first.holds(found.reason) and not found.expired else None


def _guesses(check: PolicyCheck, prior: float) -> Guesses | None:
    """Return a check in guesses; None where it is about something else."""
    at = prior if check.prior is None else check.prior
    if check.quantity not in {"advantage", "excess", "eta", "accuracy"} or check.blind is not None:
        return None
    scale, shift = restatement(check.quantity, at)
    return Guesses(
        lower=((check.lower or 0.0) - shift) / scale,
        upper=None if check.upper is None else (check.upper - shift) / scale,
        limit=(check.limit - shift) / scale,
        prior=at,
        against=check.against,
    )


def _met(report: Report, guesses: Guesses) -> str:
    """Return for whom the limit is kept, how well they guess, and who else may do better."""
    most = right_at_most(guesses.upper or 0.0, guesses.marks)
    scores = "the score" if len(report.design.score_columns) == 1 else "any one of the scores"
    if guesses.against == "any":
        return (
            f": nobody who sees {scores} guesses right more often than {most} times in 100 whose "
            f"records were used ({guesses.compared})."
        )
    return (
        f", for attackers of a simple kind: those who {simple_kind(guesses.against)} are right at "
        f"most {most} times in 100 ({guesses.compared}). For cleverer ones this "
        "test rules nothing out."
    )


def _open(check: PolicyCheck, guesses: Guesses) -> str:
    """Return between what an open limit lies."""
    blind = guesses.marks[1]
    who = f"whoever sees the score '{safe_name(check.score)}'"
    if guesses.lower > blind:
        least = right_at_least(guesses.lower, guesses.marks)
        shown = f"{who[0].upper()}{who[1:]} can guess right at least {least} times in 100"
    else:
        shown = f"It is not shown that {who} guesses better than {blind_guesser(guesses.prior)}"
    return f"{shown}; {_most(guesses.upper, guesses.against, guesses.marks)} ({guesses.compared})."


def _most(upper: float | None, against: Attackers, marks: Sequence[float]) -> str:
    if upper is None:
        return "no upper limit can be given"
    most = f"right at most {right_at_most(upper, marks)} times in 100"
    if against == "any":
        return f"nobody is right more often than {right_at_most(upper, marks)} times in 100"
    return (
        f"attackers of a simple kind, who {simple_kind(against)}, are {most}, and cleverer ones "
        "may be right more often"
    )


def _found(report: Report) -> str:
    """Return what was found where there is no limit; empty where there is a claim."""
    if report.claims:
        return ""
    prior, blind = report.design.prior, report.design.baseline
    rows = [one for one in report.estimates if one.quantity == "advantage" and _counts(one)]
    first = max((one for one in rows if one.attackers == "any"), key=lambda one: one.lower or 0.0)
    lower = first.lower or 0.0
    if lower > blind and report.blind is not None:
        return f"{_beyond(report.blind, first, prior)} {NEITHER}"
    if lower > blind:
        least = right_at_least(lower, (blind,))
        return (
            f"Whoever sees the score '{safe_name(first.score)}' can guess whose records were used, "
            f"and be right at least {least} times in 100 ({compared(prior)}). {NEITHER}"
        )
    own = [one for one in rows if one.score == first.score and one.upper is not None]
    widest = max(own, key=lambda one: (one.attackers == "any", one.upper), default=None)
    one = f"the score '{safe_name(first.score)}'"
    who = one if len(report.design.score_columns) == 1 else "one of the scores"
    most = "" if widest is None else f"; with {one}, {_most(widest.upper, widest.attackers, ())}"
    return (
        f"It is not shown that anybody who sees {who} guesses better than {blind_guesser(prior)} "
        f"who was in the data{most} ({compared(prior)}). {NEITHER}"
    )


def _beyond(blind: Blind, first: Estimate, prior: float) -> str:
    """Return what the score tells that the records alone do not, as far as is known."""
    guessing = abs(2 * prior - 1)
    found = max(blind.excess, key=lambda one: one.lower, default=None)
    if found is not None and found.lower > guessing:
        sure = "" if blind.bound is None else ", if what is asserted of the records is so"
        least = right_at_least(found.lower, (guessing,))
        return (
            f"Among records that are alike whoever sees the score '{safe_name(found.score)}' can "
            f"guess which were used, and be right at least {least} times in 100 "
            f"({compared(prior)}){sure}."
        )
    least = right_at_least(first.lower or 0.0, (guessing,))
    return (
        f"Whoever sees the score '{safe_name(first.score)}' can guess which group a record is "
        f"from, and be right at least {least} times in 100 ({compared(prior)}): but that may be "
        "because the groups differ, not because records were used."
    )


def _counts(row: Estimate) -> bool:
    return row.validity != "not-an-interval" and row.attackers != "noised-query"


def _also(report: Report) -> Iterator[str]:
    """Yield what is open, how the limits came out one by one, and what a second test found."""
    check = _deciding(report)
    guesses = None if check is None else _guesses(check, report.design.prior)
    if check is not None and guesses is not None and check.status == "inconclusive":
        yield _open(check, guesses)
    if len(report.policy) > 1:
        count = Counter(one.status for one in report.policy)
        alike = len({limit_name(one) for one in report.policy}) == 1
        what = "scores" if alike else "comparisons of a score with a limit"
        yield (
            f"Of {len(report.policy)} {what}, {count['not_met']} above the limit, "
            f"{count['inconclusive']} undecided, {count['met']} within it."
            + (f" Waivers accept {report.verdict.waived} of them." if report.verdict.waived else "")
        )
    yield from _second(report)


def _second(report: Report) -> Iterator[str]:
    """Say that an exact test, or a figure of its own, finds what the advantage does not show."""
    lowers = [
        one.lower or 0.0
        for one in report.estimates
        if one.quantity == "advantage" and one.attackers == "any" and _counts(one)
    ]
    if max(lowers) > report.design.baseline:
        return
    p = joint_p_value(report.estimates)
    if p is not None and p <= 1 - report.design.confidence:
        yield (
            "But a second, exact test finds that scores of members and holdout differ (p = "
            f"{upper_text(p)}): because members were used, or because the groups differ otherwise. "
            "How much can be told from it is open: do not read this page as 'nothing leaks'."
        )
    elif strongest_implication(report.estimates, report.design.prior) is not None:
        yield "But another figure below is above chance, at a confidence of its own."
