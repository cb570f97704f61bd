"""What is meant by a word, an option or a file that a command does not know or has no place for."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from mipaudit.options.commands import BY_NAME, CLOSE, MEANT, TABLE, near
from mipaudit.options.values import number_hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CLASSES: Final = "Give the classes in files of their own as --members FILE --holdout FILE."
# What to do with a file that a command has no place for.
_FILES: Final = {
    "query losses": "Say what a file is: --logits FILE or --probabilities FILE, --labels FILE, "
    "--membership FILE.",
    "query lira": "Say what a file is: --shadow FILE, --inclusion FILE, --target FILE, "
    "--membership FILE.",
    **dict.fromkeys(("records", "attack", "attribute", "check"), _CLASSES),
    "shift": "It takes two tables: mipaudit shift MEMBERS HOLDOUT",
}
_BY_PLACE: Final = "The tables are given by place: mipaudit shift MEMBERS HOLDOUT"
# What a command calls otherwise than others do; those of no command are of every one.
_INSTEAD: Final = {
    "shift --members": _BY_PLACE,
    "shift --holdout": _BY_PLACE,
    "shift --unit-col": "Did you mean --id-col?",
    "shift --max-advantage": "Did you mean --max-blind?",
    "query --unit-col": "Carry the column along with --keep; --unit-col is for estimate.",
    "query losses --members": "The members' outputs are --logits or --probabilities, the "
    "holdout's --holdout-logits or --holdout-probabilities.",
    "--pvalue": "It needs no option: how sure it is that membership shows is in every report.",
    "--policy": "Did you mean --config FILE (settings and limits)?",
    "-V": "Did you mean mipaudit --version?",
    "version": "Did you mean mipaudit --version?",
}
_MOST: Final = 5
_NO_COMMAND: Final = re.compile(r"No such command '(.*?)'", re.DOTALL)
_NO_NUMBER: Final = re.compile(r"'([^']*)' is not a valid (?:float|integer|int)")
_RANGE: Final = re.compile(r" \([^()]*\)$")
_TABLES: Final = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".summary", ".gz", ".zst")


def misplaced(error: Exception, words: Sequence[str]) -> str | None:
    """Return what to try, or None where nothing better is known than the parser says.

    Args:
        error: one of the parser's usage errors.
        words: all that were typed.
    """
    context, message = getattr(error, "ctx", None), str(getattr(error, "message", ""))
    name = str(getattr(context, "info_name", ""))
    option = getattr(error, "option_name", None)
    if type(error).__name__ == "NoSuchOption" and isinstance(option, str):
        return _for_option(option, name, context.command.params if context else ())
    if "unexpected extra argument" in message:
        return _FILES.get(name)
    command = _NO_COMMAND.match(message)
    if command is not None:
        return _for_command(command[1], words)
    number = _NO_NUMBER.search(message)
    return None if number is None else number_hint(number[1])


def _for_option(option: str, name: str, own: Sequence[Any]) -> str | None:
    meant = MEANT.get(option.removeprefix("--").replace("-", "_"))
    said = _INSTEAD.get(f"{name} {option}") or _INSTEAD.get(option)
    said = said or _described(meant, own) or _as_choice(option, own)
    if said is not None or not option.startswith("--"):
        return said
    from mipaudit.cli.command import declared_command

    of_commands = {one.name: declared_command(one).params for one in TABLE}
    flags = {
        one: [flag for each in params for flag in each.opts] for one, params in of_commands.items()
    }
    owners = [one for one in flags if option in flags[one]]
    if owners:
        return _of_others(option, name, owners)
    close = near(option, [flag for one in own for flag in one.opts if flag.startswith("--")], CLOSE)
    if close is not None:
        return f"Did you mean {close}?"
    described = (
        _described(meant, params, f" of mipaudit {one}") for one, params in of_commands.items()
    )
    return next((said for said in described if said is not None), None)


def _described(keyword: str | None, params: Iterable[Any], place: str = "") -> str | None:
    """Return the option that is meant, with what help says first of it, without its range."""
    found = next((one for one in params if one.name == keyword), None)
    if found is None:
        return None
    said = _RANGE.sub("", (found.help or "").partition(". ")[0].rstrip("."))
    return f"Did you mean {found.opts[-1]}{place} ({said})?"


def _as_choice(option: str, params: Iterable[Any]) -> str | None:
    """Return the option that has the name for one of its values, as ``--json`` is of --format."""
    value = option.lstrip("-")
    chosen = (one.opts[-1] for one in params if value in getattr(one.type, "choices", ()))
    flag = next((flag for flag in chosen if flag.startswith("--")), None)
    return None if flag is None else f"Did you mean {flag} {value}?"


def _of_others(option: str, name: str, owners: list[str]) -> str:
    listed = ", ".join(owners[:-1]) + " and " + owners[-1] if owners[1:] else owners[0]
    if len(owners) > _MOST:
        listed = f"{owners[0]} and other commands"
    if name not in BY_NAME:
        return f"A command comes first: mipaudit {owners[0]} {option}"
    return f"{option} is an option of {listed}, not of {name}."


def _for_command(word: str, words: Sequence[str]) -> str | None:
    if word in _INSTEAD:
        return _INSTEAD[word]
    found = BY_NAME.get(MEANT.get(word, "")) or BY_NAME.get(f"query {word}")
    if found is not None:
        return _meant(found.name, found.summary)
    from mipaudit.commands.query.options import KINDS

    if word.partition(":")[0] in KINDS:
        return _meant(f"query {word}", BY_NAME["query"].summary)
    if "." in word or "/" in word or "*" in word or word == "-" or os.path.exists(word):  # noqa: PTH110
        return _for_file(word, words)
    close = near(word, BY_NAME, CLOSE)
    return None if close is None else f"Did you mean mipaudit {close}?"


def _meant(command: str, summary: str) -> str:
    return f"Did you mean mipaudit {command} ({summary.rstrip('.')})?"


def _for_file(name: str, words: Sequence[str]) -> str:
    """Return which command takes a file that stands in the place of one."""
    from mipaudit.data.files.contents import foreign, what_to_do

    lower = name.lower()
    if lower.endswith((".json", ".json.gz")):
        return (
            f"A command comes first: `mipaudit render {name} -f html` shows a report in another "
            f"form, `mipaudit verify {name} --input scores.parquet` computes it again."
        )
    if lower.endswith(".toml"):
        return f"A command comes first: mipaudit estimate scores.parquet --config {name}"
    found = None if lower.endswith(_TABLES) else foreign(name)
    if found is not None:
        return f"It is {found.what}. {what_to_do(found, name)}"
    from shlex import join

    return f"A command comes first: mipaudit estimate {join(words)}"
