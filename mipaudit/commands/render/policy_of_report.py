"""A policy file for a report that is there already: what ``estimate`` would take from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mipaudit.cli.settings.policy_file import read_config
from mipaudit.cli.settings.policy_file_keys import defaults_of
from mipaudit.errors import UsageError
from mipaudit.statements.origin import Setting, setting_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mipaudit.cli.settings.policy_file import ConfigFile

LIMITS: Final = (
    *("max_advantage", "max_eta", "max_tpr_at_fpr", "max_metric", "max_copies", "against"),
    *("limits", "waivers", "on_inconclusive", "prior", "confidence"),
)

# What would have made another audit, with other limits or another verdict.
_DECISIVE: Final = ("claimed_epsilon", "delta", "adjacency", "strict", "discrete", "member_side")
# What would have made an audit of other records, or of other scores.
_AUDIT: Final = (
    *("score_columns", "member_column", "member_value", "where", "unit_column", "unit_rows"),
    *("rows_are", "nan", "method", "min_recall"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPolicy:
    """The limits to judge a report by, and where each came from.

    Attributes:
        values: the limits, by setting.
        settings: what the report records of them.
        audit: what the file says of the audit itself, which the report must have been made with.
    """

    values: Mapping[str, Any]
    settings: tuple[Setting, ...]
    audit: Mapping[str, Any] = field(default_factory=dict)


def report_policy(typed: Mapping[str, Any], policy: str | None) -> ReportPolicy:
    """Return what was typed, and for the rest what a policy file says.

    Args:
        typed: the limits on the command line; None where there is none.
        policy: the file, or None.

    Raises:
        UsageError: ``config``: the file cannot be read, or says what it may not.
    """
    given = {name: value for name, value in typed.items() if value is not None}
    settings = [
        Setting(name=name, value=setting_text(value), source="command line")
        for name, value in given.items()
    ]
    if policy is None:
        return ReportPolicy(values=given, settings=tuple(settings))
    config = read_config(policy)
    found = _of_file(config)
    filed = {name: value for name, value in found.items() if name not in given and name in LIMITS}
    settings += [
        Setting(name=name, value=setting_text(value), source="file", where=config.name)
        for name, value in filed.items()
    ]
    settings.append(
        Setting(name="config", value=config.name, source="file", where=f"sha256 {config.sha256}")
    )
    audit = {name: value for name, value in found.items() if name in _AUDIT}
    return ReportPolicy(values={**given, **filed}, settings=tuple(settings), audit=audit)


def require_same_audit(recorded: Sequence[Setting], audit: Mapping[str, Any]) -> None:
    """Refuse a report of other records or scores than the policy file is about.

    Raises:
        UsageError: ``not_in_report``: a setting of the file is not that of the report.
    """
    from mipaudit.options.recorded import recorded_value

    for name, value in audit.items():
        asked = tuple(value) if isinstance(value, list) else value
        if recorded_value(recorded, "estimate", name) != asked:
            raise UsageError(
                "not_in_report",
                f"The policy file sets {name}, and the report was made with another.",
                hint="Run mipaudit estimate with --config FILE, or name the limits as options.",
            )


def _of_file(config: ConfigFile) -> dict[str, Any]:
    """Return what the file says, as ``estimate`` would read it."""
    from mipaudit.cli.program import every_command
    from mipaudit.options.policy.keys import listed

    every = every_command()
    found = defaults_of(config, "estimate", every.load("estimate"), every)
    tables = {
        "limits": listed("limits", config.limits),
        "waivers": listed("waivers", config.waivers),
    }
    decisive = next((name for name in _DECISIVE if name in found), None)
    if decisive is not None:
        raise UsageError(
            "not_in_report",
            f"The policy file sets {decisive}, which changes an audit and cannot be judged by a "
            "report alone.",
            hint="Run mipaudit estimate with --config FILE, or name the limits as options.",
        )
    return {
        **found,
        **{name: rows for name, rows in tables.items() if rows},
    }
