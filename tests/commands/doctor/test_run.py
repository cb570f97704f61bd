"""``mipaudit doctor``: in whole and in broken installations."""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from getpass import getuser
from pathlib import Path

import pytest

from mipaudit.cli import app
from mipaudit.commands.doctor import run as looked
from mipaudit.commands.doctor.run import doctor
from tests.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = (
    *("jinja2", "matplotlib", "msgspec", "numpy", "packaging"),
    *("pandas", "pyarrow", "rich", "scipy", "typer"),
)


@pytest.fixture(autouse=True)
def as_installed(monkeypatch):
    """Let it read what pyproject.toml asks for now, whenever the environment was made."""
    extras = PROJECT["optional-dependencies"]
    lines = [
        *PROJECT["dependencies"],
        *(f'{one}; extra == "{part}"' for part, needed in extras.items() for one in needed),
    ]

    class Installed:
        requires = lines

    real = importlib.metadata.distribution
    monkeypatch.setattr(
        looked, "distribution", lambda name: Installed if name == "mipaudit" else real(name)
    )


@pytest.fixture
def run(capsys):
    """Run the program within this process; return the exit code and what it says."""

    def of(*words):
        status = app.run(["doctor", *words])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return status, said.out

    return of


def codes(report):
    return {one["code"] for one in report["findings"]}


def test_a_whole_installation_works(run):
    status, text = run("-f", "json")
    report = json.loads(text)

    assert status == 0
    assert report["works"] is True
    assert report["findings"] == []
    core = {one["name"]: one for one in report["libraries"] if one["of"] is None}
    assert {name for name, one in core.items() if one["state"] == "works"} == set(CORE)
    assert all(one["agrees"] for one in report["known_audit"])
    assert report["temporary_bytes"] > 0
    assert report["processors"] >= 1


def test_every_optional_part_is_known():
    extras = PROJECT["optional-dependencies"]
    assert set(looked.PARTS) == {name for name, needed in extras.items() if needed} - {"dev"}
    assert {one.of for one in doctor().libraries} == {None, *looked.PARTS}


def test_a_screenful_says_it(run):
    status, text = run()

    assert status == 0
    assert text.startswith("Works: every library that is needed loads, and the known audit")
    assert text.count("\n") <= 30
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("form", ["table", "json", "html"])
def test_no_form_tells_of_the_user_or_the_machine(run, form):
    status, text = run("-f", form, "--full")

    assert status == 0
    private = {str(Path.home()), os.uname().nodename, str(ROOT), sys.prefix, tempfile.gettempdir()}
    private |= {getuser()} if len(getuser()) > 4 else set()  # `root` is a word
    assert [one for one in private if one in text] == []


@pytest.mark.parametrize("name", ["msgspec", "numpy", "packaging", "pyarrow"])
def test_a_library_that_cannot_be_loaded_is_a_finding(run, monkeypatch, name):
    monkeypatch.setitem(sys.modules, looked._LOADED.get(name, name), None)

    status, text = run("-f", "json")
    report = json.loads(text)

    assert (status, report["works"]) == (2, False)
    assert "library_broken" in codes(report) or name == "packaging"
    (first,) = [one["text"] for one in report["findings"] if one["text"].startswith(f"{name} ")]
    assert "cannot be loaded" in first
    assert "pip install" in first


class Absent(importlib.metadata.PackageNotFoundError):
    pass


def test_a_library_that_is_missing_names_the_line_that_installs_it(run, monkeypatch):
    real = looked.distribution

    def none_of_it(name):
        if name == "jinja2":
            raise Absent
        return real(name)

    monkeypatch.setattr(looked, "distribution", none_of_it)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    status, text = run("-f", "json")

    assert status == 2
    (found,) = json.loads(text)["findings"]
    assert found["code"] == "library_missing"
    assert found["text"].endswith('Try: pip install --force-reinstall "jinja2>=3.1"')


@pytest.mark.parametrize(("name", "status"), [("pandas", 2), ("scikit-learn", 0)])
def test_another_version_is_a_finding(run, monkeypatch, name, status):
    real = looked.distribution

    class Old:
        version, files, requires = "0.1", None, None

    monkeypatch.setattr(looked, "distribution", lambda one: Old if one == name else real(one))
    found, text = run("-f", "json")
    report = json.loads(text)

    assert found == status
    assert codes(report) == {"library_other_version"}
    assert f"{name} 0.1 is installed, and mipaudit needs {name}>=" in report["findings"][0]["text"]


def test_a_part_that_is_not_there_is_offered_and_no_finding(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    status, text = run()

    assert status == 0
    assert "accounting  missing" in text
    assert 'for the optional parts: pip install "mipaudit[accounting]"\n' in text


def test_figures_that_come_out_otherwise_are_not_to_be_used(run, monkeypatch):
    name = ("advantage", "any", "lower")
    moved = {**looked._KNOWN, name: looked._KNOWN[name] * (1 + 3e-9)}
    monkeypatch.setattr(looked, "_KNOWN", moved)
    status, text = run()

    assert status == 2
    assert text.startswith("Does NOT WORK: 1 finding.\n")
    assert "do not use figures of this installation" in " ".join(text.split())


def test_without_a_place_for_temporary_files_it_does_not_work(run, monkeypatch):
    def none():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    monkeypatch.setattr(tempfile, "_sanitize_params", lambda *_: none())
    status, text = run("-f", "json")

    assert status == 2
    assert codes(json.loads(text)) == {"no_temporary_files", "known_audit_failed"}
    assert json.loads(text)["temporary_bytes"] is None


def test_run_from_its_source_it_says_so(run, monkeypatch):
    def none(name):
        raise Absent(name)

    monkeypatch.setattr(looked, "distribution", none)
    status, text = run("-f", "json")

    assert status == 0
    assert codes(json.loads(text)) == {"not_installed"}


@pytest.mark.parametrize("words", [["doctor"], ["doctor", "-f", "json"]])
def test_without_the_parser_it_answers_all_the_same(environment, words):
    code = f"import sys; sys.modules['typer'] = None; sys.argv = ['mipaudit', *{words!r}]\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}from mipaudit.cli.app import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (2, "")
    assert "typer" in done.stdout
    assert done.stdout.startswith("{" if "json" in words else "Does NOT WORK: 1 finding.")


def test_any_other_command_sends_to_the_doctor(environment):
    code = "import sys; sys.modules['typer'] = None; sys.argv = ['mipaudit', 'check', 'x']\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}from mipaudit.cli.app import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.startswith("Error: A library cannot be loaded (ModuleNotFoundError).\n")
    assert "mipaudit doctor" in done.stderr
