"""``mipaudit bounds``: what a guarantee allows an attacker, and back.

The report, and the files with curves and a plot beside it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

from mipaudit.commands.bounds.options import BoundsOptions, BoundsShown
from mipaudit.commands.bounds.report import BoundsReport
from mipaudit.model.message import Message
from mipaudit.options.public import public

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.bounds.readings import Allowance
    from mipaudit.commands.bounds.requirement import Quantity, Target
    from mipaudit.maths.privacy.tradeoff import TradeOff

_CURVE_FORMS: Final = (".csv", ".json")
_PLOT_FORMS: Final = (".png", ".pdf", ".svg")
# A delta that nobody gave, where epsilon has to be derived at one.
_USUAL_DELTA: Final = 1e-5
# Rounding by an accountant that could show in a printed figure.
_VISIBLE: Final = 1e-5
_ALLOWED_LIMITATIONS: Final = (Message("bounds_most"), Message("bounds_if_kept"))
_SUCCESS_LIMITATIONS: Final = (Message("bounds_mean_success"), Message("bounds_baseline"))
_TUNED_LIMITATIONS: Final = (Message("bounds_drawn_runs"), Message("bounds_best_run"))
_NEEDED_LIMITATIONS: Final = (Message("bounds_one_release"), Message("bounds_target_if_alike"))
_RULED_OUT_LIMITATIONS: Final = (
    Message("bounds_pairs_told_apart"),
    Message("bounds_independent_trials"),
    Message("bounds_attack_fixed"),
)


def answer_bounds(asked: BoundsOptions) -> BoundsReport:
    """Translate between a privacy guarantee and what an attacker can do.

    One question at a time: what a guarantee allows, which guarantee a target needs, or
    which guarantees an attack rules out. No data is read.

    Raises:
        UsageError: no question, contradictory settings, or a setting out of its range.
        MissingExtraError: ``dp_sgd`` or ``compose`` without the accountant.
    """
    from mipaudit.statements.provenance import provenance

    empty = BoundsReport(
        command="bounds",
        guarantee=None,
        attacker=None,
        other_readings=(),
        bounds=(),
        target=None,
        needed=(),
        refuted=None,
        counting_queries=None,
        provenance=provenance(seed=None, inputs=(), settings=asked.recorded()),
    )
    answers = {"guarantee": _allowed, "target": _needed, "attack": _refuted}
    return answers[asked.question](asked, empty)


# Each question loads what it needs alone: an answer has few of the types that there are.


def _allowed(asked: BoundsOptions, empty: BoundsReport) -> BoundsReport:
    from mipaudit.commands.bounds import readings

    if asked.best_of is None:
        found = readings.stated(asked)
    else:
        from mipaudit.commands.bounds.tuned import best_of

        found = best_of(asked)
    delta = asked.delta
    if delta is None:
        delta = 0.0 if math.isfinite(found.curve.loss) else _USUAL_DELTA
    ways = readings.readings(found)
    allowed = [
        readings.allowance(
            way,
            game=game,
            prior=asked.prior,
            recall_floor=asked.recall_floor,
            baselines=asked.baseline,
        )
        for game, way in ways
    ]
    # Both are shown; where one is used, and nobody said which, it is the harsher: two steps.
    used = 0 if found.adjacency else -1
    description, curve = readings.guarantee(found, delta), ways[used][1]
    if not found.adjacency:
        description = replace(description, adjacency="add-remove")
    report = replace(
        empty,
        guarantee=description,
        attacker=allowed[0],
        other_readings=tuple(allowed[1:]),
        bounds=readings.bounds_of(description, curve, allowed[used]),
        limitations=(
            *_ALLOWED_LIMITATIONS,
            *(_SUCCESS_LIMITATIONS if asked.baseline else ()),
            *(() if asked.best_of is None else _TUNED_LIMITATIONS),
            *_remarks(allowed[used], curve),
        ),
    )
    if asked.best_of is not None:
        from mipaudit.commands.bounds.tuned import ways as ways_to_draw

        report = replace(report, tuned=ways_to_draw(asked, delta))
    if asked.curves:
        from mipaudit.commands.bounds.curves import curves

        report = replace(report, curves=curves(curve, prior=asked.prior))
    if found.kind == "counting-queries":
        from mipaudit.commands.bounds.attacks import averaging_attack

        report = replace(report, counting_queries=averaging_attack(**found.parameters))
    return report


def _remarks(first: Allowance, curve: TradeOff) -> Iterator[Message]:
    if first.excess == 0 and first.baseline > 0:
        yield Message("bounds_prior_excludes")
    # Only an accountant's curve has one.
    excess = getattr(curve, "excess_of_grid", 0.0)
    if excess > _VISIBLE:
        yield Message.of("bounds_grid", excess=excess)


def _needed(asked: BoundsOptions, empty: BoundsReport) -> BoundsReport:
    from mipaudit.commands.bounds.readings import Neighbours
    from mipaudit.commands.bounds.requirement import requirement

    counting, about_people = asked.counting_queries is not None, asked.success is not None
    adjacency = "substitution" if counting else asked.adjacency
    stated: tuple[Neighbours | None, ...] = (adjacency,) if adjacency else get_args(Neighbours)
    ways = [(neighbours, False) for neighbours in stated]
    if about_people and "add-remove" in stated:
        ways.append(("add-remove", True))
    if asked.gaussian_noise_for is not None:
        ways = [(adjacency, True)]
    target = _target(asked)
    needed = tuple(
        requirement(
            target,
            delta=asked.delta or 0.0,
            adjacency=neighbours,
            sensitivity=asked.moved,
            one_number=not counting,
            one_step=one_step,
        )
        for neighbours, one_step in ways
    )
    limitations = (*_NEEDED_LIMITATIONS, *(_SUCCESS_LIMITATIONS if about_people else ()))
    return replace(empty, target=target, needed=needed, limitations=limitations)


def _target(asked: BoundsOptions) -> Target:
    from mipaudit.commands.bounds.requirement import Target

    if (wanted := asked.gaussian_noise_for) is not None:
        value, beside = wanted["delta"], {"epsilon": wanted["epsilon"]}
        return Target(quantity="delta", value=value, prior=asked.prior, **beside)
    points: tuple[tuple[Quantity, str], ...] = (("tpr_at_fpr", "fpr"), ("success", "baseline"))
    for quantity, at in points:
        if (point := getattr(asked, quantity)) is not None:
            beside = {at: point[1]}
            return Target(quantity=quantity, value=point[0], prior=asked.prior, **beside)
    plain: tuple[Quantity, ...] = ("advantage", "accuracy", "eta")
    quantity = next(one for one in plain if getattr(asked, one) is not None)
    return Target(quantity=quantity, value=getattr(asked, quantity), prior=asked.prior)


def _refuted(asked: BoundsOptions, empty: BoundsReport) -> BoundsReport:
    from mipaudit.commands.bounds.attacks import refutation

    counts, tpr, fpr = None, asked.tpr or 0.0, asked.fpr or 0.0
    match asked:
        case BoundsOptions(tp=int(tp), fn=int(fn), fp=int(fp), tn=int(tn)):
            counts = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
            tpr, fpr = tp / (tp + fn), fp / (fp + tn)
    refuted = refutation(
        tpr=tpr, fpr=fpr, delta=asked.delta or 0.0, counts=counts, confidence=asked.confidence
    )
    return replace(empty, refuted=refuted, limitations=_RULED_OUT_LIMITATIONS)


def run_bounds(asked: BoundsOptions, shown: BoundsShown) -> int:
    """Translate, and write the answer; return the exit code."""
    from mipaudit.output.destination import Destination, beside, require_apart
    from mipaudit.output.presentation import deliver

    destination = Destination.open(shown.output, sha256=shown.sha256)
    curve = beside("curve", shown.curve, _CURVE_FORMS)
    plot = beside("plot", shown.plot, _PLOT_FORMS)
    files = {"curve": ("the curves", curve), "plot": ("the plot", plot)}
    require_apart({"output": ("the report", destination), **files})
    report = answer_bounds(asked.but(curves=True) if curve or plot else asked)
    if curve and report.curves is not None:
        from mipaudit.commands.bounds.curves import encode_curves

        curve.write(encode_curves(report.curves, curve.form))
    if plot:
        from mipaudit.commands.bounds.plot import draw_bounds

        plot.write(draw_bounds(report, plot.form))
    short = replace(report, curves=None)  # they have a file of their own
    written = [(what, place) for what, place in files.values() if place]
    return deliver(short, shown, destination, *written)


bounds = public(BoundsOptions, answer_bounds)
