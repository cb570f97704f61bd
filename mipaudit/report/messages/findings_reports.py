"""What is to be known of several queries or reports together, and of an installation."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_BOTH: Final = "{old:quoted} and {new:quoted}"
_SAME: Final = "{reports:text} are of the same scores: whoever looks twice may keep one"
_MISSING: Final = "{library} is not installed. Try: {line:text}"
_BROKEN: Final = (
    "{library} {version} is installed, and cannot be loaded ({failure:text}). Try: {line:text}"
)
_OTHER: Final = (
    "{library} {version} is installed, and mipaudit needs {wanted:text}. Try: {line:text}"
)

ENTRIES: Final = {
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
        "The limits of " + _BOTH + " hold with different confidence, {old_confidence:percent} and "
        "{new_confidence:percent}."
    ),
    "strict_differs": Entry(
        "Of " + _BOTH + ", one was made with `strict` and the other without: the limits of one are "
        "wider than need be."
    ),
    "settings_differ": Entry(
        _BOTH + " were made with different settings: {settings:text}. The scores may be of "
        "different records, or mean something else.",
        serious=True,
    ),
    "versions_differ": Entry(
        _BOTH + " were made by different versions of mipaudit, {old_version} and {new_version}."
    ),
    "same_input": Entry(_BOTH + " were made from the same input file, or share one.", serious=True),
    "side_differs": Entry(
        "Score {score:quoted}: members are guessed at the high end in one of " + _BOTH + ", at the "
        "low end in the other. AUC and TPR at FPR are those of different guesses."
    ),
    "unmatched_figures": Entry(
        "Score {score:quoted}: {figures:number} figures are in only one of " + _BOTH + ", and are "
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
    "library_other_version.needed": Entry(_OTHER, serious=True),
    "library_other_version.optional": Entry(_OTHER),
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
