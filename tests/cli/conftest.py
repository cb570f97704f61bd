"""Runs the program in a process of its own, as users do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
_UNWANTED = {"NO_COLOR", "COLUMNS", "FORCE_COLOR", "PYTHONWARNINGS", "SOURCE_DATE_EPOCH"}


@pytest.fixture(scope="session")
def environment():
    kept = {key: value for key, value in os.environ.items() if key not in _UNWANTED}
    paths = [str(ROOT), *filter(None, [kept.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths)}


@pytest.fixture
def mipaudit(environment, tmp_path):
    """Run ``mipaudit ARGUMENTS`` in an empty directory."""
    return _runner([sys.executable, "-m", "mipaudit"], environment, tmp_path)


@pytest.fixture
def stand_in(environment, tmp_path):
    """Run ``mipaudit`` with an audit that ends as the first argument says."""
    return _runner([sys.executable, str(HERE / "stand_in.py")], environment, tmp_path)


def _runner(start, environment, folder):
    def run(*arguments, env=None, **options):
        options = {"capture_output": True, "text": True, "timeout": 60, **options}
        return subprocess.run(
            [*start, *arguments],
            env={**environment, **(env or {})},
            cwd=folder,
            check=False,
            **options,
        )

    return run
