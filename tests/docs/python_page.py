"""Writes ``docs/reference/python.md``: what the docstrings of the public names say.

Run as ``python tests/docs/python_page.py`` from anywhere.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import mipaudit
import mipaudit.sklearn
from mipaudit.statements.any_report import AnyReport

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "python.md"
_HEAD = """# Python

Every public name, as its docstring has it. This page is made from the program; a test fails where
it is out of date.

Functions have the names of [the commands](commands.md), and their keywords those of the options:
`--score-col` is `score_col=`. Data are paths, data frames, Arrow tables or arrays. An error is a
`MipauditError`, which says what is wrong, where, and what to try, and names options as they are
typed. `import mipaudit` loads nothing; each name is loaded when it is first used. A tutorial:
[your own forest](../tutorials/your-own-forest.md).

"""
_REPORTS = """## Reports

What a command finds is an object that does not change. All kinds have the methods below;
[the fields of each](json-report.md) are those of its JSON form.

"""
_SECTION = re.compile(r"^(Args|Returns|Raises|Attributes|Yields):\n", flags=re.MULTILINE)
_ITEM = re.compile(r"^    (\*{0,2}\w+): ", flags=re.MULTILINE)
# What a class has from Python itself.
_HIDDEN = "_"


def python_page():
    """Return the page."""
    public = {name: getattr(mipaudit, name) for name in mipaudit.__all__ if name[0] != _HIDDEN}
    beside = {name: getattr(mipaudit.sklearn, name) for name in mipaudit.sklearn.__all__}
    types = {name: one for name, one in public.items() if inspect.isclass(one)}
    functions = {name: one for name, one in public.items() if name not in types}
    parts = [
        _HEAD,
        "## Functions\n\n",
        *(_called(f"mipaudit.{name}", one) for name, one in functions.items()),
        "## scikit-learn\n\n",
        *(_called(f"mipaudit.sklearn.{name}", one) for name, one in beside.items()),
        _REPORTS,
        *(_called(f"report.{name}", one) for name, one in _methods(AnyReport)),
        "## Types\n\n",
        *(f"- `{name}`: {_first(one)}\n" for name, one in types.items()),
    ]
    return "".join(parts)


def _methods(kind):
    return [(name, one) for name, one in vars(kind).items() if name[0] != _HIDDEN and callable(one)]


def _called(name, one):
    """Return a section: the signature, and what the docstring says."""
    kept = [f"{part}," for part in _parameters(one)]
    inner = "\n".join(f"    {part}" for part in kept)
    call = f"{name}(\n{inner}\n)" if kept else f"{name}()"
    returned = inspect.signature(one).return_annotation
    arrow = "" if inspect.isclass(one) or returned is inspect.Signature.empty else f" -> {returned}"
    text = _prose(inspect.getdoc(one) or "")
    methods = _methods(one) if inspect.isclass(one) else []
    nested = "".join(f"- `.{method}`: {_first(found)}\n" for method, found in methods)
    nested = nested and f"{nested}\n"
    return f"### {name}\n\n```python\n{call}{arrow}\n```\n\n{text}\n{nested}"


def _parameters(one):
    """Return the parameters as they stand in a signature, with the marks between their kinds."""
    found = []
    named = False
    for part in inspect.signature(one).parameters.values():
        if part.name == "self":
            continue
        if part.kind is part.KEYWORD_ONLY and not named:
            found.append("*")
        named |= part.kind in {part.VAR_POSITIONAL, part.KEYWORD_ONLY}
        star = {part.VAR_POSITIONAL: "*", part.VAR_KEYWORD: "**"}.get(part.kind, "")
        default = "" if part.default is part.empty else f" = {part.default!r}"
        found.append(f"{star}{part.name}: {part.annotation}{default}")
    return found


def _prose(text):
    """Return a docstring as markdown: its sections with a line for each name."""
    head, *rest = _SECTION.split(text)
    parts = [_marked(head.strip())]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        parts.append(f"**{title}**\n\n{_listed(body)}")
    return "\n\n".join(parts) + "\n"


def _listed(body):
    _, *rest = _ITEM.split(f"{body.rstrip()}\n")
    if not rest:
        return _marked(" ".join(body.split()))
    rows = zip(rest[::2], rest[1::2], strict=True)
    return "\n".join(f"- `{name}`: {_marked(' '.join(said.split()))}" for name, said in rows)


def _marked(text):
    return text.replace("``", "`").replace("|", "\\|")


def _first(one):
    paragraph = (inspect.getdoc(one) or "").split("\n\n", 1)[0]
    return _marked(" ".join(paragraph.split()))


if __name__ == "__main__":
    PAGE.write_text(python_page(), encoding="utf-8")
