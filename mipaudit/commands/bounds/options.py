"""What ``mipaudit bounds`` may be asked."""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from mipaudit.commands.bounds.parts import counts_by_name, dp_sgd_numbers, parts_of
from mipaudit.errors import UsageError
from mipaudit.options.declare import Option, Options, Range, but
from mipaudit.options.groups import game
from mipaudit.options.groups.recorded import Recorded
from mipaudit.options.groups.shown import CurveOption, Shown
from mipaudit.options.ranges import SHARE, above, swapped
from mipaudit.options.texts import operating_point

Question = Literal["guarantee", "target", "attack"]

_NOISE: Final = ("noise_sd", "scale", "geometric_scale")
_FAMILIES: Final = (
    *("epsilon", "mu", "rho", *_NOISE),
    *("randomized_response", "dp_sgd", "compose", "counting_queries"),
)
_TARGETS: Final = ("advantage", "accuracy", "eta", "tpr_at_fpr")
_RATES: Final = ("tpr", "fpr")
_COUNTS: Final = ("tp", "fn", "fp", "tn")
_QUESTIONS: Final = (*_FAMILIES, *_TARGETS, *_RATES, *_COUNTS)
_LARGEST: Final = 1e6
# Whole numbers up to here are exact as floats.
_LARGEST_WHOLE: Final = 10**15
# 0.3 is a target at prior 0.35, although |2 * 0.35 - 1| is a little more in floats.
_ROUNDING: Final = 1e-15
_LOSS: Final = Range(lambda x: 0 <= x <= _LARGEST, f"at least 0 and at most {_LARGEST:g}")
_SIZE: Final = above(0)


class _Guarantee(Options):
    GROUP = "What a guarantee allows"

    epsilon: Annotated[
        float | None,
        Option("--epsilon", "Differential privacy.", metavar="E", within=_LOSS, also=("eps", "dp")),
    ] = None
    delta: Annotated[
        game.DeltaOption[float | None],
        but("The delta of an epsilon; by default 0, or 1e-5 where epsilon is derived."),
    ] = None
    mu: Annotated[
        float | None,
        Option(
            "--mu",
            "Gaussian differential privacy.",
            metavar="MU",
            within=_LOSS,
            also=("gdp", "gaussian-dp", "gdp-mu"),
        ),
    ] = None
    rho: Annotated[
        float | None,
        Option(
            "--rho",
            "Zero-concentrated differential privacy.",
            metavar="RHO",
            within=_LOSS,
            also=("zcdp", "cdp"),
        ),
    ] = None
    noise_sd: Annotated[
        float | None,
        Option(
            "--noise-sd",
            "Gaussian noise: its standard deviation.",
            metavar="SD",
            within=_SIZE,
            also=("sigma", "sd", "std", "stdev", "gaussian"),
        ),
    ] = None
    scale: Annotated[
        float | None,
        Option(
            "--scale",
            "Laplace noise on one number: its scale.",
            metavar="B",
            within=_SIZE,
            also=("laplace", "b"),
        ),
    ] = None
    geometric_scale: Annotated[
        float | None,
        Option(
            "--geometric-scale",
            "Geometric noise on one whole number: its scale.",
            metavar="B",
            within=_SIZE,
        ),
    ] = None
    sensitivity: game.SensitivityOption = None
    randomized_response: Annotated[
        float | None,
        Option(
            "--randomized-response", "Probability of the true answer.", metavar="P", within=SHARE
        ),
    ] = None
    categories: Annotated[
        int | None,
        Option(
            "--categories",
            "How many answers there are; 2 by default.",
            metavar="K",
            within=Range(lambda n: 2 <= n <= _LARGEST_WHOLE, "at least 2 and at most 1e15"),  # noqa: PLR2004 - two answers
            only_with="randomized_response",
        ),
    ] = None
    dp_sgd: Annotated[
        Mapping[str, float] | None,
        Option(
            "--dp-sgd",
            "DP-SGD with Poisson sampling.",
            metavar="noise_multiplier=,q=,steps=",
            read=dp_sgd_numbers,
            also=("noise-multiplier", "dpsgd", "steps", "q", "sampling-rate"),
        ),
    ] = None
    compose: Annotated[
        Sequence[tuple[str, Mapping[str, float]]],
        Option(
            "--compose",
            "A part of a composition; repeat. KIND: gaussian, laplace, approximate-dp, "
            "randomized-response, dp-sgd.",
            metavar="KIND:NAME=X,...",
            read=parts_of,
            repeated=True,
        ),
    ] = ()
    counting_queries: Annotated[
        Mapping[str, float] | None,
        Option(
            "--counting-queries",
            "Averages of 0/1 values: k of them over n records, with `noise_sd` on each.",
            metavar="k=,n=",
            read=counts_by_name,
        ),
    ] = None


