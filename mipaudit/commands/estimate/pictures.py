"""The pictures of a report of ``estimate``: drawings for people, the same said in words beside."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from mipaudit.commands.estimate.brief import judged_attackers, score_row
from mipaudit.commands.estimate.sections import Contents
from mipaudit.evidence.scores.evidence import FALSE_POSITIVE_RATES
from mipaudit.formats.brief import short_names
from mipaudit.formats.document import ATTACKERS, quoted, short_class
from mipaudit.formats.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Interval,
    Mark,
    drawn,
    intervals,
    legend_above,
    marks_of,
    spread,
)
from mipaudit.formats.policy.blocks import claim_name
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, TwoStepDP, advantage_bound
from mipaudit.statements.policy import against_phrase
from mipaudit.statements.text.rounding import lower_text, number_text, percent_text, upper_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from mipaudit.commands.estimate.report import Report
    from mipaudit.evidence.scores.curves import ScoreCurves
    from mipaudit.formats.document import Picture
    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.statements.claim import Claim

_MOST_SCORES: Final = 3
_ALLOWED: Final = {"color": BLACK, "marker": "X", "linestyle": "none", "markersize": 9, "zorder": 5}
_MOST_SHAPES: Final = 2
_LOWEST_RATE: Final = 1e-4
_TICKS: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_CURVE_POINTS: Final = 120
_LONGEST_AXIS: Final = 10.0


def estimate_pictures(report: Report) -> Iterator[Picture]:
    """Yield the pictures of a report, the most important first."""
    contents = Contents.of(report)
    if len(contents.scores) > 1:
        yield _scores_picture(report, contents)
    yield _attackers_picture(report, contents)
    if report.claims and report.claims[0].allowed_advantage is not None:
        yield claim_picture(report)
    for number, curves in enumerate(report.curves[:_MOST_SHAPES], start=1):
        if curves.roc:
            yield roc_picture(curves, number, _allowed_points(report, curves.score))
        yield bins_picture(curves, number)


def _scores_picture(report: Report, contents: Contents) -> Picture:
    """Draw a row for each score, with the attackers that the verdict is about."""
    against = judged_attackers(report, contents)
    rows = []
    for score in contents.scores:
        one = score_row(contents, score, against)
        rows.append(Interval(quoted(score), one.lower, one.value, one.upper))
    return intervals(
        rows,
        name="scores",
        what="advantage",
        caption=f"Each score, the strongest first. At most: {against_phrase(against)}.",
        ends=(report.design.baseline, 1.0),
        marks=_marks(report),
    )


def _attackers_picture(report: Report, contents: Contents) -> Picture:
    """Draw the limits by class of attackers."""
    return intervals(
        list(_rows(contents)),
        name="advantage",
        what="advantage",
        caption="Advantage, by what attackers may do with a score.",
        ends=(report.design.baseline, 1.0),  # nobody has less, and no limit may be set below
        marks=_marks(report),
    )


def _rows(contents: Contents) -> Iterator[Interval]:
    several = len(contents.scores) > 1
    names = short_names(contents.scores)
    for score in contents.scores[:_MOST_SCORES]:
        for one in contents.limits(score):
            if one.quantity == "advantage" and one.attackers != "noised-query":
                name = ATTACKERS[one.attackers]
                name = f'"{names[score]}": {short_class(one.attackers)}' if several else name
                yield Interval(name, one.lower, one.value, one.upper)


def _marks(report: Report) -> list[Mark]:
    """Mark what the policy allows, what a claim allows, and the trivial attacker."""
    found = marks_of(_policy_limits(report))
    for claim in report.claims[:1]:
        if claim.allowed_advantage is not None:
            text = f"claim allows {upper_text(claim.allowed_advantage)}"
            found.append(Mark(claim.allowed_advantage, text, "claim"))
    return [*found, *marks_of((), report.design.baseline)]


def _policy_limits(report: Report) -> list[float]:
    """Return the limits on the advantage, those on eta on its scale."""
    found: dict[float, None] = {}
    for check in report.policy:
        if check.prior is not None:
            continue  # judged at another prior: another axis
        if check.quantity == "advantage":
            found[check.limit] = None
        elif check.quantity == "eta":
            found[report.design.baseline + 2 * check.limit] = None
    return list(found)


def _allowed_points(report: Report, score: str) -> list[tuple[float, float]]:
    """Return (FPR, TPR) that the policy allows, of one score."""
    return [
        (check.fpr, check.limit)
        for check in report.policy
        if check.quantity == "tpr_at_fpr" and check.fpr is not None and check.score == score
    ]


def roc_picture(
    curves: ScoreCurves, number: int, allowed: Sequence[tuple[float, float]] = ()
) -> Picture:
    """Draw TPR against FPR on logarithmic axes, with the limits of each point.

    Between points an upper limit is that of the next, a lower one that of the last: TPR does
    not fall as FPR rises.
    """
    shown = [(p.fpr, p.tpr) for p in curves.roc if p.tpr]
    lows = [(p.fpr, p.lower) for p in curves.roc if p.lower]
    highs = _never_falling([(p.fpr, p.upper) for p in curves.roc if p.upper])

    def draw(axes: Axes) -> None:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.plot([_LOWEST_RATE, 1], [_LOWEST_RATE, 1], color=GREY, linestyle="--", label="chance")
        lines: tuple[tuple[Sequence[tuple[float, float]], str, dict[str, Any]], ...] = (
            (shown, "observed", {"color": GREY}),
            (lows, "at least", {"color": ORANGE, "marker": "^", "drawstyle": "steps-post"}),
            (highs, "at most", {"color": BLUE, "marker": "v", "drawstyle": "steps-pre"}),
            (allowed, "the limit", _ALLOWED),
        )
        for points, label, style in lines:
            if points or label != "the limit":
                fprs, tprs = zip(*points, strict=True) if points else ((), ())
                axes.plot(fprs, tprs, label=label, **style)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(_TICKS, labels=[percent_text(tick) for tick in _TICKS])
            axis.set_ticks([], minor=True)
        axes.set_xlim(_LOWEST_RATE, 1)
        axes.set_ylim(_LOWEST_RATE, 1)
        axes.set_xlabel("false-positive rate (log scale)")
        axes.set_ylabel("true-positive rate (log scale)")
        axes.legend(loc="lower right", frameon=False)

    name = quoted(curves.score)
    said = "; ".join(
        f"at FPR {percent_text(fpr)} at least {percent_text(float(lower_text(lower)))}"
        for fpr, lower in lows
        if fpr in FALSE_POSITIVE_RATES
    )
    return drawn(
        draw,
        name=f"roc{number}",
        height=4.2,
        alt=f"ROC of {name} with one threshold, on logarithmic axes. {said or 'No limit'}."
        f"{_allowed_words(allowed)}",
        caption=f"ROC of {name}: how many members an attacker with one threshold finds, for how "
        "many false alarms. Each limit holds for its own point; an upper one that would fall "
        "is drawn as high as the one before.",
    )


def _allowed_words(points: Sequence[tuple[float, float]]) -> str:
    return "".join(
        f" The limit at FPR {percent_text(fpr)} is {percent_text(tpr)}." for fpr, tpr in points
    )


def _never_falling(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return limits from above that do not fall: each holds by itself, also a wider one."""
    fprs, uppers = zip(*sorted(points), strict=True) if points else ((), ())
    return list(zip(fprs, accumulate(uppers, max), strict=True))


