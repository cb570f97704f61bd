"""What ``mipaudit epsilon`` may be asked, and by which design.

An option belongs to a design by the class that it stands in.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.commands.epsilon.report import DesignKind
from mipaudit.errors import UsageError
from mipaudit.maths.epsilon.conditional import GuessCounts
from mipaudit.options import game
from mipaudit.options.declare import Options, choice, declared, free
from mipaudit.options.game import CLAIMED_CURVE_OPTION
from mipaudit.options.scores import MEMBER_SIDE_OPTION, Classes, Columns, Scores, Seeded, Work
from mipaudit.options.shown import CURVE_OPTION, EXIT_ZERO_OPTION, RequirePolicy, Shown
from mipaudit.options.values import NOT_NEGATIVE, Range, one_or_two, path_of
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.statements.provenance import InputFile

MethodName = Literal["conditional", "gdp"]
NumeratorChoice = Literal["either", "member", "holdout", "both"]
Rates = tuple[float, ...]
_GIVEN: Final = "the points given"
_FORMS: Final = (
    "must be a path, or two sequences of equal length: FPR, and the most TPR at each (FPR to 1)"
)
_MOST_STEPS: Final = 10**7
_RAREST: Final = 1e-3
_DESIGNS: Final = """\
  independent-runs  a row for each training run, with or without one chosen record: a valid limit
  one-run           a row for each canary (test record), in or out by coin toss: a valid limit
  one-model         a row for each member or holdout record of one model: no valid limit"""


def _points_or_path(given: Any) -> str | tuple[Rates, Rates]:  # noqa: ANN401 - a path, or points
    """Return the path of a file, or the points of an ROC.

    Raises:
        ValueError: it is neither.
    """
    path = path_of(given)
    if isinstance(path, str):
        return path
    try:
        fprs, tprs = (tuple(map(float, one)) for one in given)
    except (TypeError, ValueError):
        raise ValueError(_FORMS) from None
    inside = all(0 <= fpr <= tpr <= 1 for fpr, tpr in zip(fprs, tprs, strict=False))
    if not (0 < len(fprs) == len(tprs) and inside):
        raise ValueError(_FORMS)
    return fprs, tprs


def _called(given: str | tuple[Rates, Rates] | None) -> str | None:
    """Return what a report says of a claimed curve."""
    return _GIVEN if isinstance(given, tuple) else given


class _Any(Options):
    design: DesignKind | None = choice("How the scores came about. No default.")
    delta: float = game.DELTA_OPTION.but(default=1e-5)
    confidence: float = game.CONFIDENCE_OPTION.but(
        "How often the limit holds: 0.95 is 95%.", default=0.95
    )
    claimed_epsilon: float | None = game.CLAIMED_EPSILON_OPTION


class _Certifying(Options):
    GROUP = "Claim"

    claimed_mu: float | None = free(
        "Test this claim (mu) of Gaussian differential privacy.", metavar="MU", within=NOT_NEGATIVE
    )
    claimed_curve: Any = CLAIMED_CURVE_OPTION.but(read=_points_or_path, told=_called)
    true_epsilon: float | None = choice(
        "Show what an audit would find if this were the true epsilon. Default: twice the claim.",
        metavar="E",
        within=NOT_NEGATIVE,
        only_with="claimed_epsilon",
    )
    assume_gdp: bool = choice(
        "Add a limit (gdp) that is valid only if Gaussian noise protects the release.",
        default=False,
    )


class _Runs(Options):
    GROUP = "Independent runs"

    method: MethodName = choice(
        "The limit that is the answer: conditional, which assumes nothing about noise, or gdp, "
        "which needs `assume_gdp`.",
        default="conditional",
    )
    tp: int | None = game.TRUE_POSITIVES_OPTION.but("Right guesses about runs with the record.")
    fn: int | None = game.FALSE_NEGATIVES_OPTION.but("Wrong guesses about runs with the record.")
    fp: int | None = game.FALSE_POSITIVES_OPTION.but("Wrong guesses about runs without the record.")
    tn: int | None = game.TRUE_NEGATIVES_OPTION.but("Right guesses about runs without the record.")
    numerator: NumeratorChoice | None = choice(
        "With counts: use the guesses about runs with the record (member), without it (holdout), "
        "or all (both). Default (either): computes the limits of member and of holdout, and takes "
        "the higher, lowered a little because it was picked.",
        only_with="tp",
    )
    curve: bool = free("Add epsilon at many deltas. All hold at once.", default=False, flag=None)


class _OneRun(Options):
    GROUP = "One run"

    guesses: int | tuple[int, int] | None = choice(
        "The number of guesses (R), or how many canaries to call included (K+) and left out (K-). "
        "Choose before you see scores. Default: tries several. The limit takes this into account.",
        metavar="R|K+,K-",
        read=one_or_two,
    )
    member_side: Literal["auto", "high", "low"] = MEMBER_SIDE_OPTION.but(
        "Whether included canaries score high or low, if known.", default="auto"
    )
    canaries: int | None = game.count("How many canaries there are. Needs `guesses`.", metavar="M")
    correct: int | None = game.count("How many guesses were right.", metavar="V")
    inclusion_rate: float | None = choice(
        "The known probability that a canary was included, such as 0.5. Default: unknown, or 0.5 "
        "with `canaries`.",
        metavar="S",
        within=Range(lambda s: _RAREST <= s <= 1 - _RAREST, "at least 0.001 and at most 0.999"),
    )
    run_col: str | None = choice(
        "If there are several such runs: the column that says which run a row is from. Each run "
        "must toss its own coins, and the number of runs must have been fixed beforehand. Needs "
        "`key_col` for the canaries.",
        recorded_as="run_column",
        only_with="key_col",
    )


# What has no meaning with a design.
_FOREIGN: Final[Mapping[DesignKind, tuple[type[Options], ...]]] = {
    "independent-runs": (_OneRun,),
    "one-run": (_Runs,),
    "one-model": (_Runs, _OneRun, _Certifying),
}
_COUNTED: Final = ("tp", "fn", "fp", "tn", "canaries", "correct")
_OF_SCORES: Final = (
    *("curve", "member_side", "run_col", "hash_inputs"),
    *(one.name for one in declared(Columns)),
)


class EpsilonOptions(Scores, Classes, _Any, _Certifying, _Runs, _OneRun, Columns, Seeded, Work):
    """Scores, or counts in their place, how they came about, and a claim."""

    HELP = f"""Find promises of differential privacy that the data refute.

