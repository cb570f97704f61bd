"""Who does the work: which workers, how many of them, and what they make of bad parts."""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from mipaudit.options.groups.working import Engines

EngineName = Literal["auto", "threads", "processes", "dask"]
OnBadPart = Literal["error", "skip"]

# Decoding two row groups at once saturates two cores; more threads cost memory.
_MOST_DEFAULT_JOBS: Final = 4
HOW_TO_START: Final = (
    "Start one with `dask scheduler`, and on each machine `dask worker tcp://HOST:8786`; then "
    "give --scheduler tcp://HOST:8786. In Python, a cluster on this machine: "
    "executor=distributed.LocalCluster().get_client().get_executor()."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Settings that change how fast an answer comes, and none of its digits.

    Attributes:
        name: ``auto`` is threads, and processes where CSV files hold Python's lock.
        jobs: workers of this machine; None for the processors at hand.
        scheduler: address of a Dask scheduler.
        executor: what runs the work instead.
        on_bad_part: what to do with a part that cannot be read.
    """

    name: EngineName = "auto"
    jobs: int | None = None
    scheduler: str | None = None
    executor: Executor | None = None
    on_bad_part: OnBadPart = "error"

    def __post_init__(self) -> None:
        """Raise UsageError for settings that contradict each other."""
        if self.name not in get_args(EngineName):
            raise UsageError("engine", f"engine must be one of: {', '.join(get_args(EngineName))}.")
        if self.on_bad_part not in get_args(OnBadPart):
            raise UsageError("on_bad_part", "on_bad_part must be one of: error, skip.")
        _require_jobs(self.jobs)
        if self.scheduler is not None and self.name not in {"auto", "dask"}:
            raise UsageError("scheduler", "A scheduler goes with --engine dask alone.")
        if self.name == "dask" and self.scheduler is None:
            raise UsageError("no_scheduler", "--engine dask needs a scheduler.", hint=HOW_TO_START)
        if self.executor is None:
            return
        if not callable(getattr(self.executor, "submit", None)):
            raise UsageError(
                "executor",
                "The executor has no method 'submit'.",
                hint="Pass a concurrent.futures executor, such as client.get_executor().",
            )
        if self.name != "auto" or self.scheduler is not None:
            raise UsageError("executor", "Give an executor, or an engine, but not both.")

    @property
    def workers(self) -> int:
        """Return how many workers of this machine to use."""
        return default_jobs() if self.jobs is None else int(self.jobs)


def engine_of(asked: Engines, on_bad_part: OnBadPart = "error") -> Engine:
    """Return who does the work of a command, as it was asked.

    Raises:
        UsageError: settings that contradict each other.
    """
    return Engine(
        name=asked.engine,
        jobs=asked.jobs,
        scheduler=asked.scheduler,
        executor=asked.executor,
        on_bad_part=on_bad_part,
    )


def _require_jobs(jobs: int | None) -> None:
    if jobs is None:
        return
    try:
        enough = operator.index(jobs) >= 1
    except TypeError:
        raise UsageError("jobs", "jobs must be a whole number.") from None
    if not enough:
        raise UsageError("jobs", "The number of jobs must be at least 1.")


def default_jobs() -> int:
    """Return the number of workers that a run uses unless told."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(available or 1, _MOST_DEFAULT_JOBS)