def bins_picture(curves: ScoreCurves, number: int) -> Picture:
    """Draw how members and holdout records spread from the lowest scores to the highest."""
    name = quoted(curves.score)
    return spread(
        [(one.members, one.holdout) for one in curves.bins],
        name=f"bins{number}",
        of=f"{name}, from low to high",
        axis="scores from low to high, in bins of about equal size",
        caption=f"{name} from low to high: where members and holdout records differ, membership "
        "shows. Small bins are merged.",
    )


def claim_picture(report: Report) -> Picture:
    """Draw what differential privacy allows against epsilon, with this release marked."""
    claim = report.claims[0]
    longest = min(_LONGEST_AXIS, max(2.0, 2 * claim.epsilon))
    grid = [longest * at / _CURVE_POINTS for at in range(_CURVE_POINTS + 1)]
    prior = report.design.prior

    def draw(axes: Axes) -> None:
        allowed = [advantage_bound(_promise(claim, epsilon), prior) for epsilon in grid]
        axes.plot(grid, allowed, color=BLUE, label="the most that (epsilon, delta) allows")
        if claim.epsilon <= longest and claim.allowed_advantage is not None:
            axes.plot(
                [claim.epsilon],
                [claim.allowed_advantage],
                marker="D",
                linestyle="none",
                color=GREEN,
                markersize=8,
                label="the claim",
            )
        label = f"this release: at least {lower_text(claim.lower)}"
        axes.axhline(claim.lower, color=ORANGE, linestyle="--", label=label)
        axes.set_xlim(0, longest)
        axes.set_ylim(report.design.baseline, 1.02)
        neighbours = "adding or removing" if claim.adjacency == "add-remove" else "substitution"
        axes.set_xlabel(f"epsilon by {neighbours}, delta = {number_text(claim.delta)}")
        axes.set_ylabel("advantage")
        legend_above(axes, columns=1)

    return drawn(
        draw,
        name="claim",
        height=3.4,
        alt=_claim_alt(claim),
        caption="What differential privacy allows against epsilon; the dashed line is what the "
        "scores show at least.",
    )


def _promise(claim: Claim, epsilon: float) -> TradeOff:
    """Return what a claim of another epsilon would allow who must tell two records apart."""
    one = ApproximateDP(epsilon=epsilon, delta=claim.delta)
    return TwoStepDP(step=one) if claim.adjacency == "add-remove" else one


def _claim_alt(claim: Claim) -> str:
    allowed = upper_text(claim.allowed_advantage or 1.0)
    return (
        f"The largest advantage that differential privacy allows rises with epsilon. The claim of "
        f"{claim_name(claim)} allows {allowed}; the scores show at least {lower_text(claim.lower)}."
    )
