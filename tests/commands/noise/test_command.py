"""The installed ``mipaudit noise``: output, files, refusals, and messages without data."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import jsonschema
import numpy as np
import pandas as pd
import pytest

from mipaudit.commands.schema.run import schema
from mipaudit.errors import OutputError
from mipaudit.output import destination as destination_module
from mipaudit.output.destination import Destination, write_together

# Nobody's numbers: a message that holds one of these has told of the data.
SECRETS = ("617283945.5", "617283946.5")
RELEASE = "b,a\n2.5,617283945.5\n"
OF_SPLITS = ("--from", "splits.csv")
APPLY = (*OF_SPLITS, "--apply", "release.csv")


@pytest.fixture
def files(tmp_path):
    """Splits with two columns, matching pairs, and releases that match, are far or do not fit."""
    values = np.array([617283945.5, 2.5]) + np.random.default_rng(1).normal(size=(40, 2))
    pd.DataFrame(values, columns=["a", "b"]).to_csv(tmp_path / "splits.csv", index=False)
    rows = [
        (i, side, i % 2, *(values[i] + step))
        for i in range(20)
        for side, step in (("in", 0.0), ("out", 0.1 + 0.01 * i))
    ]
    pairs = pd.DataFrame(rows, columns=["pair_id", "side", "record", "a", "b"])
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    same = ",".join(map(repr, values[6].tolist()))
    releases = {"release": RELEASE, "far": "b,a\n7.5,617283999.5\n", "same": f"a,b\n{same}\n"}
    for name, text in (releases | {"other": "a,c\n617283945.5,x617283\n"}).items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def noise(mipaudit, files):
    def run(*arguments, eta="0.1", **options):
        return mipaudit("noise", "--eta", eta, *arguments, **options)

    return run


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refused(done, *words):
    """Check a usage or input error: exit code 2, one message, nothing of the data."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("Error: ") == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert not [word for word in words if word not in done.stderr]
    assert not any(secret[:6] in done.stderr for secret in SECRETS)


def validated(text):
    document = json.loads(text)
    jsonschema.validate(document, schema())
    return document


@pytest.mark.parametrize(
    ("eta", "arguments"),
    [
        ("0.05", ("--train-fraction", "0.3", "--k", "inf")),
        ("0.1", ("--moment", "0.5")),
        ("0.4", ("--train-fraction", "0.2")),
        ("0.1", (*OF_SPLITS, "--pairs", "pairs.csv")),
        ("0.3", ("--from", "-", "--strict")),
    ],
)
def test_json_follows_the_schema(noise, files, eta, arguments):
    with (files / "splits.csv").open(encoding="utf-8") as stdin:
        done = noise(*arguments, "-f", "json", "-o", "out.json", eta=eta, stdin=stdin)
    assert (done.returncode, done.stdout) == (0, "")
    assert not [name for name in names(files) if name.endswith(".tmp")]
    report = validated((files / "out.json").read_bytes())
    settings = {s["name"]: (s["value"], s["source"]) for s in report["provenance"]["settings"]}
    assert settings["eta"] == (float(eta), "command line")
    assert settings["seed"] == (None, "default")
    if "--from" in arguments:
        assert report["measured"]["n_splits"] == 40


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--moment", "1", *OF_SPLITS), ("--moment", "--from")),
        (("--seed", "3"), ("--seed", "--from")),
        ((*OF_SPLITS, "--calibration", "swap"), ("--pairs",)),
        (("--apply", "release.csv", "-o", "n.csv"), ("--from",)),
        (APPLY, ("--output FILE",)),
        ((*APPLY, "-o", "-"), ("--output FILE",)),
        ((*APPLY, "-o", "n.txt"), (".csv, .parquet",)),
        ((*APPLY, "-o", "n.npy"), ("release.csv holds CSV", "--output", "noised.csv")),
        (("--from", "-", "--apply", "-", "-o", "n.csv"), ("standard input",)),
        (("--from", "missing.csv"), ("missing.csv",)),
        ((*OF_SPLITS, "--apply", "other.csv", "-o", "n.csv"), ("other.csv",)),
        ((*OF_SPLITS, "--apply", "far.csv", "-o", "n.csv"), ("--release-unlike-splits accept",)),
        ((*OF_SPLITS, "--release-unlike-splits", "accept"), ("--apply",)),
    ],
)
def test_contradictions_are_refused(noise, files, arguments, words):
    before = names(files)
    refused(noise(*arguments, input=""), *words)
    assert names(files) == before


