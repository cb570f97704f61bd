"""The lower limit for any attacker, beside the strict one and beside who is told the best set.

Run as ``python benchmarks/tightness.py``: each figure of all three on the same files, and the
table of ``docs/reference/validation.md`` is rewritten.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from mipaudit.evidence.scores.averaged_lower import Averaged
from mipaudit.maths.binomial import mover_lower
from mipaudit.summaries.seed import SeedChoice
from mipaudit.validation.estimands.estimand import AuditedFile
from mipaudit.validation.law import ladder_of
from mipaudit.validation.laws import law

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "reference" / "validation.md"
ALPHA: Final = 0.025
# Laws with an advantage above .03, thresholds not favoured.
LAWS: Final = (
    *("gauss-shift-0.25", "gauss-shift-0.5", "gauss-shift-1", "gauss-scale-1.5", "gauss-scale-2"),
    *("cauchy-shift", "pareto-shift", "lognormal-scale", "comb-8", "comb-64"),
    *("multimodal", "multinomial-100", "multinomial-1000", "zipf-leak-1000", "part-of-1000"),
    *("rare-tail-200", "two-valued", "softmax", "float16-ties", "laplace-0.5"),
    *("geometric-1", "infinite-scores"),
)
_TABLE: Final = re.compile(
    r"(?<=<!-- figures of: benchmarks/tightness.py -->\n).*?(?=<!-- end of figures -->)", re.DOTALL
)
# Told the best set; many assignments, as printed; strict.
Three = tuple[float, float, float]


class StatedFile(AuditedFile):
    """A file whose seed is stated, as it is where somebody looks for a kind one."""

    @property
    def choice(self) -> SeedChoice:
        """The seed that is asked for."""
        return SeedChoice(origin="stated", number=self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Files of one law and size, each with as many stated seeds."""

    name: str
    members: int
    holdout: int
    files: int
    seeds: int = 1

    @property
    def truth(self) -> float:
        """The advantage of the best attacker, at prior 1/2."""
        return law(self.name).advantage(1 / 2)


def limits(sample: Sample) -> NDArray[np.float64]:
    """Return the three limits of each file with each seed, shape (files, seeds, 3)."""
    found = np.empty((sample.files, sample.seeds, 3))
    for number, row in enumerate(found):
        rng = np.random.default_rng([number, *sample.name.encode()])
        scores = law(sample.name).sample(rng, sample.members, sample.holdout)
        member = np.repeat([True, False], [sample.members, sample.holdout])
        row[:, 0] = told(sample.name, *scores)
        for seed in range(sample.seeds):
            file = StatedFile(member=member, score=np.concatenate(scores), prior=0.5, seed=seed)
            row[seed, 1] = file.evidence.lower(ALPHA)
            row[seed, 2] = replace(file.evidence, strict=True).lower(ALPHA)
    return found


def told(name: str, members: NDArray[np.float64], holdout: NDArray[np.float64]) -> float:
    """Return the limit of who is told the best set: all rows are judged, none is learnt from."""
    ladder = ladder_of(law(name))
    best = ladder.gains(1 / 2) > 0
    rates = []
    for scores in (members, holdout):
        # An atom comes after the cell that ends there.
        last = np.maximum(np.searchsorted(ladder.upper, scores, side="right") - 1, 0)
        at = ladder.atom[last] & (ladder.upper[last] == scores)
        rung = np.where(at, last, np.searchsorted(ladder.upper, scores))
        rates.append(float(best[np.minimum(rung, best.size - 1)].mean()))
    tpr, fpr = rates
    return mover_lower(tpr, fpr, members.size, holdout.size, prior=0.5, alpha=ALPHA)


def gap(sample: Sample) -> Three:
    """Return the mean distance from the truth."""
    return _three(sample.truth - limits(sample).mean(axis=(0, 1)))


def mean(sample: Sample) -> Three:
    """Return the mean limit."""
    return _three(limits(sample).mean(axis=(0, 1)))


def above(sample: Sample) -> Three:
    """Return the share of files in which the best of the seeds has a limit above 0."""
    return _three((limits(sample).max(axis=1) > 0).mean(axis=0))


def spread(sample: Sample) -> Three:
    """Return the standard deviation over seeds, as a share of the mean gap."""
    found = limits(sample)
    variance = found.var(axis=1, ddof=1).mean(axis=0)
    return _three(np.sqrt(variance) / (sample.truth - found.mean(axis=(0, 1))))


