"""The installed ``mipaudit noise``: output, files, refusals, and messages without data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

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
PROVED = ("paper", "moment", "swap", "dp")
LAWS = ("laplace", "norm-exponential", "gaussian")


@pytest.fixture
def files(tmp_path):
    """Splits with two columns, matching pairs, and a release in another order."""
    rng = np.random.default_rng(1)
    values = np.array([617283945.5, 2.5]) + rng.normal(size=(40, 2))
    pd.DataFrame(values, columns=["a", "b"]).to_csv(tmp_path / "splits.csv", index=False)
    rows = [
        (i, side, i % 2, *(values[i] + step))
        for i in range(20)
        for side, step in (("in", 0.0), ("out", 0.1 + 0.01 * i))
    ]
    pairs = pd.DataFrame(rows, columns=["pair_id", "side", "record", "a", "b"])
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    (tmp_path / "release.csv").write_text(RELEASE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def noise(mipaudit):
    return lambda *arguments, **options: mipaudit("noise", *arguments, **options)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refused(done, *words):
    """Check a usage or input error: exit code 2, one message, nothing of the data."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("Error: ") == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    for word in words:
        assert word in done.stderr
    assert not any(secret[:6] in done.stderr for secret in SECRETS)


def validated(text):
    document = json.loads(text)
    jsonschema.validate(document, schema())
    return document


# What is printed


def test_mathematics_as_a_table(noise):
    done = noise("--eta", "0.1", "--k", "2")

    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    for wanted in ("3794.56 x sigma_2", "4.48143 x sigma_1", "4.93261", "3.94716", "2.46631"):
        assert wanted in text
    assert "accuracy of at most 0.6: 0.5 by guessing, and eta = 0.1 above" in text
    assert "advantage of 0.2" in text
    assert "epsilon 0.40546" in text  # rounded down: no more is promised
    assert "does not compose" in text


def test_mathematics_as_json_has_the_promised_shape(noise):
    done = noise("--eta", "0.1", "--moment", "0.5", "-f", "json")

    report = validated(done.stdout)
    assert next(iter(report)) == "schema"
    assert (report["eta"], report["k"], report["advantage"]) == (0.1, 2.0, 0.2)
    assert report["equivalent_epsilon"] == pytest.approx(0.4054651081)
    for row in report["calibrations"]:
        assert {"calibration", "mechanism", "multiplier", "of", "scale"} <= set(row)
        assert row["calibration"] in PROVED
        assert row["mechanism"] in LAWS
        known = row["calibration"] in {"paper", "moment"}
        assert row["scale"] == (pytest.approx(0.5 * row["multiplier"]) if known else None)
    assert {row["calibration"] for row in report["calibrations"]} == set(PROVED)
    assert done.stdout.isascii()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--eta", "0.05", "--train-fraction", "0.3", "--k", "inf"),
        ("--eta", "0.4", "--train-fraction", "0.2"),
        ("--eta", "0.1", "--from", "splits.csv", "--pairs", "pairs.csv"),
        ("--eta", "0.3", "--from", "splits.csv", "--strict"),
    ],
)
def test_json_follows_the_schema(noise, files, arguments):
    done = noise(*arguments, "-f", "json")

    assert done.returncode == 0
    report = validated(done.stdout)
    settings = {s["name"]: (s["value"], s["source"]) for s in report["provenance"]["settings"]}
    assert settings["eta"] == (float(arguments[1]), "command line")
    assert settings["seed"] == (None, "default")


def test_a_report_goes_to_a_file_alone(noise, files):
    done = noise("--eta", "0.1", "--from", "splits.csv", "-f", "json", "-o", "out.json")

    assert (done.returncode, done.stdout) == (0, "")
    assert validated((files / "out.json").read_bytes())["measured"]["n_splits"] == 40
    assert not [name for name in names(files) if name.endswith(".tmp")]


def test_splits_come_through_a_pipe(noise, files):
    with (files / "splits.csv").open(encoding="utf-8") as stdin:
        done = noise("--eta", "0.1", "--from", "-", "-f", "json", stdin=stdin)

    assert json.loads(done.stdout)["measured"]["n_splits"] == 40


def test_help_has_worked_examples(noise):
    done = noise("--help")

    assert done.returncode == 0
    assert done.stdout.split("Examples:")[1].count("  mipaudit noise --eta ") >= 2


# Numbers out of range


# Settings that contradict each other


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--moment", "1", "--from", "splits.csv"), ("--moment", "--from")),
        (("--pairs", "pairs.csv"), ("--pairs", "--from")),
        (("--seed", "3"), ("--seed", "--from")),
        (("--protect", "average-record"), ("--protect", "--from")),
        (("--from", "splits.csv", "--confidence", "1"), ("above 0 and below 1",)),
        (("--from", "splits.csv", "--calibration", "swap"), ("--pairs",)),
        (("--apply", "release.csv", "-o", "n.csv"), ("--from",)),
        (("--from", "splits.csv", "--apply", "release.csv"), ("--output FILE",)),
        (("--from", "splits.csv", "--apply", "release.csv", "-o", "-"), ("--output FILE",)),
        (("--from", "splits.csv", "--apply", "release.csv", "-o", "n.txt"), (".csv, .parquet",)),
        (
            ("--from", "splits.csv", "--apply", "release.csv", "-o", "n.npy"),
            ("release.csv holds CSV", "--output", "noised.csv"),
        ),
        (("--from", "-", "--apply", "-", "-o", "n.csv"), ("Standard input",)),
        (("--from", "missing.csv"), ("missing.csv",)),
    ],
)
def test_contradictions_are_refused(noise, files, arguments, words):
    before = names(files)

    refused(noise("--eta", "0.1", *arguments, input=""), *words)
    assert names(files) == before


