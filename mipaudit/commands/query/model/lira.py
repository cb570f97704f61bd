"""``mipaudit query lira``: the likelihood-ratio score of shadow models."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.model.answer import (
    ModelQuery,
    model_query,
    require_both_classes,
    require_rows,
)
from mipaudit.commands.query.model.array_files import ArrayFile, arrays_of, described, opened
from mipaudit.commands.query.model.lira_scores import (
    ShadowLaw,
    counts_tell,
    lira_offline,
    lira_online,
    odds,
    oriented,
    refuse_target,
    shadow_law,
)
from mipaudit.commands.query.model.options import LiraOptions, Variance
from mipaudit.errors import InputError
from mipaudit.model.message import Message
from mipaudit.options.plain_values import require
from mipaudit.options.public import public
from mipaudit.reading.columns.class_outputs import LABELS
from mipaudit.statements.estimate import Finding
from mipaudit.statements.provenance import provenance

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
    "lira_online": "log likelihood ratio, models with the record over models without it; high for "
    "members",
    "lira_offline": "deviations above the mean of the models without the record; high for members",
}
_LIMITATIONS: Final = (Message("lira_normal"), Message("lira_alike"), Message("lira_one_query"))


def answer_query_lira(asked: LiraOptions) -> "ModelQuery":
    """Return the online and offline likelihood-ratio score of every record.

    Raises:
        UsageError: a setting is wrong, or an input is not given.
        InputError: an input cannot be read, or does not fit the others.
    """
    main = arrays_of(asked.shadow, "the shadow models")
    bits = opened(asked.inclusion, "the inclusion") or _within(main, _INCLUSION, "inclusion")
    target = opened(asked.target, "the target") or _within(main, _TARGET, "target")
    told = opened(asked.membership, "the membership")
    if told is None:
        apart = target is not main and target.find(_MEMBER)
        told = target if apart else _within(main, _MEMBER, "membership")
    confidences = target.vector(_TARGET, "the target's confidences")
    read, moved = odds(confidences, asked.values, target.name)
    raw, included = _shadows(asked, main, bits, read.size)
    phi, shadows_moved = odds(raw, asked.values, main.name)
    member = told.member(_MEMBER)
    require_rows(member.size, read.size, told.name)
    require_both_classes(member)
    refuse_target(phi, included, read, member)
    level = counts_tell(included, member)
    least = 1 if asked.variance == "fixed" else _ENOUGH
    outside = shadow_law(phi, ~included, asked.variance, level=level, least=least)
    inside = shadow_law(phi, included, asked.variance, level=level, least=least)
    if outside is None:
        raise InputError(
            "too_few_models",
            "Some record has too few shadow models that were trained without it, or their "
            "confidences do not vary.",
            hint=f"Every record needs at least {least}; with `variance` fixed one is enough.",
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


def _shadows(
    asked: LiraOptions, main: ArrayFile, bits: ArrayFile, records: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the confidences and the inclusion by model and record, each of shape (m, n)."""
    said = main.coordinates(_SHADOW, reserved=(*LABELS, *_MEMBER))
    kept = bits.coordinates(_INCLUSION, reserved=(*LABELS, *_MEMBER))
    if sorted(said.columns) == sorted(kept.columns) and said.columns != kept.columns:
        raise InputError(
            "columns_differ",
            f"{bits.name}: the columns have the names of the shadow file's, in another order.",
            hint="The inclusion stands at the same place as the confidence that it is of.",
        )
    # Sums round by how an array lies in memory, which must not tell files from frames.
    raw = np.ascontiguousarray(oriented(said.values, records, asked.rows, main.name))
    included = oriented(kept.values, records, asked.rows, bits.name)
    if not np.isin(included, (0.0, 1.0)).all():
        raise InputError(
            "bad_inclusion",
            f"{bits.name}: the inclusion is not 0 or 1 everywhere.",
            hint="It says of each model and record whether that model was trained with it; the "
            "confidences go to `shadow`.",
        )
    if raw.shape != included.shape:
        raise InputError(
            "shapes_differ",
            f"{bits.name}: the inclusion has not the shape of the confidences.",
            hint="One value for each model and record, in the same order.",
        )
    return raw, included == 1.0


def _within(main: ArrayFile, names: tuple[str, ...], name: str) -> ArrayFile:
    """Return the main archive, if it holds what was not given apart."""
    require(
        len(main.whole.arrays) > 1 and main.find(names) is not None,
        name,
        f"`{name}` FILE is not given, and the shadow file holds no array called {names[0]}.",
        "Give each input a file, or save all in one: numpy.savez(path, shadow=..., "
        "inclusion=..., target=..., member=...).",
    )
    return main


def _findings(
    inside: ShadowLaw | None, outside: ShadowLaw, moved: int, variance: Variance, *, level: bool
) -> Iterator[Finding]:
    fewest = [int(law.count.min()) for law in (outside, inside) if law is not None]
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
