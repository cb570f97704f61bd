"""Figures of the pages that people act on are bound: each is listed with what it rests on.

``claims.tsv`` has a line for each section with figures: page, section, the figures in their order,
and what binds them: a ``test``, by its name; a ``setting`` or ``arithmetic``, which measure
nothing; or a ``run`` that is recorded with its settings in that section.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.places import ROOT

REGISTER = Path(__file__).with_name("claims.tsv")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("tutorials/*.md"))]
PAGES += sorted((ROOT / "docs").glob("how-to/*.md"))
# What was run or quoted is tested as such.
ELSEWHERE = re.compile(r"^ *```.*?^ *```|<!--.*?-->|`[^`\n]*`", flags=re.MULTILINE | re.DOTALL)
FIGURE = re.compile(
    r"(?<![\w.,@=-])\d[\d,]*(?:\.\d+)?(?:\s?%|(?:\s|-)(?:times|x|seconds?|minutes?|hours?|ms|ns"
    r"|[KMG]i?B|of (?:the )?\d[\d,]*(?:\.\d+)?)\b|\sin (?:a hundred|\d[\d,]*)\b)"
)


def claims(text):
    """Return the figures of each section that has any."""
    found = {}
    section = ""
    for part in re.split(r"^(#+ .*)$", ELSEWHERE.sub("", text), flags=re.MULTILINE):
        if re.match(r"#+ ", part):
            section = part.lstrip("# ")
            continue
        figures = [" ".join(one.group().split()) for one in FIGURE.finditer(part)]
        if figures:
            found[section] = "; ".join(figures)
    return found


def listed(page):
    """Return the lines of the register for a page: section, figures, what binds them."""
    lines = [line.split("\t") for line in REGISTER.read_text(encoding="utf-8").splitlines()]
    return [line[1:] for line in lines if line[0] == page.relative_to(ROOT).as_posix()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_figure_is_bound(page):
    assert claims(page.read_text(encoding="utf-8")) == {line[0]: line[1] for line in listed(page)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_binds_a_figure_is_there(page):
    for section, _, bound in listed(page):
        kind, _, what = bound.partition(": ")
        assert kind in {"test", "setting", "arithmetic", "run"}, section
        assert what, section
        if kind == "test":
            path, _, name = what.partition("::")
            assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), section


def test_a_figure_that_nobody_bound_is_found():
    text = (
        "# A\n\nIt takes 3 seconds, `5%`, and 90% hold; see 2.1.\n\n```\n7%\n```\n## B\n\n4 of 9.\n"
    )
    assert claims(text) == {"A": "3 seconds; 90%", "B": "4 of 9"}
