"""What is audited, and what is said of it: one drawn file, and an estimand with its truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from mipaudit.commands.bounds.attacks import Refutation, refutation
from mipaudit.evidence.scores.evidence import Evidence, bins_of
from mipaudit.evidence.scores.rows import ErrorShare, score_estimates
from mipaudit.evidence.vectors import (
    VectorPlan,
    make_vector_plan,
    vector_estimates,
    vector_evidence,
)
from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.maths.class_limits.class_sets import best_thresholds
from mipaudit.maths.class_limits.roc_counts import exact_ladder
from mipaudit.summaries.cells import ProductGrid
from mipaudit.summaries.content import ContentColumn, canonical_rows, canonical_scores
from mipaudit.summaries.grids import equal_width_counts
from mipaudit.summaries.plan import BurnInSample, Plan, VectorSurvey, make_plan
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.seed import DEFAULT_SEED, SeedChoice
from mipaudit.summaries.tally import Tally
from mipaudit.validation.report import Source  # noqa: TC001 - part of the public type

if TYPE_CHECKING:
    from mipaudit.commands.shift.learner import Learner
    from mipaudit.evidence.derived_scores import Derivation
    from mipaudit.model.row import Attackers, Quantity, Row
    from mipaudit.validation.law import Law, VectorLaw

CONFIDENCE: Final = 0.95
EQUAL_WIDTH_BINS: Final = 100
# An attack that was fixed before any file was drawn: "member" where the score is above.
ATTACK_CUT: Final = 0.5
_DRAWN: Final = 10_000  # records of each class that stand for the law


# A threshold attacker, with its rates on the rows that it was chosen on: the cut, whether "member"
# is said at or below it or above it, the share of the members and of the holdout called members.
BestThreshold: TypeAlias = tuple[float, bool, float, float]


def best_threshold(member: Bools, score: Floats, prior: float) -> BestThreshold:
    """Return the threshold, in either direction, with the greatest advantage on the rows.

    Args:
        member: bool, shape (n,), both classes present.
        score: float64, shape (n,), no NaN.
        prior: p in (0, 1).
    """
    order = np.argsort(score, kind="stable")
    values, called = score[order], member[order]
    # Equal scores are on the same side of every threshold; -inf calls nobody.
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    below = np.append(0, np.cumsum(called)[ends]) / called.sum()
    below_holdout = np.append(0, np.cumsum(~called)[ends]) / (~called).sum()
    gain = prior * below - (1 - prior) * below_holdout
    total = 2 * prior - 1
    low_side = bool(gain.max() >= total - gain.min())
    best = int(gain.argmax() if low_side else gain.argmin())
    tpr, fpr = float(below[best]), float(below_holdout[best])
    if not low_side:
        tpr, fpr = 1 - tpr, 1 - fpr
    return float(values[ends[best - 1]]) if best else -np.inf, low_side, tpr, fpr


def rows_of(member: Bools, scores: Iterable[Floats]) -> Rows:
    """Return columns in memory as rows without keys, in the order that they have."""
    return Rows(
        first_row=0,
        source_rows=member.size,
        kept=None,
        keys=None,
        member=member,
        scores=tuple(scores),
    )


def burn_in(rows: Rows, seed: int, size: int | None = None) -> BurnInSample:
    """Return the burn-in of rows, settled; of the size that one score has by default."""
    width = len(rows.scores)
    sample = BurnInSample(width, seed) if size is None else BurnInSample(width, seed, size)
    sample.add(rows)
    sample.settle()
    return sample


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditedFile:
    """A file of scores in memory, as ``estimate`` would read it.

    Attributes:
        member: bool, shape (n,).
        score: float64, shape (n,).
        prior: p in (0, 1).
        seed: of the file; a strict audit takes it as its fresh seed, any other lets the scores
            decide.
        strict: whether the finite-sample methods are asked for.
        discrete: whether the score is said to have few values, all known.
        number: of the file in its cell.
        counted: whether its rows are counted, as sites do, and not kept.
    """

    member: Bools
    score: Floats
    prior: float
    seed: int
    strict: bool = False
    discrete: bool = False
    number: int = 0
    counted: bool = False

    def stated(self, quantity: Quantity, attackers: Attackers) -> list[Row]:
        """Return what ``estimate`` prints of a quantity against a class of attackers."""
        return [
            estimate
            for estimate in self.estimates
            if (estimate.quantity, estimate.attackers) == (quantity, attackers)
        ]

    @cached_property
    def estimates(self) -> list[Row]:
        """Every row that ``estimate`` prints of the file, at 95% confidence."""
        return score_estimates(self.evidence, ErrorShare(confidence=CONFIDENCE, columns=1))

    @cached_property
    def planned(self) -> tuple[BurnInSample, Plan]:
        """The burn-in, and the cells and attackers that it chose."""
        rows, seed = self.in_order
        sample = burn_in(rows, seed)
        plan = make_plan(sample, ["float"], prior=self.prior, discrete=self.discrete, seed=seed)
        return sample, plan

    @cached_property
    def evidence(self) -> Evidence:
        """What the file shows of its score."""
        rows, seed = self.in_order
        tally = Tally(self.planned[1])
        tally.add(rows)
        (counts,) = tally.counts()
        if self.counted:
            counts = replace(counts, ranked=None)
        return Evidence(
            score="score", counts=counts, prior=self.prior, strict=self.strict, seed=seed
        )

    @property
    def cell_edges(self) -> Floats:
        """The cut points of the score's cells."""
        return self.planned[1].columns[0].cells.edges

    @cached_property
    def bin_edges(self) -> tuple[float, ...]:
        """The cut points of the bins that the class ``bins-16`` is limited to."""
        return tuple(self.cell_edges[bins_of(self.evidence.counts)[1:] - 1].tolist())

    @cached_property
    def refuted(self) -> Refutation:
        """What ``bounds`` says of the counts of the attack at `ATTACK_CUT`."""
        called = self.score > ATTACK_CUT
        tp, fp = int((called & self.member).sum()), int((called & ~self.member).sum())
        counts = {"tp": tp, "fn": self.n_members - tp, "fp": fp, "tn": self.n_holdout - fp}
        return refutation(
            tpr=tp / self.n_members,
            fpr=fp / self.n_holdout,
            delta=0.0,
            counts=counts,
            confidence=CONFIDENCE,
            methods=("clopper-pearson",),
        )

    @cached_property
    def best_threshold(self) -> BestThreshold:
        """The threshold that does best on the file itself."""
        return best_threshold(self.member, self.score, self.prior)

    @cached_property
    def equal_width(self) -> Ints:
        """Counts in 100 bins of equal width, shape (100, 2), (holdout, member)."""
        finite = self.score[np.isfinite(self.score)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        return equal_width_counts(self.score, self.member, low, high, EQUAL_WIDTH_BINS)

    @cached_property
    def n_members(self) -> int:
        """Members in the file."""
        return int(self.member.sum())

    @property
    def n_holdout(self) -> int:
        """Holdout records in the file."""
        return self.member.size - self.n_members

    @property
    def choice(self) -> SeedChoice:
        """The seed that is asked for."""
        return SeedChoice(origin="fresh", number=self.seed) if self.strict else DEFAULT_SEED

    @cached_property
    def in_order(self) -> tuple[Rows, int]:
        """The rows in their canonical order, and the seed in use for them."""
        rows, content = canonical_scores(self.score, self.member)
        return rows, self.choice.in_use(content)


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditedVector(AuditedFile):
    """A file of vector scores in memory, as ``estimate`` would read it.

    ``score`` has shape (n, d).

    Attributes:
        law: that it was drawn from.
    """

    law: VectorLaw

    @cached_property
    def estimates(self) -> list[Row]:
        """Every row that ``estimate`` prints of the file, at 95% confidence."""
        rows, survey, made = self._made
        tally = Tally(made.plan)
        tally.add(replace(rows, scores=made.derive(rows.scores)))
        (counted,) = made.counted(tally.counts(), survey)
        _, seed = self.in_order
        evidence = vector_evidence(
            "score", counted, prior=self.prior, strict=self.strict, seed=seed
        )
        return vector_estimates(evidence, ErrorShare(confidence=CONFIDENCE, columns=1))

    @cached_property
    def learned_truth(self) -> float:
        """The advantage of the best threshold on the learned score that was chosen."""
        (derivation,) = self._made[2].derivations
        return self.threshold_truth(derivation, self.prior, stream=1)

    def threshold_truth(self, learned: Derivation | Learner, prior: float, stream: int) -> float:
        """Return the advantage of the best threshold on a score that was learned.

        It is that on a large sample of its own, on which the threshold is chosen too: about
        0.005 too high, so that upper limits are put to a harder test.

        Args:
            learned: scores, of which one was chosen.
            prior: p in (0, 1).
            stream: of random numbers.
        """
        rng = np.random.default_rng([self.seed % 2**63, stream])
        member = np.arange(2 * _DRAWN) < _DRAWN
        drawn = np.ascontiguousarray(self.law.draw(rng, member).T)
        score = learned.scores(tuple(drawn))[learned.chosen]
        return best_thresholds(exact_ladder(score[member], score[~member]), prior)

    @cached_property
    def grid_truth(self) -> float | None:
        """The advantage of the best set of the grid's cells, from the law."""
        found = self._made[2].derivations[0].find("product-grid")
        if found is None or not isinstance(found.fitted, ProductGrid):
            return None
        return self.law.advantage_cells(self.prior, found.fitted.edges)

    @cached_property
    def in_order(self) -> tuple[Rows, int]:
        """The rows in their canonical order, and the seed in use for them."""
        columns = [
            ContentColumn(name=f"{at:03}", values=np.ascontiguousarray(values))
            for at, values in enumerate(self.score.T)
        ]
        rows, content = canonical_rows(columns, self.member)
        return rows, self.choice.in_use(content)

    @cached_property
    def _made(self) -> tuple[Rows, VectorSurvey, VectorPlan]:
        """Return the rows, the burn-in and what was learned on it."""
        width = self.score.shape[1]
        rows, seed = self.in_order
        survey = VectorSurvey(width, seed)
        survey.add(rows)
        survey.sample.settle()
        made = make_vector_plan(
            survey,
            [tuple(range(width))],
            ["float"] * width,
            prior=self.prior,
            discrete=self.discrete,
            seed=seed,
        )
        return rows, survey, made


Args = tuple[Hashable, ...]
Side = Literal["lower", "upper"]
# What each of the two limits of a report's row promises alone.
ONE_SIDED: Final = 1 - (1 - CONFIDENCE) / 2
# Where dear limits are tried unless they are asked for by name, and on one file in so many: no
# leak with ties, a leak that thresholds find, rare records that are all leaked, two values.
_DEAR_LAWS: Final = frozenset(
    {"null-ties", "gauss-shift-1", "leaked-atoms", "randomized-response-1"}
)
_DEAR_RECORDS: Final = 1_000
_DEAR_EVERY: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """What a method says about one estimand of one file.

    Attributes:
        lower: lower limit, or None where the method states none.
        upper: upper limit, or None.
        value: best estimate, or None.
        nominal: promised coverage of each side alone.
        args: what the truth needs to know beside the law and the prior, such as (fpr, side).
        label: names the row of the table, so that two methods can state the same estimand. What
            an estimand's `said` returns has there what follows the estimand's title.
        finite_sample: whether the limits are said to hold at every size.
        estimand: name of the truth, as in the registry.
        source: whose limit it is.
    """

    lower: float | None = None
    upper: float | None = None
    value: float | None = None
    nominal: float = ONE_SIDED
    args: Args = ()
    label: str = ""
    finite_sample: bool = False
    estimand: str = ""
    source: Source = "mipaudit"

    def limit(self, side: Side) -> float:
        """Return the limit on a side, NaN where there is none."""
        found = self.lower if side == "lower" else self.upper
        return math.nan if found is None else found


def interval_of(estimate: Row, *args: Hashable, label: str = "") -> Interval:
    """Return both limits and the best estimate of a report's row."""
    return Interval(
        lower=estimate.lower,
        upper=estimate.upper,
        value=estimate.value,
        nominal=1 - (1 - estimate.confidence) / 2,
        args=args,
        label=label,
        finite_sample=estimate.validity == "finite-sample",
    )


def trivial(prior: float, *_: object) -> float:
    """Return the advantage of an attacker who knows nothing: |2p-1|."""
    return baseline(prior)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimand:
    """One quantity: on which laws it has a true value, that value, and what the tool says of it.

    Attributes:
        name: stable, lower case, with underscores.
        truth: takes a law, a prior and the arguments of an interval.
        statements: the pairs of quantity and attackers in a report that it is the truth of.
        said: takes a file, and returns what the tool says; None for the rows of `statements`.
        baseline: takes a prior and the arguments: the value where nothing leaks; None for 0.
        has_truth: whether there is a true value, and a finite one, under a law; None for always.
        title: what the labels of its rows begin with; its name by default.
        vectorial: whether it is about scores of several numbers.
        by_name_only: whether it is run only when asked for by name.
        dear: whether its limits take long: then its coverage is that of the files on which it
            is usually tried.
    """

    name: str
    truth: Callable[..., float]
    statements: tuple[tuple[Quantity, Attackers], ...] = ()
    said: Callable[..., Iterable[Interval]] | None = None
    baseline: Callable[..., float] | None = None
    has_truth: Callable[[Law], bool] | None = None
    title: str = ""
    vectorial: bool = False
    by_name_only: bool = False
    dear: bool = False

    def concerns(self, law: Law) -> bool:
        """Tell whether it is asked about this law at all: of one number, or of several."""
        fits = self.vectorial == (law.width > 1)
        return fits and (self.has_truth is None or self.has_truth(law))

    def usually(self, law: Law, records: int, number: int) -> bool:
        """Tell whether it is tried on a file without being asked for by name.

        Args:
            law: that the file was drawn from.
            records: rows of the file.
            number: of the file in its cell.
        """
        chosen = law.name in _DEAR_LAWS and records <= _DEAR_RECORDS
        return not self.dear or (chosen and number % _DEAR_EVERY == 0)

    def intervals(self, audited: AuditedFile) -> list[Interval]:
        """Return what the tool says about it on a file."""
        if self.said is None:
            found = [interval_of(row) for pair in self.statements for row in audited.stated(*pair)]
        else:
            found = list(self.said(audited))
        title = self.title or self.name
        return [replace(one, estimand=self.name, label=title + one.label) for one in found]
