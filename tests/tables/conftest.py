"""Reading a whole source, and writing small files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mipaudit.errors import MipauditError
from mipaudit.tables.opening import open_scores
from mipaudit.tables.request import ReadRequest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mipaudit.tables.source import ScoreSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """All rows of a source, and what it said about them."""

    names: list[str]
    kinds: list[str]
    member: list[bool]
    scores: list[list[float]]
    positions: list[int]
    keys: list[int] | None
    findings: list[str]
    skipped: dict[str, str]


def drain(source: ScoreSource) -> Everything:
    """Read ``source`` to its end and check what holds for every batch."""
    batches = list(source.partitions().rows())
    after = 0
    positions: list[int] = []
    for rows in batches:
        assert rows.first_row == after
        after += rows.source_rows
        offsets = np.arange(rows.source_rows) if rows.kept is None else rows.kept
        assert rows.member.dtype == np.bool_
        assert all(score.dtype == np.float64 for score in rows.scores)
        assert all(score.size == offsets.size for score in (*rows.scores, rows.member))
        assert not any(np.isnan(score).any() for score in rows.scores)
        positions += (offsets + rows.first_row).tolist()
    assert after == source.rows_hint
    keyed = bool(batches) and batches[0].keys is not None
    return Everything(
        names=[column.name for column in source.columns],
        kinds=[column.kind for column in source.columns],
        member=[bool(m) for rows in batches for m in rows.member],
        scores=[
            [float(x) for rows in batches for x in rows.scores[at]]
            for at in range(len(source.columns))
        ],
        positions=positions,
        keys=[int(k) for rows in batches for k in rows.keys] if keyed else None,
        findings=[finding.code for finding in source.findings()],
        skipped=dict(source.skipped),
    )


@pytest.fixture
def drained() -> Callable[[ScoreSource], Everything]:
    """Return ``drain``."""
    return drain


@pytest.fixture
def read() -> Callable[..., Everything]:
    """Return a function that reads a whole input."""

    def reader(scores: Path | str | None = None, *, seed: int = 0, **options: Any) -> Everything:
        spec = None if scores is None else str(scores)
        with open_scores(ReadRequest(scores=spec, **options)) as source:
            source.number_rows(seed)
            everything = drain(source)
            source.check_classes()
            source.check_unchanged()
            return everything

    return reader


@pytest.fixture
def fails(read: Callable[..., Everything]) -> Callable[..., MipauditError]:
    """Return a function that reads an input, and returns the error that it must end in."""

    def reader(code: str, scores: Path | str | None = None, **options: Any) -> MipauditError:
        with pytest.raises(MipauditError) as caught:
            read(scores, **options)
        assert caught.value.code == code
        assert caught.value.exit_code == 2
        # Nothing of Arrow or pandas, which quote data, stays in the traceback.
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None or caught.value.__suppress_context__
        return caught.value

    return reader


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes text or bytes to a file."""

    def writer(content: str | bytes, name: str = "scores.csv") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return writer
