"""The pictures of a report of ``estimate``: drawings for people, the same said in words beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mipaudit.evidence.scores.rows import FALSE_POSITIVE_RATES
from mipaudit.formats.document import ATTACKERS, quoted
from mipaudit.formats.drawing import drawn, plotting
from mipaudit.formats.policy_blocks import claim_name
from mipaudit.maths.privacy.approximate import ApproximateDP, TwoStepDP, advantage_bound
from mipaudit.statements.text.rounding import (
    lower_text,
    number_text,
    percent_text,
    upper_text,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mipaudit.commands.estimate.report import Report
    from mipaudit.commands.estimate.sections import Contents
    from mipaudit.evidence.scores.curves import ScoreCurves
    from mipaudit.formats.document import Picture
    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.statements.claim import Claim
    from mipaudit.statements.estimate import Estimate

# Okabe and Ito's colours, which the colour-blind can tell apart; shapes say the same.
_BLUE: Final = "#0072B2"
_ORANGE: Final = "#D55E00"
_GREEN: Final = "#009E73"
_GREY: Final = "#595959"
_PALE: Final = "#DDDDDD"
_MOST_SCORES: Final = 3
_MOST_SHAPES: Final = 2
_ROW: Final = 0.3  # inches
_WIDTH: Final = 7.2
_LOWEST_RATE: Final = 1e-4
_TICKS: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_CURVE_POINTS: Final = 120
_LONGEST_AXIS: Final = 10.0


def pictures(report: Report, contents: Contents) -> Iterator[Picture]:
    """Yield the pictures of a report; none where pictures cannot be drawn."""
    if not plotting():
        return
    yield advantage_picture(report, contents)
    if report.claims and report.claims[0].allowed_advantage is not None:
        yield claim_picture(report)
    for number, curves in enumerate(report.curves[:_MOST_SHAPES], start=1):
        if curves.roc:
            yield roc_picture(curves, number)
        yield bins_picture(curves, number)


def advantage_picture(report: Report, contents: Contents) -> Picture:
    """Draw the limits by class of attackers on one axis with the policy and the claims."""
    rows = list(_rows(contents))
    floor = report.design.baseline  # nobody has less, and no limit may be set below

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place, (_, estimate) in enumerate(reversed(rows)):
            _bar(axes, place, estimate, floor)
        axes.set_yticks(range(len(rows)), [label for label, _ in reversed(rows)])
        axes.set_ylim(-0.7, len(rows) - 0.3)
        axes.set_xlim(floor, 1.0)
        _marks(axes, report)
        axes.set_xlabel("advantage")
        _tidy(axes)

    said = "; ".join(f"{label}: {_limits_text(estimate)}" for label, estimate in rows)
    limits = "".join(f" The policy allows {number_text(x)}." for x in _policy_limits(report))
    return drawn(
        draw,
        name="advantage",
        size=(_WIDTH, 1.2 + _ROW * len(rows)),
        alt=f"Advantage on an axis from {value_text(floor)} to 1. {said}.{limits}",
        caption="Advantage: an arrow to the right says at least, one to the left at most; the dot "
        "is the best estimate.",
    )


def _rows(contents: Contents) -> Iterator[tuple[str, Estimate]]:
    several = len(contents.scores) > 1
    for score in contents.scores[:_MOST_SCORES]:
        for estimate in contents.limits(score):
            if estimate.quantity == "advantage" and estimate.attackers != "noised-query":
                name = ATTACKERS[estimate.attackers]
                yield (f"{quoted(score)}: {name}" if several else name), estimate


def _bar(axes: Axes, place: int, estimate: Estimate, floor: float) -> None:
    lower, upper = estimate.lower, estimate.upper
    axes.plot(
        [floor if lower is None else lower, 1.0 if upper is None else upper],
        [place] * 2,
        color=_PALE,
        lw=5,
    )
    style: dict[str, Any] = {"linestyle": "none", "markersize": 8, "clip_on": False}
    if lower is not None:
        axes.plot([lower], [place], marker=">", color=_ORANGE, **style)
    if upper is not None:
        axes.plot([upper], [place], marker="<", color=_BLUE, **style)
    if estimate.value is not None:
        axes.plot([estimate.value], [place], marker="o", color=_GREY, **{**style, "markersize": 4})


def _marks(axes: Axes, report: Report) -> None:
    """Mark what the policy allows, what a claim allows, and the trivial attacker."""
    for limit in _policy_limits(report):
        axes.axvline(limit, color=_ORANGE, linestyle="--", label=f"policy {number_text(limit)}")
    for claim in report.claims[:1]:
        if claim.allowed_advantage is not None:
            label = f"claim allows {upper_text(claim.allowed_advantage)}"
            axes.axvline(claim.allowed_advantage, color=_GREEN, linestyle=":", label=label)
    if report.design.baseline > 0:
        label = f"blind guessing {value_text(report.design.baseline)}"
        axes.axvline(report.design.baseline, color=_GREY, linewidth=1, label=label)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper right", bbox_to_anchor=(1.0, 1.16), ncols=3, frameon=False)


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


def _limits_text(estimate: Estimate) -> str:
    parts = []
    if estimate.lower is not None:
        parts.append(f"at least {lower_text(estimate.lower)}")
    if estimate.upper is not None:
        parts.append(f"at most {upper_text(estimate.upper)}")
    return ", ".join(parts) or "no limit"


def roc_picture(curves: ScoreCurves, number: int) -> Picture:
    """Draw TPR against FPR on logarithmic axes, with the limits of each point."""
    shown = [(p.fpr, p.tpr) for p in curves.roc if p.tpr]
    lows = [(p.fpr, p.lower) for p in curves.roc if p.lower]
    highs = [(p.fpr, p.upper) for p in curves.roc if p.upper]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.plot([_LOWEST_RATE, 1], [_LOWEST_RATE, 1], color=_GREY, linestyle="--", label="chance")
        lines = (shown, "observed", _GREY, ""), (lows, "at least", _ORANGE, "^")
        for points, label, color, marker in (*lines, (highs, "at most", _BLUE, "v")):
            fprs, tprs = zip(*points, strict=True) if points else ((), ())
            axes.plot(fprs, tprs, color=color, marker=marker, label=label)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(_TICKS, labels=[percent_text(tick) for tick in _TICKS])
            axis.set_ticks([], minor=True)
        axes.set_xlim(_LOWEST_RATE, 1)
        axes.set_ylim(_LOWEST_RATE, 1)
        axes.set_xlabel("false-positive rate (log scale)")
        axes.set_ylabel("true-positive rate (log scale)")
        axes.legend(loc="lower right", frameon=False)
        _tidy(axes)

    name = quoted(curves.score)
    said = "; ".join(
        f"at FPR {percent_text(fpr)} at least {percent_text(float(lower_text(lower)))}"
        for fpr, lower in lows
        if fpr in FALSE_POSITIVE_RATES
    )
    return drawn(
        draw,
        name=f"roc{number}",
        size=(4.8, 4.2),
        alt=f"ROC of {name} with one threshold, on logarithmic axes. {said or 'No limit'}.",
        caption=f"ROC of {name}: how many members an attacker with one threshold finds, for how "
        "many false alarms. Each limit holds for its own point.",
    )


def bins_picture(curves: ScoreCurves, number: int) -> Picture:
    """Draw how members and holdout records spread from the lowest scores to the highest."""
    members = sum(one.members for one in curves.bins) or 1
    holdout = sum(one.holdout for one in curves.bins) or 1
    shares = [(one.members / members, one.holdout / holdout) for one in curves.bins]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        places = range(len(shares))
        axes.bar(
            [x - 0.2 for x in places], [m for m, _ in shares], 0.4, color=_ORANGE, label="members"
        )
        axes.bar(
            [x + 0.2 for x in places],
            [h for _, h in shares],
            0.4,
            color=_BLUE,
            hatch="///",
            edgecolor="white",
            linewidth=0,
            label="holdout",
        )
        axes.set_xticks([])
        axes.set_xlabel("scores from low to high, in bins of about equal size")
        axes.set_ylabel("share of the class")
        # Above, for a bar can be anywhere below; at the left, which a phone shows.
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False)
        _tidy(axes)

    name = quoted(curves.score)
    furthest = max(shares, key=lambda pair: abs(pair[0] - pair[1]), default=(0.0, 0.0))
    return drawn(
        draw,
        name=f"bins{number}",
        size=(_WIDTH, 2.8),
        alt=f"Shares of members and of holdout records in {len(shares)} bins of {name}, from low "
        f"to high. Where they differ most: {_share(furthest[0])} of the members and "
        f"{_share(furthest[1])} of the holdout.",
        caption=f"{name} from low to high: where members and holdout records differ, membership "
        "shows. Small bins are merged.",
    )


def _share(share: float) -> str:
    return percent_text(round(share, 3))


def claim_picture(report: Report) -> Picture:
    """Draw what differential privacy allows against epsilon, with this release marked."""
    claim = report.claims[0]
    longest = min(_LONGEST_AXIS, max(2.0, 2 * claim.epsilon))
    grid = [longest * at / _CURVE_POINTS for at in range(_CURVE_POINTS + 1)]
    prior = report.design.prior

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        allowed = [advantage_bound(_promise(claim, epsilon), prior) for epsilon in grid]
        axes.plot(grid, allowed, color=_BLUE, label="the most that (epsilon, delta) allows")
        if claim.epsilon <= longest and claim.allowed_advantage is not None:
            axes.plot(
                [claim.epsilon],
                [claim.allowed_advantage],
                marker="D",
                linestyle="none",
                color=_GREEN,
                markersize=8,
                label="the claim",
            )
        label = f"this release: at least {lower_text(claim.lower)}"
        axes.axhline(claim.lower, color=_ORANGE, linestyle="--", label=label)
        axes.set_xlim(0, longest)
        axes.set_ylim(report.design.baseline, 1.02)
        neighbours = "adding or removing" if claim.adjacency == "add-remove" else "substitution"
        axes.set_xlabel(f"epsilon by {neighbours}, delta = {number_text(claim.delta)}")
        axes.set_ylabel("advantage")
        axes.legend(loc="upper left", frameon=False)
        _tidy(axes)

    return drawn(
        draw,
        name="claim",
        size=(_WIDTH, 3.4),
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


def _tidy(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
