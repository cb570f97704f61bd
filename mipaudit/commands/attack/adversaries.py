"""Scores made ready, and the named adversaries of the literature: what each learns and guesses.

All take *losses*: numbers that are low for members. A score that is high for members is
turned round before. What an adversary learns, it learns from rows of its own (the burn-in),
so that its guesses about the other rows are those of an attacker fixed beforehand.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.attack.options import AttackOptions
from mipaudit.counting.counts import settle_sample
from mipaudit.counting.scores import fits, hold_input, in_order, over_rows, with_groups
from mipaudit.data.source import ScoreSource
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import InputError, UsageError
from mipaudit.evidence.named_attack import Achieved, achieved
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.findings import constant, identical_classes
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.model.message import Message
from mipaudit.model.row import Attackers
from mipaudit.statements.choices import Side
from mipaudit.summaries.cells import Cells
from mipaudit.summaries.plan import BurnInSample, make_plan
from mipaudit.summaries.rows import Rows, row_blocks
from mipaudit.summaries.tally import Tally

NO_MEAN: Final = Message("mean_of_infinite")


class NotJudgedError(Exception):
    """An attack cannot learn what it needs; ``reason`` says why."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """Losses of both classes: to learn from, or whose membership is guessed.

    Attributes:
        loss: float64, shape (n,), low for members.
        member: bool, shape (n,).
        classes: uint64, shape (n,), of the records; of no length where nobody looks at them.
    """

    loss: Floats
    member: Bools
    classes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))

    @property
    def members(self) -> Floats:
        """Return the members' losses."""
        return self.loss[self.member]

    @property
    def holdout(self) -> Floats:
        """Return the holdout records' losses."""
        return self.loss[~self.member]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attacked:
    """One score made ready: losses that are low for members, and the rows by their use.

    Attributes:
        name: of the score column.
        evidence: of the same rows, counted.
        cells: of the score.
        scores: as audited, shape (n,).
        loss: low for members, shape (n,).
        member: bool, shape (n,).
        classes: uint64, shape (n,).
        judged: rows outside the burn-in, bool, shape (n,).
        blocks: micro-block of each row, shape (n,).
        side: where members score.
        classed: the same score with its rows in another order, to which their classes
            belong; None where there are none.
    """

    name: str
    evidence: Evidence
    cells: Cells
    scores: Floats
    loss: Floats
    member: Bools
    classes: NDArray[np.uint64]
    judged: Bools
    blocks: NDArray[np.uint8]
    side: Side
    classed: Self | None = None

    def part(self, rows: Bools) -> Labelled:
        """Return some of the rows."""
        return Labelled(loss=self.loss[rows], member=self.member[rows], classes=self.classes[rows])


def real_loss(one: Attacked, asked: AttackOptions) -> Floats:
    """Return the loss itself: squared residuals, or B less a score that is high for members."""
    if asked.residuals:
        return np.asarray(one.scores**2)
    if one.side == "low":
        return one.scores
    return np.asarray((asked.loss_bound or 0.0) - one.scores)


def no_mean(one: Attacked, asked: AttackOptions, rows: Bools) -> Message | None:
    """Return why no mean of the losses of some rows can be shown; None where one can.

    Args:
        one: the score.
        asked: the settings.
        rows: that the mean is of, bool, shape (n,).
    """
    loss, member = real_loss(one, asked)[rows], one.member[rows]
    if asked.missing_kept and (one.scores[rows] == -np.inf).any():
        return Message("mean_of_missing")
    if min(np.count_nonzero(member), np.count_nonzero(~member)) < asked.min_cell:
        # Of one record the mean is its loss, and of few it tells much of each.
        return Message.of("mean_of_few", least=asked.min_cell)
    if asked.loss_bound is None:
        return None if np.isfinite(loss).all() else NO_MEAN
    outside = (loss < 0) | (loss > asked.loss_bound)
    return Message("all_clipped") if outside.all() else None


