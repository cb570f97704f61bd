"""Runs the program in a process of its own, as users do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
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


@pytest.fixture
def query_inputs(tmp_path):
    """Small files of guesses, of a model's logits and of shadow models."""
    rng = np.random.default_rng(0)
    member = rng.random(300) < 0.5
    label = rng.integers(0, 3, 300)
    logits = rng.normal(size=(300, 3))
    logits[np.arange(300), label] += 1 + member
    right = rng.random(300) < np.where(member, 0.8, 0.4)
    lines = [
        f"{int(m)},{k}," + ",".join(f"{z:.6f}" for z in row)
        for m, k, row in zip(member, label, logits, strict=True)
    ]
    (tmp_path / "logits.csv").write_text("member,label,a,b,c\n" + "\n".join(lines) + "\n")
    guesses = [
        f"{int(m)},{'abc'[k]},{'abc'[k if r else (k + 1) % 3]}"
        for m, k, r in zip(member, label, right, strict=True)
    ]
    (tmp_path / "guesses.csv").write_text("member,attribute,guess\n" + "\n".join(guesses) + "\n")
    included = rng.random((21, 300)) < 0.5
    included[0] = member
    phi = rng.normal(size=(21, 300)) + 1.5 * included
    np.savez(
        tmp_path / "shadows.npz",
        shadow=phi[1:],
        inclusion=included[1:],
        target=phi[0],
        member=member,
    )
    return tmp_path
