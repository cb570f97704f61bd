"""What the command line says when a run fails: what to try, what was meant, and the exit code."""

from __future__ import annotations

import errno
import os
import re
import sys
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.errors import MipauditError, UsageError
from mipaudit.options.commands import BY_NAME, CLOSE, MEANT, TABLE, Command, near
from mipaudit.options.values import number_hint
from mipaudit.output import exit_code
from mipaudit.statements.kinds import named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    ParamsOf = Callable[[Command], Sequence[Any]]

_LONGEST_MESSAGE: Final = 2000
# What Python and the system's loader say where there is no memory.
_NO_MEMORY: Final = (
    "can't start new thread",
    "failed to map segment from shared object",
    "cannot allocate memory",
)
# Short options in one word: flags, and then one that takes the rest or the next word.
_SHORT: Final = re.compile(r"-(?P<flags>[^-fo][^fo]*)?(?:f(?P<form>.*)|o.*)?", re.DOTALL)
# What the parser says in words of programmers, and in plain ones.
_PLAINER: Final = {
    r"(?s)Got unexpected extra argument\S* \((.*)\)": r"Not expected here: \1",
    r"is not a valid float": "is not a number",
    r"is not a valid int(?:eger)?\b": "is not a whole number",
    r"(Option '.*') requires an argument": r"\1 needs a value",
}


class Failure(NamedTuple):
    """A failed run: stable code, one sentence, what to try, exit code.

    ``place`` holds the lines of code that a bug passed through, never what they
    computed with.
    """

    code: str
    message: str
    hint: str | None = None
    status: int = exit_code.USAGE
    place: str | None = None


def error_style(arguments: Sequence[str]) -> tuple[bool, bool]:
    """Return whether errors are shown as JSON, and whether with the place for bug reports.

    It is read from the raw arguments: parsing them may be what fails.
    """
    head = list(takewhile(lambda word: word != "--", arguments))
    form, verbose = "", "--verbose" in head
    for word, next_word in zip(head, [*head[1:], ""], strict=False):
        short = _SHORT.fullmatch(word)
        flags, given = short.groups() if short else (None, None)
        verbose |= "v" in (flags or "")
        if word == "--format" or given == "":
            form = next_word  # the last one counts
        elif given is not None or word.startswith("--format="):
            form = given or word.removeprefix("--format=")
    return form == "json", verbose


def failure_of(error: BaseException) -> Failure:
    """Return what to say about an exception that ended the run."""
    if not isinstance(error, MipauditError) and hasattr(error, "format_message"):
        error = refusal(error)
    if isinstance(error, MipauditError):
        # What led to it, where that is more than the message says.
        cause = error.__cause__
        place = None if cause is None else _place(cause.__traceback__)
        return Failure(error.code, error.message, error.hint, error.exit_code, place)
    if isinstance(error, KeyboardInterrupt):
        message = "Interrupted; nothing was written."
        return Failure("interrupted", message, status=exit_code.INTERRUPTED)
    if _lacks_memory(error):
        return Failure(
            "out_of_memory",
            "There is not enough memory for this input.",
            "Name fewer columns, use Parquet, a smaller --jobs, or a machine with more.",
        )
    if isinstance(error, OSError) and error.errno is not None:
        # strerror comes from the system; args may not.
        return Failure(
            "system_error",
            f"The operating system refused: {os.strerror(error.errno)}.",
            "Check the disk, the permissions and the paths.",
        )
    # The exception's own words may quote the data: only its kind is repeated.
    kind, place = type(error).__name__, _place(error.__traceback__)
    if isinstance(error, ImportError):
        return Failure(
            "broken_installation",
            f"A library cannot be loaded ({kind}).",
            "`mipaudit doctor` says which, and what to do.",
            place=place,
        )
    return Failure(
        "internal_error",
        f"Internal error ({kind}). This is a bug in mipaudit, not in your data.",
        "Run again with -v and report the lines of code it prints; they hold no data.",
        exit_code.INTERNAL,
        place,
    )


def _lacks_memory(error: BaseException) -> bool:
    """Tell whether memory was refused, however that is said.

    numpy's and Arrow's own errors are MemoryErrors. Where nothing is left, threads do not
    start either, and modules cannot be loaded.
    """
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if isinstance(error, RuntimeError | ImportError):
        return any(sign in str(error).lower() for sign in _NO_MEMORY)
    return isinstance(error, MemoryError)


def refusal(error: BaseException, hint: str | None = None) -> UsageError:
    """Return the error of arguments that could not be parsed.

    Args:
        error: one of the parser's usage errors. typer has carried its own copy of the
            parser's classes since 0.20-odd, so they are known by their attributes.
        hint: what to try, where more is known than the parser knows.
    """
    message = str(getattr(error, "message", error))
    render = getattr(error, "format_message", None)
    if callable(render) and not getattr(error, "possibilities", None):
        message = str(render())
    # What the parser guesses is seldom near.
    message = message.partition(" Did you mean ")[0]
    for theirs, ours in _PLAINER.items():
        message = re.sub(theirs, ours, message)
    path = getattr(getattr(error, "ctx", None), "command_path", None)
    see_help = f"See `{path} --help`." if isinstance(path, str) else None
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
    ended = message if message.endswith((".", "?")) else f"{message}."
    return UsageError(code, ended, hint=hint or see_help)


