"""What a word is that names no topic, page or command: looked up in all that explains something."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import typer

from mipaudit.cli.help import TOPICS, page_text, pages, topic_text
from mipaudit.cli.program import Row, application, declared_command
from mipaudit.options.commands import BY_NAME, MEANT, TABLE
from mipaudit.statements.printable_names import first_names

# Lines of a kind that are shown, and lines in all: an answer fits a screen.
_MOST: Final = 2
_SCREEN: Final = 23
# The rank of what only mentions a word; 0 is called so, and 1 in part.
_MENTIONED: Final = 2
_PAGES: Final = 3
_COMMANDS: Final = 3
# What one thing and several end in: ``canary`` and ``canaries``, ``loss`` and ``losses``.
_ENDINGS: Final = "(?:(?<=ss)es|(?<=[^aeiou])(?:ies|y)|s)?"
_ENDING: Final = re.compile(r"(?<=ss)es$|(?<=[a-z]{2})(?:ies|y)$|(?<=[^s]{2})s$")
# What a topic, or a command's help, explains in columns.
_TERM: Final = re.compile(r"^  (\S.*?)  +(\S.*(?:\n {10,}.*)*)", re.MULTILINE)
_FENCED: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^#+ (.*)", re.MULTILINE)
_MARKUP: Final = re.compile(r"[`*]+|\[([^\]]+)\]\([^)]*\)")
_SECTION: Final = re.compile(r"^##+ ", re.MULTILINE)
_ROW: Final = re.compile(r"^\| (.*) \|$", re.MULTILINE)
_BETWEEN: Final = re.compile(r"\s*[,;:()]\s*")
_OTHER_NAMES: Final = "other-names"
# What stands for a hyphen while lines are folded, so that none ends within an option's name.
_UNBROKEN: Final = "\u2011"


class _Line(NamedTuple):
    """Something that is explained: as it is typed, in words, and all names that it has."""

    typed: str
    said: str
    names: tuple[str, ...]


def looked_up(word: str) -> str:
    """Return what is known of a word, under headings, what is called so first; or nothing."""
    wanted = pattern_of(word)
    if not wanted:
        return ""
    groups = {
        "Words (mipaudit help glossary)": _best(terms(), wanted),
        "Options": _best(options(), wanted),
        "Commands (mipaudit COMMAND --help)": _best(commands(), wanted),
        f"Words of papers and tools (mipaudit help {_OTHER_NAMES})": _best(other_names(), wanted),
        "Pages (mipaudit help NAME)": (_MENTIONED, _pages(wanted)[:_PAGES]),
    }
    shown = ""
    for heading, (_, rows) in sorted(groups.items(), key=lambda group: group[1][0]):
        formatter = typer.Context(application()).make_formatter()
        if rows:
            with formatter.section(heading):
                formatter.write_dl([(one, said.replace("-", _UNBROKEN)) for one, said in rows])
        longer = "\n".join(filter(None, (shown, formatter.getvalue())))
        # What is least about the word gives way.
        shown = longer if longer.count("\n") <= _SCREEN else shown
    return shown.replace(_UNBROKEN, "-")


def meaning(word: str) -> str:
    """Return what the glossary says of a command's name, if that is a word of the reports too."""
    return "".join(f"{one.typed}: {one.said}\n\n" for one in terms() if word in one.names)


def names() -> set[str]:
    """Return all that can be looked up, for a word that is nearly one of them."""
    from mipaudit.report.forms import explanations

    lines = (*terms(), *options(), *commands())
    return {*TOPICS, *pages(), *explanations(), *(name for one in lines for name in one.names)}


def pattern_of(word: str) -> re.Pattern[str] | None:
    """Return what matches one or many of a word, however its parts are joined."""
    stems = [re.escape(_ENDING.sub("", one)) for one in re.findall(r"[^\W_]+", word.lower())]
    if not stems:
        return None
    joined = rf"{_ENDINGS}[\W_]+".join(stems)
    return re.compile(rf"(?<![^\W_]){joined}{_ENDINGS}(?![^\W_])", re.IGNORECASE)


