"""The metrics that an audit is asked for, and the limits on them, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mipaudit.options.plain_values import Given, number, require

if TYPE_CHECKING:
    from mipaudit.maths.metrics.metric import Metric

_LIMITS = "`max_metric` must be names with limits, such as {'ppv': 0.6} or 'ppv=0.6'."


def limits_of(max_metric: Given) -> tuple[str, ...]:
    """Return limits on metrics as ``NAME=LIMIT``.

    Raises:
        UsageError: ``max_metric``: another form.
    """
    if isinstance(max_metric, Mapping):
        return tuple(
            f"{name}={number('max_metric', limit, _LIMITS)!r}" for name, limit in max_metric.items()
        )
    listed = (max_metric,) if isinstance(max_metric, str) else max_metric or ()
    require(isinstance(listed, Iterable), "max_metric", _LIMITS)
    texts = tuple(listed)
    require(all(isinstance(text, str) for text in texts), "max_metric", _LIMITS)
    return texts


def check_metrics(
    metric: Iterable[str], max_metric: Iterable[str], least: float, prior: float
) -> tuple[dict[str, Metric], dict[str, float]]:
    """Return the metrics asked for and limited, by name, and the limits on them.

    Args:
        metric: names.
        max_metric: ``NAME=LIMIT`` each.
        least: least recall, or specificity, of the metrics that need one.
        prior: p in (0, 1), checked.

    Raises:
        UsageError: a name is unknown, or a limit can never be kept or always is.
    """
    # Here, since help is written without the arithmetic of metrics.
    from mipaudit.maths.metrics.names import parse_metric, split_limit

    require(0 < least < 1, "min_recall", "The least recall must be above 0 and below 1.")
    found = [parse_metric(name, prior=prior, least=least) for name in metric]
    limits: dict[str, float] = {}
    for text in max_metric:
        name, limit = split_limit(text)
        one = parse_metric(name, prior=prior, least=least)
        found.append(one)
        check_metric_limit(one, limit)
        require(one.name not in limits, "max_metric", f"'{one.name}' has two limits.")
        limits[one.name] = limit
    return {one.name: one for one in found}, limits


def check_metric_limit(metric: Metric, limit: float) -> None:
    """Refuse a limit that the trivial attacker breaks, or that nobody ever passes.

    Raises:
        UsageError: ``max_metric``.
    """
    lowest, highest = metric.baseline, metric.most
    require(
        not metric.trivial,
        "max_metric",
        f"A limit on '{metric.name}' tests nothing: an attacker who guesses the same of everybody "
        f"reaches {lowest:g}, the largest value.",
        "Limit ppv, am or TPR at FPR instead.",
    )
    require(
        lowest < limit < highest,
        "max_metric",
        f"The limit on '{metric.name}' must be above {lowest:g}, which blind guessing "
        f"reaches at this prior, and below {highest:g}, which nobody passes.",
        "A larger value is a better attacker; a cost is given as its negative.",
    )
