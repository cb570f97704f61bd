"""Quantities, classes of attackers and right guesses in the words of a reader.

A guess is whether a record was used. The record is drawn at random, a member with the prior
probability, so that the best attacker is right with probability (1 + advantage) / 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mipaudit.maths.advantage import baseline
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.rounding import number_text

if TYPE_CHECKING:
    from mipaudit.model.row import Attackers

_NAMES: Final = {
    "copies": "exact copies",
    "auc": "AUC",
    "tpr_at_fpr": "TPR at FPR",
    "class_beside_any": "(a) class less any",
    "any_beside_class": "(b) any less class",
    "right_of_members": "right guesses about members",
    "right_of_holdout": "right guesses about holdout",
    "more_right_of_members": "difference of right guesses",
}
_PHRASES: Final[Mapping[Attackers, str]] = MappingProxyType(
    {
        "any": "for any attacker",
        "thresholds": "for attackers with one threshold",
        "intervals-1": "for attackers with one score range",
        "intervals-4": "for attackers with up to 4 score ranges",
        "bins-16": "for attackers with 16 equally filled bins",
        "noised-query": "for any attacker who sees the score with noise",
        "product-grid": "for attackers with a grid of cells",
        "learned": "for attackers with one threshold on a learned score",
        "guesses": "for those who made these guesses",
    }
)
# Closed vocabularies, by the form that shows their words.
WORDS: Final[Mapping[str, Mapping[object, str]]] = {
    # How the number of tuned runs came about: a condition of their guarantee.
    "drawing": {
        "fixed": "{}, chosen: as if all published",
        "poisson": "{} on average, Poisson",
        "geometric": "{} on average, geometric",
        "logarithmic": "{} on average, logarithmic",
    },
    "class_records": {"members": "members", "holdout": "holdout records"},
    # Of which records the shares in two groups are compared.
    "of_records": {
        "numbers": "a number up to a value",
        "categories": "one certain text",
        "dates": "a date up to a day",
        "missing": "no value",
    },
    "statistic": {"min": "minimum", "max": "maximum"},
    "others": {"named": "named like scores"},
    # Attackers of the literature, what they learn or are told, and ways to a limit of epsilon.
    "attack": {
        "any": "best attacker",
        "bounded-loss": "bounded loss",
        "mean": "mean threshold",
        "gaussian": "Gaussian residuals",
        "one-standard-error": "one standard error",
        "top-n": "top n",
        "top-half": "top half",
        "best-threshold": "best threshold",
        "per-class": "class thresholds",
    },
    "knows": {
        "bounded-loss": "the bound of the loss",
        "mean": "the mean score of members",
        "gaussian": "the standard errors of members and of holdout records",
        "one-standard-error": "the standard error of members",
        "top-n": "the n-th highest score, n being the number of members",
        "top-half": "the median of all scores",
        "best-threshold": "the threshold that does best",
        "per-class": "the threshold that does best in each class of labels",
    },
    "way": {
        "gdp": "if Gaussian",
        "one-run": "guesses of one run",
        "one-run gdp": "the same, if Gaussian",
        "advantage": "from the advantage",
        "clopper-pearson": "Clopper-Pearson",
        "jeffreys": "Jeffreys",
    },
    # What the limits of a difference leave no doubt of.
    "differs": {"increase": "higher", "decrease": "lower", "open": "not shown"},
    "change": {"open": "unclear"},
    "true_of": {
        "blind_advantage": "advantage without the score (blind)",
        "baseline": "advantage of blind guessing (baseline)",
        "excess": "advantage above the baseline (excess)",
        "eta": "accuracy above guessing (eta)",
        "auc": "AUC",
        "mu": "mu of Gaussian differential privacy",
        "tpr": "TPR",
        "tpr_at_fpr": "TPR",
        "fpr": "FPR",
        "tpr_minus_fpr": "TPR - FPR",
        "sigma_1": "sigma_1 (mean distance from the median)",
        "sigma_2": "sigma_2 (standard deviation)",
        "sensitivity": "sensitivity (largest move when a record is exchanged)",
        "swap_distance": "swap distance (mean change by an exchange), the largest of any record",
        "swap_distance_average": "swap distance, the average over records",
    },
    "changed": {
        "limits": "the limits",
        "against": "the class of attackers",
        "prior": "the prior",
        "confidence": "the confidence",
        "scores": "the scores",
        "mipaudit": "the version of mipaudit",
    },
}
# What stands for a verdict where there is none.
NO_VERDICT: Final = {"no_policy": "no limit", "none": "no verdict", None: "no verdict"}
# Those that have limits; others are named by what they guess from.
CLASSES: Final = frozenset(_PHRASES)


def named_quantity(quantity: str, metric: str | None, fpr: float | None) -> str:
    """Name a quantity as a reader knows it."""
    if metric is not None:
        return f"metric {metric}"
    if fpr is not None:
        return f"TPR at FPR {number_text(fpr)}"
    return _NAMES.get(quantity, quantity.replace("_", " "))


def named_where(prior: float | None, group: str | None) -> str:
    """Say at which prior and of which group, to follow a quantity; None is not said."""
    at = "" if prior is None else f" at prior {number_text(prior)}"
    return at if group is None else f"{at} of group {quoted_name(group)}"


def against_phrase(attackers: Attackers) -> str:
    """Name a class of attackers, or an attack of the literature, to follow a quantity."""
    return _PHRASES.get(attackers) or f"for the attack '{attackers}'"


def class_words(attackers: Attackers) -> str:
    """Return the class without its preposition: ``attackers with one threshold``."""
    return against_phrase(attackers).removeprefix("for ")


_MOST_DECIMALS: Final = 10
# What attackers of a class do, to follow "attackers who".
_DO: Final[Mapping[Attackers, str]] = MappingProxyType(
    {
        "thresholds": "apply one cut-off to the score",
        "intervals-1": "choose one range of the score",
        "intervals-4": "choose up to four ranges of the score",
        "bins-16": "look only at which of 16 ranges the score is in",
        "learned": "apply one cut-off to a score that is learned from several",
        "product-grid": "look only at which cell of a grid the scores are in",
    }
)


def right_at_least(advantage: float, marks: Iterable[float] = ()) -> str:
    """Return in how many of 100 guesses somebody is right at least, rounded down.

    Args:
        advantage: a lower limit.
        marks: advantages to compare with; the figure stays above those that the limit is above.
    """
    exact, others = _right_of(repr(advantage)), [_right(one) for one in marks]
    below = [one for one in others if one < exact]
    return _rounded(exact, ROUND_FLOOR, lambda shown: all(shown > one for one in below))


def right_at_most(advantage: float, marks: Iterable[float] = ()) -> str:
    """Return in how many of 100 guesses somebody is right at most, rounded up.

    Args:
        advantage: an upper limit, at most 1.
        marks: advantages to compare with; the figure stays within those that the limit is within.
    """
    exact, others = _right_of(repr(advantage)), [_right(one) for one in (*marks, 1.0)]
    above = [one for one in others if one > exact]
    within = [one for one in others if one == exact]
    return _rounded(
        exact,
        ROUND_CEILING,
        lambda shown: all(shown < one for one in above) and all(shown <= one for one in within),
    )


def more_right_at_least(difference: float, marks: Iterable[float] = ()) -> str:
    """Return in how many more of 100 guesses somebody is right at least, rounded down.

    Args:
        difference: a lower limit of a difference of advantages.
        marks: differences to compare with; the figure stays above those that the limit is above.
    """
    exact, others = _more(repr(difference)), [_more(f"{one:.12g}") for one in (*marks, 0.0)]
    below = [one for one in others if one < exact]
    return _rounded(exact, ROUND_FLOOR, lambda shown: all(shown > one for one in below))


def more_right_at_most(difference: float, marks: Iterable[float] = ()) -> str:
    """Return in how many more of 100 guesses somebody is right at most, rounded up.

    Args:
        difference: an upper limit of a difference of advantages.
        marks: differences to compare with; the figure stays within those that the limit is within.
    """
    exact, others = _more(repr(difference)), [_more(f"{one:.12g}") for one in marks]
    above = [one for one in others if one >= exact]
    return _rounded(exact, ROUND_CEILING, lambda shown: all(shown <= one for one in above))


def more_right_exactly(difference: float) -> str:
    """Return the same of a difference that somebody chose: as many digits as it has."""
    return number_text(float(_more(f"{difference:.12g}")))


def right_exactly(advantage: float) -> str:
    """Return the same of an advantage that somebody chose: as many digits as it has."""
    return number_text(float(_right(advantage)))


def blind_guesser(prior: float) -> str:
    """Return who guesses without any score: a coin, where both answers are as likely."""
    return "a coin" if prior == 0.5 else "blind guessing"  # noqa: PLR2004 - as likely as not


def compared(prior: float, limit: float | None = None) -> str:
    """Return with what to compare right guesses: ``a coin: 50; the limit: 55``.

    Args:
        prior: p in (0, 1).
        limit: of the policy, as an advantage.
    """
    blind = f"{blind_guesser(prior)}: {right_exactly(baseline(prior))}"
    return blind if limit is None else f"{blind}; the limit: {right_exactly(limit)}"


def scale_words(prior: float) -> str:
    """Return what the ends of the scale of advantages and risks mean, at a prior."""
    blind = right_exactly(baseline(prior))
    if prior == 0.5:  # noqa: PLR2004 - as likely as not
        return (
            f"0 is as good as a coin (right {blind} times in 100), 0.5 is right 75 times, 1 always."
        )
    least = number_text(float(f"{baseline(prior):.12g}"))
    return f"{least} is blind guessing (right {blind} times in 100), 1 is always right."


def guess_words(prior: float) -> str:
    """Return what the guesses are about."""
    drawn = (
        "of which half were used"
        if prior == 0.5  # noqa: PLR2004 - as likely as not
        else f"used with probability {number_text(prior)}"
    )
    return f"how many of 100 guesses about random records, {drawn}, are right; an average."


def guessers(attackers: Attackers) -> str:
    """Return for whom a difference of right guesses holds: the best there are, or a class."""
    return "for the best attackers" if attackers == "any" else against_phrase(attackers)


def of_others(attackers: Attackers, before: str) -> str:
    """Return, after a sign, what a difference of a class leaves open: nothing for ``any``."""
    return "" if attackers == "any" else f"{before}ther attackers were not compared"


def simple_kind(attackers: Attackers) -> str:
    """Return what attackers of a class do, to follow "those who"; not of ``any``."""
    return _DO[attackers]


def _right(chosen: float) -> Decimal:
    # Twelve digits of what somebody chose: 2 * 0.6 - 1 is 0.19999999999999996.
    return _right_of(f"{chosen:.12g}")


def _more(difference: str) -> Decimal:
    return 50 * Decimal(difference)


def _right_of(advantage: str) -> Decimal:
    return 50 * (1 + Decimal(advantage))


def _rounded(exact: Decimal, rounding: str, telling: Callable[[Decimal], bool]) -> str:
    """Round to whole guesses, or to as many decimals as tell."""
    figures = (
        exact.quantize(Decimal(1).scaleb(-decimals), rounding=rounding)
        for decimals in range(_MOST_DECIMALS)
    )
    return f"{next(filter(telling, figures), exact):f}"
