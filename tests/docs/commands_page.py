"""Writes ``docs/reference/commands.md``: what every command's ``--help`` says.

Run as ``python tests/docs/commands_page.py`` from anywhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from mipaudit.cli.program import COMMANDS

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "reference" / "commands.md"
_HEAD: Final = """# Commands

Every command with its options, as `mipaudit COMMAND --help` prints them. This page is made from
the program; a test fails where it is out of date.

"""


def commands_page() -> str:
    """Return the page."""
    names = ["", *COMMANDS]
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(_section, names))
    links = "".join(f"- [{name}](#mipaudit-{name.replace(' ', '-')})\n" for name in COMMANDS)
    return _HEAD + links + "\n" + "\n".join(parts)


def _section(name: str) -> str:
    title = f"mipaudit {name}".strip()
    return f"## {title}\n\n```text\n{_help(name)}```\n"


def _help(name: str) -> str:
    # One processor's worth of threads in a default, and the terminal's width, differ by machine.
    settled = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mipaudit", *name.split(), "--help"],
        cwd=ROOT,
        env={**os.environ, **settled},
        capture_output=True,
        text=True,
        check=True,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").splitlines())


if __name__ == "__main__":
    PAGE.write_text(commands_page(), encoding="utf-8")
