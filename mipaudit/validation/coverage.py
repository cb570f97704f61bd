"""A validation run: every interval that the tool prints, on laws with known truth.

On files that are drawn, and where few files exist on all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import chain, product
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from mipaudit.errors import InputError, OutputError
from mipaudit.maths.arrays import Floats
from mipaudit.validation.estimands.estimand import Args, AuditedFile, Interval, Side
from mipaudit.validation.estimands.methods import ALTERNATIVES, ESTIMANDS, default_estimands
from mipaudit.validation.law import Law, coin, law_of
from mipaudit.validation.replications import (
    Cell,
    Form,
    Panel,
    control_cell,
    joined,
    replicate,
    results,
    tally,
)
from mipaudit.validation.report import CoverageRow, ExactRow

Rows = tuple[CoverageRow, ...]

_SCHEMA: Final = "mipaudit.validation-cells/1"
_HINT: Final = "Name another file for `resume`, or delete this one to start anew."


class Ledger:
    """The rows of finished cells, by what identifies the work."""

    def __init__(
        self, name: str | None = None, identity: Mapping[str, object] | None = None
    ) -> None:
        """Read what is finished; start the file if there is none.

        A last line that was cut off, as when a machine went down, is dropped.

        Args:
            name: of the file; None for memory alone.
            identity: of the run: whatever else changes a cell's rows.

        Raises:
            InputError: the file is of another run or no ledger at all.
            OutputError: it cannot be read or written.
        """
        self._finished: dict[str, Rows] = {}
        self._path = None if name is None else Path(name)
        if self._path is None:
            return
        head = {"schema": _SCHEMA, **(identity or {})}
        with _refusals():
            data = self._path.read_bytes() if self._path.exists() else b""
            whole = data[: data.rfind(b"\n") + 1]
            if whole:
                self._finished = _entries(whole.splitlines(), head)
            elif data:
                raise _foreign()
            else:
                self._append(head)
            if len(whole) < len(data):
                os.truncate(self._path, len(whole))

    def find(self, cell: Cell, methods: Panel) -> Rows | None:
        """Return the rows of a cell that is finished."""
        return self._finished.get(repr((cell, methods)))

    def add(self, cell: Cell, methods: Panel, rows: Rows) -> None:
        """Keep the rows of a cell, on disk before this returns.

        Raises:
            OutputError: the file cannot be written.
        """
        key = repr((cell, methods))
        self._finished[key] = rows
        with _refusals():
            self._append((key, rows))

    def _append(self, entry: object) -> None:
        if self._path is None:
            return
        import msgspec

        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(entry) + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _entries(lines: Sequence[bytes], head: Mapping[str, object]) -> dict[str, Rows]:
    """Return the finished cells of a file, whose first line says of which run they are."""
    import msgspec

    wanted = msgspec.json.decode(msgspec.json.encode(head))
    try:
        found = msgspec.json.decode(lines[0], type=dict[str, object])
        if found.get("schema") != _SCHEMA:
            raise _foreign()
        other = sorted(key for key in {*wanted, *found} if wanted.get(key) != found.get(key))
        if other:
            raise InputError(
                "other_run",
                f"The resumed file belongs to a run with another {' and another '.join(other)}.",
                _HINT,
            )
        entry = msgspec.json.Decoder(tuple[str, Rows])
        return dict(map(entry.decode, lines[1:]))
    except msgspec.MsgspecError:
        raise _foreign() from None


def _foreign() -> InputError:
    return InputError(
        "bad_resume_file", "The file to resume from was not written by `mipaudit validate`.", _HINT
    )


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what goes wrong with the file into an error that says so."""
    try:
        yield
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number else "bad name"
        raise OutputError("unusable_resume_file", f"`resume`: {reason}.", _HINT) from None


def code_fingerprint() -> str:
    """Return a hash of the package's source: other code, other rows."""
    root = Path(__file__).parents[1]
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] != "cli":
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


Progress = Callable[[int, int | None], None]

_MICRO: Final = 1_000_000  # progress is counted in whole numbers


