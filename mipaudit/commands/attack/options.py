"""What ``mipaudit attack`` may be asked."""

from collections.abc import Sequence

from mipaudit.errors import UsageError
from mipaudit.options.declare import choice
from mipaudit.options.game import BY_OPTION, MIN_CELL_OPTION
from mipaudit.options.scores import AdvantageLimit, Classes, Columns, Scores, Seeded, Sides, Work
from mipaudit.options.values import FINITE, NOT_NEGATIVE, above


class _Attack(Sides):
    residuals: bool = choice(
        "The scores are residuals: label minus prediction. The attacks use their size.",
        default=False,
    )
    loss_bound: float | None = choice(
        "The loss is at most X; larger losses count as X.", within=above(0)
    )
    mean_loss: float | None = choice("The mean loss of the members, as published.", within=FINITE)
    sigma_members: float | None = choice(
        "Standard error on members, as published.", within=NOT_NEGATIVE, only_with="residuals"
    )
    sigma_holdout: float | None = choice(
        "Standard error on holdout, as published.", within=NOT_NEGATIVE, only_with="residuals"
    )
    by: Sequence[str] = BY_OPTION.but(
        "Use a separate threshold for each value of these columns.", default=()
    )
    min_cell: int = MIN_CELL_OPTION.but(
        "Show nothing based on fewer members or fewer holdout records than this.", default=10
    )

    def check(self) -> None:
        """Refuse what residuals already say."""
        super().check()
        if not self.residuals:
            return
        if self.mean_loss is not None:
            raise UsageError(
                "mean_loss",
                "The mean squared residual is the square of `sigma_members`.",
                "Give `sigma_members` instead.",
            )
        if self.member_side != "auto":
            raise UsageError(
                "member_side",
                "Residuals are attacked by their size: a small one points to a member.",
                "Leave `member_side` out.",
            )

    @property
    def side_known(self) -> bool:
        """Tell whether the side is given, so that no row was used to find it."""
        return self.residuals or self.member_side != "auto"


class AttackOptions(Scores, Classes, Columns, _Attack, AdvantageLimit, Seeded, Work):
    """The scores, the attacks on them, and a policy on what they achieve."""

    HELP = """Show what published attacks achieve on a score.

Shows each attack with confidence limits, beside those of the best attacker. Attacks: the
bounded-loss attack, thresholds at the mean loss and at standard errors (Yeom et al.), the
top n (LOGAN) and the top half, the best threshold, and a threshold for each class (Song
and Mittal). Also shows the generalization gap.

An attack that learns its threshold does so on a part of the rows (the burn-in), and is
judged on the other rows. All scores are held in memory.

\b
Examples:
  mipaudit attack scores.parquet
      Every attack that fits each score, and how far each is from the best attacker.
  mipaudit attack scores.parquet --score-col loss --loss-bound 5
      Losses above 5 count as 5. Adds the bounded-loss attack, and limits of the
      generalization gap.
  mipaudit attack residuals.csv --residuals
      Residuals: label minus prediction. Gaussian thresholds with two standard errors and one.
  mipaudit attack residuals.csv --residuals --sigma-members 1.2 --sigma-holdout 1.5
      Uses the published standard errors, so that nothing is learned.
  mipaudit attack groups.parquet --score-col loss --by sex
      A threshold for each value of sex, and what it achieves there.
  mipaudit attack scores.parquet --max-advantage 0.1
      A policy on these attacks: exit code 0 if all stay below, 1 if one of them or the best
      attacker is surely above, 3 if inconclusive. Met does not cover the best attacker.
"""
