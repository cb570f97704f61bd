"""What a report of ``doctor`` shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Cases, Column, Layout, Table

LAYOUT: Final = Layout(
    about=(
        "mipaudit {provenance.mipaudit}, Python {provenance.python} on {provenance.platform}; "
        "{processors:count} {processors:processor|processors}, memory {memory_bytes:size}, "
        "temporary space {temporary_bytes:size}."
    ),
    tables=(
        Table(
            "Libraries",
            "libraries",
            (
                Column("library", "{name}"),
                Column("version", "[{version}][-{version:unless}]"),
                Column("needed", "[{needed}][any{needed:unless}]"),
                Column("part", "[{of}][-{of:unless}]"),
                Column("state", "{state:status}"),
            ),
            short=None,
            marked=("state", ("missing", "broken", "other_version")),
        ),
    ),
    cases=(
        Cases("needed_always", "libraries", "{name}", "{state}", status="state"),
        Cases(
            "known_audit",
            "known audit",
            "{figure}",
            "[{found:exact}][none{found:unless}], and must be {known:exact}",
            status="agrees",
        ),
    ),
    following="[for the optional parts: {to_install:text}]",
)
