"""The settings of a run, with where each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import typer

    from mipaudit.report.origin import Setting

# How the report is shown does not change it; the inputs are listed on their own.
_NOT_SETTINGS: Final = frozenset(
    {
        "scores",
        "members",
        "holdout",
        "format",
        "output",
        "quiet",
        "verbose",
        "exit_zero",
        "jobs",
        "resume",
    }
)


def settings_of(context: typer.Context) -> tuple[Setting, ...]:
    """Return every setting of the command that can change its answer."""
    from mipaudit.report.origin import Setting
    from mipaudit.report.provenance import setting_text

    return tuple(
        Setting(
            name=name,
            value=setting_text(value),
            source="command line" if _was_given(context, name) else "default",
        )
        for name, value in context.params.items()
        if name not in _NOT_SETTINGS
    )


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
