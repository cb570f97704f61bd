"""Where things are, for tests at any depth."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
# One report of every kind, as earlier versions wrote them.
REPORTS = TESTS / "reports"
