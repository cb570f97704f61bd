"""The seed of an audit: a hash of what the user stated and of the rows themselves.

A public function of (seed, position) would let the writer of a file choose which rows only
train, and would send the same order statistics of every sorted file there. So no stated
seed is ever used bare: the seed in use depends on every row, and another one needs other
ranks of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

SeedOrigin = Literal["default", "stated", "fresh"]
ContentKind = Literal[
    "ladder",
    "labels",
    "rows",
    "keyed rows",
    "rows of units",
    "cohorts",
    "rows in order",
    "positions",
    "site",
    "counts",
]

_RULE: Final = "mipaudit/2"
_SEED_BYTES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a seed depends on: the rows of one statement, whatever their order and storage.

    Attributes:
        kind: how the rows were digested; digests of two kinds never meet.
        n_members: rows of the members.
        n_holdout: rows of the holdout.
        digest: of the rows.
    """

    kind: ContentKind
    n_members: int
    n_holdout: int
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedChoice:
    """Which seed was asked for.

    Attributes:
        origin: ``default`` where none was; ``stated`` by the user, before or after seeing
            the rows; ``fresh`` from the operating system, so that nobody could know it when
            the rows were written.
        number: the seed that was stated or drawn, at least 0; None for the default.
    """

    origin: SeedOrigin = "default"
    number: int | None = None

    def __post_init__(self) -> None:
        """Keep a number for all but the default."""
        assert (self.number is None) == (self.origin == "default")  # noqa: S101 - by its maker

    @property
    def fresh(self) -> bool:
        """Tell whether the seed was drawn after the rows were written."""
        return self.origin == "fresh"

    def in_use(self, content: Content) -> int:
        """Return the 64-bit seed for the rows of one statement.

        A number that was drawn fresh counts as one that is stated: who states it later gets
        the same report.
        """
        # Here: help is written without it, and it takes a thirtieth of that.
        from hashlib import blake2b

        stated = "default" if self.number is None else str(self.number)
        head = f"{_RULE}|{stated}|{content.kind}|{content.n_members}|{content.n_holdout}|"
        digest = blake2b(head.encode() + content.digest, digest_size=_SEED_BYTES).digest()
        return int.from_bytes(digest, "big")


DEFAULT_SEED: Final = SeedChoice()
