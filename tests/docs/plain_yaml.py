"""Reads the YAML that this project writes: block mappings and lists, flow lists, block text.

Nothing else of YAML is read, and what is not read is an error: no parser is a requirement of
this project, and the files stay plain.
"""

from __future__ import annotations

import re

KEY = re.compile(r"([\w.-]+):(?:\s+(.*))?$")


def read(text):
    """Return the mapping or the list that a text holds."""
    lines = [line.rstrip() for line in text.splitlines()]
    value, rest = _block(lines, 0)
    if rest:
        raise ValueError(f"cannot read: {rest[0]}")
    return value


def _block(lines, indent):
    lines = _skip(lines)
    return _list(lines, indent) if lines[0].lstrip().startswith("- ") else _mapping(lines, indent)


def _skip(lines):
    while lines and (not lines[0] or lines[0].lstrip().startswith("#")):
        lines = lines[1:]
    return lines


def _depth(line):
    return len(line) - len(line.lstrip())


def _list(lines, indent):
    items = []
    while (lines := _skip(lines)) and lines[0].startswith(" " * indent + "- "):
        first = lines[0][indent + 2 :]
        if KEY.match(first):
            item, lines = _mapping([" " * (indent + 2) + first, *lines[1:]], indent + 2)
        else:
            item, lines = _scalar(first), lines[1:]
        items.append(item)
    return items, lines


def _mapping(lines, indent):
    found = {}
    while (lines := _skip(lines)) and _depth(lines[0]) == indent:
        match = KEY.match(lines[0].strip())
        if match is None:
            break
        key, value = match.groups()
        lines = lines[1:]
        if key in found:
            raise ValueError(f"twice: {key}")
        if value in {"|", ">-"}:
            found[key], lines = _text(lines, indent, folded=value == ">-")
        elif value:
            found[key] = _scalar(value)
        else:
            following = _skip(lines)
            deeper = max(_depth(following[0]), indent)
            found[key], lines = _block(following, deeper)
    return found, lines


def _text(lines, indent, *, folded):
    end = next((i for i, x in enumerate(lines) if x and _depth(x) <= indent), len(lines))
    inside, rest = lines[:end], lines[end:]
    margin = _depth(inside[0])
    inside = [line[margin:] for line in inside]
    while inside and not inside[-1]:
        inside.pop()
    return (" ".join(inside) if folded else "\n".join(inside) + "\n"), rest


def _scalar(word):
    if word.startswith("[") and word.endswith("]"):
        return [_scalar(part.strip()) for part in word[1:-1].split(",")]
    if word[0] == word[-1] == '"':
        return word[1:-1]
    if word[0] in "&*!|>%@`'\"{[" or " #" in word or ": " in word:
        raise ValueError(f"cannot read: {word}")
    return {"true": True, "false": False}.get(word, int(word) if word.isdecimal() else word)
