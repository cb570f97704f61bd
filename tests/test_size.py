"""What counts as a line of the program, and what is too much of it."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest

from tests.places import ROOT

_LOADER = SourceFileLoader("size", str(ROOT / ".ci" / "size"))
SPEC = spec_from_loader("size", _LOADER)
assert SPEC is not None
SIZE = module_from_spec(SPEC)
sys.modules["size"] = SIZE  # its dataclass looks itself up
_LOADER.exec_module(SIZE)
LIMITS = {"tokens_a_line": 9.0, "records": 0, "loose": 0, "modules": 9, "wide": 0}


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
    assert SIZE.python(text, "a.py").lines == lines


def test_tokens_are_counted_without_layout():
    assert SIZE.python("x = [\n    1,  # one\n]\n", "a.py").tokens == 6


def test_types_with_named_fields_are_counted_but_for_options():
    text = (
        "@dataclass(frozen=True)\nclass A: ...\nclass B(NamedTuple): ...\n"
        "class C(typing.TypedDict): ...\n@dataclass\nclass NoiseOptions: ...\nclass D: ...\n"
    )
    assert SIZE.python(text, "a.py").records == 3


@pytest.mark.parametrize("text", ["x = 1; y = 2\n", "# fmt: off\nx = 1\n", "x = 1  # fmt: skip\n"])
def test_no_line_is_won_by_spelling(text):
    (wrong,) = SIZE.excesses(SIZE.python(text, "a.py"), LIMITS, (9, 99))
    assert "a.py" in wrong


def test_other_files_count_by_lines_that_are_not_blank():
    found = SIZE.other(f"a\n\n  \n{'b' * 101}\n")
    assert (found.lines, found.wide) == (2, 1)
    assert SIZE.excesses(found, LIMITS, (9, 9)) == ["lines over 100 columns: 1 of 0"]


def test_more_than_the_last_stage_and_its_way_is_too_much():
    ceiling = SIZE.ceiling_of([{"lines": 500, "tokens": 9_999}, {"lines": 100, "tokens": 800}], 10)
    assert ceiling == (110, 880)
    assert SIZE.excesses(SIZE.Counted(lines=111, tokens=880), LIMITS, ceiling) == [
        "lines: 111 of 110"
    ]
    assert SIZE.excesses(SIZE.Counted(lines=110, tokens=881), LIMITS, ceiling) == [
        "tokens: 881 of 880"
    ]


def test_every_folder_is_in_one_room():
    import tomllib

    rooms = tomllib.loads((ROOT / ".ci" / "size.toml").read_text("utf-8"))["rooms"]
    folders = [folder for room in rooms for folder in room["folders"]]
    assert len(folders) == len(set(folders))
    assert set(SIZE.rooms(ROOT / "mipaudit")) <= set(folders)
