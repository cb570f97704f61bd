"""Every report in every form: whole, valid, and nothing in it is markup."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from xml.etree.ElementTree import fromstring

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import as_typed
from mipaudit.report.codec import report_csv, to_json
from mipaudit.report.forms import report_as
from mipaudit.report.walk import walk_of

HOSTILE = '<script>alert("x")</script> | *b* [l](u) \x1b[2J'
_LARGEST_PAGE = 300_000
_VOID = {"meta"}


def scores(rng):
    return {"members": rng.normal(1, 1, 400), "holdout": rng.normal(0, 1, 400)}


@pytest.fixture(scope="module")
def reports():
    rng = np.random.default_rng(1)
    given = scores(rng)
    return {
        "estimate": mipaudit.estimate(
            **given, max_advantage=0.2, claimed_epsilon=0.3, adjacency="substitution"
        ),
        "check": mipaudit.check(**given),
        "epsilon": mipaudit.epsilon(**given, design="independent-runs", claimed_epsilon=0.5),
        "bounds": mipaudit.bounds(epsilon=1.0),
        "noise": mipaudit.noise(eta=0.1, k=2),
        "simulate": mipaudit.simulate("laplace-1", n_members=5, n_holdout=5).truth,
        "validate": mipaudit.validate(
            scenario=["null-gaussian"], sizes=[20], priors=[0.5], replications=5, jobs=1
        ),
    }


COMMANDS = ("estimate", "check", "epsilon", "bounds", "noise", "simulate", "validate")


class Page(HTMLParser):
    """Collects tags and text, and checks that what is opened is closed in order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.outside, self.texts, self.attributes = [], {}, [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.attributes += attrs
        self.outside += [v for n, v in attrs if n in {"src", "href"} and not v.startswith("#")]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def page_of(report):
    page = Page()
    page.feed(report_as(report, "html"))
    assert page.open == []
    return page


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_is_whole_and_loads_nothing(reports, command):
    text = report_as(reports[command], "html")
    page = page_of(reports[command])
    assert page.outside == []
    assert page.seen.keys() & {"link", "iframe", "img", "object"} == set()
    assert len(text.encode()) < _LARGEST_PAGE
    assert page.seen["h1"] == 1
    assert page.seen["table"] == page.seen["caption"] >= page.seen.get("thead", 0)
    assert '<thead><tr><th scope="col"></th></tr></thead>' not in text
    assert [name for name, _ in page.attributes if name.startswith("on")] == []
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_sentence_of_the_report_is_in_the_page_and_in_the_markdown(reports, command):
    report = reports[command]
    fields = json.loads(to_json(report))
    told = (one for name in ("limitations", "findings", "rests_on") for one in fields.get(name, ()))
    reasons = (one["reason"] for one in fields.get("policy", ()))
    sentences = [one["text"] for one in (*told, *reasons)]
    page = page_of(report).text
    marked = report_as(report, "markdown").replace("\\", "")
    for sentence in sentences:
        shown = " ".join(as_typed(sentence).split())
        assert shown in page
        assert shown in " ".join(marked.split())
    assert fields["provenance"]["created"] in page


@pytest.mark.parametrize("command", COMMANDS)
def test_markdown_tables_have_as_many_cells_in_every_line(reports, command):
    text = report_as(reports[command], "markdown")
    tables = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    assert tables
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_csv_has_one_header_and_numbers_in_full(reports, command):
    rows = list(csv.DictReader(io.StringIO(report_csv(reports[command]))))
    assert rows
    assert all(None not in row and None not in row.values() for row in rows)
    if command == "estimate":
        first, estimate = rows[0], reports[command].estimates[0]
        assert float(first["lower"]) == estimate.lower
        assert first["upper"] == ""
        assert len(rows) == len(reports[command].estimates)


# What both Ant's schema and that of Jenkins' xUnit plugin accept: the attributes, and children.
_JUNIT = {
    "testsuites": (set(), {"testsuite"}),
    "testsuite": (
        {
            *("name", "tests", "failures", "errors", "skipped", "timestamp"),
            *("hostname", "time", "package", "id"),
        },
        {"properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": ({"classname", "name", "time"}, {"failure", "skipped"}),
    "failure": ({"type", "message"}, set()),
    "skipped": ({"message"}, set()),
    "properties": (set(), set()),
    "system-out": (set(), set()),
    "system-err": (set(), set()),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_junit_has_what_the_schemas_ask_for_and_no_more(reports, command):
    root = fromstring(report_as(reports[command], "junit").encode())  # noqa: S314 - ours
    for element in root.iter():
        attributes, children = _JUNIT[element.tag]
        assert set(element.attrib) == attributes
        assert {child.tag for child in element} <= children
        assert all(len(case) <= 1 for case in element.iter("testcase"))
    order = [child.tag for child in root[0]]
    middle = ["testcase"] * (len(order) - 3)
    assert order == ["properties", *middle, "system-out", "system-err"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", root[0].get("timestamp"))
    assert int(root[0].get("tests")) == len(middle) > 0
    for name, kind in (("failures", "failure"), ("skipped", "skipped")):
        assert int(root[0].get(name)) == len(root[0].findall(f"testcase/{kind}"))


def test_what_fails_in_junit_is_what_fails_the_policy(reports):
    report = reports["estimate"]
    root = fromstring(report_as(report, "junit").encode())  # noqa: S314 - ours
    failing = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert len(failing) == 2  # the policy, and the claim
    assert report.verdict.status == "not_met"
    epsilon = fromstring(report_as(reports["epsilon"], "junit").encode())  # noqa: S314
    refuted = reports["epsilon"].claim.status == "refuted"
    assert (epsilon.find(".//failure") is not None) == refuted


def test_nothing_in_a_report_is_markup(hostile):
    page = report_as(hostile, "html")
    assert page.count("<script") == 1  # the report itself, as JSON
    assert "<b>" not in page
    assert "\x1b" not in page
    marked = report_as(hostile, "markdown")
    assert re.search(r"(?<!\\)<", marked) is None
    assert "\x1b" not in marked
    fromstring(report_as(hostile, "junit").encode())  # noqa: S314 - whether it parses is the question


def test_cells_that_a_spreadsheet_would_run_are_text(hostile):
    from dataclasses import replace

    first = replace(hostile.estimates[0], score="=cmd()", method="@x")
    (row,) = csv.DictReader(io.StringIO(report_csv(replace(hostile, estimates=(first,)))))
    assert (row["score"], row["method"]) == ("'=cmd()", "'@x")
    assert not row["value"].startswith("'")


def test_pictures_are_said_in_words_and_are_the_same_again(reports):
    report = reports["estimate"]
    pictures = [*walk_of(report).pictures()]
    assert len(pictures) == 4  # limits, claim, ROC, bins
    assert [*walk_of(report).pictures()] == pictures
    for picture in pictures:
        assert picture.alt
        assert picture.svg.startswith("<svg")
        assert picture.svg.endswith("</svg>")
    at_least = f"{report.policy[0].limit:g}"
    assert f"The limit is {at_least}." in pictures[0].alt
    assert page_of(report).seen["figure"] == 4


def test_a_caption_that_repeats_the_line_above_is_only_heard():
    rng = np.random.default_rng(2)
    member = np.arange(400) < 200
    columns = {name: rng.normal(size=400) + member for name in ("a", "b")}
    report = mipaudit.compare(pd.DataFrame({"member": member, **columns}))

    page = report_as(report, "html")

    above = {text.rstrip(".") for text in re.findall(r"<(?:h2|p)[^>]*>([^<]*)</", page)}
    seen = re.findall(r"<caption>([^<]*)</caption>", page)
    assert seen
    assert [caption for caption in seen if caption.rstrip(".") in above] == []
    assert page.count('<caption class="heard">Two scores seen together') == 1


LIMITS = [
    {"quantity": "advantage", "max": 0.3},
    {"quantity": "advantage", "max": 0.95, "prior": 0.1},
]


@pytest.mark.parametrize(
    ("given", "said", "unsaid"),
    [
        ({"limits": LIMITS}, "The limit is 0.3.", "The limit is 0.95."),
        ({"prior": 0.01}, "on an axis from 0.9800 to 1", "on an axis from 0 "),
    ],
)
def test_an_axis_has_the_limit_and_the_blind_guessing_of_its_prior(given, said, unsaid):
    report = mipaudit.estimate(**scores(np.random.default_rng(1)), **given)

    alts = [value for name, value in page_of(report).attributes if name == "aria-label"]

    assert any(said in one for one in alts)
    assert not any(unsaid in one for one in alts)
