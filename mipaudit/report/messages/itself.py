"""What `doctor`, `validate` and `simulate` say: of this program and of known truths."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_SHORT: Final = (
    "[{ours:count} {ours:limit|limits} {ours:covers|cover} the truth less often than promised.]"
    "[No limit of ours covers the truth less often than it promises.{ours:unless}]"
)

ENTRIES: Final = {
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
