"""Every row of a site is counted by the site's own seed, however the input is cut up."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.summaries.identity.row_rank import rank_bytes
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.sites.seeds import SeedSpan, SiteSeeds


def batch(first, rows, kept=None):
    present = np.arange(rows) if kept is None else kept
    return Rows(
        first_row=first,
        source_rows=rows,
        kept=kept,
        keys=None,
        member=present % 2 == 0,
        scores=((first + present).astype(float),),
    )


@settings(max_examples=200)
@given(
    first=st.integers(0, 40),
    rows=st.integers(0, 60),
    ends=st.lists(st.integers(0, 120), max_size=8, unique=True),
    absent=st.sets(st.integers(0, 59)),
)
def test_a_batch_falls_into_pieces_by_position(first, rows, ends, absent):
    ends = sorted(ends)[: len(ends) // 2 * 2]
    spans = tuple(
        SeedSpan(first_row=start, stop=stop, seed=at + 1)
        for at, (start, stop) in enumerate(zip(ends[::2], ends[1::2], strict=True))
    )
    kept = np.array(sorted(set(range(rows)) - absent), dtype=np.int64) if absent else None
    whole = batch(first, rows, kept)
    found = list(SiteSeeds(own=99, spans=spans).pieces(whole))
    scores = np.concatenate([np.empty(0), *(piece.scores[0] for piece, _ in found)])
    assert np.array_equal(scores, whole.scores[0])
    assert sum(piece.source_rows for piece, _ in found) == rows
    seed_at = {at: one.seed for one in spans for at in range(one.first_row, one.stop)}
    for piece, seed in found:
        assert {seed_at.get(int(at), 99) for at in piece.scores[0]} <= {seed}
        # A piece's ranks are those that the batch would give its rows with that seed.
        inside = np.isin(whole.scores[0], piece.scores[0])
        assert np.array_equal(rank_bytes(piece, seed), rank_bytes(whole, seed)[inside])
