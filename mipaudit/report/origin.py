"""What was read and where a report comes from: files, versions, seed, settings, declarations."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Final

from mipaudit.options.declare import Declared, Options, declared, is_left_out
from mipaudit.report.blocks import Grid, Pairs, Section, Text
from mipaudit.statements.printable_names import first_names, quoted_name, safe_name
from mipaudit.statements.provenance import (
    FOREIGN,
    Declaration,
    InputFile,
    Provenance,
    Setting,
    value_words,
)
from mipaudit.statements.rounding import count_text

_ORIGINS: Final = MappingProxyType(
    {"default": "", "stated": " and the stated seed {}", "fresh": " and the fresh seed {}"}
)
_DECLARED: Final = {
    "release": "released",
    "data": "trained on",
    "subjects": "people",
    "sensitivity": "sensitivity",
    "controller": "controller",
    "seen_by": "seen by",
    "author": "answers for this report",
}
_SEEN_BY: Final = {"query-access": "anyone who may query it"}
_LONGEST: Final = 200
_MOST_SEEDS: Final = 3
_OF_SUMMARIES: Final = "the one in each summary"


def seed_words(provenance: Provenance) -> str | None:
    """Return the seeds in use and where they come from; None where there is no seed."""
    origin = provenance.seed_origin
    if origin is None:
        return None if provenance.seed is None else str(provenance.seed)
    if provenance.of_summaries:
        used = ", ".join(one.seed for one in provenance.seeds)
        source = f"from the counts{_ORIGINS[origin].format(provenance.seed)}"
        return f"{_OF_SUMMARIES}; {used} for ties and tests, {source}"
    source = f"from the scores{_ORIGINS[origin].format(provenance.seed)}"
    shown = [
        one.seed if one.score is None else f"{one.seed} for {quoted_name(one.score)}"
        for one in provenance.seeds
    ]
    return f"{first_names(shown, _MOST_SEEDS)}, {source}" if shown else source


def short_seed(provenance: Provenance) -> str | None:
    """Return where the seed in use comes from, and the seed if it is one; None without any."""
    if not provenance.seeds and provenance.seed is None:
        return None  # nothing was drawn
    if provenance.of_summaries:
        return _OF_SUMMARIES
    if len(provenance.seeds) <= 1:
        return seed_words(provenance)
    return seed_words(replace(provenance, seeds=()))


def policy_words(provenance: Provenance, *classes: type[Options]) -> tuple[str, ...]:
    """Return what variables and a policy file chose, and which file where it may not be expected.

    Args:
        provenance: of the report.
        classes: of the options of its command, of how it is shown last.
    """
    settings = provenance.settings
    # Those of the first class last: what is declared of a release has names of its own.
    options = {one.recorded_name: one for kind in reversed(classes) for one in declared(kind)}
    told = [one for one in settings if one.name in options and _is_told(options[one.name], one)]
    of_variables, said = (
        "; ".join(_chosen_words(one, options[one.name]) for one in told if one.source == source)
        for source in ("environment", "file")
    )
    words = (f"The environment chooses: {of_variables}.",) * bool(of_variables)
    file = next((one for one in settings if (one.name, one.source) == ("config", "file")), None)
    if file is None:
        return words
    name = safe_name(str(file.value))
    whose = FOREIGN if FOREIGN in (file.where or "") else ""
    if said:
        return (*words, f"The policy file {name}{whose} chooses: {said}.")
    return (*words, *((f"The policy file is {name}{whose}.",) if whose or "/" in name else ()))


def _is_told(option: Declared, setting: Setting) -> bool:
    """Tell whether a choice is one of which readers must know; a column has its finding."""
    how, value = option.option, setting.value
    if how.steers != "choice" or option.name == "score_col" or is_left_out(option, value):
        return False
    given = value is not None and value != []  # no number is nothing
    return given and (how.needs_word is None or how.needs_word(value))


def _chosen_words(setting: Setting, option: Declared) -> str:
    value, flag = setting.value, option.option.flag
    if flag is None and isinstance(value, list):  # waivers
        return f"{len(value)} {setting.name if len(value) > 1 else setting.name[:-1]}"
    key = option.name if str(flag).startswith("-") else "scores"
    return f"{key} = {safe_name(value_words(value))}"


def declared_pairs(said: Declaration | None) -> tuple[tuple[str, str], ...]:
    """Return what was declared of a release, as terms and texts; the title stands elsewhere."""
    found = ((term, getattr(said, name, None)) for name, term in _DECLARED.items())
    return tuple((term, _declared_words(value)) for term, value in found if value is not None)


def _declared_words(value: str | int) -> str:
    if isinstance(value, int):
        return count_text(value)
    return safe_name(_SEEN_BY.get(value, value_words(value)), longest=_LONGEST)


def declared_section(said: Declaration | None) -> Section:
    """Return what was declared; nothing where nothing was."""
    pairs = declared_pairs(said)
    note = Text("As the report's author states; nobody checked it.", "note")
    return (Text("What was declared", "h2"), Pairs(pairs=pairs), note) if pairs else ()


def bare_name(name: str) -> str:
    """Return the name of a file without its folder, which is nobody's business on a page."""
    return name.rstrip("/").rpartition("/")[2] or name


