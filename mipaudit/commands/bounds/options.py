"""What ``mipaudit bounds`` may be asked: a guarantee, a target or an attack, and its numbers."""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal

from mipaudit.errors import UsageError
from mipaudit.maths.advantage import baseline
from mipaudit.options import game
from mipaudit.options.declare import Options, act, free
from mipaudit.options.game import Recorded
from mipaudit.options.shown import CURVE_OPTION, Shown
from mipaudit.options.values import SHARE, Range, above, numbers, operating_point, require, swapped

Question = Literal["guarantee", "target", "attack"]
Numbers = Mapping[str, float]

_NOISE: Final = ("noise_sd", "scale", "geometric_scale")
_FAMILIES: Final = (
    *("epsilon", "mu", "rho", "rdp", *_NOISE),
    *("randomized_response", "dp_sgd", "compose", "counting_queries"),
)
_TARGETS: Final = (
    *("advantage", "accuracy", "eta", "tpr_at_fpr"),
    *("success", "gaussian_noise_for"),
)
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
_MOST_RUNS: Final = 10_000
# What each part of a composition is made of.
_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "gaussian": ("noise_multiplier", "count"),
    "laplace": ("noise_multiplier", "count"),
    "approximate-dp": ("epsilon", "delta", "count"),
    "randomized-response": ("truth", "categories", "count"),
    "dp-sgd": ("noise_multiplier", "q", "steps"),
}
_WHOLE: Final = frozenset({"count", "categories", "steps", "k", "n"})

# Each reader takes what was typed or given in Python, and raises ValueError for anything else.


def _numbers(given: Any, names: tuple[str, ...], kind: str = "") -> Numbers:  # noqa: ANN401
    """Return exactly these numbers by name, from a mapping or its text."""
    if isinstance(given, str):
        pairs = [part.partition("=")[::2] for part in given.split(",")]
    else:
        pairs = list(given.items()) if isinstance(given, Mapping) else []
    found = [(str(name).strip(), value) for name, value in pairs]
    if sorted(name for name, _ in found) != sorted(names):
        after = f" after {kind}" if kind else ""
        raise ValueError(
            f"takes exactly {', '.join(names)}{after}",
            f"Write {kind}{','.join(f'{name}=NUMBER' for name in names)}.",
        )
    return {name: _number(name, value) for name, value in found}


def _number(name: str, value: Any) -> float:  # noqa: ANN401
    try:
        found = value if isinstance(value, int) else float(value)
        whole = found == int(found)
    except (TypeError, ValueError):
        raise ValueError(f"takes a number for {name}") from None
    except OverflowError:
        found, whole = math.inf, False
    if name in _WHOLE and not whole:
        raise ValueError(f"takes a whole number for {name}")
    return int(found) if name in _WHOLE else found


def _dp_sgd(given: object) -> Numbers:
    return _numbers(given, _PARTS["dp-sgd"])


def _averages(given: object) -> Numbers:
    found = _numbers(given, ("k", "n"))
    if min(found.values()) < 1:
        raise ValueError("takes k and n of at least 1")
    return found


def _wanted_guarantee(given: object) -> Numbers:
    found = _numbers(given, ("epsilon", "delta"))
    if not (_LOSS.holds(found["epsilon"]) and 0 < found["delta"] < 1):
        raise ValueError("takes an epsilon from 0 to 1e6 and a delta above 0 and below 1")
    return found


def _renyi_limits(given: Any) -> tuple[tuple[float, float], ...]:  # noqa: ANN401
    """Return pairs of an order and its limit, from ``"2:0.1,4:0.25"``, a mapping or pairs."""
    if isinstance(given, Mapping):
        given = given.items()
    parts = [one.split(":") for one in given.split(",")] if isinstance(given, str) else given
    try:
        found = tuple((float(order), float(limit)) for order, limit in parts)
    except (TypeError, ValueError):
        raise ValueError(
            "takes orders, each with its divergence after a colon, and commas between",
            "For example 2:0.1,4:0.25.",
        ) from None
    if not found or not all(1 < order <= _LARGEST and _LOSS.holds(e) for order, e in found):
        raise ValueError(
            "takes orders above 1 and at most 1e6, each with a divergence from 0 to 1e6"
        )
    return found


def _shares(given: Any) -> tuple[float, ...]:  # noqa: ANN401 - one alone may be a number, too
    return numbers((given,) if isinstance(given, (int, float)) else given)


