"""The answer in a screenful: what gives way, what never does."""

from __future__ import annotations

import itertools
import re
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mipaudit
from mipaudit.commands.estimate.report import remarks
from mipaudit.report.blocks import Axis, Grid
from mipaudit.report.forms import answer_line, answer_of, brief_report, report_as
from mipaudit.report.text import one_line, screenful
from mipaudit.statements.printable_names import short_name, short_names, spaced


class Row(NamedTuple):
    """A figure with its limits."""

    lower: float | None
    value: float
    upper: float | None


def report_on(count, **options):
    random = np.random.default_rng(1)
    member = np.repeat([True, False], 200)
    columns = {f"score_{at}": random.normal(member * at / 6) for at in range(count)}
    return mipaudit.estimate(pd.DataFrame({"member": member, **columns}), **options)


@pytest.mark.parametrize("count", range(1, 9))
@pytest.mark.parametrize("options", [{}, {"max_advantage": 0.1}, {"max_advantage": 0.9}])
def test_up_to_eight_scores_have_a_line_each_in_24_lines(count, options):
    report = report_on(count, **options)
    for width in (80, 120):
        lines = brief_report(report, width=width).splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines)) <= width
        shown = {line.split()[0] for line in lines if line.startswith("  score_")}
        assert shown == {f"score_{at}" for at in range(count)}
        if options:
            word = {"met": "MET", "not_met": "NOT MET", "inconclusive": "INCONCLUSIVE"}
            alike = sum(one.status == report.verdict.status for one in report.policy)
            of = f" in {alike} of {count} checks" if count > 1 else ""
            undecided = sum(one.status == "inconclusive" for one in report.policy)
            if report.verdict.status == "not_met" and undecided:
                of += f" ({undecided} inconclusive)"
            assert lines[0].startswith(f"{word[report.verdict.status]}{of}: ")
        assert "--full" in lines[-1]


def test_a_line_is_the_answer_and_what_can_make_it_untrue():
    assert answer_of(report_on(1, max_advantage=0.5)).startswith("MET: advantage is at most ")
    few = mipaudit.estimate(members=np.arange(15.0), holdout=np.arange(9.5, 24.5))
    assert "Few members (15)" in answer_of(few)
    assert "\n" not in answer_of(few)


LONG = "a_name_of_a_score_that_is_far_too_long_for_a_line_of_any_log_" * 3
WAIVER = {"quantity": "advantage", "reason": "known", "expires": "2999-12-31"}
AT_LEAST = r"advantage at least 0\.\d{4}"
AT_MOST = rf"{AT_LEAST}, at most 0\.\d{{4}} \(up to 4 score ranges\)"
LINES = [
    ({}, r"Membership leaks: seeing '{}' gives an advantage of at least 0\.\d{4}\. No .*\."),
    (
        {"max_advantage": 0.01},
        rf"NOT MET: '{{}}': {AT_LEAST}, limit 0\.01; \d of 4 checks are not met, 1 inconclusive\.",
    ),
    (
        {"max_advantage": 0.99},
        r"MET: '{}': advantage at most 0\.\d{4} \(up to 4 score ranges\), limit 0\.99; 4 of 4 .*\.",
    ),
    ({"max_advantage": 0.4}, rf"INCONCLUSIVE: '{{}}': {AT_MOST}, limit 0\.4\."),
    (
        {"max_advantage": 0.01, "waivers": [{**WAIVER, "person": "Ö. Person"}]},
        rf"WAIVED: '{{}}': {AT_LEAST}, limit 0\.01; accepted by Ö\. Person until 2999-12-31\.",
    ),
    (
        {"max_advantage": 0.01, "waivers": [{**WAIVER, "person": "P" * 90}]},
        rf"WAIVED: '{{}}': {AT_LEAST}, limit 0\.01; accepted by P{{9}}…P{{8}} until 2.*\.",
    ),
]


