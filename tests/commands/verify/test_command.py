"""``mipaudit verify``."""

from __future__ import annotations

import json

import pytest

from tests.places import ROOT

LEAKY = str(ROOT / "sample_data" / "leaky.parquet")


@pytest.fixture
def audited(mipaudit, tmp_path):
    assert mipaudit("simulate", "laplace-1", "-q", "-o", "s.csv").returncode == 0
    arguments = ("--max-tpr-at-fpr", "0.5@0.1", "--metric", "f1", "--metric", "ppv", "-q")
    assert mipaudit("estimate", "s.csv", *arguments, "-o", "r.json").returncode == 0
    return tmp_path / "r.json"


def test_it_agrees_or_differs_and_the_line_alone_names_the_parts(mipaudit, audited):
    words = ("verify", "r.json", "--input", "s.csv")
    done = mipaudit(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("The report AGREES with what was computed now.")
    fields = json.loads(audited.read_bytes())
    fields["estimates"][0]["lower"] = 0.0
    fields["verdict"]["status"] = "not_met"
    audited.write_text(json.dumps(fields))

    line = mipaudit(*words, "-q")
    assert (line.returncode, line.stdout) == (1, "The report DIFFERS in estimates, verdict.\n")
    done = mipaudit(*words, "-f", "json", "--exit-zero")
    found = json.loads(done.stdout)
    assert (done.returncode, found["agrees"]) == (0, False)
    part, _ = [one for one in found["parts"] if one["status"] == "differs"]
    assert "estimates[0].lower" in part["text"]


@pytest.mark.parametrize("arguments", [("--input", "absent.csv"), ("--members", "s.csv")])
def test_what_cannot_be_computed_again_is_an_error(mipaudit, audited, arguments):
    done = mipaudit("verify", "r.json", *arguments)
    assert (done.returncode, done.stdout, done.stderr[:7]) == (2, "", "Error: ")


# What a command line takes as one word: pairs, numbers by name, parts, a file to write.
TYPED = [
    ("bounds", "--dp-sgd", "noise_multiplier=1,q=0.01,steps=100"),
    ("bounds", "--compose", "gaussian:noise_multiplier=2,count=3", "--curve", "c.csv"),
    ("bounds", "--tpr-at-fpr", "0.2@0.01"),
    ("epsilon", "s.csv", "--design", "one-run", "--guesses", "100,50"),
    ("epsilon", "s.csv", "--design", "independent-runs", "--curve", "p.csv"),
    ("noise", "--eta", "0.1", "--k", "inf"),
]


def test_every_typed_form_is_read_back(mipaudit, audited):
    for run in TYPED:
        assert mipaudit(*run, "-f", "json", "-o", "one.json", "-q").returncode == 0, run
        inputs = ("--input", "s.csv") if "s.csv" in run else ()
        done = mipaudit("verify", "one.json", *inputs)
        assert done.returncode == 0, (run, done.stdout, done.stderr)


def test_a_report_that_was_judged_by_a_file(mipaudit, audited, tmp_path):
    (tmp_path / "p.toml").write_text('max_advantage = 0.9\n[[limit]]\nquantity="auc"\nmax=0.9\n')
    for words in (("render", "r.json", "--policy"), ("estimate", "s.csv", "--config")):
        assert mipaudit(*words, "p.toml", "-o", "j.json", "-q").returncode == 0
        assert mipaudit("verify", "j.json", "--input", "s.csv").returncode == 0


def test_a_page_is_verified_with_what_it_shows_and_rendered_as_it_was(mipaudit, tmp_path):
    given = ("--max-advantage", "0.1", "--title", "Model <3", "--author", "A. B.")
    calm = {"MIPAUDIT_FULL": "false"}
    assert mipaudit("estimate", LEAKY, *given, "-o", "report.html", env=calm).returncode == 1
    assert mipaudit("estimate", LEAKY, *given, "-o", "all.html", "--full").returncode == 1
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "<h1>Model &lt;3</h1>" in page
    (tmp_path / "forged.html").write_text(page.replace("NOT MET", "MET"), "utf-8")
    (tmp_path / "drawn.html").write_text(page.replace("stroke-width", "stroke-Width"), "utf-8")
    for name, status, said in (
        ("all", 0, "drawn again from the report that it carries: the same"),
        ("report", 0, "input names and what was declared are as stated, not checked"),
        ("forged", 1, "it does not show what the report that it carries says"),
        ("drawn", 0, "its pictures were drawn otherwise"),
    ):
        done = mipaudit("verify", f"{name}.html", "--input", LEAKY)
        assert (done.returncode, said in " ".join(done.stdout.split())) == (status, True)
    assert mipaudit("render", "report.html", "-f", "html").stdout == page
    named = mipaudit("render", "report.html", "-f", "html", "--title", "Two")
    assert "<h1>Two</h1>" in named.stdout
