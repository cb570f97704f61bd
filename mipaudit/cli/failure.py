"""What the command line says when a run fails, what to try, and the exit code that goes with it."""

from __future__ import annotations

import errno
import os
import re
import sys
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from mipaudit.errors import MipauditError
from mipaudit.output import exit_code

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

_LONGEST_MESSAGE: Final = 2000
# What Python and the system's loader say where there is no memory.
_NO_MEMORY: Final = (
    "can't start new thread",
    "failed to map segment from shared object",
    "cannot allocate memory",
    "Cannot allocate memory",
)
# Short options in one word: flags, and then one that takes the rest or the next word.
_SHORT: Final = re.compile(r"-(?P<flags>[^-fo][^fo]*)?(?:f(?P<form>.*)|o.*)?", re.DOTALL)


class ErrorStyle(NamedTuple):
    """How errors are shown: as JSON for programs, and with the place for bug reports."""

    json: bool
    verbose: bool


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


def error_style(arguments: Sequence[str]) -> ErrorStyle:
    """Read the style from the raw arguments: parsing them may be what fails."""
    head = list(takewhile(lambda word: word != "--", arguments))
    form, verbose = "", "--verbose" in head
    for word, next_word in zip(head, [*head[1:], ""], strict=False):
        short = _SHORT.fullmatch(word)
        flags, given = short.groups() if short is not None else (None, None)
        verbose |= "v" in (flags or "")
        if word == "--format" or given == "":
            form = next_word  # the last one counts
        elif given is not None or word.startswith("--format="):
            form = given or word.removeprefix("--format=")
    return ErrorStyle(json=form == "json", verbose=verbose)


def failure_of(error: BaseException) -> Failure:
    """Return what to say about an exception that ended the run."""
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
        reason = os.strerror(error.errno or 0)
        return Failure(
            "system_error",
            f"The operating system refused: {reason}.",
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
        words = str(error)
        return any(sign in words for sign in _NO_MEMORY)
    return isinstance(error, MemoryError)


def usage_failure(error: Exception, place: str | None = None, better: str | None = None) -> Failure:
    """Return what to say about arguments that could not be parsed.

    Args:
        error: one of the parser's usage errors. typer has carried its own copy of the
            parser's classes since 0.20-odd, so they are known by their attributes.
        place: what to try, where the value was not typed.
        better: what to try, where more is known than the parser knows.
    """
    message = str(getattr(error, "message", error))
    render = getattr(error, "format_message", None)
    if callable(render) and not getattr(error, "possibilities", None):
        message = str(render())
    # What the parser guesses is seldom near.
    message = message.partition(" Did you mean ")[0]
    path = getattr(getattr(error, "ctx", None), "command_path", None)
    see_help = f"See `{path} --help`." if isinstance(path, str) else None
    return Failure(
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower(),
        message if message.endswith((".", "?")) else f"{message}.",
        better or place or see_help,
    )


def show(failure: Failure, style: ErrorStyle) -> None:
    """Write the failure to stderr, as JSON or as text."""
    text = _as_json(failure) if style.json else _as_text(failure, verbose=style.verbose)
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
    lines = [f"Error: {_printable(failure.message)}"]
    if failure.hint:
        lines.append(_printable(failure.hint))
    text = "\n".join(lines) + "\n"
    if verbose and failure.place:
        text = f"Traceback (most recent call last, without values):\n{failure.place}{text}"
    return text


def _as_json(failure: Failure) -> str:
    import json

    error = {"code": failure.code, "message": failure.message, "hint": failure.hint}
    return json.dumps({"error": error}) + "\n"


def _printable(text: str) -> str:
    from mipaudit.statements.text.printable_names import safe_text

    return "\n".join(safe_text(line, longest=_LONGEST_MESSAGE) for line in text.split("\n"))