def _success_at(given: Any) -> tuple[float, float]:  # noqa: ANN401
    """Return a success and a baseline from ``"0.2@0.1"``, or from a pair of numbers."""
    try:
        return operating_point(given)
    except ValueError:
        raise ValueError(
            "takes a success and a baseline, typed with @ between them",
            "0.2@0.1 means: right in 10% of cases without the record, in at most 20% with it.",
        ) from None


def _parts_of(given: Any) -> tuple[tuple[str, Numbers], ...]:  # noqa: ANN401
    """Return parts from ``KIND:name=number,...`` each, or pairs of the kind and a mapping."""
    return tuple(map(_part, (given,) if isinstance(given, str) else given or ()))


def _part(given: Any) -> tuple[str, Numbers]:  # noqa: ANN401
    match given.partition(":") if isinstance(given, str) else given:
        case (str(kind), str(), stated) | (str(kind), stated) if kind in _PARTS:
            return kind, _numbers(stated, _PARTS[kind], f"{kind}:")
    raise ValueError(
        f"takes KIND:NAME=NUMBER,..., KIND being one of {', '.join(_PARTS)}",
        "For example gaussian:noise_multiplier=2,count=10.",
    )


class _Guarantee(Options):
    """Which guarantee is given."""

    GROUP = "What a guarantee allows"

    epsilon: float | None = free("The epsilon of differential privacy.", metavar="E", within=_LOSS)
    delta: float | None = game.DELTA_OPTION.but(
        "The delta that goes with epsilon. Default: 0; for guarantees that have no epsilon at "
        "delta 0, such as Gaussian noise: 1e-5."
    )
    mu: float | None = free("The mu of Gaussian differential privacy.", metavar="MU", within=_LOSS)
    rho: float | None = free("The rho of zero-concentrated DP.", metavar="RHO", within=_LOSS)
    rdp: Sequence[tuple[float, float]] | None = free(
        "Renyi differential privacy. 2:0.1 means: at order 2, the divergence is at most 0.1.",
        metavar="ORDER:E,...",
        read=_renyi_limits,
        repeated=False,
    )
    noise_sd: float | None = free("Gaussian noise: standard deviation.", metavar="SD", within=_SIZE)
    scale: float | None = free("Scale of Laplace noise on one number.", metavar="B", within=_SIZE)
    geometric_scale: float | None = free(
        "Scale of geometric noise on one whole number.", metavar="B", within=_SIZE
    )
    sensitivity: float | None = game.SENSITIVITY_OPTION
    randomized_response: float | None = free(
        "Randomized response: the probability that the answer given is true.",
        metavar="P",
        within=SHARE,
    )
    categories: int | None = free(
        "Randomized response: how many answers there are; 2 by default.",
        metavar="K",
        within=Range(lambda n: 2 <= n <= _LARGEST_WHOLE, "at least 2 and at most 1e15"),  # noqa: PLR2004 - two answers
        only_with="randomized_response",
    )
    dp_sgd: Mapping[str, float] | None = free(
        "DP-SGD: each step uses each record with probability q (Poisson sampling).",
        metavar="noise_multiplier=,q=,steps=",
        read=_dp_sgd,
    )
    compose: Sequence[tuple[str, Mapping[str, float]]] = free(
        "A part of the release, as in gaussian:noise_multiplier=2,count=10. Repeat. NAMEs by "
        "KIND: gaussian and laplace (noise_multiplier, count), approximate-dp (epsilon, delta, "
        "count), randomized-response (truth, categories, count), dp-sgd (noise_multiplier, q, "
        "steps). noise_multiplier: standard deviation (laplace: scale) for sensitivity 1 "
        "(add-remove).",
        default=(),
        metavar="KIND:NAME=X,...",
        read=_parts_of,
        repeated=True,
    )
    best_of: int | None = free(
        "Only the best of K runs is published. The guarantee that you type is that of one run.",
        metavar="K",
        within=Range(lambda k: 1 <= k <= _MOST_RUNS, "at least 1 and at most 10,000"),
    )
    drawn: Literal["fixed", "poisson", "geometric", "logarithmic"] = free(
        "Whether the number of runs was fixed, or drawn at random beforehand, with mean K.",
        default="fixed",
        only_with="best_of",
    )
    counting_queries: Mapping[str, float] | None = free(
        "The release is k averages, with noise (`noise_sd`), of 0/1 values over n records.",
        metavar="k=,n=",
        read=_averages,
    )


def _beside_guessing(point: tuple[float, float]) -> bool:
    """Tell whether a rate is no less than that of guessing, which is above 0 and below 1."""
    rate, guessed = point
    return 0 < guessed < 1 and guessed <= rate <= 1


