"""What a score of several numbers shows about membership, from its derived scores.

The same questions as of a single number are asked: the policy, the claims and the table
need no other answers. The lower limit is of one attacker at a time on any of the
derived scores; each upper limit is of the attackers on one of them.

One pass over the burn-in decides for the pass that counts vector scores; the rows of the report
say on which derived score each limit is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.evidence.derived_scores import (
    BurnInRows,
    Derivation,
    DerivedScore,
    Form,
    VectorBurnIn,
    make_derivation,
    split_burn_in,
)
from mipaudit.evidence.scores.averaged_lower import Averaged, averaged_among
from mipaudit.evidence.scores.betting_lower import betting
from mipaudit.evidence.scores.evidence import Evidence, sets_advantage
from mipaudit.evidence.scores.rows import ErrorShare, score_estimates
from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Floats
from mipaudit.maths.learners import Boosting
from mipaudit.model.message import Finding, Message
from mipaudit.summaries.cells import Cells, JointAlphabet, ProductGrid
from mipaudit.summaries.plan import ColumnPlan, Plan, VectorSurvey, column_plan, kept_exactly

if TYPE_CHECKING:
    from mipaudit.maths.class_limits.area_limits import Area
    from mipaudit.maths.class_limits.roc_counts import Ladder
    from mipaudit.maths.class_limits.threshold_limits import OperatingPoint
    from mipaudit.model.row import Attackers, Row
    from mipaudit.statements.choices import Side
    from mipaudit.summaries.counts import ScoreCounts
    from mipaudit.summaries.rows import ScoreKind

# What an upper limit is asked of: a derived score, and a class of attackers on it.
_CLASSES: Final[dict[Attackers, tuple[Form | None, Attackers]]] = {
    "any": ("joint", "any"),
    "learned": (None, "thresholds"),
    "product-grid": ("product-grid", "any"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorCounts:
    """The counts of a vector's derived scores, the same rows each.

    Attributes:
        derivation: how they were made.
        counts: of each derived score; the fitting rows are in no block.
        width: number of coordinates.
        constant: positions of the coordinates that are the same in all rows.
        infinite: number of infinite values of all coordinates together.
    """

    derivation: Derivation
    counts: tuple[ScoreCounts, ...]
    width: int
    constant: tuple[int, ...]
    infinite: int

    def of(self, form: Form) -> ScoreCounts | None:
        """Return the counts of a derived score of this form, None where there is none."""
        at = self.derivation.index(form)
        return None if at is None else self.counts[at]

    @property
    def learned(self) -> tuple[ScoreCounts, ...]:
        """Return the counts of the learned scores."""
        pairs = zip(self.derivation.derived, self.counts, strict=True)
        return tuple(counts for one, counts in pairs if one.learned)

    @property
    def chosen(self) -> ScoreCounts:
        """Return the counts of the learned score that was chosen on the burn-in."""
        return self.counts[self.derivation.chosen]


@dataclass(frozen=True, kw_only=True, eq=False)
class SeveralScores(Evidence):
    """Scores of the same rows, with one attacker at a time on any of them.

    ``counts`` are those of the score whose classes of attackers have upper limits.

    Attributes:
        together: the counts of all, the same rows each.
        bet_on: the counts of one: bets need one table.
    """

    together: tuple[ScoreCounts, ...]
    bet_on: ScoreCounts

    @property
    def discrete(self) -> bool:
        """Return False: what the scores are made of says more than they do."""
        return False

    def _learn(self) -> Averaged:
        burn_in = self.counts.burn_in
        if self.strict:
            return betting(self.bet_on.blocks, burn_in, self.prior, self._rng(0))
        return averaged_among([one.blocks for one in self.together], burn_in, self.prior)

    @cached_property
    def plugin(self) -> float:
        """Return the largest W_N over the cells of a score: biased upward."""
        return max(sets_advantage(one.scored, self.prior) for one in self.together)


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorEvidence(SeveralScores):
    """The derived scores of a vector, and what they show.

    Attributes:
        vector: their counts.
    """

    vector: VectorCounts

    @property
    def vectorial(self) -> bool:
        """Return True."""
        return True

    @property
    def discrete(self) -> bool:
        """Tell whether all coordinates together have few values, so that 'any' has a limit."""
        return self.vector.of("joint") is not None

    @property
    def classes(self) -> tuple[Attackers, ...]:
        """Return the named classes: thresholds on the learned score, and sets of cells."""
        grid: tuple[Attackers, ...] = ("product-grid",)
        return ("learned", *(grid if self.vector.of("product-grid") is not None else ()))

    @cached_property
    def one_sided(self) -> Ladder:
        """Return the rows outside the burn-in by the learned score, members on the high side."""
        return self._learned.one_sided

    @cached_property
    def area(self) -> tuple[Area, Side]:
        """Return the AUC of the learned score on the rows outside the burn-in."""
        return self._learned.area

    def observed(self, attackers: Attackers) -> tuple[float, int, int]:
        """Return the best observed advantage of a class, and the rows behind it."""
        part, own = self.asked(attackers)
        if part is None:
            raise ValueError(f"a vector score has no attackers of class {attackers}")
        return part.observed(own)

    def upper(self, attackers: Attackers, alpha: float) -> float | None:
        """Return an upper limit for a class, one-sided alpha; None where there is none."""
        part, own = self.asked(attackers)
        return None if part is None else part.upper(own, alpha)

    def tpr_upper(self, fpr: float, alpha: float) -> float:
        """Return an upper limit of TPR at an FPR of thresholds on the learned score."""
        return self._learned.tpr_upper(fpr, alpha)

    def tpr_widened(self, fpr: float, alpha: float) -> bool:
        """Tell whether that limit is the one at a lower FPR."""
        return self._learned.tpr_widened(fpr, alpha)

    def tpr(self, fpr: float, alpha: float) -> OperatingPoint:
        """Return TPR at an FPR of thresholds on the learned score, one-sided alpha."""
        return self._learned.tpr(fpr, alpha)

    @cached_property
    def _learned(self) -> Evidence:
        return self._part(self.vector.chosen)

    def asked(self, attackers: Attackers) -> tuple[Evidence | None, Attackers]:
        """Return the evidence of the derived score that a class is about, None for none."""
        if attackers not in _CLASSES:
            return None, attackers
        form, own = _CLASSES[attackers]
        if form is None:
            return self._learned, own
        counts = self.vector.of(form)
        return (None if counts is None else self._part(counts)), own

    def _part(self, counts: ScoreCounts) -> Evidence:
        """Return the evidence of one derived score on the rows that it was not made from."""
        return Evidence(
            score=self.score,
            counts=replace(counts, everyone=counts.evaluated),
            prior=self.prior,
            strict=self.strict,
            member_side="high",
            seed=self.seed,
        )


def vector_evidence(
    score: str, vector: VectorCounts, *, prior: float, strict: bool, seed: int
) -> VectorEvidence:
    """Return the evidence of a vector score.

    Args:
        score: its name.
        vector: its counts.
        prior: p in (0, 1).
        strict: use finite-sample methods where there are any.
        seed: for the draws of the strict methods.
    """
    return VectorEvidence(
        score=score,
        counts=vector.chosen,
        prior=prior,
        strict=strict,
        member_side="high",
        seed=seed,
        together=vector.counts,
        bet_on=vector.counts[vector.derivation.strongest],
        vector=vector,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorPlan:
    """How all vectors are counted.

    Attributes:
        coordinates: which columns each vector is made of.
        derivations: what is derived from each.
        plan: of the derived scores of all, one after the other.
        fit_blocks: leading micro-blocks that are in no table.
    """

    coordinates: tuple[tuple[int, ...], ...]
    derivations: tuple[Derivation, ...]
    plan: Plan
    fit_blocks: int

    def derive(self, columns: tuple[Floats, ...]) -> tuple[Floats, ...]:
        """Return the derived scores of all vectors for rows of all columns."""
        return tuple(
            scores
            for own, derivation in zip(self.coordinates, self.derivations, strict=True)
            for scores in derivation.scores([columns[at] for at in own])
        )

    def counted(
        self, counts: Sequence[ScoreCounts], survey: VectorSurvey
    ) -> tuple[VectorCounts, ...]:
        """Return the counts of each vector from those of all derived scores in order."""
        left = (one.without_blocks(self.fit_blocks) for one in counts)
        return tuple(
            VectorCounts(
                derivation=derivation,
                counts=tuple(next(left) for _ in derivation.derived),
                width=len(own),
                constant=tuple(place for place, at in enumerate(own) if survey.constant(at)),
                infinite=int(survey.infinite[list(own)].sum()),
            )
            for own, derivation in zip(self.coordinates, self.derivations, strict=True)
        )


def make_vector_plan(
    survey: VectorSurvey,
    vectors: Sequence[tuple[int, ...]],
    kinds: Sequence[ScoreKind],
    *,
    prior: float,
    discrete: bool,
    seed: int,
) -> VectorPlan:
    """Fit and choose on the burn-in, and cut the cells of what was chosen.

    Args:
        survey: settled, neither class empty.
        vectors: the columns of each vector.
        kinds: of all columns.
        prior: p in (0, 1).
        discrete: take every vector as discrete.
        seed: of the row assignment and of the fits.

    Raises:
        InputError: a vector taken as discrete has too many values.
    """
    sample = survey.sample
    burn_in = split_burn_in(sample)
    rows = sample.members.rows + sample.holdout.rows
    derivations = []
    for own in vectors:
        parts = VectorBurnIn(
            fitting=_narrowed(burn_in.fitting, own),
            choosing=_narrowed(burn_in.choosing, own),
            fit_blocks=burn_in.fit_blocks,
            blocks=burn_in.blocks,
        )
        own_kinds = [kinds[at] for at in own]
        derivations.append(
            (
                make_derivation(parts, own_kinds, prior=prior, discrete=discrete, seed=seed),
                parts.choosing,
            )
        )
    exact = kept_exactly(rows, sum(len(one.derived) for one, _ in derivations))
    columns = [
        column
        for derivation, choosing in derivations
        for column in column_plans(derivation, choosing, prior=prior, rows=rows, exact=exact)
    ]
    return VectorPlan(
        coordinates=tuple(vectors),
        derivations=tuple(derivation for derivation, _ in derivations),
        plan=Plan(columns=tuple(columns), burn_in=burn_in.blocks, seed=seed, exact=exact),
        fit_blocks=burn_in.fit_blocks,
    )


def _narrowed(rows: BurnInRows, coordinates: tuple[int, ...]) -> BurnInRows:
    return BurnInRows(values=rows.values[:, list(coordinates)], member=rows.member)


def column_plans(
    derivation: Derivation, choosing: BurnInRows, *, prior: float, rows: int, exact: bool
) -> list[ColumnPlan]:
    """Return the cells of every derived score, cut on the rows that chose among them.

    Args:
        derivation: of the scores.
        choosing: rows that chose among them.
        prior: p in (0, 1).
        rows: of the whole input.
        exact: whether the scores are kept.
    """
    scores = derivation.scores(choosing.columns(tuple(range(choosing.values.shape[1]))))
    return [
        _known_cells(one)
        or column_plan(
            values[choosing.member],
            values[~choosing.member],
            "float",
            prior=prior,
            discrete=False,
            rows=rows,
            exact=exact,
        )
        for one, values in zip(derivation.derived, scores, strict=True)
    ]


def _known_cells(one: DerivedScore) -> ColumnPlan | None:
    """Return the cells of a score whose values are known; None for any other."""
    match one.fitted:
        case ProductGrid(count=count):
            cells = Cells(
                edges=np.arange(count - 1, dtype=np.float64) + 0.5,
                single=np.ones(count, dtype=bool),
                coarse=np.arange(count),
                buckets=None,
            )
        case JointAlphabet(cells=cells):
            pass
        case _:
            return None
    return ColumnPlan(cells=cells, discrete=True)


_NO_UPPER: Final = Message("upper_of_vector_classes")
_OUTSIDE: Final = "the rows outside the burn-in counted"
_NAMES: Final[dict[Form, str]] = {
    "product-grid": "cells of a product grid",
    "joint": "combinations of values",
    "logistic": "logistic regression",
    "neighbours": "nearest neighbours",
    "boosting": "gradient boosting",
    "coordinate": "single coordinates",
}


def vector_estimates(evidence: Evidence, share: ErrorShare) -> list[Row]:
    """Return every row of a vector score, the advantage first.

    Args:
        evidence: a `VectorEvidence`.
        share: of the error.
    """
    evidence = _vector(evidence)
    return [_reworded(row, evidence) for row in score_estimates(evidence, share)]


def learned_name(evidence: VectorEvidence) -> str:
    """Return what the chosen learned score is, with the library that grew it."""
    return _named(evidence.vector.derivation.derived[evidence.vector.derivation.chosen])


def vector_findings(name: str, evidence: Evidence, infinite: int | None = None) -> list[Finding]:
    """Return how a vector score was audited and what is unusual.

    Args:
        name: shown as it is.
        evidence: a `VectorEvidence`.
        infinite: number of infinite coordinates where its counts hold missing ones as such.
    """
    evidence = _vector(evidence)
    vector = evidence.vector
    found = [_made_of(name, evidence)]
    if vector.constant:
        found.append(
            Finding.of(
                "constant_coordinates",
                case="vector",
                score=name,
                constant=len(vector.constant),
                width=vector.width,
            )
        )
    infinite = vector.infinite if infinite is None else infinite
    if infinite:
        found.append(
            Finding.of("infinite_scores", case="vector", score=name, infinite=int(infinite))
        )
    return found


def shuffled_finding(name: str, value: float, shuffled: float, prior: float) -> Finding:
    """Return what the published estimator reads where nothing can leak, and so its bias there."""
    guessing = baseline(prior)
    return Finding.of(
        "mace_bias",
        score=name,
        value=value,
        baseline=guessing,
        shuffled=shuffled,
        bias=shuffled - guessing,
    )


def _vector(evidence: Evidence) -> VectorEvidence:
    if not isinstance(evidence, VectorEvidence):
        raise TypeError("the evidence is of a single number")
    return evidence


def _made_of(name: str, evidence: VectorEvidence) -> Finding:
    derivation = evidence.vector.derivation
    forms = [
        _NAMES[form] + (f" ({derivation.library})" if form == "boosting" else "")
        for form in derivation.tried
    ]
    return Finding.of(
        "vector_score",
        score=name,
        width=evidence.vector.width,
        forms=", ".join(forms),
        learned=learned_name(evidence),
        boosting="boosting" in derivation.tried,
    )


def _named(one: DerivedScore) -> str:
    if isinstance(one.fitted, Boosting):
        return f"{_NAMES[one.form]} ({one.fitted.library})"
    return _NAMES[one.form]


def _reworded(row: Row, evidence: VectorEvidence) -> Row:
    """Return a row with the words and classes that are true of a vector."""
    learned = learned_name(evidence)
    if row.attackers == "any":
        return replace(
            row,
            selection=f"{_on_what(evidence)}, {row.selection}",
            upper_reason=None if row.upper is not None else _NO_UPPER,
        )
    if row.attackers == "product-grid":
        shape = _grid_shape(evidence)
        return replace(row, selection=f"{shape} cells cut on the burn-in, {_OUTSIDE}")
    return replace(
        row,
        attackers="learned",
        selection=f"{learned} fitted and chosen on the burn-in, {_OUTSIDE}",
    )


def _on_what(evidence: VectorEvidence) -> str:
    derivation = evidence.vector.derivation
    if evidence.strict:
        return f"on {_named(derivation.derived[derivation.strongest])}, chosen on the burn-in"
    forms = dict.fromkeys(_named(one) for one in derivation.derived)
    return f"on {', '.join(forms)}"


def _grid_shape(evidence: VectorEvidence) -> str:
    found = evidence.vector.derivation.find("product-grid")
    grid = None if found is None else found.fitted
    return " x ".join(str(n) for n in grid.shape) if isinstance(grid, ProductGrid) else ""
