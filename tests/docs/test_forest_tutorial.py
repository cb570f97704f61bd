"""The tutorial in Python, run from top to bottom as it stands."""

from __future__ import annotations

import re

from tests.places import ROOT

PAGE = (ROOT / "docs" / "tutorials" / "your-own-forest.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def test_the_code_runs_and_says_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    names = {}
    quoted = 0
    said = ""
    for kind, text in _BLOCK.findall(PAGE):
        if kind == "python":
            exec(compile(text, "page", "exec"), names)  # noqa: S102 - our own page
            said = " ".join(capsys.readouterr().out.split())
            continue
        for line in text.splitlines():
            assert " ".join(line.split()) in said, line
            quoted += 1

    assert quoted >= 5
    first, calm, stronger = (names[one].estimates[0].lower for one in ("report", "again", "lira"))
    assert (int(100 * first) / 100, int(100 * stronger) / 100) == (0.36, 0.20)
    assert stronger > calm + 0.1
    assert PAGE.count("max_advantage=0.3)") == 3
    statuses = [names[name].verdict.status for name in ("report", "again", "lira")]
    assert statuses == ["not_met", "met", "inconclusive"]
    assert (tmp_path / "lira.html").stat().st_size > 10_000
    assert (tmp_path / "lira.json").exists()
    assert all(found > 0 for found in names["found"]["test_advantage"])
