"""Draws the charts of the gallery: each is the picture of a report on the samples.

Run as ``python docs/gallery.py`` from anywhere, when charts look otherwise; the pages on it are
taken by ``python tests/docs/report_picture.py``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from mipaudit import from_json
from mipaudit.report.walk import walk_of

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "docs" / "explanation" / "gallery"
_ADULT: Final = "--members sample_data/adult_members.csv --holdout sample_data/adult_holdout.csv"
LEAKY: Final = "estimate sample_data/leaky.parquet --max-advantage 0.1"
TREE: Final = (
    "estimate --members sample_data/members.csv --holdout sample_data/holdout.csv "
    "--max-advantage 0.5"
)
GUESSES: Final = (
    "attribute tests/frozen/guesses.csv --attribute-col diagnosis --guess-col guessed "
    "--max-attribute-advantage 0.1"
)
# The command of each chart, and which of its pictures it is.
CHARTS: Final = {
    "scores": (LEAKY, 0),
    "roc": (LEAKY, 1),
    "spread": (LEAKY, 3),
    "attackers": (TREE, 3),
    "attack": ("attack sample_data/leaky.parquet --score-col lira_online --max-advantage 0.3", 0),
    "records": ("records sample_data/leaky.parquet --score-col lira_online --max-risk 0.5", 0),
    "compare": ("compare sample_data/leaky.parquet --baseline loss --max-increase 0.1", 1),
    "epsilon": (
        "epsilon --design independent-runs --tp 90 --fn 10 --fp 5 --tn 95 --claimed-epsilon 1",
        0,
    ),
    "attribute": (
        GUESSES,
        0,
    ),
    "shift": ("shift sample_data/adult_members.csv sample_data/adult_holdout.csv", 0),
    "query": (f"query nn {_ADULT} --synthetic sample_data/adult_synthetic.csv", 0),
    "bounds": ("bounds --epsilon 1 --delta 1e-5 --adjacency add-remove", 0),
    "noise": ("noise --eta 0.1 --from sample_data/splits.csv", 0),
}


def chart(name: str, folder: Path) -> str:
    """Return a chart as the report that its command makes has it.

    Args:
        name: of the chart.
        folder: where the command may write scores.
    """
    command, place = CHARTS[name]
    scores = ["-o", str(folder / "scores.csv")] if command.startswith("query") else []
    asked = [sys.executable, "-m", "mipaudit", *command.split(), *scores, "--no-config"]
    asked += ["-q", "-f", "json"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, check=False)  # noqa: S603 - ours
    return f"{[*walk_of(from_json(done.stdout)).pictures()][place].svg}\n"


def main() -> None:
    """Draw them all."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in CHARTS:
            (FOLDER / f"{name}.svg").write_text(chart(name, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
