"""The JSON Schema of the reports."""

from __future__ import annotations

import json

import jsonschema
import pytest

import mipaudit
from mipaudit.statements.reports.codec import to_json


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
