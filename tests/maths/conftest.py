from __future__ import annotations

import numpy as np
import pytest

from mipaudit.maths.ladder import Ladder


@pytest.fixture(scope="session")
def ladder_from():
    """Make a ladder from counts; every step single unless told."""

    def make(members, holdout, single=None):
        members = np.asarray(members, dtype=np.int64)
        return Ladder(
            members=members,
            holdout=np.asarray(holdout, dtype=np.int64),
            single=np.ones(members.size, bool) if single is None else np.asarray(single, bool),
        )

    return make
