"""What a report tells, walked along its layout: the most important first, whatever the form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.errors import as_typed
from mipaudit.model.message import Message
from mipaudit.report import origin
from mipaudit.report.blocks import (
    NARROW,
    WIDE,
    Axis,
    Block,
    Case,
    Fold,
    Grid,
    Pairs,
    Picture,
    Section,
    Text,
    first_sentence,
    listed,
    sentences,
)
from mipaudit.report.layout import Cases, Layout, Table, Where, words_of
from mipaudit.report.messages.told import (
    Fields,
    Mood,
    briefly,
    entry_of,
    filled,
    is_serious,
    names_in,
    told,
)
from mipaudit.statements.kinds import kind_of, named
from mipaudit.statements.printable_names import plain, safe_name, short_names
from mipaudit.statements.rounding import count_text

if TYPE_CHECKING:
    from mipaudit.options.declare import Options
    from mipaudit.statements.any_report import AnyReport

# In full: for a terminal, for what knows no terminal, or a page, whose head says the gravest.
View = Literal["text", "summary", "page"]
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
_TAKEN: Final = (
    ("input", "{files:text}"),
    ("rows", "{design.n_members:members}, {design.n_holdout:holdout}"),
    ("membership", "[column {design.member_column}][{apart}{design.member_column:unless}]"),
    ("scores", "{design.score_columns:names}"),
    ("not used", "[{skipped:names}]"),
)
_MOST_ROWS: Final = 100  # of a table: nobody would read more
_MOST_ON_PAPER: Final = 16  # of a table that a page shows open
_CURVES: Final = frozenset({"roc", "bins"})
_LEADING_ROWS: Final = {"intervals": 12, "amounts": 7}  # of the picture below an answer
_DECIDE: Final = frozenset({"policy", "claims", "rests_on"})  # an answer, as tables
_AXIS: Final = "{axis}"
_SHORT: Final = re.compile(r"\{(\w+):short\}")
_EMPTY: Final = frozenset({"", "-"})


def walk_of(report: AnyReport) -> Walk:
    """Return the walk along a report as its waivers stand on the day."""
    kind = kind_of(report.command)
    before: list[str] = []
    if getattr(report, "policy", ()):
        from mipaudit.statements.verdict import stale_waiver, standing

        stale = stale_waiver(report)
        before = [] if stale is None else [_said(stale)]
        report = standing(report)
    before += chosen_words(report)
    return Walk(report, named(kind.layout), import_module(kind.conclusion), before)


def chosen_words(report: AnyReport) -> tuple[str, ...]:
    """Return what a policy file chose, and which one it was where readers may not expect it."""
    from mipaudit.options.commands import BY_NAME

    row = BY_NAME.get(report.command) or BY_NAME[report.command.split(maxsplit=1)[0]]
    asked: type[Options] = named(row.asked)
    return origin.policy_words(report.provenance, asked, named(row.shown))


class Walk:
    """A report along its layout.

    Args:
        report: of a kind with a layout.
        layout: of its kind.
        conclusion: the module of what it concludes.
        before: what stands before all else.

    Attributes:
        title: the command that made it.
        lists: whether it is a list, which no window cuts.
    """

    def __init__(
        self, report: AnyReport, layout: Layout, conclusion: object, before: Sequence[str] = ()
    ) -> None:
        self.report, self.lists = report, layout.lists
        self.title = f"mipaudit {report.command}"
        self._layout, self._before = layout, before
        self._fields = Fields(report, conclusion)
        self._footnotes: dict[str, int] = {}
        self._findings: Sequence[Message] = report.findings

    @cached_property
    def _answer(self) -> Message:
        found: Message = self._fields.get("answer")
        return found

    @cached_property
    def _remarks(self) -> Sequence[Message]:
        """What else is worth a line, the most important first."""
        return tuple(self._fields.get("remarks") or ())

    # What every form begins with.

    @cached_property
    def answer(self) -> str:
        """What was found, or decided, in a sentence."""
        return _said(self._answer)

    @property
    def line(self) -> tuple[str, ...]:
        """The answer in parts, the most important first, the middle of its names left out."""
        design: Any = getattr(self.report, "design", None)
        named = (*getattr(design, "score_columns", ()), *names_in(self._answer))
        names = short_names(dict.fromkeys(named))
        said = _said(briefly(self._answer, names))
        values = {**_flat(self._answer), "verdict": self._answer.code.removeprefix("answer_")}
        beside = _said(briefly(Message("beside_verdict", values), names)).splitlines()
        if said.endswith(":"):  # what follows stands in the first table
            grid = next(self.tables(0))
            beside += map(" ".join, zip(grid.head, grid.rows[0], strict=True))
        return (*sentences(said), *beside)

    @property
    def plainly(self) -> str:
        """The same for everybody; the answer itself where no sentence says it."""
        answer, plainly = self._answer, self._answer.get("plainly")
        if not isinstance(plainly, Message):
            return self.answer
        within = replace(answer, values={**answer.values, "reason": plainly})
        return _said(plainly if answer.get("reason") is None else within)

    @property
    def mood(self) -> Mood:
        """Of the answer."""
        return entry_of(self._answer).mood

    @property
    def warnings(self) -> tuple[str, ...]:
        """What can make the answer untrue, a sentence each: no form leaves one out."""
        return (*self._before, *(_said(one) for one in self._findings if is_serious(one)))

    @property
    def about(self) -> str:
        """What was measured, and for whom it holds."""
        return self._filled(self._layout.about)

    @property
    def following(self) -> str:
        """What to run, or to read, next; empty where nothing is."""
        if self._layout.following:
            return self._filled(self._layout.following)
        what, topic = _next(self._answer) or ("", "")
        return as_typed(f"{what}. See mipaudit help {self._layout.topic or topic}.") if what else ""

    # What a screenful has besides.

    def tables(self, width: int) -> Iterator[Grid]:
        """Yield the figures, the most important row first, intervals drawn as wide as there is."""
        for table in self._layout.tables:
            for grid in () if table.short == 0 else self._grids(table, width=width):
                if table.short is None or len(grid.rows) <= table.short:
                    yield grid
                    continue
                first = f" (the first {table.short} of {len(grid.rows)})."
                caption = grid.caption.removesuffix(".") + first
                yield grid._replace(caption=caption, rows=grid.rows[: table.short])

    @property
    def notes(self) -> Iterator[str]:
        """What else is worth a line, the most important first."""
        shown = [(entry_of(one), one) for one in self._remarks]
        yield from (_said(one) for entry, one in shown if entry.short and not entry.last)
        yield from (first_sentence(_said(one)) for one in self._findings if not is_serious(one))
        last = [_said(one) for entry, one in shown if entry.short and entry.last]
        seed = origin.short_seed(self.report.provenance)
        # Of several seeds only that they follow from the scores: worth a line with what they move.
        if seed is not None and (last or len(self.report.provenance.seeds) <= 1):
            last.insert(0, f"Seed: {seed}.")
        yield from [" ".join(last)] if last else ()

    # What is told in full.

    def sections(self, view: View = "summary") -> Iterator[Section]:
        """Yield all that is told below the answer and what it is about, but for pictures."""
        page, made = view == "page", self.report.provenance
        rest = [one for one in self._findings if page or not is_serious(one)]
        following = "" if page else self.following
        whole = (
            () if page else listed("What can make this untrue", self._marked()),
            *(figures := [part for one in self._layout.tables for part in self._sections(one)]),
            self._notes(figures),
            self._terms(),
            listed("Remarks", [_said(one) for one in self._remarks]),
            listed("Findings", [*map(_coded, rest)]),
            listed("Keep in mind", () if page else self.unsaid),
            self._taken(),
            (Text("What to do next", "h2"), Text(following)) if following else (),
            origin.declared_section(made.declared),
            origin.seed_section(made) if view == "text" else origin.origin_section(made),
        )
        yield from filter(None, whole)

    def folds(self) -> Iterator[Fold]:
        """Yield what a page shows below its head, in few folds; paper has those that are open.

        What a screenful has of the figures is open, and so are the words. Codes of findings and
        folders of files are for the report of all, and for programs.
        """
        made, led = self.report.provenance, self.leading
        pictures = tuple(one for one in self.pictures() if one not in led)
        calm = [_said(one) for one in self._findings if not is_serious(one)]
        front, rest = (
            [
                part
                for table in self._layout.tables
                if (table.short is None or table.rows in _DECIDE) is opened
                for part in self._sections(table, _MOST_ON_PAPER if opened else _MOST_ROWS)
            ]
            for opened in (True, False)
        )
        remarks = listed("Remarks", [_said(one) for one in self._remarks])
        origins = (origin.declared_section(made.declared), origin.origin_section(made, bare=True))
        for title, sections, opened in (
            ("The figures", (*front, self._notes(front)), True),
            ("The words", (self._terms(),), True),
            ("More figures", (*rest, self._notes(rest)), False),
            ("More pictures", (pictures,), False),
            ("Remarks and findings", (remarks, listed("Findings", calm)), False),
            ("Where this comes from", (self._taken(bare=True), *origins), False),
        ):
            if found := tuple(block for section in sections for block in section):
                yield Fold(title, found, opened)

    @property
    def leading(self) -> tuple[Picture, ...]:
        """The pictures below the answer: the one that shows it, and a curve of the same score."""
        first, rest = self._pictured[:1], self._pictured[1:]
        curves = [one for one in rest if one[0] in _CURVES and first[0][0] not in _CURVES]
        return tuple(one for _, one in (*first, *curves[:1]))

    def pictures(self) -> Iterator[Picture]:
        """Yield the pictures, the one that shows the answer first."""
        yield from (one for _, one in self._pictured)

    @cached_property
    def _pictured(self) -> Sequence[tuple[str, Picture]]:
        from mipaudit.report.pictures import pictured

        found: list[tuple[str, Picture]] = []
        for table in self._layout.tables:
            rows = list(self._rows(table)) if table.picture else []
            most = _LEADING_ROWS.get(table.picture, len(rows))
            if not found and len(rows) > most:
                # A whole picture of so many rows would leave no room below the answer.
                for one in pictured(table, rows[:most], self._fields):
                    said = f"{one.caption} The first {most} of {len(rows)}."
                    found.append((table.picture, one._replace(caption=said)))
            found += ((table.picture, one) for one in pictured(table, rows, self._fields))
        return found

    def of_rows(self, rows: str) -> Section:
        """Return the first table that shows a field of the report; empty where it has no rows."""
        found = (one for one in self._layout.tables if one.rows == rows)
        return next((section for one in found for section in self._sections(one)), ())

    def remarked(self, code: str) -> tuple[str, ...]:
        """Return the remarks of a code, as sentences."""
        return tuple(_said(one) for one in self._remarks if one.code == code)

    @property
    def unsaid(self) -> tuple[str, ...]:
        """What the answer, and then the figures, do not say."""
        said = as_typed(entry_of(self._answer).unsaid)
        return (*filter(None, (said,)), *map(_said, self.report.limitations))

    @property
    def caveats(self) -> tuple[str, ...]:
        """The same as a page lists it, but for what stands beside its answer; with the seed's."""
        told_there = self._layout.beside_tells if self.beside else ()
        known = {_said(one) for one in self.report.limitations if one.code in told_there}
        seed = [_said(one) for one in self._remarks if entry_of(one).last]
        return (*(one for one in self.unsaid if one not in known), *seed)

    @property
    def beside(self) -> str:
        """What a page says beside its answer: what a score is, and that a figure is a mean."""
        return self._filled(self._layout.beside)

    @property
    def named(self) -> str:
        """What a page is named after whose report read nothing."""
        return self._filled(self._layout.title)

    @property
    def terms(self) -> Iterator[tuple[str, str]]:
        """The words of the report, and what they mean."""
        for word, text in self._layout.terms:
            if meaning := self._filled(text):
                yield word, meaning

    def _filled(self, text: str) -> str:
        return as_typed(filled(text, self._fields))

    def _marked(self) -> list[str]:
        serious = [one for one in self._findings if is_serious(one)]
        return [*self._before, *map(_coded, serious)]

    def _notes(self, sections: Sequence[Section]) -> Section:
        """Return the footnotes of tables."""
        grids = (one for section in sections for one in section if isinstance(one, Grid))
        ends = {cell.rpartition(" ")[2] for one in grids for row in one.rows for cell in row}
        notes = [(f"[{number}]", text) for text, number in self._footnotes.items()]
        shown = tuple(one for one in notes if one[0] in ends)
        return (Pairs(shown),) if shown else ()

    def _sections(self, table: Table, most: int = _MOST_ROWS) -> Iterator[Section]:
        """Yield a table of all of the report under its title; rows that stand apart each alone."""
        grids = list(self._grids(table)) if table.whole else []
        if not grids:
            return
        title = self._filled(table.title)
        if len(grids[0].head) == 1 and table.prose:
            yield listed(title, [one for (one,) in grids[0].rows])
            return
        if table.by and len(grids) > 1:
            yield (Text(title, "h2"),)
            for grid in grids:
                yield (Text(grid.caption, "h3"), *self._few(grid, "", most))
            return
        said = (Text(grids[0].caption),) if table.caption and not table.by else ()
        heading = Text(grids[0].caption if table.by else title, "h2")
        yield (heading, *said, *self._few(grids[0], self._filled(table.note), most))

    def _few(self, grid: Grid, note: str, most: int) -> Iterator[Block]:
        """Yield a table of as many rows as anybody would read, and its small print."""
        rest = len(grid.rows) - most
        if rest > 0:
            # What is not met is shown whatever is not.
            marked, every = grid.marked, range(len(grid.rows))
            shown = sorted(sorted(every, key=lambda at: at not in marked)[:most])
            grid = grid._replace(
                rows=tuple(grid.rows[at] for at in shown),
                marked=frozenset(new for new, at in enumerate(shown) if at in marked),
            )
            where = "in the report for programs (-f json)" if most == _MOST_ROWS else "with `full`"
            note = as_typed(f"and {count_text(rest)} more, {where}.") + f" {note}"
        yield grid
        if note:
            yield Text(note.rstrip(), "note")

    def _grids(self, table: Table, *, width: int | None = None) -> Iterator[Grid]:
        """Yield a table, or one for each value of what its rows are shown apart by.

        Args:
            table: of the layout.
            width: of a screenful, where there is room for drawn intervals; None: as all of the
                report has it, with footnotes.
        """
        if not table.columns:
            return
        apart: dict[tuple[object, ...], list[Any]] = {}
        for row in self._rows(table):
            apart.setdefault(tuple(getattr(row, name) for name in table.by), []).append(row)
        for rows in apart.values():
            grid = self._grid(table, rows, axis=0 if width is None else NARROW)
            spare = 0 if width is None or table.axis is None else width - grid.width
            wider = min(NARROW + spare, WIDE)
            yield self._grid(table, rows, axis=wider) if spare > 0 else grid

    def _grid(self, table: Table, rows: Sequence[Any], *, axis: int) -> Grid:
        """Return a table, intervals drawn in as many characters; with 0, as the report has it."""
        whole = not axis
        places = {name for one in table.columns for name in _SHORT.findall(one.text)}
        named = [getattr(one, name) for one in rows for name in places]
        names = {} if whole else short_names(filter(None, named))
        shown = dict.fromkeys(str(one.score) for one in rows if hasattr(one, "score"))
        scores = {one: safe_name(one) for one in shown} if whole else short_names(shown)
        scale, marks = self._axis(table, rows, axis)
        lines: dict[tuple[str, ...], Fields] = {}
        for row, mark in zip(rows, marks, strict=True):
            short = scores.get(str(getattr(row, "score", "")), "")
            drawn = "" if scale is None else scale.drawn(row, mark)
            beside = self._beside(table, row)
            values = Fields(row, short=short, names=names, axis=drawn, message=row, also=beside)
            cells = [self._cell(one.text, one.why, values, whole=whole) for one in table.columns]
            if table.prose:
                cells[-1] = as_typed(cells[-1])
            lines.setdefault(tuple(cells), values)
        kept = [
            at for at in range(len(table.columns)) if any(line[at] not in _EMPTY for line in lines)
        ]
        heads = [
            scale.head if scale and one.text == _AXIS else self._filled(one.head)
            for one in table.columns
        ]
        marked, words, legend = table.marked, words_of(table), "" if whole else table.legend
        of = self._fields.beside(drawn=marks.count(None) < len(marks), row=rows[0])
        return Grid(
            caption=as_typed(filled(legend or table.caption or table.title, of)),
            head=tuple(heads[at] for at in kept),
            rows=tuple(tuple(line[at] for at in kept) for line in lines),
            words=sum(at < words for at in kept),
            prose=table.prose and len(table.columns) - 1 in kept,
            marked=frozenset(
                at
                for at, values in enumerate(lines.values())
                if marked and values.get(marked[0]) in marked[1]
            ),
        )

    def _axis(
        self, table: Table, rows: Sequence[Any], width: int
    ) -> tuple[Axis | None, list[float | None]]:
        """Return the axis of drawn intervals, and what is marked on that of each row."""
        if table.axis is None or not width:
            return None, [None] * len(rows)
        start, limit = map(self._fields.get, table.axis)
        marks = [limit.get(one.quantity) if isinstance(limit, dict) else limit for one in rows]
        shown = [one for one in marks if one is not None]
        return Axis.over(rows, shown, start=start or 0.0, width=width), marks

    def _cell(self, text: str, why: str, values: Fields, *, whole: bool) -> str:
        cell = filled(text, values)
        reason = values.get(why) if why and whole else None
        if reason is None:
            return cell
        reason = _said(reason) if isinstance(reason, Message) else plain(reason)
        return f"{cell} [{self._footnotes.setdefault(reason, len(self._footnotes) + 1)}]"

    def _rows(self, table: Table) -> Iterator[Any]:
        if table.when and self._fields.get(table.when) is None:
            return
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
        return (Text("The words", "h2"), Pairs(pairs=shown)) if shown else ()

    def _taken(self, *, bare: bool = False) -> Section:
        design: Any = getattr(self.report, "design", None)
        if not getattr(design, "score_columns", ()):
            return ()
        skipped = (*design.skipped_columns, *self.report.provenance.unused_columns)
        files = origin.input_files(self.report.provenance, bare=bare)
        apart = "members and holdout were given apart"
        values = self._fields.beside(skipped=skipped, files=files, apart=apart)
        pairs = tuple((term, said) for term, text in _TAKEN if (said := filled(text, values)))
        return (Text("What was taken", "h2"), Pairs(pairs=pairs))

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """What a pipeline waits for."""
        return tuple(self._cases())

    def _cases(self) -> Iterator[Case]:
        found = [case for one in self._layout.cases for case in self._cases_of(one)]
        yield from found
        verdict = getattr(self.report, "verdict", None)
        if not found:
            name, passes = self.report.command.split()[0], self._layout.passes
            status: CaseStatus = "passed" if passes else "skipped"
            yield Case(name, "input" if passes else "policy", status, self._layout.untold)
        # Something else than a limit may keep the answer open.
        checks = getattr(self.report, "policy", ())
        decided = any(
            one.status == "inconclusive" and getattr(one, "waived", None) is None for one in checks
        )
        if verdict is not None and verdict.status == "inconclusive" and not decided:
            status = "skipped" if verdict.on_inconclusive == "pass" else "open"
            yield Case(self.report.command, "input", status, _said(verdict.reasons[0]))

    def _cases_of(self, cases: Cases) -> Iterator[Case]:
        verdict = getattr(self.report, "verdict", None)
        passes = verdict is not None and verdict.on_inconclusive == "pass"
        for row in self._rows_of(cases.rows, cases.where):
            found, values = getattr(row, cases.status), Fields(row)
            status = _CASES[not found if cases.fails else found]
            if getattr(row, "waived", None) is not None:
                status = "waived"
            elif getattr(row, "expired", None) is not None:  # what was waived once
                status = "failed"
            elif passes and status == "open":
                status = "skipped"
            group, name, text = (filled(x, values) for x in (cases.group, cases.name, cases.text))
            yield Case(group, name, status, as_typed(text))


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - a field of any report
    if value is None:
        return []
    return list(value) if isinstance(value, tuple) else [value]


def _next(message: Message) -> tuple[str, str] | None:
    """Return what to do about a message: about what stands within it, else about itself."""
    reason = message.get("reason")
    found = _next(reason) if isinstance(reason, Message) else None
    return found or entry_of(message).next


def _flat(message: Message) -> dict[str, Any]:
    """Return the values of a verdict and of what decided it."""
    reason = message.get("reason")
    return {**message.values, **(_flat(reason) if isinstance(reason, Message) else {})}


def _said(message: Message) -> str:
    """Return the sentence of a message, options named as they are typed."""
    return as_typed(told(message))


def _coded(finding: Message) -> str:
    """Return a finding with its code, and a mark where the answer may be untrue because of it."""
    return f"{'! ' * is_serious(finding)}{plain(_said(finding))} [{finding.code}]"
