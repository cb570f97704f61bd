"""The seed of inputs that are too large to keep: their rows are told apart by position.

Whoever orders the rows of such a file could choose those that train for a seed that is
known beforehand. So the default is a hash of every row in its place where another pass is
cheap, or asked for; else it is drawn afresh. The rows in another order are another draw, and
how they are stored changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from mipaudit.model.message import Finding
from mipaudit.options.groups.working import fresh_seed
from mipaudit.statements.estimate import STATED_SEED
from mipaudit.summaries.identity.content import DIGEST_BYTES, RowStream
from mipaudit.summaries.identity.seed import Content, SeedChoice
from mipaudit.summaries.plan import kept_exactly

if TYPE_CHECKING:
    from mipaudit.data.source import ScoreSource
    from mipaudit.statements.sources import InputFile
    from mipaudit.summaries.rows import Rows

_STATED: Final = Finding.of(STATED_SEED, case="large")


def fits(source: ScoreSource, columns: int = 1) -> bool:
    """Tell whether rows are kept, so that their seed and their order follow from them.

    Args:
        source: opened.
        columns: how many enter one statement.
    """
    return kept_exactly(source.rows_hint, columns)


def settle_seed(
    sources: Sequence[ScoreSource],
    choice: SeedChoice,
    *,
    hash_inputs: bool,
    together: bool = False,
) -> SeedChoice:
    """Give the inputs the seed for rows that their positions tell apart, if they are large.

    Args:
        sources: that enter one statement.
        choice: what was asked for.
        hash_inputs: whether every row is to be hashed, whatever it costs.
        together: all columns of an input enter one statement; otherwise each, and each
            vector, is one of its own.

    Returns:
        The choice to record: of a large input without a digest the default is a fresh one.
    """
    if all(fits(one, len(one.columns) if together else _widest(one)) for one in sources):
        return choice
    content = None
    # A pass of its own: for files whose bytes are hashed anyway, data in memory, and if asked for.
    if not any(costs_a_pass(one.inputs(hash_all=hash_inputs)) for one in sources):
        content = rows_in_order(
            ([column.name for column in one.columns], one.every_row().rows()) for one in sources
        )
    choice, seed, notes = position_seed(choice, content)
    for source in sources:
        source.number_rows(seed)
    sources[0].assumed += notes
    return choice


def _widest(source: ScoreSource) -> int:
    return max((len(one.coordinates) for one in source.vectors), default=1)


def position_seed(
    choice: SeedChoice, content: Content | None
) -> tuple[SeedChoice, int, tuple[Finding, ...]]:
    """Return the choice to record, the seed in use for positions, and what is to be said.

    Args:
        choice: what was asked for.
        content: of every row in its place; None where no digest was made.
    """
    notes: tuple[Finding, ...] = ()
    if content is None:
        content = Content(kind="positions", n_members=0, n_holdout=0, digest=b"")
        if choice.origin == "default":
            choice = fresh_seed()
        elif choice.origin == "stated":
            notes = (_STATED,)
    return choice, choice.in_use(content), notes


def costs_a_pass(described: Sequence[InputFile]) -> bool:
    """Tell whether a digest of all rows would be a pass over bytes that nobody hashes."""
    return any(one.sha256 is None and one.bytes is not None for one in described)


def rows_in_order(sources: Iterable[tuple[Sequence[str], Iterable[Rows]]]) -> Content:
    """Return the digest of all rows in their places.

    Args:
        sources: of each, the names of its columns and its batches in order.
    """
    digest = blake2b(digest_size=DIGEST_BYTES)
    members = holdout = 0
    for names, batches in sources:
        rows = RowStream(names)
        for batch in batches:
            rows.add(batch)
        digest.update(rows.digest())
        members, holdout = members + rows.members, holdout + rows.rows - rows.members
    return Content(
        kind="rows in order", n_members=members, n_holdout=holdout, digest=digest.digest()
    )
