"""Drawing a scenario in chunks: flat in memory, the same file for the same seed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.scenarios.split_scenario import RELEASE, SPLIT, SplitScenario

if TYPE_CHECKING:
    from mipaudit.validation.scenarios.scenario import Columns, RecordScenario
    from mipaudit.validation.scenarios.split_scenario import Scenario
    from mipaudit.validation.truth import Order

CHUNK: Final = 1 << 20
# Rows that may be held at once, where an order needs all of them.
LARGEST_SORTED: Final = 1 << 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What to draw.

    Attributes:
        scenario: what from.
        rows: by class, as the scenario's ``sizes``; at most LARGEST of each and in all.
        order: of the rows.
        seed: at least 0.
        chunk: rows drawn at a time; another number draws another file.
    """

    scenario: Scenario
    rows: Mapping[str, int]
    order: Order
    seed: int
    chunk: int = CHUNK

    def chunks(self) -> Iterator[Columns]:
        """Yield the table in chunks, with every column that the scenario names."""
        if isinstance(self.scenario, SplitScenario):
            yield from self._splits(self.scenario)
        else:
            yield from self._records(self.scenario)

    def _splits(self, scenario: SplitScenario) -> Iterator[Columns]:
        for number, start, size in _pieces(
            self.rows["splits"], min(self.chunk, scenario.splits_per_chunk)
        ):
            released = scenario.draw(self._rng(number), size)
            yield {SPLIT: np.arange(start, start + size), RELEASE: released}

    def _records(self, scenario: RecordScenario) -> Iterator[Columns]:
        held = self.order == "sorted" or (scenario.canaries and self.order != "shuffled")
        drawn = self._ordered(scenario) if held else self._unordered(scenario)
        start = 0
        for columns in drawn:
            size = len(columns[scenario.member_column])
            yield {scenario.id_column: np.arange(start, start + size), **columns}
            start += size

    def _unordered(self, scenario: RecordScenario) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield rows as they are drawn."""
        left = None if scenario.canaries else [self.rows["members"], self.rows["holdout"]]
        for number, _, size in _pieces(sum(self.rows.values()), self.chunk):
            rng = self._rng(number)
            member = rng.random(size) < 1 / 2 if left is None else self._membership(rng, left, size)
            yield {scenario.member_column: member, **scenario.draw(rng, member)}

    def _membership(
        self, rng: np.random.Generator, left: list[int], size: int
    ) -> NDArray[np.bool_]:
        """Return who of the next rows is a member, and take them from what is left."""
        if self.order == "members-first":
            inside = min(left[0], size)
        else:
            inside = int(rng.hypergeometric(left[0], left[1], size))
        left[0] -= inside
        left[1] -= size - inside
        member = np.arange(size) < inside
        if self.order != "members-first":
            rng.shuffle(member)
        return member

    def _ordered(self, scenario: RecordScenario) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield all rows, put into their order in memory."""
        parts = list(self._unordered(scenario))
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        key = columns[scenario.drawn[0]]
        if self.order == "members-first":
            key = ~columns[scenario.member_column]
        order = np.argsort(key, kind="stable")
        for _, start, size in _pieces(len(order), self.chunk):
            rows = order[start : start + size]
            yield {name: values[rows] for name, values in columns.items()}

    def _rng(self, number: int) -> np.random.Generator:
        stream = zlib.crc32(self.scenario.name.encode())
        return np.random.default_rng((self.seed, stream, number))


def _pieces(total: int, chunk: int) -> Iterator[tuple[int, int, int]]:
    """Yield the number, the first row and the size of each chunk."""
    for number, start in enumerate(range(0, total, chunk)):
        yield number, start, min(chunk, total - start)
