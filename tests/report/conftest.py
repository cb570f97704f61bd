"""Sample reports, as JSON files that double as golden files of the format."""

from __future__ import annotations

from pathlib import Path

import pytest

from mipaudit.report.codec import from_json

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture(params=sorted(path.stem for path in SAMPLES.glob("*.json")))
def sample_bytes(request):
    return (SAMPLES / f"{request.param}.json").read_bytes()


@pytest.fixture
def report():
    return from_json((SAMPLES / "three_scores.json").read_bytes())
