"""What decides the random choices, and how the work is done."""

import operator
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from mipaudit.errors import UsageError
from mipaudit.options.declare import Act, Choice, Free, Manner, Options, but
from mipaudit.options.groups.game import StrictOption
from mipaudit.options.groups.recorded import Recorded, SeedOption
from mipaudit.options.plain_values import Given
from mipaudit.options.ranges import at_least
from mipaudit.summaries.seed import DEFAULT_SEED, SeedChoice

if TYPE_CHECKING:  # help is written without it
    from concurrent.futures import Executor

HOW_TO_START: Final = (
    "Start one with `dask scheduler`, and on each machine `dask worker tcp://HOST:8786`; then "
    "give --scheduler tcp://HOST:8786. In Python, a cluster on this machine: "
    "executor=distributed.LocalCluster().get_client().get_executor()."
)
Progress: TypeAlias = Callable[[int, int | None], None]
SeedGiven: TypeAlias = int | Literal["fresh"] | None
_FRESH_BYTES: Final = 8


def seed_given(value: Given) -> SeedGiven | SeedChoice:
    """Return the seed that was asked for: a number, the word, or a choice made before.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(value, SeedChoice):
        return value
    if isinstance(value, str) and value == "fresh":
        return "fresh"
    typed = isinstance(value, str) and value.isascii() and value.isdigit()
    try:
        number = int(value) if typed else operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or number < 0:
        raise ValueError(
            "must be a whole number of at least 0, or the word 'fresh'",
            "Leave it out, and it follows from the scores; `seed` fresh draws one, which the "
            "report records.",
        )
    return number


ChosenSeedOption = Annotated[
    SeedOption[SeedGiven],
    but(
        "Decides with the scores which rows train; fresh draws one that is recorded. "
        "Default: the scores alone decide.",
        metavar="INTEGER|fresh",
        within=None,
        read=seed_given,
    ),
]
JobsOption = Annotated[
    int | None,
    Manner(
        "--jobs", "Workers. Default: one per processor; the answer is the same.", within=at_least(1)
    ),
]


def seed_choice(given: SeedGiven | SeedChoice, *, strict: bool = False) -> SeedChoice:
    """Return the choice of the seed.

    Args:
        given: a whole number, at least 0; ``fresh`` for one of the operating system; None for
            the default, which follows from the rows; or a choice that was made before.
        strict: the default is a fresh one: what is then proved is proved over the seed.
    """
    if isinstance(given, SeedChoice):
        return given
    if given == "fresh" or (given is None and strict):
        return fresh_seed()
    return DEFAULT_SEED if given is None else SeedChoice(origin="stated", number=int(given))


def fresh_seed() -> SeedChoice:
    """Draw a seed that nobody could know when the rows were written."""
    # Here, since most runs draw none.
    from secrets import token_bytes

    return SeedChoice(origin="fresh", number=int.from_bytes(token_bytes(_FRESH_BYTES), "big"))


class ChosenSeed(Options):
    """The seed of the assignment of rows."""

    GROUP = "Statistics"

    seed: ChosenSeedOption = None

    @cached_property
    def chosen_seed(self) -> SeedChoice:
        """The choice of the seed: a fresh one is drawn once."""
        return seed_choice(self.seed)


class Seeded(ChosenSeed):
    """The seed, and whether large inputs are hashed, which a stated one asks for."""

    GROUP = "Work"

    hash_inputs: Annotated[
        bool, Free("--hash-inputs", "Record the sha256 of inputs over 64 MiB in all, too.")
    ] = False


class _Strict(Options):
    GROUP = "Statistics"

    strict: StrictOption = False


class StrictlySeeded(_Strict, Seeded):
    """Limits that hold at every sample size, over the draw of a seed."""

    @cached_property
    def chosen_seed(self) -> SeedChoice:
        """The choice of the seed: what `strict` proves is proved over a fresh one."""
        return seed_choice(self.seed, strict=self.strict)

    @property
    def seed_stated(self) -> bool:
        """Whether `strict` was asked for with a seed that somebody could know: nothing is sure."""
        return self.strict and self.chosen_seed.origin == "stated"


class Followed(Options):
    """Who is told how far the work is."""

    progress: Annotated[
        Progress | None, Manner(None, "Called with (rows or other work done, and in all or None).")
    ] = None


class Jobs(Options):
    """How the work is done, which changes no answer."""

    GROUP = "Work"

    jobs: JobsOption = None


class Work(Recorded, Jobs, Followed):
    """What a report says of the settings, and how the work is done."""


class Engines(Work):
    """Who does the work."""

    GROUP = "Work"

    engine: Annotated[
        Literal["auto", "threads", "processes", "dask"],
        Act("--engine", "Who does the work; the answer is the same."),
    ] = "auto"
    scheduler: Annotated[
        str | None,
        Act("--scheduler", "Scheduler of a Dask cluster to work on.", metavar="tcp://HOST:PORT"),
    ] = None
    executor: Annotated[
        "Executor | None", Act(None, "What runs the work instead: a pool, or a cluster's.")
    ] = None

    def check(self) -> None:
        """Refuse settings that contradict each other."""
        super().check()
        if self.scheduler is not None and self.engine not in {"auto", "dask"}:
            raise UsageError("scheduler", "A scheduler goes with `engine` dask alone.")
        if self.engine == "dask" and self.scheduler is None:
            raise UsageError("no_scheduler", "`engine` dask needs a scheduler.", hint=HOW_TO_START)
        if self.executor is None:
            return
        if not callable(getattr(self.executor, "submit", None)):
            raise UsageError(
                "executor",
                "The executor has no method 'submit'.",
                hint="Pass a concurrent.futures executor, such as client.get_executor().",
            )
        if self.engine != "auto" or self.scheduler is not None:
            raise UsageError("executor", "Give an executor, or an engine, but not both.")


class BadParts(Options):
    """What becomes of files that cannot be read."""

    GROUP = "Input"

    on_bad_part: Annotated[
        Literal["error", "skip"],
        Choice(
            "--on-bad-part",
            "A file that cannot be read ends the run, or is left out and named; no policy is "
            "met then.",
        ),
    ] = "error"