class _Target(Options):
    """What no attacker may exceed."""

    GROUP = "What a target needs"

    advantage: float | None = free("Target: the advantage is at most X.")
    accuracy: float | None = free("Target: the accuracy is at most X.")
    eta: float | None = game.ETA_OPTION.but("Target: the accuracy is at most X above guessing.")
    success: tuple[float, float] | None = free(
        "Target: at most a share S of the guesses about a person is right, if a share B is right "
        "when the person's record is not in the data.",
        metavar="S@B",
        read=_success_at,
        within=Range(_beside_guessing, "a share S from B up to 1; B above 0 and below 1"),
    )
    gaussian_noise_for: Mapping[str, float] | None = free(
        "Target: this guarantee, by Gaussian noise on a result with this `sensitivity`.",
        metavar="epsilon=,delta=",
        read=_wanted_guarantee,
    )
    tpr_at_fpr: tuple[float, float] | None = free(
        "Target: the TPR is at most T at an FPR of F.",
        metavar="T@F",
        read=operating_point,
        # Random guessing reaches TPR = FPR.
        within=Range(
            _beside_guessing,
            "a TPR from the FPR up to 1, the FPR above 0 and below 1",
            meant=swapped,
        ),
    )


class _Attack(Options):
    """What an attack did."""

    GROUP = "What an attack rules out"

    tpr: float | None = free("An attack's true-positive rate.", within=SHARE)
    fpr: float | None = free("An attack's false-positive rate.", within=SHARE)
    tp: int | None = game.TRUE_POSITIVES_OPTION
    fn: int | None = game.FALSE_NEGATIVES_OPTION
    fp: int | None = game.FALSE_POSITIVES_OPTION
    tn: int | None = game.TRUE_NEGATIVES_OPTION


class _Answer(Options):
    """What is answered beside."""

    baseline: Sequence[float] = free(
        "Share of guesses about a person (an identity, an attribute) that is right without the "
        "person's record. The report says what share can be right with it.",
        default=(),
        metavar="B,B,...",
        read=_shares,
        within=Range(lambda shares: all(0 <= b <= 1 for b in shares), "each from 0 to 1"),
    )
    recall_floor: float = free(
        "Show the precision of attacks that find at least this share of the members.",
        default=0.01,
        metavar="R",
        within=Range(lambda r: 0 < r <= 1, "above 0 and at most 1"),
    )
    curves: bool = free("Add the points of the curves to the report.", default=False, flag=None)