def carry_out(
    panel: Panel,
    cells: Sequence[Cell],
    *,
    seed: int,
    jobs: int,
    ledger: Ledger,
    progress: Progress | None,
) -> tuple[Rows, Rows]:
    """Replicate what the ledger does not hold yet.

    What is found does not depend on the number of processes.

    Args:
        panel: what is run on every file.
        cells: the grid, of at least one.
        seed: of the whole run.
        jobs: processes, at least 1; 1 runs here.
        ledger: of finished cells.
        progress: called with microseconds of CPU time behind us, and in all.

    Returns:
        The rows of the grid, and those of the control cell, where invalid methods must be caught.

    Raises:
        MipauditError: a process was lost.
        OutputError: the ledger cannot be written.
    """
    control = _control(panel, cells[0].replications)
    work = [control, *((cell, panel) for cell in cells)]
    missing = [one for one in work if ledger.find(*one) is None]
    pieces = [(*one, seed, part) for one in missing for part in one[0].pieces()]
    total, done = sum(cell.seconds * cell.replications for cell, _ in missing), 0.0
    # The processes end with this block, whatever ends it.
    with closing(results(replicate, pieces, jobs=min(jobs, len(pieces)))) as found:
        for cell, methods in missing:
            parts = []
            for part in cell.pieces():
                parts.append(next(found))
                done += cell.seconds * len(part)
                if progress is not None:
                    progress(int(done * _MICRO), int(total * _MICRO))
            ledger.add(cell, methods, tally(cell, joined(parts)))
    control_rows, *rows = (ledger.find(*one) or () for one in work)
    return tuple(chain.from_iterable(rows)), control_rows


def _control(panel: Panel, replications: int) -> tuple[Cell, Panel]:
    """Return the invalid methods that must be caught, and enough files for that."""
    concerned = {*default_estimands(), *panel.estimands}
    invalid = {
        name: one
        for name, one in ALTERNATIVES.items()
        if not one.valid and one.estimand in concerned
    }
    replications = max(replications, *(one.enough for one in invalid.values()))
    return control_cell(replications), Panel(estimands=(), alternatives=tuple(invalid))


# The exact share of wrong limits where few different files exist.
#
# A score of two values: a member has the value 1 with probability T, a holdout record with
# probability F. A file of so many rows is then one of few contents, each with a known probability,
# and each is audited once. No file is drawn, and a seed that follows from the content is
# the one that it has in use. Where T is 1 there are N + 1 contents.
#
# For each limit the share of wrong ones is a function of F that jumps just beyond every limit that
# is printed: its largest value is found there, and no grid misses it.

# Rows of a class, with T: each in every content.
_SIZES: Final[dict[Form, tuple[tuple[int, float], ...]]] = {
    "quick": ((30, 1.0), (75, 1.0)),
    "full": (
        *((size, 1.0) for size in (*range(20, 131), 150, 200, 250, 300, 400, 1_500)),
        *((size, tpr) for tpr in (0.97, 0.95) for size in (20, 40)),
    ),
}
# Whatever `estimate` and `records` print of one score, and what an attack achieves.
_ASKED: Final = (
    *("advantage", "advantage_thresholds", "advantage_intervals", "advantage_bins"),
    *("auc", "tpr_at_fpr", "metric", "record_risk", "largest_risk", "named_attack"),
)
# Sizes and priors at which lower limits were once wrong: of those alone.
_LARGER: Final[dict[Form, tuple[tuple[int, float], ...]]] = {
    "quick": ((150, 0.5),),
    "full": ((83, 0.1), (250, 0.1), (1_500, 0.1)),
}
_PRIORS: Final = (0.5, 0.1, 0.9)
# Priors other than the first at sizes that this divides.
_SOME: Final = 20
# What is approximate may miss by so much more than it says; what is proved by nothing.
_TOLERATED: Final = 1.1
_ROUNDING: Final = 1e-6
_SEEDS: Final = 4
_NEAR: Final = 1e-6
_SIDES: Final[tuple[Side, ...]] = ("lower", "upper")
_BELOW: Final = 1e-9


# Files of one size and prior, in every content: rows of each class; T; p in (0, 1); whether the
# finite-sample methods are asked for, which hold over seeds, too; names of estimands.
Setting: TypeAlias = tuple[int, float, float, bool, tuple[str, ...]]


def settings_of(form: Form, *, strict: bool) -> list[Setting]:
    """Return what is enumerated in a form of the run."""
    every = [
        (size, tpr, prior, strict, _ASKED)
        for size, tpr in _SIZES[form]
        for prior in _PRIORS
        if prior == _PRIORS[0] or size % _SOME == 0
    ]
    larger = ("advantage", "metric")
    return every + [(size, 1.0, prior, strict, larger) for size, prior in _LARGER[form]]


def enumerated(form: Form, *, strict: bool, jobs: int) -> tuple[ExactRow, ...]:
    """Return the rows of all settings of a form, the largest files first to be begun.

    Args:
        form: of the run, which says how many sizes.
        strict: whether the finite-sample methods are asked for.
        jobs: processes, at least 1; 1 runs here.
    """
    settings = settings_of(form, strict=strict)
    found = results(exact_rows, [(one,) for one in reversed(settings)], jobs=jobs)
    return tuple(row for rows in reversed([*found]) for row in rows)


