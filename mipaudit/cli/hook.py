"""Runs a command on each of several files, as pre-commit names them: ``OPTIONS FILES``.

``mipaudit-hook estimate --max-advantage 0.1 a.csv b.csv`` is
``mipaudit estimate --quiet --max-advantage 0.1 a.csv``, and the same on ``b.csv``.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final, NoReturn

import typer

from mipaudit.errors import MipauditError, UsageError
from mipaudit.output import exit_code
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS: Final = ("estimate", "records", "epsilon", "check")
_ORDER: Final = "Give the options first, then the score files."
# Verdicts, the worst first; other codes mean that a file could not be audited.
_WORST: Final = (exit_code.NOT_MET, exit_code.INCONCLUSIVE, exit_code.OK)


def main() -> NoReturn:
    """Run the command on each file and exit with the worst code."""
    from mipaudit.cli.failure import failure_of, show
    from mipaudit.cli.program import REFUSED

    command, *words = sys.argv[1:] or [""]
    try:
        options, files = split(command, words)
    except typer.Exit:  # --help
        sys.exit(exit_code.OK)
    except (MipauditError, REFUSED) as error:
        show(failure_of(error), words)
        sys.exit(exit_code.USAGE)
    sys.exit(worst([_run(command, options, file) for file in files]))


def split(command: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options and the files, as the command's own parser tells them apart.

    Raises:
        UsageError: no such command, no file is named, options stand behind a file, or one
            report would take the place of another.
    """
    from mipaudit.cli.program import application

    if command not in _COMMANDS:
        raise UsageError(
            "hook_command",
            "The first word must be the command that is run on each file.",
            hint=f"One of {', '.join(_COMMANDS)}; then its options, then the score files.",
        )
    if not words:
        raise UsageError("no_files", "No score file is named.", hint=_ORDER)
    parser = application([command]).commands[command]
    context = parser.make_context(command, list(words), allow_extra_args=True)
    first = context.params.get("data") or context.params.get("scores") or []
    files = [*([first] if isinstance(first, str) else first), *context.args]
    options = list(words[: len(words) - len(files)])
    if not files or list(words[len(options) :]) != files:
        raise UsageError(
            "no_files" if not files else "options_behind_files",
            "No score file is named." if not files else "An option follows a score file.",
            hint=_ORDER,
        )
    if len(files) > 1 and context.params.get("output") is not None:
        raise UsageError(
            "one_output",
            "Several files are named, but only one place for their reports.",
            hint="Leave -o out, or run the command on each file separately.",
        )
    return [word for word in options if word != "--"], files


def worst(codes: Sequence[int]) -> int:
    """Return the exit code of several audits: an error, else not met, else inconclusive."""
    errors = [code for code in codes if code not in _WORST]
    return max(errors) if errors else next(code for code in _WORST if code in codes)


def _run(command: str, options: Sequence[str], file: str) -> int:
    sys.stdout.write(f"== {safe_name(file)}\n")
    sys.stdout.flush()
    # Without the working folder, whose modules are those of what is audited.
    words = [sys.executable, "-P", "-m", "mipaudit", command, "--quiet", *options, "--", file]
    code = subprocess.run(words, check=False).returncode  # noqa: S603 - the program itself
    return code if code >= 0 else 128 - code  # ended by a signal, as shells report it


if __name__ == "__main__":
    main()