def hold_rows(source: ScoreSource, asked: AttackOptions) -> tuple[Attacked, ...]:
    """Read the input once; return its scores in order, each made ready.

    Raises:
        UsageError: a column of labels, a mean for several columns, or no thread.
        InputError: a class is empty, keys repeat, or the scores cannot show anything.
    """
    source.require_numbers()
    _require_one_score(source, asked)
    workers, places = Workers(Engine(jobs=asked.jobs)), range(len(source.columns))
    kept = hold_input(source, workers=workers, progress=asked.progress)
    source.check_classes()
    found = [in_order(source, kept, [at], asked.chosen_seed) for at in places]
    scores = _informative([_attacked(source, asked, at, *one) for at, one in enumerate(found)])
    if not asked.by or not fits(source):
        return scores
    classed = (with_groups(source, kept, at, asked.chosen_seed) for at in places)
    return tuple(
        replace(scores[at], classed=_attacked(source, asked, at, *one))
        for at, one in enumerate(classed)
    )


def _attacked(
    source: ScoreSource, asked: AttackOptions, at: int, rows: Rows, seed: int
) -> Attacked:
    """Return a score whose rows are in an order that follows from them, counted."""
    column = source.columns[at]
    sample = over_rows(rows, partial(BurnInSample, 1, seed))
    settle_sample(sample)
    plan = make_plan(sample, [column.kind], prior=asked.prior, discrete=False, seed=seed)
    (counts,) = over_rows(rows, partial(Tally, plan)).counts()
    evidence = Evidence(score=column.name, counts=counts, prior=asked.prior, seed=seed)
    (scores,) = rows.scores
    side: Side = "low" if asked.residuals else asked.side or evidence.trained_side
    loss = np.abs(scores) if asked.residuals else scores if side == "low" else -scores
    blocks = row_blocks(rows, seed)
    return Attacked(
        name=column.name,
        evidence=evidence,
        cells=plan.columns[0].cells,
        scores=scores,
        loss=loss,
        member=rows.member,
        classes=np.zeros(scores.size, dtype=np.uint64) if rows.groups is None else rows.groups,
        judged=np.asarray(blocks >= counts.burn_in),
        blocks=blocks,
        side=side,
    )


def _require_one_score(source: ScoreSource, asked: AttackOptions) -> None:
    told = (asked.mean_loss, asked.sigma_members, asked.sigma_holdout)
    if len(source.columns) > 1 and any(one is not None for one in told):
        raise UsageError(
            "several_scores",
            "A published mean or standard error belongs to one score, but there are several.",
            "Choose one with `score_col`.",
        )


def _informative(scores: Sequence[Attacked]) -> tuple[Attacked, ...]:
    """Return the scores, of which one at least can show something."""
    varying = [one for one in scores if not constant(one.evidence.counts)]
    if not varying:
        raise InputError(
            "constant_scores",
            "Every score is the same in all rows: there is nothing to attack.",
            "Name another score column with `score_col`.",
        )
    if all(identical_classes(one.evidence.counts) for one in varying):
        raise InputError(
            "identical_classes",
            "Members and holdout hold exactly the same scores.",
            "Were the same records written to both?",
        )
    return tuple(scores)


# Fewer rows of a class than this do not make a threshold of their own.
_LEAST_ROWS: Final = 5
_HALF: Final = 0.5
# Standard errors are compared up to rounding.
_SAME: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """An attacker that guesses 'member' at or below a loss, or above it.

    Attributes:
        at: the loss; infinite for constant guesses.
        below: whether members are guessed at or below it.
    """

    at: float
    below: bool = True

    def guesses(self, loss: Floats) -> Bools:
        """Return whom it calls a member, shape (n,)."""
        return np.asarray((loss <= self.at) == self.below)


EVERYBODY: Final = Cut(at=math.inf)


def bounded_loss_guesses(loss: Floats, bound: float) -> Floats:
    """Return with which probability each record is called a member: 1 - loss/bound.

    Yeom et al. 2018, Adversary 1; Theorem 2: its advantage is the generalization error
    over the bound. A loss above the bound counts as the bound, one below 0 as 0.

    Args:
        loss: shape (n,).
        bound: B above 0, fixed before the losses were seen.
    """
    return np.asarray(1.0 - np.clip(loss, 0.0, bound) / bound)


def standard_error(residuals: Floats) -> float:
    """Return the root of the mean of the squares of residuals, shape (n,), n above 0."""
    largest = float(np.abs(residuals).max())
    if largest == 0:
        return 0.0
    return largest * math.sqrt(float(np.mean((residuals / largest) ** 2)))