def _best(lines: Iterable[_Line], wanted: re.Pattern[str]) -> tuple[int, list[Row]]:
    """Return the lines of that name, then those of whose name it is a part; else its mentions."""
    lines = list(lines)
    part = [one for one in lines if any(map(wanted.search, one.names))]
    exact = [one for one in part if any(map(wanted.fullmatch, one.names))]
    found = sorted(part, key=lambda one: one not in exact) or [
        one for one in lines if wanted.search(one.said)
    ]
    rank = 0 if exact else 1 if part else _MENTIONED
    return rank, [(one.typed, one.said) for one in found[:_MOST]]


def _others(name: str) -> tuple[str, ...]:
    """Return what other tools call a command or an option."""
    return tuple(other for other, meant in MEANT.items() if meant.partition(":")[0] == name)


def terms() -> Iterator[_Line]:
    """Yield the words of the glossary."""
    for term, said in _TERM.findall(topic_text("glossary")):
        yield _Line(term, " ".join(said.split()), tuple(term.split(", ")))


def options() -> Iterator[_Line]:
    """Yield what the commands take, each once where several say the same of it."""
    found: dict[Row, dict[str, tuple[str, ...]]] = {}
    for command in (application(), *map(declared_command, TABLE)):
        context = typer.Context(command)
        for one in command.get_params(context):
            record = one.get_help_record(context)
            if record:
                flags = (flag.lstrip("-") for flag in one.opts)
                words = getattr(one.type, "choices", ())
                known = (*flags, *words, *_others(str(one.name)))
                found.setdefault(record, {})[command.name or ""] = known
    for (typed, said), of in found.items():
        who = f"mipaudit {first_names([*filter(None, of)], _COMMANDS)}".strip()
        yield _Line(typed, f"{said}  [{who}]", next(iter(of.values())))


def commands() -> Iterator[_Line]:
    """Yield the commands, and the queries of tables."""
    for one in TABLE:
        yield _Line(one.name, one.summary, (one.name, *_others(one.name)))
    for typed, said in _TERM.findall(declared_command(BY_NAME["query"]).help or ""):
        name = f"query {typed.partition(':')[0]}"
        sided = said.replace("[", "[members are expected to score ")
        yield _Line(f"query {typed}", f"The {sided}.", (name, *_others(name)))


def other_names() -> Iterator[_Line]:
    """Yield the rows of the tables of what others call it, each with its section as a name."""
    path = pages().get(_OTHER_NAMES)
    text = "" if path is None else _MARKUP.sub(r"\1", page_text(path))
    for part in _SECTION.split(text)[1:]:
        section, _, rest = part.partition("\n")
        table = [re.split(r" \|(?: |$)", one) for one in _ROW.findall(rest)]
        for there, here, *more in table[1:]:
            cells = zip(table[0][2:], more, strict=False)
            beside = (f"{head}: {cell}" for head, cell in cells if cell)
            names = (there, *_BETWEEN.split(there), section)
            yield _Line(there, "; ".join((here, *beside)), names)


def texts() -> dict[str, str]:
    """Return the topics and pages by name, but for the page whose rows are shown."""
    found = {name: f"# {said}\n{topic_text(name)}" for name, said in TOPICS.items()}
    found |= {name: page_text(path) for name, path in pages().items() if name != _OTHER_NAMES}
    return {name: _MARKUP.sub(r"\1", _FENCED.sub("", text)) for name, text in found.items()}


def _pages(wanted: re.Pattern[str]) -> list[Row]:
    """Return the headings about it, else the pages that mention it."""
    found = texts()
    headings = {name: _HEADING.findall(text) for name, text in found.items()}
    about = [(name, said) for name, of in headings.items() for said in of if wanted.search(said)]
    named = [name for name in found if wanted.search(name)]
    if about and not named:
        return about
    telling = named or [name for name, text in found.items() if wanted.search(text)]
    return [(name, headings[name][0]) for name in telling]
