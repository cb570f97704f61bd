"""How help is drawn: commands and options in the groups that they are declared in.

By plain text: drawn by rich it would take twice the time, and pages are piped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from typer.core import TyperGroup

from mipaudit.options.commands import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_OPTIONS: Final = "Options"
_ARGUMENTS: Final = "Arguments"
# What the parser has, and gives no type: contexts, options, formatters.
OfParser: TypeAlias = Any


def write_options(params: Iterable[Any], context: OfParser, formatter: OfParser) -> None:
    """Write what a command takes: arguments, what matters first, and the other groups.

    Args:
        params: of the command.
        context: of the parser.
        formatter: likewise; it gets the text.
    """
    groups: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: [], _OPTIONS: []}
    for one in params:
        record = one.get_help_record(context)
        if record is not None:
            by_place = one.param_type_name == "argument"
            group = _ARGUMENTS if by_place else getattr(one, "group", _OPTIONS)
            groups.setdefault(group, []).append(record)
    for title, rows in groups.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


class Program(TyperGroup):
    """The program: its commands are listed in groups, each on one line."""

    def format_options(self, ctx: OfParser, formatter: OfParser) -> None:
        """Write the commands, and then the few options that need none."""
        width = max(len(name) for name in self.commands)
        for title, rows in _by_group():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), said) for name, said in rows])
        write_options(self.get_params(ctx), ctx, formatter)


def _by_group() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for one in TABLE:
        groups.setdefault(one.group, []).append((one.name, one.summary))
    yield from groups.items()
