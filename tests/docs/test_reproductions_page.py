"""The page of reproductions has every figure, as the program shows it."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from mipaudit.reproductions.output import reproduction_markdown
from mipaudit.reproductions.run import list_reproductions, reproduce

HERE = Path(__file__).parent
_LARGEST = 60_000


def load_page():
    spec = importlib.util.spec_from_file_location(
        "reproductions_page", HERE / "reproductions_page.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


page = load_page()
TEXT = page.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "title", "source"), list_reproductions())
def test_every_figure_is_on_the_page(name, title, source):
    assert f"\n## `{name}`: {title}\n\n{source}. " in TEXT
    assert f"](#{page.anchor(name, title)})" in TEXT


def test_every_picture_is_there_and_small():
    named = re.findall(r"!\[.*\]\((.*)\)", TEXT)
    assert len(named) >= len(list_reproductions()) - 3
    for picture in named:
        assert (page.PAGE.parent / picture).stat().st_size < _LARGEST
    kept = {f"reproductions/{path.name}" for path in page.PICTURES.iterdir()}
    assert kept == set(named)


# Formulas alone: they are the same on every machine.
@pytest.mark.parametrize("name", ["izzo-fig1", "humphries-fig1", "lecture-thm2"])
def test_the_page_is_what_the_program_says(name):
    figure = reproduce(name)
    assert page.page_of(reproduction_markdown(figure, f"{name}.png")) in TEXT


def test_nothing_on_the_page_failed():
    assert "**FAILS**" not in TEXT
    assert "--quick" not in TEXT
