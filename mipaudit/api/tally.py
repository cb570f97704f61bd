"""Counts what is in the score columns, for ``check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.report.model import ColumnProfile

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.summaries.rows import Rows
    from mipaudit.tables.source import ScoreColumn, ScoreSource

EXACT_ROWS: Final = 1 << 22  # up to here every row is held and counted
_DISCRETE_VALUES: Final = 256
_ATOM_SHARE: Final = 0.005
_ATOM_ROWS: Final = 3
_THINNING_SEED: Final = 0x74616C6C79


class Tally:
    """Class sizes of an input, and its rows, or a sample of them above `EXACT_ROWS`.

    Attributes:
        n_members: rows of members so far.
        n_holdout: rows of holdout records so far.
    """

    def __init__(self, columns: tuple[ScoreColumn, ...], *, exact_rows: int = EXACT_ROWS) -> None:
        """Start empty. Above ``exact_rows`` rows are thinned, whatever their order."""
        self.n_members = 0
        self.n_holdout = 0
        self._columns = columns
        self._exact_rows = exact_rows
        self._infinite = [0] * len(columns)
        self._halvings = 0
        self._held = 0
        self._parts: list[_Part] = []

    @property
    def exact(self) -> bool:
        """Whether every row is held."""
        return self._halvings == 0

    def read(self, source: ScoreSource, progress: Callable[[int, int | None], None] | None) -> None:
        """Take in every row of ``source``."""
        done = 0
        for partition in source.partitions():
            for rows in partition.batches():
                self.add(rows)
                done += rows.source_rows
                if progress is not None:
                    progress(done, source.rows_hint)

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        import numpy as np

        members = int(np.count_nonzero(rows.member))
        self.n_members += members
        self.n_holdout += rows.member.size - members
        for index, scores in enumerate(rows.scores):
            self._infinite[index] += int(np.count_nonzero(np.isinf(scores)))
        part = _thinned(_part(rows), self._halvings)
        self._parts.append(part)
        self._held += part[0].size
        while self._held > self._exact_rows:
            self._halve()

    def profiles(self) -> tuple[ColumnProfile, ...]:
        """Return what the columns hold: counts, never a value."""
        return tuple(self._profile(index, column) for index, column in enumerate(self._columns))

    def constant_columns(self) -> tuple[str, ...]:
        """Return the names of the columns where all rows held share one value."""
        return tuple(
            column.name
            for index, column in enumerate(self._columns)
            if self._counts(index).size <= 1
        )

    def classes_identical(self) -> bool:
        """Tell whether both classes hold the same scores, column by column; exact only."""
        import numpy as np

        if not self.exact or self.n_members != self.n_holdout:
            return False
        member = np.concatenate([part[1] for part in self._parts])
        for index in range(len(self._columns)):
            scores = self._scores(index)
            if not np.array_equal(np.sort(scores[member]), np.sort(scores[~member])):
                return False
        return True

    def _profile(self, index: int, column: ScoreColumn) -> ColumnProfile:
        counts = self._counts(index)
        least = max(_ATOM_ROWS, int(_ATOM_SHARE * self._held))
        return ColumnProfile(
            score=column.name,
            kind=column.kind,
            discrete=column.kind != "float" or counts.size <= _DISCRETE_VALUES,
            distinct=int(counts.size) if self.exact else None,
            atoms=int((counts >= least).sum()),
            tied_rows=int(counts[counts > 1].sum()) if self.exact else None,
            infinite=self._infinite[index],
        )

    def _scores(self, index: int) -> NDArray[np.float64]:
        import numpy as np

        return np.concatenate([np.empty(0), *(part[2][index] for part in self._parts)])

    def _counts(self, index: int) -> NDArray[np.intp]:
        import numpy as np

        return np.unique(self._scores(index), return_counts=True)[1]

    def _halve(self) -> None:
        self._halvings += 1
        self._parts = [_thinned(part, self._halvings) for part in self._parts]
        self._held = sum(part[0].size for part in self._parts)


# hash of the position, membership, one array of scores per column
_Part = tuple["NDArray[np.uint64]", "NDArray[np.bool_]", tuple["NDArray[np.float64]", ...]]


def _part(rows: Rows) -> _Part:
    import numpy as np

    from mipaudit.summaries.identity import splitmix64

    offsets = np.arange(rows.source_rows) if rows.kept is None else rows.kept
    hashes = splitmix64((offsets + rows.first_row).astype(np.uint64), _THINNING_SEED)
    return hashes, rows.member, rows.scores


def _thinned(part: _Part, halvings: int) -> _Part:
    """Keep one row in 2^halvings, by the leading bits of its hash."""
    import numpy as np

    if halvings == 0:
        return part
    hashes, member, scores = part
    keep = (hashes >> np.uint64(64 - halvings)) == 0
    return hashes[keep], member[keep], tuple(column[keep] for column in scores)