# Splits that cannot be used


def table(*columns, rows=30):
    """Return CSV text: column i is made by a function of the row number."""
    header = ",".join(f"x{i}" for i in range(len(columns)))
    lines = [",".join(str(make(row)) for make in columns) for row in range(rows)]
    return "\n".join([header, *lines]) + "\n"


def constant(row):
    return SECRETS[0]


def test_constant_and_many_columns_are_said(noise, tmp_path):
    columns = [lambda row, i=i: (row * (i + 3)) % (i + 29) for i in range(40)]
    (tmp_path / "wide.csv").write_text(table(constant, *columns, rows=30), encoding="utf-8")

    done = noise("--eta", "0.1", "--from", "wide.csv")

    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert "1 of 41 coordinates are the same in all 30 splits" in text
    assert "There are 30 splits of 41 coordinates" in text
    assert all(f" x{at} " in text for at in range(1, 41))


def test_a_release_that_does_not_match_is_refused(noise, files):
    releases = {
        "names.csv": "a,c\n617283945.5,1\n",
        "short.csv": "a\n617283945.5\n",
        "rows.csv": "a,b\n617283945.5,1\n617283946.5,2\n",
        "text.csv": "a,b\n617283945.5,x617283\n",
        "missing.csv": "a,b\n617283945.5,nan\n",
    }
    for name, text in releases.items():
        (files / name).write_text(text, encoding="utf-8")
    before = names(files)

    for name in releases:
        apply = ("--from", "splits.csv", "--apply", name, "-o", "n.csv")
        refused(noise("--eta", "0.1", *apply), name)
    assert names(files) == before


def test_errors_are_json_where_the_report_would_be(noise):
    done = noise("--eta", "0.7", "-f", "json")

    assert done.returncode == 2
    error = json.loads(done.stderr)["error"]
    assert error["code"] == "eta"
    assert "below 0.5" in error["message"]


# --apply


def applied(noise, *arguments, output="noised.csv", **options):
    common = ("--eta", "0.1", "--from", "splits.csv", "--apply", "release.csv", "-o", output)
    return noise(*common, *arguments, **options)


def test_apply_writes_the_release_and_its_report(noise, files):
    done = applied(noise, "-f", "json")

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
    assert sidecar["applied"]["entropy"] == "operating system"
    assert sidecar["provenance"]["seed"] is None
    release = sidecar["provenance"]["inputs"][-1]
    assert release["name"] == "release.csv"
    assert (release["bytes"], release["sha256"]) == (None, None)
    assert (files / "release.csv").read_text(encoding="utf-8") == RELEASE


def test_apply_shows_the_table_and_can_be_quiet(noise, files):
    done = applied(noise, "-q", "--seed", "4")

    assert done.stderr == ""
    text = " ".join(done.stdout.split())
    assert "Noise was added to 2 numbers, with random numbers from the seed" in text
    assert "not a private release" in text
    assert not any(secret in done.stdout for secret in SECRETS)


@pytest.mark.parametrize(
    "output",
    ["release.csv", "./splits.csv", "pairs.csv", "link.csv", "hard.csv", "mine.csv"],
)
def test_an_input_is_never_overwritten(noise, files, output):
    (files / "link.csv").symlink_to("release.csv")
    (files / "hard.csv").hardlink_to(files / "splits.csv")
    # The report of mine.csv would take the place of the pairs.
    (files / "mine.csv.report.json").symlink_to("pairs.csv")
    before = {name: (files / name).read_bytes() for name in names(files)}

    refused(applied(noise, "--pairs", "pairs.csv", output=output), "one of the inputs")
    assert {name: (files / name).read_bytes() for name in names(files)} == before


def test_a_release_that_is_named_like_a_report_is_an_input_all_the_same(noise, files):
    (files / "release.csv").rename(files / "x.json.report.json")
    common = ("--eta", "0.1", "--from", "splits.csv", "--apply", "x.json.report.json")

    refused(noise(*common, "-o", "x.json"), "one of the inputs")
    refused(noise(*common, "-o", "x.json.report.json"), "one of the inputs")


@pytest.mark.parametrize("output", ["folder.csv", "missing/n.csv", "blocked.csv", "both.csv"])
def test_an_unwritable_place_is_found_before_anything_is_written(noise, files, output):
    (files / "folder.csv").mkdir()
    (files / "blocked.csv.report.json").mkdir()
    # Both names lead to one file.
    (files / "both.csv").symlink_to("both.csv.report.json")
    before = names(files)

    refused(applied(noise, output=output), "-o")
    assert names(files) == before


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
    assert [(tmp_path / name).read_bytes() for name in ("old", "new")] == [b"1", b"2"]
    assert names(tmp_path) == ["new", "old"]


@pytest.mark.skipif(os.name != "posix", reason="closes standard output as a shell does")
def test_closed_standard_output_writes_no_file(environment, files):
    command = f"{sys.executable} -m mipaudit noise --eta 0.1 --from splits.csv"
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} --apply release.csv -o n.csv >&-"],
        env=environment,
        cwd=files,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert not list(Path(files).glob("n.csv*"))
