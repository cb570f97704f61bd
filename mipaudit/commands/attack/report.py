"""What ``attack`` returns, prints and writes: the JSON format ``mipaudit.attack/3``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from mipaudit.model.check import Check
from mipaudit.model.message import Message
from mipaudit.model.row import Attackers, Row, Validity
from mipaudit.statements.estimate import Finding
from mipaudit.statements.origin import Provenance
from mipaudit.statements.reports.any_report import AnyReport
from mipaudit.statements.reports.kinds import schema_of
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
GapOrder = Literal["holdout less members", "members less holdout"]
JudgedOn = Literal["all rows", "rows outside the burn-in"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAttack:
    """What one adversary of the literature achieves with one score.

    Attributes:
        score: the score column.
        adversary: which.
        source: where it was published.
        group: a class of records, for an attack's advantage within it; None for all.
        value: advantage on the rows that it was judged on; None where it does not apply.
        lower: one-sided lower limit at (1-confidence)/2; may be below blind guessing.
        upper: upper limit.
        value_reason: why there is no value.
        validity: of the limits.
        tpr: share of members that it calls members.
        fpr: share of holdout records that it calls members.
        judged_on: ``all rows`` where nothing was learned from them.
        n_members: members that it was judged on.
        n_holdout: holdout records, likewise.
        learned: what it learned, from the burn-in, or was told.
        same_rows: its advantage where it learns from all rows and is judged on them, as
            the papers print it; not an interval, and not a limit.
        predicted: what the paper's formula says for normal residuals with these standard
            errors; no measurement.
        short_lower: any attacker who sees the score has at least this much more.
        short_upper: the best attacker of ``short_against`` has at most this much more.
        short_against: the class of that upper limit.
    """

    score: str
    adversary: Adversary
    source: str
    value: float | None
    lower: float | None
    upper: float | None
    validity: Validity
    tpr: float | None
    fpr: float | None
    judged_on: JudgedOn
    n_members: int
    n_holdout: int
    learned: str
    group: str | None = None
    value_reason: Message | None = None
    same_rows: float | None = None
    predicted: float | None = None
    short_lower: float | None = None
    short_upper: float | None = None
    short_against: Attackers | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralizationGap:
    """How far the mean losses of the two classes are apart, of one score.

    Attributes:
        score: the score column; of residuals, their squares.
        value: on all rows, or on those outside the burn-in where that chose the order; None
            where the mean is not shown.
        lower: finite-sample limit, None without a bound of the loss.
        upper: likewise.
        bound: scores below 0 count as 0 and those above it as it; None for none.
        reason: why there is no value, or there are no limits.
        order: which mean is taken from which: of a score that is high for members, that of the
            holdout from that of the members.
    """

    score: str
    value: float | None
    lower: float | None
    upper: float | None
    bound: float | None
    reason: Message | None
    order: GapOrder = "holdout less members"


@dataclass(frozen=True, slots=True, kw_only=True)
class TogetherLimit:
    """The largest of the lower limits of one score, which share the error.

    Each limit of the tables holds by itself, so the largest of them, picked afterwards, does
    not. This one may be picked: whoever sees the score can do what any of these attackers does.

    Attributes:
        score: the score column.
        lower: any attacker who sees the score has at least this advantage.
        rests_on: whose limit it is; ``any`` for the best attacker's own.
    """

    score: str
    lower: float
    rests_on: Adversary | Literal["any"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttackReport(AnyReport):
    """Named adversaries beside the optimum's limits.

    Attributes:
        optimum: advantage of the best attacker: any, and of each class.
        attacks: in a fixed order, score by score, as all tables are, the strongest first.
        groups: the per-class attack within each class of records, jointly over these.
        gaps: generalization gap of each score.
        policy: one check for each named adversary, and one for the best attacker (``any``)
            where it is surely above the limit. 'Met' says nothing of the best attacker.
        together: of each score, what its limits say of any attacker, taken together.
    """

    command: str
    design: AttackDesign
    optimum: tuple[Row, ...]
    attacks: tuple[NamedAttack, ...]
    groups: tuple[NamedAttack, ...]
    gaps: tuple[GeneralizationGap, ...]
    findings: tuple[Finding, ...]
    limitations: tuple[Message, ...]
    provenance: Provenance
    policy: tuple[Check, ...] = ()
    verdict: Verdict = field(default_factory=partial(named_verdict, ()))
    together: tuple[TogetherLimit, ...] = ()
    schema: str = schema_of("attack")
