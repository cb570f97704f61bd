"""Output that the documentation quotes: finds it, makes it anew, and rewrites it.

Run as ``python tests/docs/quoted_output.py`` from anywhere to refresh every quotation.
A quotation is a text block between two comments::

    <!-- output of: mipaudit estimate FILE | from: Score "a" | before: Score "b" -->
    <!-- end of output -->

``from`` is the start of its first line, ``before`` of the line after its last; without
them the quotation starts or ends where the output does.

In place of a command ``the step above`` quotes the code block above it. All blocks of such a
page are run, from top to bottom and in one folder, as a reader would. Below a comment
``<!-- first lines of: FILE -->`` a text block has as many lines of the file as before.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from functools import cache
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = (
    README,
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            "README",
            *("how-to/choose-a-limit", "how-to/epsilon-audits", "explanation/figures"),
            *(
                "reference/guarantees",
                "reference/validation",
                "how-to/which-file",
                "explanation/gallery",
            ),
        )
    ),
)
# Their tests run them.
TUTORIALS = tuple(sorted((ROOT / "docs" / "tutorials").glob("*.md")))
_QUOTATION = re.compile(
    r"<!-- output of: (?P<command>mipaudit [^|\n]*?|the step above)"
    r"(?: \| from: (?P<start>[^|\n]*?))?(?: \| before: (?P<stop>[^|\n]*?))? -->\n"
    r"```text\n(?P<text>.*?)```\n<!-- end of output -->",
    flags=re.DOTALL,
)
_STEP = re.compile(
    rf"{_QUOTATION.pattern}|^```(?P<kind>python|console|toml)\n(?P<code>.*?)^```$",
    flags=re.DOTALL | re.MULTILINE,
)
_HEAD = re.compile(r"(<!-- first lines of: (\S+) -->\n```text\n)(.*?)(```\n)", flags=re.DOTALL)


def current(command, start, stop, text, output=None):
    """Return what a quotation should be: the digits that a processor decides stay."""
    from tests.figures import with_digits_of

    lines = (run(command).stdout if output is None else output).splitlines(keepends=True)
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
    return run_within(arguments, environment=environment(), folder=ROOT)


def environment():
    """Return what somebody has set who has set nothing."""
    unset = {"SOURCE_DATE_EPOCH", "MIPAUDIT_FULL"}
    kept = {name: text for name, text in os.environ.items() if name not in unset}
    return {**kept, "COLUMNS": "80", "NO_COLOR": "1"}


def quotations(page):
    """Return the parts of each quotation of a page: what `current` takes."""
    return [found.groupdict() for found in _QUOTATION.finditer(page)]


def refreshed(page):
    """Return the page with every quotation made anew."""
    with tempfile.TemporaryDirectory() as folder:
        return Walk(Path(folder)).refreshed(page)


class Walk:
    """A page that is read from top to bottom, with what its steps made."""

    def __init__(self, folder):
        """Begin in a folder, with the samples beside."""
        (folder / "sample_data").symlink_to(ROOT / "sample_data")
        self.folder, self.names, self.said, self._last = folder, {}, {}, ""

    def refreshed(self, page):
        """Return the page with every quotation made anew; its steps are run if one is quoted."""
        steps = _STEP if "<!-- output of: the step above" in page else _QUOTATION
        return _HEAD.sub(self._with_first_lines, steps.sub(self._renewed, page))

    def _renewed(self, found):
        kind, code, quoted = (found.groupdict().get(name) for name in ("kind", "code", "text"))
        whole = found.group()
        if quoted is None:
            getattr(self, f"_{kind}")(code)
            return whole
        parts = {name: found[name] for name in ("command", "start", "stop", "text")}
        above = self._last if found["command"] == "the step above" else None
        at = found.start("text") - found.start()
        return whole[:at] + current(**parts, output=above) + whole[at + len(quoted) :]

    def _python(self, code):
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(io.StringIO()) as said,
            patch.dict(os.environ, environment(), clear=True),
        ):
            exec(compile(code, "page", "exec"), self.names)  # noqa: S102 - our own page
        self._last = said.getvalue()

    def _toml(self, code):
        (self.folder / "mipaudit.toml").write_text(code, encoding="utf-8")

    def _console(self, code):
        from tests.within import run_within

        for line in code.splitlines():
            program, *words = shlex.split(line, comments=True)
            if program != "mipaudit":  # a script that was run block by block
                continue
            done = run_within(words, environment=environment(), folder=self.folder)
            if done.returncode:
                raise ValueError(f"{line}: {done.stderr}")
            self._last = self.said[line] = done.stdout

    def _with_first_lines(self, found):
        before, name, text, after = found.groups()
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines(keepends=True)
        return before + "".join(lines[: text.count("\n")]) + after


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # a script finds what is beside it alone
    for path in (*PAGES, *TUTORIALS):
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
