"""``mipaudit query``: from tables to a score file that can be audited."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from tests.places import ROOT

SAMPLES = ROOT / "sample_data"
TABLES = [
    word
    for role in ("members", "holdout", "synthetic")
    for word in (f"--{role}", str(SAMPLES / f"adult_{role}.csv"))
]
DATA = ROOT / "tests" / "data"
# The limits of the columns in all of Adult, as its codebook would have them.
RANGES = {
    "age": "17:90",
    "fnlwgt": "12285:1490400",
    "education_num": "1:16",
    "capital_gain": "0:99999",
    "capital_loss": "0:4356",
    "hours_per_week": "1:99",
}


def test_from_tables_to_an_audit(mipaudit, tmp_path):
    done = mipaudit("query", "nn", "lnr", "mc", "share:0.5", "kth", *TABLES, "-o", "scores.csv")

    assert (done.returncode, done.stderr) == (0, "Written: the scores to scores.csv.\n")
    assert done.stdout.startswith("Exact copies: 27 of 300 members (9%) and 0 of 300 holdout")
    assert done.stdout.rstrip().endswith(
        "mipaudit estimate scores.csv   (or mipaudit compare scores.csv)"
    )
    scores = pd.read_csv(tmp_path / "scores.csv")
    assert list(scores) == ["member", "nn", "lnr", "mc", "share_0.5", "kth_5", "exact_copy"]
    assert scores["exact_copy"].sum() == scores["exact_copy"][:300].sum() == 27
    assert (scores["nn"] == 0).sum() == 27
    audit = mipaudit("estimate", "scores.csv", "-f", "json")
    design = json.loads(audit.stdout)["design"]
    assert set(design["score_columns"]) == set(scores) - {"member", "exact_copy"}
    assert (design["n_members"], design["n_holdout"]) == (300, 300)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("nn", *TABLES), "output"),
        (("nn", *TABLES, "-o", "s.txt"), "output"),
        (("nn", *TABLES[:4], "-o", "s.csv"), "synthetic"),
        ((*TABLES, "-o", "s.csv"), "query"),
        (("density", *TABLES, "-o", "s.csv"), "needs_reference"),
        (("kth:900", *TABLES, "-o", "s.csv"), "query"),
        (("nn", *TABLES, "-o", "s.csv", "--range", "age=1:2", "--range", "age=1:3"), "range"),
        (("nn", "--members", "-", "--holdout", "-", *TABLES[4:], "-o", "s.csv"), "two_stdin"),
    ],
)
def test_errors_leave_nothing_behind(mipaudit, tmp_path, arguments, code):
    done = mipaudit("query", *arguments, "-f", "json")

    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["code"] == code
    assert list(tmp_path.iterdir()) == []


def test_no_input_is_overwritten(mipaudit, tmp_path):
    synthetic = tmp_path / "synthetic.csv"
    synthetic.write_bytes((SAMPLES / "adult_synthetic.csv").read_bytes())
    before = synthetic.read_bytes()

    done = mipaudit("query", "nn", *TABLES[:4], "--synthetic", "synthetic.csv", "-o", synthetic)

    assert done.returncode == 2
    assert synthetic.read_bytes() == before


def test_a_table_can_be_piped(mipaudit):
    direct = mipaudit("query", "nn", *TABLES, "-o", "a.csv", "-f", "csv", "-q")
    members = (SAMPLES / "adult_members.csv").read_text()

    piped = mipaudit(
        *("query", "nn", "--members", "-", *TABLES[2:], "-o", "b.csv", "-f", "csv", "-q"),
        input=members,
    )

    assert piped.stdout == direct.stdout


@pytest.mark.parametrize("release", ["bootnoise", "copula"])
def test_the_columns_that_others_computed(mipaudit, tmp_path, release):
    """Distances and equation 18, as computed without mipaudit."""
    tables = [
        *("--members", DATA / "release_adult_members.parquet"),
        *("--holdout", DATA / "release_adult_holdout.parquet"),
        *("--synthetic", DATA / f"release_adult_synthetic_{release}.parquet"),
        *(word for name, limits in RANGES.items() for word in ("--range", f"{name}={limits}")),
    ]
    assert mipaudit("query", "nn", "mc", "share", *tables, "-o", "l2.parquet").returncode == 0
    gower = mipaudit("query", "nn", *tables, "--metric", "gower", "-o", "gower.parquet")
    assert gower.returncode == 0

    ids = [pd.read_parquet(tables[at])["record_id"] for at in (1, 3)]
    stated = pd.read_parquet(DATA / f"synrelease_adult_queries_{release}.parquet")
    stated = stated.set_index("record_id").loc[pd.concat(ids)].reset_index()
    found = pd.read_parquet(tmp_path / "l2.parquet")
    assert (found["member"] == stated["member"]).all()
    found["share"] *= 10_000
    for ours, theirs in (("nn", "nn_l2"), ("mc", "mc_eq18"), ("share", "mc_count")):
        # Theirs are in single precision.
        assert (found[ours] - stated[theirs]).abs().max() < 1e-6
    other = pd.read_parquet(tmp_path / "gower.parquet")["nn"]
    assert (other - stated["nn_gower"]).abs().max() < 1e-6


def test_a_policy_for_estimate_does_not_set_the_distance(mipaudit, tmp_path):
    (tmp_path / "mipaudit.toml").write_text('metric = ["ppv"]\n[query]\nnumber_scale = "range"\n')

    done = mipaudit("query", "nn", *TABLES, "-o", "s.csv", "-f", "json", "-q")

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["metric"] == "euclidean"
    assert report["columns"][0]["scale"] == "full range"


@pytest.mark.parametrize(("key", "longer"), [("metric", "distance_metric"), ("scale", "number_sc")])
def test_a_policy_file_is_told_the_longer_name(mipaudit, tmp_path, key, longer):
    (tmp_path / "mipaudit.toml").write_text(f'[query]\n{key} = "gower"\n')

    done = mipaudit("query", "nn", *TABLES, "-o", "s.csv")

    assert done.returncode == 2
    assert f"Did you mean '{longer}" in done.stderr


@pytest.fixture
def queried(mipaudit, tmp_path):
    """Return a function that makes a report of query."""

    def run(*words):
        given = ("--range", "age=17:90", "--ignore", "fnlwgt,race", "--categorical", "sex")
        written = mipaudit("query", *words, *TABLES, *given, "-o", "s.csv", "-f", "json", "-q")
        assert written.returncode == 0, written.stderr
        (tmp_path / "q.json").write_text(written.stdout)
        return json.loads(written.stdout)

    return run


def test_verify_makes_every_score_again(mipaudit, tmp_path, queried):
    report = queried("nn", "mc", "--seed", "3", "--memory", "500M")
    assert len(report["scores"][0]["sha256"]) == 64

    assert mipaudit("verify", "q.json", *TABLES).returncode == 0
    report["scores"][1]["sha256"] = "0" * 64
    (tmp_path / "q.json").write_text(json.dumps(report))
    changed = mipaudit("verify", "q.json", *TABLES, "-f", "json")

    assert changed.returncode == 1
    wrong = [
        one["part"] for one in json.loads(changed.stdout)["parts"] if one["status"] == "differs"
    ]
    assert wrong == ["scores"]


@pytest.mark.parametrize("seed", [(), ("--seed", "3"), ("--seed", "fresh")])
def test_verify_draws_again_from_tables_in_another_order(mipaudit, tmp_path, queried, seed):
    # Any records of the same columns will do for a reference: here some of the released.
    lines = (SAMPLES / "adult_synthetic.csv").read_text().splitlines(keepends=True)
    (tmp_path / "reference.csv").write_text("".join([lines[0], *lines[1::2]]))
    given = ("--reference", "reference.csv")
    report = queried("density", "classifier", *given, *seed)
    assert report["provenance"]["seed_origin"] == (
        "default" if not seed else "fresh" if seed[1] == "fresh" else "stated"
    )
    (tmp_path / "turned.csv").write_text("".join([lines[0], *reversed(lines[1:])]))
    turned = mipaudit(
        *("verify", "q.json", *TABLES[:4], "--synthetic", "turned.csv", *given, "-f", "json")
    )

    assert mipaudit("verify", "q.json", *TABLES, *given).returncode == 0
    # The file is another one; what follows from its rows is not.
    parts = {one["part"]: one["status"] for one in json.loads(turned.stdout)["parts"]}
    assert parts["scores"] == "agrees"


def test_verify_finds_another_table(mipaudit, tmp_path, queried):
    queried("nn")
    lines = (SAMPLES / "adult_synthetic.csv").read_text().splitlines(keepends=True)
    (tmp_path / "other.csv").write_text("".join(lines[:-1]))

    done = mipaudit("verify", "q.json", *TABLES[:4], "--synthetic", "other.csv", "-f", "json")

    assert done.returncode == 1
    assert json.loads(done.stdout)["parts"][0]["status"] == "differs"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (TABLES[:4], "synthetic"),
        ([*TABLES, "--reference", TABLES[1]], "reference"),
        (["--input", TABLES[1], *TABLES], "needless_input"),
    ],
)
def test_verify_says_which_table_is_wanted(mipaudit, queried, given, code):
    queried("nn")

    done = mipaudit("verify", "q.json", *given, "-f", "json")

    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["code"] == code


def test_the_report_is_laid_out_as_others_are_and_counts_one_as_one(mipaudit, tmp_path):
    for seed, name in enumerate(("m.csv", "h.csv", "s.csv")):
        rows = [f"{(row * (seed + 2)) % 41},a" for row in range(30)]
        if name == "m.csv":
            rows[0] = "1,odd"
        (tmp_path / name).write_text("\n".join(["age,ward", *rows]) + "\n")

    done = mipaudit(
        *("query", "nn", "--members", "m.csv", "--holdout", "h.csv", "--synthetic", "s.csv"),
        *("-o", "x.csv"),
    )

    assert done.returncode == 0
    assert "\nFindings\n" in done.stdout
    text = " ".join(done.stdout.split())
    assert "- Column 'ward': a word that" in text
    assert "1 member and 0 holdout records" in text
    assert "[unseen_words]" in text
    assert "\nWhat this does not say\n" in done.stdout
