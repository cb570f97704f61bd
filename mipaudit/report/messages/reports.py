"""What is said of several reports together, and of this program itself."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry

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
_IN: Final = "DIFFERS in {parts:names}[ and {more:count} more]."
_MADE: Final = "The report of mipaudit {command}, made {made:text}, "
_SHORT: Final = (
    "[{ours:count} {ours:limit|limits} {ours:covers|cover} the truth less often than promised.]"
    "[No limit of ours covers the truth less often than it promises.{ours:unless}]"
)
_TWO: Final = "{old:quoted} and {new:quoted}"
_SAME: Final = "{reports:text} are of the same scores: whoever looks twice may keep one"
_MISSING: Final = "{library} is not installed. Try: {line:text}"
_BROKEN: Final = (
    "{library} {version} is installed, and cannot be loaded ({failure:text}). Try: {line:text}"
)
_OTHER_VERSION: Final = (
    "{library} {version} is installed, and mipaudit needs {wanted:text}. Try: {line:text}"
)

# What a comparison, of queries or of reports, and a history answer and remark.
COMPARE: Final = {
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

# What a report of ``verify`` answers and remarks.
VERIFY: Final = {
    "report_agrees": Entry("The report AGREES.", mood="good"),
    "report_differs": Entry("The report " + _IN, mood="bad"),
    "statement_of_pass": Entry("The statement AGREES: it says {result:text}.", mood="good"),
    "statement_agrees": Entry("The statement AGREES: it says {result:text}."),
    "statement_differs": Entry("The statement " + _IN, mood="bad"),
    # What was compared with what.
    "computed_the_same": Entry(
        _MADE + "follows from these [scores and {scored:said}]settings: all that it says, but for "
        "what is declared, was computed again and agrees."
    ),
    "computed_otherwise": Entry(
        _MADE + "does not agree with what was computed now.[ It was made by another version of "
        "mipaudit, which can be the reason.{other_version:said}]"
    ),
    "statement_follows": Entry(
        "It speaks of these files and says what {report} says, which [was{computed:said}]"
        "[was not{computed:unless}] computed again."
    ),
    "statement_is_not_so": Entry("It does not agree with what is there."),
    "digest_of_report": Entry("sha256 of the report: {sha256:text}"),
    "digest_of_page": Entry("sha256 of this page: {sha256:text}"),
    "digest_of_carried": Entry("sha256 of its report, as .json: {sha256:text}"),
}

# What `doctor`, `validate` and `simulate` say: of this program and of known truths.
ITSELF: Final = {
    # Of an installation.
    "installation_works": Entry(
        "Works: every library that is needed loads, and the known audit comes out to the digit."
        "[ {broken:count} optional {broken:library does|libraries do} not load or fit.]",
        mood="good",
    ),
    "known_audit_agrees": Entry("Works: the known audit comes out to the digit.", mood="good"),
    "installation_fails": Entry(
        "Does NOT WORK: {findings:count} {findings:finding|findings}.", mood="bad"
    ),
    # Of a validation.
    "validation_caught_nothing": Entry(
        "NOT VALIDATED: a method that is known to be invalid was not caught.", mood="bad"
    ),
    "limits_fall_short": Entry(
        "FALLS SHORT: {short:count} {short:limit|limits}, listed below.", mood="bad"
    ),
    "limits_hold": Entry(
        "HOLDS: no limit covers the truth less often than it promises.", mood="good"
    ),
    "methods_strict": Entry("strict methods"),
    "methods_default": Entry("default methods"),
    "validation_drawn": Entry(
        "{cells:count} {cells:cell|cells} of {files:count} {files:file|files} {cells:was|were} "
        "drawn from laws with known truth, and {limits:count} {limits:limit|limits} that mipaudit "
        "prints {limits:was|were} compared with it."
    ),
    "validation_short": Entry(
        _SHORT + "[ {theirs:count} {theirs:limit|limits} by methods that are known to be valid "
        "{theirs:covers|cover} it less often, too: the truths, or the run, are wrong.]"
    ),
    "shortfall_seen": Entry(
        "A limit that promises {nominal:share} and covers {coverage:percent} or less would have "
        "been found with a probability of {power:percent}.[ Dear limits were tried on fewer files, "
        "{files:count} or more of a cell: of those, one that covers {dear:percent} or less.]"
    ),
    "methods_caught": Entry(
        "[All {methods:count} methods that are known to be invalid were caught.]"
        "[No method that is known to be invalid was run.{methods:unless}]"
    ),
    "methods_not_caught": Entry(
        "Of {methods:count} methods that are known to be invalid these were not caught, so the run "
        "shows nothing: {missed:names}."
    ),
    "validation_enumerated": Entry(
        "Of a score of two values every file was audited, at {sizes:count} {sizes:size|sizes}: "
        "{limits:count} {limits:limit|limits}, of which {short:count} {short:misses|miss} more "
        "often than said."
    ),
    # Of a simulation.
    "truth_known": Entry(
        "Scenario {scenario}: {what:text}.[ The best attacker who sees {sees:text} has an "
        "advantage of {best:six_digits} at prior {prior:number}.]"
    ),
    "scenarios_listed": Entry("The truth is known of {scenarios:count} scenarios."),
    "rows_drawn": Entry(
        "[{members:count} {members:member|members} and {holdout:count} holdout "
        "{holdout:record|records}][{canaries:count} {canaries:canary|canaries}]"
        "[{splits:count} {splits:split|splits}]"
    ),
    "no_value": Entry("none: {reason:text}."),
    "guess_source": Entry("Guessing from {guess:text}: {source:text}."),
    "scenario_note": Entry("{note:text}"),
}

# What is to be known of several queries or reports together, and of an installation.
FOUND_IN_REPORTS: Final = {
    # Queries that are compared.
    "not_seen_together.many": Entry(
        "None of {pairs:number} pairs of scores of the same rows was looked at together: that is "
        "done for up to {most:number} pairs. Fewer scores (`score_col`), or `baseline` where it is "
        "not given, leave fewer pairs."
    ),
    "not_seen_together.constant": Entry(
        "{pairs:number} {pairs:pair|pairs} of scores of the same rows {pairs:was|were} not looked "
        "at together: one score of the pair is constant, and adds nothing to the other."
    ),
    "unmatched_rows": Entry(
        "Input {input:quoted}: {left_out:count} rows have a key that is not in every input and "
        "were left out; {matched:count} are compared."
    ),
    # Reports that are compared.
    "confidence_differs": Entry(
        "The limits of " + _TWO + " hold with different confidence, {old_confidence:percent} and "
        "{new_confidence:percent}."
    ),
    "strict_differs": Entry(
        "Of " + _TWO + ", one was made with `strict` and the other without: the limits of one are "
        "wider than need be."
    ),
    "settings_differ": Entry(
        _TWO + " were made with different settings: {settings:text}. The scores may be of "
        "different records, or mean something else.",
        serious=True,
    ),
    "versions_differ": Entry(
        _TWO + " were made by different versions of mipaudit, {old_version} and {new_version}."
    ),
    "same_input": Entry(_TWO + " were made from the same input file, or share one.", serious=True),
    "side_differs": Entry(
        "Score {score:quoted}: members are guessed at the high end in one of " + _TWO + ", at the "
        "low end in the other. AUC and TPR at FPR are those of different guesses."
    ),
    "unmatched_figures": Entry(
        "Score {score:quoted}: {figures:number} figures are in only one of " + _TWO + ", and are "
        "not compared."
    ),
    # Reports in a folder.
    "no_report": Entry(
        "Files that are no reports of this version, and were passed over: {names:text}.",
        serious=True,
    ),
    "waiver_expired": Entry(
        "A waiver of the report has expired, after {day}: its file holds the verdict of before.",
        serious=True,
    ),
    "same_scores.alike": Entry(_SAME + "."),
    "same_scores.apart": Entry(_SAME + ", and their verdicts differ.", serious=True),
    "same_release": Entry(
        "{reports:text} are declared to be of one release, {release:quoted}, and their verdicts "
        "differ.",
        serious=True,
    ),
    # An installation.
    "library_missing.needed": Entry(_MISSING, serious=True),
    "library_broken.needed": Entry(_BROKEN, serious=True),
    "library_broken.optional": Entry(_BROKEN),
    "library_other_version.needed": Entry(_OTHER_VERSION, serious=True),
    "library_other_version.optional": Entry(_OTHER_VERSION),
    "not_installed": Entry("mipaudit runs from its source: which libraries it needs is not known."),
    "packaging_broken": Entry(
        "packaging cannot be loaded, and with it matplotlib. Try: pip install packaging",
        serious=True,
    ),
    "no_temporary_files": Entry(
        "Temporary files cannot be made, which large CSV files need. Set TMPDIR to a folder that "
        "may be written to.",
        serious=True,
    ),
    "known_audit_failed": Entry(
        "The audit whose answer is known did not end ({failure}): no other will.", serious=True
    ),
    "known_audit_differs": Entry(
        "The audit whose answer is known comes out otherwise: do not use figures of this "
        "installation. Install mipaudit and its libraries again, in a new environment.",
        serious=True,
    ),
}

ENTRIES: Final = COMPARE | VERIFY | ITSELF | FOUND_IN_REPORTS
