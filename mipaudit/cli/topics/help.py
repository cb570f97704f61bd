"""``mipaudit help``: a topic, such as exit-codes, a page of the docs, or a command's help."""

from typing import Annotated

import typer

from mipaudit.cli.topics import TOPICS, pages, topic_text
from mipaudit.cli.topics.page import listing, print_page
from mipaudit.errors import UsageError
from mipaudit.options.declare import Option, Options
from mipaudit.output import exit_code


def _complete(incomplete: str) -> list[str]:
    from mipaudit.cli.program import COMMANDS

    return [name for name in (*TOPICS, *pages(), *COMMANDS) if name.startswith(incomplete)]


class HelpOptions(Options):
    """What is to be explained."""

    HELP = """Explain a topic, show a page of the docs, or the help of a command.

\b
Topics:
  exit-codes    what the exit code says, and what to do with it
  policy        your limits, and how they are judged
  glossary      the words of the reports
  formats       what is read, and the forms that are written
  environment   the environment variables that are read
  limits        what "at least", "at most" and "best" say, and of whom
Without a topic, all of them are listed, with every page of the docs.

\b
Examples:
  mipaudit help exit-codes
  mipaudit help limits
  mipaudit help estimate
      The same as mipaudit estimate --help.
"""

    topic: Annotated[
        str | None,
        Option("[TOPIC]", "A topic, a page or a command. Default: list them.", complete=_complete),
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
    from difflib import get_close_matches

    close = get_close_matches(topic, [*TOPICS, *pages(), *COMMANDS], n=1)
    raise UsageError(
        "unknown_topic",
        "There is no such topic and no such command.",
        hint=f"Did you mean {close[0]}?" if close else "mipaudit help lists what there is.",
    )
