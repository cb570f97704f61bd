"""Writes ``docs/reference/commands.md`` and, beside it in a folder, a page for each command.

Run as ``python tests/docs/commands_page.py`` from anywhere.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from itertools import groupby
from pathlib import Path

import typer

from mipaudit.cli.program import COMMANDS, application, declared_command
from mipaudit.options.commands import TABLE

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "commands.md"
FOLDER = PAGE.with_suffix("")
_HEAD = """# Commands and options

There is a page for each command: what it answers, examples, and every option under a heading of
its own. `mipaudit COMMAND --help` prints the same text. These pages are made from the program.
"""
_EXAMPLES = "Examples:\n"
_OPTION = re.compile(r"--[a-z][a-z0-9-]*")
# What is named in a text: another command's help, or an option.
_NAMED = re.compile(rf"mipaudit (?P<command>[a-z ]+?) --help|{_OPTION.pattern}")
# How far in what an example does stands.
_REMARK = 4


def commands_pages():
    """Return the text of each page by its path."""
    program = application()
    whole = typer.Context(program, info_name="mipaudit", **program.context_settings)
    return {PAGE: _index(whole), **{page_of(one.name): _page(one, whole) for one in TABLE}}


def page_of(command):
    """Return the path of a command's page."""
    return FOLDER / f"{command.replace(' ', '-')}.md"


def _index(whole):
    text = _HEAD
    for group, rows in groupby(TABLE, lambda one: one.group):
        text += f"\n## {group}\n\n"
        for one in rows:
            text += f"- [{one.name}](commands/{page_of(one.name).name}): {one.summary}\n"
    text += "\n## Without a command\n\n" + "".join(_parts(whole.command.help, {}))
    return _ended(text + "".join(_options(whole.command.groups(whole)["Options"], {})))


def _page(one, whole):
    command = declared_command(one)
    context = typer.Context(command, info_name=one.name, parent=whole)
    groups = command.groups(context)
    known = {_name(typed) for rows in groups.values() for typed, _ in rows}
    usage = " ".join(command.collect_usage_pieces(context))
    text = f"# mipaudit {one.name}\n\n```text\nmipaudit {one.name} {usage}\n```\n\n"
    text += "".join(_parts(command.help, known))
    for title, rows in groups.items():
        text += f"## {title}\n\n" + "".join(_options(rows, known))
    return _ended(text)


def _ended(text):
    return text.rstrip("\n") + "\n"


def _parts(said, known):
    """Yield what a command says of itself: paragraphs, lists as they stand, and examples."""
    for part in inspect.cleandoc(said).split("\n\n"):
        block = part.removeprefix("\b\n")
        if block == part:
            yield f"{_linked(' '.join(part.split()), known)}\n\n"
        elif block.startswith(_EXAMPLES):
            yield "## Examples\n\n"
            yield from _examples(block.removeprefix(_EXAMPLES), known)
        else:
            yield f"```text\n{textwrap.dedent(block)}\n```\n\n"


def _examples(block, known):
    lines = textwrap.dedent(block).splitlines()
    for remark, group in groupby(lines, lambda line: line.startswith(" " * _REMARK)):
        said = [line.strip() for line in group]
        if remark:
            yield f"{_linked(' '.join(said), known)}\n\n"
        else:
            yield "```sh\n" + "\n".join(said) + "\n```\n\n"


def _options(rows, known):
    for typed, said in rows:
        name = _name(typed)
        yield f"### {name}\n\n" if name else ""
        yield "" if typed == name else f"`{typed.strip()}`\n\n"
        yield f"{_linked(' '.join(said.split()), known)}\n\n"


def _name(typed):
    found = _OPTION.search(typed)
    return found[0] if found and typed.startswith("-") else ""


def _linked(said, known):
    """Return a text in which what is named is a link, and no sign is taken for a mark."""
    plain = re.sub(r"([*<\\])", r"\\\1", said)

    def link(found):
        command = found["command"]
        if command in COMMANDS:
            return f"[{found[0]}]({page_of(command).name})"
        return f"[{found[0]}](#{found[0]})" if found[0] in known else f"`{found[0]}`"

    return _NAMED.sub(link, plain)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path in set(FOLDER.glob("*.md")) - {*commands_pages()}:
        path.unlink()
    for path, text in commands_pages().items():
        path.write_text(text, encoding="utf-8")
