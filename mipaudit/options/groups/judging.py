"""The game that an attacker plays, and what a policy lets them win."""

from typing import Annotated

from mipaudit.options.declare import Option, Options
from mipaudit.options.policy.limits import check_advantage_limit
from mipaudit.options.ranges import CONFIDENCE, PROBABILITY


class Game(Options):
    """How often members are challenged, and how sure the limits are."""

    prior: Annotated[
        float,
        Option(
            "--prior",
            "Probability that a challenged record is a member.",
            metavar="P",
            within=PROBABILITY,
        ),
    ] = 0.5
    confidence: Annotated[
        float,
        Option(
            "--confidence",
            "Confidence of every pair of limits.",
            metavar="C",
            within=CONFIDENCE,
        ),
    ] = 0.95


class AdvantageLimit(Game):
    """A policy on the advantage."""

    max_advantage: Annotated[
        float | None,
        Option("--max-advantage", "Policy: the advantage is at most X.", metavar="X"),
    ] = None

    def check(self) -> None:
        """Refuse a limit that is always kept, or never."""
        super().check()
        check_advantage_limit(self.max_advantage, abs(2 * self.prior - 1))
