"""Figures of the pages that people act on are bound: each is listed with what it rests on.

``claims.tsv`` has a line for each figure, or for several of one section that rest on one thing:
page, section, the figures, and what binds them, which must hold every one of them:

- ``test: FILE::NAME``: a test, which names the figure;
- ``setting: MODULE:NAME``: a value of the program, by its name;
- ``bench: TABLE | WHAT``: a row of the stored benchmark;
- ``run: PAGE#SECTION``: a recorded run on a page that is looked up, with its settings;
- ``arithmetic: 1 - 2 * 0.05; ...``: one sum for each figure;
- ``cited``: somebody else's figure, with a link in the same line.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterable
from functools import reduce
from itertools import pairwise
from math import isclose
from pathlib import Path

import pytest

from tests.places import ROOT

REGISTER = Path(__file__).with_name("claims.tsv")
BENCH = ROOT / "docs" / "reference" / "performance.json"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("tutorials/*.md"))]
PAGES += sorted((ROOT / "docs").glob("how-to/*.md"))
PAGES.append(ROOT / "docs" / "explanation" / "other-limits.md")
# What was run or quoted is tested as such, and an address is no figure.
ELSEWHERE = re.compile(
    r"^ *```.*?^ *```|<!--.*?-->|`[^`\n]*`|\]\([^)]*\)", re.MULTILINE | re.DOTALL
)
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_UNIT = (
    r"(?:\s?%|(?:\s|-)(?:times|x|seconds?|minutes?|hours?|days?|ms|ns|words|percent"
    r"|[KMG]i?B|of (?:the )?\d[\d,]*(?:\.\d+)?)\b|\sin (?:a hundred|\d[\d,]*)\b)"
)
FIGURE = re.compile(
    rf"(?<![\w.,@=-])(?:\d[\d,]*(?:\.\d+)?{_UNIT}|\d{{1,3}}(?:,\d{{3}})+|\d*\.\d+)(?![\w.]*\d)"
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d,_]*(?:\.\d+)?(?:e-?\d+)?|(?<![\w.])\.\d+")
_SIZES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def sections(text):
    """Yield the heading and the text of each part of a page, without blocks of code."""
    unfenced = FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    heads = re.finditer(r"^#+ (.*)$", unfenced, re.MULTILINE)
    marks = [(0, ""), *((found.start(), found[1]) for found in heads)]
    for (start, title), (stop, _) in pairwise([*marks, (len(text), "")]):
        body = ELSEWHERE.sub("", text[start:stop]).partition("\n")[2] if title else text[:stop]
        yield title, body


def claims(text):
    """Return the figures of each section that has any, sorted."""
    found = {
        title: sorted(" ".join(one.group().split()) for one in FIGURE.finditer(body))
        for title, body in sections(text)
    }
    return {title: figures for title, figures in found.items() if figures}


def listed():
    """Return the lines of the register: page, section, figures, what binds them."""
    lines = [line.split("\t") for line in REGISTER.read_text(encoding="utf-8").splitlines()]
    return [(page, section, found.split("; "), bound) for page, section, found, bound in lines]


def values(figure):
    """Return the ways to state a figure as a number, for each number in it."""
    for number in _NUMBER.findall(figure):
        plain = float(number.replace(",", ""))
        scale = next((size for unit, size in _SIZES.items() if unit in figure), 1)
        yield {plain, plain * scale} | ({plain / 100} if "%" in figure else set())


def numbers(text):
    return {float(one.replace(",", "").replace("_", "")) for one in _NUMBER.findall(text)}


def holds(known, figure):
    """Say whether each number of a figure is among those that are known."""
    return all(
        any(isclose(one, other, rel_tol=1e-9) for one in ways for other in known)
        for ways in values(figure)
    )


def known_to_test(what):
    """Return the numbers in a test that is there, with its parameters."""
    path, _, name = what.partition("::")
    source = (ROOT / path).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            return numbers("\n".join(source.splitlines()[first - 1 : node.end_lineno]))
    raise AssertionError(f"no test {what}")


def known_setting(what):
    module, _, name = what.partition(":")
    found = reduce(getattr, name.split("."), importlib.import_module(module))
    return {float(one) for one in _flat(found) if isinstance(one, int | float)}


def _flat(found):
    """Yield what is within a value, however deep."""
    if isinstance(found, str) or not isinstance(found, Iterable):
        yield found
        return
    for one in found.values() if isinstance(found, dict) else found:
        yield from _flat(one)


def known_bench(what):
    table, _, row = what.partition(" | ")
    rows = [one for one in json.loads(BENCH.read_text())["tables"][table] if one["what"] == row]
    assert rows, f"no row {what}"
    ratios = {round(one["cost"]["cpu"] / one["beside"]["cpu"], 2) for one in rows}
    return ratios | {float(f"{one['cost'][key]:.3g}") for one in rows for key in ("cpu", "wall")}


def known_run(what):
    """Return the numbers of a section of a page that is looked up."""
    page, _, anchor = what.partition("#")
    for title, body in sections((ROOT / page).read_text(encoding="utf-8")):
        if re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") == anchor:
            return numbers(body)
    raise AssertionError(f"no section {what}")


def known_sum(what):
    assert re.fullmatch(r"[\d.+*/() ;-]+", what), what
    return {eval(one) for one in what.split(";")}  # noqa: S307 - digits and signs alone


KNOWN = {
    "test": known_to_test,
    "setting": known_setting,
    "bench": known_bench,
    "run": known_run,
    "arithmetic": known_sum,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_figure_is_bound(page):
    bound = {}
    for name, section, found, _ in listed():
        if name == page.relative_to(ROOT).as_posix():
            bound[section] = sorted([*bound.get(section, []), *found])
    assert claims(page.read_text(encoding="utf-8")) == bound
    assert {name for name, *_ in listed()} <= {p.relative_to(ROOT).as_posix() for p in PAGES}


@pytest.mark.parametrize(("page", "section", "found", "bound"), listed())
def test_what_binds_a_figure_holds_it(page, section, found, bound):
    kind, _, what = bound.partition(": ")
    if kind == "cited":
        lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
        for figure in found:
            told = [line for line in lines if figure in line]
            assert told, section
            assert all("](http" in line or "(read)" in line for line in told), figure
        return
    known = KNOWN[kind](what)
    assert [figure for figure in found if not holds(known, figure)] == []


def test_a_figure_that_nobody_bound_is_found():
    text = (
        "# A\n\nIt takes 3 seconds, `5%`, and 90% hold; see 2.\n\n```\n# 7%\n```\n"
        "## `b`\n\n4 of 9; at least 0.36; 1,000 in [1](a-0.5.md), version 0.1.0.\n"
    )
    assert claims(text) == {"A": ["3 seconds", "90%"], "`b`": ["0.36", "1,000", "4 of 9"]}


@pytest.mark.parametrize(
    ("known", "figure", "held"),
    [
        ({0.95}, "95%", True),
        ({95.0}, "95%", True),
        ({0.9}, "95%", False),
        ({67108864.0}, "64 MiB", True),
        ({27.0}, "27 of 300", False),
        ({27.0, 300.0}, "27 of 300", True),
        ({1000.0}, "1,000", True),
        ({0.3}, ".3", True),
    ],
)
def test_a_figure_is_held_by_the_same_number_in_any_unit(known, figure, held):
    assert holds(known, figure) is held


def test_what_is_not_there_binds_nothing():
    here = Path(__file__).relative_to(ROOT).as_posix()
    assert 300.0 in known_to_test(f"{here}::test_a_figure_is_held_by_the_same_number_in_any_unit")
    assert 300.0 not in known_to_test(f"{here}::test_a_figure_that_nobody_bound_is_found")
    for missing in (
        lambda: known_to_test(f"{here}::test_of_nothing"),
        lambda: known_bench("A small file | nothing"),
        lambda: known_run("docs/reference/validation.md#nothing"),
    ):
        with pytest.raises(AssertionError, match=r"no (test|row|section)"):
            missing()
    with pytest.raises(AttributeError):
        known_setting("mipaudit.data.files.blob:NOTHING")
