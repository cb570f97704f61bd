"""What counts as a line of the program, and what is too much of it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.places import ROOT, load_script

SIZE = load_script(ROOT / ".ci" / "size.py")
BUDGETS = tomllib.loads((ROOT / ".ci" / "size.toml").read_text("utf-8"))


def measured(text, name="a.py"):
    return SIZE.measure(Path("mipaudit") / name, text)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('"""Doc."""\n\n# why\nx = 1\n', 1),
        ('x = """a\n\nb"""\n', 3),
        ('def f():\n    """Say\n\n    more."""\n    return (\n        1\n    )\n', 4),
        ("class A:\n    'Doc.'\n    x: int\n    'no docstring'\n", 3),
        ("", 0),
    ],
)
def test_lines_hold_a_token_that_is_no_comment_and_no_docstring(text, lines):
    assert len(measured(text).lines) == lines


def test_other_files_count_by_lines_that_are_not_blank():
    found = measured(f"a\n\n  \n{'b' * 101}\n", "a.toml")
    assert (len(found.lines), found.tokens, SIZE.wide(found)) == (2, 0, 1)


# Python 3.12 and newer cut a formatted string into parts, which must not count.
@pytest.mark.parametrize(
    ("text", "tokens"),
    [("x = [\n    1,  # one\n]\n", 6), ("f'{a:{b}} and {c!r}'\n", 1), ("x = f'{a};'\n", 3)],
)
def test_tokens_are_counted_without_layout(text, tokens):
    assert measured(text).tokens == tokens
    assert SIZE.faults(measured(text)) == []


@pytest.mark.parametrize("text", ["x = 1; y = 2\n", "# fmt: off\nx = 1\n", "x = 1  # fmt: skip\n"])
def test_no_line_is_won_by_spelling(text):
    assert len(SIZE.faults(measured(text))) == 1


def test_types_with_named_fields_are_of_any_making():
    text = (
        "@dataclass(frozen=True)\nclass A: ...\nclass B(NamedTuple): ...\nclass C(msgspec.Struct):"
        " ...\nclass D(C): ...\nE = namedtuple('E', 'x')\nclass F: ...\nclass G(Generic[T]): ...\n"
    )
    assert SIZE.types_with_fields([measured(text).tree]) == 5


def of_stages(*stages, **settings):
    """Return what binds after these stages."""
    return SIZE.binding({**BUDGETS, "stages": list(stages), **settings})


def test_a_stage_on_its_way_may_be_larger_and_one_that_has_ended_binds():
    ended, begun = {"name": "S0", "lines": 100, "tokens": 800}, {"name": "S1"}
    assert of_stages(ended)[1]["lines"] == 100
    more = BUDGETS["under_way"]["lines"]
    assert of_stages(ended, begun)[1]["lines"] == 100 + more
    found = {"lines": 101, "tokens": 800}
    least, most = of_stages(ended)
    same = {name: limit for name, limit in most.items() if name in found}
    assert SIZE.excesses(found, least, same) == ["lines: at most 100, not 101.00"]


def test_the_end_binds_at_the_end_alone():
    last = {"name": BUDGETS["last_stage"], "lines": 90_000, "tokens": 900_000}
    least, most = of_stages(last)
    assert (most["lines"], most["tokens"], most["modules"]) == (42_000, 365_000, 300)
    assert least["lines of a function, median"] == 6
    assert of_stages(last, floor_reached=True)[1]["lines"] == 44_000
    assert "modules" not in of_stages({**last, "name": "S8"})[1]
