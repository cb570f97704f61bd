"""Starting up: ``--help`` and ``--version`` beside a bare interpreter."""

from __future__ import annotations

import sys
from functools import partial
from typing import Final

import measure

BUDGET: Final = 8.0
ROUNDS: Final = 30


def main() -> int:
    """Print the table; return 1 when a budget is missed."""
    chosen = measure.settings(__doc__)
    commands = {
        "bare Python": (sys.executable, "-c", "pass"),
        "mipaudit --help": (*chosen.command, "--help"),
        "mipaudit --version": (*chosen.command, "--version"),
        "mipaudit estimate --help": (*chosen.command, "estimate", "--help"),
    }
    runs = {name: partial(measure.run, command) for name, command in commands.items()}
    costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
    bare = costs.pop("bare Python")
    print(measure.HEADER)
    kept = [
        measure.within(name, cost, "bare Python", bare, budget=BUDGET)
        for name, cost in costs.items()
    ]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
