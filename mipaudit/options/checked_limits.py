"""The listed limits and waivers of a policy, checked."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

from mipaudit.errors import UsageError
from mipaudit.model.check import Waiver
from mipaudit.model.row import Quantity
from mipaudit.options.other_names import near
from mipaudit.options.plain_values import number, one_of, percent_hint, require
from mipaudit.statements.choices import Against
from mipaudit.statements.estimate import Finding
from mipaudit.statements.policy import Limit, restatement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mipaudit.maths.metrics.metric import Metric


# What the commands judge; a policy file is for all of them together.
OF_SCORES: Final = frozenset(
    {"advantage", "excess", "eta", "accuracy", "auc", "tpr_at_fpr", "metric", "any_difference"}
)
OF_GROUPS: Final = frozenset({"advantage", "difference"})
_AT_PRIOR: Final = frozenset({"advantage", "excess", "eta", "accuracy"})
_OF_ONE_THRESHOLD: Final = frozenset({"auc", "tpr_at_fpr", "difference"})
_LIMIT_NEEDS: Final = ("quantity", "max")
_LIMIT_KEYS: Final = ("score", "against", "fpr", "metric", "group", "prior")
_LARGEST_DIFFERENCE: Final = 2.0
_HALF: Final = 0.5
_WAIVER_NEEDS: Final = ("quantity", "reason", "person", "expires")
_WAIVER_KEYS: Final = ("score", "metric", "fpr", "group")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_QUANTITIES: Final = get_args(Quantity)


class Listed(NamedTuple):
    """A limit or a waiver as it is listed, whose keys are known and all there.

    Attributes:
        code: of the error where a value is none of its key's: ``limits`` or ``waivers``.
        name: such as ``Limit 2``.
        given: its keys and values.
    """

    code: str
    name: str
    given: Mapping[str, Any]

    def require(self, holds: bool, message: str, hint: str | None = None) -> None:  # noqa: FBT001
        """Raise a UsageError with the name before the message, unless a condition holds."""
        require(holds, self.code, f"{self.name}: {message}", hint)

    def quantity(self) -> Quantity:
        """Return the quantity; of an unknown one the nearest is named."""
        value = self.given["quantity"]
        meant = near(value, _QUANTITIES) if isinstance(value, str) else None
        self.require(
            value in _QUANTITIES,
            f"'quantity' must be one of: {', '.join(_QUANTITIES)}.",
            f"Did you mean '{meant}'?" if meant else None,
        )
        return value  # type: ignore[no-any-return]

    def text(self, key: str) -> str | None:
        """Return a text, or None where there is none."""
        value = self.given.get(key)
        self.require(value is None or isinstance(value, str), f"'{key}' must be a text.")
        return value

    def share(self, key: str) -> float | None:
        """Return a number in (0, 1), or None where there is none."""
        if self.given.get(key) is None:
            return None
        value = self.number(key)
        self.require(0 < value < 1, f"'{key}' must be above 0 and below 1.")
        return value

    def number(self, key: str) -> float:
        """Return a number that is there."""
        accepted = f"{self.name}: '{key}' must be a number."
        require(not isinstance(self.given[key], bool), self.code, accepted)
        return number(self.code, self.given[key], accepted)


def listed_limits(given: Iterable[Mapping[str, Any]]) -> list[Listed]:
    """Return limits with known keys.

    Raises:
        UsageError: ``limits``: an unknown key, whose nearest is named, or one is missing.
    """
    return _known("limits", "Limit", given, _LIMIT_NEEDS, _LIMIT_KEYS)


def listed_waivers(given: Iterable[Mapping[str, Any]]) -> list[Listed]:
    """Return waivers with known keys.

    Raises:
        UsageError: ``waivers``: an unknown key, whose nearest is named, or one is missing.
    """
    return _known("waivers", "Waiver", given, _WAIVER_NEEDS, _WAIVER_KEYS)


def _known(
    code: str,
    kind: str,
    given: Iterable[Mapping[str, Any]],
    needed: Sequence[str],
    more: Sequence[str],
) -> list[Listed]:
    allowed = (*needed, *more)
    found = [Listed(code, f"{kind} {at}", one) for at, one in enumerate(given, start=1)]
    for one in found:
        for key in one.given:
            meant = near(key, allowed)
            require(
                key in allowed,
                code,
                f"{one.name} has the unknown key '{key}'.",
                f"Did you mean '{meant}'?" if meant else f"Known keys: {', '.join(allowed)}.",
            )
        missing = [key for key in needed if key not in one.given]
        require(not missing, code, f"{one.name} lacks the key '{''.join(missing[:1])}'.")
    return found


def check_limits(given: Iterable[Mapping[str, Any]], prior: float) -> tuple[Limit, ...]:
    """Return the listed limits.

    Args:
        given: mappings with the keys of `Limit`.
        prior: the audit's p in (0, 1), checked.

    Raises:
        UsageError: ``limits``: an unknown key, or a value out of its range.
    """
    return tuple(_limit(one, prior) for one in listed_limits(given))


def limited_metrics(
    limits: Iterable[Limit], prior: float, least: float
) -> tuple[tuple[Limit, ...], dict[str, Metric]]:
    """Return the limits with the metrics' tidy names, and those metrics by name.

    Raises:
        UsageError: a metric is unknown, or its limit can never be kept or always is.
    """
    # Here, since few policies limit metrics, and help is written without their arithmetic.
    from mipaudit.maths.metrics.names import parse_metric
    from mipaudit.options.checked_metrics import check_metric_limit

    found: dict[str, Metric] = {}
    tidied = []
    for limit in limits:
        if limit.metric is None:
            tidied.append(limit)
            continue
        metric = parse_metric(limit.metric, prior=prior, least=least)
        check_metric_limit(metric, limit.max)
        found[metric.name] = metric
        tidied.append(replace(limit, metric=metric.name))
    return tuple(tidied), found


def _limit(one: Listed, prior: float) -> Limit:
    quantity, against = one.quantity(), one.text("against")
    if against is not None:
        one_of("limits", against, get_args(Against))
    fpr, own = one.share("fpr"), one.share("prior")
    limit = Limit(
        quantity=quantity,
        max=one.number("max"),
        score=one.text("score"),
        against=against,  # type: ignore[arg-type]
        fpr=fpr,
        metric=one.text("metric"),
        group=one.text("group"),
        prior=None if own == prior else own,
    )
    _check_parts(one, limit)
    _check_range(one, limit, prior if own is None else own)
    return limit


def _check_parts(one: Listed, limit: Limit) -> None:
    """Refuse what makes no sense beside the quantity."""
    quantity = limit.quantity
    one.require(
        limit.fpr is not None or quantity != "tpr_at_fpr",
        "a limit on tpr_at_fpr needs 'fpr', the false-positive rate.",
        "For example: quantity = 'tpr_at_fpr', fpr = 0.001, max = 0.02",
    )
    one.require(
        limit.fpr is None or quantity == "tpr_at_fpr",
        "'fpr' goes with the quantity tpr_at_fpr, and with no other.",
    )
    one.require(
        limit.metric is not None or quantity != "metric",
        "a limit on a metric needs 'metric', its name.",
        "For example: quantity = 'metric', metric = 'ppv', max = 0.6",
    )
    one.require(
        limit.metric is None or quantity == "metric",
        "'metric' (its name) goes with the quantity metric, and with no other.",
    )
    one.require(
        limit.group is not None if quantity == "difference" else True,
        "a difference is that of a group from the rest: it needs 'group'.",
        "group = '*' means every group.",
    )
    one.require(
        limit.group is None or quantity in OF_GROUPS,
        "within a group only 'advantage' and 'difference' can be limited.",
    )
    one.require(
        limit.prior is None or (quantity in _AT_PRIOR and limit.group is None),
        f"'{quantity}' cannot be judged at another prior than the audit's.",
        "Run an audit at that prior.",
    )
    one.require(
        limit.against in {None, "thresholds"} or quantity not in {*_OF_ONE_THRESHOLD, "risk"},
        f"'against' cannot be chosen for '{quantity}'.",
    )
    one.require(
        limit.against is None or quantity != "any_difference",
        "'against' cannot be chosen for 'any_difference'.",
    )


def _check_range(one: Listed, limit: Limit, prior: float) -> None:
    """A limit that a score which says nothing breaks could never be met."""
    if limit.quantity == "any_difference":
        one.require(
            limit.max == 0,
            "the limit on any_difference must be 0: nothing may show.",
            "How much may show is what the other quantities say.",
        )
        return
    baseline = abs(2 * prior - 1)
    ends = {
        "auc": (_HALF, 1.0),
        "tpr_at_fpr": (limit.fpr or 0.0, 1.0),
        "risk": (baseline, 1.0),
        "difference": (0.0, _LARGEST_DIFFERENCE),
    }
    if limit.quantity == "metric":
        return  # its ends depend on the metric
    scale, shift = restatement(limit.quantity, prior)
    lowest, highest = ends.get(limit.quantity, (scale * baseline + shift, scale + shift))
    one.require(
        lowest < limit.max <= highest,
        f"the limit on {limit.quantity} must be above {lowest:g}, which blind guessing "
        f"reaches, and at most {highest:g}.",
        percent_hint(limit.max, lambda value: lowest < value <= highest),
    )


def of_scores(limit: Limit | Waiver) -> bool:
    """Tell whether ``estimate`` judges it."""
    return limit.group is None and limit.quantity in OF_SCORES


def of_records(limit: Limit | Waiver) -> bool:
    """Tell whether ``records`` judges it."""
    return limit.group is not None or limit.quantity == "risk"


def limits_elsewhere(command: str, count: int) -> list[Finding]:
    """Return the finding that limits were left to another command.

    Args:
        command: the one that judges them.
        count: how many.
    """
    if not count:
        return []
    return [Finding.of("limits_elsewhere", count=count, command=command)]


def check_advantage_limit(limit: float | None, baseline: float, hint: str | None = None) -> None:
    """Refuse a limit on the advantage that blind guessing reaches, or that nobody can exceed.

    Args:
        limit: on the advantage, or None.
        baseline: what blind guessing reaches at the prior.
        hint: what to limit instead.

    Raises:
        UsageError: ``max_advantage``.
    """
    require(
        limit is None or baseline < limit <= 1,
        "max_advantage",
        f"The limit on the advantage must be above {baseline:g}, which blind guessing reaches at "
        "this prior, and at most 1.",
        percent_hint(limit, lambda value: baseline < value <= 1) or hint,
    )


def check_eta_limit(limit: float | None, baseline: float) -> None:
    """Refuse a limit on eta that can be neither kept nor exceeded.

    Raises:
        UsageError: ``max_eta``.
    """
    highest = (1 - baseline) / 2
    require(
        limit is None or 0 < limit <= highest,
        "max_eta",
        f"The limit on eta must be above 0 and at most {highest:g} at this prior.",
        percent_hint(limit, lambda value: 0 < value <= highest),
    )


def check_waivers(given: Iterable[Mapping[str, Any]], prior: float) -> tuple[Waiver, ...]:
    """Return the waivers.

    Args:
        given: mappings with the keys of `Waiver`.
        prior: the audit's p in (0, 1), checked; names of metrics are read at it.

    Raises:
        UsageError: ``waivers``: an unknown or missing key, or a value of the wrong kind.
    """
    return tuple(_waiver(one, prior) for one in listed_waivers(given))


def _waiver(one: Listed, prior: float) -> Waiver:
    reason, person = str(one.text("reason")), str(one.text("person"))
    one.require(
        all(any(map(str.isalnum, text)) for text in (reason, person)),
        "'reason' and 'person' must say something.",
    )
    metric, score = one.text("metric"), one.text("score")
    one.require(
        not {*"*?"} & {*(score or "")},
        "'score' has * or ?, and names are exact.",
        "Leave 'score' out for every score, or write a waiver for each.",
    )
    if metric is not None:
        # Here, since most policies waive none.
        from mipaudit.maths.metrics.names import parse_metric

        metric = parse_metric(metric, prior=prior).name
    return Waiver(
        quantity=one.quantity(),
        reason=reason,
        person=person,
        expires=_day(one),
        score=score,
        metric=metric,
        fpr=one.share("fpr"),
        group=one.text("group"),
    )


def _day(one: Listed) -> str:
    value, wanted = one.given["expires"], "'expires' must be a day, such as 2026-12-31."
    # `fromisoformat` alone also takes weeks, and days without dashes.
    one.require(isinstance(value, str) and _DAY.fullmatch(value) is not None, wanted)
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise UsageError("waivers", f"{one.name}: {wanted}") from None
