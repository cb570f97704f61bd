"""What ``mipaudit attack`` may be asked."""

from collections.abc import Sequence

from mipaudit.errors import UsageError
from mipaudit.options.declare import choice
from mipaudit.options.game import BY_OPTION, MIN_CELL_OPTION
from mipaudit.options.scores import AdvantageLimit, Classes, Columns, Scores, Seeded, Sides, Work
from mipaudit.options.values import FINITE, NOT_NEGATIVE, above


class _Attack(Sides):
    residuals: bool = choice(
        "The scores are residuals: true minus predicted value. The attacks use their size.",
        default=False,
    )
    loss_bound: float | None = choice(
        "Losses above X count as X. The bounded-loss attack needs this.", within=above(0)
    )
    mean_loss: float | None = choice(
        "The members' mean loss, as published with the model.", within=FINITE
    )
    sigma_members: float | None = choice(
        "The standard deviation of the members' residuals, as published (often as standard error).",
        within=NOT_NEGATIVE,
        only_with="residuals",
    )
    sigma_holdout: float | None = choice(
        "The same of the holdout records' residuals.", within=NOT_NEGATIVE, only_with="residuals"
    )
    by: Sequence[str] = BY_OPTION.but("Use one threshold per value of these columns.", default=())
    min_cell: int = MIN_CELL_OPTION.but(
        "Show nothing based on fewer members or holdout records than this.", default=10
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

The advantage of an attack says how well it guesses who is a member: 0 is a coin toss, 1 is always
right. The report shows the advantage of each attack and of the best attacker, with confidence
limits. The attacks are explained in: mipaudit help named-attacks. The report also shows the
generalization gap: the mean loss of holdout records minus that of members.

\b
Examples:
  mipaudit attack scores.parquet
      Shows every attack that suits a score, and how far each is from the best attacker.
  mipaudit attack scores.parquet --score-col loss --loss-bound 5
      Losses above 5 count as 5. Adds the bounded-loss attack, and confidence limits for the gap.
  mipaudit attack residuals.csv --residuals
      The scores are residuals: the true value minus the predicted one.
  mipaudit attack residuals.csv --residuals --sigma-members 1.2 --sigma-holdout 1.5
      Uses published standard deviations of the residuals.
  mipaudit attack groups.parquet --score-col loss --by sex
      Uses a threshold for each value of sex, and shows what it achieves there.
  mipaudit attack scores.parquet --max-advantage 0.1
      A policy: exit code 0 if all these attacks surely stay below, 1 if one of them or the best
      attacker is surely above, else 3. Code 0 does not cover other attacks.
"""
