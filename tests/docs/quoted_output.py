"""Output that the documentation quotes: finds it, makes it anew, and rewrites it.

Run as ``python tests/docs/quoted_output.py`` from anywhere to refresh every quotation.
A quotation is a text block between two comments::

    <!-- output of: mipaudit estimate FILE | from: Score "a" | before: Score "b" -->
    <!-- end of output -->

``from`` is the start of its first line, ``before`` of the line after its last; without
them the quotation starts or ends where the output does.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import subprocess

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = (
    ROOT / "README.md",
    ROOT / "docs" / "how-to" / "choose-a-limit.md",
    ROOT / "docs" / "explanation" / "limits.md",
    ROOT / "docs" / "reference" / "guarantees.md",
    ROOT / "docs" / "how-to" / "epsilon-audits.md",
    ROOT / "docs" / "reference" / "validation.md",
)
# What one example of the README writes and the next one reads.
MADE: Final = "adult_scores.csv"
_QUOTATION: Final = re.compile(
    r"<!-- output of: (?P<command>mipaudit [^|\n]*?)"
    r"(?: \| from: (?P<start>[^|\n]*?))?(?: \| before: (?P<stop>[^|\n]*?))? -->\n"
    r"```text\n(?P<text>.*?)```\n<!-- end of output -->",
    flags=re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """One quoted output: the command, the part of its output, and the text quoted."""

    command: str
    start: str | None
    stop: str | None
    text: str

    def current(self) -> str:
        """Return what the quotation should be: the digits that a processor decides stay."""
        from tests.figures import with_digits_of

        lines = run(self.command).stdout.splitlines(keepends=True)
        first = 0 if self.start is None else _line_starting(lines, self.start, 0)
        last = len(lines) if self.stop is None else _line_starting(lines, self.stop, first + 1)
        made = "".join(line.rstrip() + "\n" for line in lines[first:last]).strip("\n") + "\n"
        return with_digits_of(self.text, made)


@cache
def run(command: str) -> subprocess.CompletedProcess[str]:
    """Run a ``mipaudit`` command of the documentation from the checkout's root."""
    program, *arguments = shlex.split(command, comments=True)
    if program != "mipaudit":
        raise ValueError("not a mipaudit command")
    from tests.within import run_within

    # What is quoted is what somebody sees who has set nothing.
    unset = {"SOURCE_DATE_EPOCH", "MIPAUDIT_FULL"}
    kept = {name: text for name, text in os.environ.items() if name not in unset}
    return run_within(
        arguments,
        environment={**kept, "COLUMNS": "80", "NO_COLOR": "1"},
        folder=_folder(arguments),
    )


def _folder(arguments: list[str]) -> Path:
    """Return where a command runs: one that writes a file, or reads it, not in the checkout."""
    if MADE not in arguments:
        return ROOT
    folder = _beside()
    if "-o" not in arguments and not (folder / MADE).exists():
        page = (ROOT / "README.md").read_text(encoding="utf-8")
        made = re.search(rf"^mipaudit query .* -o {re.escape(MADE)} .*$", page, flags=re.MULTILINE)
        if made is None:
            raise ValueError(f"no command of the README makes {MADE}")
        run(made[0])
    return folder


@cache
def _beside() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="quoted-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "sample_data").symlink_to(ROOT / "sample_data")
    return folder


def quotations(page: str) -> list[Quotation]:
    """Return the quotations of a page."""
    return [_quotation(found) for found in _QUOTATION.finditer(page)]


def refreshed(page: str) -> str:
    """Return the page with every quotation made anew."""

    def renew(found: re.Match[str]) -> str:
        start, stop = (found.start("text") - found.start(), found.end("text") - found.start())
        whole = found.group()
        return whole[:start] + _quotation(found).current() + whole[stop:]

    return _QUOTATION.sub(renew, page)


def _quotation(found: re.Match[str]) -> Quotation:
    parts = found.groupdict()
    return Quotation(
        command=parts["command"], start=parts["start"], stop=parts["stop"], text=parts["text"]
    )


def _line_starting(lines: list[str], text: str, first: int) -> int:
    for index in range(first, len(lines)):
        if lines[index].startswith(text):
            return index
    raise ValueError(f"no line of the output starts with {text!r}")


def main() -> None:
    """Rewrite the quotations of every page."""
    sys.path.insert(0, str(ROOT))  # a script finds what is beside it alone
    for path in PAGES:
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
