"""The gallery: its charts are those that the program draws, and its pictures are few and small."""

import re

import pytest

from tests.docs import report_picture
from tests.places import ROOT, load_script

gallery = load_script(ROOT / "docs" / "gallery.py")
PAGE = ROOT / "docs" / "explanation" / "gallery.md"
TEXT = PAGE.read_text(encoding="utf-8")
MOST = 250_000  # bytes


@pytest.mark.parametrize("name", gallery.CHARTS)
def test_a_chart_is_what_the_program_draws(name, tmp_path):
    stored = (gallery.FOLDER / f"{name}.svg").read_text(encoding="utf-8")

    assert gallery.chart(name, tmp_path) == stored, "Run: python docs/gallery.py"


def test_every_picture_is_shown_once_in_words_too_and_all_are_small():
    shown = [
        (text, (PAGE.parent / target).resolve())
        for text, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", TEXT)
    ]

    assert {path for _, path in shown} == {*gallery.FOLDER.iterdir(), *report_picture.PAGES}
    assert len(shown) == len({path for _, path in shown}) == len(gallery.CHARTS) + 3
    assert all(text for text, _ in shown)
    assert sum(path.stat().st_size for _, path in shown) <= MOST


# A query writes its scores to a file.
QUOTED = {one for one, _ in gallery.CHARTS.values() if not one.startswith("query")}


@pytest.mark.parametrize("command", sorted({*QUOTED, *report_picture.PAGES.values()}))
def test_the_answer_of_each_command_is_quoted(command):
    assert f"<!-- output of: mipaudit {command} -q -->" in TEXT
