"""Sample reports, read from the golden files of the JSON format."""

from __future__ import annotations

from pathlib import Path

import pytest

from mipaudit.report.codec import from_json

SAMPLES = Path(__file__).parents[1] / "report" / "samples"


@pytest.fixture(scope="session")
def sample():
    return lambda name: from_json((SAMPLES / f"{name}.json").read_bytes())


@pytest.fixture
def hostile(sample):
    """A report whose every name and text tries something."""
    text = (SAMPLES / "one_score.json").read_text(encoding="utf-8")
    for name in ("loss", "record_id", "scores.parquet", "label"):
        text = text.replace(f'"{name}"', '"\\u001b[2J\\u202e[red]<script>x&y\\n"')
    return from_json(text.replace("draws", "\\u001b]0;owned\\u0007 <b>draws</b>").encode())
