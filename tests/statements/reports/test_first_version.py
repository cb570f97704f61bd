"""Reports of version 0.1.0: their figures and verdicts are read, and they are not repeated."""

from __future__ import annotations

import json
import shutil

import pytest

import mipaudit
from mipaudit.statements.reports.kinds import KINDS, kind_of_schema
from tests.places import TESTS

OLD = TESTS / "golden" / "0.1.0"
NAMES = sorted(path.stem for path in OLD.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_what_it_says_is_read_and_its_format_stays(name):
    text = (OLD / f"{name}.json").read_bytes()

    report = mipaudit.from_json(text)

    written = json.loads(mipaudit.to_json(report))
    for key, value in json.loads(text).items():
        if isinstance(value, (str, int, float)):
            assert written[key] == value
    assert written["schema"].endswith("/1")


def test_settings_come_as_what_they_are():
    report = mipaudit.from_json((OLD / "estimate-policy.json").read_bytes())

    settings = {one.name: one.value for one in report.provenance.settings}
    assert settings["strict"] is False
    assert settings["where"] is None


def test_its_verdict_is_shown_and_compared(mipaudit, tmp_path):
    old = str(OLD / "estimate-policy.json")
    shutil.copy(old, tmp_path / "new.json")

    shown = mipaudit("render", old)
    compared = mipaudit("compare", old, "new.json")

    assert shown.returncode == 0
    assert shown.stdout.startswith("MET: ")
    assert compared.returncode == 0


def test_it_can_be_judged_by_other_limits(mipaudit):
    done = mipaudit("render", str(OLD / "estimate-policy.json"), "--max-advantage", "0.01")

    assert done.returncode == 3


@pytest.mark.parametrize("name", NAMES)
def test_it_is_not_repeated(mipaudit, name):
    done = mipaudit("verify", str(OLD / f"{name}.json"))

    assert done.returncode == 2
    assert "is of version 0.1.0" in done.stderr
    assert "Verify it with mipaudit 0.1.0" in done.stderr


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.schema)
def test_every_kind_has_one_format_now_and_one_that_is_read(kind):
    name, _, version = kind.schema.rpartition("/")

    assert version == "2"
    assert kind_of_schema(f"{name}/1") is kind_of_schema(f"{name}/2") is kind
    assert kind_of_schema(f"{name}/3") is None
