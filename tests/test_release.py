"""What is released: the same bytes twice, whole by itself, and by files that ask for little."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
import yaml
from packaging.requirements import Requirement

from docs.manual_text import manual_pages
from mipaudit.cli.help import pages
from tests.places import ROOT

RELEASE = ROOT / ".ci" / "release"
FLOW = ROOT / ".github" / "workflows" / "release.yml"
PAGE = ROOT / "docs" / "how-to" / "install.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FIVE = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib")
WORKFLOW = yaml.safe_load(FLOW.read_text("utf-8"))
JOBS = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]


def build(source, folder, *targets):
    words = [word for one in targets for word in ("-t", one)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *words, "-d", str(folder)],
        cwd=source,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
        check=True,
        capture_output=True,
    )
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build the wheel and the source archive; return the folder, and the bytes by name."""
    folder = tmp_path_factory.mktemp("built")
    return folder, build(ROOT, folder, "wheel", "sdist")


def test_the_source_archive_builds_the_same_bytes(built, tmp_path):
    folder, first = built
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
        names = {name.partition("/")[2] for name in archive.getnames()}
    (source,) = tmp_path.iterdir()
    for path in source.rglob("*"):
        os.utime(path, (1, 1))

    assert build(source, tmp_path / "again", "wheel", "sdist") == first
    assert names >= {"LICENSE", "docs/README.md", "docs/manual_pages.py", "mipaudit/py.typed"}


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Install the wheel by pip without an index, with the libraries of this environment."""
    (wheel,) = built[0].glob("*.whl")
    place = tmp_path_factory.mktemp("installed") / "mipaudit"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    # Folders named in a .pth file are not searched for further .pth files, as of a checkout.
    where = sysconfig.get_path("purelib", vars={"base": place})
    libraries = Path(np.__file__).parents[1]
    (Path(where) / "libraries.pth").write_text(f"{libraries}\n", encoding="utf-8")
    install = ("install", "--quiet", "--no-index", "--no-deps", "--ignore-installed", wheel)
    pip = (sys.executable, "-m", "pip", "--isolated", "--python", place / "bin" / "python")
    subprocess.run([*pip, *install], check=True)
    return place


@pytest.fixture
def alone(environment):
    """Return an environment in which no checkout is found."""
    return {key: value for key, value in environment.items() if key != "PYTHONPATH"}


def test_the_way_to_a_signed_statement_works_and_ends_where_a_file_is_edited(installed, alone):
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not installed")
    page = PAGE.read_text(encoding="utf-8")
    shells = re.findall(r"^```sh\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    way, check = (one for one in shells if "gpg" in one)
    folder = installed.parent
    for name in ("leaky.parquet", "model.npz"):
        shutil.copy(ROOT / "sample_data" / name, folder)
    home = tempfile.mkdtemp(prefix="gpg")  # the name of a socket must be short

    def run(script):
        line = f"PATH=$PWD/mipaudit/bin:$PATH\n{script}"
        return subprocess.run(
            [str(shutil.which("bash")), "--noprofile", "--norc", "-c", line],
            cwd=folder,
            env={**alone, "GNUPGHOME": home},
            capture_output=True,
            text=True,
            check=False,
        )

    try:
        run("gpg --batch --quiet --passphrase '' --quick-generate-key signer ed25519 sign never")
        done = run(way)
        assert done.returncode == 0, done.stderr
        assert "not tested" in (folder / "annex.html").read_text(encoding="utf-8").lower()
        done = run(f"set -e\n{check}")
        assert done.returncode == 0, done.stderr
        assert "The statement AGREES with the files given: it says PASSED." in done.stdout
        with (folder / "model.npz").open("ab") as file:
            file.write(b".")
        done = run(check.splitlines()[-1])
        assert (done.returncode, "model.npz" in done.stdout) == (1, True)
    finally:
        run("gpgconf --kill all")
        shutil.rmtree(home)


def test_the_wheel_works_by_itself(installed, tmp_path, alone):
    def run(*words):
        done = subprocess.run(
            [installed / "bin" / "mipaudit", *words],
            cwd=tmp_path,
            env=alone,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    assert json.loads(run("doctor", "-q", "-f", "json"))["works"] is True
    run("simulate", "laplace-1", "--n-members", "500", "-q", "-o", "scores.csv")
    run("estimate", "scores.csv", "--max-advantage", "0.9", "-q", "-o", "report.html")
    assert (
        run("verify", "report.html", "--input", "scores.csv", "-q")
        == "The report AGREES with what was computed now.\n"
    )
    assert json.loads(run("schema"))["$defs"]
    assert run("help", "install").startswith("# Install it")
    assert (installed / "share" / "man" / "man1" / "mipaudit-doctor.1").exists()


def test_the_wheel_has_the_pages_and_the_manual(built):
    (wheel,) = built[0].glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    inside = {Path(name).name for name in names if name.startswith("mipaudit/docs/")}
    assert inside == {f"{name}.md" for name in ("README", *pages())}
    manual = {Path(name).stem: archive.read(name).decode() for name in names if "/man1/" in name}
    assert manual == dict(manual_pages())
    assert wheel.stat().st_size < 2_000_000
    sizes = {one.filename: one.compress_size for one in archive.infolist()}
    assert sum(size for name, size in sizes.items() if re.search("/docs/|/man1/", name)) < 400_000


def needed_by(names):
    """Return what libraries need, and what that needs, and so on."""
    seen, waiting = set(), list(names)
    while waiting:
        try:
            needed = map(Requirement, distribution(waiting.pop()).requires or ())
        except PackageNotFoundError:
            continue
        always = {one.name.lower() for one in needed if one.marker is None or one.marker.evaluate()}
        waiting += always - seen
        seen |= always
    return seen


def test_it_adds_at_most_25_mb_to_its_five_largest_libraries(built):
    (wheel,) = built[0].glob("*.whl")
    own = [re.match(r"[\w-]+", one).group() for one in PROJECT["dependencies"]]
    others = ({*own} | needed_by(own)) - ({*FIVE} | needed_by(FIVE))
    assert "pygments" in others
    files = [one for name in others for one in distribution(name).files or ()]
    size = sum(one.size or 0 for one in files)  # compiled code has none
    size += sum(one.file_size for one in zipfile.ZipFile(wheel).infolist())
    assert 5e6 < size <= 25e6


def test_the_bill_of_materials_lists_what_is_locked(tmp_path):
    line = "requirements requirements.lock --pyproject pyproject.toml"
    assert f"cyclonedx-py {line}" in (RELEASE / "build").read_text(encoding="utf-8")
    how = ("--output-reproducible", "--of", "JSON", "-o", tmp_path / "bill.json")
    made = [sys.executable, "-m", "cyclonedx_py", *line.split(), *how]
    subprocess.run(made, cwd=ROOT, check=True, capture_output=True)
    bill = json.loads((tmp_path / "bill.json").read_text(encoding="utf-8"))
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = set(re.findall(r"^([a-z0-9.-]+)==(\S+)", lock, flags=re.MULTILINE))
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "mipaudit")
    assert {(one["name"], one["version"]) for one in bill["components"]} == pins


def placeholders(text):
    return set(re.findall(r"FILL_IN_[A-Z_]+", text))


def test_what_the_owner_fills_in_stands_in_one_list():
    files = [*RELEASE.iterdir(), *FLOW.parent.iterdir(), ROOT / "action.yml"]
    found = set().union(*(placeholders(path.read_text(encoding="utf-8")) for path in files))
    page = PAGE.read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(FILL_IN_\w+)`", page, flags=re.MULTILINE))
    assert found == listed == placeholders(page)
    others = [ROOT / "Makefile", ROOT / "pyproject.toml", *(ROOT / "mipaudit").rglob("*.py")]
    assert not any(placeholders(path.read_text(encoding="utf-8")) for path in others)


def test_the_workflow_runs_what_is_pinned_and_may_do_little():
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert len(used) >= 8
    for one in used:
        name, _, version = one.partition("@")
        own = re.sub("^gh-action-", "", name.partition("/")[2]).replace("-", "_").upper()
        assert version == f"FILL_IN_{own}" or re.fullmatch("[0-9a-f]{40}", version)
    rights = {name: job["permissions"] for name, job in JOBS.items()}
    assert WORKFLOW["permissions"] == rights["build"] == rights["try"] == {"contents": "read"}
    assert rights["publish"] == {"attestations": "write", "id-token": "write"}
    assert JOBS["publish"]["environment"] == "FILL_IN_ENVIRONMENT"
    kept = [step for step in STEPS if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in kept)
    # What stands in ${{ }} in a script is pasted into it, and could be anything.
    assert not any("${{" in step.get("run", "") for step in STEPS)


def test_the_workflow_publishes_what_was_tried_on_every_python():
    assert (JOBS["try"]["needs"], JOBS["publish"]["needs"]) == ("build", "try")
    said = "Programming Language :: Python :: 3."
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if one.startswith(said)]
    assert JOBS["try"]["strategy"]["matrix"]["python"] == named
    assert WORKFLOW[True]["push"]["tags"] == ["v*"]  # YAML takes `on` for a truth
    kept = {step["with"]["path"] for step in STEPS if "artifact@" in step.get("uses", "")}
    assert kept == {"build/dist"}


def test_the_scripts_are_shell_and_there():
    scripts = [path for path in RELEASE.iterdir() if path.name != "Containerfile"]
    scripts.append(ROOT / ".ci" / "python3.14")
    assert len(scripts) == 4
    for path in scripts:
        assert os.access(path, os.X_OK)
        subprocess.run(["/bin/bash", "-n", path], check=True)
    called = " ".join(step.get("run", "") for step in STEPS)
    called += (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {path.name for path in scripts} <= set(re.findall(r"\.ci/(?:release/)?([\w.]+)", called))


def test_the_container_is_made_of_wheels_alone():
    text = (RELEASE / "Containerfile").read_text(encoding="utf-8")
    lines = re.sub(r"\s*\\\n\s*", " ", text).splitlines()
    told = [line.split(maxsplit=1) for line in lines if line and line[0] != "#"]
    first, last = (at for at, (word, _) in enumerate(told) if word == "FROM")
    assert all("@sha256:" in rest for word, rest in told if word == "FROM")
    runs = [rest for word, rest in told[:last] if word == "RUN"]
    assert all("--no-index" in one and "--require-hashes" in one for one in runs if "pip" in one)
    stage = dict(told[last:])
    assert first == 0
    assert "RUN" not in stage
    assert stage["USER"] == "10001:10001"
    assert stage["ENTRYPOINT"] == '["mipaudit"]'
    assert [rest.split()[0] for word, rest in told[:last] if word == "COPY"] == ["build/wheelhouse"]


WATCHED = """
import os, sys
written = []
def watch(event, given):
    if event == "open" and isinstance(given[0], str):
        mode, flags = given[1], given[2]
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            written.append(os.path.abspath(given[0]))
    elif event in {"os.mkdir", "os.rename", "os.remove"}:
        written.append(os.path.abspath(given[0]))
sys.addaudithook(watch)
from mipaudit.cli import app
sys.argv[0] = "mipaudit"
status = app.run(sys.argv[1:])
sys.stdout.flush()
print(*written, sep="\\n", file=sys.stderr)
sys.exit(status)
"""


def test_nothing_but_the_temporary_folder_is_written_to(environment, tmp_path):
    """As in the container, whose root may be read-only."""
    text = (RELEASE / "Containerfile").read_text(encoding="utf-8")
    said = dict(re.findall(r"(HOME|MPLCONFIGDIR|PYTHONDONTWRITEBYTECODE)=(\S+)", text))
    given = {name: str(tmp_path) if value == "/tmp" else value for name, value in said.items()}  # noqa: S108
    shutil.copy(ROOT / "sample_data" / "leaky.parquet", tmp_path / "scores.parquet")
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, "estimate", "scores.parquet", "-q", "-f", "html"],
        cwd=tmp_path,
        env={**environment, **given, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(given) == 3
    assert done.stdout.startswith("<!DOCTYPE html>")
    written = done.stderr.split()
    assert [one for one in written if not one.startswith((str(tmp_path), "/dev/null"))] == []
