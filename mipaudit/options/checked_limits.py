"""The limits and waivers of a policy, checked; the keys of those listed are declared as options."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar, get_args

from mipaudit.errors import UsageError
from mipaudit.maths.advantage import baseline
from mipaudit.model.message import Finding
from mipaudit.model.row import Limited, Waiver
from mipaudit.options.commands import near
from mipaudit.options.declare import REQUIRED, Options, choice, declared, free, required
from mipaudit.options.values import PROBABILITY, Given, percent_hint, require
from mipaudit.statements.choices import Against
from mipaudit.statements.policy import Limit, Policy, restatement

if TYPE_CHECKING:
    from mipaudit.maths.metrics.metric import Metric

RowT = TypeVar("RowT", bound=Options)
# What says the same as the advantage at a prior, and what ``estimate`` judges.
Restated = Literal["advantage", "excess", "eta", "accuracy"]
OfScores = Literal[Restated, "auc", "tpr_at_fpr", "metric", "any_difference"]
_AS_GIVEN: Final = (
    *("max_advantage", "max_eta", "max_tpr_at_fpr", "max_copies", "against", "on_inconclusive"),
)
_OF_GROUPS: Final = frozenset({"advantage", "difference"})
_OF_ONE_THRESHOLD: Final = frozenset({"auc", "tpr_at_fpr", "difference", "risk"})
_LARGEST_DIFFERENCE: Final = 2.0
_HALF: Final = 0.5
# What has a key of its own: the quantity, how the key is named where it lacks and where it is too
# much, and an example.
_OWN_KEYS: Final = {
    "fpr": ("tpr_at_fpr", "'fpr', the false-positive rate", "'fpr'", "fpr = 0.001, max = 0.02"),
    "metric": ("metric", "'metric', its name", "'metric' (its name)", "metric = 'ppv', max = 0.6"),
}


def _number(given: Given) -> float:
    if isinstance(given, (bool, str)) or given != given:  # noqa: PLR0124 - NaN is no number
        raise ValueError("must be a number")
    return float(given)


def _day(given: Given) -> str:
    try:
        day = date.fromisoformat(given).isoformat()
    except (TypeError, ValueError):
        day = None
    if day != given:  # also weeks, and days without dashes
        raise ValueError("must be a day, such as 2026-12-31")
    return str(day)


class _Of(Options):
    quantity: Limited = required(free("The quantity that is limited.", flag=None))
    score: str | None = free("The only score with this limit.", flag=None)
    metric: str | None = free("The name of the metric.", flag=None)
    fpr: float | None = free("The FPR of tpr_at_fpr.", flag=None, within=PROBABILITY)
    group: str | None = free("A group of records; '*' means every group.", flag=None)


class ListedLimit(_Of):
    """What a limit in a list may say: the fields of `Limit`."""

    max: float = required(free("The largest value that is accepted.", flag=None, read=_number))
    against: Against | None = free("The attackers to withstand.", flag=None)
    prior: float | None = free("The prior for judging it.", flag=None, within=PROBABILITY)

    def check(self) -> None:
        """Refuse what makes no sense beside the quantity."""
        for message, hint in self._wrong():
            raise UsageError("limits", message, hint=hint)

    def _wrong(self) -> Iterator[tuple[str, str | None]]:
        quantity, group, against = self.quantity, self.group, self.against
        for key, (of, needed, named, example) in _OWN_KEYS.items():
            there = getattr(self, key) is not None
            if quantity == of and not there:
                limit = f"a limit on {'a ' * (of == key)}{of} needs {needed}."
                yield limit, f"For example: quantity = '{of}', {example}"
            if quantity != of and there:
                yield f"{named} can only be used with the quantity {of}.", None
        if quantity == "difference" and group is None:
            needs = "a difference compares a group with the rest, so it needs 'group'."
            yield needs, "group = '*' means every group."
        if group is not None and quantity not in _OF_GROUPS:
            yield "within a group only 'advantage' and 'difference' can be limited.", None
        if self.prior is not None and (quantity not in get_args(Restated) or group is not None):
            other = f"'{quantity}' cannot be judged at another prior than the audit's."
            yield other, "Run an audit at that prior."
        alike = against == "thresholds" or quantity not in _OF_ONE_THRESHOLD
        if against is not None and (quantity == "any_difference" or not alike):
            yield f"'against' cannot be chosen for '{quantity}'.", None
        if quantity == "any_difference" and self.max != 0:
            nothing = "the limit on any_difference must be 0: it allows no difference."
            yield nothing, "To allow some difference, limit another quantity."


class ListedWaiver(_Of):
    """What a waiver may say: the fields of `Waiver`."""

    reason: str = required(choice("Why the limit need not be shown to be kept.", flag=None))
    person: str = required(choice("Who accepts it.", flag=None))
    expires: str = required(choice("The last day of the waiver.", flag=None, read=_day))

    def check(self) -> None:
        """Refuse a waiver that says nothing, or that would be of no score."""
        require(
            all(any(map(str.isalnum, text)) for text in (self.reason, self.person)),
            "waivers",
            "'reason' and 'person' must not be empty.",
        )
        require(
            not {*"*?"} & {*(self.score or "")},
            "waivers",
            "'score' has * or ?, but names must be exact.",
            "Leave 'score' out for every score, or write a waiver for each.",
        )


def require_keys(code: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Refuse limits or waivers with an unknown key, or without one that is needed.

    Args:
        code: ``limits`` or ``waivers``.
        rows: as they are listed.

    Raises:
        UsageError: ``code``; of an unknown key the nearest is named.
    """
    kind, word = _KINDS[code]
    options = {one.name: one.default for one in declared(kind)}
    for at, row in enumerate(rows, start=1):
        for key in row:
            meant = near(key, options)
            require(
                key in options,
                code,
                f"{word} {at} has the unknown key '{key}'.",
                f"Did you mean '{meant}'?" if meant else f"Known keys: {', '.join(options)}.",
            )
        missing = [key for key in options if options[key] is REQUIRED and key not in row]
        require(not missing, code, f"{word} {at} lacks the key '{''.join(missing[:1])}'.")


