"""What a shell that asks for completions has on its command line."""

from __future__ import annotations

import os
from typing import Final

# The shell sets it, with the name of the program in it, when the tab key is pressed.
_ASKED: Final = "_MIPAUDIT_COMPLETE"


# Wider than any help text: typer has rich wrap them, and shells take each line for a completion.
_UNWRAPPED: Final = "4096"


def is_completing() -> bool:
    """Tell whether a shell asks for completions, rather than a user for a run."""
    return _ASKED in os.environ


def keep_help_on_one_line() -> None:
    """Let what the parser answers the shell have one line for each completion."""
    os.environ["COLUMNS"] = _UNWRAPPED


def finished_words() -> list[str]:
    """Return the words before the one that is being completed, less the program's name.

    The parser reads the shell's line for itself, with its quotes; this is only to find which
    command's options are wanted, and the name of a command has no quotes.
    """
    words = os.environ.get("COMP_WORDS")
    if words is not None:  # bash
        at = os.environ.get("COMP_CWORD", "")
        return words.split()[1 : int(at)] if at.isdecimal() else []
    line = os.environ.get("_TYPER_COMPLETE_ARGS", "")  # zsh, fish and PowerShell
    words_of_line = line.split()[1:]
    return words_of_line if line.endswith(" ") else words_of_line[:-1]