class BoundsOptions(_Guarantee, game.Neighbours, _Target, _Attack, game.Game, _Answer, Recorded):
    """A guarantee, a target or an attack."""

    HELP = """Say what a privacy guarantee allows an attacker, or which guarantee is needed.

A guarantee is a promise of differential privacy, such as epsilon = 1. Ask what a guarantee allows,
which guarantee keeps a limit that you set (a target), or which guarantees an attack refutes. Reads
no data. mipaudit help guarantees explains the guarantees, mipaudit help glossary the words.

\b
Examples:
  mipaudit bounds --epsilon 1 --delta 1e-5
      The advantage, accuracy, TPR at low FPR and precision that no attacker can exceed.
  mipaudit bounds --epsilon 1 --baseline 0.1
      Without a person's record, 10 in 100 guesses about the person are right. How many with it?
  mipaudit bounds --advantage 0.1
      The epsilon, the mu or the noise that keeps every attacker's advantage at 0.1 or below.
  mipaudit bounds --success 0.2@0.1
      Which guarantee allows at most 20 of 100 right guesses, if 10 are right without the record?
  mipaudit bounds --gaussian-noise-for epsilon=1,delta=1e-5 --sensitivity 2
      The least Gaussian (normally distributed) noise that gives this guarantee.
  mipaudit bounds --tp 90 --fn 10 --fp 1 --tn 99
      An attack found 90 of 100 members, and 1 of 100 others by mistake. Which epsilon is refuted?
  mipaudit bounds --dp-sgd noise_multiplier=0.8,q=0.01,steps=10000
      What training with noise (DP-SGD) allows. First: pip install "mipaudit[accounting]"
  mipaudit bounds --compose gaussian:noise_multiplier=2,count=10 --compose \
laplace:noise_multiplier=3,count=1
      Ten results with Gaussian noise and one with Laplace noise: what all together allow.
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
        {
            "guarantee": _check_guarantee,
            "target": _check_target,
            "attack": _check_attack,
        }[self.question](self)
        for name, what in (
            ("curves", "Curves belong"),
            ("baseline", "A `baseline` belongs"),
            ("best_of", "The best of several runs belongs"),
        ):
            idle = self.question != "guarantee" and getattr(self, name)
            hint = "State one, for example `epsilon` 1."
            require(not idle, name, f"{what} to a guarantee.", hint)

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
                "There is no question to answer.",
                "Give a guarantee (`epsilon` 1), a target (`advantage` 0.1) or an attack (`tpr` "
                "0.9 `fpr` 0.01).",
            )
        if bool(stated) + len(targets) + bool(attack) > 1:
            raise UsageError(
                "one_question",
                "Ask one question at a time: about a guarantee, one target, or an attack.",
                "To check a guarantee against a target, ask what the guarantee alone allows.",
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
                "Keep one of them. For several releases together, use `compose`.",
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

    curve: str | None = CURVE_OPTION
    plot: str | None = act("Draw such curves (.png, .pdf, .svg).", metavar="FILE", recorded=True)


def _given(asked: BoundsOptions, names: Sequence[str]) -> list[str]:
    return [name for name in names if getattr(asked, name) not in (None, ())]


def _check_guarantee(asked: BoundsOptions) -> None:
    if asked.family == "counting_queries":
        _check_counting_queries(asked)
        require(
            asked.noise_sd is not None,
            "noise_sd",
            "Counting queries need the standard deviation of their noise: `noise_sd`.",
            "Or give a target, such as `advantage` 0.1, to find the noise.",
        )
    else:
        require(
            asked.sensitivity is None or asked.family in _NOISE,
            "sensitivity",
            "A sensitivity can only be used with `noise_sd`, `scale` or `geometric_scale`.",
        )
    require(
        asked.family != "geometric_scale"
        or (asked.moved <= _LARGEST_WHOLE and asked.moved.is_integer()),
        "sensitivity",
        "The sensitivity of a geometric mechanism must be a whole number, at most 1e15.",
    )
    require(
        asked.family != "randomized_response" or asked.adjacency != "add-remove",
        "adjacency",
        "Randomized response hides what a person answered, not whether they answered.",
        "Leave `adjacency` out, or write `adjacency` substitution.",
    )
    noise = next((size for name in _NOISE if (size := getattr(asked, name)) is not None), math.inf)
    require(
        asked.moved / noise <= _LARGEST,
        "sensitivity",
        f"The sensitivity must be at most {_LARGEST:g} times the noise; less noise hides nothing.",
    )


def _check_counting_queries(asked: BoundsOptions) -> None:
    words = "The sensitivity of `counting_queries` follows from k and n."
    require(asked.sensitivity is None, "sensitivity", words, "Leave it out.")
    require(
        asked.adjacency is None,
        "adjacency",
        "`adjacency` changes nothing for `counting_queries`: the number of records is fixed.",
        "Leave `adjacency` out.",
    )


def _check_target(asked: BoundsOptions) -> None:
    if asked.counting_queries is not None:
        _check_counting_queries(asked)
    trivial = max(asked.prior, 1 - asked.prior)
    for name, lowest, highest in (
        ("advantage", baseline(asked.prior), 1.0),
        ("accuracy", trivial, 1.0),
        ("eta", 0.0, 1 - trivial),
    ):
        value = getattr(asked, name)
        require(
            value is None or lowest - _ROUNDING <= value <= highest + _ROUNDING,
            name,
            f"The target for {name} must be at least {lowest:g} and at most {highest:g}. "
            f"Blind guessing reaches {lowest:g} at this prior.",
        )


def _check_attack(asked: BoundsOptions) -> None:
    for name in _given(asked, ("adjacency", "sensitivity")):
        raise UsageError(
            "attack",
            f"`{name}` cannot be used with an attack.",
            "Give only the rates or the counts of the attack, and `delta`.",
        )
    rates, counts = _given(asked, _RATES), _given(asked, _COUNTS)
    require(
        not counts or (not rates and len(counts) == len(_COUNTS)),
        "attack",
        "Give all counts of an attack, `tp`, `fn`, `fp` and `tn`, and no rates.",
    )
    hint = "Give `tpr` and `fpr`, or the counts `tp` `fn` `fp` `tn`."
    require(bool(counts) or len(rates) == len(_RATES), "attack", "An attack needs two rates.", hint)
    require(
        not counts or bool((asked.tp or asked.fn) and (asked.fp or asked.tn)),
        "attack",
        "An attack needs some members (`tp`, `fn`) and some holdout records (`fp`, `tn`).",
    )
