"""The house: few modules a folder, none of them long, no circle, and its page tells the truth."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter

import pytest

from mipaudit.options.commands import TABLE
from mipaudit.options.declare import declared
from mipaudit.statements.kinds import named
from tests.places import ROOT

PACKAGE = ROOT / "mipaudit"
FOLDERS = [path.parent for path in sorted(PACKAGE.rglob("__init__.py"))]
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_MODULES, MOST_FOLDERS, DEEPEST, LONGEST = 12, 25, 4, 600
PAGE = ROOT / "docs" / "how-to" / "contributing.md"


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_a_folder_can_be_taken_in_at_a_glance(folder):
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    folders = [path for path in folder.iterdir() if (path / "__init__.py").exists()]
    assert len(modules) <= MOST_MODULES
    assert len(folders) <= MOST_FOLDERS
    assert len(folder.relative_to(PACKAGE).parts) <= DEEPEST
    assert [path.name for path in modules if path.read_text("utf-8").count("\n") > LONGEST] == []


def test_nothing_imports_what_imports_it():
    """Imports within functions and for types count too."""
    names = {name_of(path) for path in MODULES}
    imports = defaultdict(set)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                whole = {f"{node.module}.{alias.name}" for alias in node.names} & names
                imports[name_of(path)] |= whole or ({node.module} & names)
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as circle:
        pytest.fail(" imports ".join(reversed(circle.args[1])))


def test_the_page_names_what_is_there():
    """Every module and function in the path of a command, every room in the plan."""
    text = PAGE.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and ".py`" in line]
    path = rows[rows.index(next(row for row in rows if "cli/app.py" in row)) :]
    for row in path:
        where = None
        for word in re.findall(r"`([\w/.]+)`", row.split("|")[2]):
            if not word.endswith(".py"):
                assert re.search(rf"^\s*(?:def|class) {word.split('.')[-1]}\b", where, re.MULTILINE)
                continue
            near = PACKAGE / "commands" / "estimate" / word
            where = (near if near.exists() else PACKAGE / word).read_text(encoding="utf-8")
    plan = text.split("```text")[1].split("```")[0]
    rooms = set(re.findall(r"(\w+)/", plan)) - {"mipaudit"}
    there = {path.name for path in FOLDERS if len(path.relative_to(PACKAGE).parts) == 1}
    there |= {path.name for path in (PACKAGE / "commands").iterdir() if path.is_dir()}
    assert rooms == there - {"__pycache__"}


COMMAND_LINE = re.compile(
    r"(?<![\w-])(?:mipaudit|estimate|epsilon|noise|query|losses|shift|simulate)(?![\w-])"
)
FLAG = re.compile(r"--[a-z][a-z-]*")


def sentences(path):
    """Return the texts of a module, without docstrings and the examples of a command's help."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            left_out |= {id(one.value) for one in node.body[:1] if isinstance(one, ast.Expr)}
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "HELP":
            left_out.add(id(node.value))
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in left_out
    ]


def test_the_flag_of_an_option_follows_from_its_name_or_stands_in_one_file():
    """Sentences name it by its keyword; command lines to type are command lines."""
    classes = [named(place) for row in TABLE for place in (row.asked, row.shown)]
    options = [one for kind in classes for one in declared(kind)]
    flags, own = set(), set()
    for one in options:
        flags |= set(FLAG.findall(f"{one.option.flag} {one.option.off}"))
        derived = one.option.flag == f"--{one.name.replace('_', '-')}"
        own |= set(FLAG.findall(f"{'' if derived else one.option.flag} {one.option.off}"))
    found = defaultdict(set)
    for path in MODULES:
        if path.is_relative_to(PACKAGE / "cli"):
            continue  # it reads and corrects what was typed
        texts = [text for text in sentences(path) if not COMMAND_LINE.search(text)]
        for flag in {flag for text in texts for flag in FLAG.findall(text)}:
            found[flag].add(name_of(path))
    assert {flag: sorted(found[flag]) for flag in flags if len(found[flag]) != (flag in own)} == {}
