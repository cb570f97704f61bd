"""The walk along a layout: against a slow twin."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import mipaudit
from mipaudit.model.message import Message
from mipaudit.report.codec import from_json
from mipaudit.report.forms import report_as, report_html, report_text
from mipaudit.report.layout import Column, Layout, Table
from mipaudit.report.messages.told import Fields, filled, told
from mipaudit.report.walk import Walk, walk_of
from mipaudit.statements.rounding import lower_text
from tests.fixtures.leaks import table
from tests.places import REPORTS

TABLE = Table(
    "Rows of {kind}",
    "inner.rows",
    (
        Column("name", "{name}"),
        Column("low", "{lower:lower}", "reason"),
        Column("of {kind}", "[{kind}]"),
    ),
    words=1,
    where=(("kind", ("x", "")),),
    unless=(("lower", (0.5,)),),
    marked=("name", ("a",)),
)
ROWS = st.lists(
    st.builds(
        SimpleNamespace,
        name=st.sampled_from(["a", "b", "", "-"]),
        lower=st.sampled_from([None, 0.0, 0.12346, 0.5]),
        kind=st.sampled_from(["x", "y", ""]),
        reason=st.sampled_from([None, None, "few rows", "ties"]),
    ),
    max_size=12,
)


def slowly(rows):
    """Return the lines of the table, and its footnotes, in the most obvious way."""
    lines, notes = [], []
    for row in rows:
        if row.kind not in {"x", ""} or row.lower == 0.5:
            continue
        low = "-" if row.lower is None else lower_text(row.lower)
        if row.reason is not None:
            notes += [] if row.reason in notes else [row.reason]
            low = f"{low} [{notes.index(row.reason) + 1}]"
        lines += [] if [row.name, low, row.kind] in lines else [[row.name, low, row.kind]]
    kept = [at for at in range(3) if not {line[at] for line in lines} <= {"", "-"}]
    return [tuple(line[at] for at in kept) for line in lines], kept, notes


@given(ROWS)
def test_every_row_is_shown_once_in_order_and_no_column_is_empty(rows):
    report = SimpleNamespace(
        command="any",
        findings=(),
        limitations=(),
        kind="k",
        inner=SimpleNamespace(rows=tuple(rows)),
    )
    walk = Walk(report, Layout(tables=(TABLE,)), None)
    (grid,) = [*walk._grids(TABLE)] or [None]
    lines, kept, notes = slowly(rows)
    assert list(walk._footnotes) == notes
    assert [*walk._footnotes.values()] == list(range(1, len(notes) + 1))
    if not lines:
        assert grid is None
        return
    assert grid.rows == tuple(lines)
    assert grid.head == tuple(("name", "low", "of k")[at] for at in kept)
    assert grid.caption == "Rows of k"
    assert grid.words == (0 in kept)
    assert grid.marked == {at for at, line in enumerate(lines) if 0 in kept and line[0] == "a"}


def test_a_place_reaches_into_rows_and_messages():
    said = Message.of("any", of=2)
    fields = Fields(SimpleNamespace(rows=(SimpleNamespace(x=1.5),), none=(), said=said))
    text = "{rows.0.x:number} {said.of:count}[ {none.0.x:number}][ {rows.1.x:number}]"
    assert filled(text, fields) == "1.5 2"


def test_rows_that_are_messages_are_a_list():
    table = Table("Said", "said", (Column("", "{message}"),), words=0, prose=True)
    report = SimpleNamespace(
        findings=(),
        limitations=(),
        command="any",
        said=(Message("release_not_seen"), Message("one_sided")),
    )
    walk = Walk(report, Layout(tables=(table,)), SimpleNamespace(answer=lambda _: None))
    heading, bullets = walk.of_rows("said")
    assert heading.text == "Said"
    assert bullets.texts == tuple(map(told, report.said))


def test_hundreds_of_scores_are_drawn_at_once_and_what_is_cut_is_counted():
    report = from_json((REPORTS / "three_scores.json").read_bytes())
    names = tuple(f"score_{at}" for at in range(400))

    def copies(rows):
        first = [one for one in rows if one.score == rows[0].score]
        return tuple(replace(one, score=name) for name in names for one in first)

    many = replace(
        report,
        design=replace(report.design, score_columns=names),
        **{name: copies(getattr(report, name)) for name in ("estimates", "claims", "policy")},
    )
    report_text(report, width=100)  # imports are not the matter
    start = time.process_time()
    text = report_text(many, width=100)
    report_html(many)
    assert time.process_time() - start < 2.5  # cubic work took minutes
    assert "score_99" in text
    assert "score_100" not in text.partition("The limits of the policy")[0]
    assert "and 300 more, in the report for programs (-f json)." in text
    assert "score_399" in report_as(many, "csv")


def test_an_input_that_keeps_an_answer_open_is_a_case_whatever_claims_say():
    frame = table(0.0, rows=4000).assign(exact_copy=np.arange(4000) == 0)
    report = mipaudit.estimate(frame, max_advantage=0.9, claimed_epsilon=20)
    assert report.verdict.status == "inconclusive"
    assert [one.status for one in walk_of(report).cases] == ["passed", "skipped", "open"]