def equal_density(sigma_members: float, sigma_holdout: float) -> float:
    """Return the |residual| at which two centred normal densities are equal.

    Yeom et al. 2018, eq. 4: sigma_D sqrt(2 ln(s) / (s^2 - 1)), s = sigma_D / sigma_S.

    Args:
        sigma_members: sigma_S, at least 0.
        sigma_holdout: sigma_D, at least 0, and not both 0.
    """
    if min(sigma_members, sigma_holdout) == 0:
        return 0.0
    # The same in both; written so that large ratios do not overflow.
    low, high = sorted((sigma_members, sigma_holdout))
    log = math.log(high) - math.log(low)
    return low if log < _SAME else low * math.sqrt(2 * log / -math.expm1(-2 * log))


def gaussian_cut(sigma_members: float, sigma_holdout: float) -> Cut:
    """Return the best attacker on |residual| if residuals are normal about 0.

    Yeom et al. 2018, Adversary 2 and Theorem 3.

    Args:
        sigma_members: standard error on members, at least 0.
        sigma_holdout: standard error on holdout records, at least 0.
    """
    if abs(sigma_members - sigma_holdout) <= _SAME * max(sigma_members, sigma_holdout):
        return EVERYBODY
    at = equal_density(sigma_members, sigma_holdout)
    return Cut(at=at, below=sigma_members < sigma_holdout)


def gaussian_advantage(sigma_members: float, sigma_holdout: float) -> float:
    """Return the advantage of `gaussian_cut` on normal residuals (Yeom et al., Theorem 3)."""
    low, high = sorted((sigma_members, sigma_holdout))
    if high == 0 or high - low <= _SAME * high:
        return 0.0
    if low == 0:
        return 1.0
    at = equal_density(low, high)
    return math.erf(at / (math.sqrt(2) * low)) - math.erf(at / (math.sqrt(2) * high))


def one_error_advantage(sigma_members: float, sigma_holdout: float) -> float:
    """Return the advantage of a cut at one standard error; negative if it errs.

    Yeom et al. 2018, section 3.3: the attacker knows the standard error of members alone, and the
    residuals are normal.
    """
    if sigma_members == 0:
        return 0.0 if sigma_holdout == 0 else 1.0
    if sigma_holdout == 0:
        return math.erf(1 / math.sqrt(2)) - 1.0
    ratio = sigma_members / sigma_holdout
    return math.erf(1 / math.sqrt(2)) - math.erf(ratio / math.sqrt(2))


def top_cut(loss: Floats, share: float) -> Cut:
    """Return the attacker that calls a share of all records members, the lowest losses.

    LOGAN (Hayes et al. 2019) calls as many records members as there are members; the
    Monte-Carlo attack (Hilprecht et al. 2019) half of them. Neither looks at a label.

    Args:
        loss: of records of both classes, shape (n,), n above 0.
        share: in [0, 1].
    """
    taken = round(share * loss.size)
    if taken <= 0:
        return Cut(at=-math.inf, below=True)
    return Cut(at=float(np.partition(loss, taken - 1)[taken - 1]))


def best_cut(rows: Labelled, prior: float) -> Cut:
    """Return the threshold with the largest advantage on ``rows``, or a constant guess.

    Between two losses it lies half way, so that it does not depend on which class the
    last record on one side was of.
    """
    nobody = Cut(at=math.inf, below=False)
    constant = EVERYBODY if prior > _HALF else nobody
    sizes = int(rows.member.sum()), int((~rows.member).sum())
    if min(sizes) == 0:
        return constant
    order = np.argsort(rows.loss, kind="stable")
    loss, member = rows.loss[order], rows.member[order]
    gains = np.where(member, prior / sizes[0], -(1 - prior) / sizes[1]).cumsum()
    ends = np.append(loss[1:] > loss[:-1], True)
    gains[~ends] = -math.inf
    at = int(gains.argmax())
    everybody = 2 * prior - 1
    if gains[at] <= max(0.0, everybody):
        return constant
    if at + 1 == loss.size:
        return EVERYBODY
    # Infinite neighbours have no middle.
    with np.errstate(invalid="ignore", over="ignore"):
        middle = loss[at] + (loss[at + 1] - loss[at]) / 2
    return Cut(at=float(middle if math.isfinite(middle) else loss[at]))


