"""``mipaudit bounds``: what a guarantee allows an attacker, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from mipaudit.commands.bounds.guarantee.readings import Neighbours
from mipaudit.commands.bounds.guarantee.stated import FAMILIES, is_given
from mipaudit.commands.bounds.report import BoundsReport
from mipaudit.options.plain_values import number, one_of, optional, pair, require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mipaudit.statements.provenance.origin import Setting

_TARGETS: Final = ("advantage", "accuracy", "eta", "tpr_at_fpr")
_ATTACK: Final = ("tpr", "fpr", "tp", "fn", "fp", "tn")
_HALF: Final = 0.5
_ACCEPTED: Final = {
    "prior": "The prior must be above 0 and below 1.",
    "recall_floor": "The recall floor must be above 0 and at most 1.",
    "confidence": "The confidence must be at least 0.5 and below 1.",
    "delta": "Delta must be at least 0 and at most 1.",
}


def bounds(  # noqa: PLR0913 - one keyword for each setting
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    mu: float | None = None,
    rho: float | None = None,
    noise_sd: float | None = None,
    scale: float | None = None,
    geometric_scale: float | None = None,
    sensitivity: float | None = None,
    randomized_response: float | None = None,
    categories: int | None = None,
    dp_sgd: Mapping[str, float] | None = None,
    compose: Sequence[tuple[str, Mapping[str, float]]] = (),
    counting_queries: Mapping[str, float] | None = None,
    adjacency: Neighbours | None = None,
    prior: float = 0.5,
    recall_floor: float = 0.01,
    advantage: float | None = None,
    accuracy: float | None = None,
    eta: float | None = None,
    tpr_at_fpr: tuple[float, float] | None = None,
    tpr: float | None = None,
    fpr: float | None = None,
    tp: int | None = None,
    fn: int | None = None,
    fp: int | None = None,
    tn: int | None = None,
    confidence: float = 0.95,
    curves: bool = False,
    settings: Sequence[Setting] | None = None,
) -> BoundsReport:
    """Translate between a privacy guarantee and what an attacker can do.

    One question at a time: what a guarantee allows, which guarantee a target needs, or
    which guarantees an attack rules out. No data is read.

    Args:
        epsilon: differential privacy, with ``delta``.
        delta: in [0, 1]. By default 0 beside ``epsilon`` and in a question backwards, and
            1e-5 beside a guarantee for which epsilon has to be derived.
        mu: Gaussian differential privacy.
        rho: zero-concentrated differential privacy.
        noise_sd: standard deviation of Gaussian noise.
        scale: scale of Laplace noise on one number.
        geometric_scale: scale of two-sided geometric noise on one whole number.
        sensitivity: how far a neighbour moves what the noise is added to; 1 by default.
        randomized_response: probability that an answer is the true one.
        categories: number of possible answers; 2 by default.
        dp_sgd: ``noise_multiplier``, ``q`` (sampling rate) and ``steps`` of DP-SGD.
        compose: parts of a composition, each a kind and its numbers.
        counting_queries: ``k`` averages of 0/1 values over ``n`` records, with
            ``noise_sd`` each.
        adjacency: the neighbours of the guarantee. If not given, both readings are shown.
        prior: probability that a challenged record is a member, in (0, 1).
        recall_floor: the least recall for which precision is bounded, in (0, 1].
        advantage: target: no attacker's advantage is above this.
        accuracy: target: no attacker's accuracy is above this.
        eta: target: no attacker's accuracy is further above the trivial one's.
        tpr_at_fpr: target: (TPR, FPR).
        tpr: true-positive rate of an attack.
        fpr: false-positive rate of an attack.
        tp: members that an attack called members.
        fn: members that it did not.
        fp: holdout records that it called members.
        tn: holdout records that it did not.
        confidence: of the limits from counts, in [0.5, 1).
        curves: add the points of the curves to the report.
        settings: where each setting came from; by default, from this call.

    Raises:
        UsageError: nothing to translate, contradictory settings, or one out of its range.
        MissingExtraError: ``dp_sgd`` or ``compose`` without the accountant.
    """
    given = {name: value for name, value in locals().items() if name != "settings"}
    if settings is None:
        from mipaudit.statements.provenance.provenance import settings_from

        settings = settings_from(given, source="api")
    asked = _checked(given)
    match _question(asked):
        case "guarantee":
            from mipaudit.commands.bounds.allowed_by_guarantee import what_is_allowed

            return _report(settings, what_is_allowed(asked))
        case "target":
            from mipaudit.commands.bounds.needed_for_target import what_is_needed

            return _report(settings, what_is_needed(asked))
        case "attack":
            from mipaudit.commands.bounds.ruled_out_by_attack import what_is_ruled_out

            return _report(settings, what_is_ruled_out(asked))


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords with the numbers that every question shares checked."""
    asked = dict(given)
    for name, accepted in _ACCEPTED.items():
        read = optional if name == "delta" else number
        asked[name] = read(name, given[name], accepted)
    asked["tpr_at_fpr"] = pair("tpr_at_fpr", given["tpr_at_fpr"])
    within = {
        "prior": 0 < asked["prior"] < 1,
        "recall_floor": 0 < asked["recall_floor"] <= 1,
        "confidence": _HALF <= asked["confidence"] < 1,
        "delta": asked["delta"] is None or 0 <= asked["delta"] <= 1,
    }
    for name, holds in within.items():
        require(holds, name, _ACCEPTED[name])
    if asked["adjacency"] is not None:
        one_of("adjacency", asked["adjacency"], get_args(Neighbours))
    return asked


def _question(asked: Mapping[str, Any]) -> Literal["guarantee", "target", "attack"]:
    """Return which of the three questions is asked."""
    attack = any(is_given(asked[name]) for name in _ATTACK)
    targets = [name for name in _TARGETS if is_given(asked[name])]
    # Counting queries say what the noise is for; with a target the noise is asked for.
    stated = any(is_given(asked[name]) for name in FAMILIES)
    stated = stated and not (targets and asked["counting_queries"] and asked["noise_sd"] is None)
    require(
        stated or attack or bool(targets),
        "nothing_asked",
        "Nothing to translate.",
        "Give a guarantee (--epsilon 1), a target (--advantage 0.1) or an attack "
        "(--tpr 0.9 --fpr 0.01).",
    )
    require(
        stated + attack + len(targets) == 1,
        "one_question",
        "One question at a time: a guarantee, one target, or an attack.",
        "A guarantee is checked against a target by looking at what it allows.",
    )
    require(
        stated or not asked["curves"],
        "curves",
        "Curves belong to a guarantee.",
        "State one, for example --epsilon 1.",
    )
    return "attack" if attack else "target" if targets else "guarantee"


def _report(settings: Sequence[Setting], parts: Mapping[str, Any]) -> BoundsReport:
    from mipaudit.statements.provenance.provenance import provenance

    empty: dict[str, Any] = {
        "guarantee": None,
        "attacker": None,
        "other_readings": (),
        "bounds": (),
        "target": None,
        "needed": (),
        "refuted": None,
        "counting_queries": None,
    }
    return BoundsReport(
        command="bounds",
        provenance=provenance(seed=None, inputs=(), settings=settings),
        **{**empty, **parts},
    )
