"""The manual pages, for ``man``: each is what a command's help says, written in another form.

A wheel brings them as ``share/man/man1``, made by ``docs/manual_pages.py`` when it is built.
"""

from __future__ import annotations

import inspect
import re
from contextlib import contextmanager, nullcontext
from itertools import groupby
from typing import TYPE_CHECKING, Final

import typer

from mipaudit.cli.command import declared_command
from mipaudit.cli.program import application
from mipaudit.options.commands import TABLE
from mipaudit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

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
    page = Page()
    title = f'.TH {_spelled(name.upper())} 1 "" "{_PROGRAM} {__version__}" "{_PROGRAM} manual"'
    # Words are neither divided nor spread: options are copied from here.
    page.write(f"{title}\n.nh\n.ad l\n.SH NAME\n{_spelled(name)} \\- {_spelled(about)}\n")
    context.command.format_help(context, page)  # type: ignore[arg-type]  # of the parser's own kind
    page.write(".SH SEE ALSO\n" + ",\n".join(rf"\fB{_spelled(one)}\fR(1)" for one in others))
    page.write(f"\n.PP\n{_spelled(_ELSEWHERE)}\n")
    return page.getvalue()


class Page:
    """What a command writes its help to, in place of the parser's formatter: by its methods."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._whole = ""

    def write(self, text: str) -> None:
        """Take text as it is."""
        self._parts.append(text)

    def getvalue(self) -> str:
        """Return the page; a heading begins a paragraph by itself."""
        return _HEADED.sub(r"\1", "".join(self._parts))

    def write_usage(self, prog: str, args: str = "") -> None:
        """Write how the command is called, and the heading of what comes next."""
        called = rf"\fB{_spelled(prog)}\fR {_tag(args)}"
        self.write(f".SH SYNOPSIS\n{called}\n.SH DESCRIPTION\n")

    def write_paragraph(self) -> None:
        """Write nothing: paragraphs begin by themselves."""

    def indentation(self) -> AbstractContextManager[None]:
        """Indent nothing: headings do."""
        return nullcontext()

    def write_text(self, text: str) -> None:
        """Write what a command says of itself."""
        for part in text.split("\n\n"):
            if part.startswith(_VERBATIM):
                self._write_list(part.removeprefix(_VERBATIM).splitlines())
            else:
                self.write(f".PP\n{_spelled(' '.join(part.split()))}\n")

    def _write_list(self, lines: Iterable[str]) -> None:
        """Write what is typed and what it does: beside it, or below it and further in."""
        for depth, group in groupby(lines, _depth):
            if depth == _REMARK:
                self.write(f".RS 4\n{_spelled(' '.join(map(str.strip, group)))}\n.RE\n")
                continue
            for line in group:
                self.write(_typed(line.strip()) if depth else _heading(line))

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Write a heading: of a group of options below that of all of them."""
        whole = name if name in _WHOLE else self._whole or "Commands"
        if whole != self._whole:
            self._whole = whole
            self.write(f".SH {whole.upper()}\n")
        if name not in _WHOLE:
            self.write(f".SS {name}\n")
        yield

    def write_dl(self, rows: Iterable[tuple[str, str]]) -> None:
        """Write options, or commands, and what each does."""
        for typed, said in rows:
            self.write(f".TP\n{_tag(typed.strip())}\n{_spelled(' '.join(said.split()))}\n")


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
