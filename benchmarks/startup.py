"""Starting up, and commands of pure mathematics, beside a bare interpreter."""

from __future__ import annotations

import sys
from functools import partial
from typing import Final

import measure

BUDGET: Final = 6.5
ROUNDS: Final = 15
ARGUMENTS: Final = (
    "--help",
    "--version",
    "estimate --help",
    "bounds --epsilon 1 --delta 1e-5",
    "bounds --epsilon 1 --delta 1e-5 -f json",
    "noise --eta 0.1 --k 2",
    "noise --eta 0.1 --k 2 -f json",
)


def main() -> int:
    """Print the table; return 1 when a budget is missed."""
    chosen = measure.settings(__doc__)
    commands = {
        "bare Python": (sys.executable, "-c", "pass"),
        **{f"mipaudit {line}": (*chosen.command, *line.split()) for line in ARGUMENTS},
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
