"""The page for contributors, followed word for word in a copy of the checkout."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from tests.places import ROOT

PAGE = ROOT / "docs" / "how-to" / "contributing.md"
BLOCKS = re.findall(r"```python\n# ([^\n]*)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
SCORES = str(ROOT / "sample_data" / "leaky.parquet")
WHO = "898 members and 899 holdout records"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout with what the page adds."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("mipaudit", "tests/fixtures", "tests/servers"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("conftest.py", "places.py", "within.py", "skip_guard.py", "allowed_skips.txt"):
        shutil.copy(ROOT / "tests" / name, folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for place, code in BLOCKS:
        row = re.fullmatch(r"a row of (\w+) in (\S+)", place)
        path = folder / (row[2] if row else place)
        path.parent.mkdir(parents=True, exist_ok=True)
        if row:
            before, found, after = path.read_text().partition(f"{row[1]}: Final = (\n")
            assert found, f"{row[2]} has no {row[1]}"
            code = before + found + code + after  # noqa: PLW2901
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


def test_a_whole_command_is_short():
    lines = [line for _, code in BLOCKS for line in code.splitlines() if line.strip()]
    assert len(lines) <= 75  # with its docstrings


def test_the_command_greets_and_its_option_is_known_everywhere(run, checkout):
    done = run("mipaudit", "hello", SCORES, "--cheers", "3")
    refused = run("mipaudit", "hello", SCORES, "--cheers", "0")
    (checkout / "mipaudit.toml").write_text("[hello]\ncheers = 2\n")
    filed = run("mipaudit", "hello", SCORES)
    (checkout / "mipaudit.toml").unlink()

    assert done.stdout.startswith("Hello!!! Here are 1,797 records.\n")
    assert (done.returncode, WHO in done.stdout) == (0, True)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "Error: --cheers must be at least 1.\n"
    assert filed.stdout.startswith("Hello!! ")
    assert "--cheers" in run("mipaudit", "hello", "--help").stdout
    assert '"cheers": 1' in run("mipaudit", "hello", SCORES, "-f", "json").stdout
    assert WHO in run("mipaudit", "hello", SCORES, "-f", "html").stdout


def test_its_test_passes(run):
    done = run("pytest", "-q", "-p", "no:cacheprovider", "tests/commands/hello")
    assert "1 passed" in done.stdout, done.stdout + done.stderr
