"""Cuts and counts as the arrays of a summary file, and back: checked, since anybody may edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.class_limits.roc_counts import Ladder
from mipaudit.reading.bytes.array_archive import narrow
from mipaudit.reading.summaries.file import Manifest, ScoreName, SummaryFile, bad_summary
from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS
from mipaudit.summaries.sites.cuts import ColumnCuts, Cuts
from mipaudit.summaries.tally import ColumnCounts, Summary

_CLASSES: Final = 2
# What is computed from counts takes memory and time by the root of their total.
MOST_ROWS: Final = 1 << 40


def cuts_arrays(cuts: Cuts) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file of cuts."""
    arrays: dict[str, NDArray[Any]] = {}
    for at, column in enumerate(cuts.columns):
        arrays[f"{at}/edges"] = column.edges
        arrays[f"{at}/atoms"] = column.atoms
        arrays[f"{at}/counts"] = narrow(column.counts)
    return arrays


def counts_arrays(summary: Summary) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file of counts.

    ``blocks`` is by micro-block, cell and (holdout, member); ``steps`` by finer cell and
    (holdout, member) outside the burn-in, then within; the others tell which cells hold
    one value.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for at, column in enumerate(summary.columns):
        late, all_rows = column.evaluated, column.everyone
        steps = [late.holdout, late.members]
        steps += [all_rows.holdout - late.holdout, all_rows.members - late.members]
        arrays[f"{at}/blocks"] = narrow(column.blocks)
        arrays[f"{at}/single"] = column.single
        arrays[f"{at}/steps"] = narrow(np.column_stack(steps))
        arrays[f"{at}/step_single"] = late.single
    return arrays


def cuts_of(file: SummaryFile) -> Cuts:
    """Return the cuts that a file holds.

    Raises:
        InputError: ``bad_summary``.
    """
    manifest = file.manifest
    reader = _Reader(file)
    return Cuts(
        columns=tuple(reader.cuts(at, score) for at, score in enumerate(manifest.scores)),
        n_members=manifest.n_members,
        n_holdout=manifest.n_holdout,
        burn_in=manifest.burn_in,
        seed=manifest.seed,
        least=manifest.least,
    )


def counts_of(file: SummaryFile) -> Summary:
    """Return the counts that a file holds.

    Raises:
        InputError: ``bad_summary``.
    """
    manifest = file.manifest
    reader = _Reader(file)
    return Summary(
        columns=tuple(reader.counts(at, score) for at, score in enumerate(manifest.scores)),
        n_members=manifest.n_members,
        n_holdout=manifest.n_holdout,
    )


class _Reader:
    """Takes arrays out of a file, and refuses what no run would have written."""

    def __init__(self, file: SummaryFile) -> None:
        self._file = file
        self._arrays: Mapping[str, NDArray[Any]] = file.arrays
        manifest: Manifest = file.manifest
        sizes = (manifest.n_holdout, manifest.n_members)
        self._require(min(sizes) >= 0 and sum(sizes) <= MOST_ROWS)
        self._sizes = np.array(sizes)
        self._burn_in = manifest.burn_in
        self._require(
            bool(manifest.scores)
            and 0 < self._burn_in < MICRO_BLOCKS
            and (manifest.least is None or 1 < manifest.least <= MOST_ROWS)
            and (manifest.content == "cuts" or manifest.plan is not None)
        )

    def cuts(self, at: int, score: ScoreName) -> ColumnCuts:
        edges, atoms = self._points(f"{at}/edges"), self._points(f"{at}/atoms")
        return ColumnCuts(
            kind=score.kind,
            edges=edges,
            atoms=atoms,
            counts=self._table(f"{at}/counts", (edges.size + 1, _CLASSES)),
            discrete=score.discrete,
        )

    def counts(self, at: int, score: ScoreName) -> ColumnCounts:
        single, step_single = self._flags(f"{at}/single"), self._flags(f"{at}/step_single")
        blocks = self._table(f"{at}/blocks", (MICRO_BLOCKS, single.size, _CLASSES))
        steps = self._table(f"{at}/steps", (step_single.size, 2 * _CLASSES))
        late, early = blocks[self._burn_in :], blocks[: self._burn_in]
        totals = np.concatenate([late.sum(axis=(0, 1)), early.sum(axis=(0, 1))])
        self._require(
            bool((blocks.sum(axis=(0, 1)) == self._sizes).all())
            and bool((steps.sum(axis=0) == totals).all())
            and 0 <= score.infinite <= int(self._sizes.sum())
        )
        return ColumnCounts(
            blocks=blocks,
            burn_in=self._burn_in,
            single=single,
            everyone=_ladder(steps[:, :_CLASSES] + steps[:, _CLASSES:], step_single),
            evaluated=_ladder(steps[:, :_CLASSES], step_single),
            infinite=score.infinite,
            discrete=score.discrete,
        )

    def _points(self, name: str) -> NDArray[np.float64]:
        found = self._array(name)
        self._require(found.dtype == np.float64 and found.ndim == 1)
        self._require(not np.isnan(found).any() and bool((np.diff(found) > 0).all()))
        return found

    def _flags(self, name: str) -> NDArray[np.bool_]:
        found = self._array(name)
        self._require(found.dtype == np.bool_ and found.ndim == 1 and found.size > 0)
        return found

    def _table(self, name: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
        found = self._array(name)
        self._require(found.dtype.kind == "u" and found.shape == shape)
        # Totals are below 2^62 then, so that no sum of them wraps round.
        self._require(float(found.sum(dtype=np.float64)) < float(1 << 62))
        return found.astype(np.int64)

    def _array(self, name: str) -> NDArray[Any]:
        self._require(name in self._arrays)
        return self._arrays[name]

    def _require(self, holds: bool) -> None:  # noqa: FBT001 - an assertion
        if not holds:
            raise bad_summary(self._file.name)


def _ladder(steps: NDArray[np.int64], single: NDArray[np.bool_]) -> Ladder:
    return Ladder(members=steps[:, 1], holdout=steps[:, 0], single=single)