class _Target(Options):
    GROUP = "What a target needs"

    advantage: Annotated[
        float | None, Option("--advantage", "Target: the advantage is at most X.", metavar="X")
    ] = None
    accuracy: Annotated[
        float | None, Option("--accuracy", "Target: the accuracy is at most X.", metavar="X")
    ] = None
    eta: Annotated[
        game.EtaOption[float | None], but("Target: accuracy at most X above guessing (MIP).")
    ] = None
    tpr_at_fpr: Annotated[
        tuple[float, float] | None,
        Option(
            "--tpr-at-fpr",
            "Target: TPR at most T at FPR F.",
            metavar="T@F",
            read=operating_point,
            # Random guessing reaches TPR = FPR.
            within=Range(
                lambda point: 0 < point[1] < 1 and point[1] <= point[0] <= 1,
                "a TPR from the FPR up to 1, the FPR above 0 and below 1",
                meant=swapped,
            ),
        ),
    ] = None


class _Attack(Options):
    GROUP = "What an attack rules out"

    tpr: Annotated[
        float | None, Option("--tpr", "An attack's true-positive rate.", metavar="X", within=SHARE)
    ] = None
    fpr: Annotated[
        float | None, Option("--fpr", "An attack's false-positive rate.", metavar="X", within=SHARE)
    ] = None
    tp: game.TruePositivesOption = None
    fn: game.FalseNegativesOption = None
    fp: game.FalsePositivesOption = None
    tn: game.TrueNegativesOption = None


class _Answer(Options):
    recall_floor: Annotated[
        float,
        Option(
            "--recall-floor",
            "Precision is bounded at this recall or more.",
            metavar="R",
            within=Range(lambda r: 0 < r <= 1, "above 0 and at most 1"),
        ),
    ] = 0.01
    curves: Annotated[bool, Option(None, "Add the points of the curves to the report.")] = False


class BoundsOptions(_Guarantee, game.Neighbours, _Target, _Attack, game.Game, _Answer, Recorded):
    """A guarantee, a target or an attack."""

    HELP = """Say what a privacy guarantee allows an attacker, and back.

Nothing is read: this is mathematics. Ask one of three questions: what does a
guarantee allow, which guarantee does a target need, what does an attack rule out.

\b
Examples:
  mipaudit bounds --epsilon 1 --delta 1e-5
      Advantage, accuracy, TPR at low FPR, precision: what no attacker can
      exceed, with every published bound beside the exact one.
  mipaudit bounds --advantage 0.1
      The epsilon, the mu and the noise that keep every attacker below it.
  mipaudit bounds --tp 90 --fn 10 --fp 1 --tn 99
      The epsilon that an attack rules out, with confidence limits.
  mipaudit bounds --dp-sgd noise_multiplier=0.8,q=0.01,steps=10000
      Needs the extra: pip install "mipaudit[accounting]"
  mipaudit bounds --counting-queries k=100,n=1000 --noise-sd 0.01
      The averaging attack on noisy averages.
"""

    @classmethod
    def idle(cls, given: Mapping[str, Any], typed: frozenset[str]) -> Collection[str]:
        """Return also what asks another question than is typed: an eta is what noise takes, too."""
        asks = {name for name in _QUESTIONS if given[name] not in (None, [], ())}
        others = asks - typed if asks & typed else set()
        noise = () if (asks - others) & {*_NOISE} else ("sensitivity",)
        attack = ("adjacency",) if (asks - others) & {*_RATES, *_COUNTS} else ()
        return [*super().idle(given, typed), *others, *noise, *attack]

    def check(self) -> None:
        """Refuse several questions at once, and what belongs to another one."""
        super().check()
        match self.question:
            case "guarantee":
                _check_guarantee(self)
            case "target":
                _check_target(self)
            case "attack":
                _check_attack(self)
        if self.curves and self.question != "guarantee":
            raise UsageError(
                "curves",
                "Curves belong to a guarantee.",
                hint="State one, for example `epsilon` 1.",
            )

    @cached_property
    def question(self) -> Question:
        """Which of the three questions is asked."""
        targets, attack = _given(self, _TARGETS), _given(self, (*_RATES, *_COUNTS))
        stated = _given(self, _FAMILIES)
        if targets and stated == ["counting_queries"]:
            stated = []  # they say what the noise is for, which is asked for
        if not (stated or targets or attack):
            raise UsageError(
                "nothing_asked",
                "Nothing to translate.",
                hint="Give a guarantee (`epsilon` 1), a target (`advantage` 0.1) or an attack "
                "(`tpr` 0.9 `fpr` 0.01).",
            )
        if bool(stated) + len(targets) + bool(attack) > 1:
            raise UsageError(
                "one_question",
                "One question at a time: a guarantee, one target, or an attack.",
                hint="A guarantee is checked against a target by looking at what it allows.",
            )
        return "guarantee" if stated else "target" if targets else "attack"

    @cached_property
    def family(self) -> str:
        """The one guarantee that is stated, by its option."""
        given = _given(self, _FAMILIES)
        if "counting_queries" in given:
            given = [name for name in given if name != "noise_sd"]  # it is part of them
        if len(given) > 1:
            names = ", ".join(f"`{name}`" for name in given)
            raise UsageError(
                "one_guarantee",
                f"One guarantee at a time: {names} state different ones.",
                hint="Keep one of them; several releases together are stated with `compose`.",
            )
        return given[0]

    @property
    def moved(self) -> float:
        """How far a neighbour moves what gets the noise; all k averages together."""
        if self.counting_queries is not None:
            return math.sqrt(self.counting_queries["k"]) / self.counting_queries["n"]
        return 1.0 if self.sensitivity is None else self.sensitivity


