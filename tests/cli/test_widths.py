"""Tables fit the page: at 80 columns nothing is wider, at 200 prose is not, and nothing is lost."""

from __future__ import annotations

import re

import pytest

from mipaudit.report.blocks import Grid
from mipaudit.report.text import table_text
from tests.fixtures.commands import LEAKY, RUNS
from tests.places import ROOT

DATA = ROOT / "tests" / "data"
WIDEST_PROSE = 100
# They say a line, or write scores.
WITHOUT_TABLE = {"schema", "query losses", "query lira", "query", "render", "doctor"}
TOLD = {
    **{name: words for name, words in RUNS.items() if name not in WITHOUT_TABLE},
    "estimate kde": ("estimate", LEAKY, "--score-col", "loss", "--method", "kde"),
    "epsilon one-model": ("epsilon", LEAKY, "--design", "one-model"),
    "check shadow": ("check", str(DATA / "published_location30_shadow.parquet")),
    "attack residuals": (
        *("attack", str(DATA / "yeom_diabetes_tree_d4_split0.csv")),
        *("--residuals", "--score-col", "residual"),
    ),
    "bounds target": ("bounds", "--advantage", "0.1"),
    "bounds attack": ("bounds", "--tpr", "0.9", "--fpr", "0.01"),
    "simulate list": ("simulate", "--list"),
}


@pytest.mark.parametrize("run", TOLD.values(), ids=TOLD)
def test_no_line_is_wider_than_the_page_and_no_figure_is_cut(mipaudit, command_folder, run):
    narrow, wide = (mipaudit(*run, "-q", env={"COLUMNS": str(width)}) for width in (80, 200))

    assert narrow.returncode == wide.returncode
    assert max(map(len, narrow.stdout.splitlines())) <= 80
    assert max(map(len, wide.stdout.splitlines())) <= 200
    assert "…" not in narrow.stdout + wide.stdout
    assert all(line == line.rstrip() for line in (narrow.stdout + wide.stdout).splitlines())
    # Folding moves figures, and neither cuts nor loses one.
    assert figures(narrow.stdout) == figures(wide.stdout)


def figures(text):
    return sorted(re.findall(r"\d[\d.,e+]*\d|\d", text.replace("-\n", "-")))


@pytest.mark.parametrize("run", ["epsilon one-model", "noise", "bounds"])
def test_prose_is_not_wider_than_can_be_read(mipaudit, run):
    done = mipaudit(*TOLD[run], "-q", env={"COLUMNS": "200"})
    bullets = [x for x in done.stdout.splitlines() if x.startswith(("  - ", "    "))]

    assert bullets
    end = done.stdout.split("Keep in mind")[1]
    assert max(map(len, end.splitlines())) <= WIDEST_PROSE


def test_heads_fold_before_words_and_numbers_never():
    rows = (("a long name of words", "1.23456789"), ("short", "2"))
    grid = Grid("", ("what it is", "how much of it"), rows, words=1)

    assert table_text(grid, 80).splitlines()[0].endswith("how much of it")
    assert table_text(grid, 34).splitlines() == [
        "                          how much",
        "  what it is                 of it",
        "  a long name of words  1.23456789",
        "  short                          2",
    ]
    assert table_text(grid, 26).splitlines() == [
        "                  how much",
        "  what it is         of it",
        "  a long name   1.23456789",
        "  of words",
        "  short                  2",
    ]
    # What cannot be narrower is whole, and wider than the page.
    assert "1.23456789" in table_text(grid, 5)


def test_folded_words_keep_their_indent():
    rows = (("  of any attacker, above that", "0.5"),)
    text = table_text(Grid("", ("", ""), rows, words=1), 24)

    assert text.splitlines() == ["    of any           0.5", "    attacker, above", "    that"]


def test_prose_goes_below_its_row_where_nothing_is_left_beside_it():
    rows = (("a" * 30, "1.5", "why it is so, in several words"), ("b" * 30, "2.5", ""))
    grid = Grid("", ("name", "figure", "reason"), rows, words=1, prose=True)

    beside, below = (table_text(grid, width).splitlines() for width in (80, 50))

    assert beside[1] == f"  {'a' * 30}     1.5  why it is so, in several words"
    assert below == [
        f"  {'name':30}  figure",
        "      reason",
        f"  {'a' * 30}     1.5",
        "      why it is so, in several words",
        f"  {'b' * 30}     2.5",
    ]
