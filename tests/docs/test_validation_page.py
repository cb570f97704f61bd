"""The page on coverage: a hand-written head, and a table that the command made."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import mipaudit
from mipaudit.report.forms import report_as
from mipaudit.validation.estimands.methods import ESTIMANDS, default_estimands

HERE = Path(__file__).parent


def load_validation_page():
    spec = importlib.util.spec_from_file_location("validation_page", HERE / "validation_page.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


validation_page = load_validation_page()
PAGE = validation_page.PAGE.read_text(encoding="utf-8")


def test_the_page_holds_a_run_that_passed_with_seed_and_versions():
    table = PAGE.split("<!-- table of: mipaudit validate -->")[1]
    assert "**HOLDS: " in table
    assert re.search(r"Form: (quick|full), default methods, seed \d+\.", table)
    assert re.search(r"With mipaudit \d\S*, Python \d\S*, numpy \d\S*, scipy \d", table)
    found = set(re.findall(r"^#### ([a-z_]+)", table, flags=re.MULTILINE))
    # Those of `attack`, `attribute` and `shift` have a table of their own.
    rows = re.findall(r"^\| ([a-z_]+).* \| (?:lower|upper) \| 0", PAGE, re.MULTILINE)
    later = {name for name in default_estimands() if ESTIMANDS[name].dear or "blind" in name}
    assert later <= set(rows)
    assert set(default_estimands()) - later - {"tpr_at_fpr"} <= found
    assert "#### tpr@0.01, lower" in table


def test_a_new_table_takes_the_place_of_the_old():
    small = mipaudit.validate(
        scenario=["constant"], sizes=[20], priors=[0.5], replications=3, jobs=1
    )
    made = validation_page.nested(report_as(small, "markdown"))
    renewed = validation_page.with_table(PAGE, made)
    head = PAGE.split("<!-- table of")[0]
    assert renewed.startswith(head)
    assert made in renewed
    assert "100,000" not in renewed.removeprefix(head)
    assert validation_page.with_table(renewed, made) == renewed
    with pytest.raises(ValueError, match="no place"):
        validation_page.with_table("# A page\n", made)
