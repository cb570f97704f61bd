"""The page for contributors, followed word for word in a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.places import ROOT

PAGE = ROOT / "docs" / "how-to" / "contributing.md"
_BLOCK = re.compile(r"```python\n# (?P<place>[^\n]*)\n(?P<code>.*?)```", re.DOTALL)
_ROW = re.compile(r"a row of (?P<table>\w+) in (?P<path>\S+)")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout with what the page adds."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("mipaudit", "tests/fixtures", "tests/servers"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (
        "tests/conftest.py",
        "tests/places.py",
        "tests/allowed_skips.txt",
        "pyproject.toml",
    ):
        shutil.copy(ROOT / name, folder / name)
    for block in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        row = _ROW.fullmatch(block["place"])
        path = folder / (row["path"] if row else block["place"])
        path.parent.mkdir(parents=True, exist_ok=True)
        code = block["code"]
        if row:
            start = f"{row['table']}: Final = (\n"
            before, found, after = path.read_text().partition(start)
            assert found, f"{row['path']} has no {row['table']}"
            code = before + found + code + after
        path.write_text(code)
    (folder / "mipaudit/commands/hello/__init__.py").write_text('"""Greetings."""\n')
    return folder


@pytest.fixture
def run(checkout, environment):
    def in_checkout(*words):
        return subprocess.run(
            [sys.executable, "-m", *words],
            env={**environment, "PYTHONPATH": str(checkout), "COLUMNS": "80"},
            cwd=checkout,
            capture_output=True,
            text=True,
            check=False,
        )

    return in_checkout


SCORES = str(ROOT / "sample_data" / "leaky.parquet")


def test_the_command_greets(run):
    done = run("mipaudit", "hello", SCORES, "--cheers", "3")

    assert done.stdout.startswith("Hello!!! Here are 1,797 records.\n\nWho is here\n")
    assert done.returncode == 0


def test_its_option_is_known_everywhere(run, checkout):
    refused = run("mipaudit", "hello", SCORES, "--cheers", "0")
    (checkout / "mipaudit.toml").write_text("[hello]\ncheers = 2\n")
    filed = run("mipaudit", "hello", SCORES)
    (checkout / "mipaudit.toml").unlink()

    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "Error: --cheers must be at least 1.\n"
    assert filed.stdout.startswith("Hello!! ")
    assert "--cheers" in run("mipaudit", "hello", "--help").stdout
    assert '"cheers": 1' in run("mipaudit", "hello", SCORES, "-f", "json").stdout
    assert "Who is here" in run("mipaudit", "hello", SCORES, "-f", "html").stdout


def test_its_test_passes(run):
    done = run("pytest", "-q", "-p", "no:cacheprovider", "tests/commands/hello")

    assert "1 passed" in done.stdout, os.linesep.join([done.stdout, done.stderr])
