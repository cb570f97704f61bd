"""The tutorials, done from top to bottom as a reader would."""

from __future__ import annotations

import json
import re

import pytest

from tests.places import ROOT

BLOCK = re.compile(r"^```(python|text|console|toml)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def page_of(name):
    return (ROOT / "docs" / "tutorials" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_first_audit_works(run_line, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    said = {}
    for kind, text in BLOCK.findall(page_of("first-audit")):
        if kind == "python":
            with (work / "train.py").open("a", encoding="utf-8") as script:
                script.write(text)
        elif kind == "toml":
            (work / "mipaudit.toml").write_text(text, encoding="utf-8")
        elif kind == "console":
            for line in text.splitlines():
                done = run_line(line, work)
                assert done.returncode == 0, f"{line}: {done.stderr}"
                said[line] = " ".join(done.stdout.split())

    # The limit stands before the first figure is seen.
    verdict = said["mipaudit estimate scores.csv"]
    assert verdict.startswith("MET: ")
    assert "attackers with one threshold" in verdict
    report = json.loads((work / "report.json").read_text(encoding="utf-8"))
    assert report["estimates"][0]["lower"] > 0  # as the page says
    page = (work / "report.html").read_text(encoding="utf-8")
    assert '<div class="verdict good">' in page
    assert '<p class="answer">MET' in page
    assert (work / "risks.csv").read_text(encoding="utf-8").count("\n") == 1798


def test_your_own_forest_works_and_says_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    page, names, quoted, said = page_of("your-own-forest"), {}, 0, ""
    for kind, text in BLOCK.findall(page):
        if kind == "python":
            exec(compile(text, "page", "exec"), names)  # noqa: S102 - our own page
            said = " ".join(capsys.readouterr().out.split())
        elif kind == "text":
            lines = [" ".join(line.split()) for line in text.splitlines()]
            assert [line for line in lines if line not in said] == []
            quoted += len(lines)

    assert quoted >= 5
    reports = [names[one] for one in ("report", "again", "lira")]
    first, calm, stronger = (one.estimates[0].lower for one in reports)
    assert (int(100 * first) / 100, int(100 * stronger) / 100) == (0.36, 0.20)
    assert stronger > calm + 0.1
    assert page.count("max_advantage=0.3)") == 3
    assert [one.verdict.status for one in reports] == ["not_met", "met", "inconclusive"]
    assert (tmp_path / "lira.html").stat().st_size > 10_000
    assert (tmp_path / "lira.json").exists()
    assert all(found > 0 for found in names["found"]["test_advantage"])
