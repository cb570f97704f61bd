"""The Python function of a command: what it takes by place, by name, and says of both."""

import inspect
from collections.abc import Sequence
from typing import Annotated, Any

import pytest

from mipaudit.options.declare import Option, Options
from mipaudit.options.public import public, public_of_several


class Asked(Options):
    """Several files, and how often."""

    files: Annotated[Sequence[Any], Option("FILES...", "What is read.")] = ()
    times: Annotated[int, Option("--times", "How often.")] = 1


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

    data: Annotated[Any, Option("--data", "What is read.", is_input=True)] = None
    other: Annotated[
        Any, Option("--other", "What is read beside.", is_input=True, in_python="Or its bytes.")
    ] = None
    times: Annotated[int, Option("--times", "How often.")] = 1


def answer_read(asked: Given) -> int:
    """Return how many times."""
    return asked.times


def test_what_is_read_may_be_in_memory_and_nothing_else():
    said = public(Given, answer_read).__doc__.splitlines()

    assert "        data: What is read. Or a data frame, an Arrow table or an array." in said
    assert "        other: What is read beside. Or its bytes." in said
    assert "        times: How often." in said
