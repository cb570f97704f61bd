"""``mipaudit doctor``: in whole and in broken installations, and what it concludes."""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import replace
from getpass import getuser
from pathlib import Path

import pytest

from mipaudit.cli import app
from mipaudit.commands.doctor import run as looked
from mipaudit.commands.doctor.report import answer, to_install
from mipaudit.commands.doctor.run import doctor
from mipaudit.model.message import Finding
from mipaudit.report.codec import from_json
from mipaudit.report.forms import brief_report
from mipaudit.report.messages.told import told
from tests.places import REPORTS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = {"jinja2", "matplotlib", "msgspec", "numpy", "packaging", "pandas", "pyarrow", "rich"}
CORE |= {"scipy", "typer"}


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
    assert {name for name, one in core.items() if one["state"] == "works"} == CORE
    assert all(one["agrees"] for one in report["known_audit"])
    assert report["temporary_bytes"] > 0
    assert report["processors"] >= 1
    status, text = run()
    assert status == 0
    assert text.startswith("Works: every library that is needed loads, and an audit with a known")
    assert text.count("\n") <= 30
    assert max(map(len, text.splitlines())) <= 100


def test_every_optional_part_is_known():
    extras = PROJECT["optional-dependencies"]
    assert set(looked.PARTS) == {name for name, needed in extras.items() if needed} - {"dev"}
    assert {one.of for one in doctor().libraries} == {None, *looked.PARTS}


def test_no_form_tells_of_the_user_or_the_machine(run):
    private = {str(Path.home()), os.uname().nodename, str(ROOT), sys.prefix, tempfile.gettempdir()}
    private |= {getuser()} if len(getuser()) > 4 else set()  # `root` is a word
    for form in ("table", "json", "html"):
        status, text = run("-f", form, "--full")
        assert (status, [one for one in private if one in text]) == (0, [])


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


class Old:
    version, files, requires = "0.1", None, None


OTHERWISE = "{} 0.1 is installed, and mipaudit needs {}>="
# What is there of a library (of all, from the source), the exit code, and what is said.
DISTRIBUTIONS = [
    ("jinja2", Absent, 2, "library_missing", 'Try: pip install --force-reinstall "jinja2>=3.1"'),
    ("pandas", Old, 2, "library_other_version", OTHERWISE.format("pandas", "pandas")),
    ("scikit-learn", Old, 0, "library_other_version", OTHERWISE.format(*["scikit-learn"] * 2)),
    ("", Absent, 0, "not_installed", ""),
]


@pytest.mark.parametrize(("name", "found", "status", "code", "said"), DISTRIBUTIONS)
def test_a_library_that_is_missing_or_another_is_a_finding(
    run, monkeypatch, name, found, status, code, said
):
    real = looked.distribution

    def distribution(one):
        if one != (name or one):
            return real(one)
        if found is Absent:
            raise Absent
        return found

    monkeypatch.setattr(looked, "distribution", distribution)
    if found is Absent and name:
        monkeypatch.setitem(sys.modules, name, None)
    ended, text = run("-f", "json")

    assert ended == status
    (finding,) = json.loads(text)["findings"]
    assert finding["code"] == code
    assert said in finding["text"]


def test_a_part_that_is_not_there_is_offered_and_no_finding(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    status, text = run()

    assert status == 0
    assert "accounting  missing" in text
    assert 'for the optional parts: pip install "mipaudit[accounting]"\n' in text


def test_figures_that_come_out_otherwise_are_not_to_be_used(run, monkeypatch):
    name = "advantage, any, lower"
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


# What is typed where the parser cannot be loaded, and how the answer begins.
WITHOUT_PARSER = {
    "doctor": ("Does NOT WORK: 1 finding.", ""),
    "doctor -f json": ("{", ""),
    "check x": ("", "Error: A library cannot be loaded (ModuleNotFoundError).\n"),
}


@pytest.mark.parametrize("words", WITHOUT_PARSER)
def test_without_the_parser_the_doctor_answers_and_others_send_there(environment, words):
    code = f"import sys; sys.modules['typer'] = None; sys.argv = ['mipaudit', *{words.split()!r}]\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}from mipaudit.cli.app import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    answer, error = WITHOUT_PARSER[words]
    assert done.returncode == 2
    assert done.stdout.startswith(answer)
    assert done.stderr.startswith(error)
    assert ("typer" if answer else "mipaudit doctor") in done.stdout + done.stderr
    assert not (done.stderr if answer else done.stdout)


WORKS = from_json((REPORTS / "doctor.json").read_bytes())
FIRST = WORKS.libraries[0]
OPTIONAL = replace(FIRST, of="dask", state="missing", version=None)
WRONG = (Finding("known_audit_differs"), Finding("no_temporary_files"))


def test_only_what_hinders_is_counted_and_only_an_audit_may_be_known():
    fails = replace(
        WORKS, works=False, findings=(*WRONG, Finding.of("library_broken", case="optional"))
    )
    assert told(answer(fails)).startswith("Does NOT WORK: 2 findings.")
    known = told(answer(replace(WORKS, libraries=())))
    assert known.startswith("Works: an audit with a known answer is right")


def test_what_installs_the_parts_that_do_not_work_is_never_cut():
    assert not to_install(replace(WORKS, libraries=(FIRST,)))
    libraries = (FIRST, OPTIONAL, replace(OPTIONAL, of="sklearn"))
    text = brief_report(replace(WORKS, libraries=libraries * 20), width=80)
    assert 'Next: for the optional parts: pip install "mipaudit[dask,sklearn]"' in text
