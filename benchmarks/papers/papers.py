"""Computes the figures of five papers anew, and writes them into docs/reference/reproductions.md.

    python benchmarks/papers/papers.py [izzo-fig1 ...] [humphries-fig2=FILE ...]

A figure of people takes the file after its name: the Adult data, or for humphries-fig4
ProPublica's compas-scores-two-years.csv, as CSV. Without any name all others are made, in about
ten minutes of one processor; what is not made stays as it is. Needs dp-accounting. Exit code 1:
a number that must come out does not.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import humphries
import izzo
import lecture
import mace
import yeom
from comparison import PAGE, Made, draw, on_page, tables

if TYPE_CHECKING:
    from collections.abc import Callable

FIGURES: Final[dict[str, Callable[[], Made]]] = {
    "izzo-fig1": izzo.fig1,
    "izzo-fig2": izzo.fig2,
    "humphries-fig1": humphries.fig1,
    "humphries-fig6": humphries.fig6,
    "mace-fig2": mace.fig2,
    "mace-fig3": mace.fig3,
    "mace-fig4": mace.fig4,
    "mace-fig5": mace.fig5,
    "mace-fig6": mace.fig6,
    "mace-fig7": mace.fig7,
    "yeom-fig2": yeom.fig2,
    "lecture-thm2": lecture.thm2,
}
ON_FILE: Final[dict[str, Callable[[str], Made]]] = {
    "humphries-fig2": humphries.fig2,
    "humphries-fig3": humphries.fig3,
    "humphries-fig4": humphries.fig4,
}


def main() -> None:
    """Compute figures, and write each into the page as soon as it is there."""
    passed = True
    for word in sys.argv[1:] or FIGURES:
        name, _, path = word.partition("=")
        if name not in (ON_FILE if path else FIGURES):
            sys.exit(f"No such figure: {name}. Figures of people are named as humphries-fig2=FILE.")
        made = ON_FILE[name](path) if path else FIGURES[name]()
        page = on_page(PAGE.read_text(encoding="utf-8"), name, tables(made))
        PAGE.write_text(page, encoding="utf-8")
        draw(made, name)
        failed = [check.name for check in made.checks if not check.passed]
        passed = passed and not failed
        print(f"{name}: " + (f"FAILED: {'; '.join(failed)}" if failed else "all checks hold"))
    sys.exit(not passed)


if __name__ == "__main__":
    main()
