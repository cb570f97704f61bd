"""What a report of ``doctor`` answers and remarks."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

ENTRIES: Final = {
    "installation_works": Entry(
        "Works: every library that is needed loads, and the known audit comes out to the digit."
        "[ {broken:count} optional {broken:library does|libraries do} not load or fit.]",
        mood="good",
    ),
    "known_audit_agrees": Entry("Works: the known audit comes out to the digit.", mood="good"),
    "installation_fails": Entry(
        "Does NOT WORK: {findings:count} {findings:finding|findings}.", mood="bad"
    ),
    "parts_to_install": Entry("For the optional parts: {line:shown}"),
}