def origin_section(provenance: Provenance, *, bare: bool = False) -> Section:
    """Return what an auditor needs to run it again and to know that nothing was changed.

    Args:
        provenance: of the report.
        bare: whether files are named without their folders.
    """
    libraries = ", ".join(f"{name} {version}" for name, version in provenance.libraries.items())
    pairs = [("made", f"{provenance.created} (UTC)"), ("by", _by(provenance))]
    if libraries:
        pairs.append(("with", libraries))
    if (seed := seed_words(provenance)) is not None:
        pairs.append(("seed", seed))
    given = [one for one in provenance.settings if one.source != "default"]
    grids = [_inputs(provenance.inputs, bare=bare)] if provenance.inputs else []
    if given:
        grids.append(
            Grid(
                caption="Settings that were given; all others are the defaults",
                head=("setting", "value", "source"),
                rows=tuple((one.name, value_words(one.value), _source(one)) for one in given),
                words=3,
            )
        )
    return (Text("Where this comes from", "h2"), Pairs(pairs=tuple(pairs)), *grids)


def seed_section(provenance: Provenance) -> Section:
    """Return the seeds in use, which a terminal shows of all this."""
    drawn = bool(provenance.seeds) or provenance.seed is not None
    return (Pairs(pairs=(("seed", seed_words(provenance) or ""),)),) if drawn else ()


def _by(provenance: Provenance) -> str:
    where = "" if provenance.platform is None else f", on {provenance.platform}"
    return f"mipaudit {provenance.mipaudit}, Python {provenance.python}{where}"


def _source(setting: Setting) -> str:
    """Return where a setting comes from, and from which variable or file."""
    return setting.source if setting.where is None else f"{setting.source}, {setting.where}"


def _inputs(inputs: tuple[InputFile, ...], *, bare: bool) -> Grid:
    return Grid(
        caption="What was read",
        head=("file", "sha256, or fingerprint", "rows", "bytes"),
        rows=tuple(
            (
                bare_name(one.name) if bare else one.name,
                one.sha256 or one.fingerprint or "-",
                count_text(one.rows),
                "-" if one.bytes is None else count_text(one.bytes),
            )
            for one in inputs
        ),
        words=2,
    )


def input_files(provenance: Provenance, *, bare: bool) -> str:
    """Return the files that were read, or how many there are; `bare` as of `origin_section`."""
    inputs = provenance.inputs
    if len(inputs) > 2:  # noqa: PLR2004 - members and holdout are named
        rows = sum(item.rows for item in inputs)
        return f"{count_text(len(inputs))} files, {count_text(rows)} rows"
    named = [(bare_name(one.name) if bare else one.name, count_text(one.rows)) for one in inputs]
    return "; ".join(f"{safe_name(name)} ({rows} rows)" for name, rows in named)
