"""What decided a verdict, or withheld it."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

ENTRIES: Final = {
    "no_limit": Entry("no limit was given to compare with"),
    "of_score": Entry("score {score:quoted}[ in {report:quoted}]: {reason}"),
    "of_query": Entry("query {query:quoted}: {reason}"),
    "of_records": Entry("the blind {reason}"),
    # Where a sentence before names what all scores have in common.
    "of_named": Entry("{score:quoted}[ in {report:quoted}]: {reason}"),
    "waived": Entry("{reason}; {status:status}, accepted by {person} until {expires}: {because}"),
    "waiver_ended": Entry("{reason}; the waiver by {person} expired after {expires}"),
    "of_these_attackers": Entry(
        "that is said of these attackers alone, and nothing of the best one"
    ),
    # Why what the limits meet is open all the same.
    "open_copies": Entry(
        "members are released word for word, and no limit on copies accepts that",
        next=("how many copies are accepted, which `max_copies` says", "synthetic-data"),
    ),
    "open_copies_unread": Entry(
        "of some members it is unclear whether they are released word for word"
    ),
    "open_missing_tells": Entry(
        "scores that are missing tell the classes apart, and such rows were left out"
    ),
    "open_rounded": Entry(
        "scores were rounded because a few rows are stored coarsely, so that an upper limit holds "
        "for the rounded scores alone; for those the limits {waived:kept}"
    ),
    "open_sites_missing": Entry(
        "sites whose cuts were used are missing, so that the limits do not cover their records; on "
        "those of the other sites they {waived:kept}",
        next=("the summaries of the missing sites", "scale"),
    ),
    "open_parts_skipped": Entry(
        "parts of the input cannot be read and were skipped, so that the limits do not cover all "
        "records; on those that were read they {waived:kept}",
        next=("the files that cannot be read, whole", "scale"),
    ),
    # Of an answer that is open already.
    "sites_not_covered": Entry(
        "sites whose cuts were used are missing, so that the limits do not cover their records",
        next=("the summaries of the missing sites", "scale"),
    ),
}
