"""Take pictures of reports' pages, for the README and the gallery, with Chromium.

Run as ``python tests/docs/report_picture.py`` from anywhere, when the page looks otherwise.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# What is asked for each page, as the README and the gallery quote it.
PAGES = {
    DOCS / "report.png": "estimate sample_data/leaky.parquet --max-advantage 0.1",
    DOCS / "explanation" / "gallery" / "met.png": (
        "estimate sample_data/private.parquet --max-advantage 0.1"
    ),
    DOCS / "explanation" / "gallery" / "inconclusive.png": (
        "estimate --members sample_data/members.csv --holdout sample_data/holdout.csv "
        "--max-advantage 0.5"
    ),
}
SIZE = (820, 1090)
# Of so few colours the file is small.
COLOURS = 32


def take(picture, asked):
    """Write the picture of the page that a command writes."""
    from tests.browser import browse
    from tests.docs.quoted_output import environment
    from tests.within import run_within

    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder, "report.html"), Path(folder, "shot.png")
        run_within([*asked.split(), "-q", "-o", str(page)], environment=environment(), folder=ROOT)
        width, height = SIZE
        browse(page, Path(folder), f"--screenshot={shot}", f"--window-size={width},{height}")
        with Image.open(shot) as taken:
            few = taken.convert("RGB").quantize(
                COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
            few.save(picture, optimize=True)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # a script finds what is beside it alone
    for picture, asked in PAGES.items():
        take(picture, asked)
