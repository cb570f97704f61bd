"""Policy files made from the options that commands declare, in the ways that TOML can say them."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

from mipaudit.options.checked_limits import Limited
from mipaudit.options.commands import TABLE
from mipaudit.options.declare import declared
from mipaudit.statements.kinds import named
from tests.fuzz.bases import base_files
from tests.fuzz.runs import Case

if TYPE_CHECKING:
    import random

    from mipaudit.options.declare import Declared

_COUNTS: Final = ("--tp", "48", "--fn", "2", "--fp", "4", "--tn", "46")
# Each with an input that takes little time, and how often.
_RUNS: Final = (
    *(("estimate", "a.summary", "b.summary"),) * 5,
    *(("bounds", "--epsilon", "1"), ("bounds", "--advantage", "0.2")) * 2,
    *(("noise", "--eta", "0.1"), ("epsilon", "--design", "independent-runs", *_COUNTS)),
    *(("records", "a.csv"), ("attack", "a.csv"), ("check", "a.csv"), ("estimate", "a.csv")),
)
# What writes elsewhere, connects, starts processes, or takes long.
_LEFT_OUT: Final = frozenset(
    {"output", "format", "report", "curve", "plot", "resume", "scheduler", "engine", "jobs"}
    | {"executor", "settings", "progress", "release", "output_format", "full", "exit_zero"}
    | {"limits", "waivers", "data", "scores", "blind", "canaries", "counting_queries", "sha256"}
)
_SPECIAL: Final[dict[str, tuple[Any, ...]]] = {
    "metric": (["ppv"], "f1", ["ppv", "f1"], ["mcc"]),
    "max_metric": (["ppv=0.6"], "f1=0.9"),
    "max_tpr_at_fpr": ("0.05@0.01", "0.9@0.1", "0.02@0.02"),
    "seed": (7, 0, "fresh", -3),
    "by": ("note", ["note"], "absent"),
    "score_col": (["score"], "score", ["score", "note"], "absent"),
    "member_col": ("member", "note"),
    "where": ("note = n0", "note = nothing"),
    "data_subjects": (10, 10**10),
    "cells": (4, 64),
    "baseline": ("0.1,0.5",),
    "success": ("0.6@0.5",),
    "tpr_at_fpr": ("0.1@0.01",),
}
_NUMBERS: Final = (0.5, 0.1, 0.3, 0.9, 0.95, 0.99, 0.05, 1e-5, 0, 1, 2, 5, 100, 1e-300, 1e300)
_WORDS: Final = (
    "a name",
    "né",
    "the clinic",
    "x" * 200,
    '"quoted"',
    "back\\slash",
    "\u202eturned",
    "score",
)
_QUANTITIES: Final = get_args(Limited)
_WRONG: Final = (True, -1, 0, 1.5, "x", [], [1], {}, 10**400, math.nan, math.inf, [["a"]], "7")


@cache
def _options(command: str) -> tuple[Declared, ...]:
    row = next(one for one in TABLE if one.name == command)
    every = [one for kind in (row.asked, row.shown) for one in declared(named(kind))]
    wanted = (one for one in every if one.name not in _LEFT_OUT and not one.option.is_input)
    return tuple(one for one in wanted if one.option.flag)


def _values(one: Declared) -> tuple[Any, ...]:
    """Return values of an option, most of them within its range."""
    if one.name in _SPECIAL:
        return _SPECIAL[one.name]
    if get_origin(one.kind) is Literal:
        return get_args(one.kind)
    if one.kind is bool:
        return (True, False)
    if one.kind in {int, float} and one.option.read is None:
        numbers = [number for number in _NUMBERS if one.kind is float or isinstance(number, int)]
        within = one.option.within
        return tuple(n for n in numbers if within is None or within.holds(n))
    return _WORDS if one.kind is str and one.option.read is None else ()


def _settings(command: str, draw: random.Random, most: int) -> dict[str, Any]:
    found = {}
    for one in draw.sample(_options(command), draw.randrange(most + 1)):
        values = _values(one)
        key = (one.option.flag or "").split("/")[-1].lstrip("-")
        if not values or not key:
            continue
        value = draw.choice(values)
        if draw.random() < 0.02:
            value = draw.choice(_WRONG)
        found[key if draw.random() < 0.2 else key.replace("-", "_")] = value
    return found


def _limit(draw: random.Random) -> dict[str, Any]:
    quantity = draw.choice(_QUANTITIES)
    found: dict[str, Any] = {"quantity": quantity, "max": draw.choice((0.6, 0.9, 0.3, 0.95, 1))}
    if quantity == "tpr_at_fpr":
        found["fpr"] = draw.choice((0.01, 0.1))
    if quantity == "metric":
        found["metric"] = draw.choice(("ppv", "f1", "mcc"))
    if quantity == "any_difference":
        found["max"] = 0
    if quantity == "difference" or (quantity == "advantage" and draw.random() < 0.2):
        found["group"] = draw.choice(("*", "n0", "note=n0", "absent"))
    if draw.random() < 0.3:
        found["score"] = draw.choice(("score", "absent", "*"))
    if quantity in {"advantage", "excess"} and draw.random() < 0.4:
        found["against"] = draw.choice(("any", "thresholds", "intervals-1", "learned"))
    if quantity == "excess" and draw.random() < 0.3:
        found["prior"] = draw.choice((0.5, 0.1))
    return found


def _waiver(draw: random.Random) -> dict[str, Any]:
    found = {
        "quantity": draw.choice(_QUANTITIES),
        "reason": draw.choice(("known", "é", "0")),
        "person": "A. Person",
        "expires": draw.choice(("2099-12-31", "2001-01-01", "2026-02-28")),
    }
    if draw.random() < 0.5:
        found["score"] = "score"
    return found


def _spelled(value: Any, draw: random.Random) -> str:
    """Return a value as TOML, in one of the ways to say it."""
    ways: tuple[str, ...]
    match value:
        case bool():
            ways = (str(value).lower(),)
        case int():
            ways = (str(value), f"{value:_}", hex(value) if value >= 0 else str(value))
        case float():
            ways = (repr(value), f"{value:.17e}")
        case list():
            within = ", ".join(_spelled(one, draw) for one in value)
            ways = (f"[{within}]", f"[\n  {within},\n]" if value else "[ ]")
        case dict():
            within = ", ".join(f"{key} = {_spelled(one, draw)}" for key, one in value.items())
            ways = (f"{{{within}}}",)
        case _:
            quoted = json.dumps(value, ensure_ascii=draw.random() < 0.5)
            ways = (quoted, quoted if "'" in value or not value.isprintable() else f"'{value}'")
    return draw.choice(ways)


def _lines(table: dict[str, Any], draw: random.Random) -> list[str]:
    found = []
    for key, value in table.items():
        name = f'"{key}"' if draw.random() < 0.05 else key
        note = "  # a remark" if draw.random() < 0.1 else ""
        found.append(f"{name}{draw.choice((' = ', '=', '   =  '))}{_spelled(value, draw)}{note}")
    draw.shuffle(found)
    return found


def _document(command: str, draw: random.Random) -> str:
    at_top = command if draw.random() < 0.8 else draw.choice(("estimate", "records", "attack"))
    lines = _lines(_settings(at_top, draw, 4), draw)
    tables: dict[str, dict[str, Any]] = {}
    for name in (command, "declare", "records", "attack"):
        if draw.random() < 0.25:
            of = "estimate" if name == "declare" else name
            found = _settings(of, draw, 3)
            if name == "declare":
                kept = ("title", "author", "controller", "data", "release", "seen")
                found = {key: one for key, one in found.items() if key.startswith(kept)}
            tables[name] = found
    for name, table in tables.items():
        dotted = draw.random() < 0.2
        lines += [f"{name}.{line}" for line in _lines(table, draw)] if dotted else []
        tables[name] = {} if dotted else table
    for name, table in tables.items():
        lines += [f"[{name}]", *_lines(table, draw)] if table else []
    for name, make in (("limit", _limit), ("waiver", _waiver)):
        for _ in range(draw.choice((0, 0, 1, 2, 3))):
            one = make(draw)
            if draw.random() < 0.05:
                one[draw.choice([*one, "unknown"])] = draw.choice(_WRONG)
            lines += [f"[[{name}]]", *_lines(one, draw)]
    if draw.random() < 0.03:
        lines.insert(draw.randrange(len(lines) + 1), draw.choice(("unknown = 1", "= 3", "[x]")))
    text = draw.choice(("\n", "\n", "\r\n", "\n\n")).join(lines)
    return text + "\n"


def policy(draw: random.Random) -> Case:
    """Return a policy file, and a command that is run with it."""
    words = draw.choice(_RUNS)
    command = words[0]
    text = _document(command, draw)
    name, files = "policy.toml", dict(base_files())
    if draw.random() < 0.1:
        name, text = (
            "pyproject.toml",
            f"[tool.mipaudit]\n{text}".replace("\n[", "\n[tool.mipaudit."),
        )
        text = text.replace("[tool.mipaudit.[", "[[tool.mipaudit.").replace(
            "[tool.mipaudit.tool.mipaudit]", "[tool.mipaudit]"
        )
    found = ("--config", name) if name == "policy.toml" or draw.random() < 0.5 else ()
    needed = {one: files[one] for one in words if one in files}
    output = "out.csv" if command == "records" else "out"
    return Case(
        (*words, *found, "-q", "-o", output),
        {**needed, name: text.encode("utf-8", "surrogatepass")},
        secrets=_secrets(needed),
        outputs=(output,),
    )


def _secrets(files: dict[str, bytes]) -> tuple[str, ...]:
    """Return the beginnings of the scores in a file of them."""
    lines = [line for data in files.values() if data[:6] == b"member" for line in data.split()[1:9]]
    return tuple(line.split(b",")[1][:9].decode() for line in lines)
