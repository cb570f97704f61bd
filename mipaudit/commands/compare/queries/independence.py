"""What ``independent`` claims of the inputs of ``compare``, refused where it cannot be true."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from mipaudit.errors import UsageError
from mipaudit.options.plain_values import require

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mipaudit.statements.origin import InputFile


def require_independent(data: Sequence[object], key_column: str | None) -> None:
    """Refuse inputs that cannot hold different records.

    Args:
        data: the inputs: paths or data in memory; none where members and holdout are apart.
        key_column: by which the rows of several inputs would be matched, or None.

    Raises:
        UsageError: one input, inputs matched by key, or the same input twice.
    """
    require(
        len(data) > 1,
        "independent",
        "There is one input only: its queries are of the same records, not independent ones.",
        "Leave `independent` out.",
    )
    require(
        key_column is None,
        "independent",
        "`key_column` matches the same records of several inputs, and `independent` says that the "
        "inputs hold different ones.",
        "Leave one of them out.",
    )
    if any(_same(one, other) for one, other in combinations(data, 2)):
        raise _same_input()


def require_different_files(inputs: Iterable[Sequence[InputFile]]) -> None:
    """Refuse inputs that share a file's content, whatever it is called.

    Args:
        inputs: the files of each, as they were read.

    Raises:
        UsageError: two inputs have a file of the same content.
    """
    seen: set[str] = set()
    for files in inputs:
        marks = {
            mark for one in files if one.rows for mark in (one.sha256, one.fingerprint) if mark
        }
        if marks & seen:
            raise _same_input()
        seen |= marks


def _same_input() -> UsageError:
    return UsageError(
        "independent",
        "Two inputs are the same file, and `independent` says that they hold different records.",
        hint="Leave `independent` out, or name the file that was meant.",
    )


def _same(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return Path(one).resolve() == Path(other).resolve()
    return one is other
