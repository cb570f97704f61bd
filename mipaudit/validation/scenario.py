"""A scenario: a table that can be drawn at any size, and what is true of it.

True are every figure that ``estimate`` prints, from the laws alone, and the rates of named
attacks of the literature, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.maths.normal import cdf
from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)
from mipaudit.validation.law import Discrete, atoms, law_of, normal, rounded
from mipaudit.validation.laws import LAW_FAMILIES, gaussian_plane, truthful, xor
from mipaudit.validation.truth import Kind, Truth, family_of

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.validation.law import Law, Side, VectorLaw
    from mipaudit.validation.laws import Groups
    from mipaudit.validation.truth import Family

    Columns = Mapping[str, NDArray[Any]]

# The columns that number the rows, and that say who is a member.
_BESIDE: Final[Mapping[Kind, tuple[str, str | None]]] = {
    "scores": ("record_id", "member"),
    "canaries": ("canary_id", "included"),
    "splits": ("split", None),
}
RELEASE: Final = "release"
# What `noise` has to know of one released number, over all random halves: its mean distance from
# the median, its standard deviation, and of exchanges of one record for another the largest move,
# the mean move of the record for which that is largest, and the mean move of all.
_TRUE: Final = ("sigma_1", "sigma_2", "sensitivity", "swap_distance", "swap_distance_average")
CHUNK: Final = 1 << 20
SCORE: Final = "score"
GROUP: Final = "group"
FPRS: Final = (0.001, 0.01, 0.1)
DELTAS: Final = (0.0, 1e-5, 1e-3, 1e-2)
INTERVALS: Final = (1, 4)
UNLIMITED: Final = "the privacy loss has no limit"
# What the ladder vouches for; more digits would differ between machines.
_DECIMALS: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Rows are records, each a member or holdout; or random splits of a deterministic algorithm.

    Attributes:
        name: stable, lower case, with hyphens; it carries the parameters.
        summary: one line.
        heading: what it is listed under.
        parameters: the numbers in its name.
        notes: what a reader of its truth must know.
        kind: ``scores`` of members and holdout; ``canaries``, each included by a fair coin of its
            own; ``splits``, each a random half of fixed records.
        sizes: how many rows are drawn of each class unless somebody says otherwise.
        drawn: the columns that `draw` returns; the first is what rows are sorted by.
        draw: takes random numbers and who is a member, bool, shape (n,), and returns the columns
            of independent rows; of splits nobody is a member.
        at_once: how many rows may be drawn at once without taking much memory.
        views: what attackers may see; none of splits.
        moments: of splits, returns what is true over all halves, exact to nine digits or more, and
            the ``median`` and the ``mean`` of what is released.
    """

    name: str = ""
    summary: str = ""
    heading: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    kind: Kind = "scores"
    sizes: Mapping[str, int] = field(default_factory=lambda: {"members": 1000, "holdout": 1000})
    drawn: tuple[str, ...]
    draw: Callable[[np.random.Generator, Bools], Columns]
    at_once: int = CHUNK
    views: tuple[View, ...] = ()
    moments: Callable[[], dict[str, float]] = dict

    @property
    def member_column(self) -> str | None:
        """The column that says who is a member; None of splits."""
        return _BESIDE[self.kind][1]

    @property
    def columns(self) -> tuple[str, ...]:
        """The row's number, its membership, and what is drawn."""
        return (*(name for name in _BESIDE[self.kind] if name), *self.drawn)

    def truths(self, prior: float) -> tuple[Truth, ...]:
        """Return what is true of every view, and of who sees the group too; or the moments.

        Args:
            prior: probability that a challenged record is a member, in (0, 1); without meaning
                for splits.
        """
        known = self.moments()
        found = [
            Truth(quantity=name, value=float(f"{known[name]:.9g}"), sees=RELEASE)
            for name in _TRUE
            if name in known
        ]
        found += [truth for view in self.views for truth in truths_of(view, prior)]
        groups = [view for view in self.views if view.group is not None]
        if groups:
            # Groups are as frequent in both classes.
            value = tidy(sum(view.share * view.law.advantage(prior) for view in groups))
            sees = f"{SCORE}, {GROUP}"
            found.append(Truth(quantity="advantage", value=value, sees=sees, attackers="any"))
        return tuple(found)


