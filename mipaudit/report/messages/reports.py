"""What is said of several reports together, and of this program itself."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry, Texts, entries

# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "RIGHT": "{against:best_guessers}, at least {least:more_least} ",
    "GUESSES": " right guesses per 100",
    "ABOUT": "about whose records were used",
    "CLEVERER": "{against:cleverer}.",
    "BEFORE": "In {report:quoted}, {score:quoted} reveals ",
    "THAT_OF": " {ABOUT} than in {versus:quoted}: {RIGHT}",
    "FIGURE": "{score:quoted}[ in {report:quoted}]: {quantity:quantity}[ {against:best_guessers}] "
    "is at least {least:least} ",
    "REST": " than before[ ({rest:count} more {rest:figure|figures} surely changed)].",
    "FIGURES": "Some figures of {report:quoted} are surely ",
    "SPEAKS": " {ABOUT}; the number of right guesses is not shown to have changed.",
    "IN": "DIFFERS in {parts:names}[ and {more:count} more].",
    "MADE": "The report of mipaudit {command}, made {made:text}, ",
    "TWO": "{old:quoted} and {new:quoted}",
    "SAME": "{reports:text} were made from the same files",
    "BROKEN": "{library} {version} is installed, and cannot be loaded ({failure:text}). Try: "
    "{line:text}",
    "OTHER_VERSION": "{library} {version} is installed, and mipaudit needs {wanted:text}. Try: "
    "{line:text}",
}

# What a comparison, of queries or of reports, and a history answer and remark.
COMPARE: Final[Texts] = {
    "compared": Entry(
        "{found}[ {leaking}] No limit was given: no verdict.",
        unsaid="Leaking no more than another does not mean leaking little.",
    ),
    "right_compared": "{found}[ {leaking}] No limit was set, so this page neither passes nor fails "
    "the release.",
    # Of queries.
    "query_leaks_most": "{more:quoted} leaks most: at least {least:least} more than any other "
    "query, {against:best_guessers}.",
    "query_leaks_more": "{more:quoted} leaks at least {least:least} more than {less:quoted}, "
    "{against:best_guessers}[; {rest:count} more {rest:pair differs|pairs differ}].",
    "no_query_leaks_more": "No query is shown to leak more than another; {more:quoted} has the "
    "largest best estimate, {value:best} {against:class}.",
    "queries_leak": "{leaks:count} of {queries:count} queries leak membership: {score:quoted} "
    "gives an advantage of at least {lower:least}[ (blind guessing: {guessing:best})].",
    "no_query_leaks": "None of them is shown to leak.",
    "one_size": "{members:members}, {holdout:holdout}",
    "several_sizes": "inputs of different sizes",
    # Of reports.
    "figure_grew": "{FIGURE}larger{REST}",
    "figure_shrank": "{FIGURE}smaller{REST}",
    "no_figure_changed": "No figure is shown to have changed since {versus:quoted}.",
    # The same as right guesses, for everybody.
    "right_query_leaks_most": "{more:quoted} reveals more than any other query: "
    "{RIGHT}more{GUESSES}{CLEVERER}",
    "right_query_leaks_more": "{more:quoted} reveals more than {less:quoted}: "
    "{RIGHT}more{GUESSES}{CLEVERER}",
    "right_no_query_leaks_more": "No query is shown to reveal more than another {ABOUT}.",
    "right_queries_leak": "With {leaks:count} of {queries:count} queries an attacker surely "
    "guesses better than by chance: with {score:quoted}, right at least {lower:right_least} times "
    "in 100 ({prior:compared}).",
    "right_grew": "{BEFORE}more{THAT_OF}more{GUESSES}{CLEVERER}",
    "right_shrank": "{BEFORE}less{THAT_OF}fewer{GUESSES}{CLEVERER}",
    "right_figures_grew": "{FIGURES}larger than those of {versus:quoted}, a sign that it reveals "
    "more{SPEAKS}",
    "right_figures_shrank": "{FIGURES}smaller than those of {versus:quoted}, a sign that it "
    "reveals less{SPEAKS}",
    "right_no_figure_changed": "No score is shown to reveal more, or less, {ABOUT} than in "
    "{versus:quoted}.",
    # What decided a verdict; those with `report` are of a score that both reports have.
    "right_increase_above": "[the query {score:quoted}{report:unless}][the score {score:quoted} of "
    "{report:quoted}] reveals more {ABOUT} than [the same score in{report:said} ]{versus:quoted}: "
    "{RIGHT}more{GUESSES} (the limit: {limit:more})",
    "right_increase_within": "[no query{report:unless}][no score that both reports "
    "have{report:said}] gives more than {most:more_most} more{GUESSES} than [the same score "
    "in{report:said} ]{versus:quoted}, {against:best_guessers} (the limit: "
    "{limit:more}){against:beyond}",
    # Remarks.
    "increase_limit": "The limit: at most {limit:number} more than {versus:quoted}.",
    "leak_together": "Seen together, {score} leak at least {lower:least} more than either of the "
    "two alone, {against:best_guessers}.",
    "files_more_precise": "Comparing the score files is more precise (mipaudit compare FILE FILE).",
    # Why there is no limit of a change.
    "limit_lacking": "the {which} report has no {side} confidence limit[ and {also}]",
    "other_side": "high scores are a sign of members in one report, low scores in the other",
    # Of reports over time.
    "newest_report": "The newest report, {newest}.[ The one before, {before}.]",
    "past_verdict": "{report:quoted}: {verdict:verdict}[{note}]",
    "verdict_beside": "[, assuming that {assuming:text}][, which this policy lets "
    "pass{passes:said}][, which this policy counts as a failure{fails:said}][; records appear in "
    "the release unchanged{copies:said}][; columns that may be scores were left "
    "out{left_out:said}][; a waiver matches no limit{unmatched:said}]",
    "history_verdicts": "{reports:count} {reports:report|reports} from {first:day} to {last:day}.[ "
    "Of {judged:count} {judged:verdict|verdicts}: {tally:names}.][ None has a "
    "verdict.{judged:unless}][ With at least {joint:percent} confidence, all their 'at least' and "
    "'at most' are right together.]",
}

# What a report of ``verify`` answers and remarks.
VERIFY: Final[Texts] = {
    "report_agrees": "+ The report AGREES with what was computed now.",
    "report_differs": "- The report {IN}",
    "statement_of_pass": "+ The statement AGREES with the files given: it says {result:text}.",
    "statement_agrees": "The statement AGREES with the files given: it says {result:text}.",
    "statement_differs": "- The statement {IN}",
    # What was compared with what.
    "computed_the_same": "{MADE}follows from [these scores and {scored:said}]the settings in it: "
    "everything in it, except what its author declared, was computed again and agrees.",
    "computed_otherwise": "{MADE}does not agree with what was computed now.[ It was made by "
    "another version of mipaudit, which can be the reason.{other_version:said}]",
    "statement_follows": "It is about these files and says what {report} says, which "
    "[was{computed:said}][was not{computed:unless}] computed again.",
    "statement_is_not_so": "It does not agree with the files that are here.",
    "digest_of_report": "sha256 of the report: {sha256:text}",
    "digest_of_page": "sha256 of this page: {sha256:text}",
    "digest_of_carried": "sha256 of its report, as .json: {sha256:text}",
}

# What `doctor`, `validate` and `simulate` say: of this program and of known truths.
ITSELF: Final[Texts] = {
    # Of an installation.
    "installation_works": "+ Works: every library that is needed loads, and an audit with a known "
    "answer is right to the digit.[ {broken:count} optional {broken:library does|libraries do} not "
    "load or fit.]",
    "known_audit_agrees": "+ Works: an audit with a known answer is right to the digit.",
    "installation_fails": "- Does NOT WORK: {findings:count} {findings:finding|findings}.",
    # Of a validation.
    "validation_caught_nothing": "- NOT VALIDATED: a method known to be wrong, added as a test, "
    "was not caught.",
    "limits_fall_short": "- FALLS SHORT: {short:count} {short:limit is|limits are} right less "
    "often than promised.",
    "limits_hold": "+ HOLDS: no limit is shown to be wrong more often than promised.",
    "methods_strict": "strict methods",
    "methods_default": "default methods",
    "validation_drawn": "{cells:count} {cells:cell|cells} (scenario, size, prior) of {files:count} "
    "{files:file|files} {cells:was|were} drawn from distributions with known truth, and "
    "{limits:count} {limits:limit|limits} that mipaudit prints {limits:was|were} compared with it.",
    "validation_short": "[{ours:count} {ours:limit|limits} {ours:is|are} wrong more often than "
    "promised.][No limit of ours is shown to be wrong more often than promised.{ours:unless}][ "
    "{theirs:count} {theirs:limit|limits} by methods that are known to be valid {theirs:is|are} "
    "wrong more often than promised, too: a mistake is in the true values or in the run.]",
    "shortfall_seen": "A limit that should be right in {nominal:share} of cases and is right in "
    "{coverage:percent} or less would have been found with a probability of {power:percent}.[ "
    "Limits that take long to compute were tried on fewer files, at least {files:count} for each "
    "combination: of these, a limit that is right in {dear:percent} or less would have been "
    "found.]",
    "methods_caught": "[As a test, {methods:count} methods known to be wrong were added. All were "
    "caught.][No method that is known to be invalid was run.{methods:unless}]",
    "methods_not_caught": "Of {methods:count} methods that are known to be invalid these were not "
    "caught, so the run shows nothing: {missed:names}.",
    "validation_enumerated": "For a score that is always one of two values, all possible files of "
    "{sizes:count} {sizes:size|sizes} were audited: of {limits:count} {limits:limit|limits}, "
    "{short:count} {short:is|are} wrong more often than promised.",
    # Of a simulation.
    "truth_known": "Scenario {scenario}: {what:text}.[ The best attacker who sees {sees:quoted} "
    "has an advantage of {best:six_digits} at prior {prior:number}.]",
    "truth_known.line": "Scenario {scenario}[: the best attacker's advantage is {best:six_digits} "
    "at prior {prior:number}].",
    "scenarios_listed": "The truth is known of {scenarios:count} scenarios.",
    "rows_drawn": "[{members:count} {members:member|members} and {holdout:count} holdout "
    "{holdout:record|records}][{canaries:count} {canaries:canary|canaries}][{splits:count} "
    "{splits:split|splits}]",
    "no_value": "none: {reason:text}.",
    "guess_source": "Guessing from {guess:text}: {source:text}.",
    "scenario_note": "{note:text}",
}

# What is to be known of several queries or reports together, and of an installation.
FOUND_IN_REPORTS: Final[Texts] = {
    # Queries that are compared.
    "not_seen_together.many": "No two scores of the same rows were looked at together: there are "
    "{pairs:number} pairs, and pairs are looked at only if there are at most {most:number}. For "
    "fewer pairs, choose fewer scores (`score_col`), or name a `baseline` if none is given.",
    "not_seen_together.constant": "{pairs:number} {pairs:pair|pairs} of scores of the same rows "
    "{pairs:was|were} not looked at together: one score of the pair is constant, and adds nothing.",
    "unmatched_rows": "Input {input:quoted}: {left_out:count} {left_out:row has|rows have} a key "
    "that is not in every input and {left_out:was|were} left out. Compared: {matched:count}.",
    # Reports that are compared.
    "confidence_differs": "The limits of {TWO} hold with different confidence, "
    "{old_confidence:percent} and {new_confidence:percent}.",
    "strict_differs": "Of {TWO}, one was made with `strict` and the other without: limits with "
    "`strict` are less precise.",
    "settings_differ": "! {TWO} were made with different settings: {settings:text}. The scores may "
    "be of different records, or mean something else.",
    "versions_differ": "{TWO} were made by mipaudit {old_version} and {new_version}.",
    "same_input": "! At least one input file was used for both {TWO}.",
    "side_differs": "Score {score:quoted}: high scores are a sign of members in one of {TWO}, low "
    "scores in the other. Their AUC and TPR at FPR cannot be compared.",
    "unmatched_figures": "Score {score:quoted}: {figures:number} {figures:figure is|figures are} "
    "in only one of {TWO}, and not compared.",
    # Reports in a folder.
    "no_report": "! Files that this version cannot read as reports were skipped: {names:text}.",
    "waiver_expired": "! A waiver expired after {day}: the report's file still has the old "
    "verdict.",
    "same_scores.alike": "{SAME}.",
    "same_scores.apart": "! {SAME} with different verdicts: somebody may have audited again until "
    "the verdict was better.",
    "same_release": "! {reports:text} name the release {release:quoted}, with different verdicts.",
    # An installation.
    "library_missing.needed": "! {library} is not installed. Try: {line:text}",
    "library_broken.needed": "! {BROKEN}",
    "library_broken.optional": "{BROKEN}",
    "library_other_version.needed": "! {OTHER_VERSION}",
    "library_other_version.optional": "{OTHER_VERSION}",
    "not_installed": "mipaudit runs from its source, so the libraries that it needs are not known.",
    "packaging_broken": "! The library packaging cannot be loaded, so matplotlib, which needs "
    "packaging, cannot be loaded either. Try: pip install packaging",
    "no_temporary_files": "! Temporary files cannot be made, which large CSV files need. Set "
    "TMPDIR to a folder that may be written to.",
    "known_audit_failed": "! The audit with a known answer does not finish ({failure}): others may "
    "not.",
    "known_audit_differs": "! The audit with a known answer gives another answer: do not use "
    "figures of this installation. Install mipaudit and its libraries again, in a new environment.",
}

ENTRIES: Final = entries(COMPARE | VERIFY | ITSELF | FOUND_IN_REPORTS, _PHRASES)
