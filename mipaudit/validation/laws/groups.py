"""Groups of records that leak differently: the share of each, and its law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.validation.laws.density import Normal
from mipaudit.validation.laws.mixture import Mixture
from mipaudit.validation.laws.parametric_laws import law_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mipaudit.validation.laws.law import Law


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgroup:
    """One group of records, equally frequent among members and holdout.

    Attributes:
        label: as the group column names it.
        share: of the records, in (0, 1); all shares sum to 1.
        law: of its scores.
    """

    label: str
    share: float
    law: Law


MINORITY: Final = (
    Subgroup(
        label="majority",
        share=0.9,
        law=law_of("majority", "no leak", Normal(), Normal()),
    ),
    Subgroup(
        label="minority",
        share=0.1,
        law=law_of("minority", "members 2 s.d. higher", Normal(mean=2.0), Normal()),
    ),
)
# Losses: an overfitted model's are lower for members, and outliers' are high unless learnt.
CORRUPTED: Final = (
    Subgroup(
        label="clean",
        share=0.9,
        law=law_of("clean", "a little overfitted", Normal(mean=-0.2), Normal()),
    ),
    Subgroup(
        label="corrupted",
        share=0.1,
        law=law_of("corrupted", "memorised", Normal(mean=-1.0, sd=0.5), Normal(mean=2.0)),
    ),
)


def overall(name: str, description: str, groups: Sequence[Subgroup]) -> Law:
    """Return the law of the scores when the groups are not told apart."""
    return law_of(
        name,
        description,
        _blend((group.share, group.law.members) for group in groups),
        _blend((group.share, group.law.holdout) for group in groups),
    )


def _blend(weighted: Iterable[tuple[float, Mixture]]) -> Mixture:
    parts = [
        (share * weight, part)
        for share, mixed in weighted
        for part, weight in zip(mixed.parts, mixed.weights, strict=True)
    ]
    return Mixture(
        parts=tuple(part for _, part in parts), weights=tuple(weight for weight, _ in parts)
    )
