"""``mipaudit render``: a report in another form, or judged by other limits.

A policy file gives a report that is there already what ``estimate`` would take from it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mipaudit.cli.policy_file import read_config
from mipaudit.cli.policy_keys import defaults_of, scores_of
from mipaudit.commands.render.forms import annexed, exchanged, stored_report
from mipaudit.commands.render.options import RejudgeOptions
from mipaudit.errors import UsageError
from mipaudit.options.declare import declared
from mipaudit.options.plain_values import require
from mipaudit.output.destination import Destination
from mipaudit.output.exit_code import report_exit
from mipaudit.output.presentation import present
from mipaudit.output.terminal import note_written
from mipaudit.reading.report_file import foreign, read_report
from mipaudit.statements.origin import Setting, plain_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mipaudit.cli.policy_file import ConfigFile
    from mipaudit.commands.render.forms import ExchangeForm
    from mipaudit.commands.render.options import RenderShown

# What would have made another audit, with other limits or another verdict.
_DECISIVE: Final = ("claimed_epsilon", "delta", "adjacency", "strict", "discrete", "member_side")
# What would have made an audit of other records, or of other scores.
_AUDIT: Final = (
    *("score_col", "member_col", "member_value", "where", "unit_col", "unit_rows"),
    *("rows_are", "nan", "method", "min_recall"),
)


def limits_for(
    asked: RejudgeOptions, policy: str | None
) -> tuple[RejudgeOptions, Mapping[str, Any]]:
    """Return what was typed, and for the rest what a policy file says.

    Args:
        asked: as it was typed.
        policy: the file, or None.

    Returns:
        The limits, recorded with where each came from, of which there are none where nothing
        was; and what the file says of the audit itself, which the report must have been made
        with.

    Raises:
        UsageError: ``config``: the file cannot be read, or says what it may not.
    """
    settings = [one for one in asked.recorded() if one.source != "default"]
    if policy is None:
        return asked.but(settings=tuple(settings)), {}
    config = read_config(policy)
    found = _of_file(config)
    taken = {one.name for one in declared(RejudgeOptions)} - {one.name for one in settings}
    filed = {name: value for name, value in found.items() if name in taken}
    settings += [
        Setting(name=name, value=plain_value(value), source="file", where=config.name)
        for name, value in filed.items()
    ]
    settings.append(
        Setting(name="config", value=config.name, source="file", where=f"sha256 {config.sha256}")
    )
    audit = {name: value for name, value in found.items() if name in _AUDIT}
    return asked.but(**filed, settings=tuple(settings)), audit


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
    from mipaudit.cli.program import load_options
    from mipaudit.options.groups.policy import listed

    config, _ = scores_of(config)  # a report has its own
    found = defaults_of(config, "estimate", load_options("estimate"), load_options)
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
    return {**found, **{name: rows for name, rows in tables.items() if rows}}


def run_render(asked: RejudgeOptions, shown: RenderShown) -> int:
    """Read the report, perhaps judge it again, and write it; return its exit code."""
    limits, audit = limits_for(asked, shown.policy)
    destination = Destination.open(
        shown.output,
        inputs=(*asked.inputs(), shown.policy, *shown.inputs()),
        sha256=shown.sha256,
    )
    with foreign(asked.report, *shown.others):
        form = shown.exchange
        if form is not None:
            return _run_exchange(form, asked, shown, destination, judged=bool(limits.settings))
        found = read_report(asked.report)
        if limits.settings:
            from mipaudit.commands.render.run import answer_rejudge

            if found.command == "estimate":
                require_same_audit(found.provenance.settings, audit)
            found = answer_rejudge(limits.but(report=found))
        present(found, shown, destination)  # type: ignore[arg-type] # a form of all reports
        note_written(found, destination, quiet=shown.quiet)
        return report_exit(found, exit_zero=shown.exit_zero)


def _run_exchange(
    form: ExchangeForm,
    asked: RejudgeOptions,
    shown: RenderShown,
    destination: Destination,
    *,
    judged: bool,
) -> int:
    """Write a stored report in a form that others define; return the report's exit code."""
    if judged:
        raise UsageError(
            "format",
            f"{form.name} names the file of the report, which holds another verdict.",
            hint="Write the report that is judged again as .json, and then that one in this form.",
        )
    given = stored_report(asked.report, shown.subject)
    said = given.report.provenance.declared
    if said is not None and said.release is not None and shown.release_name is not None:
        require(
            shown.release_name == said.release,
            "release_name",
            "The report states another release than `release_name`.",
            "Leave it out: this form names the report's file, which says what it is of.",
        )
    if shown.annex is not None:
        made = partial(annexed, shown.annex, given, shown.others, shown.output or "")
    else:
        made = partial(exchanged, form.name, given)
    present(given.report, shown, destination, make=made)  # type: ignore[arg-type] # more forms
    note_written(given.report, destination, quiet=shown.quiet)
    return report_exit(given.report, exit_zero=shown.exit_zero)
