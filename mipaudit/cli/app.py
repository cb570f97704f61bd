"""The program: parses the arguments, runs a command, ends with its exit code.

Nothing heavy is imported here at the top: control-C must end the program quietly
from its first millisecond, also while the parser loads.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from mipaudit.output import exit_code

if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> NoReturn:
    """Run the command line and exit. The entry point of ``mipaudit``."""
    # No linear algebra is done, but its libraries would start threads that spin: half of
    # the CPU time of a small file.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What loading makes stays to the end. Looking through it for garbage, now and once more
    # at the end, would take a sixth of the time of a command that reads nothing.
    gc.disable()
    try:
        status = run(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        status = exit_code.CLOSED_PIPE
        _drop_stdout()
    except KeyboardInterrupt:
        # A second control-C, while the first was being reported.
        status = exit_code.INTERRUPTED
    except OSError as error:
        status = _report(error, sys.argv[1:])
        _drop_stdout()
    gc.freeze()
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command line within this process, report what fails, and return the exit code.

    Raises:
        BrokenPipeError: nobody reads standard output any more.
    """
    try:
        return _run(arguments)
    except SystemExit as end:
        # typer turns a closed pipe into a plain exit.
        if isinstance(end.__context__, BrokenPipeError):
            raise BrokenPipeError from None
        return end.code if isinstance(end.code, int) else exit_code.INTERNAL
    except BrokenPipeError:
        raise
    except BaseException as error:  # noqa: BLE001 - the last line of defence
        return _give_up(error, arguments)


def _run(arguments: Sequence[str]) -> int:
    try:
        from mipaudit.cli import program
    except ImportError:
        if arguments[:1] != ["doctor"]:
            raise
        return _doctor_alone(arguments)
    return program.run(arguments)


def _doctor_alone(arguments: Sequence[str]) -> int:
    """Look at the installation where not even the parser of options can be loaded."""
    from mipaudit.cli.failure import error_style
    from mipaudit.commands.doctor.options import DoctorOptions
    from mipaudit.commands.doctor.run import run_doctor
    from mipaudit.options.shown import Shown

    as_json, _ = error_style(arguments)
    shown = Shown(format="json") if as_json else Shown()
    return run_doctor(DoctorOptions(), shown)


def _give_up(error: BaseException, arguments: Sequence[str]) -> int:
    from mipaudit.errors import OutputError

    status = _report(error, arguments)
    if isinstance(error, OutputError):
        # What stdout still holds would fail once more, and be reported once more.
        _drop_stdout()
    return status


def _report(error: BaseException, arguments: Sequence[str]) -> int:
    try:
        from mipaudit.cli.failure import failure_of, show

        failure = failure_of(error)
        show(failure, arguments)
    except (MemoryError, ImportError):
        # Not even the words could be loaded. Python itself would end with 1: a verdict.
        with contextlib.suppress(OSError):
            os.write(2, b"Error: There is not enough memory.\n")
        return exit_code.USAGE
    return failure.status


def _drop_stdout() -> None:
    # Python flushes stdout once more at exit and would complain there.
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError:
        return
