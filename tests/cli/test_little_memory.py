"""An address space that is too small is an error of the input, never a verdict."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

# Runs in the child, once all that a command loads is loaded and the given room is left.
CHILD = """
import resource, sys
import mipaudit.commands.shift.run, mipaudit.data.tables.features
from mipaudit.data.files import contents
import numpy as np
from pathlib import Path
if sys.argv[1] == "claimed":
    contents.claim_buffers()
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20), used + (4 << 20)))
np.ones((150, 150)) @ np.ones((150, 150))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits its address space")
def test_the_buffer_of_linear_algebra_is_claimed_before_the_input_is_read():
    def status(word):
        environment = {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ":".join(filter(None, sys.path))}
        done = subprocess.run(
            [sys.executable, "-c", CHILD, word],
            capture_output=True,
            check=False,
            env=environment,
        )
        return done.returncode

    assert status("claimed") == 0
    assert status("late") != 0


@pytest.mark.parametrize("command", ["estimate", "shift"])
def test_inputs_are_opened_with_the_buffer(monkeypatch, tmp_path, command):
    import mipaudit
    from mipaudit.data import opening
    from mipaudit.data.tables import records as tables

    claimed = []
    module = opening if command == "estimate" else tables
    monkeypatch.setattr(module, "claim_buffers", lambda: claimed.append(True))
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"member": [True, False] * 60, "score": rng.normal(size=120)})
    if command == "shift":
        mipaudit.shift(table[table.member], table[~table.member])
    else:
        table.to_csv(tmp_path / "s.csv", index=False)
        mipaudit.estimate(tmp_path / "s.csv")
    assert claimed
