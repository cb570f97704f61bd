"""What ``epsilon`` is asked, with every number checked and nothing that would do nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from mipaudit.commands.epsilon.counts.totals import TABLE, attack_table, canary_totals
from mipaudit.commands.epsilon.report import DesignKind
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.options.plain_values import number, one_of, optional, require, whole
from mipaudit.options.seed_choice import seed_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.commands.epsilon.counts.claimed_curve import NamedCurve
    from mipaudit.commands.epsilon.counts.totals import AttackTable, CanaryTotals
    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.summaries.identity.seed import SeedChoice

MethodName = Literal["conditional", "grid-cp", "split-cp", "bands", "bayes", "gdp"]
NumeratorChoice = Literal["either", "member", "holdout", "both"]
DEFAULT_DELTA: Final = 1e-5
_HALF: Final = 0.5
_LARGEST_SPLITS: Final = 1000
_MOST_STEPS: Final = 10**7
_RAREST: Final = 1e-3
_COMBINABLE: Final = frozenset({"conditional", "split-cp", "gdp"})
_NEED_SCORES: Final = frozenset({"grid-cp", "bands"})
# What belongs to one design, with the value that stands for "not given".
_OF_RUNS: Final = {"method": "conditional", "splits": 1, "curve": False}
_OF_ONE_RUN: Final = {
    "guesses": None,
    "member_side": "auto",
    "canaries": None,
    "correct": None,
    "inclusion_rate": None,
    "run_column": None,
}
_OF_SCORES: Final = {"splits": 1, "curve": False, "member_side": "auto"}
_OF_READING: Final = {
    "score_columns": (),
    "member_column": None,
    "member_value": None,
    "where": None,
    "unit_column": None,
    "unit_rows": None,
    "rows_are": None,
    "key_column": None,
    "run_column": None,
    "nan": "error",
    "hash_inputs": False,
}
_OF_A_CLAIM: Final = ("claimed_epsilon", "claimed_mu", "true_epsilon")
_DESIGNS: Final = (
    "  independent-runs  a row is one run of the mechanism, with the record or without: "
    "certifies epsilon.\n"
    "  one-run           a row is a canary of one run, included by its own coin: "
    "certifies epsilon.\n"
    "  one-model         a row is a member or holdout record of one model: certifies nothing."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonQuestion:
    """What is asked.

    Attributes:
        design: how the scores came about.
        delta: in [0, 1].
        confidence: in [0.5, 1), joint over the score columns.
        method: for independent runs.
        splits: how often the split is repeated, at least 1.
        assume_gdp: add, or with the method ``gdp`` use, what holds for Gaussian DP only.
        guesses: for one run, settled beforehand; None for the default grid.
        direction: of one run's scores, known beforehand; None tries both.
        inclusion_rate: of one run's coins, in (0, 1), if it is known.
        by_runs: whether the rows are of several runs.
        numerator: of counts of independent runs.
        claimed_epsilon: at least 0, at ``delta``.
        claimed_mu: at least 0.
        claimed_curve: a bound of every attacker's ROC.
        true_epsilon: above ``claimed_epsilon``, to plan for.
        profile: whether epsilon at many deltas is asked for.
        seed: which one is asked for.
        table: counts of independent runs in place of scores.
        totals: counts of one run in place of scores.
    """

    design: DesignKind
    delta: float
    confidence: float
    method: MethodName
    splits: int
    assume_gdp: bool
    guesses: int | tuple[int, int] | None
    direction: Literal["high", "low"] | None
    inclusion_rate: float | None
    by_runs: bool
    numerator: NumeratorChoice
    claimed_epsilon: float | None
    claimed_mu: float | None
    claimed_curve: NamedCurve | None
    true_epsilon: float | None
    profile: bool
    seed: SeedChoice
    table: AttackTable | None
    totals: CanaryTotals | None

    @property
    def tradeoff(self) -> TradeOff | None:
        """Return the trade-off curve that is claimed, be it by mu or by its points."""
        if self.claimed_mu is not None:
            return GaussianDP(mu=self.claimed_mu)
        return None if self.claimed_curve is None else self.claimed_curve.curve

    def confidence_of_one(self, columns: int) -> float:
        """Return the confidence of each of so many limits that hold jointly (Bonferroni)."""
        return 1 - (1 - self.confidence) / columns


def check_question(given: Mapping[str, Any]) -> EpsilonQuestion:
    """Return the question.

    Args:
        given: the keywords of ``epsilon`` but the input's own.

    Raises:
        UsageError: no design, a value out of its range, or one that would do nothing.
    """
    design = _design(given)
    delta, confidence = _number("delta", given), _number("confidence", given)
    require(0 <= delta <= 1, "delta", "Delta must be at least 0 and at most 1.")
    require(
        _HALF <= confidence < 1, "confidence", "The confidence must be at least 0.5 and below 1."
    )
    _check_choices(given)
    _check_idle(design, given)
    _check_method(design, given, delta)
    claimed, mu, true = _claim(given, delta)
    totals = canary_totals(given)
    _check_cost(given, totals)
    return EpsilonQuestion(
        design=design,
        delta=delta,
        confidence=confidence,
        method=given["method"],
        splits=_splits(given["splits"]),
        assume_gdp=bool(given["assume_gdp"]),
        guesses=_guesses(given["guesses"]),
        direction=None if given["member_side"] == "auto" else given["member_side"],
        inclusion_rate=_inclusion_rate(given["inclusion_rate"]),
        by_runs=given["run_column"] is not None,
        numerator=given["numerator"] or "either",
        claimed_epsilon=claimed,
        claimed_mu=mu,
        claimed_curve=given["claimed_curve"],
        true_epsilon=true,
        profile=bool(given["curve"]),
        seed=seed_choice(given["seed"]),
        table=attack_table(given),
        totals=totals,
    )


def _number(name: str, given: Mapping[str, Any]) -> float:
    return number(name, given[name])


def _design(given: Mapping[str, Any]) -> DesignKind:
    named = given["design"]
    if named is None and given["canaries"] is not None:
        return "one-run"  # nothing else has canaries
    require(
        named is not None,
        "no_design",
        "Say with --design how the scores came about: it settles what they can certify.",
        _DESIGNS,
    )
    one_of("design", named, get_args(DesignKind))
    found: DesignKind = named
    return found


def _check_choices(given: Mapping[str, Any]) -> None:
    one_of("method", given["method"], get_args(MethodName))
    one_of("member_side", given["member_side"], ("auto", "high", "low"))
    if given["numerator"] is not None:
        one_of("numerator", given["numerator"], get_args(NumeratorChoice))


def _check_idle(design: DesignKind, given: Mapping[str, Any]) -> None:
    """Refuse settings of another design, or of scores where there are none."""
    table = any(given[name] is not None for name in TABLE)
    totals = given["canaries"] is not None or given["correct"] is not None
    foreign: dict[str, Any] = {}
    if design != "independent-runs":
        foreign |= {**_OF_RUNS, **dict.fromkeys(TABLE)}
    if design != "one-run":
        foreign |= _OF_ONE_RUN
    if design == "one-model":
        foreign |= {
            "assume_gdp": False,
            "claimed_mu": None,
            "claimed_curve": None,
            "true_epsilon": None,
        }
    idle = [name for name, none in foreign.items() if given[name] != none]
    require(
        not idle,
        "other_design",
        f"{_option(idle)} has no meaning with --design {design}.",
    )
    if table or totals:
        idle = [
            name
            for name, none in {**_OF_SCORES, **_OF_READING}.items()
            if given[name] not in (none, ())
        ]
        require(not idle, "needs_scores", f"{_option(idle)} needs scores, not counts.")
        require(
            not given["has_input"],
            "two_inputs",
            "Scores and counts are given; one of them is enough.",
        )
    require(
        given["run_column"] is None or given["key_column"] is not None,
        "run_column",
        "--run-col needs --key-col, the canary of a row: whether coins were drawn anew for each "
        "run shows only there.",
    )
    require(
        design == "one-model" or given["nan"] != "drop",
        "nan",
        "--nan drop would make the limit untrue: a missing score is an output too, and runs or "
        "canaries may not be left out for what came out of them.",
        "Use --nan category, which takes it as the lowest score.",
    )
    require(
        table or given["numerator"] is None,
        "numerator",
        "--numerator belongs to the counts --tp, --fn, --fp and --tn.",
    )


def _check_method(design: DesignKind, given: Mapping[str, Any], delta: float) -> None:
    method, table = given["method"], any(given[name] is not None for name in TABLE)
    require(
        not (table and method in _NEED_SCORES), "needs_scores", f"--method {method} needs scores."
    )
    require(
        method != "gdp" or bool(given["assume_gdp"]),
        "assume_gdp",
        "--method gdp is valid only for a mechanism that is Gaussian: add --assume-gdp if it is.",
        "On randomized response or Laplace noise its limit is above the truth nearly always.",
    )
    require(
        design != "independent-runs" or not given["assume_gdp"] or delta > 0,
        "delta",
        "--assume-gdp needs a delta above 0: Gaussian noise has no epsilon at delta 0.",
    )
    require(
        given["splits"] == 1 or method in _COMBINABLE,
        "splits",
        f"--splits is for the methods {', '.join(sorted(_COMBINABLE))}.",
    )


def _check_cost(given: Mapping[str, Any], totals: CanaryTotals | None) -> None:
    """Refuse what would run for hours: whole curves are tested guess by guess."""
    curve = given["assume_gdp"] or given["claimed_mu"] is not None
    require(
        totals is None
        or totals.correct <= _MOST_STEPS
        or not (curve or given["claimed_curve"] is not None),
        "correct",
        "A trade-off curve, of a mu too, is tested for at most 10000000 right guesses.",
        "Test an epsilon, or make fewer guesses.",
    )


def _claim(
    given: Mapping[str, Any], delta: float
) -> tuple[float | None, float | None, float | None]:
    claimed, mu, true = (optional(name, given[name]) for name in _OF_A_CLAIM)
    for name, value in zip(_OF_A_CLAIM, (claimed, mu, true), strict=True):
        label = name.replace("_", " ")
        accepted = f"The {label} must be at least 0 and finite."
        require(value is None or 0 <= value < math.inf, name, accepted)
    claims = sum(one is not None for one in (claimed, mu, given["claimed_curve"]))
    require(claims <= 1, "one_claim", "One claim at a time: an epsilon, a mu or a trade-off curve.")
    require(
        true is None or (claimed is not None and true > claimed),
        "true_epsilon",
        "--true-epsilon must be above --claimed-epsilon: it is what the claim would hide.",
    )
    require(
        (claimed is None and mu is None) or delta < 1,
        "delta",
        "At delta 1 every mechanism keeps every claim.",
    )
    return claimed, mu, true


def _splits(value: object) -> int:
    splits = whole("splits", value)
    require(
        1 <= splits <= _LARGEST_SPLITS,
        "splits",
        "The number of splits must be at least 1 and at most 1000.",
    )
    return splits


def _inclusion_rate(value: object) -> float | None:
    rate = optional("inclusion_rate", value)
    require(
        rate is None or _RAREST <= rate <= 1 - _RAREST,
        "inclusion_rate",
        "The inclusion rate must be at least 0.001 and at most 0.999.",
    )
    return rate


def _guesses(value: Any) -> int | tuple[int, int] | None:  # noqa: ANN401 - checked here
    if value is None:
        return None
    if isinstance(value, (tuple, list)):
        accepted = "guesses must be one whole number, or two: to guess in and to guess out."
        require(len(value) == len(("in", "out")), "guesses", accepted)
        return whole("guesses", value[0]), whole("guesses", value[1])
    return whole("guesses", value)


def _option(names: list[str]) -> str:
    shortened = (name.replace("_columns", "_col").replace("_column", "_col") for name in names[:1])
    return "".join(f"--{name.replace('_', '-')}" for name in shortened)
