"""What a report tells, walked along its layout: the most important first, whatever the form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.formats.brief import Axis, Brief, short_names
from mipaudit.formats.document import (
    UNSAID,
    Block,
    Case,
    Document,
    Grid,
    Heading,
    Mood,
    Note,
    Pairs,
    Paragraph,
    Picture,
    Section,
    bulleted,
    mark,
    plain,
    told_all,
)
from mipaudit.formats.origin_sections import taken
from mipaudit.model.message import Message
from mipaudit.report.messages.told import Fields, entry_of, filled, is_serious, told
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from mipaudit.report.layout import Cases, Layout, Table, Where
    from mipaudit.statements.estimate import Finding
    from mipaudit.statements.reports.any_report import AnyReport

CaseStatus = Literal["passed", "failed", "open", "waived", "skipped"]
_CASES: Final[Mapping[object, CaseStatus]] = {
    "met": "passed",
    "not_met": "failed",
    "inconclusive": "open",
    "contradicted": "failed",
    "consistent": "passed",
    "vacuous": "skipped",  # nothing was shown either way
    "not_comparable": "skipped",
    # Of what is looked at, or compared.
    **dict.fromkeys(("works", "agrees", "not_refuted", True), "passed"),
    **dict.fromkeys(("missing", "broken", "other_version", "differs", "refuted", False), "failed"),
    **dict.fromkeys(("noted", "not_certifiable"), "skipped"),
}
_MOST_ROWS: Final = 100  # of a table: nobody would read more
_NARROW: Final = 12  # characters of a drawn interval
_AXIS: Final = "{axis}"
_SHORT: Final = re.compile(r"\{(\w+):short\}")
_EMPTY: Final = frozenset({"", "-"})


class Walk:
    """A report along its layout.

    Args:
        report: of a kind with a layout.
        layout: of its kind.
        conclusion: the module of what it concludes.
    """

    def __init__(self, report: AnyReport, layout: Layout, conclusion: object) -> None:
        self._report, self._layout = report, layout
        self._fields = Fields(report, conclusion)
        self._footnotes: dict[str, int] = {}
        self._answer: Message = self._fields.get("answer")
        # What else is worth a line, the most important first.
        self._remarks: Sequence[Message] = tuple(self._fields.get("remarks") or ())

    def brief(self) -> Brief:
        """Return the answer in a screenful."""
        return Brief(
            answer=self.answer,
            mood=self.mood,
            about=self._about(),
            tables=tuple(grid for one in self._layout.tables for grid in self._short(one)),
            notes=tuple(self._noted(last=False)),
            closing=tuple(self._noted(last=True)),
            following=self._next(),
            height=self._layout.height,
        )

    def _noted(self, *, last: bool) -> Iterator[str]:
        """Yield the remarks of a screenful."""
        for one in self._remarks:
            entry = entry_of(one)
            if entry.short and entry.last == last:
                yield told(one)

    def document(self, *, warned: bool = True) -> Document:
        """Return all of the report.

        Args:
            warned: whether what can make it untrue stands first, which a page has at its head.
        """
        tables = [section for one in self._layout.tables if (section := self._section(one))]
        notes = tuple((f"[{number}]", text) for text, number in self._footnotes.items())
        report = self._report
        found: Sequence[Finding] = getattr(report, "findings", ())
        grave = [one for one in found if warned and is_serious(one)]
        first = [f"{mark(one)}{plain(told(one))} [{one.code}]" for one in grave]
        findings = [
            f"{mark(one)}{plain(told(one))} [{one.code}]" for one in found if one not in grave
        ]
        limitations: Sequence[Message] = getattr(report, "limitations", ())
        sections = (
            bulleted("What can make this untrue", first),
            *tables,
            (Pairs(pairs=notes),) if notes else (),
            self._terms(),
            bulleted("Remarks", [told(one) for one in self._remarks]),
            bulleted("Findings", findings),
            bulleted(UNSAID, (*self.unsaid, *told_all(limitations))),
            self._taken(),
            self._to_run(),
        )
        return Document(
            title=f"mipaudit {report.command}",
            headline=self.answer,
            mood=self.mood,
            summary=self._about(),
            sections=tuple(section for section in sections if section),
            cases=tuple(self._cases()),
            created=report.provenance.created,
        )

    def of_rows(self, rows: str) -> Section:
        """Return the first table that shows a field of the report; empty where it has no rows."""
        found = (one for one in self._layout.tables if one.rows == rows)
        return next((section for one in found if (section := self._section(one))), ())

    def remarked(self, code: str) -> tuple[str, ...]:
        """Return the remarks of a code, as sentences."""
        return tuple(told(one) for one in self._remarks if one.code == code)

    def pictures(self) -> Iterator[Picture]:
        """Yield the pictures, the one that shows the answer first."""
        from mipaudit.formats.pictured import pictured

        for at, table in enumerate(self._layout.tables):
            if table.picture:
                yield from pictured(table, list(self._rows(table)), self._fields, number=at)

    @cached_property
    def answer(self) -> str:
        """What was found, or decided, in a sentence."""
        return told(self._answer)

    @property
    def plainly(self) -> str:
        """The same for everybody; the answer itself where no sentence says it."""
        answer = self._answer
        plainly = answer.get("plainly")
        if not isinstance(plainly, Message):
            return self.answer
        if answer.get("reason") is None:
            return told(plainly)
        return told(replace(answer, values={**answer.values, "reason": plainly}))

    @property
    def mood(self) -> Mood:
        """Of the answer."""
        return entry_of(self._answer).mood

    @property
    def unsaid(self) -> tuple[str, ...]:
        """What the answer does not say."""
        said = entry_of(self._answer).unsaid
        return (said,) if said else ()

    @property
    def terms(self) -> Iterator[tuple[str, str]]:
        """The words of the report, and what they mean."""
        for word, text in self._layout.terms:
            if meaning := filled(text, self._fields):
                yield word, meaning

    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return the limits of the policy, and what set them."""
        from mipaudit.formats.html_page import limit_fact

        checks = getattr(self._report, "policy", ())
        if not checks:
            return ()
        how = getattr(self._report, "rejudged", None)
        return (limit_fact(checks, (how or self._report.provenance).settings),)

    def _about(self) -> str:
        return filled(self._layout.about, self._fields)

    def _to_run(self) -> Section:
        text = plain(filled(self._layout.following, self._fields))
        shown = (Heading(text="What to run next"), Paragraph(text=text, hyphens=False))
        return shown if text else ()

    def _next(self) -> str:
        if self._layout.following:
            return f"Next: {filled(self._layout.following, self._fields)}"
        found = _next(self._answer)
        return f"Next: {found[0]}: mipaudit help {self._layout.topic or found[1]}." if found else ""

    def _short(self, table: Table) -> Iterator[Grid]:
        """Yield what a screenful has of a table."""
        for grid in () if table.short == 0 else self._grids(table, whole=False):
            if table.short is None or len(grid.rows) <= table.short:
                yield grid
                continue
            of = f"{grid.caption.removesuffix('.')} (the first {table.short} of {len(grid.rows)})."
            yield grid._replace(caption=of, rows=grid.rows[: table.short])

    def _section(self, table: Table) -> Section:
        """Return a table of all of the report, under its title."""
        grids = list(self._grids(table, whole=True)) if table.whole else []
        if not grids:
            return ()
        title = filled(table.title, self._fields)
        if len(grids[0].head) == 1 and table.prose:
            return bulleted(title, [one for (one,) in grids[0].rows])
        apart = bool(table.by) and len(grids) > 1
        blocks: list[Block] = [Heading(text=grids[0].caption if table.by and not apart else title)]
        for grid in grids:
            if table.by:
                blocks += [Heading(text=grid.caption, level=3)] * apart
            elif table.caption:
                blocks.append(Paragraph(text=grid.caption))
            blocks += self._few(grid, "" if table.by else filled(table.note, self._fields))
        return tuple(blocks)

    def _few(self, grid: Grid, note: str) -> Iterator[Block]:
        """Yield a table of as many rows as anybody would read, and its small print."""
        rest = len(grid.rows) - _MOST_ROWS
        if rest > 0:
            # What is not met is shown whatever is not.
            marked, every = grid.marked, range(len(grid.rows))
            shown = sorted(sorted(every, key=lambda at: at not in marked)[:_MOST_ROWS])
            grid = grid._replace(
                rows=tuple(grid.rows[at] for at in shown),
                marked=frozenset(new for new, at in enumerate(shown) if at in marked),
            )
            note = f"and {count_text(rest)} more, in the report for programs (-f json). {note}"
        yield grid
        if note:
            yield Note(text=note.rstrip())

    def _grids(self, table: Table, *, whole: bool) -> Iterator[Grid]:
        """Yield a table, or one for each value of what its rows are shown apart by.

        Args:
            table: of the layout.
            whole: as all of the report has it: with footnotes, without drawn intervals.
        """
        if not table.columns or (table.when and self._fields.get(table.when) is None):
            return
        apart: dict[tuple[object, ...], list[Any]] = {}
        for row in self._rows(table):
            apart.setdefault(tuple(getattr(row, name) for name in table.by), []).append(row)
        for rows in apart.values():
            yield self._grid(table, rows, whole=whole)

    def _grid(self, table: Table, rows: Sequence[Any], *, whole: bool) -> Grid:
        places = {name for one in table.columns for name in _SHORT.findall(one.text)}
        named = [getattr(one, name) for one in rows for name in places]
        names = {} if whole else short_names(filter(None, named))
        shown = dict.fromkeys(str(one.score) for one in rows if hasattr(one, "score"))
        scores = {one: safe_name(one) for one in shown} if whole else short_names(shown)
        axis, limit = (None, None) if whole else self._axis(table, rows)
        lines: dict[tuple[str, ...], Fields] = {}
        for row in rows:
            short = scores.get(str(getattr(row, "score", "")), "")
            drawn = "" if axis is None else axis.drawn(row, limit)
            beside = self._beside(table, row)
            values = Fields(row, short=short, names=names, axis=drawn, message=row, also=beside)
            cells = [self._cell(one.text, one.why, values, whole=whole) for one in table.columns]
            lines.setdefault(tuple(cells), values)
        kept = [
            at for at in range(len(table.columns)) if any(line[at] not in _EMPTY for line in lines)
        ]
        heads = [
            axis.head if axis and one.text == _AXIS else filled(one.head, self._fields)
            for one in table.columns
        ]
        marked = table.marked
        of = self._fields.beside(drawn=limit is not None, row=rows[0])
        return Grid(
            caption=filled(table.caption or table.title, of),
            head=tuple(heads[at] for at in kept),
            rows=tuple(tuple(line[at] for at in kept) for line in lines),
            words=sum(at < table.words for at in kept),
            prose=table.prose and len(table.columns) - 1 in kept,
            marked=frozenset(
                at
                for at, values in enumerate(lines.values())
                if marked and values.get(marked[0]) in marked[1]
            ),
        )

    def _axis(self, table: Table, rows: Sequence[Any]) -> tuple[Axis | None, float | None]:
        if table.axis is None:
            return None, None
        start, limit = (self._fields.get(name) for name in table.axis)
        marks = () if limit is None else (limit,)
        return Axis.over(rows, marks, start=start or 0.0, width=_NARROW), limit

    def _cell(self, text: str, why: str, values: Fields, *, whole: bool) -> str:
        cell = filled(text, values)
        reason = values.get(why) if why and whole else None
        if reason is None:
            return cell
        reason = told(reason) if isinstance(reason, Message) else plain(reason)
        return f"{cell} [{self._footnotes.setdefault(reason, len(self._footnotes) + 1)}]"

    def _rows(self, table: Table) -> Iterator[Any]:
        for row in self._rows_of(table.rows, table.where):
            if not any(getattr(row, name) in values for name, values in table.unless):
                yield row

    def _beside(self, table: Table, row: Any) -> dict[str, Any]:  # noqa: ANN401 - any row
        """Return what else is known of the same as a row, by quantity."""
        rows = self._rows_of(table.beside) if table.beside else ()
        return {one.quantity: one for one in rows if one.subject == row.subject}

    def _rows_of(self, name: str, where: Where = ()) -> list[Any]:
        """Return the rows of a field; of records within it as ``outer.inner``."""
        first, *rest = name.split(".")
        found = _listed(self._fields.get(first))
        for part in rest:
            found = [row for one in found for row in _listed(getattr(one, part))]
        return [row for row in found if all(getattr(row, one) in values for one, values in where)]

    def _terms(self) -> Section:
        shown = tuple(self.terms)
        return (Heading(text="The words"), Pairs(pairs=shown)) if shown else ()

    def _taken(self) -> Section:
        design: Any = getattr(self._report, "design", None)
        if not getattr(design, "score_columns", ()):
            return ()
        pairs = tuple(taken(design, self._report.provenance))
        return (Heading(text="What was taken"), Pairs(pairs=pairs))

    def _cases(self) -> Iterator[Case]:
        found = [case for one in self._layout.cases for case in self._cases_of(one)]
        yield from found
        verdict = getattr(self._report, "verdict", None)
        if not found:
            name = self._report.command.split()[0]
            status: CaseStatus = "passed" if self._layout.passes else "skipped"
            what = "input" if self._layout.passes else "policy"
            yield Case(name, what, status, self._layout.untold)
        # Something else than a limit may keep the answer open.
        checks = getattr(self._report, "policy", ())
        decided = any(
            one.status == "inconclusive" and getattr(one, "waived", None) is None for one in checks
        )
        if verdict is not None and verdict.status == "inconclusive" and not decided:
            status = "skipped" if verdict.on_inconclusive == "pass" else "open"
            yield Case(self._report.command, "input", status, told(verdict.reasons[0]))

    def _cases_of(self, cases: Cases) -> Iterator[Case]:
        verdict = getattr(self._report, "verdict", None)
        passes = verdict is not None and verdict.on_inconclusive == "pass"
        for row in self._rows_of(cases.rows, cases.where):
            values = Fields(row)
            group, name = filled(cases.group, values), filled(cases.name, values)
            status = _case_status(row, cases, passes=passes)
            yield Case(group, name, status, filled(cases.text, values))


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - a field of any report
    if value is None:
        return []
    return list(value) if isinstance(value, tuple) else [value]


def _case_status(row: Any, cases: Cases, *, passes: bool) -> CaseStatus:  # noqa: ANN401 - any row
    """Return what a row does to the verdict: an expired waiver fails."""
    if getattr(row, "waived", None) is not None:
        return "waived"
    if getattr(row, "expired", None) is not None:
        return "failed"
    found = getattr(row, cases.status)
    status = _CASES[not found if cases.fails else found]
    return "skipped" if passes and status == "open" else status


def _next(message: Message) -> tuple[str, str] | None:
    """Return what to do about a message: about what stands within it, else about itself."""
    reason = message.get("reason")
    found = _next(reason) if isinstance(reason, Message) else None
    return found or entry_of(message).next
