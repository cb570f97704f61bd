"""The page in a real browser: it fits, it is seen, it asks for nothing, and it can be heard.

`make browser-test` installs axe-core and names it by MIPAUDIT_AXE.
"""

from __future__ import annotations

import html
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.report.forms import report_as
from mipaudit.statements.provenance import Declaration
from tests import browser as chromium
from tests.browser import NO_BROWSER

AXE = os.environ.get("MIPAUDIT_AXE")
# The page has no script, so another one that frames it measures it.
FRAME = """<!DOCTYPE html>
<iframe id="page" src="page.html" style="width:{width}px;height:900px"></iframe>
<p id="found"></p><script>
document.getElementById("page").onload = function () {{
  const page = this.contentDocument, root = page.documentElement;
  for (const one of page.querySelectorAll("details")) one.open = true;
  const broken = [...page.querySelectorAll("th, td")].filter(cell => {{
    const words = page.createRange();
    words.selectNodeContents(cell);
    return /^[\\w.]+$/.test(cell.textContent) && words.getClientRects().length > 1;
  }});
  const drawings = page.querySelectorAll(".drawn > svg").length;
  document.getElementById("found").textContent =
    [root.scrollWidth, root.clientWidth, drawings, broken.length].join(";");
}};
</script>"""
# A copy without its policy: what listens to it is a script.
LISTENER = """<script>{axe}</script><script>
window.onload = () => {{
  for (const one of document.querySelectorAll("details")) one.open = true;
  axe.run(document).then(found => {{
    const said = document.createElement("pre");
    said.id = "found";
    said.textContent = JSON.stringify(found.violations.map(
      one => [one.id, one.help, one.nodes.slice(0, 3).map(node => node.html)]));
    document.body.append(said);
  }});
}};
</script>"""
POLICY = r'<meta http-equiv="Content-Security-Policy"[^>]*>'


@pytest.fixture(scope="module")
def pages():
    """Pages of the kinds that differ most, by name."""
    rng = np.random.default_rng(3)
    member = np.arange(600) < 300
    names = ["a_score_with_a_rather_long_name_for_a_column", "b"]
    frame = pd.DataFrame(
        {"member": member, **{name: rng.normal(size=600) + member for name in names}}
    )
    groups = frame[["member", "b"]].assign(site=np.where(rng.random(600) < 0.5, "x", "y"))
    reports = {
        "estimate": mipaudit.estimate(
            frame, max_advantage=0.2, claimed_epsilon=1, adjacency="add-remove"
        ),
        "records": mipaudit.records(groups, by="site", max_risk=0.5),
        "compare": mipaudit.compare(frame),
        "bounds": mipaudit.bounds(epsilon=1.0),
    }
    declared = Declaration(title="A model " * 8, release="v1", author="somebody")
    first = reports["estimate"]
    reports["estimate"] = replace(first, provenance=replace(first.provenance, declared=declared))
    return {name: report_as(report, "html") for name, report in reports.items()}


def browse(folder, name, *flags):
    return chromium.browse(folder / name, folder / "profile", *flags)


@NO_BROWSER
@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize(
    ("kind", "drawings"), [("estimate", 6), ("records", 3), ("compare", 2), ("bounds", 1)]
)
def test_the_page_fits_a_phone_and_a_desk(tmp_path, pages, kind, drawings, width):
    (tmp_path / "page.html").write_text(pages[kind], encoding="utf-8")
    (tmp_path / "frame.html").write_text(FRAME.format(width=width), encoding="utf-8")

    shown = browse(tmp_path, "frame.html", "--dump-dom")

    found = re.search(r'<p id="found">(\d+);(\d+);(\d+);(\d+)</p>', shown)
    assert found is not None
    reach, room, seen, broken = map(int, found.groups())
    assert reach <= room
    assert seen == drawings
    assert broken == 0, "words and numbers are broken in two"


def asked_by(folder, text):
    page = folder / "page.html"
    page.write_text(text, encoding="utf-8")
    return chromium.asked_by(page, folder / "profile")


@NO_BROWSER
def test_no_request_leaves_the_page(tmp_path, pages):
    page = pages["estimate"]
    image = '<img alt="" src="http://example.invalid/x.png">'
    open_page = re.sub(POLICY, "", page).replace("<main>", f"<main>{image}")

    assert asked_by(tmp_path, page) == set()
    assert asked_by(tmp_path, page.replace("<main>", f"<main>{image}")) == set()
    assert asked_by(tmp_path, open_page) == {"http://example.invalid/x.png"}


@NO_BROWSER
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_seen_in_light_and_dark(tmp_path, pages, dark):
    from PIL import Image

    (tmp_path / "page.html").write_text(pages["estimate"], encoding="utf-8")
    shot = tmp_path / "shot.png"
    settings = f"--blink-settings=preferredColorScheme={0 if dark else 1}"

    browse(tmp_path, "page.html", settings, "--window-size=900,1400", f"--screenshot={shot}")

    with Image.open(shot) as image:
        grey = np.asarray(image.convert("L"))
    assert np.median(grey) < 64 if dark else np.median(grey) > 192
    assert np.unique(grey).size > 50


@NO_BROWSER
@pytest.mark.skipif(AXE is None, reason="axe-core is not installed: make browser-test")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", ["estimate", "records", "compare", "bounds"])
def test_who_hears_the_page_misses_nothing(tmp_path, pages, kind, dark):
    page = re.sub(POLICY, "", pages[kind])
    listener = LISTENER.format(axe=Path(AXE).read_text("utf-8"))
    whole = page.replace("</body>", f"{listener}</body>")
    (tmp_path / "page.html").write_text(whole, encoding="utf-8")

    settings = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    shown = browse(tmp_path, "page.html", settings, "--dump-dom")

    found = re.search(r'<pre id="found">(.*?)</pre>', shown, re.DOTALL)
    assert found is not None
    said = json.loads(html.unescape(found[1]))
    assert said == [], said