def truths_of(view: View, prior: float) -> Iterator[Truth]:
    """Yield what is true of a view."""
    best = view.law.advantage(prior)
    yield view.truth(view.quantity, best, attackers="any")
    if view.quantity != "advantage":
        return
    if view.ordered:
        thresholds = view.law.advantage_thresholds(prior)
        yield view.truth("advantage", thresholds, attackers="thresholds")
        for k in INTERVALS:
            reached = view.law.advantage_intervals(prior, k)
            yield view.truth("advantage", reached, attackers=f"intervals-{k}")
    yield from _restated(view, best, prior)
    if view.ordered:
        yield view.truth("auc", view.law.auc())
        yield from _operating_points(view)
    if view.curve is not None:
        yield from mechanism_truths(view.curve, view.sees)
    yield from _attacks(view)


def mechanism_truths(curve: TradeOff, sees: str) -> Iterator[Truth]:
    """Yield epsilon at each delta, and mu where there is one."""
    for delta in DELTAS:
        epsilon = curve.epsilon_at(delta)
        known = math.isfinite(epsilon)
        yield Truth(
            quantity="epsilon",
            value=tidy(epsilon) if known else None,
            value_reason=None if known else UNLIMITED,
            sees=sees,
            delta=delta,
            source="trade-off curve of the mechanism",
        )
    if isinstance(curve, GaussianDP):
        yield Truth(quantity="mu", value=tidy(curve.mu), sees=sees)


def better_side(law: Law, fpr: float) -> tuple[Side, float]:
    """Return the side on which a threshold has more true positives at an FPR, and how many."""
    high, low = law.tpr_at_fpr(fpr, "high"), law.tpr_at_fpr(fpr, "low")
    return ("low", low) if tidy(low) > tidy(high) else ("high", high)


def tidy(value: float) -> float:
    """Return a value without the digits that nothing vouches for."""
    return round(float(value), _DECIMALS) + 0.0  # no minus sign before a zero


def _restated(view: View, best: float, prior: float) -> Iterator[Truth]:
    """Yield the best attacker's advantage in other terms."""
    guessing = baseline(prior)
    for quantity, value in (
        ("baseline", guessing),
        ("excess", best - guessing),
        ("eta", (best - guessing) / 2),
        ("accuracy", (1 + best) / 2),
    ):
        attackers = None if quantity == "baseline" else "any"
        yield view.truth(quantity, value, attackers=attackers)


def _operating_points(view: View) -> Iterator[Truth]:
    for fpr in FPRS:
        side, tpr = better_side(view.law, fpr)
        yield view.truth("tpr_at_fpr", tpr, attackers="thresholds", fpr=fpr, side=side)


