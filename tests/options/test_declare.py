"""Options declared once: what goes with what."""

from typing import Any

import pytest

from mipaudit.errors import UsageError
from mipaudit.options.declare import Options, declared, free, required
from mipaudit.options.values import Range


class Asked(Options):
    """A noise on a table, or none."""

    truth: float | None = free("The probability of the truth.")
    answers: int | None = free("How many there are.", only_with="truth")
    table: Any = free("What is read.", flag=None, only_with="truth")


class Table:
    """As a data frame: compared with anything, it is neither the same nor another."""

    def __eq__(self, other):
        raise ValueError

    __hash__ = None


@pytest.mark.parametrize("truth", [0.0, 0.5])
def test_zero_is_company_too(truth):
    assert Asked(truth=truth, answers=3).answers == 3
    assert Asked(truth=truth, table=Table()).truth == truth


@pytest.mark.parametrize("asked", [{"answers": 3}, {"table": Table()}])
def test_an_option_alone_that_needs_another_is_refused(asked):
    with pytest.raises(UsageError, match="has no meaning without --truth"):
        Asked(**asked)


@pytest.mark.parametrize("in_help", [True, False])
def test_a_range_is_said_in_help_unless_it_is_for_errors_alone(in_help):
    range_ = Range(lambda name: not name.endswith(".x"), "of another form", in_help=in_help)

    class Written(Options):
        file: str = required(free("Write it there.", within=range_))

    (one,) = declared(Written)

    assert one.said == ("Write it there (of another form)." if in_help else "Write it there.")
    with pytest.raises(UsageError, match="--file must be of another form"):
        Written(file="a.x")
