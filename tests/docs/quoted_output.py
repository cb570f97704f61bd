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
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = (
    README,
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            *("how-to/choose-a-limit", "how-to/epsilon-audits", "explanation/limits"),
            *("reference/guarantees", "reference/validation"),
        )
    ),
)
# What one example of the README writes and the next one reads.
MADE = "adult_scores.csv"
_QUOTATION = re.compile(
    r"<!-- output of: (?P<command>mipaudit [^|\n]*?)"
    r"(?: \| from: (?P<start>[^|\n]*?))?(?: \| before: (?P<stop>[^|\n]*?))? -->\n"
    r"```text\n(?P<text>.*?)```\n<!-- end of output -->",
    flags=re.DOTALL,
)


def current(command, start, stop, text):
    """Return what a quotation should be: the digits that a processor decides stay."""
    from tests.figures import with_digits_of

    lines = run(command).stdout.splitlines(keepends=True)
    first = 0 if start is None else _line_starting(lines, start, 0)
    last = len(lines) if stop is None else _line_starting(lines, stop, first + 1)
    made = "".join(line.rstrip() + "\n" for line in lines[first:last]).strip("\n") + "\n"
    return with_digits_of(text, made)


def _line_starting(lines, text, first):
    for index in range(first, len(lines)):
        if lines[index].startswith(text):
            return index
    raise ValueError(f"no line of the output starts with {text!r}")


@cache
def run(command):
    """Run a ``mipaudit`` command of the documentation from the checkout's root."""
    from tests.within import run_within

    program, *arguments = shlex.split(command, comments=True)
    if program != "mipaudit":
        raise ValueError("not a mipaudit command")
    # What is quoted is what somebody sees who has set nothing.
    unset = {"SOURCE_DATE_EPOCH", "MIPAUDIT_FULL"}
    kept = {name: text for name, text in os.environ.items() if name not in unset}
    return run_within(
        arguments,
        environment={**kept, "COLUMNS": "80", "NO_COLOR": "1"},
        folder=_folder(arguments),
    )


def _folder(arguments):
    """Return where a command runs: one that writes a file, or reads it, not in the checkout."""
    if MADE not in arguments:
        return ROOT
    folder = _beside()
    if "-o" not in arguments and not (folder / MADE).exists():
        page = README.read_text(encoding="utf-8")
        run(re.search(rf"^mipaudit query .* -o {re.escape(MADE)} .*$", page, re.MULTILINE)[0])
    return folder


@cache
def _beside():
    folder = Path(tempfile.mkdtemp(prefix="quoted-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "sample_data").symlink_to(ROOT / "sample_data")
    return folder


def quotations(page):
    """Return the parts of each quotation of a page: what `current` takes."""
    return [found.groupdict() for found in _QUOTATION.finditer(page)]


def refreshed(page):
    """Return the page with every quotation made anew."""

    def renew(found):
        start, stop = (found.start("text") - found.start(), found.end("text") - found.start())
        whole = found.group()
        return whole[:start] + current(**found.groupdict()) + whole[stop:]

    return _QUOTATION.sub(renew, page)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # a script finds what is beside it alone
    for path in PAGES:
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
