"""``mipaudit query``: from tables to a score file that can be audited, and made again."""

from __future__ import annotations

import json
import re
import shlex

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
RANGES = (
    *("age=17:90", "fnlwgt=12285:1490400", "education_num=1:16"),
    *("capital_gain=0:99999", "capital_loss=0:4356", "hours_per_week=1:99"),
)


def released():
    """Return the lines of the synthetic table, its header apart."""
    header, *lines = (SAMPLES / "adult_synthetic.csv").read_text().splitlines(keepends=True)
    return header, lines


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
    members = (SAMPLES / "adult_members.csv").read_text()
    piped = mipaudit(
        *("query", "nn", "--members", "-", *TABLES[2:], "-o", "b.csv", "-q"), input=members
    )
    assert piped.returncode == 0
    assert pd.read_csv(tmp_path / "b.csv")["nn"].equals(scores["nn"])


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
        (("nn", *TABLES[:4], "--synthetic", "s.csv", "-o", "s.csv"), "output_is_input"),
        (("losses",), "outputs"),
        (("losses", "--logits", "s.csv", "-o", "s.csv"), "output_is_input"),
        (("lira", "--shadow", "s.csv", "-o", "scores.txt"), "output"),
    ],
)
def test_errors_leave_nothing_behind(mipaudit, tmp_path, arguments, code):
    (tmp_path / "s.csv").write_text("age\n1\n")
    done = mipaudit("query", *arguments, "-f", "json")
    assert (done.returncode, done.stdout) == (2, "")
    assert json.loads(done.stderr)["error"]["code"] == code
    assert [one.name for one in tmp_path.iterdir()] == ["s.csv"]
    assert (tmp_path / "s.csv").read_text() == "age\n1\n"


@pytest.mark.parametrize("release", ["bootnoise", "copula"])
def test_the_columns_that_others_computed(mipaudit, tmp_path, release):
    """Distances and equation 18, as computed without mipaudit."""
    paths = [DATA / f"release_adult_{role}.parquet" for role in ("members", "holdout")]
    tables = [
        *("--members", paths[0], "--holdout", paths[1]),
        *("--synthetic", DATA / f"release_adult_synthetic_{release}.parquet"),
        *(word for one in RANGES for word in ("--range", one)),
    ]
    assert mipaudit("query", "nn", "mc", "share", *tables, "-o", "l2.parquet").returncode == 0
    gower = mipaudit("query", "nn", *tables, "--metric", "gower", "-o", "gower.parquet")
    assert gower.returncode == 0
    ids = pd.concat([pd.read_parquet(path)["record_id"] for path in paths])
    stated = pd.read_parquet(DATA / f"synrelease_adult_queries_{release}.parquet")
    stated = stated.set_index("record_id").loc[ids].reset_index()
    found = pd.read_parquet(tmp_path / "l2.parquet")
    assert (found["member"] == stated["member"]).all()
    found["share"] *= 10_000
    found["gower"] = pd.read_parquet(tmp_path / "gower.parquet")["nn"]
    theirs = {"nn": "nn_l2", "mc": "mc_eq18", "share": "mc_count", "gower": "nn_gower"}
    for ours, name in theirs.items():
        # Theirs are in single precision.
        assert (found[ours] - stated[name]).abs().max() < 1e-6


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ('metric = ["ppv"]\n[query]\nnumber_scale = "range"\n', None),
        ('[query]\nmetric = "gower"\n', "Did you mean 'distance_metric"),
        ('[query]\nscale = "gower"\n', "Did you mean 'number_sc"),
    ],
)
def test_a_policy_for_estimate_does_not_set_the_distance(mipaudit, tmp_path, policy, words):
    (tmp_path / "mipaudit.toml").write_text(policy)
    done = mipaudit("query", "nn", *TABLES, "-o", "s.csv", "-f", "json", "-q")
    assert done.returncode == (2 if words else 0)
    if words:
        assert words in done.stderr
    else:
        report = json.loads(done.stdout)
        assert (report["metric"], report["columns"][0]["scale"]) == ("euclidean", "full range")


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


@pytest.fixture
def verified(mipaudit):
    """Return a function that verifies that report: the exit code, and what became of each part."""

    def run(*words):
        done = mipaudit("verify", "q.json", *words, "-f", "json")
        return done.returncode, {x["part"]: x["status"] for x in json.loads(done.stdout)["parts"]}

    return run


