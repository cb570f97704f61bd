"""A report to JSON and back, alone and in its page; the JSON Schema of the reports."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import jsonschema
import pytest

import mipaudit
from mipaudit.errors import InputError
from mipaudit.report.codec import carried, from_json, is_page, taken_out, to_json
from mipaudit.report.forms import report_as
from mipaudit.statements.kinds import KINDS
from mipaudit.statements.provenance import Declaration
from tests.places import REPORTS

HOSTILE = '</script><script>alert("x")</script><!--<script \\u003c \\\u202e &amp; ]]>'


@pytest.fixture(scope="module")
def validator():
    schema = mipaudit.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_stored_reports_lose_nothing_and_follow_the_schema(sample_bytes, validator):
    assert to_json(from_json(sample_bytes)) == sample_bytes
    assert list(validator.iter_errors(json.loads(sample_bytes))) == []


def test_a_report_of_another_format_names_the_command_that_makes_it_again(mipaudit, tmp_path):
    now = (REPORTS / "rejudged.json").read_bytes()
    (tmp_path / "old.json").write_bytes(now.replace(b"mipaudit.report/3", b"mipaudit.report/2"))
    for words in (["render"], ["verify"], ["history"], ["compare", "a=old.json"]):
        done = mipaudit(*words, "old.json")
        assert done.returncode == 2
        assert "has format mipaudit.report/2; this version of mipaudit reads" in done.stderr
        assert "Make it again with `mipaudit estimate`, or" in done.stderr


def test_there_is_a_sample_of_every_kind():
    """A new kind of report brings its sample: -f json, of a short run."""
    found = {json.loads(path.read_bytes())["schema"] for path in REPORTS.glob("*.json")}
    assert found == {kind.schema for kind in KINDS}


def test_schema_comes_first_and_the_provenance_which_alone_differs_last(report):
    keys = list(json.loads(to_json(report)))
    first = "schema answer command design estimates claims policy verdict"
    assert (" ".join(keys[:8]), keys[-1]) == (first, "provenance")
    later = replace(report, provenance=replace(report.provenance, created="2030-01-01T00:00:00Z"))
    one, two = to_json(report), to_json(later)
    assert one != two
    assert one.split(b'"provenance"')[0] == two.split(b'"provenance"')[0]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_no_report_holds_a_number_that_json_lacks(report, bad):
    broken = replace(report, estimates=(replace(report.estimates[0], value=bad),))
    with pytest.raises(ValueError, match="JSON compliant"):
        to_json(broken)


def test_a_hostile_name_is_escaped(report):
    design = replace(report.design, score_columns=("\x1b[2J\u202eloss",))
    data = to_json(replace(report, design=design))
    assert data.isascii()
    assert b"\x1b" not in data
    assert from_json(data).design.score_columns == ("\x1b[2J\u202eloss",)


def test_fields_of_later_versions_are_ignored(report, validator):
    fields = json.loads(to_json(report))
    fields["new_field"] = {"anything": 1}
    fields["design"]["also_new"] = [1, 2]
    assert from_json(json.dumps(fields).encode()) == report
    assert list(validator.iter_errors({**json.loads(to_json(report)), "added_later": 1})) == []


# What a report is shown as goes by its command, so that must be its schema's.
MALFORMED = [
    (lambda f: f["estimates"][0].pop("quantity"), "$.estimates[0]"),
    (lambda f: f["estimates"][0].update(value="0.5"), "$.estimates[0].value"),
    (lambda f: f["verdict"].update(status="splendid"), "$.verdict.status"),
    (lambda f: f.pop("provenance"), "does not follow"),
    (lambda f: f.update(command="bounds"), "$.command"),
]


@pytest.mark.parametrize(("change", "place"), MALFORMED)
def test_a_malformed_report_is_refused_with_its_place(report, change, place):
    fields = json.loads(to_json(report))
    change(fields)
    with pytest.raises(InputError) as caught:
        from_json(json.dumps(fields).encode())
    assert caught.value.code == "bad_report"
    assert place in caught.value.message
    assert "splendid" not in str(caught.value)


BAD = [b"", b"\xff\xfe", b"[" * 100_000, b'{"schema": "mipaudit.check/3"}']
OTHER_SCHEMA = [b"[]", b"{}", b'{"schema": 1}', b'{"schema": ["mipaudit.report/3"]}']
OTHER_SCHEMA += [
    b'{"schema": "mipaudit.%s"}' % one for one in (b"other/1", b"report/4", b"report/2")
]


@pytest.mark.parametrize("data", [*BAD, *OTHER_SCHEMA])
def test_what_is_not_a_report_is_refused(data):
    code = "bad_report" if data in BAD else "report_schema"
    with pytest.raises(InputError, check=lambda error: error.code == code):
        from_json(data)


OTHERS = [
    lambda f: f.update(schema="mipaudit.report/2"),
    lambda f: f.pop("schema"),
    lambda f: f.pop("verdict"),
    lambda f: f["verdict"].update(status="fine"),
    lambda f: f["estimates"][0].update(attackers="some"),
    lambda f: f["design"].update(n_members="many"),
]


@pytest.mark.parametrize("change", OTHERS)
def test_other_documents_do_not_follow_the_schema(report, validator, change):
    fields = json.loads(to_json(report))
    change(fields)
    assert list(validator.iter_errors(fields)) != []


TWICE = {b"{": (b'{"schema": "x", ', b'{"verdict": {"status": "met"}, "verdict": 1, ')}
TWICE[b'"provenance": {'] = (b'"provenance": {"mipaudit": "9", ',)


@pytest.mark.parametrize("name", ["one_score", "bounds"])
def test_a_name_that_stands_twice_is_refused_wherever_it_stands(name):
    """The last one counts here, and the first for another reader: a verdict could be both."""
    data = (REPORTS / f"{name}.json").read_bytes()
    for place, twice in TWICE.items():
        for one in twice:
            with pytest.raises(InputError, match="the same key twice"):
                from_json(data.replace(place, one, 1))


def test_a_page_is_read_as_its_report_is_whatever_its_texts_are():
    report = mipaudit.bounds(epsilon=1.0)
    declared = Declaration(title=HOSTILE, release=HOSTILE, author=HOSTILE)
    report = replace(report, provenance=replace(report.provenance, declared=declared))
    page, element = report_as(report, "html"), carried(to_json(report))
    # No text ends the element, and every text comes back.
    assert element.count("<") == 2
    assert json.loads(taken_out(element.encode())) == json.loads(to_json(report))
    assert from_json(page.encode()) == from_json(to_json(report))
    assert len(re.findall(r"<script", page)) == 1
    assert "\u202e" not in page


@pytest.mark.parametrize("times", [0, 2])
def test_a_page_without_one_report_is_refused(times):
    page = "<!DOCTYPE html>" + times * carried(b"{}")
    with pytest.raises(InputError, match="holds no report, or several"):
        from_json(page.encode())


def test_json_is_no_page_and_a_page_with_a_mark_is_one():
    assert not is_page(b'{"a": "<p>"}')
    assert is_page(b"\xef\xbb\xbf\n<!DOCTYPE html>")
