"""What a policy lets attackers win.

Policies themselves are loaded where one is judged: help is written without them.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mipaudit.options.declare import Choice, Free, Options
from mipaudit.options.groups.game import Game
from mipaudit.options.plain_values import number, require
from mipaudit.options.ranges import OPERATING_POINT, at_least
from mipaudit.options.texts import operating_point
from mipaudit.statements.choices import Against

if TYPE_CHECKING:
    from mipaudit.options.checked_limits import AskedPolicy


_LIMITS = "`max_metric` must be names with limits, such as {'ppv': 0.6} or 'ppv=0.6'."


def limits_of(given: Any) -> tuple[str, ...]:  # noqa: ANN401 - names and limits, or texts
    """Return limits on metrics as ``NAME=LIMIT``.

    Raises:
        UsageError: ``max_metric``: another form.
    """
    if isinstance(given, Mapping):
        numbers = {name: number("max_metric", limit, _LIMITS) for name, limit in given.items()}
        return tuple(f"{name}={limit!r}" for name, limit in numbers.items())
    texts = (given,) if isinstance(given, str) else tuple(given or ())
    require(all(isinstance(text, str) for text in texts), "max_metric", _LIMITS)
    return texts


def listed(code: str, given: object) -> tuple[dict[str, Any], ...]:
    """Return limits or waivers as plain mappings, dates as text: what a report records.

    Args:
        code: ``limits`` or ``waivers``.
        given: an iterable of mappings.

    Raises:
        UsageError: ``code``: another form.
    """
    accepted = f"{code} must be a list of mappings, such as {{'quantity': 'advantage', ...}}."
    require(isinstance(given, Iterable) and not isinstance(given, (str, Mapping)), code, accepted)
    found: tuple[Any, ...] = tuple(given)  # type: ignore[arg-type]
    require(all(isinstance(one, Mapping) for one in found), code, accepted)
    return tuple(
        {str(key): value.isoformat() if isinstance(value, date) else value for key, value in pairs}
        for pairs in (one.items() for one in found)
    )


MaxAdvantageOption = Annotated[
    float | None, Free("--max-advantage", "Policy: the advantage is at most X.")
]
AgainstOption = Annotated[
    Against | None,
    Free(
        "--against",
        "The attackers that the policy must withstand; the last two are for scores of several "
        "numbers.",
    ),
]
MaxCopiesOption = Annotated[
    int | None,
    Free(
        "--max-copies",
        "Policy: at most N members are released word for word, as column exact_copy tells. Without "
        "it nothing is met where some are, unless as many others are.",
        within=at_least(0),
    ),
]


class _MaxAdvantage(Options):
    max_advantage: MaxAdvantageOption = None


class AdvantageLimit(Game, _MaxAdvantage):
    """A policy on the advantage."""

    def check(self) -> None:
        """Refuse a limit that is always kept, or never."""
        from mipaudit.options.checked_limits import require_possible

        super().check()
        require_possible("max_advantage", "advantage", self.max_advantage, self.prior)


class ListedPolicy(Options):
    """The limits and waivers that a policy file lists."""

    GROUP = "Policy"

    limits: Annotated[
        Sequence[Mapping[str, Any]],
        Free(
            None,
            "Policy limits on any quantity, as the policy file lists them: "
            "{'quantity': 'auc', 'max': 0.6, 'score': 'loss'} (mipaudit help policy-files).",
            read=partial(listed, "limits"),
        ),
    ] = ()
    waivers: Annotated[
        Sequence[Mapping[str, Any]],
        Choice(
            None,
            "Of limits that are not shown to be kept, as the policy file lists them.",
            read=partial(listed, "waivers"),
        ),
    ] = ()
    on_inconclusive: Annotated[
        Literal["fail", "review", "pass"],
        Choice(
            "--on-inconclusive",
            "What an open answer counts as: exit code 1, 3 or 0. The report says what it is.",
            needs_word=lambda given: given == "pass",
        ),
    ] = "review"


class _ScoreLimits(_MaxAdvantage):
    GROUP = "Policy"

    max_eta: Annotated[
        float | None, Free("--max-eta", "Policy: accuracy is at most X above guessing (MIP's eta).")
    ] = None
    max_tpr_at_fpr: Annotated[
        tuple[float, float] | None,
        Free(
            "--max-tpr-at-fpr",
            "Policy: true-positive rate at most T at false-positive rate F, as 0.02@0.001.",
            metavar="T@F",
            read=operating_point,
            in_python="Or (0.02, 0.001).",
            within=OPERATING_POINT,
        ),
    ] = None
    max_copies: MaxCopiesOption = None
    against: AgainstOption = None
    max_metric: Annotated[
        Mapping[str, float] | Sequence[str],
        Free(
            "--max-metric",
            "Policy: the metric is at most X, as ppv=0.6; repeat for several.",
            metavar="NAME=X",
            in_python="Or {'ppv': 0.6}.",
            read=limits_of,
            repeated=True,
        ),
    ] = ()


class ScorePolicy(_ScoreLimits, ListedPolicy):
    """A policy on what scores tell."""

    def policy_at(
        self, prior: float, least_recall: float, metric: Sequence[str] = ()
    ) -> "AskedPolicy":
        """Return the policy, checked.

        Args:
            prior: at which it is judged, in (0, 1).
            least_recall: of attackers in metrics that need one, in (0, 1).
            metric: names of metrics that are asked for.

        Raises:
            UsageError: a limit is always kept, or never, or is of an unknown quantity.
        """
        from mipaudit.options.checked_limits import policy_of

        return policy_of(vars(self), prior, least_recall, metric)
