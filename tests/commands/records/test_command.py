from __future__ import annotations

import csv
import json
import stat

import numpy as np
import pandas as pd
import pytest

import mipaudit as api


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["member,score,sex,patient"]
    for at in range(2_000):
        member = rng.random() < 0.5
        value = rng.normal() + 1.5 * member
        lines.append(f"{int(member)},{value:.6f},{'FM'[at % 2]},p{at}")
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("limit", "code"), [((), 0), (("--max-risk", "0.1"), 1), (("--max-risk", "0.9"), 3)]
)
def test_exit_codes(mipaudit, scores, limit, code):
    done = mipaudit("records", "scores.csv", *limit)
    assert done.returncode == code, done.stderr
    assert not done.stderr
    softened = mipaudit("records", "scores.csv", *limit, "--exit-zero", "-f", "json")
    assert softened.returncode == 0
    status = json.loads(softened.stdout)["verdict"]["status"]
    assert {"no_policy": 0, "not_met": 1, "inconclusive": 3, "met": 0}[status] == code


def test_what_was_written_where_stands_beside_the_answer(mipaudit, scores):
    brief = {"MIPAUDIT_FULL": "false"}
    answer = mipaudit("records", "scores.csv", "-q", env=brief).stdout.rstrip("\n")
    both = ("records", "scores.csv", "-o", "risks.csv", "--report", "r.html")
    done = mipaudit(*both)
    written = "Written: the records to risks.csv, the report to r.html."
    assert (done.stdout, done.stderr) == ("", f"{answer} {written}\n")
    quiet = mipaudit(*both, "-q")
    assert (quiet.stdout, quiet.stderr) == (f"{answer}\n", "")
    alone = mipaudit("records", "scores.csv", "--report", "r.html")
    assert (alone.stdout, alone.stderr) == ("", f"{answer} Written: the report to r.html.\n")


def test_records_are_written_and_the_report_is_shown(mipaudit, scores, tmp_path):
    done = mipaudit(
        "records", "scores.csv", "--key-col", "patient", "-o", "risks.csv", "--top", "3"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "Written: the records to risks.csv.\n"
    with (tmp_path / "risks.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["patient"] for row in rows] == [f"p{at}" for at in range(2_000)]
    assert [int(row["row"]) for row in rows] == list(range(2_000))
    assert "The most exposed records" in done.stdout
    assert sum(f" p{at} " in done.stdout for at in range(2_000)) == 3


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_keys_that_a_spreadsheet_would_run_are_made_inert_on_request(tmp_path, ending):
    """Also signs of full width, which some spreadsheets take for their narrow kin."""
    begins = ["=", "+", "-", "@", "\t", "＝", "＋", "－", "＠", "p"]
    keys = [f"{begins[at % 10]}cmd{at}" for at in range(400)]
    frame = {"member": np.arange(400) % 2, "score": np.arange(400) * 0.37 % 1, "id": keys}
    target = tmp_path / f"risks{ending}"
    for safe in (False, True):
        api.records(pd.DataFrame(frame), key_col="id", output=target, safe_csv=safe)
        found = pd.read_csv(target)["id"].tolist()
        assert found == [f"'{key}" if safe and key[0] != "p" else key for key in keys]


def test_safe_csv_without_a_csv_is_refused(mipaudit, scores, tmp_path):
    for more in ((), ("-o", "risks.parquet")):
        done = mipaudit("records", "scores.csv", "--safe-csv", *more)
        assert done.returncode == 2
        assert "none is written" in done.stderr
    assert not (tmp_path / "risks.parquet").exists()


def test_a_new_file_of_records_is_its_owners_alone(mipaudit, scores, tmp_path):
    ours, theirs, shared = (tmp_path / f"{name}.csv" for name in ("ours", "theirs", "shared"))
    shared.touch()
    shared.chmod(0o640)
    assert mipaudit("records", "scores.csv", "-o", ours.name).returncode == 0
    assert mipaudit("records", "scores.csv", "-o", shared.name).returncode == 0
    api.records(scores, output=theirs)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (ours, theirs, shared)]
    assert modes == [0o600, 0o600, 0o640]


def test_json_names_its_schema(mipaudit, scores):
    done = mipaudit("records", "scores.csv", "--by", "sex", "-f", "json", "--tau", "0.3")
    report = json.loads(done.stdout)
    assert report["schema"] == "mipaudit.records/3"
    assert {group["group"] for group in report["groups"]} == {"sex=F", "sex=M"}
    assert report["design"]["tau"] == 0.3
    given = {s["name"]: s["source"] for s in report["provenance"]["settings"]}
    assert given["tau"] == "command line"
    assert given["fdr"] == "default"


@pytest.mark.parametrize(
    "wrong",
    [
        ("-o", "risks.txt"),
        ("-o", "-"),
        ("-o", "scores.csv"),
        ("--tau", "2"),
        ("--by", "nothing"),
        ("--member-population", "5"),
        ("--small-groups", "drop"),
        ("--min-cell", "5000", "--by", "sex"),
    ],
    ids=" ".join,
)
def test_errors(mipaudit, scores, tmp_path, wrong):
    before = scores.read_bytes()
    done = mipaudit("records", "scores.csv", *wrong)
    assert done.returncode == 2
    assert not done.stdout
    assert done.stderr
    assert scores.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


def test_group_names_cannot_steer_the_terminal(mipaudit, tmp_path):
    rng = np.random.default_rng(1)
    lines = ["member,score,site"]
    lines += [
        f"{at % 2},{rng.normal():.5f},{'a' if at % 4 < 2 else chr(27) + '[2J'}" for at in range(400)
    ]
    (tmp_path / "s.csv").write_text("\n".join(lines) + "\n")
    done = mipaudit("records", "s.csv", "--by", "site")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert r"site=\x1b[2J" in done.stdout
    assert "\x1b" not in mipaudit("records", "s.csv", "--by", "site", "-f", "json").stdout
