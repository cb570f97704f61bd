"""The page on performance is what its program makes of the stored results."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield importlib.import_module("performance_page")
    for name in set(sys.modules) - before:
        if (
            getattr(sys.modules[name], "__file__", None)
            and Path(sys.modules[name].__file__).parent == BENCHMARKS
        ):
            del sys.modules[name]


def test_the_page_follows_from_the_results(page, tmp_path):
    stored = ROOT / "docs" / "reference" / "performance.json"
    (tmp_path / stored.name).write_bytes(stored.read_bytes())
    page.write(tmp_path)
    written = (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert written == (ROOT / "docs" / "reference" / "performance.md").read_text(encoding="utf-8")
    assert (tmp_path / "performance-growth.svg").stat().st_size > 1000


def test_a_missed_budget_is_named(page, tmp_path):
    cost = {"cpu": 3.0, "wall": 2.0, "peak": 1 << 20, "runs": [[3.0, 2.0], [3.5, 2.0], [2.6, 2.2]]}
    peer = {"cpu": 1.0, "wall": 3.0, "peak": 1 << 20, "runs": [[1.0, 3.0], [1.0, 3.0], [1.0, 2.2]]}
    row = {"what": "ours", "peer": "theirs", "cost": cost, "beside": peer}
    rows = [
        {**row, "budget": 2.9, "of": "cpu", "at_least": False},
        {**row, "budget": 1.5, "of": "wall", "at_least": True},
        {**row, "budget": None, "of": "peak", "at_least": False},
    ]
    found = {
        "quick": True,
        "load": [0.1, 0.2, 0.3],
        "stages": [{"what": "10 rows", "seconds": {"reading": 3.0, "counting": 1.0}}],
        "day": "2026-01-02",
        "machine": "m",
        "versions": {},
        "tables": {"Large CSV": rows},
        "growth": [],
    }
    (tmp_path / "performance.json").write_text(json.dumps(found), encoding="utf-8")
    page.write(tmp_path)
    text = (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert "**1 of 2 budgets are met.**" in text
    assert "- ours, beside theirs: 3.00, at most 2.9 wanted." in text
    assert "at least 1.5" in text
    assert "| 2.60-3.50 |" in text
    assert "| 1.00-1.50 |" in text
    assert "comes on top" in text or "come on top" in text
    assert "| reading | 3.00 | 75% |" in text
    assert "--quick" in text


def test_every_table_that_misses_a_budget_says_why(page):
    found = json.loads((ROOT / "docs" / "reference" / "performance.json").read_text())
    for title, rows in found["tables"].items():
        if any(not page._row(row).kept for row in rows):
            assert page._WHY[title].endswith(".")