def class_cuts(rows: Labelled, prior: float) -> tuple[Cut, dict[int, Cut]]:
    """Return the best threshold of all rows, and one for each class of records.

    Song and Mittal 2021, section 3: thresholds that depend on the class. A class with few
    rows has none of its own.
    """
    found = {}
    for group in np.unique(rows.classes).tolist():
        chosen = rows.classes == group
        one = Labelled(loss=rows.loss[chosen], member=rows.member[chosen])
        if min(one.members.size, one.holdout.size) >= _LEAST_ROWS:
            found[group] = best_cut(one, prior)
    return best_cut(rows, prior), found


def class_guesses(rows: Labelled, cuts: tuple[Cut, dict[int, Cut]]) -> Bools:
    """Return whom the attacker of `class_cuts` calls a member, shape (n,)."""
    fallback, own = cuts
    guesses = fallback.guesses(rows.loss)
    for group, cut in own.items():
        chosen = rows.classes == group
        guesses[chosen] = cut.guesses(rows.loss[chosen])
    return guesses


Guesses = Bools | Floats
Learner = Callable[[Labelled], Callable[[Labelled], Guesses]]

# Who tells an attack more digits of a mean than it is known to has them from these rows.
_AGREEMENT: Final = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False)
class Attack:
    """One adversary on one score: what it learns, and whom it then calls a member.

    Attributes:
        name: which.
        seen: the score, as the adversary sees it.
        asked: the settings.
        learn: from labelled losses to guesses; raises NotJudgedError where it cannot.
        told: whether everything was given, so that nothing is learned.
        predicted: what a formula says of it.
        refused: why it is not judged, None where it is.
    """

    name: Attackers
    seen: Attacked
    asked: AttackOptions
    learn: Learner
    told: bool = False
    predicted: float | None = None
    refused: Message | None = None

    @property
    def everywhere(self) -> bool:
        """Whether it is judged on all rows."""
        # Two values have one cut, whose limits hold whoever learned it, and from which rows.
        one_cut = self.name != "per-class" and self.seen.evidence.one_cut
        return one_cut or (self.told and self.asked.side_known)

    @property
    def rows(self) -> Bools:
        """The rows that it is judged on, shape (n,)."""
        judged = self.seen.judged
        return np.ones(judged.size, dtype=bool) if self.everywhere else judged

    @cached_property
    def guess(self) -> Callable[[Labelled], Guesses] | Message:
        """What it says of others once it has learned from the burn-in, or why it says nothing."""
        reason = self.refused
        if self.name == "bounded-loss":
            reason = no_mean(self.seen, self.asked, self.rows)
        try:
            return reason or self.learn(self.seen.part(~self.seen.judged))
        except NotJudgedError as error:
            return error.reason

    def achieved(self, alpha: float, rows: Bools | None = None) -> Achieved | Message:
        """Return what it achieves, two-sided alpha, or why that is not known.

        It is shown of some rows, or of all that it is judged on.
        """
        if isinstance(self.guess, Message):
            return self.guess
        target = self.seen.part(self.rows if rows is None else rows)
        found = achieved(self.guess(target), target.member, prior=self.asked.prior, alpha=alpha)
        return found or Message("empty_class")


def attacks_on(one: Attacked, asked: AttackOptions) -> Iterator[Attack]:
    """Yield the adversaries that apply to a score."""
    attack = partial(Attack, seen=one, asked=asked)
    if asked.loss_bound is not None:
        coins = partial(_coins, one.side, asked, asked.loss_bound)
        yield attack(name="bounded-loss", learn=lambda _: coins, told=True)
    if asked.residuals:
        yield from _gaussians(one, asked)
    else:
        yield _mean(one, asked)
    share = float(np.count_nonzero(one.member)) / one.member.size
    cuts: dict[Attackers, Callable[[Labelled], Cut]] = {
        "top-n": lambda rows: top_cut(_some(rows.loss), share),
        "top-half": lambda rows: top_cut(_some(rows.loss), 0.5),
        "best-threshold": lambda rows: best_cut(rows, asked.prior),
    }
    for name, learn in cuts.items():
        yield attack(name=name, learn=_cutting(learn))
    if asked.by:
        seen = one.classed or one

        def by_class(rows: Labelled) -> Callable[[Labelled], Guesses]:
            return partial(class_guesses, cuts=class_cuts(rows, asked.prior))

        yield Attack(name="per-class", seen=seen, asked=asked, learn=by_class)