def unfolded(sample: Sample) -> float:
    """Return how often the limit misses a truth of 0 where it is not folded: the control."""
    misses, z = 0, -float(ndtri(ALPHA))
    for number in range(sample.files):
        rng = np.random.default_rng([number, *sample.name.encode()])
        score = np.concatenate(law(sample.name).sample(rng, sample.members, sample.holdout))
        member = np.repeat([True, False], [sample.members, sample.holdout])
        found = StatedFile(member=member, score=score, prior=0.5, seed=0, discrete=True)
        rates = found.evidence.held_out
        if not isinstance(rates, Averaged):
            raise TypeError
        slack = math.hypot(rates.tpr.falls(z, ALPHA), rates.fpr.rises(z, ALPHA))
        misses += rates.tpr.value - rates.fpr.value > slack
    return misses / sample.files


def _three(values: NDArray[np.float64]) -> Three:
    told_set, many, strict = values.tolist()
    return told_set, many, strict


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A line of the table: the median over laws of what is measured."""

    what: str
    measure: Callable[[Sample], Three]
    samples: tuple[Sample, ...]
    digits: int = 4


def figures(effort: float = 1) -> tuple[Figure, ...]:
    """Return what is measured, on so many times the files."""

    def of(name: str, members: int, holdout: int, files: int, seeds: int = 1) -> Sample:
        files = max(2, round(files * effort))
        return Sample(name=name, members=members, holdout=holdout, files=files, seeds=seeds)

    def laws(rows: int, files: int, seeds: int = 1) -> tuple[Sample, ...]:
        return tuple(of(name, rows // 2, rows // 2, files, seeds) for name in LAWS)

    near = (of("gauss-shift-0.3", 300, 300, 1_000),)
    return (
        Figure(what="median gap, 1,000 records", measure=gap, samples=laws(1_000, 120)),
        Figure(what="median gap, 10,000 records", measure=gap, samples=laws(10_000, 40)),
        Figure(what="normals 0.3 apart, 300 + 300: mean limit", measure=mean, samples=near),
        Figure(what="the same: share above 0", measure=above, samples=near, digits=3),
        Figure(
            what="normals 1 apart, 100 + 100: mean limit",
            measure=mean,
            samples=(of("gauss-shift-1", 100, 100, 1_000),),
        ),
        Figure(
            what="1% of the members at one value, 20,000 + 20,000: mean limit",
            measure=mean,
            samples=(of("leaked-atoms", 20_000, 20_000, 40),),
        ),
        *(
            Figure(
                what=f"spread over seeds, share of the gap, {rows:,} records",
                measure=spread,
                samples=laws(rows, files, 6),
                digits=3,
            )
            for rows, files in ((300, 12), (1_000, 10), (10_000, 4))
        ),
        Figure(
            what="no leak, 5,000 + 5,000: above 0 with the best of 20 seeds",
            measure=above,
            samples=(of("null-gaussian", 5_000, 5_000, 100, 20),),
            digits=3,
        ),
    )


def measured(figure: Figure, found: Iterable[Three]) -> str:
    """Return a line of the table."""
    values = np.median(np.array(list(found)), axis=0)
    texts = (f"{value:.{figure.digits}f}" for value in values)
    return f"| {figure.what} | {' | '.join(texts)} |"


def main() -> int:
    """Measure, print and write the table, and return the exit code: 1 if the control passes."""
    lines = ["| | told the best set | many assignments | `--strict` |", "|---|--:|--:|--:|"]
    control = Sample(name="null-discrete-2", members=300, holdout=300, files=2_000)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        missed = pool.submit(unfolded, control)
        for figure in figures():
            lines.append(measured(figure, pool.map(figure.measure, figure.samples)))
            print(lines[-1], flush=True)
        share = missed.result()
    lines.append(f"| two values, no leak, 300 + 300: above 0 if *not* folded | | {share:.4f} | |")
    print(lines[-1])
    page, places = _TABLE.subn(
        lambda _: "\n" + "\n".join(lines) + "\n\n", PAGE.read_text(encoding="utf-8")
    )
    if places != 1:
        raise ValueError("the page has no place for the table, or several")
    PAGE.write_text(page, encoding="utf-8")
    return int(share <= ALPHA)


if __name__ == "__main__":
    sys.exit(main())
