from __future__ import annotations

import json
import stat

import numpy as np
import pandas as pd
import pytest

import mipaudit as api


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    member = rng.random(2_000) < 0.5
    frame = {"member": member.astype(int), "score": rng.normal(size=2_000) + 1.5 * member}
    frame |= {"sex": list("FM") * 1_000, "patient": [f"p{at}" for at in range(2_000)]}
    path = tmp_path / "scores.csv"
    pd.DataFrame(frame).to_csv(path, index=False)
    return path


@pytest.fixture
def records(mipaudit, scores):
    return lambda *words, **more: mipaudit("records", "scores.csv", *words, **more)


@pytest.mark.parametrize(
    ("limit", "code", "status"),
    [
        ((), 0, "no_policy"),
        (("--max-risk", "0.1"), 1, "not_met"),
        (("--max-risk", "0.9"), 3, "inconclusive"),
    ],
)
def test_exit_codes(records, limit, code, status):
    done = records(*limit)
    assert (done.returncode, done.stderr) == (code, "")
    softened = records(*limit, "--exit-zero", "-f", "json", "--by", "sex", "--tau", "0.3")
    report = json.loads(softened.stdout)
    assert (softened.returncode, report["verdict"]["status"]) == (0, status)
    assert {group["group"] for group in report["groups"]} == {"sex=F", "sex=M"}
    assert report["design"]["tau"] == 0.3
    given = {s["name"]: s["source"] for s in report["provenance"]["settings"]}
    assert (given["tau"], given["fdr"]) == ("command line", "default")


def test_what_was_written_where_stands_beside_the_answer(records):
    answer = " ".join(records().stdout.partition("\n\n")[0].split())
    line = records("-q", env={"MIPAUDIT_FULL": "false"}).stdout
    both = ("-o", "risks.csv", "--report", "r.html")
    written = "Written: the records to risks.csv, the report to r.html."
    for words, out, err in (
        (both, "", f"{answer} {written}\n"),
        ((*both, "-q"), line, ""),
        (both[2:], "", f"{answer} Written: the report to r.html.\n"),
    ):
        done = records(*words)
        assert (done.stdout, done.stderr) == (out, err)


def test_records_are_written_and_the_report_is_shown(records, tmp_path):
    done = records("--key-col", "patient", "-o", "risks.csv", "--top", "3")
    assert (done.returncode, done.stderr) == (0, "Written: the records to risks.csv.\n")
    rows = pd.read_csv(tmp_path / "risks.csv")
    assert rows.patient.tolist() == [f"p{at}" for at in range(2_000)]
    assert rows.row.tolist() == list(range(2_000))
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


def test_a_new_file_of_records_is_its_owners_alone(records, scores, tmp_path):
    ours, theirs, shared = (tmp_path / f"{name}.csv" for name in ("ours", "theirs", "shared"))
    shared.touch()
    shared.chmod(0o640)
    assert [records("-o", path.name).returncode for path in (ours, shared)] == [0, 0]
    api.records(scores, output=theirs)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (ours, theirs, shared)]
    assert modes == [0o600, 0o600, 0o640]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("-o", "risks.txt"), "-o"),
        (("-o", "-"), "-o"),
        (("-o", "scores.csv"), "-o"),
        (("--by", "nothing"), "nothing"),
        (("--member-population", "5"), "more than the number of training records"),
        (("--small-groups", "refuse"), "--by"),
        (("--min-cell", "5000", "--by", "sex"), "fewer"),
        (("--safe-csv",), "none is written"),
        (("--safe-csv", "-o", "risks.parquet"), "none is written"),
    ],
    ids=str,
)
def test_errors(records, scores, tmp_path, wrong, said):
    before = scores.read_bytes()
    done = records(*wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert scores.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


def test_group_names_cannot_steer_the_terminal(mipaudit, tmp_path):
    at = np.arange(400)
    score = np.random.default_rng(1).normal(size=400)
    frame = {"member": at % 2, "score": score, "site": np.where(at % 4 < 2, "a", "\x1b[2J")}
    pd.DataFrame(frame).to_csv(tmp_path / "s.csv", index=False)
    text, data = (
        mipaudit("records", "s.csv", "--by", "site", *form).stdout for form in ((), ("-f", "json"))
    )
    assert "\x1b" not in text + data
    assert r"site=\x1b[2J" in text
    assert '"schema": "mipaudit.records/3"' in data
