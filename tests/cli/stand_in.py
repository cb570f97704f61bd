"""The program with a stand-in for the audit: what the command line itself does.

The first argument says how the audit ends; the rest is the command line.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import types
from dataclasses import replace
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "report" / "samples"
VALUE = 987654.25  # a value from the data: it must never be shown


def audit(ending: str, keywords: dict[str, object]):
    from mipaudit.errors import InputError
    from mipaudit.report.codec import from_json

    touched = os.environ.get("STAND_IN_TOUCH")
    if touched:
        Path(touched).write_text("the audit ran", encoding="utf-8")
    if ending == "input":
        raise InputError("no_member_column", "There is no membership column.", hint="Name it.")
    if ending == "bug":
        raise ValueError(f"cannot convert {VALUE}")
    if ending == "memory":
        raise MemoryError
    if ending == "disk":
        raise OSError(28, f"No space left for {VALUE}")
    if ending == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    if ending == "warning":
        import warnings

        warnings.warn(f"overflow at {VALUE}", RuntimeWarning, stacklevel=2)
    if ending == "slow":
        _work_slowly(keywords["progress"])
    report = from_json((SAMPLES / "one_score.json").read_bytes())
    if ending in {"met", "not_met", "inconclusive", "no_policy"}:
        report = replace(report, verdict=replace(report.verdict, status=ending))
    settings = keywords["settings"]
    return replace(report, provenance=replace(report.provenance, settings=settings))


def _work_slowly(progress):
    for step in range(16):
        if progress is not None:
            progress(step, 16)
        time.sleep(0.1)
    sys.stderr.write("callback\n" if progress is not None else "no callback\n")


def main() -> None:
    ending = sys.argv.pop(1)
    module = types.ModuleType("mipaudit.api.estimate")
    module.estimate = lambda data=None, **keywords: audit(ending, {"data": data, **keywords})
    import mipaudit.api

    sys.modules["mipaudit.api.estimate"] = module
    mipaudit.api.estimate = module
    from mipaudit.cli.app import main as program

    program()


if __name__ == "__main__":
    main()
