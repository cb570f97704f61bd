"""Epsilon from canaries in memory, beside the CanaryScoreAuditor of jax-privacy.

It needs a Python with jax-privacy: this one, or the one that JAX_PRIVACY_PYTHON names;
without either there is no table.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import measure
import numpy as np
from scores import MEMBER_SHIFT, SEED

SIZES: Final = (100_000, 1_000_000)
ROUNDS: Final = 3

_CALL: Final = """
import sys, time
import numpy
{imports}
ins, outs = numpy.load(sys.argv[1])
{warm}
cpu, wall = time.process_time(), time.perf_counter()
{call}
print(time.process_time() - cpu, time.perf_counter() - wall)
"""
OURS: Final = _CALL.format(
    imports="import mipaudit",
    warm="mipaudit.epsilon(members=ins[:99], holdout=outs[:99], design='independent-runs')",
    call="mipaudit.epsilon(members=ins, holdout=outs, design='independent-runs')",
)
# A fresh auditor for the measured call; the first one pays for what it imports late.
THEIRS: Final = _CALL.format(
    imports="from jax_privacy.auditing import CanaryScoreAuditor",
    warm="CanaryScoreAuditor(ins[:99], outs[:99]).epsilon_clopper_pearson(0.05)",
    call="CanaryScoreAuditor(ins, outs).epsilon_clopper_pearson(0.05)",
)


def jax_python() -> str | None:
    """Return a Python that has jax-privacy, or None."""
    named = os.environ.get("JAX_PRIVACY_PYTHON")
    if named:
        return named
    return sys.executable if find_spec("jax_privacy") else None


def their_cost(python: str, path: Path) -> measure.Cost:
    """Return what the auditor's call took in ``python``."""
    done = subprocess.run(
        (python, "-c", THEIRS, str(path)),
        env=measure.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    cpu, wall = (float(word) for word in done.stdout.split())
    return measure.Cost(cpu=cpu, wall=wall, peak=0)


def main() -> int:
    """Print the table; there is no budget to miss."""
    chosen = measure.settings(__doc__)
    python = jax_python()
    if python is None:
        print("jax-privacy is not installed: nothing to compare with (JAX_PRIVACY_PYTHON).")
        return 0
    print(measure.HEADER)
    rng = np.random.default_rng(SEED)
    for size in SIZES:
        canaries = rng.standard_normal((2, size // 2))
        canaries[0] += MEMBER_SHIFT
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "canaries.npy")
            np.save(path, canaries)
            runs = {
                "ours": partial(measure.call_cost, OURS, path),
                "theirs": partial(their_cost, python, path),
            }
            costs = measure.interleaved(runs, chosen.rounds(ROUNDS))
        measure.within(
            f"epsilon, {size:.0e} canaries in memory",
            costs["ours"],
            "jax-privacy's CanaryScoreAuditor, Clopper-Pearson",
            costs["theirs"],
            budget=None,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
