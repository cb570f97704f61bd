"""What ``mipaudit.estimate_many`` may be asked: of one score, what ``estimate`` may be."""

from collections.abc import Sequence
from typing import Any

from mipaudit.commands.estimate.options import JOINT_OPTION
from mipaudit.errors import UsageError
from mipaudit.options.declare import Options, manner, required
from mipaudit.options.game import BY_OPTION, Game
from mipaudit.options.scores import (
    AGAINST_OPTION,
    ChosenSeed,
    Columns,
    Discreteness,
    Followed,
    Sides,
)
from mipaudit.statements.choices import Against

_OF_SEVERAL = frozenset({"product-grid", "learned"})


class _Audits(Options, kw_only=False):
    scores: Any = required(
        manner(
            "An array of shape (audits, rows), or a data frame or an Arrow table of the rows of "
            "all audits, which `by` splits.",
            flag=None,
        )
    )


class _Split(Options):
    member: Any = manner(
        "With an array: who is a member, of shape (rows,) or (audits, rows), bool or 0 and 1.",
        flag=None,
    )
    by: Sequence[str] = BY_OPTION.but(
        "With a frame: each combination of these columns is an audit.", default=()
    )


class _Joint(Options):
    joint: bool = JOINT_OPTION.but(
        "Share the error over the audits: all limits of the advantage hold together, and all "
        "of the AUC.",
        default=False,
    )
    against: Against | None = AGAINST_OPTION.but(
        "The attackers whose upper limit is shown. Default: any for a score of few values, "
        "else the class with the highest limit."
    )


class EstimateManyOptions(
    _Audits, _Split, Columns, Game, _Joint, Discreteness, Sides, ChosenSeed, Followed
):
    """The scores of many audits, and what is said of all of them."""

    def check(self) -> None:
        """Refuse attackers on several numbers: an audit has one score."""
        super().check()
        if self.against in _OF_SEVERAL:
            raise UsageError(
                "no_such_class",
                f"Attackers '{self.against}' exist for scores of several numbers alone.",
                hint="Name another class in `against`, or leave it out.",
            )