@pytest.mark.parametrize(("given", "said"), LINES)
def test_a_log_has_verdict_score_figure_and_limit_in_120_characters(given, said):
    random = np.random.default_rng(1)
    member = np.repeat([True, False], 200)
    columns = {f"{at}{LONG}{at}": random.normal(member * (at + 1) / 6) for at in range(4)}
    report = mipaudit.estimate(pd.DataFrame({"member": member, **columns}), **given)
    line, beside = answer_line(report)
    assert len(line) <= 120
    name = f"{report.estimates[0].score[:9]}…{report.estimates[0].score[-8:]}"
    assert re.fullmatch(said.replace("{}", name), line), line
    assert beside == ()


def test_a_log_says_what_is_released_and_how_many_records_would_settle_it():
    random = np.random.default_rng(1)
    member = np.repeat([True, False], 200)
    frame = pd.DataFrame({"member": member, "s": random.normal(member * 0.4)})
    open_ = mipaudit.estimate(frame, max_advantage=0.33)
    assert re.search(r"; needs ~[\d,]+ records in all\.$", answer_line(open_)[0])
    copies = mipaudit.estimate(
        frame.assign(exact_copy=member & (frame.index % 40 == 0)), max_advantage=0.01
    )
    line, beside = answer_line(copies)
    assert line.startswith("NOT MET, exact copies released: advantage at least ")
    assert [one.startswith("Exact copies: 5 of 200 members") for one in beside] == [True]


EXPIRED = {"max_advantage": 0.33, "waivers": [{**WAIVER, "person": "J", "expires": "2026-01-01"}]}
RESTS_ON = [
    ({"max_advantage": 0.99, "rows_are": "independent"}, "MET on an assumption: "),
    (
        {**EXPIRED, "rows_are": "independent"},
        "NOT MET on an assumption: waiver expired 2026-01-01: ",
    ),
    (
        {"max_advantage": 0.33, "on_inconclusive": "pass", "rows_are": "independent"},
        "INCONCLUSIVE, let pass by this policy on an assumption: ",
    ),
    (
        {"claimed_epsilon": 1, "rows_are": "independent"},
        "CONSISTENT, not proved on an assumption: ",
    ),
]


@pytest.mark.parametrize(("given", "said"), RESTS_ON)
def test_a_log_says_what_the_answer_rests_on_before_the_figure(given, said):
    random = np.random.default_rng(1)
    member = np.repeat([True, False], 200)
    ids = np.tile(np.repeat(np.arange(100), 2), 2) + 1000 * member
    frame = pd.DataFrame({"id": ids, "member": member, "s": random.normal(member * 0.4)})
    line, _ = answer_line(mipaudit.estimate(frame, score_col="s", **given))
    assert line.startswith(said)
    assert len(line) <= 120


def test_a_log_tells_names_apart_that_are_alike_at_both_ends():
    random = np.random.default_rng(1)
    member = np.repeat([True, False], 200)
    names = [f"{'A' * 12}{at}{'A' * 12}" for at in (1, 2)]
    scores = {one: random.normal(member * (at + 1)) for at, one in enumerate(names)}
    line, _ = answer_line(mipaudit.compare(pd.DataFrame({"member": member, **scores})))
    assert len(set(re.findall(r"'([^']*)'", line))) == 2


@pytest.mark.parametrize("length", range(1, 400, 7))
def test_what_does_not_fit_a_log_is_cut_where_a_thought_ends(length):
    parts = (f"{'one ' * length}and, then: more (or less)", "No verdict.", "x" * 60, "y" * 3)
    line = one_line(SimpleNamespace(line=parts))
    assert len(line) <= 120
    assert ("…" in line) == (len(parts[0]) > 120)
    assert "x" not in line or line.index("No verdict.") < line.index("x")


def test_a_cut_leaves_no_half_of_a_choice():
    line = one_line(
        SimpleNamespace(line=(f"{'so ' * 30}it is: this is false, or that is, {'x' * 20}",))
    )
    assert line.endswith("it is …")


