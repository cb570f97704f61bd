"""``mipaudit render``: a report in another form, or judged by other limits.

A policy file gives a report that is there already what ``estimate`` would take from it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mipaudit.cli.policy_file import read_config
from mipaudit.cli.settings import of_file
from mipaudit.commands.render.forms import exchanged, stored_report
from mipaudit.commands.render.options import RejudgeOptions
from mipaudit.options.declare import declared
from mipaudit.options.scores import listed
from mipaudit.options.shown import form_of
from mipaudit.options.values import require
from mipaudit.output.destination import Destination
from mipaudit.output.exit_code import report_exit
from mipaudit.output.presentation import present
from mipaudit.output.stored_report import foreign, read_report
from mipaudit.output.terminal import note_written
from mipaudit.statements.provenance import Setting, plain_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.cli.policy_file import ConfigFile
    from mipaudit.commands.render.forms import ExchangeForm
    from mipaudit.commands.render.options import RenderShown
    from mipaudit.report.exchange.stored import Stored
    from mipaudit.statements.any_report import AnyReport

# What would have made an audit of other records or scores, with other limits or another verdict.
_AUDIT: Final = (
    *("score_col", "member_col", "member_value", "where", "unit_col", "unit_rows"),
    *("rows_are", "nan", "method", "min_recall", "discrete", "member_side"),
    *("claimed_epsilon", "delta", "adjacency", "strict"),
)


def run_render(asked: RejudgeOptions, shown: RenderShown) -> int:
    """Read the report, perhaps judge it again, and write it; return its exit code."""
    limits, audit = limits_for(asked, shown.policy)
    destination = Destination.open(
        shown.output,
        inputs=(*asked.inputs(), shown.policy, *shown.inputs()),
        sha256=shown.sha256,
    )
    form, make = shown.exchange, None
    with foreign(asked.report, *shown.others):
        if form is None:
            found = _judged(limits, audit)
        else:
            given = _stored(form, limits, shown)
            found, make = given.report, partial(exchanged, form, given, _of_annex(shown))
        present(found, shown, destination, make=make)  # type: ignore[arg-type] # more forms
        note_written(found, destination, quiet=shown.quiet)
        return report_exit(found, exit_zero=shown.exit_zero)


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


def _of_file(config: ConfigFile) -> dict[str, Any]:
    """Return what the file says, as ``estimate`` would read it."""
    # The scores of a report are its own.
    found = {name: one.value for name, one in of_file(config, "estimate").items() if name != "data"}
    tables = {name: listed(name, getattr(config, name)) for name in ("limits", "waivers")}
    return {**found, **{name: rows for name, rows in tables.items() if rows}}


def _judged(limits: RejudgeOptions, audit: Mapping[str, Any]) -> AnyReport:
    """Return the report, judged again where there are limits.

    Raises:
        UsageError: ``not_in_report``: the policy file is about other records or scores, or
            another audit of them, than the report.
    """
    found = read_report(limits.report)
    if not limits.settings:
        return found
    from mipaudit.commands.render.run import answer_rejudge
    from mipaudit.options.public import recorded_value

    for name, value in audit.items() if found.command == "estimate" else ():
        given = tuple(value) if isinstance(value, list) else value
        require(
            recorded_value(found.provenance.settings, "estimate", name) == given,
            "not_in_report",
            f"The policy file sets {name}, and the report was made with another.",
            "Run mipaudit estimate with --config FILE, or name the limits as options.",
        )
    return answer_rejudge(limits.but(report=found))


def _stored(form: ExchangeForm, limits: RejudgeOptions, shown: RenderShown) -> Stored:
    """Return the report for a form that others define, which names its file."""
    require(
        not limits.settings,
        "format",
        f"{form.name} names the file of the report, which holds another verdict.",
        "Write the report that is judged again as .json, and then that one in this form.",
    )
    given = stored_report(limits.report, shown.subject)
    said = given.report.provenance.declared
    release = None if said is None else said.release
    require(
        None in {release, shown.release_name} or release == shown.release_name,
        "release_name",
        "The report states another release than `release_name`.",
        "Leave it out: this form names the report's file, which says what it is of.",
    )
    return given


def _of_annex(shown: RenderShown) -> tuple[object, ...]:
    """Return the source of an annex, its further reports, and its layout."""
    if shown.annex is None:
        return ()
    layout = form_of(shown.output or "") or "table"
    return shown.annex, tuple(map(stored_report, shown.others)), layout