def test_apply_writes_the_release_and_its_report(noise, files):
    done = noise(*APPLY, "-o", "noised.csv", "-f", "json")
    assert done.returncode == 0
    assert done.stderr == (
        "Written: the noised release to noised.csv, its report to noised.csv.report.json.\n"
    )
    header, cells = (files / "noised.csv").read_text(encoding="utf-8").splitlines()
    assert header == "b,a"
    # Its digits may begin a cell by chance: the noise is small beside it.
    assert "617283945.5" not in cells.split(",")
    sidecar = validated((files / "noised.csv.report.json").read_bytes())
    assert sidecar == validated(done.stdout)
    assert (sidecar["entropy"], sidecar["provenance"]["seed"]) == (
        "operating system",
        None,
    )
    release = sidecar["provenance"]["inputs"][-1]
    assert [release[key] for key in ("name", "bytes", "sha256")] == ["release.csv", None, None]
    assert (files / "release.csv").read_text(encoding="utf-8") == RELEASE


def test_apply_shows_the_table_and_can_be_quiet(noise):
    done = noise(*APPLY, "-o", "noised.csv", "-q", "--seed", "4")
    assert done.stderr == ""
    text = " ".join(done.stdout.split())
    assert "Noise was added to 2 numbers, with random numbers from the seed" in text
    assert "not a private release" in text
    assert not any(secret in done.stdout for secret in SECRETS)


def test_what_is_told_of_the_release_is_for_its_owner_alone(noise, files):
    (files / "mipaudit.toml").write_text('[noise]\nrelease_unlike_splits = "accept"\n')
    for name, said in (("same", "among_splits: The release is row 7"), ("far", "beyond_splits")):
        done = noise(*OF_SPLITS, "--apply", f"{name}.csv", "-o", "out.csv", "-q")
        assert done.returncode == 0
        assert f"release_{said}" in done.stderr
        assert "617283" not in done.stderr
        report = (files / "out.csv.report.json").read_text(encoding="utf-8")
        assert f"release_{said[:6]}" not in done.stdout + report


@pytest.fixture
def traps(files):
    """Lay names that lead to inputs, to folders, or two of them to one file."""
    (files / "link.csv").symlink_to("release.csv")
    (files / "hard.csv").hardlink_to(files / "splits.csv")
    # The report of mine.csv would take the place of the pairs.
    (files / "mine.csv.report.json").symlink_to("pairs.csv")
    (files / "x.json.report.json").write_text(RELEASE, encoding="utf-8")
    (files / "folder.csv").mkdir()
    (files / "blocked.csv.report.json").mkdir()
    (files / "both.csv").symlink_to("both.csv.report.json")
    return files


@pytest.mark.parametrize("release", ["release.csv", "x.json.report.json"])
def test_an_input_is_never_overwritten_and_a_bad_place_is_found_first(noise, traps, release):
    inputs = ["release.csv", "./splits.csv", "pairs.csv", "link.csv", "hard.csv", "mine.csv"]
    if release != "release.csv":  # named like a report, it is an input all the same
        inputs = ["x.json", release]
    places = dict.fromkeys(inputs, "one of the inputs")
    places |= dict.fromkeys(["folder.csv", "missing/n.csv", "blocked.csv", "both.csv"], "-o")
    before = {path: path.is_file() and path.read_bytes() for path in traps.iterdir()}
    for output, words in places.items():
        asked = (*OF_SPLITS, "--pairs", "pairs.csv", "--apply", release, "-o", output)
        refused(noise(*asked), words)
    assert {path: path.is_file() and path.read_bytes() for path in traps.iterdir()} == before


def test_files_are_written_together_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "old").write_bytes(b"old")
    old, new = (Destination.open(str(tmp_path / name)) for name in ("old", "new"))
    staged = destination_module.staged

    def full(path, **settings):
        if path.name == "new":
            raise OSError(28, "secret")
        return staged(path, **settings)

    monkeypatch.setattr(destination_module, "staged", full)
    with pytest.raises(OutputError) as caught:
        write_together([(old, b"1"), (new, b"2")])
    assert "secret" not in str(caught.value)
    assert names(tmp_path) == ["old"]
    assert (tmp_path / "old").read_bytes() == b"old"
    monkeypatch.undo()
    write_together([(old, b"1"), (new, b"2"), (Destination.open(os.devnull), b"3")])
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == [b"2", b"1"]


@pytest.mark.skipif(os.name != "posix", reason="closes standard output as a shell does")
def test_closed_standard_output_writes_no_file(environment, files):
    words = " ".join(("--eta 0.1", *APPLY))
    line = ["/bin/sh", "-c", f"{sys.executable} -m mipaudit noise {words} -o n.csv >&-"]
    done = subprocess.run(line, env=environment, cwd=files, capture_output=True, check=False)
    assert done.returncode == 2
    assert not list(files.glob("n.csv*"))
