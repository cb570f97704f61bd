"""``mipaudit summarize`` as a script uses it."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def sites(tmp_path):
    """Two sites' files, and all rows in one."""
    generator = np.random.default_rng(0)
    member = generator.random(8_000) < 0.5
    whole = pd.DataFrame({"member": member, "score": generator.normal(size=8_000) + member})
    whole.to_parquet(tmp_path / "all.parquet", index=False)
    whole.head(5_000).to_csv(tmp_path / "a.csv", index=False)
    whole.tail(3_000).to_parquet(tmp_path / "b.parquet", index=False)
    return {"a": "a.csv", "b": "b.parquet"}


def summarize_all(mipaudit, sites):
    for name, path in sites.items():
        done = mipaudit("summarize", path, "--site", name, "--cuts-only", "-o", f"{name}.cuts")
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
    cuts = [word for name in sites for word in ("--cuts", f"{name}.cuts")]
    for name, path in sites.items():
        done = mipaudit("summarize", path, "--site", name, *cuts, "-o", f"{name}.summary")
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("Counts of 1 score")
    return cuts


def test_two_sites_and_a_policy(mipaudit, sites, tmp_path):
    summarize_all(mipaudit, sites)
    met = mipaudit("estimate", "a.summary", "b.summary", "--max-advantage", "0.6")
    assert met.returncode == 0, met.stderr
    assert "8,000" not in met.stderr
    assert "not seen here: 2 summary files (a, b) hold counts" in met.stdout.replace("\n", " ")
    glob = mipaudit("estimate", str(tmp_path / "*.summary"), "--max-advantage", "0.2", "-f", "json")
    assert glob.returncode == 1
    assert json.loads(glob.stdout)["verdict"]["status"] == "not_met"


def test_a_report_of_summaries_can_be_verified(mipaudit, sites):
    summarize_all(mipaudit, sites)
    made = mipaudit("estimate", "a.summary", "b.summary", "-f", "json", "-o", "report.json")
    assert made.returncode == 0, made.stderr
    given = ("--input", "a.summary", "--input", "b.summary")
    assert mipaudit("verify", "report.json", *given).returncode == 0
    assert mipaudit("verify", "report.json", "--input", "a.summary").returncode == 1


def test_the_same_bytes_again(mipaudit, sites, tmp_path):
    del sites
    env = {"SOURCE_DATE_EPOCH": "1700000000"}
    for name in ("one", "two"):
        given = ("summarize", "all.parquet", "--seed", "3", "-o", name)
        assert mipaudit(*given, env=env).returncode == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    piped = mipaudit("summarize", "all.parquet", "--seed", "3", "-o", "-", env=env, text=False)
    assert piped.stdout == (tmp_path / "one").read_bytes()


def test_anybody_can_look_into_a_summary(mipaudit, sites, tmp_path):
    del sites
    assert mipaudit("summarize", "all.parquet", "-o", "x.summary").returncode == 0
    with zipfile.ZipFile(tmp_path / "x.summary") as archive:
        told = json.loads(archive.read("summary.json"))
    assert told["schema"] == "mipaudit.summary/4"
    assert told["n_members"] + told["n_holdout"] == 8_000
    assert [one["name"] for one in told["scores"]] == ["score"]


OUT, SITE = ("-o", "x.summary"), ("--site", "a")
ERRORS = [
    (("all.parquet",), "Say where to write the summary"),
    (("all.parquet", "-o", "all.parquet"), "one of the inputs"),
    (("all.parquet", *OUT, *SITE, "--cuts", "all.parquet"), "not a complete summary file"),
    (("all.parquet", *OUT, *SITE, "--cuts", "no.cuts"), "no file"),
    (("all.parquet", "-o", "x.cuts", "--cuts-only"), "--site and a name that no other"),
    (("all.parquet", *OUT, "--site", "a/b"), "letters, digits, spaces"),
    (("-o", "x.sh", "--plan", "1"), "from 2 to 99"),
    (("-o", "x.sh", "--plan", "3", *SITE), "names the sites"),
    (("all.parquet", "-o", "all.parquet", "--plan", "3"), "one of the inputs"),
    (("all.parquet", *OUT, "--min-cell", "500"), "Too few rows"),
    (("nothing.csv", *OUT), "There is no file"),
]


@pytest.mark.parametrize(("arguments", "what"), ERRORS)
def test_errors_leave_nothing_behind(mipaudit, sites, tmp_path, arguments, what):
    del sites
    before = sorted(path.name for path in tmp_path.iterdir())
    done = mipaudit("summarize", *arguments)
    assert (done.returncode, done.stdout, what in done.stderr) == (2, "", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


ELSEWHERE = ["attack", "records", "check", "summarize", "epsilon --design one-run"]
ELSEWHERE = [f"{command} a.summary" for command in ELSEWHERE]
ELSEWHERE += ["shift a.summary a.csv", "compare old=a.summary new=a.summary", "estimate a.cuts"]
ELSEWHERE += ["estimate --members a.summary --holdout a.csv", "query losses --logits a.summary"]


def test_where_scores_are_wanted_it_is_said_who_reads_counts(mipaudit, sites):
    assert mipaudit("summarize", sites["a"], "-o", "a.summary").returncode == 0
    made = mipaudit("summarize", sites["a"], "--site", "a", "--cuts-only", "-o", "a.cuts")
    assert made.returncode == 0
    for command in map(str.split, ELSEWHERE):
        file = next(word for word in command if word.endswith(("a.summary", "a.cuts")))
        done = mipaudit(*command, "-o", "out.csv")
        assert done.returncode == 2, command
        said = " ".join(done.stderr.split())
        assert said.startswith(f"Error: {file.rpartition('=')[2]}: counts or cuts from"), command
        assert said.count("Give counts (*.summary) to") == 1, command
