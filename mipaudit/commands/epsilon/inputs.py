"""Reads all scores of an input into memory, and says what is unusual about them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from mipaudit.commands.epsilon.guesses import require_fresh_coins, require_one_share
from mipaudit.commands.epsilon.options import EpsilonOptions
from mipaudit.commands.epsilon.report import DesignKind
from mipaudit.counting.counts import repeated_keys, row_meter
from mipaudit.counting.scores import fits, hold_input, in_order
from mipaudit.data.source import ScoreSource
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import InputError
from mipaudit.evidence.scores.findings import size_findings
from mipaudit.maths.arrays import Floats
from mipaudit.model.message import Finding
from mipaudit.statements.printable_names import safe_name
from mipaudit.summaries.rows import ClassScores, KeptScores, Rows, splitmix64
from mipaudit.summaries.seed import SeedChoice

_CANARY_IDS: Final = frozenset({"canary_id", "canary_index"})
_RUN_STREAM: Final = 0x72756E73
_RECORD_IDS: Final = frozenset({"record_id", "sample_id", "person_id", "uuid"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredRows:
    """All scores of both classes.

    Attributes:
        names: of the score columns, as they are in the input.
        members: rows with the record; each column in an order of its own, which follows from
            its scores (with keys, from the keys), where the input is not too large.
        holdout: rows without it, likewise.
        seeds: in use for each column.
        runs: how many the rows are of, if they are of several named ones.
    """

    names: tuple[str, ...]
    members: ClassScores
    holdout: ClassScores
    seeds: tuple[int, ...]
    runs: int | None = None

    def columns(self) -> Iterator[tuple[str, Floats, Floats]]:
        """Yield the name and both classes' scores of each column."""
        yield from zip(self.names, self.members.scores, self.holdout.scores, strict=True)


def read_scores(source: ScoreSource, asked: EpsilonOptions, choice: SeedChoice) -> ScoredRows:
    """Read the input once.

    Args:
        source: the opened input; a group of its rows is a run, if runs are named, and a row's
            key tells it apart within its run.
        asked: what is asked.
        choice: of the seed, settled for the input.

    Raises:
        InputError: a class is empty, keys repeat, or runs share coins or are of unlike shares.
        UsageError: a column of labels, which have no order.
    """
    source.require_numbers()
    workers = Workers(Engine(jobs=asked.jobs))
    kept = hold_input(source, workers=workers, progress=asked.progress) if fits(source) else None
    runs = None
    if asked.run_col is not None:
        kept, runs = _runs_joined(kept)
    if kept is None:
        rows = _by_position(source, asked, workers)
    else:
        source.check_classes()
        rows = _in_order(source, kept, choice)
    if rows.members.repeats() or rows.holdout.repeats():
        raise repeated_keys()
    return rows if runs is None else replace(rows, runs=runs)


def _runs_joined(rows: Rows | None) -> tuple[Rows, int]:
    """Return the rows with keys that tell them apart over all runs, and the number of runs."""
    if rows is None or rows.keys is None or rows.groups is None:
        raise InputError(
            "too_many_rows",
            "`run_col` needs inputs that fit into memory, and this one is too large.",
            "Name fewer score columns with `score_col`, or audit fewer runs.",
        )
    keys, groups = rows.keys, rows.groups
    together = splitmix64(groups, _RUN_STREAM) ^ keys
    if np.unique(together).size < together.size:
        raise InputError(
            "repeated_keys",
            "A canary appears more than once in a run of `run_col`.",
            "Name the canary with `key_col` and the run with `run_col`: each row is one "
            "canary in one run.",
        )
    require_fresh_coins(groups, keys, rows.member)
    require_one_share(groups, rows.member)
    return replace(rows, keys=together, groups=None), int(np.unique(groups).size)


def _in_order(source: ScoreSource, kept: Rows, choice: SeedChoice) -> ScoredRows:
    ordered = [in_order(source, kept, [at], choice) for at in range(len(source.columns))]
    first, _ = ordered[0]
    keys, member = first.keys, first.member
    members, holdout = (
        ClassScores(
            scores=tuple(rows.scores[0][rows.member == side] for rows, _ in ordered),
            ids=None if keys is None else keys[member == side],
            keyed=keys is not None,
        )
        for side in (True, False)
    )
    names, seeds = _names(source), tuple(seed for _, seed in ordered)
    return ScoredRows(names=names, members=members, holdout=holdout, seeds=seeds)


def _by_position(source: ScoreSource, asked: EpsilonOptions, workers: Workers) -> ScoredRows:
    """Read an input of many rows, whose positions tell them apart."""
    hint, names = source.rows_hint, _names(source)
    kept = KeptScores(len(names), rows=hint or 0, ids=asked.kind == "one-run")
    meter = row_meter(hint, asked.progress)
    fold(source.partitions(), kept.shared, workers=workers, progress=meter)
    source.check_classes()
    seeds = (source.position_seed,) * len(names)
    return ScoredRows(names=names, members=kept.members(), holdout=kept.holdout(), seeds=seeds)


def _names(source: ScoreSource) -> tuple[str, ...]:
    return tuple(column.name for column in source.columns)


def input_findings(source: ScoreSource, rows: ScoredRows, design: DesignKind) -> Iterator[Finding]:
    """Yield what the reader must know about the rows; valid after they were read."""
    yield from source.told
    yield from source.findings()
    yield from size_findings(rows.members.size, rows.holdout.size)
    # Names of columns that do not go with runs.
    names = {name.lower() for name, _ in source.skipped}
    if design == "independent-runs" and names & (_CANARY_IDS | _RECORD_IDS):
        case = "canaries" if names & _CANARY_IDS else "records"
        yield Finding.of("design_doubtful", case=case)
    for name, members, holdout in rows.columns():
        yield from _score_findings(safe_name(name), members, holdout)


def _score_findings(name: str, members: Floats, holdout: Floats) -> Iterator[Finding]:
    low, high = min(members.min(), holdout.min()), max(members.max(), holdout.max())
    if low == high:
        yield Finding.of("constant_column", case="score", column=name)
    elif not (np.isfinite(low) and np.isfinite(high)):
        infinite = sum(int(np.count_nonzero(np.isinf(scores))) for scores in (members, holdout))
        yield Finding.of("infinite_scores", case="column", column=name, rows=infinite)
