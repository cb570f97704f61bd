"""Every declared option, by every way to give it: what is no value of it is refused, by its name.

One test for all options of a command: a new option is held to it by being declared.
"""

import inspect
import math
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

import pytest

import mipaudit
from mipaudit.cli import app
from mipaudit.errors import UsageError
from mipaudit.options.commands import TABLE
from mipaudit.options.declare import REQUIRED, Steers, checked, declared
from mipaudit.options.public import spelled
from mipaudit.options.scores import BadParts, Engines
from mipaudit.statements.kinds import named
from tests.fixtures.codes import refused

MARK = "7f3a-not-a-value"
_NUMBERS = (-1, 0, 1, 2, -0.5, 0.25, 1.5, 1e9, math.inf, -math.inf)


def options_of(command):
    return [one for kind in (command.asked, command.shown) for one in declared(named(kind))]


def typed_of(command):
    return [one for one in options_of(command) if one.option.flag]


def of_each(commands):
    return pytest.mark.parametrize("command", commands, ids=lambda command: command.name)


def outside(one):
    """Return numbers of the option's type that its range excludes."""
    kinds = {float: _NUMBERS, int: [n for n in _NUMBERS if isinstance(n, int)]}
    within = one.option.within
    if within is None or one.option.read is not None:
        return []
    return [number for number in kinds.get(one.kind, ()) if not within.holds(number)]


def is_number(one):
    return one.kind in {int, float} and one.option.read is None


def is_placed(one):
    return not one.option.flag.startswith("-")


def needed(command, left_out):
    """Return words for what a command cannot do without, but for one option."""
    for one in options_of(command):
        if one.default is REQUIRED and one is not left_out:
            value = 0.25 if is_number(one) else "no-such-file.csv"
            yield value if is_placed(one) else f"{one.option.flag}={value}"


@pytest.fixture
def said(monkeypatch, capsys, tmp_path):
    """Run the program in an empty folder; return its exit code and what it says on stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        status = app.run(words)
        return status, capsys.readouterr().err

    return run


def no_values_of(one):
    """Return what is refused as a value of an option in Python."""
    wrong = [object()] if is_number(one) or one.words or one.kind in {str, bool} else []
    wrong += [MARK] if is_number(one) or one.words or one.kind is bool else []
    wrong += [math.nan] if is_number(one) else []
    return [*wrong, *outside(one)]


@of_each(TABLE)
def test_python_refuses_what_is_no_value_and_names_the_option(command):
    for one in options_of(command):
        for value in no_values_of(one):
            case = one.name, value
            with pytest.raises(UsageError) as raised:
                pytest.fail(f"{case} is taken for {checked(one, value)!r}")
            assert raised.value.code == one.name, case
            assert one.word in raised.value.message, case
            assert MARK not in str(raised.value), case


def work(command, left_out):
    """Return words with which a command does more than show its help, but for one option."""
    words = list(needed(command, left_out))
    if words:
        return words
    if any(map(is_placed, (one for one in options_of(command) if one.option.flag))):
        return ["no-such-file.csv"]
    return ["-v" if left_out.name == "quiet" else "-q"]


CONFIGURED = [command for command in TABLE if command.configured]


def set_elsewhere(command):
    return [one for one in typed_of(command) if not is_placed(one)]


def table_of(command):
    return f'"{command.name}"' if " " in command.name else command.name


def wrong_values(one, way):
    """Return what is refused as a value of an option that is typed, or stands elsewhere."""
    marked = is_number(one) or one.words or (one.kind is bool and way != "typed")
    if way == "file":
        return [f'"{MARK}"' if marked else "[[1]]", *outside(one)]
    return [*([MARK] if marked else []), *outside(one)]


@pytest.mark.parametrize("way", ["typed", "variable", "file"])
@of_each(TABLE)
def test_every_way_refuses_it_in_one_sentence_that_says_where_it_stands(
    said, monkeypatch, tmp_path, command, way
):
    options = typed_of(command) if way == "typed" else set_elsewhere(command) * command.configured
    for one, value in ((of, value) for of in options for value in wrong_values(of, way)):
        words = needed(command, one) if way == "typed" else work(command, one)
        match way:
            case "typed":
                place = one.option.flag.split("/")[-1]
                words = [*words, f"{place}={value}"]
            case "variable":
                place = f"MIPAUDIT_{one.key.upper()}"
                monkeypatch.setenv(place, str(value))
            case "file":
                place = "mipaudit.toml"
                (tmp_path / place).write_text(f"[{table_of(command)}]\n{one.key} = {value}\n")
        status, text = said(*command.name.split(), *words)

        case = one.name, value, text
        assert status == 2, case
        assert text.startswith("Error: "), case
        assert place in text, case
        assert way != "typed" or len(text.splitlines()) <= 2, case
        if way == "variable":
            monkeypatch.delenv(place)


@of_each(CONFIGURED)
def test_a_policy_file_has_numbers_without_quotes(said, tmp_path, command):
    for one in set_elsewhere(command):
        if not one.many and one.kind in {int, float}:
            setting = f"{one.key} = 1"
            (tmp_path / "mipaudit.toml").write_text(f"[{table_of(command)}]\n{setting}\n")

            _, text = said(*command.name.split(), "no-such-file.csv")

            assert "a text, in quotes" not in text, setting


@of_each(TABLE)
def test_what_was_read_is_read_again_as_itself(command):
    for one in options_of(command):
        read = one.option.read
        if read is not None and one.default not in {None, ()}:
            assert read(read(one.default)) == read(one.default), one.name


@of_each(TABLE)
def test_every_option_says_what_it_is_and_who_may_set_it(command):
    for one in options_of(command):
        said = one.option.help
        assert "--" not in said, one.name  # other options are named in backticks
        assert not said[0].islower(), one.name
        assert said.endswith((".", "]")), one.name
        assert all(isinstance(other, str) for other in one.words), one.name
        assert one.option.steers in get_args(Steers), one.name
        names_data = one.option.is_input and one.name != "claimed_curve"
        assert not (names_data and one.option.steers == "free"), one.name


@of_each([command for command in TABLE if command.answer])
def test_the_public_function_has_the_options_of_the_command(command):
    function = getattr(mipaudit, command.name.replace(" ", "_"))
    found = inspect.signature(function).parameters

    wanted = declared(named(command.asked))
    severals = inspect.Parameter.VAR_POSITIONAL
    assert list(found) == [one.name for one in wanted]
    assert [str(found[one.name].annotation) for one in wanted] == [
        spelled(one.kind if found[one.name].kind is severals else one.annotation) for one in wanted
    ]
    for one in wanted:
        assert f"{one.name}: " in function.__doc__


class Asked(Engines, BadParts):
    """Of a command that passes over its input."""


POOL = ThreadPoolExecutor(1)
# Settings of who does the work that contradict each other.
CONTRADICT = [
    ({"engine": "spark"}, "engine"),
    ({"engine": "dask"}, "no_scheduler"),
    ({"jobs": 0}, "jobs"),
    ({"jobs": 1.5}, "jobs"),
    ({"engine": "threads", "scheduler": "tcp://h:1"}, "scheduler"),
    ({"executor": object()}, "executor"),
    ({"executor": POOL, "engine": "processes"}, "executor"),
    ({"on_bad_part": "ignore"}, "on_bad_part"),
]


def test_settings_that_make_no_sense():
    for given, code in CONTRADICT:
        refused(code, Asked, **given)
