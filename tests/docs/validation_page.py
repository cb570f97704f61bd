"""Writes the table of ``docs/reference/validation.md``: what the command prints.

Run as ``python tests/docs/validation_page.py --long`` from anywhere, with the options of
``mipaudit validate``; exits as that does. Stopped and run again, it goes on.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "validation.md"
# Finished cells of an unfinished run; `make clean` removes it.
CELLS = ROOT / "build" / "validation-cells.jsonl"
_TABLE = re.compile(
    r"(?<=<!-- table of: mipaudit validate -->\n).*?(?=<!-- end of table -->)", flags=re.DOTALL
)
_SUMMARY = re.compile(r"(?<=<!-- in short -->\n).*?(?=<!-- end of it -->)", flags=re.DOTALL)
_FIGURES = re.compile(r"([\d,]+) cells of ([\d,]+) files .* and ([\d,]+) limits")
_DRAWN = """\
- {2} limits that mipaudit prints were compared with the truth, each on up to {1} files.
- The files came from {0} cells: a law with known truth, a size and a prior each.
"""
_BESIDES = """\
- Methods that are known to be wrong ran on the same files. A run that does not catch them fails.
- This was measured on these laws. On other data coverage may differ.
"""


def with_table(page, table):
    """Return the page with another table, and what it says in short at the top."""
    for place, text in ((_TABLE, f"\n{table}\n"), (_SUMMARY, in_short(table))):
        page, places = place.subn(lambda _, text=text: text, page)
        if places != 1:
            raise ValueError("the page has no place for the table, or several")
    return page


def in_short(table):
    """Return the verdict, and what was drawn for it, for those who read no table."""
    verdict = next(line for line in table.splitlines() if line.startswith("**"))
    found = _FIGURES.search(table)
    drawn = "" if found is None else _DRAWN.format(*found.groups())
    return f"{verdict}\n\n{drawn}{_BESIDES}"


def nested(table):
    """Return what the command prints as a part of a page: without its title, one level down."""
    lines = table.splitlines(keepends=True)[2:]
    return "".join(f"#{line}" if line.startswith("#") else line for line in lines)


def main(arguments):
    """Run the command, rewrite the page, and return the exit code."""
    CELLS.parent.mkdir(exist_ok=True)
    command = ["validate", *arguments, "-f", "markdown", "--resume", str(CELLS)]
    done = subprocess.run(
        [sys.executable, "-m", "mipaudit", *command], stdout=subprocess.PIPE, check=False
    )
    if done.returncode in {0, 1}:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(with_table(page, nested(done.stdout.decode())), encoding="utf-8")
        CELLS.unlink(missing_ok=True)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
