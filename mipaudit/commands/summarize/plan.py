"""``mipaudit summarize --plan``: what each site has to run, and the centre, ready to paste."""

from __future__ import annotations

from shlex import quote
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from mipaudit.commands.summarize.options import SummarizeOptions, SummarizeShown
from mipaudit.options.declare import declared, is_left_out
from mipaudit.options.values import path_of, require
from mipaudit.statements.rounding import count_text
from mipaudit.summaries.sites import enough_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mipaudit.options.declare import Declared

_CLASSES: Final = (SummarizeOptions, SummarizeShown)
_SCORES: Final = "scores.parquet"
_WIDTH: Final = 78
_NEXT_LINE: Final = " \\\n  "
# What only the cuts say: who counts has it from them.
_OF_CUTS: Final = frozenset({"min_cell", "discrete", "seed"})

_AGREED: Final = (
    "Before anybody looks, all agree on the limit (mipaudit help choose-a-limit), on the attackers "
    "that it is against, and on the score columns: others take new cuts of every site."
)
_DROPPED: Final = (
    "If a site drops out, no limit is met without its summary: its records may be in the release. "
    "If none of them is, the centre says so (mipaudit estimate ... --without-site NAME). Else the "
    "others count again without its cuts, before anybody looks, and the answer says nothing of its "
    "records."
)
_CENTRE: Final = (
    "3. The centre, with the summaries of all. Add the limit that was agreed on, such as "
    "mipaudit estimate ... --max-advantage X, or a policy file."
)


def plan_text(asked: SummarizeOptions, sites: int) -> str:
    """Return the commands of all rounds as a script with comments.

    Args:
        asked: what every site is asked alike, such as columns and the least count.
        sites: how many there are.

    Raises:
        UsageError: ``plan``: what the plan names itself is given.
    """
    require(
        not (asked.site or asked.cuts or asked.cuts_only),
        "plan",
        "The plan names the sites and their cuts itself.",
        "Leave out `site`, `cuts` and `cuts_only`, or `plan`.",
    )
    names = [f"site-{number}" for number in range(1, sites + 1)]
    flags = {one.name: one.word for kind in _CLASSES for one in declared(kind)}
    site, output = flags["site"], flags["output"]
    cuts = [f"{flags['cuts']} {name}.cuts" for name in names]
    scores, given = _scores(asked), list(_given(asked))
    named = f"Here every site finds its own: name them in all commands with {flags['score_col']}."
    told = [words for one, words in given if one.name not in _OF_CUTS]
    lines = _said(
        "Each site runs its own commands where its scores are"
        + (f", here called {scores[0]}" if len(scores) == 1 else "")
        + ". Names of sites may be others, but each always the same, and no two alike."
    )
    if asked.min_cell is not None:
        lines += _said(f"{rows_enough(asked.min_cell)}.")
    lines += ["", *_said(_AGREED if asked.score_col else f"{_AGREED} {named}")]
    lines += ["", *_said("1. Each site says where its scores lie, and sends its .cuts to all.")]
    for name in names:
        every = [words for _, words in given]
        own = [*scores, f"{site} {name}", *every, flags["cuts_only"], f"{output} {name}.cuts"]
        lines += [f"# At {name}:", _command("mipaudit summarize", own)]
    lines += [
        "",
        *_said(
            "2. With the .cuts of all beside it, each site counts; its .summary goes to the centre."
        ),
    ]
    for name in names:
        own = [*scores, f"{site} {name}", *told, *cuts, f"{output} {name}.summary"]
        lines += [f"# At {name}:", _command("mipaudit summarize", own)]
    lines += ["", *_said(_DROPPED), "", *_said(_CENTRE)]
    prior = [words for one, words in given if one.name == "prior"]
    lines += [_command("mipaudit estimate", [*(f"{name}.summary" for name in names), *prior])]
    return "\n".join(lines) + "\n"


def rows_enough(least: int) -> str:
    """Return in a sentence how many rows of a site nearly always suffice for its counts."""
    rows = count_text(enough_rows(least))
    return (
        f"At every site {rows} members and {rows} holdout records are nearly always enough, where "
        "their scores lie at most one standard deviation apart"
    )


def _scores(asked: SummarizeOptions) -> list[str]:
    """Return the input as it was named, or a name for it."""
    files = [
        (one.word, getattr(asked, one.name))
        for one in declared(type(asked))
        if one.name in {"members", "holdout"}
    ]
    apart = [f"{flag} {_word(file)}" for flag, file in files if file is not None]
    given = asked.data if isinstance(asked.data, (tuple, list)) else [asked.data]
    return [_word(one) for one in given if one is not None] + apart or [_SCORES]


def _given(asked: SummarizeOptions) -> Iterator[tuple[Declared, str]]:
    """Yield the options that change an answer and are given, as they are typed."""
    for one in declared(type(asked)):
        value: Any = getattr(asked, one.name)
        if one.option.flag is None or not one.option.recorded or is_left_out(one, value):
            continue
        name = one.word
        if one.many:
            yield one, " ".join(f"{name} {quote(str(each))}" for each in value)
        else:
            yield one, name if value is True else f"{name} {quote(str(value))}"


def _word(file: object) -> str:
    return quote(str(path_of(file)))


def _said(text: str) -> list[str]:
    return wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def _command(start: str, words: Iterable[str]) -> str:
    """Return a command, over several lines where it is long."""
    lines = [start]
    for word in words:
        if len(lines[-1]) + len(word) + 3 > _WIDTH:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return _NEXT_LINE.join(lines)