class BoundsShown(Shown):
    """The report, and the curves beside it."""

    curve: CurveOption = None
    plot: Annotated[
        str | None,
        Option("--plot", "Draw bounds and ROC there (.png, .pdf, .svg).", metavar="FILE"),
    ] = None


def _given(asked: BoundsOptions, names: Sequence[str]) -> list[str]:
    return [name for name in names if getattr(asked, name) not in (None, ())]


def _check_guarantee(asked: BoundsOptions) -> None:
    if asked.family == "counting_queries":
        _check_counting_queries(asked)
        if asked.noise_sd is None:
            raise UsageError(
                "noise_sd",
                "Counting queries need the standard deviation of their noise: `noise_sd`.",
                hint="Or give a target, such as `advantage` 0.1, and the noise is found.",
            )
    elif asked.sensitivity is not None and asked.family not in _NOISE:
        raise UsageError(
            "sensitivity",
            "A sensitivity belongs to a noise scale: `noise_sd`, `scale` or `geometric_scale`.",
        )
    if asked.family == "geometric_scale" and not (
        asked.moved <= _LARGEST_WHOLE and asked.moved.is_integer()
    ):
        raise UsageError(
            "sensitivity",
            "The sensitivity of a geometric mechanism must be a whole number, at most 1e15: what "
            "it protects is one.",
        )
    if asked.family == "randomized_response" and asked.adjacency == "add-remove":
        raise UsageError(
            "adjacency",
            "Randomized response hides which answer a person gave, not that one was given.",
            hint="Leave `adjacency` out, or say substitution.",
        )
    noise = next((size for name in _NOISE if (size := getattr(asked, name)) is not None), math.inf)
    if asked.moved / noise > _LARGEST:
        raise UsageError(
            "sensitivity",
            f"The sensitivity must be at most {_LARGEST:g} times the noise: less hides nothing.",
        )


def _check_counting_queries(asked: BoundsOptions) -> None:
    if asked.sensitivity is not None:
        words = "The sensitivity of `counting_queries` follows from k and n."
        raise UsageError("sensitivity", words)
    if asked.adjacency is not None:
        raise UsageError(
            "adjacency",
            "The averages of `counting_queries` are over a fixed number of records: "
            "substituting a record moves them as far as blanking it.",
            hint="Leave `adjacency` out.",
        )


def _check_target(asked: BoundsOptions) -> None:
    if asked.counting_queries is not None:
        _check_counting_queries(asked)
    trivial = max(asked.prior, 1 - asked.prior)
    baseline = abs(2 * asked.prior - 1)
    for name, value, lowest, highest in (
        ("advantage", asked.advantage, baseline, 1.0),
        ("accuracy", asked.accuracy, trivial, 1.0),
        ("eta", asked.eta, 0.0, 1 - trivial),
    ):
        if value is not None and not lowest - _ROUNDING <= value <= highest + _ROUNDING:
            raise UsageError(
                name,
                f"The target for {name} must be at least {lowest:g}, which blind guessing "
                f"reaches at this prior, and at most {highest:g}.",
            )


def _check_attack(asked: BoundsOptions) -> None:
    idle = _given(asked, ("adjacency", "sensitivity"))
    if idle:
        raise UsageError(
            "attack",
            f"`{idle[0]}` has no meaning beside an attack.",
            hint="An attack is its rates, or its counts, and `delta`.",
        )
    rates, counts = _given(asked, _RATES), _given(asked, _COUNTS)
    if counts and (rates or len(counts) < len(_COUNTS)):
        raise UsageError(
            "attack",
            "The counts of an attack are `tp`, `fn`, `fp` and `tn`, and rates follow from them.",
        )
    if not counts and len(rates) < len(_RATES):
        hint = "Give `tpr` and `fpr`, or the counts `tp` `fn` `fp` `tn`."
        raise UsageError("attack", "An attack has two rates.", hint=hint)
    if counts and not ((asked.tp or asked.fn) and (asked.fp or asked.tn)):
        raise UsageError(
            "attack",
            "An attack is counted on members (`tp`, `fn`) and on holdout records (`fp`, `tn`): "
            "neither may be empty.",
        )
