"""The errors that mipaudit raises on purpose.

Every message says what is wrong, where, and what to try. None ever contains a
value from the data: row numbers, counts and sanitised column names only.
"""

from __future__ import annotations

import re
from typing import Final, Self

EXIT_USAGE: Final = 2
_OPTION: Final = re.compile(r"`([a-z][a-z0-9_]*)`")


def as_typed(text: str) -> str:
    """Return a sentence in which options, which code has in backticks, are named as they are typed.

    >>> as_typed("`score_col` needs scores.")
    '--score-col needs scores.'
    """
    return _OPTION.sub(lambda found: f"--{found[1].replace('_', '-')}", text)


class MipauditError(Exception):
    """Base of all deliberate errors.

    Attributes:
        code: stable slug for scripts, such as ``"no_member_column"``.
        message: what is wrong and where, one sentence.
        hint: what to try next, or None.
        exit_code: the process exit status that the command line uses.
    """

    exit_code: int = EXIT_USAGE

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        """Keep the parts apart, so that ``-f json`` can report them as fields."""
        self.code = code
        self.message = as_typed(message)
        self.hint = None if hint is None else as_typed(hint)
        super().__init__(self.message)

    def worded(self, message: str, hint: str | None) -> Self:
        """Return the same error in other words, which ends the program as this one does."""
        found = type(self)(self.code, message, hint)
        found.exit_code = self.exit_code
        return found

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between processes in all its parts."""
        return _restored, (type(self), self.code, self.message, self.hint)

    def __str__(self) -> str:
        """Return the message followed by the hint."""
        return self.message if self.hint is None else f"{self.message} {self.hint}"


class UsageError(MipauditError):
    """An option or a setting is wrong: nothing was read."""


class InputError(MipauditError):
    """The data cannot be audited as they are."""


def bad_report(message: str, *, hint: str = "Use the file as the command wrote it.") -> InputError:
    """Return the error of a report's file that no command wrote."""
    return InputError("bad_report", message, hint)


class OutputError(MipauditError):
    """The report cannot be written."""


class MissingExtraError(MipauditError):
    """An optional dependency is needed, but not installed."""


def _restored(
    kind: type[MipauditError], code: str, message: str, hint: str | None
) -> MipauditError:
    return kind(code, message, hint)
