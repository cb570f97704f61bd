"""Annexes: points are bound to fields that exist, and what nothing shows is said as loudly."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import get_args, get_type_hints

import pytest
from markdown_it import MarkdownIt

from mipaudit.commands.render.forms import annexed, stored_report
from mipaudit.errors import UsageError
from mipaudit.formats.exchange.annex import Layout, Status
from mipaudit.formats.exchange.annex_points import SOURCES
from mipaudit.statements.reports.kinds import KINDS, kind_of, report_type
from tests.formats.exchange.test_forms import TRICKS, tricked
from tests.places import REPORTS

NAMES = [one.name for one in SOURCES]
BOUND = [(one.name, show) for one in SOURCES for point in one.points for show in point.shows]
FILES = {"table": "", "markdown": "a.md", "html": "a.html", "json": "a.json"}
# A report of each kind that is asked for.
EACH = ("shift", "query", "records", "attribute", "epsilon", "bounds")


def stored(name, **declared):
    report = json.loads((REPORTS / f"{name}.json").read_text())
    report["provenance"]["declared"] = declared or None
    return json.dumps(report).encode()


def annex(main, *others, of="edpb-28-2024", layout="json"):
    one = stored_report(main)
    found = annexed(of, one, others, FILES[layout], one.report)
    return json.loads(found) if layout == "json" else found


def statuses(found):
    return {one["about"]: one["status"] for one in found["points"]}


def test_every_layout_has_a_file():
    assert set(FILES) == set(get_args(Layout))


def field_type(hint, path):
    """Return the type of a field within records, None where there is none."""
    for name in path.split("."):
        records = [one for one in (hint, *get_args(hint)) if hasattr(one, "__dataclass_fields__")]
        hints = get_type_hints(records[0]) if records else {}
        if name not in hints:
            return None
        hint = hints[name]
    return hint


@pytest.mark.parametrize(("name", "show"), BOUND)
def test_every_field_that_a_point_names_is_one_of_such_reports(name, show):
    kind = kind_of(show.command)

    assert any(show.command in one.commands for one in KINDS), name
    assert field_type(report_type(kind), show.field) is not None
    assert not show.quantity or show.field in {one.field for one in kind.figures}


@pytest.mark.parametrize("name", NAMES)
def test_every_field_that_a_point_names_can_say_something(name):
    asked = {show.command for of, show in BOUND if of == name}
    main = stored("rejudged", seen_by="public")
    found = annex(main, *(stored(one) for one in EACH if one in asked), of=name)

    empty = [line for one in found["points"] for line in one["lacking"] if "NOT " in line]
    assert empty == []
    for point in found["points"]:
        assert bool(point["shows"]) == bool(point["shown"]), point["about"]
        assert point["shows"] or point["unsaid"], "why not"


@pytest.mark.parametrize("name", NAMES)
def test_an_annex_as_it_was(name, snapshot):
    others = [stored("shift")] if name != "nist-sp-800-226" else [stored("bounds")]
    assert annex(stored("rejudged"), *others, of=name, layout="table") == snapshot


@pytest.mark.parametrize("layout", FILES)
def test_what_is_not_tested_is_said_as_loudly_as_what_is(layout):
    points = annex(stored("one_score"))["points"]
    found = annex(stored("one_score"), layout=layout)
    text = found if layout != "json" else json.dumps(found)

    for status in get_args(Status):
        said = sum(one["status"] == status for one in points)
        # At a glance, and at the head of its point.
        shown = len(re.findall(rf">{status}<|\*\*{status}\*\*|: {status}(?=\s*[\n<])", text))
        assert layout in {"json", "table"} or shown >= said
    assert "NOT TESTED" in text
    assert "NOT EVALUABLE" in text
    assert "no legal advice" in text
    assert statuses(annex(stored("one_score")))["Structured tests against exfiltration."] == (
        "NOT EVALUABLE"
    )


def test_a_report_fills_what_was_not_tested():
    about = "Structured tests against attribute inference."
    alone, filled = (
        annex(stored("one_score", release="v1"), *others)
        for others in ((), (stored("attribute", release="v1"),))
    )

    assert statuses(alone)[about] == "NOT TESTED"
    assert statuses(filled)[about] == "REPORTED"
    assert filled["reports"][1]["is"] == "of the same release, as declared"
    (line,) = next(one["shown"] for one in filled["points"] if one["about"] == about)
    assert line.startswith("attribute_advantage (95% confidence): at least 0.0040, ")
    assert line.endswith("at most 0.3099 [report.json, figures]")


def test_a_report_of_other_files_fills_no_point_in_silence():
    about = "Structured tests against attribute inference."
    found = annex(stored("one_score", release="v1"), stored("attribute"))
    point = next(one for one in found["points"] if one["about"] == about)

    assert point["status"] == "REPORTED OF OTHER FILES"
    assert all("OTHER FILES" in line for line in point["shown"])
    assert found["reports"][1]["is"].startswith("OTHER FILES")


def test_what_some_other_file_says_beside_the_report_is_a_part():
    about = "Scope, frequency, quantity and quality of the tests"
    found = annex(stored("one_score"), stored("shift"))
    point = next(one for one in found["points"] if one["about"].startswith(about))

    assert point["status"] == "REPORTED IN PART"
    assert any("OF OTHER FILES" in line for line in point["lacking"])


def test_reports_that_read_the_same_file_belong_together():
    found = annex(stored("rejudged"), stored("records"))
    assert found["reports"][1]["is"] == "read the same file"


def test_what_is_declared_is_not_called_reported():
    about = "The threat model and the risk assessments that measures rest on."
    assert statuses(annex(stored("one_score", seen_by="public")))[about] == "DECLARED, NOT CHECKED"
    assert statuses(annex(stored("one_score", release="v1")))[about] == "NOT EVALUABLE"


@pytest.mark.parametrize(
    ("main", "others", "said"),
    [
        (stored("one_score"), [stored("check")], "No point of it asks for check"),
        (stored("check"), [], "No point of it asks for check"),
        (stored("one_score"), [stored("shift"), stored("shift")], "There are two reports of shift"),
        (stored("one_score"), [stored("three_scores")], "There are two reports of estimate"),
        (stored("one_score", release="a"), [stored("shift", release="b")], "of another release"),
    ],
)
def test_reports_that_do_not_go_together_are_refused(main, others, said):
    with pytest.raises(UsageError, match=said):
        annex(main, *others)


@pytest.mark.parametrize("layout", FILES)
def test_what_can_make_an_answer_untrue_is_said(layout):
    report = json.loads(stored("one_score"))
    report["findings"] = [
        {"code": "a", "text": "Rows were lost.", "serious": True},
        {"code": "b", "text": "A column was left out.", "serious": False},
    ]
    found = annex(json.dumps(report).encode(), layout=layout)
    text = found if layout != "json" else json.dumps(found)

    assert text.count("report.json: Rows were lost.") == 1
    assert "A column was left out." not in text


@pytest.mark.parametrize("layout", FILES)
def test_reports_are_found_by_their_digests(layout):
    main, other = stored("one_score"), stored("shift")
    found = annex(main, other, layout=layout)
    text = found if layout != "json" else json.dumps(found)

    for data in (main, other):
        assert text.count(sha256(data).hexdigest()) == 1


@pytest.mark.parametrize("layout", FILES)
@pytest.mark.parametrize("text", TRICKS, ids=range(len(TRICKS)))
def test_tricks_are_shown_and_do_nothing(layout, text):
    found = annex(tricked(text), layout=layout)
    shown = found if layout != "json" else json.dumps(found)

    assert all(char.isprintable() or char == "\n" for char in shown)
    if layout == "html":
        assert "<script" not in shown
        assert "https://example.org" not in re.findall(r'(?:href|src)="([^"]*)"', shown)
    if layout == "markdown":
        tokens = MarkdownIt("commonmark").enable("table").parse(shown)
        kinds = {one.type for t in tokens for one in (t, *(t.children or ()))}
        assert kinds & {"html_block", "html_inline", "link_open", "image", "code_inline"} == set()


def test_the_command_writes_it_by_the_ending_and_exits_as_the_report_does(mipaudit, tmp_path):
    (tmp_path / "report.json").write_bytes(stored("one_score"))
    words = ("render", "report.json", "--for", "owasp-aisvs-1.0")

    shown = mipaudit(*words, "-f", "annex", "--data-subjects", "700")
    page = mipaudit(*words, "-o", "annex.html")

    assert shown.returncode == page.returncode == 1  # the report's own verdict
    assert shown.stdout.startswith("Annex: OWASP AISVS 1.0")
    assert "What it means for 700 people" in shown.stdout
    assert (tmp_path / "annex.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-f", "annex"), "--for does not say of which source"),
        (("-f", "html", "--for", "edpb-28-2024"), "--for asks for an annex"),
        (("--for", "edpb-28-2024", "-o", "annex.csv"), "the ending of --output says csv"),
        (("--for", "edpb-28-2024", "-o", "a.intoto.json"), "says in-toto"),
        (("--with", "report.json"), "--with has no meaning without --for"),
        (("--for", "edpb-28-2024", "--with", "none.json"), "none.json"),
        (("--for", "edpb-28-2024", "--with", "report.json"), "There are two reports of estimate"),
        (("--for", "edpb-28-2024", "--max-advantage", ".1"), "holds another verdict"),
    ],
)
def test_what_is_asked_amiss_is_one_error_and_writes_nothing(mipaudit, tmp_path, words, said):
    (tmp_path / "report.json").write_bytes(stored("one_score"))

    done = mipaudit("render", "report.json", *words)

    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