def many(rows, notes=6, warnings=2):
    lines = tuple((f"s{at}", "0.1") for at in range(rows))
    return SimpleNamespace(
        answer="MET: all is well.",
        mood="good",
        warnings=tuple(f"Warning {at} is dire. It is, so it is." for at in range(warnings)),
        about="What was measured.",
        tables=lambda width: (Grid("", ("score", "at least"), rows=lines, words=1),),
        notes=tuple(f"Note {at}." for at in range(notes)),
        following="",
        lists=False,
    )


def screen(brief, height=20, **given):
    return screenful(brief, width=80, height=height, **given)


@given(st.integers(1, 60), st.integers(0, 20), st.integers(0, 9))
def test_rows_beyond_eight_give_way_then_notes_and_warnings_never_do(rows, notes, warnings):
    text = screen(many(rows, notes, warnings), more="MET:.")
    shown = sum(line.startswith("  s") for line in text.splitlines()) - 1
    noted = text.count("Note ")
    assert text.count("is dire. It is, so it is.") == warnings
    assert text.startswith("MET: all is well.")
    left = notes - noted
    more = f" ({left} {'remark' if left == 1 else 'remarks'})" if left else ""
    assert text.splitlines()[-1] == f"MET{more}:."
    if text.count("\n") > 20:
        assert (shown, noted) == (1, 0)
    if shown < min(rows, 8):
        assert noted == 0
    if shown < rows:
        assert f"and {rows - shown} more: --full" in text
    elif not left:
        assert text == screen(many(rows, notes, warnings), None, more="MET:.")
    # The first notes stay longest.
    assert [f"Note {at}." in text for at in range(notes)] == [at < noted for at in range(notes)]


def test_a_name_cannot_steer_the_terminal_or_begin_a_line():
    brief = many(1)
    brief.answer, brief.warnings = "MET: '\x1b[2Jx\ny' is low.", ("a\x1b]0;b\x07c",)
    text = screen(brief)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert not any(line.startswith("y") for line in text.splitlines())


def test_colour_marks_the_answer_alone_and_says_nothing_that_words_do_not():
    plain, inked = (screen(many(3), color=color) for color in (False, True))
    assert "\x1b[1;32mMET: all is well." in inked
    assert re.sub(r"\x1b\[[0-9;]*m", "", inked) == plain


limits = st.floats(0, 1)


@given(limits, limits, limits, limits)
def test_an_interval_is_drawn_where_it_is(a, b, c, mark):
    lower, value, upper = sorted([a, b, c])
    row = Row(lower, value, upper)
    axis = Axis.over([row], [mark])
    assert axis.end >= max(upper, mark)
    line = axis.drawn(row, mark)
    assert len(line) == len(axis.head) == 12
    assert line.index("●") == round(value / axis.end * 11)
    assert set(line) <= set("·├─┤●┃")
    within = [at for at, sign in enumerate(line) if sign in "├─┤"]
    assert all(lower / axis.end * 11 - 0.51 <= at <= upper / axis.end * 11 + 0.51 for at in within)


@given(limits, limits, limits, st.floats(0.01, 0.99))
def test_beside_blind_guessing_the_axis_begins_there_and_ends_at_most_at_1(a, b, c, start):
    lower, value, upper = sorted([a, b, c])
    axis = Axis.over([Row(lower, value, upper)], start=start)
    assert axis.start == start < axis.end <= 1
    assert axis.end >= min(upper, 1 - 1e-6)
    line = axis.drawn(Row(lower, value, upper))
    if upper < start:
        assert line.startswith("← below 0.")
    else:
        assert ("←" in line) <= (lower < start)
        assert ("●" in line) == (value >= start - 1e-9)


@pytest.mark.parametrize("start", [1.0, 1 - 1e-12])
def test_where_blind_guessing_has_all_the_axis_has_no_length(start):
    row = Row(1.0, 1.0, 1.0)
    line = Axis.over([row], start=start).drawn(row, 1.0)
    assert len(line) == 12
    assert line.count("●") == 1


