"""Texts with figures: words exactly, numbers but for the digits that a processor decides.

A sum over an array is added in another order by other instructions, so its last digits are
those of the processor. What is kept as a file (frozen outputs, worked examples) was made on one.
"""

from __future__ import annotations

import math
import re
from difflib import SequenceMatcher

# Relative, as `mipaudit verify` compares two reports; absolute near 0.
RELATIVE, NEAR_0 = 1e-9, 1e-12
# A number that stands alone: no part of a name, of a version or of a digest.
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w|\.\d)")


def with_digits_of(kept: str, text: str) -> str:
    """Return the text, each of its numbers spelled as in ``kept`` where the two agree.

    The result equals ``kept`` where nothing differs but last digits: compare it with ``==``,
    and what is shown as a difference is one. A count is a count: two whole numbers agree if
    they are the same.
    """
    if _NUMBER.split(text) == _NUMBER.split(kept):
        return _spelled_as(kept, text)
    lines, old = text.splitlines(keepends=True), kept.splitlines(keepends=True)
    words = ([_NUMBER.sub("0", line) for line in both] for both in (old, lines))
    # A line more does not change the digits of the others.
    for tag, first, last, start, _ in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        if tag == "equal":
            for at, line in enumerate(old[first:last], start):
                lines[at] = _spelled_as(line, lines[at])
    return "".join(lines)


def _spelled_as(kept: str, text: str) -> str:
    """Return a text of the same words with the numbers of ``kept`` where the two agree."""
    wanted = iter(_NUMBER.findall(kept))
    return _NUMBER.sub(lambda found: _nearest(found.group(), next(wanted)), text)


def _nearest(new: str, old: str) -> str:
    if new.lstrip("-").isdigit() and old.lstrip("-").isdigit():
        return new
    near = math.isclose(float(new), float(old), rel_tol=RELATIVE, abs_tol=NEAR_0)
    return old if near else new
