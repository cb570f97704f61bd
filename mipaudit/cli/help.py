"""What explains: ``mipaudit help`` and the manual pages."""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import typer

from mipaudit.cli.program import Groups, application, declared_command
from mipaudit.errors import UsageError
from mipaudit.options.commands import TABLE
from mipaudit.options.declare import Options, free
from mipaudit.output import exit_code
from mipaudit.statements.kinds import named
from mipaudit.statements.printable_names import quoted_name
from mipaudit.version import __version__

_COMMENT: Final = re.compile(r"<!--.*?-->\n?", flags=re.DOTALL)
_PICTURE: Final = re.compile(r"^!\[([^\]]*)\]\([^)]*\)", flags=re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\]]+)\]\((?!https?:)([^)\s]*)\)")
_WIDEST: Final = 100
_NEAREST: Final = 3
_ALIKE: Final = 0.5


def _complete(incomplete: str) -> list[str]:
    from mipaudit.cli.program import COMMANDS

    return [name for name in (*TOPICS, *pages(), *COMMANDS) if name.startswith(incomplete)]


class HelpOptions(Options):
    """What is to be explained."""

    HELP = """Explain a topic, an option, a code or any word, show a page of the docs or a command.

\b
Topics:
  exit-codes    what the exit code says, and what to do with it
  policy        your limits, and how they are judged
  glossary      the words of the reports
  formats       what is read, and the forms that are written
  environment   the environment variables that are read
  limits        what "at least", "at most" and "best" say, and of whom
Without a word, all of them are listed, with every page of the docs. A code is what stands
beside a reason or a finding in JSON, such as above_limit. Words of other tools are found, too.

\b
Examples:
  mipaudit help exit-codes
  mipaudit help limits
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
        return exit_code.OK
    if word in TOPICS:
        typer.echo(topic_text(word), nl=False)
        return exit_code.OK
    if word in pages():
        print_page(pages()[word])
        return exit_code.OK
    if word in COMMANDS:
        return run([*asked.words, "--help"])
    from mipaudit.report.forms import explanations

    # By name: the lookup loads the topics and pages, which are here.
    said = explanations().get(word.replace(" ", "_")) or named("mipaudit.cli.lookup:looked_up")(
        word
    )
    if said:
        typer.echo(said.rstrip("\n"))
        return exit_code.OK
    from difflib import get_close_matches

    close = get_close_matches(word.lower(), named("mipaudit.cli.lookup:names")(), _NEAREST, _ALIKE)
    raise UsageError(
        "unknown_topic",
        f"Nothing is called {quoted_name(word)}: no command, option, page, word or code.",
        hint=f"Did you mean {', '.join(close)}?" if close else "mipaudit help lists what there is.",
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
    said, target = link.groups()
    name = target.partition("#")[0].rpartition("/")[2]
    topic, _, ending = name.rpartition(".")
    if "commands/" in target:
        topic = topic.replace("-", " ")
    elif ending not in {"md", "txt"} or not (topic in pages() or topic in TOPICS):
        return said
    help_words = f"`mipaudit help {topic}`"
    return help_words if said == name else f"{said} ({help_words})"


# The page that is listed before all others.
_FIRST: Final = {"which-file"}
# In the order in which they are listed.
TOPICS: Final = {
    "exit-codes": "what the exit code says, and what to do with it",
    "policy": "your limits, and how they are judged",
    "glossary": "the words of the reports",
    "formats": "what is read, and the forms that are written",
    "environment": "the environment variables that are read",
}
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
    """Yield the name and the text of every page for ``man``: of the program, and of each command.

    A wheel brings them as ``share/man/man1``, made by ``docs/manual_pages.py`` when it is built.
    """
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
