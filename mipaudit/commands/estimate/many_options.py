"""What ``mipaudit.estimate_many`` may be asked: of one score, what ``estimate`` may be."""

from typing import Annotated, Any

from mipaudit.commands.estimate.options import JointOption
from mipaudit.errors import UsageError
from mipaudit.options.declare import Manner, Options, but
from mipaudit.options.game import ByOption, Game
from mipaudit.options.scores import (
    AgainstOption,
    ChosenSeed,
    Columns,
    Discreteness,
    Followed,
    Sides,
)

_OF_SEVERAL = frozenset({"product-grid", "learned"})


class _Audits(Options, kw_only=False):
    scores: Annotated[
        Any,
        Manner(
            None,
            "An array of shape (audits, rows), or a data frame or an Arrow table of the rows of "
            "all audits, which `by` splits.",
        ),
    ]


class _Split(Options):
    member: Annotated[
        Any,
        Manner(
            None,
            "With an array: who is a member, of shape (rows,) or (audits, rows), bool or 0 and 1.",
        ),
    ] = None
    by: Annotated[
        ByOption, but("With a frame: each combination of these columns is an audit.")
    ] = ()


class _Joint(Options):
    joint: Annotated[
        JointOption,
        but(
            "Share the error over the audits: all limits of the advantage hold together, and all "
            "of the AUC."
        ),
    ] = False
    against: Annotated[
        AgainstOption,
        but(
            "The attackers whose upper limit is shown. Default: any for a score of few values, "
            "else the class with the highest limit."
        ),
    ] = None


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
