"""What the command line says when a run fails, what to try, and the exit code that goes with it."""

from __future__ import annotations

import errno
import os
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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
_SHORT: Final = re.compile(r"-(?P<flags>[^-fo][^fo]*)?(?:f(?P<format>.*)|o.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorStyle:
    """How errors are shown: as JSON for programs, and with the place for bug reports."""

    json: bool
    verbose: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed run: stable code, one sentence, what to try, exit code.

    ``place`` holds the lines of code that a bug passed through, never what they
    computed with.
    """

    code: str
    message: str
    hint: str | None
    status: int
    place: str | None = None


def error_style(arguments: Sequence[str]) -> ErrorStyle:
    """Read the style from the raw arguments: parsing them may be what fails."""
    head = list(arguments)
    if "--" in head:
        head = head[: head.index("--")]
    pairs = zip(head, [*head[1:], ""][: len(head)], strict=True)
    formats = [found for pair in pairs if (found := _format(*pair)) is not None]
    return ErrorStyle(
        json=formats[-1:] == ["json"],  # the last one counts
        verbose="--verbose" in head or any("v" in _short_flags(word) for word in head),
    )


def _format(word: str, next_word: str) -> str | None:
    if word == "--format":
        return next_word
    if word.startswith("--format="):
        return word.removeprefix("--format=")
    short = _SHORT.fullmatch(word)
    if short is None or short["format"] is None:
        return None
    return short["format"] or next_word


def _short_flags(word: str) -> str:
    short = _SHORT.fullmatch(word)
    return (short["flags"] or "") if short is not None else ""


def failure_of(error: BaseException) -> Failure:
    """Return what to say about an exception that ended the run."""
    if isinstance(error, MipauditError):
        # What led to it, where that is more than the message says.
        cause = error.__cause__
        return Failure(
            code=error.code,
            message=error.message,
            hint=error.hint,
            status=error.exit_code,
            place=None if cause is None else _place(cause.__traceback__),
        )
    if isinstance(error, KeyboardInterrupt):
        return Failure(
            code="interrupted",
            message="Interrupted; nothing was written.",
            hint=None,
            status=exit_code.INTERRUPTED,
        )
    if _lacks_memory(error):
        return Failure(
            code="out_of_memory",
            message="There is not enough memory for this input.",
            hint="Name fewer columns, use Parquet, a smaller --jobs, or a machine with more.",
            status=exit_code.USAGE,
        )
    if isinstance(error, OSError) and error.errno is not None:
        return _system_failure(error)
    if isinstance(error, ImportError):
        return Failure(
            code="broken_installation",
            message=f"A library cannot be loaded ({type(error).__name__}).",
            hint="`mipaudit doctor` says which, and what to do.",
            status=exit_code.USAGE,
            place=_place(error.__traceback__),
        )
    return _internal_failure(error)


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
    return Failure(
        code=re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower(),
        message=message if message.endswith((".", "?")) else f"{message}.",
        hint=better or place or _see_help(error),
        status=exit_code.USAGE,
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


def _see_help(error: Exception) -> str | None:
    path = getattr(getattr(error, "ctx", None), "command_path", None)
    return f"See `{path} --help`." if isinstance(path, str) else None


def _system_failure(error: OSError) -> Failure:
    # strerror comes from the system; args may not.
    reason = os.strerror(error.errno or 0)
    return Failure(
        code="system_error",
        message=f"The operating system refused: {reason}.",
        hint="Check the disk, the permissions and the paths.",
        status=exit_code.USAGE,
    )


def _internal_failure(error: BaseException) -> Failure:
    # The exception's own words may quote the data: only its kind is repeated.
    kind = type(error).__name__
    return Failure(
        code="internal_error",
        message=f"Internal error ({kind}). This is a bug in mipaudit, not in your data.",
        hint="Run again with -v and report the lines of code it prints; they hold no data.",
        status=exit_code.INTERNAL,
        place=_place(error.__traceback__),
    )


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
