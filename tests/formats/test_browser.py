"""The page in a real browser: nothing reaches beyond its width, on a desk or on a phone."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.formats.documents import document_of
from mipaudit.formats.page import document_html

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--allow-file-access-from-files", "--virtual-time-budget=5000"),
)
# The page has no script, so another one that frames it measures it.
FRAME = """<!DOCTYPE html>
<iframe id="page" src="page.html" style="width:{width}px;height:900px"></iframe>
<p id="found"></p><script>
document.getElementById("page").onload = function () {{
  const page = this.contentDocument, root = page.documentElement;
  const dark = getComputedStyle(page.body).backgroundColor;
  const broken = [...page.querySelectorAll("th, td")].filter(cell => {{
    const words = page.createRange();
    words.selectNodeContents(cell);
    return /^[\\w.]+$/.test(cell.textContent) && words.getClientRects().length > 1;
  }});
  const drawings = page.querySelectorAll("svg").length;
  document.getElementById("found").textContent =
    [root.scrollWidth, root.clientWidth, drawings, broken.length, dark].join(";");
}};
</script>"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_fits_a_phone_and_a_desk(tmp_path, width):
    rng = np.random.default_rng(3)
    names = ["a_score_with_a_rather_long_name_for_a_column", "b"]
    member = np.arange(600) < 300
    scores = {name: rng.normal(size=600) + member for name in names}
    report = mipaudit.estimate(
        pd.DataFrame({"member": member, **scores}),
        max_advantage=0.2,
        claimed_epsilon=1,
        adjacency="add-remove",
    )
    page = document_html(document_of(report, "page"))
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (tmp_path / "frame.html").write_text(FRAME.format(width=width), encoding="utf-8")
    done = subprocess.run(
        [
            BROWSER,
            *FLAGS,
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            (tmp_path / "frame.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    found = re.search(r'<p id="found">(\d+);(\d+);(\d+);(\d+);([^<]*)</p>', done.stdout)
    assert found is not None
    reach, room, drawings, broken = (int(found[at]) for at in (1, 2, 3, 4))
    assert reach <= room
    assert drawings == 7
    assert broken == 0, "words and numbers are broken in two"