def test_a_limit_of_1_makes_no_axis_longer_than_an_advantage():
    assert Axis.over([Row(0.2, 0.3, 0.5)], [1.0]).end == 1


def test_a_limit_that_there_is_not_is_an_arrow():
    axis = Axis(0.0, 1.0, 11)
    assert axis.drawn(Row(0.2, 0.5, None)).endswith("→")
    assert axis.drawn(Row(None, 0.5, 0.8)).startswith("├")
    assert axis.drawn(Row(-0.2, 0.5, 0.8)).startswith("←")


@pytest.mark.parametrize(("limit", "start"), [(0.3, 0.0), (0.05, 0.0), (0.95, 0.6), (4.0, 0.0)])
def test_what_is_above_a_limit_has_room_beside_it(limit, start):
    row = Row(start, start, None)
    line = Axis.over([row], [limit], start=start, width=20).drawn(row, limit)
    assert "┃" in line
    assert line.endswith("→")


@given(st.lists(limits, min_size=1, max_size=5))
def test_the_end_of_an_axis_is_round_and_close(values):
    axis = Axis.over([Row(0.0, 0.0, value) for value in values])
    if max(values) > 1e-9:
        assert max(values) * (1 - 1e-6) <= axis.end <= 2 * max(values)
    assert len(axis.head) == 12


@given(st.lists(st.integers(1, 30), min_size=1, max_size=3), st.integers(0, 9), st.integers(12, 60))
def test_what_a_window_has_no_room_for_is_counted(sizes, notes, height):
    (grid,) = many(1).tables(80)
    tables = tuple(
        grid._replace(caption=f"T{at}", rows=tuple((f"t{at}r{row}", "1") for row in range(size)))
        for at, size in enumerate(sizes)
    )
    brief = many(1, notes, 0)
    brief.tables = lambda width: tables
    text = screen(brief, height)
    lines = text.splitlines()
    assert len(lines) <= height
    shown = [sum(line.startswith(f"  t{at}r") for line in lines) for at in range(len(sizes))]
    cut = [size - kept for size, kept in zip(sizes, shown, strict=True) if 0 < kept < size]
    assert re.findall(r"and (\d+) more: --full", text) == [*map(str, cut)]
    hidden = {"table": shown.count(0), "remark": notes - text.count("Note ")}
    left = [f"{count} {what}{'s' * (count > 1)}" for what, count in hidden.items() if count]
    assert lines[-1].startswith(f"More ({', '.join(left)}):" if left else "More:")
    # Of eight scores none gives way for a row of another table.
    assert shown[0] >= min(sizes[0], 8) or not any(shown[1:])
    assert "Note" not in text or all(
        kept >= min(size, 8) for size, kept in zip(sizes, shown, strict=True)
    )


SPELLED = re.compile(r"--(by|prior|seed|max-advantage)\b|\b(by|prior|seed|max_advantage)=")


def test_a_name_in_backticks_is_not_spelled_as_an_option():
    random = np.random.default_rng(4)
    group = np.where(random.random(800) < 0.5, "`seed`", "`max_advantage`")
    columns = {name: random.normal(size=800) for name in ("`by`", "x `prior` y")}
    member = np.arange(800) % 2 == 0
    frame = pd.DataFrame({"member": member, **columns, "group": group, "guess": "`seed`"})
    scores = {"score_col": [*columns]}
    reports = [
        mipaudit.estimate(frame, **scores, max_advantage=0.2, claimed_epsilon=0.01),
        mipaudit.estimate(frame, **scores),
        mipaudit.records(frame, score_col=["`by`"], by=["group"], max_risk=0.2),
        mipaudit.attack(frame, **scores, by="group"),
        mipaudit.compare(frame, **scores),
        mipaudit.check(frame, **scores),
        mipaudit.attribute(frame, attribute_col="group", guess_col="guess"),
    ]
    for report in reports:
        brief = brief_report(report, width=80)
        assert "\\x60" in brief
        others = (report_as(report, form) for form in ("markdown", "junit"))
        shown = brief, brief_report(report, width=80, python=True), answer_of(report), *others
        lines = "\n".join(shown).splitlines()
        assert [one for one in lines if "x60" in one and SPELLED.search(one)] == []