def show(failure: Failure, arguments: Sequence[str]) -> None:
    """Write the failure to stderr, as JSON or as text: as the arguments ask for."""
    as_json, verbose = error_style(arguments)
    text = _as_json(failure) if as_json else _as_text(failure, verbose=verbose)
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        # Nobody listens on stderr; the exit code still speaks.
        return


def _place(traceback: TracebackType | None) -> str:
    from traceback import extract_tb

    frames = extract_tb(traceback)
    return "".join(f'  File "{f.filename}", line {f.lineno}, in {f.name}\n' for f in frames)


def _as_text(failure: Failure, *, verbose: bool) -> str:
    hint = f"{_printable(failure.hint)}\n" if failure.hint else ""
    text = f"Error: {_printable(failure.message)}\n{hint}"
    if verbose and failure.place:
        text = f"Traceback (most recent call last, without values):\n{failure.place}{text}"
    return text


def _as_json(failure: Failure) -> str:
    import json

    error = {"code": failure.code, "message": failure.message, "hint": failure.hint}
    return json.dumps({"error": error}) + "\n"


def _printable(text: str) -> str:
    from mipaudit.statements.printable_names import safe_text

    return "\n".join(safe_text(line, longest=_LONGEST_MESSAGE) for line in text.split("\n"))


_CLASSES: Final = (
    "Give members and holdout as two files: --members FILE --holdout FILE. If each file is another "
    "model, run the command once for each."
)
# What to do with a file that a command has no place for.
_FILES: Final = {
    "query losses": "Name each file by its option: --logits FILE or --probabilities FILE, --labels "
    "FILE, --membership FILE.",
    "query lira": "Name each file by its option: --shadow FILE, --inclusion FILE, --target FILE, "
    "--membership FILE.",
    **dict.fromkeys(("records", "attack", "attribute"), _CLASSES),
    "shift": "shift takes two tables: mipaudit shift MEMBERS HOLDOUT",
    "verify": "Did you mean --input {}?",
    "bounds": "Name the number by its option, as in --epsilon 1.",
    "init": "Did you mean --output {}?",
    "schema": "One schema describes the reports of all commands.",
}
_BY_PLACE: Final = "Give the tables without options: mipaudit shift MEMBERS HOLDOUT"
# What a command calls otherwise than others do; those of no command are of every one.
_INSTEAD: Final = {
    "shift --members": _BY_PLACE,
    "shift --holdout": _BY_PLACE,
    "shift --unit-col": "Did you mean --id-col?",
    "shift --max-advantage": "Did you mean --max-blind?",
    "query --unit-col": "Copy the column with --keep; --unit-col is for estimate.",
    "query losses --members": "The members' outputs are --logits or --probabilities, the holdout's "
    "--holdout-logits or --holdout-probabilities.",
    "--pvalue": "No option is needed: every report says how certain a leak is.",
    "--policy": "Did you mean --config FILE (settings and limits)?",
    "--fail-on": "Did you mean --on-inconclusive fail? A limit that is not met fails anyway.",
    "records --max-advantage": "Did you mean --max-risk (of a record)?",
    "compare --max-advantage": "Did you mean --max-increase (over the baseline)?",
    "simulate -n": "Did you mean --n-members and --n-holdout?",
    "mipaudit": "Type the name of the program once.",
    "-V": "Did you mean mipaudit --version?",
    "version": "Did you mean mipaudit --version?",
    "completion": "Did you mean mipaudit --install-completion?",
}
_MOST: Final = 5
_LISTS: Final = "See `mipaudit --help`, or look a word up: `mipaudit help WORD`."
_NO_COMMAND: Final = re.compile(r"No such command '(.*?)'", re.DOTALL)
_EXTRA: Final = re.compile(r"extra argument\S* \((.*)\)", re.DOTALL)
_NO_CHOICE: Final = re.compile(r"'([^']*)' is not one of")
_NO_NUMBER: Final = re.compile(r"'([^']*)' is not a valid float")
_ASIDE: Final = re.compile(r"^Policy: | \([^()]*\)$")
_TABLES: Final = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".summary", ".gz", ".zst")


def misplaced(error: Exception, words: Sequence[str], params_of: ParamsOf) -> str | None:
    """Return what to try, or None where nothing better is known than the parser says.

    Args:
        error: one of the parser's usage errors.
        words: all that were typed.
        params_of: returns the parser's parameters of a command.
    """
    context, message = getattr(error, "ctx", None), str(getattr(error, "message", ""))
    name = str(getattr(context, "info_name", words[0] if words else ""))
    option = getattr(error, "option_name", None)
    own = params_of(BY_NAME[name]) if name in BY_NAME else ()
    if type(error).__name__ == "NoSuchOption" and isinstance(option, str):
        # A word after one hyphen is read as short options.
        whole = {f"-{word}" for word in words if word.startswith(option)}
        meant = next((flag for one in own for flag in one.opts if flag in whole), None)
        return f"Did you mean {meant}?" if meant else _for_option(option, name, own, params_of)
    if "unexpected extra argument" in message:
        extra = _EXTRA.search(message)
        return _FILES.get(name, "").format(extra[1] if extra else "FILE") or None
    command = _NO_COMMAND.match(message)
    if command:
        return _for_command(command[1], words)
    return value_hint(error, message, name, own, params_of)


