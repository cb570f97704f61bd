"""What is said when a run fails, and what never is."""

from __future__ import annotations

import errno
import json

import pytest

from mipaudit.cli import app, failure, program
from mipaudit.cli.failure import error_style, failure_of

VALUE = "987654"


@pytest.mark.parametrize("ending", ["bug", "disk"])
@pytest.mark.parametrize("flags", [[], ["-v"], ["-f", "json"], ["-v", "-f", "json"]])
def test_no_value_from_the_data_is_ever_shown(stand_in, ending, flags):
    done = stand_in(ending, "estimate", "x.csv", *flags)

    assert done.returncode in {2, 70}
    assert done.stderr
    assert VALUE not in done.stderr + done.stdout
    if ending == "bug" and "json" not in flags:
        assert "Internal error (ValueError)" in done.stderr
        # Placed only when asked.
        assert ("stand_in.py" in done.stderr) == ("in audit" in done.stderr) == ("-v" in flags)


@pytest.mark.parametrize(
    ("error", "lacking"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (RuntimeError("can't start new thread"), True),
        (ImportError("libx.so: failed to map segment from shared object"), True),
        (RuntimeError("x"), False),
        (ImportError("y"), False),
        (OSError("z"), False),
    ],
)
def test_too_little_memory_is_no_bug_and_no_damage(error, lacking):
    found = failure_of(error)

    assert (found.code == "out_of_memory") == lacking
    assert found.status == 2 or not lacking


def test_errors_are_text_with_a_hint_or_json(stand_in):
    assert stand_in("input", "estimate", "x.csv").stderr == (
        "Error: There is no membership column.\nName it.\n"
    )
    done = stand_in("memory", "estimate", "x.csv", "-f", "json")
    assert (done.returncode, json.loads(done.stderr)["error"]["code"]) == (2, "out_of_memory")


@pytest.mark.parametrize("flags", ["-qf json", "-vf json", "-qvf json", "-fjson", "--format=json"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("estimat", "usage_error"),
        ("estimate --scor-col x", "no_such_option"),
        ("estimate x.csv --prior much", "bad_parameter"),
        ("estimate missing.csv", "no_such_file"),
    ],
)
def test_errors_are_json_when_the_report_would_be(mipaudit, words, code, flags):
    text, as_json = mipaudit(*words.split()), mipaudit(*words.split(), *flags.split())

    assert (text.returncode, as_json.returncode) == (2, 2)
    assert text.stdout == as_json.stdout == ""
    found = json.loads(as_json.stderr)["error"]
    assert found["code"] == code
    said = filter(None, (f"Error: {found['message']}", found["hint"]))
    assert text.stderr == "\n".join(said) + "\n"


@pytest.mark.parametrize(
    ("arguments", "wants_json", "verbose"),
    [
        ("-qf json", True, False),
        ("-vf json", True, True),
        ("-qvfjson", True, True),
        ("-fjson", True, False),
        ("--format=json -qv", True, True),
        ("-qf table", False, False),
        ("-qf", False, False),
        ("-f table -qf json", True, False),
        ("-f json -f table", False, False),
        ("-ofjson", False, False),
        ("-qofv", False, False),
        ("-fv", False, False),
        ("--seed -1 -", False, False),
        ("-- -qf json -v", False, False),
        ("-f table -v", False, True),
        ("--verbose -f json", True, True),
        ("", False, False),
    ],
)
def test_the_form_of_errors_is_read_from_short_flags(arguments, wants_json, verbose):
    style = error_style(["estimate", "x.csv", *arguments.split()])

    assert style == (wants_json, verbose)


@pytest.mark.parametrize("arguments", [[], ["estimate"], ["check"]])
def test_nothing_asked_shows_help_on_stderr(mipaudit, arguments):
    done = mipaudit(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: mipaudit")


def test_warnings_of_libraries_do_not_reach_stderr(stand_in):
    assert stand_in("warning", "estimate", "x.csv").stderr == ""
    verbose = stand_in("warning", "estimate", "x.csv", "-v").stderr
    assert "Warning: RuntimeWarning at " in verbose
    assert VALUE not in verbose


@pytest.mark.parametrize("kind", [MemoryError, ImportError])
def test_want_of_memory_for_the_words_is_no_verdict(monkeypatch, capfd, kind):
    """Python's own end of an error that nobody catches is 1, which says not met."""

    def lacking(*_):
        raise kind

    monkeypatch.setattr(program, "run", lacking)
    monkeypatch.setattr(failure, "failure_of", lacking)
    assert app.run([]) == 2
    assert capfd.readouterr().err == "Error: There is not enough memory.\n"
