"""Runs the list of `runs.toml`, and takes from each run what is compared."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shlex
import shutil
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.golden.extract_v2 import extract as extract_v2
from tests.golden.extract_v3 import extract as extract_v3

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.golden.result import Extract

HERE = Path(__file__).parent
# By the number of the JSON format; the next one has an extractor of its own.
EXTRACTORS = {"2": extract_v2, "3": extract_v3}
MESSAGE = {"text", "code", "values"}
# Commands that make no report.
WITHOUT_REPORT = {"init", "schema", "summarize", "help", "python"}


class Run(NamedTuple):
    """One run of the list."""

    name: str
    words: tuple[str, ...]
    before: Sequence[str] = ()
    env: Mapping[str, str] = {}
    stdin: str | None = None
    files: Sequence[str] = ()
    slow: bool = False
    drawn: bool = False


@dataclass(slots=True)
class Result:
    """What one run gave: as JSON it is kept and compared."""

    exit: int
    format: str = ""
    figures: list = field(default_factory=list)
    verdicts: list = field(default_factory=list)
    codes: list = field(default_factory=list)
    others: list = field(default_factory=list)
    files: dict = field(default_factory=dict)


def all_runs() -> list[Run]:
    """Return the runs of the list, in its order."""
    groups = tomllib.loads((HERE / "runs.toml").read_text("utf-8"))["group"]
    return [
        Run(name, as_words(line), **{key: value for key, value in group.items() if key != "runs"})
        for group in groups
        for name, line in group["runs"].items()
    ]


def as_words(line: str) -> tuple[str, ...]:
    """Return the words of a run, which asks for JSON where it names no form."""
    words = shlex.split(line)
    if words[0] in WITHOUT_REPORT or "-f" in words:
        return tuple(words)
    return (*words, "-f", "json")


def perform(run: Run, folder: Path, inputs: Path, start) -> Result:
    """Do a run in a folder that is not there yet.

    `start(words, folder, env, stdin)` runs a command to its end; it returns its exit code and
    the bytes that it wrote to standard output and standard error.
    """
    shutil.copytree(inputs, folder, copy_function=os.link)
    for line in run.before:
        status, _, said = start(tuple(shlex.split(line)), folder, run.env, None)
        if status not in (0, 1, 3):
            return Result(exit=status, codes=["before: " + error_code(said)])
    stdin = None if run.stdin is None else folder / run.stdin
    status, out, said = start(run.words, folder, run.env, stdin)
    result = Result(exit=status)
    if (report := as_said(json_object(out))) and "schema" in report:
        result.format = report["schema"].rpartition("/")[2]
        found: Extract = EXTRACTORS[result.format](report)
        result.figures = [[each.key, each.lower, each.value, each.upper] for each in found.figures]
        result.verdicts = sorted(list(each) for each in found.verdicts)
        result.codes = sorted(found.codes)
        result.others = sorted(list(each) for each in found.others)
        if run.drawn:
            _without_draws(result)
    elif status not in (0, 1, 3):
        result.codes = [error_code(said)]
    result.files = {name: cells_of(folder / name) for name in run.files}
    shutil.rmtree(folder)
    return result


def _without_draws(result: Result) -> None:
    """Keep of a run whose seed is drawn anew what no draw decides: keys, not numbers."""
    result.figures = sorted([_without_n(key), None, None, None] for key, *_ in result.figures)
    result.verdicts = sorted(
        [_without_n(what), how] for what, how in result.verdicts if not what.startswith("seed|")
    )
    result.others = []


def _without_n(key: str) -> str:
    """Return a key without its number of rows, which may be those outside a burn-in."""
    parts = key.split("|")
    return "|".join((*parts[:6], "", *parts[7:]))


def json_object(text: bytes) -> dict | None:
    """Return the object that a text begins with, None where it begins with none."""
    try:
        found = json.JSONDecoder().raw_decode(text.decode().lstrip())[0]
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def as_said(part):
    """Return a part of a report with the text of each message in its place: it is no row."""
    if isinstance(part, dict):
        if part.keys() == MESSAGE:
            return part["text"]
        return {name: as_said(each) for name, each in part.items()}
    return [as_said(each) for each in part] if isinstance(part, list) else part


def error_code(said: bytes) -> str:
    """Return the code of an error, or the first line where it has none."""
    for line in said.splitlines():
        if (found := json_object(line)) and "error" in found:
            return f"error:{found['error']['code']}"
    return "says:" + said.decode().partition("\n")[0]


def cells_of(path: Path) -> str:
    """Return a digest of the cells of a table, numbers as their bits."""
    if not path.exists():
        return "missing"
    digest = hashlib.sha256()
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.reader(file):
            digest.update("\x1f".join(map(bits_of, row)).encode() + b"\n")
    return digest.hexdigest()


def bits_of(cell: str) -> str:
    """Return a number as the bits of a float, other text as it is."""
    try:
        return float(cell).hex()
    except ValueError:
        return cell