NEXT = "Next: {}. See mipaudit help choose-a-limit."
FOLLOWING = [
    (0.02, "NOT MET", NEXT.format("cut the leak")),
    (0.4, "INCON", NEXT.format("more records may decide it")),
    (0.99, "MET", ""),
]


@pytest.mark.parametrize(("limit", "word", "line"), FOLLOWING)
def test_what_is_not_met_or_open_says_where_to_read_on(limit, word, line):
    text = brief_report(report_on(6, max_advantage=limit), width=80)
    assert text.startswith(word)
    assert [one for one in text.splitlines() if "Next:" in one] == [line] * bool(line)
    assert ("be enough to decide it" in text) <= (word == "INCON")


@given(st.text(st.characters(codec="ascii", exclude_categories=["C"]), min_size=1, max_size=200))
def test_a_long_name_keeps_both_ends(name):
    shown = short_name(name)
    assert len(shown) <= 18
    assert shown == name or shown.startswith(name[:5]) or "\\" in shown or name != name.strip()
    assert shown == name or shown.endswith(name[-8:]) or "`" in name or name != name.strip()


@pytest.mark.parametrize("shift", ["", "a", "ab"])
def test_wide_names_take_no_more_columns_and_differ_where_they_are_alike(shift):
    names = [f"{shift}{'日本語のとても長い名前' * 3}{'点' * count}" for count in (1, 2, 3)]
    shown = [short_name(names[0]), *short_names(names).values()]
    assert max(len(spaced(one)) for one in shown) <= 18
    assert len(set(shown[1:])) == 3


def test_a_terminal_without_the_signs_is_drawn_in_ascii(process):
    sample = np.random.default_rng(1).normal(size=300)
    rows = "".join(f"{at % 2},{value + at % 2}\n" for at, value in enumerate(sample))
    done = process(
        *("estimate", "-", "--max-advantage", "0.2"),
        input="member,score\n" + rows,
        env={"MIPAUDIT_FULL": "false", "PYTHONIOENCODING": "ascii", "COLUMNS": "80"},
    )
    assert done.stdout.isascii()
    assert re.search(r"score +\.*\|?\.*\[?-*o", done.stdout)


@pytest.fixture
def scored(tmp_path):
    lines = ["member,score", *(f"{at % 2},{at * 7 % 101}" for at in range(200))]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_file_has_all_of_it(mipaudit, scored):
    def run(*words):
        return mipaudit("estimate", "scores.csv", *words, env={"MIPAUDIT_FULL": "false"})

    shown = run().stdout
    run("-o", "report.txt")
    written = (scored / "report.txt").read_text()
    assert written == run("--full").stdout
    assert len(shown.splitlines()) <= 24 < len(written.splitlines())
    quiet, beside = run("-q"), run("-q", "-o", "report.json")
    assert quiet.stdout.count("\n") == 1
    assert (quiet.stderr, beside.stdout, beside.stderr) == ("", quiet.stdout, "")
    assert (scored / "report.json").read_text().startswith("{")


