"""Draws the parts that every table page is made of, with rich."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Final

from mipaudit.formats.blocks.seed_words import seed_words
from mipaudit.formats.wording import plain
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from mipaudit.statements.design import Design
    from mipaudit.statements.finding import Finding
    from mipaudit.statements.provenance.origin import Provenance

_NARROWEST: Final = 72  # below it tables would lose digits
_DEFAULT_WIDTH: Final = 100
_WIDEST_PROSE: Final = 100  # longer lines are hard to read
_FEW_NAMES: Final = 12


class Page:
    """A page that is drawn from top to bottom.

    Nothing on it is markup: brackets in a column name are brackets.
    """

    def __init__(self, *, width: int | None, color: bool) -> None:
        """Start an empty page of ``width`` characters (None: 100; at least 72)."""
        from rich.console import Console

        self._file = StringIO()
        width = max(width or _DEFAULT_WIDTH, _NARROWEST)
        self.prose_width: int = min(width, _WIDEST_PROSE)
        self._console = Console(
            file=self._file,
            width=width,
            color_system="standard" if color else None,
            force_terminal=color,
            no_color=not color,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
            _environ={},  # width and colour are decided by the caller alone
        )

    def text(self) -> str:
        """Return the page, with no blanks at the ends of lines."""
        lines = (line.rstrip() for line in self._file.getvalue().split("\n"))
        return "\n".join(lines).strip("\n") + "\n"

    def add(self, part: RenderableType) -> None:
        """Draw a part below the others."""
        self._console.print(part)

    def line(self, text: str, *, style: str = "") -> None:
        """Write a paragraph, wrapped."""
        from rich.text import Text

        self._console.print(Text(plain(text), style=style), width=self.prose_width)

    def heading(self, text: str) -> None:
        """Write a heading after a blank line."""
        self.line("")
        self.line(text, style="bold")

    def pairs(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Write terms on the left and their texts, wrapped, on the right."""
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for term, text in pairs:
            grid.add_row(Text(f"  {plain(term)}"), Text(plain(text)))
        self._console.print(grid, width=self.prose_width)

    def bullets(self, texts: Iterable[str], *, mark: str = "-") -> None:
        """Write a list, wrapped and indented."""
        self.pairs((mark, text) for text in texts)


def words(text: str, *, style: str = "") -> Text:
    """Return text for a cell: shown as it is, brackets and all."""
    from rich.text import Text

    return Text(text, style=style)


def number_table(headers: Sequence[str], rows: Sequence[Sequence[Text | str]]) -> Table:
    """Return a table whose numbers are never cut or wrapped.

    A column whose cells are all of type str holds numbers, flush right; cells of type
    Text hold words, which fold where the page is narrow.

    Args:
        headers: one for each column.
        rows: cells, as many as headers.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for index, header in enumerate(headers):
        if all(isinstance(row[index], str) for row in rows):
            table.add_column(header, justify="right", no_wrap=True)
        else:
            table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def add_taken(
    page: Page, design: Design, provenance: Provenance, more: Iterable[tuple[str, str]] = ()
) -> None:
    """Write what was read: files, membership, score columns, those skipped, rows."""
    page.heading("What was taken")
    seed = seed_words(provenance)
    shown = [] if provenance.seed_origin is None or seed is None else [("seed", seed)]
    page.pairs([*taken(design, provenance), *shown, *more])


def add_findings(page: Page, findings: Sequence[Finding]) -> None:
    """Write what the reader must know about the input."""
    if findings:
        page.heading("Worth knowing about the input")
        page.bullets(f"{finding.text} [{finding.code}]" for finding in findings)


def taken(design: Design, provenance: Provenance) -> list[tuple[str, str]]:
    """Return what was read: files, rows, membership, score columns, those skipped."""
    members, holdout = count_text(design.n_members), count_text(design.n_holdout)
    taken = [
        ("input", _inputs(provenance)),
        ("rows", f"{members} members, {holdout} holdout records"),
        ("membership", _membership(design)),
        ("scores", _names(design.score_columns)),
    ]
    if unused := (*design.skipped_columns, *provenance.unused_columns):
        taken.append(("not used", _names(unused)))
    return taken


def _membership(design: Design) -> str:
    if design.member_column is None:
        return "members and holdout were given apart"
    return f"column {safe_name(design.member_column)}"


def _inputs(provenance: Provenance) -> str:
    inputs = provenance.inputs
    if len(inputs) > 2:  # noqa: PLR2004 - members and holdout are named
        rows = sum(item.rows for item in inputs)
        return f"{count_text(len(inputs))} files, {count_text(rows)} rows"
    return "; ".join(f"{safe_name(item.name)} ({count_text(item.rows)} rows)" for item in inputs)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(safe_name(name) for name in names[:_FEW_NAMES])
    more = len(names) - _FEW_NAMES
    return f"{shown} and {count_text(more)} more" if more > 0 else shown
