"""What a comparison, of queries or of reports, and a history answer and remark."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_RIGHT: Final = " {against:best_guessers} are right at least {least:more_least} "
_TIMES: Final = " times in 100 about whose records were used than with "
_ABOUT: Final = "whose records were used"
_CLEVERER: Final = "{against:cleverer}."
_BEFORE: Final = "With {score:quoted} of {report:quoted}" + _RIGHT
_THAT_OF: Final = "that of {versus:quoted}" + _CLEVERER
_FIGURE: Final = (
    "{score:quoted}[ in {report:quoted}]: {quantity:quantity}[ {against:class}] is at least "
    "{least:least} "
)
_REST: Final = " than before[ ({rest:count} more {rest:figure|figures} surely changed)]."
_FIGURES: Final = "Some figures of {report:quoted} are surely "
_SPEAKS: Final = (
    " being told of whose records were used; right guesses are not shown to have changed."
)

ENTRIES: Final = {
    "compared": Entry(
        "{found}[ {leaking}] No limit was given: no verdict.",
        unsaid="To tell no more than another is not to tell little.",
    ),
    "right_compared": Entry(
        "{found}[ {leaking}] No limit was set, so this page neither passes nor fails the release."
    ),
    # Of queries.
    "query_leaks_most": Entry(
        "{more:quoted} leaks most: at least {least:least} more than any other query, "
        "{against:class}."
    ),
    "query_leaks_more": Entry(
        "{more:quoted} leaks at least {least:least} more than {less:quoted}, {against:class}"
        "[ ({rest:count} more such {rest:difference|differences})]."
    ),
    "no_query_leaks_more": Entry(
        "No query is shown to leak more than another; {more:quoted} has the largest best "
        "estimate, {value:best} {against:class}."
    ),
    "queries_leak": Entry(
        "Membership leaks through {leaks:count} of {queries:count}: {score:quoted} gives an "
        "advantage of at least {lower:least}[ (blind guessing: {guessing:best})]."
    ),
    "no_query_leaks": Entry("None of them is shown to leak."),
    "one_size": Entry("{members:count} members, {holdout:count} holdout records"),
    "several_sizes": Entry("members and holdout records of several sizes"),
    # Of reports.
    "figure_grew": Entry(_FIGURE + "larger" + _REST),
    "figure_shrank": Entry(_FIGURE + "smaller" + _REST),
    "no_figure_changed": Entry("No figure is shown to have changed since {versus:quoted}."),
    # The same as right guesses, for everybody.
    "right_query_leaks_most": Entry(
        "With the query {more:quoted}"
        + _RIGHT
        + "more"
        + _TIMES
        + "any other of these queries"
        + _CLEVERER
    ),
    "right_query_leaks_more": Entry(
        "With the query {more:quoted}" + _RIGHT + "more" + _TIMES + "{less:quoted}" + _CLEVERER
    ),
    "right_no_query_leaks_more": Entry(
        "It is not shown that one of these queries tells more than another about " + _ABOUT + "."
    ),
    "right_queries_leak": Entry(
        "With {leaks:count} of {queries:count} queries somebody surely guesses better than by "
        "chance: with {score:quoted} right at least {lower:right_least} times in 100 "
        "({prior:compared})."
    ),
    "right_grew": Entry(_BEFORE + "more" + _TIMES + _THAT_OF),
    "right_shrank": Entry(_BEFORE + "fewer" + _TIMES + _THAT_OF),
    "right_figures_grew": Entry(
        _FIGURES + "larger than those of {versus:quoted}, which speaks for more" + _SPEAKS
    ),
    "right_figures_shrank": Entry(
        _FIGURES + "smaller than those of {versus:quoted}, which speaks for less" + _SPEAKS
    ),
    "right_no_figure_changed": Entry(
        "It is not shown that more can be told of "
        + _ABOUT
        + " than from {versus:quoted}, nor that less can."
    ),
    # What decided a verdict; those with `report` are of a score that both reports have.
    "right_increase_above": Entry(
        "with [the query {score:quoted}{report:unless}][the score {score:quoted} of "
        "{report:quoted}]"
        + _RIGHT
        + "more times in 100 than with [that of{report:said} ]{versus:quoted} (the limit: "
        "{limit:more})"
    ),
    "right_increase_within": Entry(
        "with [none of the queries{report:unless}][no score that both reports have{report:said}] "
        "{against:best_guessers} are right more than {most:more_most} more times in 100 than with "
        "[that of{report:said} ]{versus:quoted} (the limit: {limit:more}){against:cleverer}"
    ),
    "right_increase_open": Entry("this test neither passes nor fails the release"),
    # Remarks.
    "increase_limit": Entry("The limit: at most {limit:number} more than {versus:quoted}."),
    "leak_together": Entry(
        "Seen together, {score} leak at least {lower:least} more than the better one does "
        "{against:class}."
    ),
    "files_more_precise": Entry(
        "To compare the score files themselves is more precise (mipaudit compare FILE FILE)."
    ),
    # Why there is no limit of a change.
    "limit_lacking": Entry("the {which} report has no {side} limit[ and {also}]"),
    "other_side": Entry(
        "members are guessed at the high end of the score in one report, the low in the other"
    ),
    # Of reports over time.
    "newest_report": Entry("The newest report, {newest}.[ The one before, {before}.]"),
    "past_verdict": Entry("{report:quoted}: {verdict:verdict}[{note}]"),
    "verdict_beside": Entry(
        "[, assuming that {assuming:text}][, which this policy lets pass{passes:said}]"
        "[, which this policy counts as a failure{fails:said}]"
        "[; records are released word for word{copies:said}]"
        "[; columns that may be scores were left out{left_out:said}]"
        "[; a waiver matches no limit{unmatched:said}]"
    ),
    "history_verdicts": Entry(
        "{reports:count} {reports:report|reports} from {first:day} to {last:day}."
        "[ Of {judged:count} {judged:verdict|verdicts}: {tally:names}.]"
        "[ None has a verdict.{judged:unless}]"
        "[ All their limits hold together with at least {joint:percent} confidence.]"
    ),
}
