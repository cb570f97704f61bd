"""Layouts and entries are data: no code in them, and every place of theirs names a form."""

from __future__ import annotations

import ast
import re
from importlib import import_module

import pytest

from mipaudit.report.messages.told import _PLACE, _UNSAID, FORMS, Entry
from tests.places import ROOT

PACKAGE = ROOT / "mipaudit"
LAYOUTS = sorted(PACKAGE.glob("commands/**/layout.py"))
ENTRIES = {
    f"{subject}.{code}": entry
    for subject in sorted(path.stem for path in PACKAGE.glob("report/messages/*.py"))
    for code, entry in getattr(
        import_module(f"mipaudit.report.messages.{subject}"), "ENTRIES", {}
    ).items()
}
TEXTS = {
    **{name: (entry.sentence,) for name, entry in ENTRIES.items()},
    **{
        place: (import_module(f"mipaudit.{place}.layout").LAYOUT,)
        for place in (".".join(path.relative_to(PACKAGE).parent.parts) for path in LAYOUTS)
    },
}
CODE = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.JoinedStr, ast.IfExp),
    *(ast.If, ast.For, ast.While, ast.Match, ast.Try, ast.With, ast.comprehension, ast.BoolOp),
    *(ast.Compare, ast.Call, ast.Subscript),
)


def texts(part):
    """Yield the texts within the data of a layout."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, tuple):
        for one in part:
            yield from texts(one)


@pytest.mark.parametrize("name", TEXTS)
def test_every_place_names_a_form(name):
    for text in texts(TEXTS[name]):
        for place in _PLACE.finditer(text):
            form = place[2] or "name"
            assert "|" in form or form in FORMS or form in _UNSAID
        assert not re.search(r"[{}]", _PLACE.sub("", text))
        assert not re.search(r"\[[^\]]*\[", text), "a part within a part"
        # What is left out where a value is missing names one.
        assert all(_PLACE.search(part[1]) for part in re.finditer(r"\[([^\[\]]*)\]", text))


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.parent.name)
def test_a_layout_holds_no_code(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    made = {"Layout", "Table", "Column", "Cases"}
    told = {
        id(one)
        for one in ast.walk(tree)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in made
    }
    found = [one for one in ast.walk(tree) if isinstance(one, CODE) and id(one) not in told]
    assert [ast.unparse(one) for one in found] == []


def test_every_layout_is_found_and_every_code_is_of_one_subject():
    assert {path.parent.name for path in LAYOUTS} >= {"check", "estimate", "noise"}
    assert all(isinstance(one, Entry) for one in ENTRIES.values())
    codes = [name.partition(".")[2] for name in ENTRIES]
    assert len(codes) == len(set(codes))


def test_where_anything_is_decided_no_sentence_is_imported():
    telling = set()
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        if place.parts[0] == "report":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            if (module or "").startswith("mipaudit.report.messages"):
                telling.add(place.as_posix())
    assert telling == set()
