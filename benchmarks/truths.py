"""Every truth that ``mipaudit simulate`` states, against draws.

Run as ``python benchmarks/truths.py [--quick] [--seed N]``: 10^7 rows of each scenario (or
10^6), at two priors. Prints a table, and ends with exit code 1 if a truth is more standard
errors off than chance allows among so many.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from typing import Final

from truth_check import Check, check_truths, worst

from mipaudit.validation.scenarios import scenario, scenario_names

ROWS: Final = 10_000_000
QUICK: Final = 1_000_000
PRIORS: Final = (0.5, 0.1)
# The largest of 2,000 standard normal deviates exceeds it in one run of a thousand.
TOLERATED: Final = 5.0
# Each row of this one takes a thousand random numbers.
SLOW: Final = {"random-half-mean-1000": 10}


def checked(name: str, rows: int, seed: int) -> tuple[str, int, list[Check]]:
    """Return the scenario's name, the rows drawn and the checks at every prior."""
    size = rows // SLOW.get(name, 1)
    found = scenario(name)
    priors = PRIORS[:1] if found.kind == "splits" else PRIORS
    return (
        name,
        size,
        [
            check
            for prior in priors
            for check in check_truths(found, rows=size, prior=prior, seed=seed)
        ],
    )


def main(*, quick: bool, seed: int) -> int:
    """Check all scenarios, print the table, and return the exit code."""
    rows = QUICK if quick else ROWS
    names = scenario_names()
    largest, total = 0.0, 0
    print("| scenario | rows | comparisons | largest deviation (s.e.) | of |")
    print("|---|--:|--:|--:|---|")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for name, size, checks in pool.map(checked, names, repeat(rows), repeat(seed)):
            off = worst(checks)
            print(f"| `{name}` | {size:,} | {len(checks)} | {off.z:.2f} | {off.what} |", flush=True)
            largest, total = max(largest, off.z), total + len(checks)
    print(f"\n{len(names)} scenarios, {total:,} comparisons, largest deviation {largest:.2f} s.e.")
    return 1 if largest > TOLERATED else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=4)
    options = parser.parse_args()
    sys.exit(main(quick=options.quick, seed=options.seed))
