"""The tutorial, done from top to bottom as a reader would."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "first-audit.md"
_BLOCK = re.compile(r"^```(python|console|toml)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_tutorial_works_from_top_to_bottom(run_line, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    shown = []

    def said(line):
        done = run_line(line, work)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        return done.stdout

    for kind, text in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            with (work / "train.py").open("a", encoding="utf-8") as script:
                script.write(text)
        elif kind == "toml":
            (work / "mipaudit.toml").write_text(text, encoding="utf-8")
        else:
            shown += [(line, said(line)) for line in text.splitlines()]

    # The limit stands before the first figure is seen.
    ((_, verdict),) = [one for one in shown if one[0] == "mipaudit estimate scores.csv"]
    assert verdict.startswith("MET: ")
    assert "attackers with one threshold" in " ".join(verdict.split())
    report = json.loads((work / "report.json").read_text(encoding="utf-8"))
    assert report["estimates"][0]["lower"] > 0  # as the page says
    page = (work / "report.html").read_text(encoding="utf-8")
    assert '<div class="verdict good">' in page
    assert '<p class="answer">MET' in page
    assert (work / "risks.csv").read_text(encoding="utf-8").count("\n") == 1798
