"""What the program itself writes: the sound files that grammars start from."""

from __future__ import annotations

import contextlib
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

_SITES: Final = ("a", "b")
_QUIET: Final = ("-q", "--no-sha256", "-o")


def table(rows: int = 60, seed: int = 1) -> pd.DataFrame:
    """Return scores of members and holdout records that differ by one standard deviation."""
    draw = np.random.default_rng(seed)
    member = draw.random(rows) < 0.5
    return pd.DataFrame(
        {
            "member": member,
            "score": draw.normal(size=rows) + member,
            "note": [f"n{at % 2}" for at in range(rows)],
        }
    )


@cache
def base_files() -> Mapping[str, bytes]:
    """Return the files by name: scores, cuts and counts of two sites, reports."""
    from mipaudit.cli.app import run

    here = Path.cwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        Path(os.devnull).open("w", encoding="utf-8") as silent,
        contextlib.redirect_stdout(silent),
        contextlib.redirect_stderr(silent),
    ):
        try:
            os.chdir(folder)
            for at, site in enumerate(_SITES):
                table(seed=at + 1).to_csv(f"{site}.csv", index=False)
                words = ("summarize", f"{site}.csv", "--site", site, "--seed", "7", "--cuts-only")
                run((*words, "-q", "-o", f"{site}.cuts"))
            whose = [word for site in _SITES for word in ("--cuts", f"{site}.cuts")]
            for site in _SITES:
                words = ("summarize", f"{site}.csv", "--site", site, "--seed", "7", *whose)
                run((*words, "-q", "-o", f"{site}.summary"))
            run(("estimate", "a.csv", *_QUIET, "good.json"))
            run(("estimate", "a.csv", "--max-advantage", "0.6", *_QUIET, "judged.json"))
            run(("records", "a.csv", "--max-risk", "0.9", "-q", "--report", "records.json"))
            run(("shift", "a.csv", "b.csv", *_QUIET, "shift.json"))
            return {path.name: path.read_bytes() for path in Path().iterdir()}
        finally:
            os.chdir(here)
