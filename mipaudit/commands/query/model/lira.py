"""``mipaudit query lira``: the likelihood-ratio score of shadow models.

The attack is LiRA (Carlini, Chien, Nasr, Song, Terzis and Tramer 2022). Shadow models were
trained with and without each record. Their confidences on the record are taken to be normal;
the score compares what the target model says with both laws (online), or with that of the
models without the record alone (offline).
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from mipaudit.commands.query.model.array_files import (
    ModelQuery,
    column,
    coordinates,
    described,
    find,
    members_of,
    model_query,
    opened,
    require_both_classes,
    require_rows,
)
from mipaudit.commands.query.model.options import LiraOptions, Values, Variance
from mipaudit.data.model_outputs import LABELS
from mipaudit.data.tables.table import Whole, open_whole
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.model.message import Finding, Message
from mipaudit.options.public import public
from mipaudit.options.values import require
from mipaudit.statements.provenance import provenance

# As near to 0 and 1 as double precision goes: log(p/(1-p)) is within 37.
_LEAST: Final = 2.0**-53
# Half of the distance from 1 to the number before it, of single precision.
_SINGLE_GAP: Final = 2.0**-25
# Numbers read from decimals and numbers computed anew agree so far.
_SAME: Final = 1e-4
# By chance a model is trained on just the target's records with probability 2^-n.
_TELLING: Final = 40
# Of so many numbers phi is not always from 0 to 1.
_MANY: Final = 20
# Standard errors between the models that members and holdout records have.
_APART: Final = 5.0
# Of a record's own standard deviation, as a share of the pooled one: a few equal
# confidences would make a record infinitely telling.
LEAST_SPREAD: Final = 1e-3

_SHADOW: Final = ("shadow", "shadows", "shadow_confidences", "confidences", "phi")
_INCLUSION: Final = ("inclusion", "included", "keep", "in", "members")
_TARGET: Final = ("target", "target_confidences", "target_phi", "phi", "confidence", "conf_true")
_MEMBER: Final = (
    *("target_member", "target_inclusion", "member", "is_member", "membership"),
    *("in_train", "included"),
)
_FEW: Final = 16
_ENOUGH: Final = 2
_MEANINGS: Final = {
    "phi": "log(p / (1-p)) of the true class under the target model; high for members",
    "lira_online": "log likelihood ratio, models with the record to models without it; high: "
    "members",
    "lira_offline": "phi's standard deviations above its mean in models without the record; high: "
    "members",
}
_LIMITATIONS: Final = (Message("lira_normal"), Message("lira_alike"), Message("lira_one_query"))


def answer_query_lira(asked: LiraOptions) -> "ModelQuery":
    """Return the online and offline likelihood-ratio score of every record.

    Raises:
        UsageError: a setting is wrong, or an input is not given.
        InputError: an input cannot be read, or does not fit the others.
    """
    main = open_whole(asked.shadow, "the shadow models", several=True)
    bits = opened(asked.inclusion, "the inclusion") or _within(main, _INCLUSION, "inclusion")
    target = opened(asked.target, "the target") or _within(main, _TARGET, "target")
    told = opened(asked.membership, "the membership")
    if told is None:
        apart = target is not main and find(target, _MEMBER)
        told = target if apart else _within(main, _MEMBER, "membership")
    confidences = column(target, _TARGET, "the target's confidences")
    read, moved = odds(confidences, asked.values, target.name)
    raw, included = _shadows(asked, main, bits, read.size)
    phi, shadows_moved = odds(raw, asked.values, main.name)
    member = members_of(told, _MEMBER)
    require_rows(member.size, read.size, told.name)
    require_both_classes(member)
    _refuse_target(phi, included, read, member)
    level = counts_tell(included, member)
    least = 1 if asked.variance == "fixed" else _ENOUGH
    outside = shadow_law(phi, ~included, asked.variance, level=level, least=least)
    inside = shadow_law(phi, included, asked.variance, level=level, least=least)
    if outside is None:
        raise InputError(
            "too_few_models",
            "Some record has too few shadow models that were trained without it, or their "
            "confidences do not vary.",
            f"Every record needs at least {least}; with `variance` fixed one is enough.",
        )
    scores = {"phi": read}
    if inside is not None:
        scores["lira_online"] = lira_online(read, inside, outside)
    scores["lira_offline"] = lira_offline(read, outside)
    inputs = described((main, bits, target, told), read.size)
    return model_query(
        "query lira",
        {name: (_MEANINGS[name], found) for name, found in scores.items()},
        {"member": member},
        models=int(phi.shape[0]),
        variance=asked.variance,
        findings=[*_findings(inside, outside, moved + shadows_moved, asked.variance, level=level)],
        limitations=_LIMITATIONS,
        provenance=provenance(seed=None, inputs=inputs, settings=asked.recorded()),
    )


def _shadows(asked: LiraOptions, main: Whole, bits: Whole, records: int) -> tuple[Floats, Bools]:
    """Return the confidences and the inclusion by model and record, each of shape (m, n)."""
    said = coordinates(main, _SHADOW, reserved=(*LABELS, *_MEMBER))
    kept = coordinates(bits, _INCLUSION, reserved=(*LABELS, *_MEMBER))
    if sorted(said.columns) == sorted(kept.columns) and said.columns != kept.columns:
        raise InputError(
            "columns_differ",
            f"{bits.name}: the columns are those of the shadow file, but in another order.",
            "Each inclusion must be at the same place as its confidence.",
        )
    # Sums round by how an array lies in memory, which must not tell files from frames.
    raw = np.ascontiguousarray(_oriented(said.values, records, asked.rows, main.name))
    included = _oriented(kept.values, records, asked.rows, bits.name)
    if not np.isin(included, (0.0, 1.0)).all():
        raise InputError(
            "bad_inclusion",
            f"{bits.name}: the inclusion is not 0 or 1 everywhere.",
            "The inclusion says if a model was trained with a record. Give confidences to "
            "`shadow`.",
        )
    if raw.shape != included.shape:
        raise InputError(
            "shapes_differ",
            f"{bits.name}: the inclusion and the confidences differ in shape.",
            "One value for each model and record, in the same order.",
        )
    return raw, included == 1.0


def _within(main: Whole, names: tuple[str, ...], name: str) -> Whole:
    """Return the main archive, if it holds what was not given apart."""
    require(
        len(main.arrays) > 1 and find(main, names) is not None,
        name,
        f"`{name}` FILE is not given, and the shadow file holds no array called {names[0]}.",
        "Give each input a file, or save all in one: numpy.savez(path, shadow=..., inclusion=..., "
        "target=..., member=...).",
    )
    return main


def odds(values: Floats, kind: Values, name: str) -> tuple[Floats, int]:
    """Return phi = log(p / (1-p)), and how many were 0 or 1 up to rounding and were moved.

    Raises:
        InputError: ``bad_confidences``, ``look_like_probabilities``, ``look_like_labels``.
    """
    # A loss of 0 everywhere is a model that is sure of all.
    labels = bool((values == np.floor(values)).all() and values.any())
    if kind != "probability" and values.size >= _MANY and labels:
        raise InputError(
            "look_like_labels",
            f"{name}: every confidence is a whole number, like labels or membership.",
            "Give the model's confidence in the true class: query losses --scores phi makes it.",
        )
    if kind == "phi":
        if values.size >= _MANY and bool(((values >= 0) & (values <= 1)).all()):
            raise InputError(
                "look_like_probabilities",
                f"{name}: every confidence is from 0 to 1, like probabilities and unlike phi = "
                "log(p / (1-p)).",
                "For probabilities, add `values` probability.",
            )
        return values, 0
    most, what = (1.0, "from 0 to 1") if kind == "probability" else (np.inf, "of at least 0")
    wrong = int(np.count_nonzero((values < 0.0) | (values > most)))
    if wrong:
        raise InputError(
            "bad_confidences",
            f"{name}: some confidences ({wrong:,}) are not a number {what}.",
            "Say what they are with `values` phi, probability or loss.",
        )
    if kind == "probability":
        # How far from 1 a p that was rounded to 1 is taken to be.
        single = bool((values == values.astype(np.float32)).all())
        return phi_of_probability(values, _LEAST, _SINGLE_GAP if single else _LEAST)
    return phi_of_loss(values, _LEAST)


def _oriented(matrix: Floats, records: int, rows: str | None, name: str) -> Floats:
    """Return a matrix by model and record.

    Raises:
        UsageError: ``rows``: its shape leaves open what a row is.
        InputError: ``rows_differ``.
    """
    fits = {"models": matrix.shape[1] == records, "records": matrix.shape[0] == records}
    if rows is None:
        require(
            not all(fits.values()),
            "rows",
            f"{name}: there are as many models as records, so it is unclear what a row is.",
            "Add `rows` models or `rows` records.",
        )
        rows = next((kind for kind, fit in fits.items() if fit), "models")
    if not fits[rows]:
        raise InputError(
            "rows_differ",
            f"{name}: {matrix.shape[0]:,} by {matrix.shape[1]:,} numbers, where the target has "
            f"{records:,} records.",
            "One value for each model and record, in the order of the target.",
        )
    return matrix if rows == "models" else matrix.T


def _refuse_target(phi: Floats, included: Bools, target: Floats, member: Bools) -> None:
    """Refuse shadow models that are the target, or were trained on just its records.

    Args:
        phi: of the shadow models, shape (m, n).
        included: shape (m, n).
        target: phi of the target, shape (n,).
        member: of the target, shape (n,).

    Raises:
        InputError: ``target_among_shadows``.
    """
    same = np.isclose(phi, target, rtol=_SAME, atol=_SAME).all(axis=1)
    twins = (included == member).all(axis=1) & (member.size >= _TELLING)
    if not (same | twins).any():
        return
    what = "were trained on exactly the same records as the target"
    if same.any():
        what = "have the same confidences as the target for every record"
    count = int((same if same.any() else twins).sum())
    raise InputError(
        "target_among_shadows",
        f"Some shadow models ({count}) {what}.",
        "Remove the target from the shadow models: otherwise the score contains the answer.",
    )


def counts_tell(included: Bools, member: Bools) -> bool:
    """Tell whether the number of models with a record betrays that it is a member.

    It does where all models, the target among them, share out every record evenly: then a
    member is in the training set of one shadow model less.
    """
    count = included.sum(axis=0).astype(np.float64)
    if np.ptp(count + member) == 0:
        return True
    sides = [count[member], count[~member]]
    apart = abs(float(sides[0].mean() - sides[1].mean()))
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in sides)
    variance = squares / max(member.size - len(sides), 1)
    error = float(np.sqrt(variance * sum(1 / one.size for one in sides)))
    return apart > _APART * error


def phi_of_probability(p: Floats, least: float, gap: float) -> tuple[Floats, int]:
    """Return log(p / (1-p)), and how often p was moved to ``least`` above 0 or ``gap`` below 1."""
    kept = np.clip(p, least, 1 - gap)
    return np.log(kept) - np.log1p(-kept), int(np.count_nonzero(kept != p))


def phi_of_loss(loss: Floats, least: float) -> tuple[Floats, int]:
    """Return log(p / (1-p)) of p = e^-loss, and how often the loss was moved up to ``least``."""
    kept = np.maximum(loss, least)
    # -log(e^loss - 1), which for large losses is -loss.
    return -(kept + np.log(-np.expm1(-kept))), int(np.count_nonzero(kept != loss))


class ShadowLaw(NamedTuple):
    """Normal laws of the confidences of models of one kind, by record.

    Attributes:
        models: of the kind, int, shape (n,).
        mean: shape (n,); NaN where there is no model.
        spread: standard deviation, above 0, shape (n,).
        floored: records whose own deviation was below the least.
    """

    models: Ints
    mean: Floats
    spread: Floats
    floored: int = 0


def shadow_law(
    phi: Floats, chosen: Bools, variance: Variance, *, level: bool = False, least: int = 0
) -> ShadowLaw | None:
    """Return the laws of the chosen confidences.

    Args:
        phi: log(p / (1-p)) of the true class, by model and record, shape (m, n).
        chosen: bool, shape (m, n): models that were trained with the record, or without.
        variance: ``fixed``: one for all records, about their own means, with a degree of
            freedom less for each; ``per-record``: each has its own.
        level: judge every record by as many models as any has. The one variance of all
            records is of all models.
        least: models that every record needs.

    Returns:
        None where the confidences do not vary, no record has two models, or one too few.
    """
    count, mean, squares = _moments(phi, chosen)
    freedom = int(np.maximum(count - 1, 0).sum())
    pooled = float(np.sqrt(squares.sum() / freedom)) if freedom else 0.0
    if pooled <= 0:
        return None
    if level:
        # Of the chosen models of each record, as many as every record has, the first.
        first = np.cumsum(chosen, axis=0, dtype=np.int32) <= count.min()
        count, mean, squares = _moments(phi, chosen & first)
    if count.min() < least:
        return None
    if variance == "fixed":
        return ShadowLaw(count, mean, np.full(mean.shape, pooled))
    own, floor = np.sqrt(squares / np.maximum(count - 1, 1)), LEAST_SPREAD * pooled
    return ShadowLaw(count, mean, np.maximum(own, floor), int(np.count_nonzero(own < floor)))


def _moments(phi: Floats, chosen: Bools) -> tuple[Ints, Floats, Floats]:
    """Return count, mean and sum of squares about it, of each record, shape (n,)."""
    count = chosen.sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.where(chosen, phi, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan)
    squares = np.where(chosen, (phi - np.where(count > 0, mean, 0.0)) ** 2, 0.0).sum(axis=0)
    return count, mean, squares


def lira_online(target: Floats, inside: ShadowLaw, outside: ShadowLaw) -> Floats:
    """Return log N(phi; in) - log N(phi; out) of each record, shape (n,); high for members."""
    return _log_density(target, inside) - _log_density(target, outside)


def lira_offline(target: Floats, outside: ShadowLaw) -> Floats:
    """Return (phi - mean) / deviation of the models without the record; high for members.

    Carlini et al. use its normal distribution function, which orders records alike but is
    1 to double precision from 8.3 on.
    """
    return np.asarray((target - outside.mean) / outside.spread)


def _log_density(target: Floats, law: ShadowLaw) -> Floats:
    """Return the log of the normal density, without its constant."""
    return np.asarray(-(((target - law.mean) / law.spread) ** 2) / 2 - np.log(law.spread))


def _findings(
    inside: ShadowLaw | None, outside: ShadowLaw, moved: int, variance: Variance, *, level: bool
) -> Iterator[Finding]:
    """Yield what a reader must know of the shadow models."""
    fewest = [int(law.models.min()) for law in (outside, inside) if law is not None]
    if level:
        yield Finding.of("counts_tell", inside=sum(fewest[1:]), outside=fewest[0])
    if inside is None:
        yield Finding("offline_only")
    if min(fewest) < _FEW and variance == "per-record":
        yield Finding.of("few_models", models=min(fewest))
    floored = sum(law.floored for law in (inside, outside) if law is not None)
    if floored:
        yield Finding.of("variance_floored", deviations=floored)
    if moved:
        yield Finding.of("saturated", confidences=moved)


query_lira = public(LiraOptions, answer_query_lira)
