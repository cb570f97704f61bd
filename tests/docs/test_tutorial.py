"""The tutorial, done from top to bottom as a reader would."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```(python|console|toml)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_tutorial_works_from_top_to_bottom(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, module in (("mipaudit", "-m mipaudit "), ("python", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module}"$@"\n', encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    work = tmp_path / "work"
    work.mkdir()
    shown = []
    for kind, text in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            with (work / "train.py").open("a", encoding="utf-8") as script:
                script.write(text)
        elif kind == "toml":
            (work / "mipaudit.toml").write_text(text, encoding="utf-8")
        else:
            shown += [_run(line, work, path) for line in text.splitlines()]

    assert "'loss'" in next(out for line, out in shown if line == "mipaudit estimate scores.csv")
    verdicts = [out for line, out in shown if line == "mipaudit estimate scores.csv"]
    assert "Verdict" not in verdicts[0]
    assert verdicts[1].startswith("Verdict: MET.")
    page = (work / "report.html").read_text(encoding="utf-8")
    assert "Verdict: MET." in page
    assert (work / "risks.csv").read_text(encoding="utf-8").count("\n") == 1798


def _run(line, folder, path):
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return line, done.stdout