def _cutting(learn: Callable[[Labelled], Cut]) -> Learner:
    def learner(rows: Labelled) -> Callable[[Labelled], Guesses]:
        cut = learn(rows)
        return lambda target: cut.guesses(target.loss)

    return learner


def _some(loss: Floats) -> Floats:
    if not loss.size:
        raise NotJudgedError(Message("nothing_to_learn"))
    return loss


def _mean_of(loss: Floats) -> float:
    with np.errstate(invalid="ignore", over="ignore"):
        mean = float(_some(loss).mean())
    if not math.isfinite(mean):
        raise NotJudgedError(NO_MEAN)
    return mean


def _error_of(residuals: Floats) -> float:
    if not np.isfinite(_some(residuals)).all():
        raise NotJudgedError(NO_MEAN)
    return standard_error(residuals)


def _of_these_rows(
    learned: Callable[[Floats], float], *pairs: tuple[float | None, Floats]
) -> Message | None:
    """Return that a number told is the one that the rows have, to four digits; None if not.

    The attack was then not fixed before the rows on which it is judged.

    Args:
        learned: the number that rows have.
        pairs: what was told, or None, and the rows that it is of.
    """
    for told, loss in pairs:
        try:
            seen = math.nan if told is None else learned(loss)
        except NotJudgedError:
            continue
        if told is not None and abs(told - seen) <= _AGREEMENT * abs(seen):
            return Message("told_of_these_rows")
    return None


def _mean(one: Attacked, asked: AttackOptions) -> Attack:
    """Return who calls a record a member if its loss is at most the members' mean.

    Yeom et al. 2018, section 6.
    """
    given = asked.mean_loss
    at = None if given is None else given if one.side == "low" else -given
    return Attack(
        name="mean",
        seen=one,
        asked=asked,
        learn=_cutting(lambda rows: Cut(at=_mean_of(rows.members) if at is None else at)),
        told=at is not None,
        refused=_of_these_rows(_mean_of, (at, one.loss[one.member])),
    )


def _gaussians(one: Attacked, asked: AttackOptions) -> Iterator[Attack]:
    members, holdout = asked.sigma_members, asked.sigma_holdout
    of_members, of_holdout = (members, one.loss[one.member]), (holdout, one.loss[~one.member])

    def mine(rows: Labelled) -> float:
        return _error_of(rows.members) if members is None else members

    def theirs(rows: Labelled) -> float:
        return _error_of(rows.holdout) if holdout is None else holdout

    def predicted(formula: Callable[[float, float], float]) -> float | None:
        if asked.prior != 0.5:  # noqa: PLR2004 - the formula's prior
            return None
        rows = one.part(~one.judged)
        try:
            return formula(mine(rows), theirs(rows))
        except NotJudgedError:
            return None

    yield Attack(
        name="gaussian",
        seen=one,
        asked=asked,
        learn=_cutting(lambda rows: gaussian_cut(mine(rows), theirs(rows))),
        told=members is not None and holdout is not None,
        refused=_of_these_rows(_error_of, of_members, of_holdout),
        predicted=predicted(gaussian_advantage),
    )
    yield Attack(
        name="one-standard-error",
        seen=one,
        asked=asked,
        learn=_cutting(lambda rows: Cut(at=mine(rows))),
        told=members is not None,
        refused=_of_these_rows(_error_of, of_members),
        predicted=predicted(one_error_advantage),
    )


def _coins(side: Side, asked: AttackOptions, bound: float, target: Labelled) -> Guesses:
    """Return the guesses of the bounded-loss adversary, which learns nothing."""
    loss = target.loss
    if asked.residuals:
        loss = loss**2
    elif side == "high":
        loss = loss + bound
    return bounded_loss_guesses(loss, bound)
