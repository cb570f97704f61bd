"""The seed of inputs that are too large to keep: their rows are told apart by position.

Whoever orders the rows of such a file could choose those that train for a seed that is
known beforehand. So the default is a hash of every byte where one is made anyway, or asked
for; else it is drawn afresh. A digest of bytes in their order will do, though equal rows in
another order have another: the order then cannot be chosen without a new draw.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from mipaudit.api.seed_choice import fresh_seed
from mipaudit.audit.finding import Finding
from mipaudit.summaries.plan import kept_exactly
from mipaudit.summaries.seed import Content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.summaries.seed import SeedChoice
    from mipaudit.tables.source import ScoreSource

_DIGEST_BYTES: Final = 32
_STATED: Final = Finding(
    code="stated_seed",
    text="The seed was stated (--seed) for an input that is too large for its rows to decide, and "
    "of which no digest was made: whoever ordered the rows could have chosen which of them only "
    "train. Leave --seed out to have one drawn, or add --hash-inputs to let every byte decide.",
)


def fits(source: ScoreSource) -> bool:
    """Tell whether an input is kept, so that its seed and its order follow from its rows."""
    hint = source.rows_hint
    return hint is not None and kept_exactly(hint, len(source.columns))


def settle_seed(
    sources: Sequence[ScoreSource], choice: SeedChoice, *, hash_inputs: bool
) -> SeedChoice:
    """Give the inputs the seed for rows that their positions tell apart, if they are large.

    Args:
        sources: that enter one statement.
        choice: what was asked for.
        hash_inputs: whether every byte is to be hashed, whatever it costs.

    Returns:
        The choice to record: of a large input without a digest the default is a fresh one.
    """
    if all(fits(source) for source in sources):
        return choice
    content = _every_byte(sources, hash_inputs=hash_inputs)
    notes: tuple[Finding, ...] = ()
    if content is None:
        content = Content(kind="positions", n_members=0, n_holdout=0, digest=b"")
        if choice.origin == "default":
            choice = fresh_seed()
        elif choice.origin == "stated":
            notes = (_STATED,)
    for source in sources:
        source.number_rows(choice.in_use(content))
    sources[0].told += notes
    return choice


def _every_byte(sources: Sequence[ScoreSource], *, hash_inputs: bool) -> Content | None:
    """Return the digest of all files in the order of their rows; None without one of each."""
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for source in sources:
        digest.update(b"input")
        for one in source.inputs(hash_all=hash_inputs):
            if one.sha256 is None:
                return None
            digest.update(f"|{one.rows}|{one.sha256}".encode())
    return Content(kind="files", n_members=0, n_holdout=0, digest=digest.digest())
