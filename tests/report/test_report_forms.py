"""Every report in every form: whole, valid, and nothing in it is markup."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from xml.etree.ElementTree import fromstring

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.estimate.report import people
from mipaudit.errors import as_typed
from mipaudit.options.declare import declared
from mipaudit.options.shown import Declared
from mipaudit.report.blocks import Grid, Pairs
from mipaudit.report.codec import from_json, report_csv, to_json
from mipaudit.report.forms import brief_report, report_as, report_html, report_text
from mipaudit.report.walk import walk_of
from mipaudit.statements.kinds import KINDS, kind_of
from mipaudit.statements.provenance import Declaration
from tests.places import REPORTS

HOSTILE = '<script>alert("x")</script>\x1b[2J\u202e| *b* [a](http://b) `data`'
_LARGEST_PAGE = 300_000
SAMPLES = {path.stem: from_json(path.read_bytes()) for path in sorted(REPORTS.glob("*.json"))}
every_report = pytest.mark.parametrize("name", SAMPLES)


def forms_of(report):
    """Return all that is shown of a report for people, by form."""
    return {
        "screen": brief_report(report, width=80),
        "text": report_text(report, width=100),
        **{form: report_as(report, form) for form in ("markdown", "html", "junit")},
    }


@cache
def forms(name):
    return forms_of(SAMPLES[name])


class Page(HTMLParser):
    """Collects tags and text, and checks that what is opened is closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.texts, self.attributes = [], {}, [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_every_kind_has_a_report_here():
    assert {kind_of(report.command).schema for report in SAMPLES.values()} == {
        kind.schema for kind in KINDS
    }


@every_report
def test_the_page_is_whole_and_loads_nothing(name):
    text = forms(name)["html"]
    page = Page(text)
    outside = [v for n, v in page.attributes if n in {"src", "href"} and not v.startswith("#")]
    assert outside == []
    assert page.seen.keys() & {"link", "iframe", "img", "object"} == set()
    assert len(text.encode()) < _LARGEST_PAGE
    assert page.seen["h1"] == 1
    assert page.seen.get("table", 0) == page.seen.get("caption", 0) >= page.seen.get("thead", 0)
    assert '<thead><tr><th scope="col"></th></tr></thead>' not in text
    assert [one for one, _ in page.attributes if one.startswith("on")] == []
    ids = [value for one, value in page.attributes if one == "id"]
    assert len(ids) == len(set(ids))


@every_report
def test_every_sentence_of_the_report_is_in_the_page_and_in_the_markdown(name):
    said = json.loads(to_json(SAMPLES[name]))
    told = [one for key in ("limitations", "findings", "rests_on") for one in said.get(key) or ()]
    told += [one["reason"] for one in said.get("policy") or ()]
    page = " ".join(" ".join(Page(forms(name)["html"]).texts).split())
    marked = " ".join(forms(name)["markdown"].replace("\\", "").split())
    for one in told:
        shown = " ".join(as_typed(one["text"]).split())
        assert shown in page
        assert shown in marked
    assert said["provenance"]["created"] in page


@every_report
def test_markdown_tables_have_as_many_cells_in_every_line(name):
    tables = re.findall(r"(?:^\|.*\|\n)+", forms(name)["markdown"], flags=re.MULTILINE)
    assert tables
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


@every_report
def test_csv_has_one_header_and_numbers_in_full(name):
    report = SAMPLES[name]
    rows = list(csv.DictReader(io.StringIO(report_csv(report))))
    assert rows
    assert all(None not in row and None not in row.values() for row in rows)
    if report.command == "estimate":
        assert len(rows) == len(report.estimates)
        for row, one in zip(rows, report.estimates, strict=True):
            for limit in ("lower", "upper"):
                stated = getattr(one, limit)
                assert row[limit] == "" if stated is None else float(row[limit]) == stated


# What both Ant's schema and that of Jenkins' xUnit plugin accept: the attributes, and children.
_JUNIT = {
    "testsuites": ("", "testsuite"),
    "testsuite": (
        "name tests failures errors skipped timestamp hostname time package id",
        "properties testcase system-out system-err",
    ),
    "testcase": ("classname name time", "failure skipped"),
    "failure": ("type message", ""),
    "skipped": ("message", ""),
    **dict.fromkeys(("properties", "system-out", "system-err"), ("", "")),
}
_FAILS = {"not_met", "inconclusive", "contradicted", "refuted"}


@every_report
def test_junit_has_what_the_schemas_ask_for_and_what_fails_the_policy(name):
    root = fromstring(forms(name)["junit"].encode())  # noqa: S314 - ours
    for element in root.iter():
        attributes, children = (set(words.split()) for words in _JUNIT[element.tag])
        assert set(element.attrib) == attributes
        assert {child.tag for child in element} <= children
        assert all(len(case) <= 1 for case in element.iter("testcase"))
    (suite,) = root
    order = [child.tag for child in suite]
    middle = ["testcase"] * (len(order) - 3)
    assert order == ["properties", *middle, "system-out", "system-err"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp"))
    assert int(suite.get("tests")) == len(middle) > 0
    for count, kind in (("failures", "failure"), ("skipped", "skipped")):
        assert int(suite.get(count)) == len(suite.findall(f"testcase/{kind}"))
    report = SAMPLES[name]
    judged = [*getattr(report, "policy", ()), *getattr(report, "claims", ())]
    judged += filter(None, [getattr(report, "claim", None)])
    failing = sum(one.status in _FAILS for one in judged)
    assert int(suite.get("failures")) == failing


@every_report
@pytest.mark.parametrize("width", [1, 40, 100])
def test_no_place_is_left_open_and_lines_fit(name, width):
    text = report_text(SAMPLES[name], width=width)
    assert not re.search(r"\{\w|None|\[\]|\(\)", text)
    lines = text.splitlines()
    assert all(line == line.rstrip() for line in lines)
    assert width < 100 or max(map(len, lines)) <= width
    assert "…" not in text


@every_report
def test_every_footnote_is_said_and_every_one_said_is_meant(name):
    blocks = [block for section in walk_of(SAMPLES[name]).sections() for block in section]
    cells = [cell for grid in blocks if isinstance(grid, Grid) for row in grid.rows for cell in row]
    meant = {one for cell in cells for one in re.findall(r"\[\d+\]$", cell)}
    pairs = [pair for block in blocks if isinstance(block, Pairs) for pair in block.pairs]
    assert {term for term, _ in pairs if re.fullmatch(r"\[\d+\]", term)} == meant


@every_report
def test_a_screenful_holds_no_figure_that_the_whole_does_not(name):
    brief, whole = forms(name)["screen"], forms(name)["text"]
    assert len(brief.splitlines()) <= 24 or SAMPLES[name].command == "simulate --list"
    figures = set(re.findall(r"\b\d+\.\d{4}\b", brief))
    assert figures <= set(re.findall(r"\b\d+\.\d{4}\b", whole))


@every_report
def test_the_answer_and_what_a_table_is_about_are_in_every_form(name):
    answer = " ".join(forms(name)["screen"].split("\n\n")[0].split())
    for form, text in forms(name).items():
        said = re.sub(r"<[^>]*>|\\(?=\W)", "", html.unescape(text))
        assert answer in " ".join(said.split()), form
    blocks = [block for section in walk_of(SAMPLES[name]).sections("text") for block in section]
    captions = [block.caption for block in blocks if isinstance(block, Grid)]
    for form in ("text", "markdown"):
        said = " ".join(forms(name)[form].replace("\\", "").split())
        assert [one for one in captions if one.rstrip(".") not in said] == [], form


@every_report
def test_names_from_the_data_do_nothing_in_any_form(name):
    data = (REPORTS / f"{name}.json").read_text(encoding="utf-8")
    hostile = r'\1"\\u001b[2J\\u202e<script>x\\n[a](b)`seed`"'
    report = from_json(re.sub(r'("(?:score|column)": )"[^"]*"', hostile, data).encode())
    for form, text in {**forms_of(report), "notebook": report_html(report)}.items():
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", text), form
        assert "x\n[a]" not in text
        if form in {"html", "notebook"}:  # a page holds the report itself, as JSON
            assert text.count("<script") == (form == "html")
        if form == "markdown":
            assert not re.search(r"(?<!\\)(<script|\]\()", text)


def test_nothing_in_a_report_is_markup_or_run_by_a_spreadsheet(hostile):
    page, marked = report_as(hostile, "html"), report_as(hostile, "markdown")
    assert page.count("<script") == 1  # the report itself, as JSON
    assert "<b>" not in page
    assert "\x1b" not in page + marked
    assert re.search(r"(?<!\\)<", marked) is None
    fromstring(report_as(hostile, "junit").encode())  # noqa: S314 - whether it parses is the question
    first = replace(hostile.estimates[0], score="=cmd()", method="@x")
    (row,) = csv.DictReader(io.StringIO(report_csv(replace(hostile, estimates=(first,)))))
    assert (row["score"], row["method"]) == ("'=cmd()", "'@x")
    assert not row["value"].startswith("'")


def test_pictures_are_said_in_words_and_are_the_same_again():
    report = SAMPLES["rejudged"]
    pictures = [*walk_of(report).pictures()]
    assert len(pictures) == Page(forms("rejudged")["html"]).seen["figure"] == 4
    assert [*walk_of(report).pictures()] == pictures
    for picture in pictures:
        assert picture.alt
        assert (picture.svg[:4], picture.svg[-6:]) == ("<svg", "</svg>")
    assert f"The limit is {report.policy[0].limit:g}." in pictures[0].alt


def test_a_caption_that_repeats_the_line_above_is_only_heard():
    rng = np.random.default_rng(2)
    member = np.arange(400) < 200
    columns = {name: rng.normal(size=400) + member for name in ("a", "b")}
    page = report_as(mipaudit.compare(pd.DataFrame({"member": member, **columns})), "html")
    above = {text.rstrip(".") for text in re.findall(r"<(?:h2|p)[^>]*>([^<]*)</", page)}
    seen = re.findall(r"<caption>([^<]*)</caption>", page)
    assert seen
    assert [caption for caption in seen if caption.rstrip(".") in above] == []
    assert page.count('<caption class="heard">Two scores seen together') == 1


LIMITS = [
    {"quantity": "advantage", "max": 0.3},
    {"quantity": "advantage", "max": 0.95, "prior": 0.1},
]
AXES = [
    ({"limits": LIMITS}, "The limit is 0.3.", "The limit is 0.95."),
    ({"prior": 0.01}, "on an axis from 0.98 to 0.99", "on an axis from 0 "),
]


@pytest.mark.parametrize(("given", "said", "unsaid"), AXES)
def test_an_axis_has_the_limit_and_the_blind_guessing_of_its_prior(given, said, unsaid):
    rng = np.random.default_rng(1)
    scores = {"members": rng.normal(1, 1, 400), "holdout": rng.normal(0, 1, 400)}
    page = Page(report_as(mipaudit.estimate(**scores, **given), "html"))
    alts = " ".join(value for name, value in page.attributes if name == "aria-label")
    assert said in alts
    assert unsaid not in alts


@pytest.fixture(scope="module")
def audited(data_dir):
    path = data_dir / "lira_digits_target0.parquet"
    return mipaudit.estimate(path, prior=0.25, score_col="lira_online")


def with_declared(report, **said):
    declared = Declaration(**said)
    return replace(report, provenance=replace(report.provenance, declared=declared))


def people_of(report, subjects):
    return people(with_declared(report, subjects=subjects))


def test_everything_that_can_be_declared_is_an_option():
    stated = {field.name for field in fields(Declaration)}
    assert {one.recorded_name for one in declared(Declared)} == stated


@pytest.mark.parametrize("subjects", [1, 7, 12_345, 10**10])
def test_the_people_are_their_number_times_the_accuracy_beyond_guessing(audited, subjects):
    eta = next(one for one in audited.estimates if one.quantity == "eta")
    rows = [one for one in audited.estimates if one.quantity == "advantage" and one.upper]
    any_attacker, *classes = people_of(audited, subjects)
    assert 0 <= subjects * Fraction(eta.lower) - any_attacker.lower < 1.001
    assert any_attacker.upper is None
    assert len(classes) == len(rows) > 0
    for line, row in zip(classes, rows, strict=True):
        # Accuracy is (1 + advantage) / 2, and blind guessing has 3/4 at a prior of 1/4.
        exact = subjects * ((1 + Fraction(row.upper)) / 2 - Fraction(3, 4))
        assert 0 <= line.upper - exact < 1


def test_nobody_is_found_out_by_less_than_blind_guessing_or_without_people(audited):
    any_attacker = [one for one in audited.estimates if one.attackers == "any"]
    rows = tuple(replace(one, lower=0.1, value=0.4) for one in any_attacker)
    (found,) = people_of(replace(audited, estimates=rows), 1_000)
    assert (found.lower, found.value, found.upper) == (0, 0, None)
    assert people_of(audited, None) == ()
    assert people_of(audited, -5) == ()  # of a report that was written by hand
    assert people_of(replace(audited, estimates=()), 1_000) == ()


def test_what_is_declared_is_inert_in_every_form_and_else_not_spoken_of(audited):
    told = dict.fromkeys(("release", "data", "sensitivity", "controller", "author"), HOSTILE)
    found = with_declared(audited, title=HOSTILE, **told, subjects=1_000, seen_by="public")
    shown = {form: report_as(found, form) for form in ("html", "markdown", "junit")}
    assert shown["html"].count("<script") == 1  # the report itself, as JSON
    assert not {"\x1b", "\u202e"} & {*"".join(shown.values())}
    assert not re.search(r"(?<!\\)(<script|\]\()", shown["markdown"])
    for part in ("What was declared", "nobody checked it", "1,000 declared"):
        assert part in shown["html"]
    assert "declared" not in report_as(audited, "markdown")
