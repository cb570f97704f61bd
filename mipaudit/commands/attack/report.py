"""What ``attack`` returns, prints and writes: the JSON format ``mipaudit.attack/3``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from mipaudit.model.check import Check
from mipaudit.model.row import Row
from mipaudit.statements.reports.any_report import AnyReport
from mipaudit.statements.verdict import Verdict, named_verdict

Adversary = Literal[
    "bounded-loss",
    "mean",
    "gaussian",
    "one-standard-error",
    "top-n",
    "top-half",
    "best-threshold",
    "per-class",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackDesign:
    """What was attacked, and how.

    Attributes:
        n_members: members in the input.
        n_holdout: holdout records in the input.
        prior: p in (0, 1).
        baseline: the trivial attacker's advantage, |2p-1|.
        confidence: of each pair of limits, jointly over the score columns.
        score_columns: that were attacked, the strongest first.
        member_column: None when files or arrays say it.
        skipped_columns: that were not taken as scores.
        residuals: whether the scores are residuals, whose size is what is attacked.
        loss_bound: B, if the user gave one.
        classes: the columns whose values have thresholds of their own.
        sides: of each score column, where members score.
        burn_in_members: members that attackers of the first score learn from.
        burn_in_holdout: holdout records that they learn from.
        burn_ins: both, of each score: which records they are follows from the score.
    """

    n_members: int
    n_holdout: int
    prior: float
    baseline: float
    confidence: float
    score_columns: tuple[str, ...]
    member_column: str | None
    skipped_columns: tuple[str, ...]
    residuals: bool
    loss_bound: float | None
    classes: tuple[str, ...]
    sides: tuple[Literal["high", "low"], ...]
    burn_in_members: int
    burn_in_holdout: int
    burn_ins: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttackReport(AnyReport):
    """Named adversaries beside the optimum's limits.

    Attributes:
        optimum: advantage of the best attacker: any, and of each class.
        attacks: advantage of each attacker of the literature, on rows from which it has learned
            nothing (``selection``); in a fixed order, score by score, as all tables are, the
            strongest first. Its lower limit may be below blind guessing.
        details: of these, ``tpr`` and ``fpr``; ``same_rows``, the advantage where it learns from
            all rows and is judged on them, as papers print it; ``predicted``, what the paper's
            formula says for normal residuals with these standard errors; ``shortfall``, how much
            more any attacker has at least, and the best of the class ``versus`` at most.
        groups: advantage of the per-class attack within each class of records, jointly over these.
        gaps: how far the mean losses of the two classes (``method``: which is taken from which)
            are apart, of residuals those of their squares; of each score.
        policy: one check for each named adversary, and one for the best attacker (``any``)
            where it is surely above the limit. 'Met' says nothing of the best attacker.
        together: the largest of the lower limits of each score, which share the error: this one
            may be picked afterwards, and holds for any attacker. ``method``: whose limit it is.
    """

    design: AttackDesign
    optimum: tuple[Row, ...]
    attacks: tuple[Row, ...]
    details: tuple[Row, ...]
    groups: tuple[Row, ...]
    gaps: tuple[Row, ...]
    policy: tuple[Check, ...] = ()
    verdict: Verdict = field(default_factory=partial(named_verdict, ()))
    together: tuple[Row, ...] = ()
