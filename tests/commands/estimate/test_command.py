"""``mipaudit estimate`` from the command line to its report, on real files."""

from __future__ import annotations

import json
import subprocess
import sys

import jsonschema
import pytest

import mipaudit as package
from mipaudit.report.codec import from_json, to_json

LEAKY = "yeom_diabetes_tree_d4_split0.csv"


@pytest.mark.parametrize(
    ("flags", "code", "status"),
    [
        ([], 0, "no_policy"),
        (["--max-advantage", "0.01"], 1, "not_met"),
        (["--max-advantage", "0.9"], 0, "met"),
        (["--max-advantage", "0.3"], 3, "inconclusive"),
        (["--max-advantage", "0.01", "--exit-zero"], 0, "not_met"),
        (["--max-advantage", "0.3", "--exit-zero"], 0, "inconclusive"),
    ],
)
def test_policy_and_exit_code(mipaudit, data_dir, flags, code, status):
    done = mipaudit("estimate", str(data_dir / LEAKY), "-f", "json", *flags)

    report = json.loads(done.stdout)
    assert (done.returncode, report["verdict"]["status"]) == (code, status)
    jsonschema.Draft202012Validator(package.schema()).validate(report)
    assert to_json(from_json(done.stdout.encode())) == done.stdout.encode()


def test_the_table_is_for_people(mipaudit, data_dir):
    done = mipaudit("estimate", str(data_dir / LEAKY), "--max-advantage", "0.01")

    assert done.returncode == 1
    assert done.stdout.startswith("NOT MET: advantage is at least ")
    assert "Advantage, by what attackers may do with a score" in done.stdout
    assert done.stderr == ""


def test_command_line_and_function_agree(mipaudit, data_dir):
    path = str(data_dir / LEAKY)

    done = mipaudit("estimate", path, "-f", "json", "--prior", "0.2", "--seed", "4")
    report = package.estimate(path, prior=0.2, seed=4)

    assert done.stdout.split('"provenance"')[0] == to_json(report).decode().split('"provenance"')[0]


@pytest.mark.parametrize("seed", ["-1", "1.5", "Fresh", "", "1e3", "٣"])
def test_what_is_no_seed(mipaudit, data_dir, seed):
    done = mipaudit("estimate", str(data_dir / LEAKY), "--seed", seed, "-o", "report.txt")

    assert (done.returncode, done.stdout) == (2, "")
    assert "the word 'fresh'" in done.stderr


def test_the_seed_and_its_origin_are_shown(mipaudit, data_dir):
    path = str(data_dir / LEAKY)
    shown = [
        mipaudit("estimate", path, *seed, env={"MIPAUDIT_SEED": variable} if variable else {})
        for seed, variable in (((), ""), (("--seed", "4"), ""), ((), "fresh"))
    ]
    (used,) = package.estimate(path).provenance.seeds
    assert f"{used.seed} for residual; from the scores\n" in shown[0].stdout
    assert " for residual; from the scores and 4, as stated\n" in shown[1].stdout
    assert ", drawn fresh\n" in shown[2].stdout


def test_a_hostile_column_name_steers_nothing(mipaudit, tmp_path, data_dir):
    lines = (data_dir / LEAKY).read_text(encoding="utf-8").split("\n")
    header = lines[0].replace("residual", "\x1b]0;owned\x07[red]loss\u202e")
    (tmp_path / "x.csv").write_text("\n".join([header, *lines[1:]]), encoding="utf-8")

    for arguments in (
        ["estimate", "x.csv"],
        ["check", "x.csv"],
        ["estimate", "x.csv", "-f", "json"],
    ):
        done = mipaudit(*arguments)
        assert done.returncode == 0
        assert "owned" in done.stdout
        assert not set("\x1b\x07\u202e") & set(done.stdout + done.stderr)


def test_standard_input(environment, data_dir):
    with (data_dir / LEAKY).open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "mipaudit", "estimate", "-", "-f", "json"],
            env=environment,
            stdin=file,
            capture_output=True,
            check=True,
        )

    assert json.loads(done.stdout)["design"]["n_members"] == 221
