"""What a policy lets attackers win."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from mipaudit.options.declare import Option, Options
from mipaudit.options.groups.game import Game
from mipaudit.options.policy.limits import check_advantage_limit, check_eta_limit
from mipaudit.options.policy.metrics import limits_of
from mipaudit.options.ranges import OPERATING_POINT, at_least
from mipaudit.options.texts.operating_limit import operating_point
from mipaudit.statements.estimate import Against
from mipaudit.statements.policy import OnInconclusive


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


class ListedPolicy(Options):
    """The limits and waivers that a policy file lists."""

    limits: Annotated[
        Sequence[Mapping[str, Any]],
        Option(
            None,
            "Policy limits on any quantity, as the policy file lists them: "
            "{'quantity': 'auc', 'max': 0.6, 'score': 'loss'}; docs/policy.md has the keys.",
        ),
    ] = ()
    waivers: Annotated[
        Sequence[Mapping[str, Any]],
        Option(None, "Of limits that are not shown to be kept, as the policy file lists them."),
    ] = ()
    on_inconclusive: Annotated[
        OnInconclusive,
        Option(
            "--on-inconclusive",
            "What an open answer counts as: exit code 1, 3 or 0. The report says what it is.",
        ),
    ] = "review"


class ScorePolicy(AdvantageLimit):
    """A policy on what scores tell."""

    max_eta: Annotated[
        float | None,
        Option(
            "--max-eta",
            "Policy: accuracy is at most X above guessing (MIP's eta).",
            metavar="X",
        ),
    ] = None
    max_tpr_at_fpr: Annotated[
        tuple[float, float] | None,
        Option(
            "--max-tpr-at-fpr",
            "Policy: true-positive rate at most T at false-positive rate F, as 0.02@0.001.",
            metavar="T@F",
            read=operating_point,
            within=OPERATING_POINT,
        ),
    ] = None
    max_copies: Annotated[
        int | None,
        Option(
            "--max-copies",
            "Policy: at most N members are released word for word (column exact_copy).",
            metavar="N",
            within=at_least(0),
        ),
    ] = None
    against: Annotated[
        Against | None,
        Option(
            "--against",
            "The attackers that the policy must withstand; the last two are for scores of "
            "several numbers.",
        ),
    ] = None
    max_metric: Annotated[
        Sequence[str],
        Option(
            "--max-metric",
            "Policy: the metric is at most X, as ppv=0.6; repeat for several. In Python also "
            "{'ppv': 0.6}.",
            metavar="NAME=X",
            read=limits_of,
            repeated=True,
        ),
    ] = ()

    def check(self) -> None:
        """Refuse a limit on eta that is always kept, or never."""
        super().check()
        check_eta_limit(self.max_eta, abs(2 * self.prior - 1))
