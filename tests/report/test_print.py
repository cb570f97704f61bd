"""A page on paper: few sheets, the sign-off on the first, nothing cut, and what is closed named."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.report.forms import report_as
from tests.browser import NO_BROWSER, browse
from tests.places import ROOT

MOST_SHEETS = 4
PAPERS = ("A4", "letter")
READER = shutil.which("pdftotext")
NO_READER = pytest.mark.skipif(READER is None, reason="no pdftotext on this machine")
SAMPLES = ROOT / "sample_data"
CLAIM = {"claimed_epsilon": 1.0, "delta": 1e-5}
RECORDS = {one: SAMPLES / f"adult_{one}.csv" for one in ("members", "holdout")}


def scores(columns):
    """Return a table with so many scores, the first the strongest."""
    rng = np.random.default_rng(7)
    member = np.arange(900) < 450
    names = ["lira_online", "loss", "distance_to_the_boundary", *"abcde"]
    strength = {name: 0.9 - 0.1 * at for at, name in enumerate(names[:columns])}
    drawn = {name: rng.normal(size=900) + by * member for name, by in strength.items()}
    return pd.DataFrame({"member": member, **drawn, "site": np.where(rng.random(900) < 0.5, 1, 2)})


MADE = {
    **{
        f"estimate-{n}": lambda n=n: mipaudit.estimate(scores(n), max_advantage=0.2, **CLAIM)
        for n in (1, 3, 8)
    },
    **{f"compare-{n}": lambda n=n: mipaudit.compare(scores(n)) for n in (3, 8)},
    **{f"attack-{n}": lambda n=n: mipaudit.attack(scores(n), max_advantage=0.3) for n in (1, 3, 8)},
    **{
        f"epsilon-{n}": lambda n=n: mipaudit.epsilon(scores(n), design="one-run", **CLAIM)
        for n in (1, 3, 8)
    },
    "records": lambda: mipaudit.records(scores(1), by="site", max_risk=0.5),
    "noise": lambda: mipaudit.noise(eta=0.1, splits=SAMPLES / "splits.csv"),
    "bounds": lambda: mipaudit.bounds(epsilon=1.0, delta=1e-5),
    "shift": lambda: mipaudit.shift(*RECORDS.values()),
    "query": lambda: mipaudit.query(
        ["nn", "mc", "kth:5", "lnr"], **RECORDS, synthetic=SAMPLES / "adult_synthetic.csv"
    ),
}


@pytest.fixture(scope="module")
def page_of():
    made = {}

    def page(name):
        if name not in made:
            made[name] = report_as(MADE[name](), "html")
        return made[name]

    return page


def printed(folder, text, paper="A4"):
    """Return a page printed on paper of a size, as the path of a PDF."""
    page, to = folder / "page.html", folder / f"{paper}.pdf"
    sized = text.replace("</head>", f"<style>@page {{ size: {paper} }}</style></head>")
    page.write_text(sized, encoding="utf-8")
    browse(page, folder / "profile", "--no-pdf-header-footer", f"--print-to-pdf={to}")
    return to


def sheets(pdf):
    """Return the lines of each sheet without its number."""
    done = subprocess.run([READER, "-layout", pdf, "-"], capture_output=True, check=True)
    pages = done.stdout.decode().rstrip("\f").split("\f")
    lines = [[" ".join(one.split()) for one in page.splitlines() if one.strip()] for page in pages]
    return [[one for one in page if not re.fullmatch(r"\d of \d", one)] for page in lines]


def texts(page, tag):
    """Return what the elements of a tag hold."""
    found = re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", page, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]*>", " ", one).split()) for one in found]


@NO_BROWSER
@NO_READER
@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", MADE)
def test_a_page_prints_on_few_sheets_that_end_where_a_reader_can_stop(
    tmp_path, page_of, name, paper
):
    page = page_of(name)
    found = sheets(printed(tmp_path, page, paper))

    assert len(found) <= MOST_SHEETS
    assert "Read by" in found[0]
    assert any(line.startswith("Not printed") for line in found[-1])
    assert len(re.findall("<details", page)) <= 6
    headings = {one for tag in ("h2", "h3", "h4", "caption") for one in texts(page, tag)}
    # Below the words above the lines to sign stand lines alone.
    heads = [{*one.split()} for one in texts(page, "thead") if "signature" not in one]
    for sheet in found[:-1]:
        assert sheet[-1] not in headings
        assert not any({*sheet[-1].split()} <= words for words in heads)


@NO_BROWSER
@NO_READER
def test_paper_has_the_folds_that_are_open_and_names_the_others(tmp_path, page_of):
    page = page_of("estimate-3")
    titles = texts(page, "summary")
    number = titles.index("More figures") + 1
    opened = page.replace(f'id="part-{number}"', f'id="part-{number}" open')
    every = re.sub(r'(<details id="[^"]*")>', r"\1 open>", page)
    lines = {
        name: [line for sheet in sheets(printed(tmp_path, text)) for line in sheet]
        for name, text in {"closed": page, "opened": opened, "every": every}.items()
    }
    named = {name: " ".join(shown).partition("Not printed")[2] for name, shown in lines.items()}

    assert titles[:2] == ["The figures", "The words"]
    assert "More figures" in named["closed"]
    assert "The figures" not in named["closed"]
    assert "More figures" not in named["opened"]
    assert "More figures" in lines["opened"]
    assert "Where this comes from" in named["opened"]
    assert named["every"] == ""


@NO_BROWSER
@NO_READER
def test_an_annex_prints_all_of_it(tmp_path):
    report = MADE["estimate-1"]()
    page = report_as(report, "html", full=True)
    found = sheets(printed(tmp_path, page))

    assert "<details" not in page
    assert "Read by" in found[0]
    lines = {line for sheet in found for line in sheet}
    assert {one for one in texts(page, "h2") if len(one) < 80} - {"Contents"} <= lines
    assert not any(line.startswith("Not printed") for line in lines)
