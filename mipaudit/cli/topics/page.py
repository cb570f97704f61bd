"""A page of the docs in a terminal: as it would be read there, not as it is written for a site."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from mipaudit.cli.topics import SHELVES, TOPICS, pages

if TYPE_CHECKING:
    from pathlib import Path

_COMMENT: Final = re.compile(r"<!--.*?-->\n?", flags=re.DOTALL)
_PICTURE: Final = re.compile(r"^!\[([^\]]*)\]\([^)]*\)", flags=re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\]]+)\]\((?!https?:)([^)\s]*)\)")
_WIDEST: Final = 100


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