Differential privacy is a promise to hide whether any one record was used. It has two numbers,
epsilon and delta: smaller numbers promise more. At a given delta, this command computes a lower
confidence limit of epsilon. The data refute every smaller epsilon.
How the scores came about (--design) decides whether the limit is valid:

\b
{_DESIGNS}

\b
Examples:
  mipaudit epsilon runs.parquet --design independent-runs
      Every epsilon below the limit is refuted at delta 1e-5, with 95% confidence.
  mipaudit epsilon runs.parquet --design independent-runs --claimed-epsilon 1 --delta 0
      Tests a claim: exit code 1 if it is refuted, else 0, which does not verify it.
  mipaudit epsilon canaries.csv --design one-run --guesses 200,200
      Guesses that the 200 highest scores were included and the 200 lowest were not.
  mipaudit epsilon canaries.csv --design one-run --claimed-curve dpsgd.csv
      Tests a claim that is given as a table, such as one from mipaudit bounds --curve.
  mipaudit epsilon --design independent-runs --tp 500 --fn 0 --fp 0 --tn 500
  mipaudit epsilon --canaries 1000 --guesses 100 --correct 90
      The last two use counts of guesses, by an attack that was fixed beforehand.
"""

    @classmethod
    def idle(cls, given: Mapping[str, Any], typed: frozenset[str]) -> Collection[str]:
        """Return also what is about another design, and what is about scores beside counts."""
        counted = any(given[name] is not None for name in _COUNTED)
        foreign = _FOREIGN.get(given["design"] or "one-run", ())
        return [
            *super().idle(given, typed),
            *(one.name for group in foreign for one in declared(group)),
            *((*_OF_SCORES, "members", "holdout") if counted else ()),
        ]

    def check(self) -> None:
        """Refuse what belongs to another design, or to scores where there are counts."""
        super().check()
        foreign = (one.name for group in _FOREIGN[self.kind] for one in declared(group))
        if idle := self._first_of(foreign):
            raise UsageError("other_design", f"`{idle}` cannot be used with `design` {self.kind}.")
        if self.counted:
            self._check_counts()
        if self.nan == "drop" and self.kind != "one-model":
            raise UsageError(
                "nan",
                "`nan` drop would make the limit wrong: a missing score is an output too, and runs "
                "or canaries must not be dropped because of their output.",
                "Use `nan` category, which treats it as the lowest score.",
            )
        self._check_method()
        self._check_claim()

    def _first_of(self, names: Iterable[str]) -> str | None:
        """Return the first of these options that has another value than its default."""
        defaults = {one.name: one.default for one in declared(type(self))}
        return next((name for name in names if getattr(self, name) != defaults[name]), None)

    def _check_counts(self) -> None:
        if idle := self._first_of(_OF_SCORES):
            raise UsageError("needs_scores", f"`{idle}` can only be used with scores, not counts.")
        if any(one is not None for one in (self.data, self.members, self.holdout)):
            raise UsageError("two_inputs", "Scores and counts are both given. Give one of them.")
        # Both are read here, so that what is wrong with them is told.
        totals = self.totals if self.table is None else None
        guessed_right = 0 if totals is None else totals[-1]
        # A whole curve is tested guess by guess.
        if guessed_right > _MOST_STEPS and (self.assume_gdp or self.claims_curve):
            raise UsageError(
                "correct",
                "A trade-off curve, or a mu, can be tested with at most 10,000,000 right guesses.",
                "Test an epsilon, or make fewer guesses.",
            )

    def _check_method(self) -> None:
        if self.method == "gdp" and not self.assume_gdp:
            raise UsageError(
                "assume_gdp",
                "`method` gdp is only for a Gaussian mechanism: add `assume_gdp` if it is one.",
                "For randomized response or Laplace noise its limit is nearly always too high.",
            )
        if self.kind == "independent-runs" and self.assume_gdp and self.delta == 0:
            raise UsageError(
                "delta",
                "`assume_gdp` needs a delta above 0: Gaussian noise has no epsilon at delta 0.",
            )

    def _check_claim(self) -> None:
        epsilon, mu = self.claimed_epsilon, self.claimed_mu
        if sum(one is not None for one in (epsilon, mu, self.claimed_curve)) > 1:
            raise UsageError("one_claim", "Make only one claim: an epsilon, a mu or a curve.")
        if self.true_epsilon is not None and self.true_epsilon <= (epsilon or 0.0):
            raise UsageError(
                "true_epsilon",
                "`true_epsilon` must be above `claimed_epsilon`: it is what a false claim hides.",
            )
        if self.delta == 1 and (epsilon is not None or mu is not None):
            raise UsageError(
                "delta", "At delta 1 every mechanism meets every claim: choose a smaller delta."
            )

    @cached_property
    def kind(self) -> DesignKind:
        """The design, which is one run where there are canaries: nothing else has them."""
        if self.design is None and self.canaries is None:
            raise UsageError(
                "no_design",
                "Say with `design` how the scores were made: what they can prove depends on it.",
                _DESIGNS,
            )
        return self.design or "one-run"

    @property
    def counted(self) -> bool:
        """Whether there are counts in place of scores."""
        return any(getattr(self, name) is not None for name in _COUNTED)

    @cached_property
    def table(self) -> GuessCounts | None:
        """The counts of independent runs; None where none is given.

        Raises:
            UsageError: not all four, or no run of a kind.
        """
        tp, fn, fp, tn = found = self.tp, self.fn, self.fp, self.tn
        if all(one is None for one in found):
            return None
        if tp is None or fn is None or fp is None or tn is None:
            raise UsageError("counts", "Give all four counts: `tp`, `fn`, `fp` and `tn`.")
        if not (tp + fn > 0 and fp + tn > 0):
            raise UsageError(
                "counts",
                "There must be runs with the record (`tp` + `fn`) and without it (`fp` + `tn`).",
            )
        return GuessCounts(tp, fp, tn, fn, n_members=tp + fn, n_holdout=fp + tn)

    @cached_property
    def totals(self) -> tuple[int, int, int] | None:
        """The canaries of one run, the guesses and the right ones; None where none is given.

        Raises:
            UsageError: not all three, or guesses of two kinds.
        """
        canaries, guesses, correct = self.canaries, self.guesses, self.correct
        if canaries is None and correct is None:
            return None
        if canaries is None or guesses is None or correct is None:
            raise UsageError(
                "counts",
                "The counts of one run are `canaries`, `guesses` and `correct`, all three.",
                "`correct` is how many of the guesses were right.",
            )
        if isinstance(guesses, tuple):
            raise UsageError("guesses", "With `canaries`, give all `guesses` as one number.")
        return canaries, guesses, correct

    @property
    def counted_class(self) -> NumeratorChoice:
        """Whose right guesses count, of the counts of independent runs."""
        return self.numerator or "either"

    @property
    def direction(self) -> Literal["high", "low"] | None:
        """Where canaries score that one run includes; None tries both."""
        return None if self.member_side == "auto" else self.member_side

    @property
    def claims_curve(self) -> bool:
        """Whether a bound of every attacker's ROC is claimed, be it by mu or by its points."""
        return self.claimed_mu is not None or self.claimed_curve is not None

    @cached_property
    def curve_read(self) -> "tuple[str, TradeOff, InputFile | None] | None":
        """What a report calls the curve claimed by its points, that bound, and its file if any.

        Raises:
            InputError: the file cannot be read as points of an ROC.
        """
        given = self.claimed_curve
        if given is None:
            return None
        from mipaudit.maths.privacy.points_of_curve import sampled_tradeoff

        if not isinstance(given, str):
            return _GIVEN, sampled_tradeoff(*given), None
        from mipaudit.data.tables.splits import read_roc_points

        rates, source = read_roc_points(given)
        return safe_name(source.name), sampled_tradeoff(*rates.T.tolist()), source

    @property
    def tradeoff(self) -> "TradeOff | None":
        """The trade-off curve that is claimed, be it by mu or by its points."""
        if self.claimed_mu is not None:
            from mipaudit.maths.privacy.mechanism import GaussianDP

            return GaussianDP(mu=self.claimed_mu)
        return None if self.curve_read is None else self.curve_read[1]

    def confidence_of_one(self, columns: int) -> float:
        """Return the confidence of each of so many limits that hold jointly (Bonferroni)."""
        return 1 - (1 - self.confidence) / columns


class EpsilonShown(Shown, RequirePolicy):
    """The report with its verdict on a claim, and the curve beside it."""

    curve: str | None = CURVE_OPTION.but("Write epsilon at many deltas to a .csv or .json file.")
    exit_zero: bool = EXIT_ZERO_OPTION.but("Exit 0 even if the claim is refuted.", default=False)
