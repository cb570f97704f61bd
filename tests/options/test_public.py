"""The Python function of a command: what it takes by place, by name, and says of both."""

import inspect
from collections.abc import Sequence
from keyword import iskeyword
from typing import Any, Literal

import pytest

import mipaudit
from mipaudit import InputError, UsageError
from mipaudit.options.commands import TABLE
from mipaudit.options.declare import Options, declared, free, required
from mipaudit.options.public import public, public_of_several
from mipaudit.options.values import Range
from mipaudit.statements.kinds import named


class Asked(Options):
    """Several files, and how often."""

    files: Sequence[Any] = free("What is read.", default=(), flag="FILES...")
    times: int = free("How often.", default=1)


def answer_count(asked: Asked) -> int:
    """Return how many there are.

    Raises:
        UsageError: never.
    """
    return len(asked.files) * asked.times


def test_several_are_given_by_place():
    count = public_of_several(Asked, answer_count)

    assert [count(), count("a"), count("a", "b", times=3)] == [0, 1, 6]
    assert str(inspect.signature(count)) == "(*files: 'Any', times: 'int' = 1) -> int"
    with pytest.raises(TypeError):
        count("a", files=("b",))


def test_a_function_says_what_its_options_say():
    count = public(Asked, answer_count)

    assert count.__name__ == "count"
    assert count.__doc__.index("times: How often.") < count.__doc__.index("Raises:")
    assert count(files=["a"], times=2) == 2
    with pytest.raises(TypeError):
        count("a")


class Given(Options):
    """What is read, one thing with words of its own, and a number."""

    data: Any = free("What is read.", is_input=True)
    other: Any = free("What is read beside.", is_input=True, in_python="Or its bytes.")
    times: int = free("How often.", default=1)


def test_what_is_read_may_be_in_memory_and_nothing_else():
    def answer_read(asked: Given) -> int:
        """Return how many times."""
        return asked.times

    said = public(Given, answer_read).__doc__.splitlines()
    assert "    data: What is read. Or a data frame, an Arrow table or an array." in said
    assert "    other: What is read beside. Or its bytes." in said
    assert "    times: How often." in said


class Otherwise(Options):
    """What reports call otherwise."""

    score_col: str | None = free("Which.", metavar="NAME", recorded_as="score_columns")
    side: Literal["low", "high"] = free("Which end.", default="low")
    by: str | None = free("Of groups.", only_with="score_col")


def answer_refuse(asked: Otherwise) -> int:
    """Refuse."""
    raise InputError(
        "why",
        f"`score_col` is {asked.score_col}.",
        hint="Add `by` NAME, or `side` low.",
    )


def test_names_are_checked_recorded_and_spelled_as_they_are_typed():
    refuse = public(Otherwise, answer_refuse)
    with pytest.raises(TypeError, match="there is no option 'scores'"):
        refuse(scores="a")
    (first, *_) = Otherwise(score_col="a").recorded()
    assert (first.name, first.value) == ("score_columns", "a")
    with pytest.raises(InputError) as caught:
        refuse(score_col="a")
    assert caught.value.message == "--score-col is a."
    assert caught.value.hint == "Add --by NAME, or --side low."
    with pytest.raises(UsageError, match=r"^--by can only be used with --score-col\."):
        refuse(by="x")


def test_keywords_are_named_as_the_options_that_are_typed():
    for row in TABLE:
        for one in declared(named(row.asked)):
            flags = [flag for flag in (one.option.flag or "").split("/") if flag[:2] == "--"]
            names = [flag.strip("-").replace("-", "_") for flag in flags]
            assert not names or one.name in names or iskeyword(names[0]), (row.name, one.name)


def test_what_python_has_no_keyword_for_is_a_variable():
    with pytest.raises(UsageError, match="MIPAUDIT_ALLOW_SCHEME"):
        mipaudit.check("sftp://host/x.csv")


class Together(Options):
    """A noise on a table, or none."""

    truth: float | None = free("The probability of the truth.")
    answers: int | None = free("How many there are.", only_with="truth")
    table: Any = free("What is read.", flag=None, only_with="truth")


class Table:
    """As a data frame: compared with anything, it is neither the same nor another."""

    def __eq__(self, other):
        raise ValueError

    __hash__ = None


def test_an_option_that_needs_another_is_refused_alone_and_zero_is_company_too():
    for truth in (0.0, 0.5):
        assert Together(truth=truth, answers=3).answers == 3
        assert Together(truth=truth, table=Table()).truth == truth
    for asked in ({"answers": 3}, {"table": Table()}):
        with pytest.raises(UsageError, match="can only be used with --truth"):
            Together(**asked)


@pytest.mark.parametrize("in_help", [True, False])
def test_a_range_is_said_in_help_unless_it_is_for_errors_alone(in_help):
    range_ = Range(lambda name: not name.endswith(".x"), "of another form", in_help=in_help)

    class Written(Options):
        file: str = required(free("Write it there.", within=range_))

    (one,) = declared(Written)
    assert one.said == ("Write it there. [of another form]" if in_help else "Write it there.")
    with pytest.raises(UsageError, match="--file must be of another form"):
        Written(file="a.x")
