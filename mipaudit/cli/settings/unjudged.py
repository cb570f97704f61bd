"""Limits that are set for all commands and that the one that runs does not judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.cli.settings.environment import variable_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from mipaudit.cli.settings.policy_file import ConfigFile

# Those whose exit code says whether a limit is kept, and what else they could be thought to judge.
GATES: Final = frozenset({"estimate", "records", "compare", "epsilon", "attack", "attribute"})
_LIMITS: Final = (
    *("max_advantage", "max_eta", "max_tpr_at_fpr", "max_metric", "max_copies"),
    *("max_risk", "max_increase", "max_attribute_advantage", "claimed_epsilon"),
)


def check_listed(config: ConfigFile) -> None:
    """Refuse unknown keys in the limits and waivers of a file, where nothing else reads them.

    Raises:
        UsageError: ``limits`` or ``waivers``.
    """
    if not (config.limits or config.waivers):
        return
    from mipaudit.options.policy.keys import check_keys
    from mipaudit.options.policy.limits import LIMIT_KEYS, LIMIT_NEEDS
    from mipaudit.options.policy.waivers import WAIVER_KEYS, WAIVER_NEEDS

    for number, limit in enumerate(config.limits, start=1):
        check_keys("limits", f"Limit {number}", limit, LIMIT_KEYS, needed=LIMIT_NEEDS)
    for number, waiver in enumerate(config.waivers, start=1):
        check_keys("waivers", f"Waiver {number}", waiver, WAIVER_KEYS, needed=WAIVER_NEEDS)


def unjudged(
    own: Collection[str], config: ConfigFile | None, variables: Iterable[str], *, lists: bool
) -> list[str]:
    """Return what limits are set and not judged, by the names that they were set with.

    Args:
        own: keys of the command's options.
        config: the policy file, if any.
        variables: known ones that stand for options of other commands.
        lists: whether the command takes listed limits; it says itself which it leaves out.
    """
    others = [key for key in _LIMITS if key not in own]
    set_ = set(variables)
    found = [variable_name(key) for key in others if variable_name(key) in set_]
    if config is not None:
        top = {key.replace("-", "_") for key in config.table}
        found += [f"'{key}' in {config.name}" for key in others if key in top]
        if config.limits and not lists:
            found.append(f"[[limit]] in {config.name}")
    return found
