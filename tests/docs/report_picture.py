"""Take the picture of a report's page that the README shows, with Chromium.

Run as ``python tests/docs/report_picture.py`` from anywhere, when the page looks otherwise.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "report.png"
SIZE = (820, 760)
# Of so few colours the file is small.
COLOURS = 32


def take(picture):
    """Write the picture of the page of the report that the README quotes."""
    from tests.browser import browse
    from tests.docs.quoted_output import environment
    from tests.within import run_within

    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder, "report.html"), Path(folder, "shot.png")
        asked = f"estimate sample_data/leaky.parquet --max-advantage 0.1 -q -o {page}"
        run_within(asked.split(), environment=environment(), folder=ROOT)
        width, height = SIZE
        browse(page, Path(folder), f"--screenshot={shot}", f"--window-size={width},{height}")
        with Image.open(shot) as taken:
            few = taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            few.save(picture, optimize=True)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # a script finds what is beside it alone
    take(PICTURE)
