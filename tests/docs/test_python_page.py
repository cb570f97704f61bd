"""The reference of Python's functions: current, and whole."""

from __future__ import annotations

import inspect

import mipaudit
from mipaudit.options.public import options_of
from tests.docs.python_page import PAGE, python_page

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_the_docstrings_say():
    assert python_page() == TEXT, "Run: python tests/docs/python_page.py"


def test_every_public_name_and_every_keyword_stands_in_it():
    for name in mipaudit.__all__:
        one = getattr(mipaudit, name)
        if name.startswith("_"):
            continue
        assert f"`{name}`:" in TEXT if inspect.isclass(one) else f"\n### mipaudit.{name}\n" in TEXT
        for option in options_of(one) if hasattr(one, "options") else ():
            section = TEXT.split(f"\n### mipaudit.{name}\n")[1].split("\n### ")[0]
            assert f"\n- `{option.name}`: " in section, (name, option.name)


def test_every_name_has_words_and_no_mark_is_left_open():
    assert TEXT.count("```") % 2 == 0
    assert "``" not in TEXT.replace("```", "")
    assert "`: \n" not in TEXT
    assert not [line for line in TEXT.splitlines() if line.endswith("`:")]
