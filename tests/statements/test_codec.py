"""A report to JSON and back.

The JSON Schema of the reports.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace

import jsonschema
import pytest

import mipaudit
from mipaudit.errors import InputError
from mipaudit.report.codec import from_json, to_json
from mipaudit.statements.kinds import KINDS
from tests.places import REPORTS

SAMPLES = REPORTS


def test_stored_reports_stay_readable_and_lose_nothing(sample_bytes):
    assert to_json(from_json(sample_bytes)) == sample_bytes


def test_a_report_of_another_format_names_the_command_that_makes_it_again(mipaudit, tmp_path):
    now = (SAMPLES / "rejudged.json").read_bytes()
    (tmp_path / "old.json").write_bytes(now.replace(b"mipaudit.report/3", b"mipaudit.report/2"))

    for words in (["render"], ["verify"], ["history"], ["compare", "a=old.json"]):
        done = mipaudit(*words, "old.json")
        assert done.returncode == 2
        assert "of the format mipaudit.report/2; this version of mipaudit reads" in done.stderr
        assert "Make it again with `mipaudit estimate`, or" in done.stderr


def test_there_is_a_sample_of_every_kind():
    """A new kind of report brings its sample: -f json, of a short run."""
    found = {json.loads(path.read_bytes())["schema"] for path in SAMPLES.glob("*.json")}

    assert found == {kind.schema for kind in KINDS}


def test_schema_comes_first_and_provenance_last(report):
    keys = list(json.loads(to_json(report)))

    assert keys[0] == "schema"
    assert keys[-1] == "provenance"
    assert keys[1:8] == [
        "answer",
        "command",
        "design",
        "estimates",
        "claims",
        "policy",
        "verdict",
    ]


def test_only_the_provenance_differs_between_equal_runs(report):
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


def test_fields_of_later_versions_are_ignored(report):
    fields = json.loads(to_json(report))
    fields["new_field"] = {"anything": 1}
    fields["design"]["also_new"] = [1, 2]

    assert from_json(json.dumps(fields).encode()) == report


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda f: f["estimates"][0].pop("quantity"), "$.estimates[0]"),
        (lambda f: f["estimates"][0].update(value="0.5"), "$.estimates[0].value"),
        (lambda f: f["verdict"].update(status="splendid"), "$.verdict.status"),
        (lambda f: f.pop("provenance"), "does not follow"),
    ],
)
def test_a_malformed_report_is_refused_with_its_place(report, change, place):
    fields = json.loads(to_json(report))
    change(fields)

    with pytest.raises(InputError) as caught:
        from_json(json.dumps(fields).encode())

    assert caught.value.code == "bad_report"
    assert place in caught.value.message
    assert "splendid" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "bad_report"),
        (b"\xff\xfe", "bad_report"),
        (b"[]", "report_schema"),
        (b"{}", "report_schema"),
        (b'{"schema": 1}', "report_schema"),
        (b'{"schema": ["mipaudit.report/3"]}', "report_schema"),
        (b'{"schema": "mipaudit.other/1"}', "report_schema"),
        (b"[" * 100_000, "bad_report"),
        (b'{"schema": "mipaudit.report/4"}', "report_schema"),
        (b'{"schema": "mipaudit.report/2"}', "report_schema"),
        (b'{"schema": "mipaudit.check/3"}', "bad_report"),
    ],
)
def test_what_is_not_a_report_is_refused(data, code):
    with pytest.raises(InputError) as caught:
        from_json(data)

    assert caught.value.code == code


def test_a_command_of_another_kind_is_refused(report):
    """What a report is shown as goes by its command, so that must be its schema's."""
    fields = {**json.loads(to_json(report)), "command": "bounds"}

    with pytest.raises(InputError, match=r"\$\.command"):
        from_json(json.dumps(fields).encode())


@pytest.fixture(scope="module")
def validator():
    schema = mipaudit.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_golden_reports_follow_the_schema(sample_bytes, validator):
    assert list(validator.iter_errors(json.loads(sample_bytes))) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.update(schema="mipaudit.report/2"),
        lambda f: f.pop("schema"),
        lambda f: f.pop("verdict"),
        lambda f: f["verdict"].update(status="fine"),
        lambda f: f["estimates"][0].update(attackers="some"),
        lambda f: f["design"].update(n_members="many"),
    ],
)
def test_other_documents_do_not(report, validator, change):
    fields = json.loads(to_json(report))
    change(fields)

    assert list(validator.iter_errors(fields)) != []


def test_added_fields_are_allowed(report, validator):
    fields = {**json.loads(to_json(report)), "added_later": 1}

    assert list(validator.iter_errors(fields)) == []


@pytest.mark.parametrize("name", ["one_score", "bounds"])
def test_a_name_that_stands_twice_is_refused_wherever_it_stands(name):
    """The last one counts here, and the first for another reader: a verdict could be both."""
    data = (SAMPLES / f"{name}.json").read_bytes()
    for twice in (b'{"schema": "x", ', b'{"verdict": {"status": "met"}, "verdict": 1, '):
        with pytest.raises(InputError, match="two members of one name"):
            from_json(data.replace(b"{", twice, 1))
    deep = data.replace(b'"provenance": {', b'"provenance": {"mipaudit": "9", ', 1)
    with pytest.raises(InputError, match="two members of one name"):
        from_json(deep)
