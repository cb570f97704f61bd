"""What ``mipaudit bounds`` may be asked."""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal

from mipaudit.commands.bounds.groups import LARGEST_WHOLE, Answer, Attack, Guarantee, Target
from mipaudit.errors import UsageError
from mipaudit.maths.advantage import baseline
from mipaudit.options import game
from mipaudit.options.declare import act
from mipaudit.options.game import Recorded
from mipaudit.options.shown import CURVE_OPTION, Shown

Question = Literal["guarantee", "target", "attack"]

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
# 0.3 is a target at prior 0.35, although |2 * 0.35 - 1| is a little more in floats.
_ROUNDING: Final = 1e-15


class BoundsOptions(Guarantee, game.Neighbours, Target, Attack, game.Game, Answer, Recorded):
    """A guarantee, a target or an attack."""

    HELP = """Say what a privacy guarantee allows an attacker, and back.

Nothing is read: this is mathematics. Ask one of three questions: what does a
guarantee allow, which guarantee does a target need, what does an attack rule out.

\b
Examples:
  mipaudit bounds --epsilon 1 --delta 1e-5
      Advantage, accuracy, TPR at low FPR, precision: what no attacker can
      exceed, with every published bound beside the exact one.
  mipaudit bounds --epsilon 1 --baseline 0.1
      How often something about a person is guessed right that 10 in 100 guesses
      hit without their record.
  mipaudit bounds --advantage 0.1
      The epsilon, the mu and the noise that keep every attacker below it.
  mipaudit bounds --success 0.2@0.1
      The same for guesses about a person: 10 in 100 without the record, at most 20 with it.
  mipaudit bounds --gaussian-noise-for epsilon=1,delta=1e-5 --sensitivity 2
      The least standard deviation that gives this guarantee.
  mipaudit bounds --tp 90 --fn 10 --fp 1 --tn 99
      The epsilon that an attack rules out, with confidence limits.
  mipaudit bounds --dp-sgd noise_multiplier=0.8,q=0.01,steps=10000
      Needs the extra: pip install "mipaudit[accounting]"
  mipaudit bounds --dp-sgd noise_multiplier=1,q=0.01,steps=1000 --best-of 10 --drawn poisson
      The same where the best of runs is published, 10 on average.
  mipaudit bounds --rdp 2:0.1,4:0.25
      What an accountant's Renyi divergences allow.
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
        if self.question == "guarantee":
            return
        for name, what in (
            ("curves", "Curves belong"),
            ("baseline", "A `baseline` belongs"),
            ("best_of", "The best of several runs belongs"),
        ):
            if getattr(self, name):
                hint = "State one, for example `epsilon` 1."
                raise UsageError(name, f"{what} to a guarantee.", hint=hint)

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

    curve: str | None = CURVE_OPTION
    plot: str | None = act(
        "Draw bounds and ROC there (.png, .pdf, .svg).", metavar="FILE", recorded=True
    )


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
        asked.moved <= LARGEST_WHOLE and asked.moved.is_integer()
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
    guessing = baseline(asked.prior)
    for name, value, lowest, highest in (
        ("advantage", asked.advantage, guessing, 1.0),
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