BEGINS = {"html": "<!DOCTYPE", "json": "{", "csv": "quantity,", "md": "# mipaudit estimate"}
BEGINS |= {"xml": "<?xml", "table": "No leak is shown: "}
SETS = {"MIPAUDIT_FORMAT": "json"}
# What is typed, the form that is written (or what is said of why none is), and the environment.
WRITTEN = [
    *(((f"r.{ending}",), ending.lower(), {}) for ending in ("html", "json", "csv", "md", "xml")),
    (("r.HTML",), "html", {}),
    # A name that says no form takes a table, or the form that is asked for.
    *(((name,), "table", {}) for name in ("audit", "audit.txt", "audit.log", "audit-2026.01")),
    *(((name, "-f", "json"), "json", {}) for name in ("audit", "audit.log", "audit-2026.01")),
    (("audit.txt", "-f", "json"), "the ending of --output says table", {}),
    (("r.docx",), ".html, .htm, .json, .csv, .md, .xml or .txt", {}),
    (("r.docx",), "Any other ending needs --format.", {}),
    (("r.docx", "-f", "html"), "html", {}),
    (("r.PDF",), "browsers can print as PDF", {}),
    (("r.html", "-f", "csv"), "--format is csv, but the ending of --output says html.", {}),
    (("r.html", "-f", "csv"), "Leave --format out, or let the name end in .csv.", {}),
    (("r.htm", "-f", "html"), "html", {}),
    # A form for all reports gives way to the ending of one; a typed one does not.
    (("r.html",), "html", SETS),
    (("r",), "json", SETS),
    (("t.html", "-f", "json"), "the ending of --output says html", SETS),
]


@pytest.mark.parametrize(("words", "form", "env"), WRITTEN)
def test_the_ending_of_its_file_is_the_form_of_a_report(mipaudit, scored, words, form, env):
    done = mipaudit("estimate", "scores.csv", "-o", *words, env=env)
    if form in BEGINS:
        assert done.returncode == 0
        assert (scored / words[0]).read_text().startswith(BEGINS[form])
    else:
        assert (done.returncode, form in done.stderr) == (2, True)
        assert not (scored / words[0]).exists()


def test_data_have_their_own_forms(mipaudit, scored):
    assert mipaudit("simulate", "laplace-1", "-o", "s.csv", "-f", "json").returncode == 0
    assert mipaudit("records", "scores.csv", "-o", "r.csv", "-f", "json").returncode == 0
    for words, said in (
        (("simulate", "laplace-1", "--truth-only", "-o", "t.docx"), "--output takes a file name"),
        (("records", "scores.csv", "-o", "t.csv", "--report", "r.rtf"), "--report takes a file"),
    ):
        refused = mipaudit(*words)
        assert (refused.returncode, said in refused.stderr) == (2, True)
    assert not {*scored.glob("t.*")}


def test_the_name_that_is_typed_says_the_form_and_not_what_a_link_leads_to(mipaudit, scored):
    (scored / "latest.html").symlink_to("target.json")
    assert mipaudit("estimate", "scores.csv", "-o", "latest.html").returncode == 0
    assert (scored / "target.json").read_text().startswith(BEGINS["html"])


@pytest.mark.parametrize(
    "words", [("init",), ("schema",), ("summarize", "--plan", "2"), ("summarize", "scores.csv")]
)
def test_what_is_no_report_is_no_pdf_either(mipaudit, tmp_path, words):
    done = mipaudit(*words, "-o", "made.PDF")
    assert done.returncode == 2
    assert "must be of another form than PDF" in done.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(("strict", "share"), [(False, 0.05), (True, 0.21)])
def test_how_far_another_seed_moves_the_limit_is_what_was_measured(strict, share):
    """The standard deviation over seeds is a share of the way to the best estimate."""
    random = np.random.default_rng(11)
    ratios = []
    for rows, shift in itertools.product((300, 1000, 4000), (0.5, 1.0)):
        members, holdout = random.normal(shift, size=rows // 2), random.normal(size=rows // 2)
        found = [
            mipaudit.estimate(members=members, holdout=holdout, seed=seed, strict=strict)
            for seed in range(12)
        ]
        first = [one.estimates[0] for one in found]
        gaps = [one.value - one.lower for one in first]
        ratios.append(np.std([one.lower for one in first], ddof=1) / np.mean(gaps))
        told = [
            m.get("by") for one in found for m in remarks(one) if m.code == "another_seed_moves"
        ]
        assert told == pytest.approx([share * gap for gap in gaps])
    assert share / 2 <= np.median(ratios) <= 2 * share