def value_hint(
    error: Exception, message: str, name: str, own: Iterable[Any], params_of: ParamsOf
) -> str | None:
    """Return what to try where a value is none that there may be, or is missing."""
    param, option = getattr(error, "param", None), getattr(error, "option_name", None)
    param = param or next((one for one in own if option in one.opts), None)
    choice, number = _NO_CHOICE.search(message), _NO_NUMBER.search(message)
    if choice:
        return choice_hint(choice[1], param, params_of)
    if number:
        return number_hint(number[1])
    missing = type(error).__name__ == "MissingParameter" or "requires an argument" in message
    if param is None or not missing:
        return None
    typed = f"{param.opts[-1]} {param.metavar or ''}".strip()
    return _FILES.get(name) or f"Write {typed}: {_ASIDE.sub('', param.help or '')}"


def _for_option(option: str, name: str, own: Sequence[Any], params_of: ParamsOf) -> str | None:
    meant = MEANT.get(option.removeprefix("--").replace("-", "_"))
    said = _INSTEAD.get(f"{name} {option}") or _INSTEAD.get(option)
    said = said or _described(meant, own) or _as_choice(option, own)
    if said or not option.startswith("--"):
        return said
    every = {one.name: params_of(one) for one in TABLE}
    owners = [row for row, params in every.items() if any(option in one.opts for one in params)]
    if owners:
        return _of_others(option, name, owners)
    close = near(option, [flag for one in own for flag in one.opts if flag.startswith("--")], CLOSE)
    if close:
        return f"Did you mean {close}?"
    found = (_described(meant, params, f" of mipaudit {row}") for row, params in every.items())
    return next(filter(None, found), None)


def _described(keyword: str | None, params: Iterable[Any], place: str = "") -> str | None:
    """Return the option that is meant, with what help says first of it, without its range."""
    found = next((one for one in params if one.name == keyword), None)
    if not found:
        return None
    said = _ASIDE.sub("", (found.help or "").partition(". ")[0].rstrip("."))
    return f"Did you mean {found.opts[-1]}{place} ({said})?"


def _as_choice(option: str, params: Iterable[Any]) -> str | None:
    """Return the option that has the name for one of its values, as ``--json`` is of --format."""
    value = option.lstrip("-")
    chosen = (one.opts[-1] for one in params if value in getattr(one.type, "choices", ()))
    flag = next((flag for flag in chosen if flag.startswith("--")), None)
    return f"Did you mean {flag} {value}?" if flag else None


def choice_hint(value: str, option: Any, params_of: ParamsOf) -> str | None:  # noqa: ANN401
    """Return the value that is nearly meant, or the command whose option of the name has it."""
    close = near(value.lower(), getattr(option.type, "choices", ()))
    if close:
        return f"Did you mean {close}?"
    for row in TABLE:
        params = (one for one in params_of(row) if one.name == option.name)
        if any(value in getattr(one.type, "choices", ()) for one in params):
            flag = option.opts[-1]
            return f"mipaudit {row.name} has it: mipaudit {row.name} report.json {flag} {value}"
    return None


def _of_others(option: str, name: str, owners: list[str]) -> str:
    listed = " and ".join(", ".join(owners).rsplit(", ", 1))
    if len(owners) > _MOST:
        listed = f"{owners[0]} and other commands"
    if name not in BY_NAME:
        return f"A command comes first: mipaudit {owners[0]} {option}"
    return f"{option} is an option of {listed}, not of {name}."


def _for_command(word: str, words: Sequence[str]) -> str:
    if word in _INSTEAD:
        return _INSTEAD[word]
    found = BY_NAME.get(MEANT.get(word, "")) or BY_NAME.get(f"query {word}")
    if found:
        return _meant(found.name, found.summary)
    from mipaudit.commands.query.options import KINDS

    meant = MEANT.get(word, f"query {word}")
    if meant.partition(":")[0].removeprefix("query ") in KINDS:
        return _meant(meant, BY_NAME["query"].summary)
    if word == "-" or set("./*") & {*word} or os.path.exists(word):  # noqa: PTH110
        return _for_file(word, words)
    close = near(word, BY_NAME, CLOSE)
    if close:
        return f"Did you mean mipaudit {close}?"
    # By name: the lookup loads the program, which loads this.
    looked_up = named("mipaudit.cli.lookup:looked_up")
    return f"`mipaudit help {word}` says what it is." if looked_up(word) else _LISTS


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
    if found:
        return f"It is {found.what}. {what_to_do(found, name)}"
    from shlex import join

    return f"A command comes first: mipaudit estimate {join(words)}"
