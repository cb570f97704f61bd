"""Time and memory of whole commands, so that two of them can be compared.

A cost is what a user pays: CPU seconds (user and system) and resident memory of
the process and everything it starts. Contestants take turns within one run and
their medians are compared, because absolute times drift on a shared machine and
ratios hold.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.util
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

POLL_SECONDS: Final = 0.005
MEBIBYTE: Final = 1 << 20
# ru_maxrss is in kibibytes on Linux and in bytes on macOS.
MAXRSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024

HEADER: Final = (
    "| what | CPU s | wall s | beside | CPU s | wall s | ratio | of runs | budget | peak MiB | |\n"
    "|---|--:|--:|---|--:|--:|--:|--:|--:|--:|---|"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a run took: seconds of CPU and of the clock, and peak resident bytes.

    ``runs`` are the CPU and clock seconds of each run where these are medians.
    """

    cpu: float
    wall: float
    peak: int
    runs: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a table: a cost beside another, and the most their ratio may be.

    ``of`` says of which part of the costs the ratio is. A speed-up (``at_least``) is the
    other cost over this one, and its budget a least.
    """

    what: str
    cost: Cost
    peer: str
    beside: Cost
    budget: float | None = None
    of: Literal["cpu", "wall", "peak"] = "cpu"
    at_least: bool = False

    @property
    def ratio(self) -> float:
        """Return what the budget limits."""
        ours, theirs = getattr(self.cost, self.of), getattr(self.beside, self.of)
        return float(theirs / ours if self.at_least else ours / theirs)

    @property
    def spread(self) -> tuple[float, float] | None:
        """Return the least and the largest ratio of runs that took turns; None for one run."""
        pairs = [*zip(self.cost.runs, self.beside.runs, strict=False)]
        if self.of == "peak" or len(pairs) < 2:  # noqa: PLR2004
            return None
        at = ("cpu", "wall").index(self.of)
        ratios = [ours[at] / theirs[at] for ours, theirs in pairs]
        if self.at_least:
            ratios = [1 / one for one in ratios]
        return min(ratios), max(ratios)

    @property
    def kept(self) -> bool:
        """Tell whether the budget is kept, or there is none."""
        if self.budget is None:
            return True
        return self.ratio >= self.budget if self.at_least else self.ratio <= self.budget

    def line(self) -> str:
        """Return the row as markdown."""
        sign = "at least " if self.at_least else ""
        limit = "" if self.budget is None else f"{sign}{self.budget:g}"
        mark = "" if self.budget is None else "met" if self.kept else "**missed**"
        of = "" if self.of == "cpu" else " (memory)" if self.of == "peak" else " (wall)"
        peak = f"{self.cost.peak / MEBIBYTE:.0f}" if self.cost.peak else ""
        spread = "" if self.spread is None else "{:.2f}-{:.2f}".format(*self.spread)
        return (
            f"| {self.what} | {self.cost.cpu:.3g} | {self.cost.wall:.3g} | {self.peer} "
            f"| {self.beside.cpu:.3g} | {self.beside.wall:.3g} | {self.ratio:.2f}{of} | {spread} "
            f"| {limit} | {peak} | {mark} |"
        )


# Every row that was shown, for whoever writes the page.
ROWS: Final[list[Row]] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a benchmark was asked to run."""

    quick: bool
    write: bool
    only: str | None
    command: tuple[str, ...]

    def rounds(self, full: int) -> int:
        """Return how many rounds to run: ``full``, or a third of it when quick."""
        return max(3, full // 3) if self.quick else full

    def rows(self, full: int) -> int:
        """Return how many rows to make: ``full``, or a tenth of it when quick."""
        return full // 10 if self.quick else full


def settings(description: str | None) -> Settings:
    """Read the options that all benchmarks share and compile what they will run."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, fewer rounds")
    parser.add_argument("--write", action="store_true", help="renew the page after --quick too")
    parser.add_argument("--only", metavar="NAME", help="renew what one benchmark measures")
    installed = Path(sys.executable).with_name("mipaudit")
    parser.add_argument("--command", default=str(installed), help="the command to measure")
    chosen = parser.parse_args()
    compile_package("mipaudit")
    return Settings(
        quick=chosen.quick,
        write=chosen.write,
        only=chosen.only,
        command=tuple(chosen.command.split()),
    )


def call_cost(script: str, path: Path) -> Cost:
    """Return what one call took inside a process of its own.

    The script gets the path as its argument and prints CPU seconds and clock seconds.
    """
    done = subprocess.run(
        (sys.executable, "-c", script, str(path)),
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    cpu, wall = (float(word) for word in done.stdout.split())
    return Cost(cpu=cpu, wall=wall, peak=0)


def compile_package(name: str) -> None:
    """Write the bytecode of a package, as installing it from a wheel would."""
    spec = importlib.util.find_spec(name)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        compileall.compile_dir(folder, quiet=1)


def environment() -> dict[str, str]:
    """Return the environment without what would slow imports down or add output."""
    dropped = {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONDEVMODE", "PYTHONWARNINGS"}
    return {name: value for name, value in os.environ.items() if name not in dropped}


def run(command: Sequence[str]) -> Cost:
    """Run a command to its end and return what its whole process tree took.

    Raises:
        RuntimeError: the command failed; its standard error is passed through.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    peak = 0
    while True:
        # wait4 counts the children that the process has waited for.
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        peak = max(peak, tree_bytes(process.pid))
        time.sleep(POLL_SECONDS)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        msg = f"exit status {process.returncode}: {' '.join(command)}"
        raise RuntimeError(msg)
    # Only without /proc: it also counts what this process held when it forked.
    peak = peak or usage.ru_maxrss * MAXRSS_UNIT
    return Cost(cpu=usage.ru_utime + usage.ru_stime, wall=wall, peak=peak)


def tree_bytes(pid: int) -> int:
    """Return the peak resident bytes of a process and its live descendants.

    The sum of their own peaks: exact for one process, at most too large for a
    tree, where shared pages count once for each. 0 without /proc.
    """
    process = Path("/proc", str(pid))
    try:
        status = (process / "status").read_text(encoding="utf-8")
        children = [
            int(child)
            for task in (process / "task").iterdir()
            for child in (task / "children").read_text(encoding="ascii").split()
        ]
    except OSError:
        return 0
    peaks = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return sum(map(int, peaks)) * 1024 + sum(tree_bytes(child) for child in children)


def interleaved(
    contestants: Mapping[str, Callable[[], Cost]], rounds: int, *, warm: bool = True
) -> dict[str, Cost]:
    """Let the contestants take turns and return the median cost of each.

    When ``warm`` one more round goes first and is not counted: it fills the file caches.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in contestants}
    for turn in range(rounds + warm):
        for name, contestant in contestants.items():
            cost = contestant()
            if turn >= warm:
                costs[name].append(cost)
    return {name: median(seen) for name, seen in costs.items()}


def median(costs: Sequence[Cost]) -> Cost:
    """Return the median of each part; of the memory, the largest."""
    return Cost(
        cpu=statistics.median(cost.cpu for cost in costs),
        wall=statistics.median(cost.wall for cost in costs),
        peak=max(cost.peak for cost in costs),
        runs=tuple((cost.cpu, cost.wall) for cost in costs) if len(costs) > 1 else (),
    )


def within(what: str, cost: Cost, peer: str, beside: Cost, *, budget: float | None) -> bool:
    """Print one row of the table and return whether the CPU ratio keeps its budget, if any."""
    return show(Row(what=what, cost=cost, peer=peer, beside=beside, budget=budget))


def show(row: Row) -> bool:
    """Print one row of the table and return whether its budget is kept."""
    ROWS.append(row)
    print(row.line(), flush=True)
    return row.kept
