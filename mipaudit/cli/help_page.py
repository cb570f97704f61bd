"""How help is drawn: commands and options in the groups that they are declared in.

By plain text: drawn by rich it would take twice the time, and pages are piped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from typer.core import TyperCommand, TyperGroup

from mipaudit.options.commands import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

_OPTIONS: Final = "Options"
_ARGUMENTS: Final = "Arguments"
# What the parser has, and gives no type: contexts, options, formatters.
OfParser: TypeAlias = Any
# What is typed, and what it does.
Row: TypeAlias = tuple[str, str]
Groups: TypeAlias = dict[str, list[Row]]


def _groups_of(params: Iterable[Any], context: OfParser) -> Groups:
    """Return what a command takes by headings: arguments, what matters first, and the others."""
    groups: Groups = {_ARGUMENTS: [], _OPTIONS: []}
    for one in params:
        record = one.get_help_record(context)
        if record is not None:
            by_place = one.param_type_name == "argument"
            group = _ARGUMENTS if by_place else getattr(one, "group", _OPTIONS)
            groups.setdefault(group, []).append(record)
    return {title: rows for title, rows in groups.items() if rows}


def _write(groups: Groups, formatter: OfParser) -> None:
    for title, rows in groups.items():
        with formatter.section(title):
            formatter.write_dl(rows)


class GroupedCommand(TyperCommand):
    """A command: its options are listed under headings."""

    def groups(self, ctx: OfParser) -> Groups:
        """Return what it takes, by headings."""
        return _groups_of(self.get_params(ctx), ctx)

    def format_options(self, ctx: OfParser, formatter: OfParser) -> None:
        """Write the options."""
        _write(self.groups(ctx), formatter)


class Program(TyperGroup):
    """The program: its commands are listed under headings, each on one line."""

    def groups(self, ctx: OfParser) -> Groups:
        """Return the commands, and then the few options that need none."""
        width = max(len(name) for name in self.commands)
        groups: Groups = {}
        for one in TABLE:
            groups.setdefault(one.group, []).append((one.name.ljust(width), one.summary))
        return groups | _groups_of(self.get_params(ctx), ctx)

    def format_options(self, ctx: OfParser, formatter: OfParser) -> None:
        """Write both."""
        _write(self.groups(ctx), formatter)