def test_verify_makes_every_score_again(tmp_path, queried, verified):
    report = queried("nn", "mc", "--seed", "3", "--memory", "500M")
    assert verified(*TABLES)[0] == 0
    report["scores"][1]["sha256"] = "0" * 64
    (tmp_path / "q.json").write_text(json.dumps(report))
    code, parts = verified(*TABLES)
    assert code == 1
    assert [part for part, status in parts.items() if status == "differs"] == ["scores"]
    header, lines = released()
    (tmp_path / "other.csv").write_text("".join([header, *lines[:-1]]))
    code, parts = verified(*TABLES[:4], "--synthetic", "other.csv")
    assert (code, next(iter(parts.values()))) == (1, "differs")


@pytest.mark.parametrize("seed", [(), ("--seed", "3"), ("--seed", "fresh")])
def test_verify_draws_again_from_tables_in_another_order(tmp_path, queried, verified, seed):
    # Any records of the same columns will do for a reference: here some of the released.
    header, lines = released()
    (tmp_path / "reference.csv").write_text("".join([header, *lines[::2]]))
    (tmp_path / "turned.csv").write_text("".join([header, *reversed(lines)]))
    given = ("--reference", "reference.csv")
    report = queried("density", "classifier", *given, *seed)
    origin = {(): "default", ("--seed", "3"): "stated", ("--seed", "fresh"): "fresh"}[seed]
    assert report["provenance"]["seed_origin"] == origin
    assert verified(*TABLES, *given)[0] == 0
    # The file is another one; what follows from its rows is not.
    _, parts = verified(*TABLES[:4], "--synthetic", "turned.csv", *given)
    assert parts["scores"] == "agrees"


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
    for seed, name in enumerate(("m", "h", "s")):
        rows = [f"{(row * (seed + 2)) % 41},a" for row in range(30)]
        rows[:1] = ["1,odd"] if name == "m" else rows[:1]
        (tmp_path / f"{name}.csv").write_text("\n".join(["age,ward", *rows]) + "\n")
    roles = zip(("--members", "--holdout", "--synthetic"), "mhs", strict=True)
    words = [word for role, name in roles for word in (role, f"{name}.csv")]
    done = mipaudit("query", "nn", *words, "-o", "x.csv")
    assert done.returncode == 0
    assert "\nFindings\n" in done.stdout
    assert "\nKeep in mind\n" in done.stdout
    text = " ".join(done.stdout.split())
    for part in ("- 1 member, but no holdout record,", "has a value of 'ward'", "[unseen_words]"):
        assert part in text


def test_the_example_of_the_page_runs_from_outputs_to_verdict(mipaudit, tmp_path):
    page = (ROOT / "docs" / "how-to" / "model-outputs.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (block,) = [one for one in blocks if "sample_data/model.npz" in one]
    (tmp_path / "sample_data").symlink_to(SAMPLES)
    found, page = [], " ".join(page.split())
    for line in block.splitlines():
        done = mipaudit(*shlex.split(line)[1:])
        assert done.returncode == 0, done.stderr
        found += [" ".join(done.stdout.split())] if "query" not in line else []
    of_loss, of_lira = found
    assert "implies an advantage of at least 0.0072," in of_loss
    assert "at least 0.1484" in of_lira
    assert "the advantage is at least 0.0072." in page
    assert "it is at least 0.1484." in page


def test_scores_of_a_model_are_piped_into_an_audit(mipaudit, query_inputs):
    made = mipaudit("query", "losses", "--logits", "logits.csv", "--scores", "loss")
    assert made.stdout.splitlines()[0] == "member,label,loss"
    assert "1 score made from" in made.stderr
    audited = mipaudit("estimate", "-", "-f", "json", input=made.stdout)
    assert json.loads(audited.stdout)["design"]["score_columns"] == ["loss"]
    for query, words in (("losses", ("--logits", "guesses.csv")), ("lira", ("--shadow", "no.csv"))):
        wrong = mipaudit("query", query, *words)
        assert (wrong.returncode, wrong.stdout, "Traceback" in wrong.stderr) == (2, "", False)