_KINDS: Final[dict[str, tuple[type[Options], str]]] = {
    "limits": (ListedLimit, "Limit"),
    "waivers": (ListedWaiver, "Waiver"),
}


def check_limits(given: Iterable[Mapping[str, Any]], prior: float) -> tuple[Limit, ...]:
    """Return the listed limits.

    Args:
        given: mappings with the keys of `Limit`.
        prior: the audit's p in (0, 1), checked.

    Raises:
        UsageError: ``limits``: an unknown key, or a value out of its range.
    """
    found = []
    # The audit's own prior is no other one.
    rows = [
        {key: value for key, value in row.items() if (key, value) != ("prior", prior)}
        for row in given
    ]
    for place, one in _listed("limits", rows, ListedLimit):
        limit = Limit(**vars(one))
        own = prior if limit.prior is None else limit.prior
        # The ends of a metric depend on which it is; nothing may show of any difference.
        if one.quantity not in {"metric", "any_difference"}:
            require_possible("limits", one.quantity, one.max, own, fpr=limit.fpr, place=place)
        found.append(limit)
    return tuple(found)


def check_waivers(given: Iterable[Mapping[str, Any]], prior: float) -> tuple[Waiver, ...]:
    """Return the waivers.

    Args:
        given: mappings with the keys of `Waiver`.
        prior: the audit's p in (0, 1), checked; names of metrics are read at it.

    Raises:
        UsageError: ``waivers``: an unknown or missing key, or a value of the wrong kind.
    """
    found = []
    for _, one in _listed("waivers", given, ListedWaiver):
        waiver = Waiver(**vars(one))
        if waiver.metric is not None:
            # Here, since most policies waive none.
            from mipaudit.maths.metrics.names import parse_metric

            waiver = replace(waiver, metric=parse_metric(waiver.metric, prior=prior).name)
        found.append(waiver)
    return tuple(found)


def _listed(
    code: str, given: Iterable[Mapping[str, Any]], kind: type[RowT]
) -> Iterator[tuple[str, RowT]]:
    """Yield the rows of a list, each with its place, such as ``Limit 2: ``."""
    rows = list(given)
    require_keys(code, rows)
    for at, row in enumerate(rows, start=1):
        place = f"{_KINDS[code][1]} {at}: "
        try:
            found = kind(**row)
        except UsageError as error:
            raise UsageError(code, f"{place}{error.message}", hint=error.hint) from None
        yield place, found


