"""What decides the random choices, and how the work is done."""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, TypeAlias

from mipaudit.options.declare import Option, Options
from mipaudit.options.ranges import at_least
from mipaudit.options.seed_choice import SeedGiven, seed_choice, seed_given
from mipaudit.statements.provenance.origin import Setting
from mipaudit.summaries.identity.seed import SeedChoice

Progress: TypeAlias = Callable[[int, int | None], None]


class Seeded(Options):
    """The seed of the assignment of rows."""

    seed: Annotated[
        SeedGiven,
        Option(
            "--seed",
            "Decides with the scores which rows train; fresh draws one that is recorded. "
            "Default: the scores alone decide.",
            metavar="INTEGER|fresh",
            read=seed_given,
        ),
    ] = None
    hash_inputs: Annotated[
        bool, Option("--hash-inputs", "Record the sha256 of inputs over 64 MiB in all, too.")
    ] = False

    @cached_property
    def chosen_seed(self) -> SeedChoice:
        """The choice of the seed: a fresh one is drawn once."""
        return seed_choice(self.seed)


class Recorded(Options):
    """What a report says of the settings."""

    settings: Annotated[
        tuple[Setting, ...] | None,
        Option(None, "Recorded in the provenance; None records the arguments.", recorded=False),
    ] = None


class Work(Recorded):
    """How the work is done, which changes no answer."""

    jobs: Annotated[
        int | None,
        Option(
            "--jobs",
            "Workers. Default: one per processor; the answer is the same.",
            metavar="N",
            within=at_least(1),
            recorded=False,
        ),
    ] = None
    progress: Annotated[
        Progress | None,
        Option(None, "Called with (rows done, rows in all or None).", recorded=False),
    ] = None
