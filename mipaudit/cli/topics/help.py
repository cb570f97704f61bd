"""``mipaudit help``: a topic, such as exit-codes, a page of the docs, or a command's help."""

import re
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from mipaudit.cli.topics import SHELVES, TOPICS, pages, topic_text
from mipaudit.errors import UsageError
from mipaudit.options.declare import Free, Options
from mipaudit.output import exit_code

_COMMENT: Final = re.compile(r"<!--.*?-->\n?", flags=re.DOTALL)
_PICTURE: Final = re.compile(r"^!\[([^\]]*)\]\([^)]*\)", flags=re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\]]+)\]\((?!https?:)([^)\s]*)\)")
_WIDEST: Final = 100


def _complete(incomplete: str) -> list[str]:
    from mipaudit.cli.program import COMMANDS

    return [name for name in (*TOPICS, *pages(), *COMMANDS) if name.startswith(incomplete)]


class HelpOptions(Options):
    """What is to be explained."""

    HELP = """Explain a topic or a code, show a page of the docs, or the help of a command.

\b
Topics:
  exit-codes    what the exit code says, and what to do with it
  policy        your limits, and how they are judged
  glossary      the words of the reports
  formats       what is read, and the forms that are written
  environment   the environment variables that are read
  limits        what "at least", "at most" and "best" say, and of whom
Without a topic, all of them are listed, with every page of the docs. A code is what stands
beside a reason or a finding in JSON, such as above_limit.

\b
Examples:
  mipaudit help exit-codes
  mipaudit help limits
  mipaudit help estimate
      The same as mipaudit estimate --help.
"""

    topic: Annotated[
        str | None,
        Free(
            "[TOPIC]",
            "A topic, a page, a command or a code. Default: list them.",
            complete=_complete,
        ),
    ] = None


def run_help(asked: HelpOptions, shown: Options) -> int:
    """Print a text, a page, or the help of a command; return the exit code.

    Raises:
        UsageError: there is neither.
    """
    del shown  # it has one form
    from mipaudit.cli.program import COMMANDS, run

    topic = asked.topic
    if topic is None:
        typer.echo(listing(), nl=False)
        return exit_code.OK
    if topic in TOPICS:
        typer.echo(topic_text(topic), nl=False)
        return exit_code.OK
    if topic in pages():
        print_page(pages()[topic])
        return exit_code.OK
    if topic in COMMANDS:
        return run([topic, "--help"])
    from mipaudit.report.messages.told import explained

    if said := explained(topic):
        typer.echo(said)
        return exit_code.OK
    from mipaudit.options.commands import near

    close = near(topic, [*TOPICS, *pages(), *COMMANDS])
    raise UsageError(
        "unknown_topic",
        "There is no such topic and no such command.",
        hint=f"Did you mean {close}?" if close else "mipaudit help lists what there is.",
    )


def page_text(path: Path) -> str:
    """Return a page as plain text: links name what ``mipaudit help`` shows."""
    text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    return _LINK.sub(_named, _PICTURE.sub(r"(picture: \1)", text))


def print_page(path: Path) -> None:
    """Print a page, drawn where there is a terminal."""
    text = page_text(path)
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.print(
        Markdown(text, code_theme="ansi_dark", hyperlinks=False), width=min(console.width, _WIDEST)
    )


def listing() -> str:
    """Return the topics and pages, in groups."""
    titles = {name: _title(path) for name, path in pages().items()}
    width = max(map(len, (*TOPICS, *titles)))
    groups = [("In short", TOPICS)]
    groups += [
        (said, {name: titles[name] for name, path in pages().items() if path.parent.name == shelf})
        for shelf, said in SHELVES.items()
    ]
    lines = ["mipaudit help TOPIC shows one of these; mipaudit --help lists the commands.\n"]
    for said, group in groups:
        if group:
            lines += [
                f"\n{said}\n",
                *(f"  {name:{width}}  {text}\n" for name, text in group.items()),
            ]
    return "".join(lines)


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip()


def _named(link: re.Match[str]) -> str:
    said, target = link.groups()
    name = target.partition("#")[0].rpartition("/")[2]
    topic, _, ending = name.rpartition(".")
    if ending not in {"md", "txt"} or not (topic in pages() or topic in TOPICS):
        return said
    help_words = f"`mipaudit help {topic}`"
    return help_words if said == name else f"{said} ({help_words})"
