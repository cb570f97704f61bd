"""What is said when a run fails, and what never is."""

from __future__ import annotations

import errno
import json

import pytest

from mipaudit.cli import app, failure, program
from mipaudit.cli.failure import failure_of

VALUE = "987654"


@pytest.mark.parametrize("ending", ["bug", "disk"])
@pytest.mark.parametrize("flags", [[], ["-v"], ["-f", "json"], ["-v", "-f", "json"]])
def test_no_value_from_the_data_is_ever_shown(stand_in, ending, flags):
    done = stand_in(ending, "estimate", "x.csv", *flags)

    assert done.returncode in {2, 70}
    assert done.stderr
    assert VALUE not in done.stderr + done.stdout


def test_a_bug_is_called_a_bug_and_placed_only_when_asked(stand_in):
    quiet = stand_in("bug", "estimate", "x.csv")
    loud = stand_in("bug", "estimate", "x.csv", "-v")

    assert "Internal error (ValueError)" in quiet.stderr
    assert "stand_in.py" not in quiet.stderr
    assert "stand_in.py" in loud.stderr
    assert "in audit" in loud.stderr


def test_too_little_memory_is_no_bug_and_no_damage(stand_in):
    done = stand_in("memory", "estimate", "x.csv", "-f", "json")

    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["code"] == "out_of_memory"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
        ImportError("libx.so: failed to map segment from shared object"),
    ],
)
def test_memory_is_refused_in_several_words(error):
    found = failure_of(error)
    assert (found.code, found.status) == ("out_of_memory", 2)


@pytest.mark.parametrize("error", [RuntimeError("x"), ImportError("y"), OSError("z")])
def test_other_errors_are_not_for_want_of_memory(error):
    assert failure_of(error).code != "out_of_memory"


def test_errors_are_text_with_a_hint(stand_in):
    done = stand_in("input", "estimate", "x.csv")

    assert done.stderr == "Error: There is no membership column.\nName it.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message", "hint"),
    [
        (
            ["estimat"],
            "usage_error",
            "No such command 'estimat'.",
            "Did you mean mipaudit estimate?",
        ),
        (
            ["estimate", "--scor-col", "x"],
            "no_such_option",
            "No such option: --scor-col.",
            "Did you mean --score-col?",
        ),
        (
            ["estimate", "x.csv", "--prior", "much"],
            "bad_parameter",
            "Invalid value for '--prior': 'much' is not a valid float.",
            "See `mipaudit estimate --help`.",
        ),
    ],
)
def test_usage_errors_help(mipaudit, arguments, code, message, hint):
    text = mipaudit(*arguments)
    as_json = mipaudit(*arguments, "-f", "json")

    assert (text.returncode, as_json.returncode) == (2, 2)
    assert text.stdout == as_json.stdout == ""
    assert text.stderr == f"Error: {message}\n{hint}\n"
    assert json.loads(as_json.stderr)["error"] == {"code": code, "message": message, "hint": hint}


@pytest.mark.parametrize("value", ["maybe", "\x1b[31mred"])
def test_a_choice_that_does_not_exist(mipaudit, value):
    done = mipaudit("estimate", "x.csv", "--nan", value)

    assert done.returncode == 2
    assert "'error', 'category', 'drop'" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("limit", ["0.02", "0.02@", "a@b", "@", "0.1@0.2@0.3", "0.1:0.2"])
def test_a_malformed_operating_limit(stand_in, tmp_path, limit):
    done = stand_in(
        "met",
        "estimate",
        "x.csv",
        f"--max-tpr-at-fpr={limit}",
        env={"STAND_IN_TOUCH": str(tmp_path / "ran")},
    )

    assert done.returncode == 2
    assert "0.02@0.001" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_nothing_asked_shows_help_on_stderr(mipaudit):
    for arguments in ([], ["estimate"], ["check"]):
        done = mipaudit(*arguments)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith("Usage: mipaudit")


def test_warnings_of_libraries_do_not_reach_stderr(stand_in):
    plain = stand_in("warning", "estimate", "x.csv")
    verbose = stand_in("warning", "estimate", "x.csv", "-v")

    assert plain.stderr == ""
    assert "Warning: RuntimeWarning at " in verbose.stderr
    assert VALUE not in verbose.stderr


@pytest.mark.parametrize("kind", [MemoryError, ImportError])
def test_want_of_memory_for_the_words_is_no_verdict(monkeypatch, capfd, kind):
    """Python's own end of an error that nobody catches is 1, which says not met."""

    def lacking(*_):
        raise kind

    monkeypatch.setattr(program, "run", lacking)
    monkeypatch.setattr(failure, "failure_of", lacking)
    assert app.run([]) == 2
    assert capfd.readouterr().err == "Error: There is not enough memory.\n"
