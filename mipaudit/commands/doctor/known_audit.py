"""The audit whose answer is known: a small score file, and limits that it must have."""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path
from typing import Final, TypeAlias

from mipaudit.commands.doctor.report import KnownFigure
from mipaudit.statements.estimate import Finding

# As `verify` compares numbers: processors and libraries decide the digits behind it.
_TOLERANCE: Final = 1e-9
_ROWS: Final = 400
# The quantity, the attackers, and which figure.
_Name: TypeAlias = tuple[str, str, str]
_Figures: TypeAlias = dict[_Name, float | None]
# A change of a method changes them on purpose; `mipaudit doctor -f json` says what they are then.
_KNOWN: Final = {
    ("advantage", "any", "lower"): 0.13117446798071328,
    ("advantage", "any", "value"): 0.2289727615054714,
    ("advantage", "thresholds", "upper"): 0.364553586132323,
    ("advantage", "intervals-4", "upper"): 0.4030737422028543,
    ("auc", "thresholds", "lower"): 0.6156588986163656,
}


def known_audit() -> tuple[tuple[KnownFigure, ...], Finding | None]:
    """Return each known figure beside what the audit finds, and what is wrong, if anything is.

    The file is written and read as a user's is.
    """
    found: _Figures = {}
    wrong = None
    try:
        found = _audited()
    except Exception as error:  # noqa: BLE001 - what is wrong with it is the question
        wrong = Finding.of("known_audit_failed", failure=type(error).__name__)
    figures = tuple(
        KnownFigure(
            figure=", ".join(name),
            known=known,
            found=(one := found.get(name)),
            agrees=one is not None and math.isclose(one, known, rel_tol=_TOLERANCE),
        )
        for name, known in _KNOWN.items()
    )
    if wrong is None and not all(one.agrees for one in figures):
        wrong = Finding("known_audit_differs")
    return figures, wrong


def _audited() -> _Figures:
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    from mipaudit.commands.estimate.run import estimate
    from mipaudit.output.staged_file import unfinished

    row = np.arange(_ROWS)
    member = row % 2 == 0
    # One division and one product: the same on every processor.
    score = (row * 617 % 997) / 997
    score[member] *= score[member]
    path = Path(tempfile.gettempdir()) / f"mipaudit-{os.urandom(6).hex()}.parquet"
    with unfinished(path):
        path.touch(mode=0o600, exist_ok=False)
        parquet.write_table(pa.table({"member": member, "score": score}), path)
        report = estimate(path)
    return {
        (one.quantity, one.attackers, side): getattr(one, side)
        for one in report.estimates
        for side in ("lower", "value", "upper")
    }
