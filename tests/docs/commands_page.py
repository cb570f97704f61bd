"""Writes ``docs/reference/commands.md``: what every command's ``--help`` says.

Run as ``python tests/docs/commands_page.py`` from anywhere.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mipaudit.cli.program import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "commands.md"
_HEAD = """# Commands

Every command with its options, as `mipaudit COMMAND --help` prints them. This page is made from
the program; a test fails where it is out of date.

"""


def commands_page():
    """Return the page."""
    links = "".join(f"- [{name}](#mipaudit-{name.replace(' ', '-')})\n" for name in COMMANDS)
    return _HEAD + links + "\n" + "\n".join(map(_section, ["", *COMMANDS]))


def _section(name):
    from tests.within import run_within

    # The terminal's width differs by machine.
    settled = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    done = run_within([*name.split(), "--help"], environment=settled, folder=ROOT)
    said = "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").splitlines())
    return f"## {f'mipaudit {name}'.strip()}\n\n```text\n{said}```\n"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # a script finds what is beside it alone
    PAGE.write_text(commands_page(), encoding="utf-8")
