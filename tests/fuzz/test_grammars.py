"""Inputs that are of their format and say odd things: an answer or one clear error comes of each.

None may end in a bug or an abort, take more than 20 seconds or 1 GiB, tell a value of the data or
leave anything half written. The long form (``make fuzz``) makes more than 100,000 of them.
"""

from __future__ import annotations

import random
import sys

import pytest

if sys.platform == "win32":
    pytest.skip("needs fork", allow_module_level=True)

from tests.fuzz.grammars import KINDS
from tests.fuzz.mutation import CASES, LONG, SEED
from tests.fuzz.runs import case_of, outcomes

# Cases of each kind, as a multiple; the mutated inputs of the other tests are 36,000 in all.
OFTEN = dict(archives=6, policies=4, cuts=3, summaries=3, reports=6, statements=4)  # noqa: C408
PARTS = 4
MUTATED = 9
# Of the inputs of each kind, the fewest that are of their format; of a few, chance has a say.
PAST = 0.7
LEAST = PAST if CASES >= LONG else 0.5


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", KINDS)
def test_every_input_has_an_answer_or_one_clear_error(tmp_path, name, part):
    kind, count = KINDS[name], CASES * OFTEN[name] // PARTS
    kind.make(random.Random(SEED))  # noqa: S311 - loads what each child would load

    found = [
        *outcomes(
            lambda at: case_of(name, kind, SEED, at),
            range(part * count, (part + 1) * count),
            tmp_path,
        )
    ]

    wrong = [(one, case_of(name, kind, SEED, one.number).words) for one in found if one.wrong]
    assert wrong[:5] == []
    assert len(found) == count
    past = sum(map(kind.is_past_the_parser, found))
    assert past >= LEAST * count


def test_the_long_form_has_100_000_inputs_and_half_are_past_the_parser():
    assert set(OFTEN) == set(KINDS)
    made = LONG * sum(OFTEN.values())
    assert made >= 100_000
    assert PAST * made >= (made + MUTATED * LONG) / 2