def require_possible(
    code: str,
    quantity: Limited,
    limit: float | None,
    prior: float,
    *,
    fpr: float | None = None,
    place: str = "",
    hint: str | None = None,
) -> None:
    """Refuse a limit that a score which says nothing breaks, or that nobody can exceed.

    Args:
        code: of the error.
        quantity: that is limited.
        limit: on it, or None.
        prior: p in (0, 1) at which it is judged.
        fpr: of ``tpr_at_fpr``.
        place: of a listed limit, before the sentence.
        hint: what to limit instead.

    Raises:
        UsageError: ``code``.
    """
    guessing = baseline(prior)
    units = restatement(quantity, prior)
    ends = {
        "auc": (_HALF, 1.0),
        "tpr_at_fpr": (fpr or 0.0, 1.0),
        "risk": (guessing, 1.0),
        "difference": (0.0, _LARGEST_DIFFERENCE),
    }
    lowest, highest = ends.get(quantity, (units.of(guessing), units.of(1.0)))
    require(
        limit is None or lowest < limit <= highest,
        code,
        f"{place}{'the' if place else 'The'} limit on {quantity} must be above {lowest:g} and "
        f"at most {highest:g}. Blind guessing reaches {lowest:g} at this prior.",
        percent_hint(limit, lambda value: lowest < value <= highest) or hint,
    )


class AskedPolicy(NamedTuple):
    """A policy on scores, and what goes with it.

    Attributes:
        policy: its limits and waivers.
        metrics: those that are asked for, and those that are limited.
        elsewhere: how many of its limits another command judges.
    """

    policy: Policy
    metrics: tuple["Metric", ...]
    elsewhere: int


def policy_of(
    given: Mapping[str, Any], prior: float, least_recall: float, metric: Iterable[str]
) -> AskedPolicy:
    """Return a policy on scores, checked: see `ScorePolicy.policy_at`.

    Args:
        given: the options of `ScorePolicy` by name.
        prior: at which it is judged, in (0, 1).
        least_recall: of attackers in metrics that need one.
        metric: names of metrics that are asked for.

    Raises:
        UsageError: a limit is always kept, or never, or is of an unknown quantity.
    """
    # Here, since help is written without the arithmetic of metrics.
    from mipaudit.maths.metrics.names import parse_metric, split_limit

    instead = "At a prior other than 0.5 consider `max_eta`."
    if prior == _HALF:
        instead = "No data can show that nothing leaks: mipaudit help choose-a-limit"
    require_possible("max_advantage", "advantage", given["max_advantage"], prior, hint=instead)
    require_possible("max_eta", "eta", given["max_eta"], prior)
    require(0 < least_recall < 1, "min_recall", "The least recall must be above 0 and below 1.")
    metrics: dict[str, Metric] = {}

    def tidy(name: str, limit: float | None = None) -> str:
        one = parse_metric(name, prior=prior, least=least_recall)
        if limit is not None:
            _require_metric_limit(one, limit)
        metrics[one.name] = one
        return one.name

    for name in metric:
        tidy(name)
    limited: dict[str, float] = {}
    for text, limit in map(split_limit, given["max_metric"]):
        name = tidy(text, limit)
        require(name not in limited, "max_metric", f"'{name}' has two limits.")
        limited[name] = limit
    every = check_limits(given["limits"], prior)
    own = tuple(
        one if one.metric is None else replace(one, metric=tidy(one.metric, one.max))
        for one in filter(of_scores, every)
    )
    policy = Policy(
        **{name: given[name] for name in _AS_GIVEN},
        max_metric=tuple(limited.items()),
        limits=own,
        waivers=tuple(filter(of_scores, check_waivers(given["waivers"], prior))),
    )
    return AskedPolicy(policy, tuple(metrics.values()), len(every) - len(own))


def _require_metric_limit(metric: "Metric", limit: float) -> None:
    """Refuse a limit that the trivial attacker breaks, or that nobody ever passes."""
    lowest, highest = metric.baseline, metric.most
    require(
        not metric.trivial,
        "max_metric",
        f"A limit on '{metric.name}' tests nothing: an attacker who guesses the same for everybody "
        f"reaches {lowest:g}, the largest value.",
        "Limit ppv, am or TPR at FPR instead.",
    )
    require(
        lowest < limit < highest,
        "max_metric",
        f"The limit on '{metric.name}' must be above {lowest:g} and below {highest:g}. Blind "
        f"guessing reaches {lowest:g} at this prior, and nobody can exceed {highest:g}.",
        "A larger value means a better attacker. Give a cost as its negative.",
    )


def of_scores(limit: Limit | Waiver) -> bool:
    """Tell whether ``estimate`` judges it."""
    return limit.group is None and limit.quantity in get_args(OfScores)


def of_records(limit: Limit | Waiver) -> bool:
    """Tell whether ``records`` judges it."""
    return limit.group is not None or limit.quantity == "risk"


def limits_elsewhere(command: str, count: int) -> list[Finding]:
    """Return the finding that limits were left to another command.

    Args:
        command: the one that judges them.
        count: how many.
    """
    return [Finding.of("limits_elsewhere", count=count, command=command)] * bool(count)
