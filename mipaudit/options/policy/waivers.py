"""The waivers of a policy, checked."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import UsageError
from mipaudit.options.plain_values import require
from mipaudit.options.policy.keys import check_keys, quantity_of, share_of, text_of
from mipaudit.statements.policy import Waiver

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

WAIVER_NEEDS: Final = ("quantity", "reason", "person", "expires")
WAIVER_KEYS: Final = (*WAIVER_NEEDS, "score", "metric", "fpr", "group")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def check_waivers(given: Iterable[Mapping[str, Any]], prior: float) -> tuple[Waiver, ...]:
    """Return the waivers.

    Args:
        given: mappings with the keys of `Waiver`.
        prior: the audit's p in (0, 1), checked; names of metrics are read at it.

    Raises:
        UsageError: ``waivers``: an unknown or missing key, or a value of the wrong kind.
    """
    return tuple(_waiver(f"Waiver {at}", one, prior) for at, one in enumerate(given, start=1))


def _waiver(name: str, given: Mapping[str, Any], prior: float) -> Waiver:
    check_keys("waivers", name, given, WAIVER_KEYS, needed=WAIVER_NEEDS)
    reason, person = (str(text_of("waivers", name, given, key)) for key in ("reason", "person"))
    require(
        all(any(map(str.isalnum, text)) for text in (reason, person)),
        "waivers",
        f"{name}: 'reason' and 'person' must say something.",
    )
    metric = text_of("waivers", name, given, "metric")
    if metric is not None:
        # Here, since most policies waive none.
        from mipaudit.maths.metrics.names import parse_metric

        metric = parse_metric(metric, prior=prior).name
    return Waiver(
        quantity=quantity_of("waivers", name, given),
        reason=reason,
        person=person,
        expires=_day(name, given["expires"]),
        score=text_of("waivers", name, given, "score"),
        metric=metric,
        fpr=share_of("waivers", name, given, "fpr"),
        group=text_of("waivers", name, given, "group"),
    )


def _day(name: str, value: object) -> str:
    wanted = f"{name}: 'expires' must be a day, such as 2026-12-31."
    # `fromisoformat` alone also takes weeks, and days without dashes.
    require(isinstance(value, str) and _DAY.fullmatch(value) is not None, "waivers", wanted)
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise UsageError("waivers", wanted) from None
