"""What an audit of scores is asked: what is read, its policy, and how the work is done."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mipaudit.errors import UsageError
from mipaudit.options.declare import Options, act, choice, free, manner, reads
from mipaudit.options.game import (
    HOLDOUT_OPTION,
    KEY_COLUMN_OPTION,
    MEMBERS_OPTION,
    SEED_OPTION,
    STRICT_OPTION,
    Game,
    Recorded,
)
from mipaudit.options.values import (
    OPERATING_POINT,
    Given,
    at_least,
    number,
    operating_point,
    require,
)
from mipaudit.statements.choices import Against, Side
from mipaudit.summaries.seed import DEFAULT_SEED, SeedChoice

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from mipaudit.options.checked_limits import AskedPolicy

# A path, a directory, a glob, an address, "-"; a frame, an Arrow table, an array.
Data: TypeAlias = Any
NanPolicy = Literal["error", "category", "drop"]
UnitRule = Literal["one", "mean", "max", "min", "sum"]


class Scores(Options, kw_only=False):
    """One input, or the two classes apart."""

    data: Data = reads(
        "A CSV (also .gz, .zst) or Parquet file, a folder or pattern of such files, an address "
        "(s3://, gs://, az://, https://), or - for standard input.",
        flag="SCORES",
    )


SEVERAL_OPTION = reads(
    "CSV (also .gz, .zst) or Parquet files, folders or patterns of such files, addresses (s3://, "
    "gs://, az://, https://), or - for standard input. Several files are one data set.",
    flag="SCORES...",
    repeated=True,
)


class SeveralScores(Options, kw_only=False):
    """Files that count as one data set."""

    data: Data = SEVERAL_OPTION


class Classes(Options):
    """The members and the holdout records apart."""

    members: Any = MEMBERS_OPTION
    holdout: Any = HOLDOUT_OPTION


class ScoreColumns(Options):
    """Which columns are scores."""

    score_col: Sequence[str] = choice(
        "A column to audit as a score. Repeat for several. Columns joined by commas (d1,d2) make "
        "one score of several numbers. Default: found by name and type.",
        default=(),
        recorded_as="score_columns",
    )


class Membership(Options):
    """Who is a member, and which rows count."""

    GROUP = "Input"

    member_col: str | None = choice(
        "The membership column. Default: found by name.", first=True, recorded_as="member_column"
    )
    member_value: str | None = choice(
        "The value that marks members in the membership column. All other rows are holdout.",
        metavar="VALUE",
    )
    where: str | None = choice(
        "Read only the rows whose column COL has this value.", metavar='"COL = VALUE"', near=True
    )
    unit_col: str | None = choice(
        "The column that says which person a row is about. Each person counts once.",
        first=True,
        recorded_as="unit_column",
    )
    unit_rows: UnitRule | None = choice(
        "With `unit_col`: how a person's rows become one. Choose before you see results. Default: "
        "one of the rows (one).",
        only_with="unit_col",
    )
    rows_are: Literal["independent"] | None = choice(
        "State that rows are independent, although ids, scores or files repeat."
    )


class Columns(ScoreColumns, Membership):
    """The columns and the rows that count, by their names."""

    GROUP = "Input"

    key_col: str | None = KEY_COLUMN_OPTION
    nan: NanPolicy = choice(
        "If scores are missing: stop (error), count as a value (category), or drop rows (drop).",
        default="error",
    )

    @property
    def missing_kept(self) -> bool:
        """Tell whether missing scores have a place of their own, below all others."""
        return self.nan == "category"


class Discreteness(Options):
    """Whether scores have few values."""

    GROUP = "Statistics"

    discrete: bool = choice(
        "State that the score can take only few values, and that this file has all of them. Adds "
        "an upper confidence limit that holds for every attacker.",
        default=False,
    )


MEMBER_SIDE_OPTION = choice("Whether members score high or low. auto finds out.")


class Sides(Options):
    """Where members score."""

    GROUP = "Statistics"

    member_side: Literal["auto", "high", "low"] = MEMBER_SIDE_OPTION.but(default="auto")

    @property
    def side(self) -> Side | None:
        """The side that was given; None for the one that the scores show."""
        return None if self.member_side == "auto" else self.member_side


_LIMITS = "`max_metric` must be names with limits, such as {'ppv': 0.6} or 'ppv=0.6'."


def limits_of(given: Any) -> tuple[str, ...]:  # noqa: ANN401 - names and limits, or texts
    """Return limits on metrics as ``NAME=LIMIT``.

    Raises:
        UsageError: ``max_metric``: another form.
    """
    if isinstance(given, Mapping):
        numbers = {name: number("max_metric", limit, _LIMITS) for name, limit in given.items()}
        return tuple(f"{name}={limit!r}" for name, limit in numbers.items())
    texts = (given,) if isinstance(given, str) else tuple(given or ())
    require(all(isinstance(text, str) for text in texts), "max_metric", _LIMITS)
    return texts


def listed(code: str, given: object) -> tuple[dict[str, Any], ...]:
    """Return limits or waivers as plain mappings, dates as text: what a report records.

    Args:
        code: ``limits`` or ``waivers``.
        given: an iterable of mappings.

    Raises:
        UsageError: ``code``: another form.
    """
    accepted = f"{code} must be a list of mappings, such as {{'quantity': 'advantage', ...}}."
    require(isinstance(given, Iterable) and not isinstance(given, (str, Mapping)), code, accepted)
    found: tuple[Any, ...] = tuple(given)  # type: ignore[arg-type]
    require(all(isinstance(one, Mapping) for one in found), code, accepted)
    return tuple(
        {str(key): value.isoformat() if isinstance(value, date) else value for key, value in pairs}
        for pairs in (one.items() for one in found)
    )


MAX_ADVANTAGE_OPTION = free("Policy: the advantage must be at most X.")
AGAINST_OPTION = free(
    "The attackers that the policy must withstand: those who use one cut-off (thresholds), one "
    "score range (intervals-1), up to four (intervals-4), 16 equally filled ranges (bins-16), or "
    "anything (any). For scores of several numbers: combinations of ranges (product-grid), or a "
    "cut-off on one number computed from them by a learned rule (learned). Default: any if a score "
    "has few values; otherwise the attackers with the highest 'at most'."
)
MAX_COPIES_OPTION = free(
    "Policy: at most N members may appear unchanged in the release (column exact_copy). If you "
    "leave this option out, copied members turn 'met' into 'inconclusive', unless chance can "
    "explain the copies.",
    within=at_least(0),
)


class _MaxAdvantage(Options):
    max_advantage: float | None = MAX_ADVANTAGE_OPTION


class AdvantageLimit(Game, _MaxAdvantage):
    """A policy on the advantage."""

    def check(self) -> None:
        """Refuse a limit that is always kept, or never."""
        from mipaudit.options.checked_limits import require_possible

        super().check()
        require_possible("max_advantage", "advantage", self.max_advantage, self.prior)


class ListedPolicy(Options):
    """The limits and waivers that a policy file lists."""

    GROUP = "Policy"

    limits: Sequence[Mapping[str, Any]] = free(
        "Policy limits on any quantity, as the policy file lists them: {'quantity': 'auc', 'max': "
        "0.6, 'score': 'loss'} (mipaudit help policy-files).",
        default=(),
        flag=None,
        read=partial(listed, "limits"),
    )
    waivers: Sequence[Mapping[str, Any]] = choice(
        "Accepted exceptions to limits, as the policy file lists them.",
        default=(),
        flag=None,
        read=partial(listed, "waivers"),
    )
    on_inconclusive: Literal["fail", "review", "pass"] = choice(
        "Exit code if the verdict is inconclusive: 1 (fail), 3 (review) or 0 (pass).",
        default="review",
        needs_word=lambda given: given == "pass",
    )


class _ScoreLimits(_MaxAdvantage):
    GROUP = "Policy"

    max_eta: float | None = free(
        "Policy: the share of right guesses may exceed that of blind guessing by at most X (eta)."
    )
    max_tpr_at_fpr: tuple[float, float] | None = free(
        "Policy: an attacker may find at most a share T of the members, if the attacker wrongly "
        "calls a share F of the holdout records members. In 0.02@0.001, T is 20 in 1,000 and F is "
        "1 in 1,000. T must be above F.",
        metavar="T@F",
        read=operating_point,
        in_python="Or (0.02, 0.001).",
        within=OPERATING_POINT,
    )
    max_copies: int | None = MAX_COPIES_OPTION
    against: Against | None = AGAINST_OPTION
    max_metric: Mapping[str, float] | Sequence[str] = free(
        "Policy: the metric must be at most X, as in ppv=0.6. Repeat for several.",
        default=(),
        metavar="NAME=X",
        in_python="Or {'ppv': 0.6}.",
        read=limits_of,
        repeated=True,
    )


class ScorePolicy(_ScoreLimits, ListedPolicy):
    """A policy on what scores tell."""

    def policy_at(
        self, prior: float, least_recall: float, metric: Sequence[str] = ()
    ) -> "AskedPolicy":
        """Return the policy, checked.

        Args:
            prior: at which it is judged, in (0, 1).
            least_recall: of attackers in metrics that need one, in (0, 1).
            metric: names of metrics that are asked for.

        Raises:
            UsageError: a limit is always kept, or never, or is of an unknown quantity.
        """
        from mipaudit.options.checked_limits import policy_of

        return policy_of(vars(self), prior, least_recall, metric)


HOW_TO_START: Final = (
    "Start one with `dask scheduler`, and on each machine `dask worker tcp://HOST:8786`; then give "
    "`scheduler` tcp://HOST:8786. In Python, a cluster on this machine: "
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
            "Leave `seed` out to compute it from the scores. `seed` fresh draws one, which the "
            "report records.",
        )
    return number


CHOSEN_SEED_OPTION: Any = SEED_OPTION.but(
    "Random seed. fresh draws a new one, and the report names it. Default: computed from the data.",
    metavar="INTEGER|fresh",
    within=None,
    read=seed_given,
)
JOBS_OPTION = manner(
    "Number of workers. It changes no result. Default: one per processor.",
    within=at_least(1),
)


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

    seed: SeedGiven = CHOSEN_SEED_OPTION

    @cached_property
    def chosen_seed(self) -> SeedChoice:
        """The choice of the seed: a fresh one is drawn once."""
        return seed_choice(self.seed)


class Seeded(ChosenSeed):
    """The seed, and whether large inputs are hashed, which a stated one asks for."""

    GROUP = "Work"

    hash_inputs: bool = free("Also report checksums of inputs over 64 MiB.", default=False)


class _Strict(Options):
    GROUP = "Statistics"

    strict: bool = STRICT_OPTION.but(default=False)


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

    progress: Progress | None = manner(
        "Called with the work done so far, such as rows, and the total or None.", flag=None
    )


class Jobs(Options):
    """How the work is done, which changes no answer."""

    GROUP = "Work"

    jobs: int | None = JOBS_OPTION


class Work(Recorded, Jobs, Followed):
    """What a report says of the settings, and how the work is done."""


class Engines(Work):
    """Who does the work."""

    GROUP = "Work"

    engine: Literal["auto", "threads", "processes", "dask"] = act(
        "Share the work among threads, processes or a Dask cluster. This changes no result.",
        default="auto",
    )
    scheduler: str | None = act("The address of a Dask scheduler.", metavar="tcp://HOST:PORT")
    executor: "Executor | None" = act("An executor for the work, as of a cluster.", flag=None)

    def check(self) -> None:
        """Refuse settings that contradict each other."""
        super().check()
        if self.scheduler is not None and self.engine not in {"auto", "dask"}:
            raise UsageError("scheduler", "`scheduler` can only be used with `engine` dask.")
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

    on_bad_part: Literal["error", "skip"] = choice(
        "If a file cannot be read: stop (error), or leave it out (skip). Leaving a file out turns "
        "the verdict met into inconclusive.",
        default="error",
    )
