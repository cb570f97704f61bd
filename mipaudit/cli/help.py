"""What explains: ``mipaudit help``."""

import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import typer

from mipaudit.errors import UsageError
from mipaudit.options.declare import Options, free
from mipaudit.output import exit_code
from mipaudit.statements.kinds import named
from mipaudit.statements.printable_names import quoted_name

_COMMENT: Final = re.compile(r"<!--.*?-->\n?", flags=re.DOTALL)
_PICTURE: Final = re.compile(r"^!\[([^\]]*)\]\([^)]*\)", flags=re.MULTILINE)
_LINK: Final = re.compile(r"(\()?\[([^\]]+)\]\((?!https?:)([^)\s]*)\)")
_WIDEST: Final = 100
_NEAREST: Final = 3
# More than letters in common: "forty" is not meant for "for".
_ALIKE: Final = 0.76
_WHERE: Final = "mipaudit help lists all pages; mipaudit help other-names has other tools' words."


# In the order in which they are listed.
TOPICS: Final = {
    "exit-codes": "what the exit code says, and what to do with it",
    "policy": "your limits, and how they are judged",
    "glossary": "the words of the reports",
    "formats": "what is read, and the forms that are written",
    "environment": "the environment variables that are read",
}


def _complete(incomplete: str) -> list[str]:
    from mipaudit.cli.program import COMMANDS

    return [name for name in (*TOPICS, *pages(), *COMMANDS) if name.startswith(incomplete)]


class HelpOptions(Options):
    """What is to be explained."""

    HELP = """Explain a topic, an option, a code or any word. Or show a page, or a command's help.

\b
Topics:
  exit-codes    what the exit code says, and what to do with it
  policy        your limits, and how they are judged
  glossary      the words of the reports
  formats       what is read, and the forms that are written
  environment   the environment variables that are read
  limits        what "at least", "at most" and "best" mean
Without a word, lists all topics and all pages of the docs. A code, such as above_limit, names
a reason or a finding in a JSON report. Words of other tools are explained, too.

\b
Examples:
  mipaudit help exit-codes
  mipaudit help figures
  mipaudit help estimate
      The same as mipaudit estimate --help.
  mipaudit help --max-advantage
  mipaudit help shadow models
"""

    words: Sequence[str] = free(
        "A topic, a page, a command, an option, a code, or any word. Default: list what there is.",
        default=(),
        flag="[WORD]...",
        complete=_complete,
    )


def run_help(asked: HelpOptions, shown: Options) -> int:
    """Print a text, a page, the help of a command, or what a word is; return the exit code.

    Raises:
        UsageError: nothing has that name.
    """
    del shown  # it has one form
    from mipaudit.cli.program import COMMANDS, run

    word = " ".join(asked.words)
    if not word:
        typer.echo(listing(), nl=False)
    elif word in TOPICS:
        typer.echo(topic_text(word), nl=False)
    elif word in pages():
        print_page(pages()[word])
    elif word in COMMANDS and not named("mipaudit.cli.lookup:meaning")(word):
        return run([*asked.words, "--help"])
    else:
        typer.echo(_explained(word))
    return exit_code.OK


def _explained(word: str) -> str:
    from mipaudit.report.forms import explanations

    # By name: the lookup loads the topics and pages, which are here.
    looked_up, names = map(named, ("mipaudit.cli.lookup:looked_up", "mipaudit.cli.lookup:names"))
    codes = explanations()
    cases = "\n".join(text for code, text in codes.items() if code.startswith(f"{word}."))
    said = codes.get(word.replace(" ", "_")) or cases or looked_up(word)
    if said:
        return str(said).rstrip("\n")
    from difflib import get_close_matches

    close = get_close_matches(word.lower(), names(), _NEAREST, _ALIKE)
    raise UsageError(
        "unknown_topic",
        f"Nothing is called {quoted_name(word)}: no command, option, page, word or code.",
        hint=(f"Did you mean {', '.join(close)}? " if close else "") + _WHERE,
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
    first = {name: titles.pop(name) for name in _FIRST & titles.keys()}
    groups = [("Begin here", first), ("In short", TOPICS)]
    groups += [
        (said, {name: text for name, text in titles.items() if pages()[name].parent.name == shelf})
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
    opening, said, target = link.groups(default="")
    name = target.partition("#")[0].rpartition("/")[2]
    topic, _, ending = name.rpartition(".")
    if "commands/" in target:
        topic = topic.replace("-", " ")
    elif ending not in {"md", "txt"} or not (topic in pages() or topic in TOPICS):
        return opening + said
    help_words = f"`mipaudit help {topic}`"
    if said == name:
        return opening + help_words
    return f"({said}: {help_words}" if opening else f"{said} ({help_words})"


# The page that is listed before all others.
_FIRST: Final = {"which-file"}
# The docs' shelves, in the order in which they are listed.
SHELVES: Final = {
    "tutorials": "Learn by doing",
    "how-to": "Get something done",
    "explanation": "Understand",
    "reference": "Look something up",
}


def topic_text(topic: str) -> str:
    """Return the text of one of the `TOPICS`."""
    from importlib.resources import files

    return files(__package__).joinpath("topics", f"{topic}.txt").read_text("utf-8")


@cache
def pages() -> dict[str, Path]:
    """Return the pages of the docs by name, shelf by shelf; none where there are no docs.

    A wheel holds the pages as ``mipaudit/docs``; a checkout has them beside the package.
    """
    package = Path(__file__).parents[1]
    docs = next((one for one in (package / "docs", package.parent / "docs") if one.is_dir()), None)
    if docs is None:
        return {}
    found = (path for shelf in SHELVES for path in sorted((docs / shelf).glob("*.md")))
    return {path.stem: path for path in found}