def exact_rows(of: Setting) -> list[ExactRow]:
    """Return a row for each limit and side in a setting."""
    size, tpr, _, strict, _ = of
    seeds = range(_SEEDS if strict else 1)
    # What each limit of a label says of a content: so many of either class have the value 1.
    stated: dict[tuple[str, Side], list[tuple[int, int, Interval]]] = {}
    for hits in range(size if tpr == 1 else 0, size + 1):
        for alarms, seed in product(range(size + 1), seeds):
            for one in _said(of, hits, alarms, seed):
                for side in _SIDES:
                    if not np.isnan(one.limit(side)):
                        stated.setdefault((one.label, side), []).append((hits, alarms, one))
    return [_row(side, said, of, len(seeds)) for (_, side), said in stated.items()]


def _said(of: Setting, hits: int, alarms: int, seed: int) -> Iterator[Interval]:
    """Yield what is stated of a content, and of the same rows where they are counted."""
    size, _, prior, strict, asked = of
    member = np.arange(2 * size) < size
    score = np.concatenate([np.arange(size) < hits, np.arange(size) < alarms]).astype(np.float64)
    kept = AuditedFile(
        member=member, score=score, prior=prior, seed=seed, strict=strict, discrete=True
    )
    for name in asked:
        yield from ESTIMANDS[name].intervals(kept)
    counted = replace(kept, counted=True)
    for name in asked:
        if not ESTIMANDS[name].by_name_only:
            for found in ESTIMANDS[name].intervals(counted):
                yield replace(found, label=f"{found.label}, counted")


def _row(
    side: Side, stated: Sequence[tuple[int, int, Interval]], of: Setting, seeds: int
) -> ExactRow:
    """Return the worst that a limit does at any F up to T."""
    from scipy.stats import binom

    size, tpr, prior, *_ = of
    at = _places(tpr)
    hits, alarms, said = zip(*stated, strict=True)
    gaps = np.array([_gap(one, side, tpr, prior) for one in said])
    share = binom.pmf(hits, size, tpr) / seeds
    worst, where = 0.0, 0.0
    for fpr, before, part in _jumps(gaps, at):
        between = gaps[:, before] * (1 - part) + gaps[:, before + 1] * part
        missed = float((share * binom.pmf(alarms, size, fpr))[between < -_BELOW].sum())
        if missed > worst:
            worst, where = missed, fpr
    first = said[0]
    error = 1 - first.nominal
    return ExactRow(
        label=first.label,
        side=side,
        records=2 * size,
        prior=prior,
        tpr=tpr,
        fpr=where,
        nominal=first.nominal,
        coverage=1 - worst,
        finite_sample=first.finite_sample,
        falls_short=worst > error * ((1 if first.finite_sample else _TOLERATED) + _ROUNDING),
    )


def _jumps(gaps: Floats, at: Floats) -> Iterator[tuple[float, int, float]]:
    """Yield where a limit begins to miss: F, the place before it, and the part of the way on."""
    wrong = gaps < 0
    for content, before in np.argwhere(wrong[:, 1:] != wrong[:, :-1]).tolist():
        left, right = gaps[content, before], gaps[content, before + 1]
        part = left / (left - right) if np.isfinite(left - right) else 0.5
        # A hair beyond, on the side where it misses.
        part += (_NEAR if right < left else -_NEAR) / (at[before + 1] - at[before])
        part = float(np.clip(part, 0, 1))
        yield float(at[before] * (1 - part) + at[before + 1] * part), before, part


@cache
def _places(tpr: float) -> Floats:
    """Return values of F from 0 to T, closer where a rate is rare."""
    return np.concatenate([[0.0], np.geomspace(1e-5, 0.05, 100), np.linspace(0.05, tpr, 200)[1:]])


def _gap(one: Interval, side: Side, tpr: float, prior: float) -> Floats:
    """Return how far the limit is on its side of the truth at each place."""
    truth, limit = _truths(one.estimand, one.args, tpr, prior), one.limit(side)
    return np.asarray(truth - limit if side == "lower" else limit - truth)


@cache
def _truths(estimand: str, args: Args, tpr: float, prior: float) -> Floats:
    return np.array([ESTIMANDS[estimand].truth(law, prior, *args) for law in _laws(tpr)])


@cache
def _laws(tpr: float) -> tuple[Law, ...]:
    return tuple(law_of("two-valued", "", coin(tpr), coin(fpr)) for fpr in _places(tpr).tolist())
