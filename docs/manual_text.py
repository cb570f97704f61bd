"""What a page for ``man`` says of the program or of a command: all that its help says."""

from __future__ import annotations

import inspect
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import typer

from mipaudit.cli.program import Groups, application, declared_command
from mipaudit.options.commands import TABLE
from mipaudit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PROGRAM: Final = "mipaudit"
# What is taken for a command of the form, for a hyphen, or for another mark than was typed.
_SPELLED: Final = str.maketrans(
    {"\\": r"\(rs", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}
)
# Headings of their own; the others are groups of commands or of options.
_WHOLE: Final = frozenset({"Arguments", "Options", "Examples"})
_HEADED: Final = re.compile(r"^(\.S[HS] .*\n)\.PP\n", flags=re.MULTILINE)
# A block of a help text whose lines stay as they are, and how far in it a remark begins.
_VERBATIM: Final = "\b\n"
_REMARK: Final = 4
_ELSEWHERE: Final = (
    "mipaudit help lists the topics and pages of the documentation, and shows each of them."
)


def manual_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every page: of the program, and of each command."""
    names = [_page_name(one.name) for one in TABLE]
    program = application()
    about = inspect.cleandoc(str(program.help)).splitlines()[0]
    context = typer.Context(program, info_name=_PROGRAM, **program.context_settings)
    yield _PROGRAM, _page(_PROGRAM, about, context, names)
    for one in TABLE:
        command = declared_command(one)
        inside = typer.Context(command, info_name=one.name, parent=context)
        name = _page_name(one.name)
        yield name, _page(name, one.summary, inside, [_PROGRAM])


def _page_name(command: str) -> str:
    return f"{_PROGRAM}-{command.replace(' ', '-')}"


def _page(name: str, about: str, context: typer.Context, others: Iterable[str]) -> str:
    command: Any = context.command  # of the program's own kinds
    title = f'.TH {_spelled(name.upper())} 1 "" "{_PROGRAM} {__version__}" "{_PROGRAM} manual"'
    called = " ".join(command.collect_usage_pieces(context))
    parts = [
        # Words are neither divided nor spread: options are copied from here.
        f"{title}\n.nh\n.ad l\n.SH NAME\n{_spelled(name)} \\- {_spelled(about)}\n",
        f".SH SYNOPSIS\n\\fB{_spelled(context.command_path)}\\fR {_tag(called)}\n",
        ".SH DESCRIPTION\n",
        described(inspect.cleandoc(command.help)),
        *_sections(command.groups(context)),
        ".SH SEE ALSO\n" + ",\n".join(rf"\fB{_spelled(one)}\fR(1)" for one in others),
        f"\n.PP\n{_spelled(_ELSEWHERE)}\n",
    ]
    # A heading begins a paragraph by itself.
    return _HEADED.sub(r"\1", "".join(parts))


def described(text: str) -> str:
    """Return what a command says of itself."""
    return "".join(
        "".join(_block(part.removeprefix(_VERBATIM).splitlines()))
        if part.startswith(_VERBATIM)
        else f".PP\n{_spelled(' '.join(part.split()))}\n"
        for part in text.split("\n\n")
    )


def _block(lines: Iterable[str]) -> Iterator[str]:
    """Yield what is typed and what it does: beside it, or below it and further in."""
    for depth, group in groupby(lines, _depth):
        if depth == _REMARK:
            yield f".RS 4\n{_spelled(' '.join(map(str.strip, group)))}\n.RE\n"
        else:
            yield from (_typed(line.strip()) if depth else _heading(line) for line in group)


def _sections(groups: Groups) -> Iterator[str]:
    """Yield options, or commands, and what each does: a group below the heading of all of them."""
    whole = ""
    for name, rows in groups.items():
        heading = name if name in _WHOLE else whole or "Commands"
        if heading != whole:
            whole = heading
            yield f".SH {whole.upper()}\n"
        if name not in _WHOLE:
            yield f".SS {name}\n"
        for typed, said in rows:
            yield f".TP\n{_tag(typed.strip())}\n{_spelled(' '.join(said.split()))}\n"


def _depth(line: str) -> int:
    return min(len(line) - len(line.lstrip()), _REMARK)


def _heading(line: str) -> str:
    name = line.rstrip(":")
    return f".SH {name.upper()}\n" if name in _WHOLE else f".PP\n{_spelled(line)}\n"


def _typed(line: str) -> str:
    typed, _, said = (one.strip() for one in line.partition("  "))
    bold = rf"\fB{_spelled(typed)}\fR"
    return f".TP\n{bold}\n{_spelled(said)}\n" if said else f".PP\n{bold}\n"


def _tag(typed: str) -> str:
    """Return what is typed: words in bold, and what stands for a value in italics."""
    return " ".join(map(_word, typed.split()))


def _word(word: str) -> str:
    font = "B" if re.match(r"-|/|[a-z]", word) else "I"
    return rf"\f{font}{_spelled(word)}\fR"


def _spelled(text: str) -> str:
    r"""Return text that ``man`` shows as it is: no line of it is a command.

    >>> _spelled(".5 or -q")
    '\\&.5 or \\-q'
    """
    return re.sub(r"^\.", r"\&.", text.translate(_SPELLED))
