#!/usr/bin/env python3
"""How large the package is, beside what it may be: ``make size``.

Counted is every file that is installed, but the pages of ``docs/``. Of Python the lines that
hold a token other than comments and docstrings, of other files the lines that are not blank.
``size.toml`` has the budgets; the program ends with 1 where one that binds is exceeded.
"""

from __future__ import annotations

import ast
import io
import math
import re
import sys
import tokenize
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
WIDEST = 100
UNFORMATTED = re.compile(r"fmt: *(?:off|skip)|yapf: *disable|(?:ruff|flake8): *noqa")
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
# From Python 3.12 on a formatted string is many tokens. It counts as one everywhere.
OPENS, CLOSES = (
    {getattr(tokenize, f"{kind}STRING_{end}", None) for kind in "FT"} for end in ("START", "END")
)
BASES = {"NamedTuple", "TypedDict", "Struct"}
INHERITED = {"TypedDict", "Struct"}
CALLS = BASES | {"namedtuple", "make_dataclass", "defstruct"}
DECORATORS = {"dataclass", "define", "frozen"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Measured(NamedTuple):
    """A file: what counts of it, and its syntax tree if it is Python."""

    path: Path
    text: str
    lines: frozenset[int]
    tokens: int = 0
    comments: tuple[str, ...] = ()
    joined: bool = False
    tree: ast.Module = ast.Module([], [])


def measure(path: Path, text: str) -> Measured:
    """Return what counts of a file."""
    if path.suffix != ".py":
        filled = (n for n, line in enumerate(text.splitlines(), 1) if line.strip())
        return Measured(path, text, frozenset(filled))
    tree = ast.parse(text)
    left_out = {(said.lineno, said.col_offset) for _, said in documented(tree)}
    lines: set[int] = set()
    comments, tokens, depth, joined = [], 0, 0, False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.append(token.string)
        elif token.type not in LAYOUT and token.start not in left_out:
            lines.update(range(token.start[0], token.end[0] + 1))
            depth -= token.type in CLOSES
            tokens += depth == 0 and token.type not in CLOSES
            joined |= depth == 0 and token.string == ";"
            depth += token.type in OPENS
    return Measured(path, text, frozenset(lines), tokens, tuple(comments), joined, tree)


def documented(tree: ast.Module) -> list[tuple[str, ast.Constant]]:
    """Return the docstrings of a module, its classes and functions, each with the name."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function):
            said = node.body[0].value if node.body and isinstance(node.body[0], ast.Expr) else None
            if isinstance(said, ast.Constant) and isinstance(said.value, str):
                found.append((getattr(node, "name", ""), said))
    return found


def faults(file: Measured) -> list[str]:
    """Return what makes a file shorter, but not less."""
    said = [f"has {one!r}" for one in file.comments if UNFORMATTED.search(one)]
    return said + ["joins statements with ;"] * file.joined


def wide(file: Measured) -> int:
    """Return how many lines of a file that no formatter keeps are too wide."""
    rows = () if file.path.suffix == ".py" else file.text.splitlines()
    return sum(len(row) > WIDEST for row in rows)


def last_names(nodes: list[ast.expr]) -> set[str]:
    """Return the names of decorators, bases or functions, without modules and arguments."""
    return {re.split(r"[(\[]", ast.unparse(node))[0].split(".")[-1] for node in nodes}


def types_with_fields(trees: list[ast.Module]) -> int:
    """Count data classes, named tuples, typed dicts and structs. Options are none of them."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    calls = [one for one in nodes if isinstance(one, ast.Call) and last_names([one.func]) & CALLS]
    classes = {one: last_names(one.bases) for one in nodes if isinstance(one, ast.ClassDef)}
    family = set(INHERITED)
    while heirs := {one.name for one, bases in classes.items() if bases & family} - family:
        family |= heirs
    made = [last_names(one.decorator_list) & DECORATORS for one in classes]
    inherited = [bases & (BASES | family) for bases in classes.values()]
    return len(calls) + sum(map(bool, map(set.union, made, inherited)))


def span(node: ast.stmt) -> range:
    """Return the numbers of a statement's lines."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def at_share(share: float, sizes: list[int]) -> int:
    """Return the least size that this share of the sizes does not exceed."""
    return sorted(sizes)[math.ceil(share * len(sizes)) - 1] if sizes else 0


def figures(files: list[Measured]) -> dict[str, float]:
    """Return the figures of the whole, by the names that size.toml has for them."""
    modules = [file for file in files if file.path.suffix == ".py"]
    nodes = [(file, node) for file in modules for node in ast.walk(file.tree)]
    functions = [len(file.lines & {*span(n)}) for file, n in nodes if isinstance(n, Function)]
    imports = [len(span(n)) for _, n in nodes if isinstance(n, ast.Import | ast.ImportFrom)]
    names = [name for file in modules for name, _ in documented(file.tree) if name]
    public = [name for name in names if not name.startswith("_")]
    code = sum(len(file.lines) for file in modules) or 1
    lines, tokens = counted(files)
    return {
        "lines": lines,
        "tokens": tokens,
        "tokens a line": tokens / code,
        "modules": len(modules),
        "types with named fields": types_with_fields([file.tree for file in modules]),
        "dict[str, Any]": sum(file.text.count("dict[str, Any]") for file in modules),
        "imports, of 100 lines": 100 * sum(imports) / code,
        "lines of a function, median": at_share(0.5, functions),
        "lines of a function, 9 of 10": at_share(0.9, functions),
        "docstrings, of 1,000 lines": 1000 * len(public) / code,
        "lines over 100 columns": sum(map(wide, files)),
        "comments, of 1,000 lines": 1000 * sum(len(file.comments) for file in modules) / code,
    }


def counted(files: Iterable[Measured]) -> tuple[int, int]:
    """Return the lines and the tokens of files."""
    sizes = [(len(file.lines), file.tokens) for file in files]
    return sum(lines for lines, _ in sizes), sum(tokens for _, tokens in sizes)


def binding(size: dict[str, Any]) -> tuple[dict[str, float], dict[str, float]]:
    """Return what the figures must be by now: at least, and at most."""
    *_, ended = (stage for stage in size["stages"] if "lines" in stage)
    under_way = ended is not size["stages"][-1]
    stage = {name: ended[name] + under_way * more for name, more in size["under_way"].items()}
    if ended["name"] != size["last_stage"]:
        return {}, size["always"] | stage
    floor = size["floor"] if size["floor_reached"] else {}
    return size["least"], size["always"] | size["most"] | floor


def excesses(found: dict[str, float], least: dict[str, float], most: dict[str, float]) -> list[str]:
    """Return a line for each figure that is too small or too large."""
    under = [name for name in least if found[name] < least[name]]
    over = [name for name in most if found[name] > most[name]]
    said = [f"{name}: at least {least[name]:,}, not {found[name]:,.2f}" for name in under]
    return said + [f"{name}: at most {most[name]:,}, not {found[name]:,.2f}" for name in over]


def part(path: Path) -> str:
    """Return where in the package a file is: its room, and of which command."""
    folders = path.parts[1:-1]
    return "/".join(folders[: 2 if "commands" in folders else 1]) or "top"


def room_rows(files: list[Measured], rooms: dict[str, Any]) -> Iterator[str]:
    """Yield a row for each room with its budget, and rows for its parts."""
    yield f"{'room':<32}{'lines':>10}{'budget':>10}{'tokens':>10}"
    for name, room in rooms.items():
        inside = [file for file in files if part(file.path).split("/")[0] in room["folders"]]
        lines, tokens = counted(inside)
        yield f"{name:<32}{lines:>10,}{room['lines']:>10,}{tokens:>10,}"
        parts = sorted({part(file.path) for file in inside if file.lines})
        for one in parts if len(parts) > 1 else ():
            lines, tokens = counted(file for file in inside if part(file.path) == one)
            yield f"  {one:<30}{lines:>10,}{'':10}{tokens:>10,}"


def figure_rows(found: dict[str, float], size: dict[str, Any]) -> Iterator[str]:
    """Yield a row for each figure, with what binds now, and what will in the end."""
    yield f"{'the whole':<32}{'':>10}{'at most':>10}{'at last, least and most':>26}"
    ends = (binding(size)[1], size["least"], size["always"] | size["most"])
    for name, figure in found.items():
        now, *last = (f"{end[name]:,}" if name in end else "" for end in ends)
        shown = f"{figure:,.{0 if figure == int(figure) else 1}f}"
        yield f"{name:<32}{shown:>10}{now:>10}{last[0]:>13}{last[1]:>13}".rstrip()


def files_below(folder: Path, pattern: str = "*") -> list[Measured]:
    """Return the files of a folder, measured, but for what Python stores beside them."""
    paths = [path for path in sorted(folder.rglob(pattern)) if path.is_file()]
    kept = [path for path in paths if "__pycache__" not in path.parts]
    return [measure(path.relative_to(folder.parent), path.read_text("utf-8")) for path in kept]


def main() -> int:
    """Print the tables, and what is wrong; return 1 if anything is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    size = tomllib.loads((ROOT / ".ci" / "size.toml").read_text("utf-8"))
    installed = project["hatch"]["build"]["targets"]["wheel"]["only-include"]
    files = [file for name in installed if name != "docs" for file in files_below(ROOT / name)]
    ignored = project["ruff"]["lint"]["per-file-ignores"].values()
    found = figures(files) | {"per-file ignores of ruff": sum(map(len, ignored))}
    for folder in ("tests", "benchmarks"):
        found[f"lines of {folder}"], _ = counted(files_below(ROOT / folder, "*.py"))
    said = [f"{file.path} {fault}" for file in files for fault in faults(file)]
    rooms = {folder for room in size["rooms"].values() for folder in room["folders"]}
    strange = {part(file.path).split("/")[0] for file in files} - rooms
    said += [f"mipaudit/{name} is in no room of .ci/size.toml" for name in sorted(strange)]
    said += excesses(found, *binding(size))
    rows = [*room_rows(files, size["rooms"]), "", *figure_rows(found, size)]
    sys.stdout.write("\n".join([*rows, *([""] if said else []), *said]) + "\n")
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
