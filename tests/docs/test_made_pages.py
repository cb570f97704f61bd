"""Pages that programs write are what they write, and whole."""

from __future__ import annotations

import inspect
import json
import re
import sys

import pytest

import mipaudit
from mipaudit.cli.program import COMMANDS
from mipaudit.options.public import options_of
from mipaudit.report.forms import report_as
from mipaudit.validation.estimands.methods import ESTIMANDS, default_estimands
from tests.docs import commands_page, python_page, validation_page
from tests.docs.quoted_output import run
from tests.places import ROOT, load_script

sys.path.insert(0, str(ROOT / "benchmarks"))
performance = load_script(ROOT / "benchmarks" / "performance_page.py")
REFERENCE = ROOT / "docs" / "reference"
VALIDATION = validation_page.PAGE.read_text(encoding="utf-8")


def test_the_page_on_python_is_what_the_program_says():
    assert python_page.PAGE.read_text("utf-8") == python_page.python_page(), (
        "Run: python tests/docs/python_page.py"
    )


def test_each_command_has_a_page_and_the_pages_are_what_the_program_says():
    made = commands_page.commands_pages()

    assert made.keys() == {commands_page.PAGE, *commands_page.FOLDER.iterdir()}
    for page, text in made.items():
        assert page.read_text("utf-8") == text, "Run: python tests/docs/commands_page.py"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_of_a_command_has_all_of_its_help_and_an_anchor_for_each_option(command):
    page = commands_page.page_of(command).read_text("utf-8")
    shown = run(f"mipaudit {command} --help").stdout
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`\\]", r"\1", page)
    options = re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", shown, flags=re.MULTILINE)

    # Help is wrapped at hyphens too, and has colons after its headings.
    assert set(re.split(r"[\s:`-]+", shown)) - set(re.split(r"[\s:-]+", plain)) <= {"Usage"}
    assert options
    assert [one for one in options if page.count(f"\n### {one}\n") != 1] == []
    assert ("\n## Examples\n" in page) == ("Examples:" in shown)
    assert page.count("```") % 2 == 0


def test_every_public_name_and_every_keyword_has_words():
    text = python_page.PAGE.read_text("utf-8")
    for name in (one for one in mipaudit.__all__ if one[0] != "_"):
        one = getattr(mipaudit, name)
        assert f"`{name}`:" in text if inspect.isclass(one) else f"\n### mipaudit.{name}\n" in text
        for option in options_of(one) if hasattr(one, "options") else ():
            section = text.split(f"\n### mipaudit.{name}\n")[1].split("\n### ")[0]
            assert f"\n- `{option.name}`: " in section, (name, option.name)
    assert text.count("```") % 2 == 0
    assert "``" not in text.replace("```", "")
    assert not [line for line in text.splitlines() if line.rstrip().endswith("`:")]


def test_the_page_on_performance_follows_from_the_results(tmp_path):
    stored = REFERENCE / "performance.json"
    (tmp_path / stored.name).write_bytes(stored.read_bytes())
    performance.write(tmp_path)

    assert (tmp_path / "performance.md").read_text("utf-8") == (
        REFERENCE / "performance.md"
    ).read_text("utf-8")
    assert (tmp_path / "performance-growth.svg").stat().st_size > 1000
    for title, rows in json.loads(stored.read_text())["tables"].items():
        if any(not performance._row(row).kept for row in rows):
            assert performance._WHY[title].endswith(".")


def test_a_missed_budget_is_named(tmp_path):
    cost = {"cpu": 3.0, "wall": 2.0, "peak": 1 << 20, "runs": [[3.0, 2.0], [3.5, 2.0], [2.6, 2.2]]}
    peer = {"cpu": 1.0, "wall": 3.0, "peak": 1 << 20, "runs": [[1.0, 3.0], [1.0, 3.0], [1.0, 2.2]]}
    row = {"what": "ours", "peer": "theirs", "cost": cost, "beside": peer}
    budgets = ((2.9, "cpu", False), (1.5, "wall", True), (None, "peak", False))
    rows = [{**row, "budget": one, "of": of, "at_least": least} for one, of, least in budgets]
    found = {
        "quick": True,
        "load": [0.1, 0.2, 0.3],
        "day": "2026-01-02",
        "machine": "m",
        "stages": [{"what": "10 rows", "seconds": {"reading": 3.0, "counting": 1.0}}],
        "versions": {},
        "tables": {"Large CSV": rows},
        "growth": [],
    }
    (tmp_path / "performance.json").write_text(json.dumps(found), encoding="utf-8")
    performance.write(tmp_path)

    text = (tmp_path / "performance.md").read_text(encoding="utf-8")
    for said in (
        *("**1 of 2 budgets are met.**", "- ours, beside theirs: 3.00, at most 2.9 wanted."),
        *("at least 1.5", "| 2.60-3.50 |", "| 1.00-1.50 |", "| reading | 3.00 | 75% |", "--quick"),
    ):
        assert said in text
    assert re.search("comes? on top", text)


def test_the_page_on_coverage_holds_a_run_that_passed_with_seed_and_versions():
    table = VALIDATION.split("<!-- table of: mipaudit validate -->")[1]

    assert "**HOLDS: " in table
    assert re.search(r"Form: (quick|full), default methods, seed \d+\.", table)
    assert re.search(r"With mipaudit \d\S*, Python \d\S*, numpy \d\S*, scipy \d", table)
    found = set(re.findall(r"^#### ([a-z_]+)", table, flags=re.MULTILINE))
    # Those of `attack`, `attribute` and `shift` have a table of their own.
    rows = re.findall(r"^\| ([a-z_]+).* \| (?:lower|upper) \| 0", VALIDATION, re.MULTILINE)
    later = {name for name in default_estimands() if ESTIMANDS[name].dear or "blind" in name}
    assert later <= set(rows)
    assert set(default_estimands()) - later - {"tpr_at_fpr"} <= found
    assert "#### tpr@0.01, lower" in table


def test_the_page_on_coverage_begins_with_what_its_table_says():
    table = VALIDATION.split("<!-- table of: mipaudit validate -->")[1]
    top = VALIDATION.split("<!-- in short -->\n")[1].split("<!-- end of it -->")[0]

    assert top == validation_page.in_short(table)
    assert "4,653 limits" in top


def test_a_new_table_takes_the_place_of_the_old():
    small = mipaudit.validate(
        scenario=["constant"], sizes=[20], priors=[0.5], replications=3, jobs=1
    )
    made = validation_page.nested(report_as(small, "markdown"))
    renewed = validation_page.with_table(VALIDATION, made)

    head = VALIDATION.split("<!-- end of it -->")[1].split("<!-- table of")[0]
    assert head in renewed
    assert made in renewed
    assert validation_page.in_short(made) in renewed.split(head)[0]
    assert "100,000" not in renewed.split(head)[1]
    assert validation_page.with_table(renewed, made) == renewed
    with pytest.raises(ValueError, match="no place"):
        validation_page.with_table("# A page\n", made)