def _attacks(view: View) -> Iterator[Truth]:
    """Yield the rates of the named attacks on a view."""
    for attack in view.attacks:
        for quantity, value in (
            ("tpr", attack.tpr),
            ("fpr", attack.fpr),
            ("tpr_minus_fpr", attack.tpr - attack.fpr),
        ):
            yield Truth(
                quantity=quantity,
                value=float(f"{value:.12g}"),  # a closed form: 2^-40 is not 0
                sees=view.sees,
                attackers=attack.name,
                source=attack.source,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What an attacker sees of a record, boiled down to one number with a known law.

    Attributes:
        sees: the columns, as the truth names them.
        law: of the number.
        read: takes columns and returns the number of each row, float64.
        group: the number is that of this group's rows alone; None for all.
        share: of the group among the records, in (0, 1].
        quantity: what its advantage is called.
        ordered: whether thresholds on the number mean anything.
        curve: trade-off curve of the mechanism that made it, if one did.
        attacks: named attacks on it.
    """

    sees: str
    law: Law
    read: Callable[[Columns], Floats]
    group: str | None = None
    share: float = 1.0
    quantity: str = "advantage"
    ordered: bool = True
    curve: TradeOff | None = None
    attacks: tuple[Attack, ...] = ()

    def truth(self, quantity: str, value: float, **further: Any) -> Truth:  # noqa: ANN401 - as `Truth`
        """Return a truth about it."""
        return Truth(
            quantity=quantity, value=tidy(value), sees=self.sees, group=self.group, **further
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """Guess "member" where the score lies in [low, high].

    Attributes:
        name: what it does, in a few words.
        source: where it comes from.
        tpr: share of the members that it calls members.
        fpr: share of the holdout records that it calls members.
        low: least score that it calls a member's.
        high: greatest such score.
    """

    name: str
    source: str
    tpr: float
    fpr: float
    low: float = -math.inf
    high: float = math.inf

    def guesses(self, scores: Floats) -> Bools:
        """Return where it says "member"."""
        return (self.low <= scores) & (scores <= self.high)


def equal_densities(member_sd: float, holdout_sd: float) -> float:
    """Return the error at which two normal densities about 0 cross (Yeom et al., equation 4)."""
    ratio = holdout_sd / member_sd
    return holdout_sd * math.sqrt(2 * math.log(ratio) / (ratio * ratio - 1))


def error_attacks(member_sd: float, holdout_sd: float) -> tuple[Attack, ...]:
    """Return the attacks on normal errors: both s.d. known, and only the members' (3.2, 3.3)."""
    alone = Attack(
        name="errors within the members' s.d.",
        source="Yeom et al. 2018, 3.3",
        tpr=within(member_sd, member_sd),
        fpr=within(member_sd, holdout_sd),
        high=member_sd,
    )
    if member_sd == holdout_sd:
        return (alone,)
    edge = equal_densities(member_sd, holdout_sd)
    tpr, fpr = within(edge, member_sd), within(edge, holdout_sd)
    name, source = "errors more likely of members", "Yeom et al. 2018, Theorem 3"
    if member_sd < holdout_sd:  # overfitted
        return Attack(name=name, source=source, tpr=tpr, fpr=fpr, high=edge), alone
    return Attack(name=name, source=source, tpr=1 - tpr, fpr=1 - fpr, low=edge), alone


def log_loss_attacks(groups: float) -> tuple[Attack]:
    """Return the attack on log-losses; the paper's cap 2(1-1/m)-1 takes 1-1/m for an accuracy."""
    source = "Humphries et al. 2023, 5.4 (there with 2(1-1/m)-1: an accuracy's advantage)"
    return (Attack(name="a low log-loss", source=source, tpr=1.0, fpr=1 / groups, high=1.0),)


def colluding_attacks(bits: float, keys: float) -> tuple[Attack]:
    """Return the adversary that shares the keys with the training algorithm."""
    name = "the answers match under every key"
    source = "Yeom et al. 2018, Theorem 4, with distinct records (mu = 0)"
    return (Attack(name=name, source=source, tpr=1.0, fpr=0.5 ** (bits * keys), low=keys),)


def averaging_attacks(queries: float, records: float, noise_sd: float) -> tuple[Attack]:
    """Return the attack that compares the sum of all answers with k/n."""
    fpr = cdf(-(math.sqrt(queries) / records / noise_sd))
    name, source = "the sum is at least QUERIES/RECORDS", "Tramer, lecture notes, Theorem 2"
    return (Attack(name=name, source=source, tpr=0.5, fpr=fpr, low=queries / records),)


def within(limit: float, sd: float) -> float:
    """Return P(|error| <= limit) of a normal error about 0."""
    return math.erf(limit / (sd * math.sqrt(2)))


# Whole numbers, which `estimate` takes for features beside a score with decimals.
FEATURES: Final = ("x1", "x2", "x3", "x4", "x5")
# Features are in tenths of a standard deviation, up to 12 of them.
_TENTHS: Final = 10
_REACH: Final = 120
_CURVES: Final[Mapping[str, Callable[..., TradeOff]]] = {
    "gauss-shift": lambda mu: GaussianDP(mu=mu),
    "laplace": lambda epsilon: LaplaceMechanism(shift=epsilon),
    "geometric": lambda epsilon: GeometricMechanism(scale=1 / epsilon, sensitivity=1),
    "randomized-response": lambda epsilon: RandomizedResponse(
        truth=truthful(epsilon), categories=2
    ),
    "counting-queries": lambda queries, records, sd: GaussianDP(mu=queries**0.5 / records / sd),
}
_ATTACKS: Final[Mapping[str, Callable[..., tuple[Attack, ...]]]] = {
    "yeom-regression": error_attacks,
    "humphries": log_loss_attacks,
    "colluding": colluding_attacks,
    "counting-queries": averaging_attacks,
}


def mechanism_curve(law_name: str) -> TradeOff | None:
    """Return the trade-off curve of the mechanism that a law is the output of, if it is one."""
    family = family_of(law_name, LAW_FAMILIES)
    curve = None if family is None else _CURVES.get(family.prefix)
    return None if family is None or curve is None else curve(*family.parse(law_name))


def scores(law: Law, curve: TradeOff | None = None, attacks: tuple[Attack, ...] = ()) -> Scenario:
    """Return independent scores from a law.

    Args:
        law: of the scores.
        curve: trade-off curve of the mechanism that makes them, if one does.
        attacks: named attacks on them.
    """
    return Scenario(
        name=law.name,
        summary=law.description,
        drawn=(SCORE,),
        draw=lambda rng, member: {SCORE: _drawn_from(law, rng, member)},
        views=(View(sees=SCORE, law=law, read=_read_score, curve=curve, attacks=attacks),),
    )


def scores_of(family: Family[Law], *values: float) -> Scenario:
    """Return independent scores from the law of a family that has these numbers."""
    curve, attacks = _CURVES.get(family.prefix), _ATTACKS.get(family.prefix)
    return scores(
        family.make(*values), curve(*values) if curve else None, attacks(*values) if attacks else ()
    )


def _read_score(columns: Columns) -> Floats:
    return columns[SCORE]


def _drawn_from(law: Law, rng: np.random.Generator, member: Bools) -> Floats:
    """Return independent scores of records with this membership."""
    inside = int(member.sum())
    members, holdout = law.sample(rng, inside, member.size - inside)
    found = np.empty(member.size)
    found[member] = members
    found[~member] = holdout
    return found


def grouped(law: Law, groups: Groups) -> Scenario:
    """Return a score and the group of each record.

    Args:
        law: of the scores when groups are not told apart.
        groups: their shares and laws.
    """

    def draw(rng: np.random.Generator, member: Bools) -> Columns:
        shares = [share for share, _ in groups.values()]
        code = np.searchsorted(np.cumsum(shares[:-1]), rng.random(member.size), side="right")
        score = np.empty(member.size)
        for index, (_, within_group) in enumerate(groups.values()):
            rows = code == index
            score[rows] = _drawn_from(within_group, rng, member[rows])
        return {SCORE: score, GROUP: np.array(list(groups), dtype=object)[code]}

    views = (
        View(sees=SCORE, law=one, read=_read_score, group=label, share=share)
        for label, (share, one) in groups.items()
    )
    every = View(sees=SCORE, law=law, read=_read_score)
    return Scenario(
        name=law.name,
        summary=law.description,
        drawn=(SCORE, GROUP),
        draw=draw,
        views=(every, *views),
    )


def shifted_features(shift: float) -> Scenario:
    """Return five features, the first higher in members; the score is the sum of two of them.

    Args:
        shift: how many standard deviations higher the first feature is in members.
    """
    members, other = _feature(shift), _feature(0.0)

    def draw(rng: np.random.Generator, member: Bools) -> Columns:
        features = {name: rng.standard_normal(member.size) for name in FEATURES}
        features["x1"] += shift * member
        rounded = {
            name: np.clip(np.rint(_TENTHS * values), -_REACH, _REACH).astype(np.int64)
            for name, values in features.items()
        }
        return {SCORE: (rounded["x1"] + rounded["x2"]) / _TENTHS, **rounded}

    score = View(
        sees=SCORE,
        law=law_of("sum", "two features", _sum(members, other), _sum(other, other)),
        read=_read_score,
    )
    # Of the features, the first is all.
    blind = View(
        sees=", ".join(FEATURES),
        law=law_of("x1", "the feature that differs", members, other),
        read=lambda columns: columns["x1"].astype(np.float64),
        quantity="blind_advantage",
    )
    return Scenario(drawn=(SCORE, *FEATURES), draw=draw, views=(score, blind))


def _feature(shift: float) -> Discrete:
    return rounded(
        base=normal(mean=_TENTHS * shift, sd=_TENTHS),
        values=np.arange(-_REACH, _REACH + 1, dtype=np.float64),
    )


def _sum(one: Discrete, other: Discrete) -> Discrete:
    """Return the law of the sum of two features, in standard deviations.

    Its masses are computed when they are asked for: a list of scenarios needs none.
    """
    values = np.arange(-2 * _REACH, 2 * _REACH + 1) / _TENTHS

    @cache
    def found() -> Discrete:
        masses = np.convolve(one.atoms()[1], other.atoms()[1])
        return atoms(values, masses / masses.sum())

    return Discrete(
        draw=lambda rng, size: found().draw(rng, size), values=values, table=lambda: found().table()
    )


FIRST: Final = "d1"
SECOND: Final = "d2"
BOTH: Final = f"{FIRST}, {SECOND}"


def xor_pair(advantage: float) -> Scenario:
    """Return normal scores whose signs agree more often in members: alone, each tells nothing.

    Args:
        advantage: of the best attacker at prior 0.5, in (0, 1].
    """

    def agreement(columns: Columns) -> Floats:
        agree = np.signbit(columns[FIRST]) == np.signbit(columns[SECOND])
        return np.asarray(agree, dtype=np.float64)

    return _pair(xor(advantage), agreement, law_of("sign", "one of the two", normal(), normal()))


def gaussian_pair(mu: float) -> Scenario:
    """Return two normal scores, members higher in both.

    Args:
        mu: distance of the two centres, in standard deviations.
    """

    def diagonal(columns: Columns) -> Floats:
        return np.asarray((columns[FIRST] + columns[SECOND]) / math.sqrt(2))

    alone = law_of("shifted", "one of the two", normal(mean=mu / math.sqrt(2)), normal())
    return _pair(gaussian_plane(mu), diagonal, alone)


def _pair(law: VectorLaw, read: Callable[[Columns], Floats], alone: Law) -> Scenario:
    """Return two scores: a number has all that they tell together, and each is seen alone too."""

    def draw(rng: np.random.Generator, member: Bools) -> Columns:
        first, second = np.ascontiguousarray(law.draw(rng, member).T)
        return {FIRST: first, SECOND: second}

    views = (
        View(sees=BOTH, law=law, read=read, ordered=False),
        View(sees=FIRST, law=alone, read=lambda columns: columns[FIRST]),
        View(sees=SECOND, law=alone, read=lambda columns: columns[SECOND]),
    )
    return Scenario(drawn=(FIRST, SECOND), draw=draw, views=views)
