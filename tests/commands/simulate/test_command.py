from __future__ import annotations

import gzip
import json

import pyarrow.parquet as pq


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_without_a_file_the_scores_are_on_stdout_and_the_truth_on_stderr(mipaudit):
    done = mipaudit("simulate", "laplace-1", "--n-members", "3", "--n-holdout", "2")

    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "record_id,member,score"
    assert len(lines) == 6
    assert "advantage, any attacker" in done.stderr
    assert "0.393469" in done.stderr


def test_with_a_file_the_truth_is_on_stdout_and_beside_it(mipaudit, tmp_path):
    done = mipaudit("simulate", "laplace-1", "-o", "s.parquet", "-f", "json", "--prior", "0.2")

    assert done.returncode == 0
    assert names(tmp_path) == ["s.parquet", "s.parquet.truth.json"]
    shown = json.loads(done.stdout)
    assert shown == json.loads((tmp_path / "s.parquet.truth.json").read_text(encoding="utf-8"))
    assert (shown["schema"], shown["scenario"], shown["prior"]) == (
        "mipaudit.truth/3",
        "laplace-1",
        0.2,
    )
    settings = {s["name"]: (s["value"], s["source"]) for s in shown["provenance"]["settings"]}
    assert settings["prior"] == (0.2, "command line")
    assert settings["order"] == ("shuffled", "default")
    assert pq.read_table(tmp_path / "s.parquet").num_rows == 2000


def test_every_form_holds_the_same_rows(mipaudit, tmp_path):
    for file in ("s.csv", "s.csv.gz"):
        mipaudit("simulate", "subgroup-leak", "-o", file, "--seed", "5")
    plain = (tmp_path / "s.csv").read_bytes()
    assert gzip.decompress((tmp_path / "s.csv.gz").read_bytes()) == plain
    assert mipaudit("simulate", "subgroup-leak", "--seed", "5").stdout.encode() == plain
    other = mipaudit("simulate", "subgroup-leak", "--seed", "6").stdout.encode()
    assert other != plain


def test_noise_takes_the_splits(mipaudit):
    mipaudit("simulate", "random-half-mean-100", "-o", "splits.csv", "--n-splits", "200")
    done = mipaudit("noise", "--eta", "0.1", "--from", "splits.csv", "-f", "json")

    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)["measured"]
    assert (measured["n_splits"], measured["n_coordinates"]) == (200, 1)


def test_truth_only_draws_nothing(mipaudit, tmp_path):
    done = mipaudit("simulate", "laplace-1", "--truth-only", "--n-members", "900000000")

    assert done.returncode == 0
    assert "900,000,000 members" in done.stdout
    assert (done.stderr, names(tmp_path)) == ("", [])


def test_scores_whose_truth_cannot_be_written_are_not_there(mipaudit, tmp_path):
    (tmp_path / "s.csv.truth.json").mkdir()
    done = mipaudit("simulate", "laplace-1", "-o", "s.csv")
    assert done.returncode == 2
    assert names(tmp_path) == ["s.csv.truth.json"]
