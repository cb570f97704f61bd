"""The picture of a promise of differential privacy: what no attacker can exceed if it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.formats.drawing import BLUE, GREY, ORANGE, PALE, drawn, legend_above
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, TwoStepDP
from mipaudit.statements.text.rounding import number_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from mipaudit.formats.document import Picture
    from mipaudit.maths.privacy.tradeoff import TradeOff

_POINTS: Final = 200
_SAID: Final = (0.01, 0.1)


class Promise(NamedTuple):
    """An (epsilon, delta), and whether it is of adding or removing a record, twice in the game."""

    epsilon: float
    delta: float
    twice: bool = False

    @property
    def curve(self) -> TradeOff:
        """What tells the two worlds apart."""
        one = ApproximateDP(epsilon=self.epsilon, delta=self.delta)
        return TwoStepDP(step=one) if self.twice else one


class Point(NamedTuple):
    """An attack that was seen, or that is possible: false and true positives, as shares."""

    fpr: float
    tpr: float
    text: str


def promised(
    promises: Sequence[tuple[str, Promise]], points: Sequence[Point], *, caption: str
) -> Picture:
    """Draw the most true positives that promises allow, and attacks beside them.

    Args:
        promises: each with its name, the first of them shaded.
        points: attacks.
        caption: below it.
    """
    # Dense where it is steep, and exactly at 1.
    rates = [(at / _POINTS) ** 3 for at in range(_POINTS + 1)]
    styles = ((BLUE, "-"), (ORANGE, "--"))

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", label="chance")
        for at, (name, promise) in enumerate(promises[: len(styles)]):
            most = [promise.curve.tpr(rate) for rate in rates]
            color, dashes = styles[at]
            if not at:
                axes.fill_between(rates, most, 1, color=PALE, linewidth=0, label="no attacker")
            axes.plot(rates, most, color=color, linestyle=dashes, linewidth=2, label=name)
        for mark, point in zip("Dso^", points, strict=False):
            style: dict[str, Any] = {"linestyle": "none", "color": ORANGE, "clip_on": False}
            axes.plot([point.fpr], [point.tpr], marker=mark, label=point.text, **style)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_xlabel("false alarms: share of others taken for members")
        axes.set_ylabel("share of members found")
        legend_above(axes, columns=1)

    said = [
        f"{name}: at FPR {percent_text(rate)} at most {_most(promise, rate)}"
        for name, promise in promises
        for rate in _SAID
    ]
    said += [f"{one.text}: TPR {_share(one.tpr)} at FPR {_share(one.fpr)}" for one in points]
    return drawn(
        draw,
        name="promise",
        height=5.0,
        alt=f"The most members that an attacker can find, by false alarms. {'; '.join(said)}.",
        caption=caption,
    )


def promise_name(promise: Promise) -> str:
    """Return ``(1, 1e-05)-differential privacy``."""
    epsilon = number_text(float(f"{promise.epsilon:.4g}"))
    return f"({epsilon}, {number_text(promise.delta)})-differential privacy"


def _most(promise: Promise, rate: float) -> str:
    # Outward: a limit from above.
    return percent_text(min(1.0, (int(1000 * promise.curve.tpr(rate)) + 1) / 1000))


def _share(share: float) -> str:
    return percent_text(round(share, 3))
