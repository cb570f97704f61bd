"""The settings of a run, with where each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, cast

from mipaudit.cli.settings.configured_command import config_of, setting_place

if TYPE_CHECKING:
    import typer

    from mipaudit.cli.single_value_command import SingleValueCommand
    from mipaudit.statements.origin import Setting

Source = Literal["command line", "environment", "file", "default"]
_SOURCES: Final[dict[str, Source]] = {
    "COMMANDLINE": "command line",
    "ENVIRONMENT": "environment",
    "DEFAULT_MAP": "file",
}


def settings_of(context: typer.Context) -> tuple[Setting, ...]:
    """Return every setting of the command that can change its answer."""
    from mipaudit.statements.origin import Setting, plain_value

    unrecorded = cast("SingleValueCommand", context.command).unrecorded
    return (
        *(
            Setting(
                name=name,
                value=plain_value(value),
                source=_source(context, name),
                where=setting_place(context, name),
            )
            for name, value in context.params.items()
            if name not in unrecorded
        ),
        *_of_file(context),
    )


def _source(context: typer.Context, name: str) -> Source:
    found = context.get_parameter_source(name)
    return _SOURCES.get(found.name if found is not None else "", "default")


def _of_file(context: typer.Context) -> tuple[Setting, ...]:
    """Return the policy file, and what it lists that the command judges."""
    config = config_of(context)
    if config is None:
        return ()
    from mipaudit.statements.origin import Setting, plain_value

    def setting(name: str, value: object, where: str | None) -> Setting:
        return Setting(name=name, value=plain_value(value), source="file", where=where)

    listed = {"limits": config.limits, "waivers": config.waivers}
    judges = "on_inconclusive" in context.params
    return (
        *(setting(name, rows, config.name) for name, rows in listed.items() if judges),
        setting("config", config.name, f"sha256 {config.sha256}"),
    )
