"""Where a report comes from: versions, time, inputs and settings, for every form but text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.blocks.seed_words import seed_words
from mipaudit.formats.document import Grid, Heading, Pairs
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from mipaudit.formats.document import Section
    from mipaudit.statements.provenance.origin import InputFile, Provenance, Setting


def origin_section(provenance: Provenance) -> Section:
    """Return what an auditor needs to run it again and to know that nothing was changed."""
    libraries = ", ".join(f"{name} {version}" for name, version in provenance.libraries.items())
    pairs = [
        ("made", f"{provenance.created} (UTC)"),
        ("by", _by(provenance)),
    ]
    if libraries:
        pairs.append(("with", libraries))
    if (seed := seed_words(provenance)) is not None:
        pairs.append(("seed", seed))
    given = [one for one in provenance.settings if one.source != "default"]
    grids = [_inputs(provenance.inputs)] if provenance.inputs else []
    if given:
        grids.append(
            Grid(
                caption="Settings that were given; all others are the defaults",
                head=("setting", "value", "source"),
                rows=tuple((one.name, one.value, _source(one)) for one in given),
                words=3,
            )
        )
    return (Heading(text="Where this comes from"), Pairs(pairs=tuple(pairs)), *grids)


def seed_section(provenance: Provenance) -> Section:
    """Return the seeds in use, which a terminal shows of all this."""
    seed = seed_words(provenance)
    return () if seed is None else (Pairs(pairs=(("seed", seed),)),)


def _by(provenance: Provenance) -> str:
    where = "" if provenance.platform is None else f", on {provenance.platform}"
    return f"mipaudit {provenance.mipaudit}, Python {provenance.python}{where}"


def _source(setting: Setting) -> str:
    """Return where a setting comes from, and from which variable or file."""
    return setting.source if setting.where is None else f"{setting.source}, {setting.where}"


def _inputs(inputs: tuple[InputFile, ...]) -> Grid:
    return Grid(
        caption="What was read",
        head=("file", "sha256, or fingerprint", "rows", "bytes"),
        rows=tuple(
            (
                one.name,
                one.sha256 or one.fingerprint or "-",
                count_text(one.rows),
                "-" if one.bytes is None else count_text(one.bytes),
            )
            for one in inputs
        ),
        words=2,
    )
