"""``mipaudit verify``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

LEAKY = str(Path(__file__).parents[3] / "sample_data" / "leaky.parquet")


@pytest.fixture
def audited(mipaudit, tmp_path):
    assert mipaudit("simulate", "laplace-1", "-q", "-o", "s.csv").returncode == 0
    arguments = ("--max-tpr-at-fpr", "0.5@0.1", "--metric", "f1", "--metric", "ppv", "-q")
    done = mipaudit("estimate", "s.csv", *arguments, "-f", "json", "-o", "r.json")
    assert done.returncode == 0
    return tmp_path / "r.json"


def test_it_agrees_or_differs_and_the_line_alone_names_the_parts(mipaudit, audited):
    words = ("verify", "r.json", "--input", "s.csv")
    done = mipaudit(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("The report AGREES.")
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


@pytest.mark.parametrize(
    "arguments", [(), ("--input", "absent.csv"), ("--members", "s.csv"), ("--input", "r.json")]
)
def test_what_cannot_be_computed_again_is_an_error(mipaudit, audited, arguments):
    done = mipaudit("verify", "r.json", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")


def test_every_typed_form_is_read_back(mipaudit, audited):
    """What a command line takes as one word: pairs, numbers by name, parts, a file to write."""
    runs = [
        ("bounds", "--dp-sgd", "noise_multiplier=1,q=0.01,steps=100"),
        ("bounds", "--compose", "gaussian:noise_multiplier=2,count=3", "--curve", "c.csv"),
        ("bounds", "--tpr-at-fpr", "0.2@0.01"),
        ("epsilon", "s.csv", "--design", "one-run", "--guesses", "100,50"),
        ("epsilon", "s.csv", "--design", "independent-runs", "--curve", "p.csv"),
        ("noise", "--eta", "0.1", "--k", "inf"),
    ]
    for run in runs:
        assert mipaudit(*run, "-f", "json", "-o", "one.json", "-q").returncode == 0, run
        inputs = ("--input", "s.csv") if "s.csv" in run else ()
        done = mipaudit("verify", "one.json", *inputs)
        assert done.returncode == 0, (run, done.stdout, done.stderr)


def test_a_report_that_was_judged_by_a_file(mipaudit, audited, tmp_path):
    (tmp_path / "p.toml").write_text('max_advantage = 0.9\n[[limit]]\nquantity="auc"\nmax=0.9\n')
    done = mipaudit("render", "r.json", "--policy", "p.toml", "-f", "json", "-o", "j.json", "-q")
    assert done.returncode == 0
    done = mipaudit("estimate", "s.csv", "--config", "p.toml", "-f", "json", "-o", "e.json", "-q")
    assert done.returncode == 0

    assert mipaudit("verify", "j.json", "--input", "s.csv").returncode == 0
    assert mipaudit("verify", "e.json", "--input", "s.csv").returncode == 0


def test_a_page_is_verified_with_what_it_shows(mipaudit, tmp_path):
    made = mipaudit(
        *("estimate", LEAKY, "--max-advantage", "0.1", "--title", "Model <3"),
        *("--author", "A. B.", "-o", "report.html"),
    )
    page = tmp_path / "report.html"
    forged = tmp_path / "forged.html"
    forged.write_text(page.read_text("utf-8").replace("NOT MET", "MET"), "utf-8")
    drawn = tmp_path / "drawn.html"
    drawn.write_text(page.read_text("utf-8").replace("stroke-width", "stroke-Width"), "utf-8")

    true, false, other = (
        mipaudit("verify", name, "--input", LEAKY)
        for name in ("report.html", "forged.html", "drawn.html")
    )

    assert made.returncode == 1
    assert "<h1>Model &lt;3</h1>" in page.read_text("utf-8")
    assert (true.returncode, false.returncode, other.returncode) == (0, 1, 0)
    assert "input names and what was declared are as stated, not checked" in " ".join(
        true.stdout.split()
    )
    assert "it does not show what the report that it carries says" in " ".join(false.stdout.split())
    assert "its pictures were drawn otherwise" in " ".join(other.stdout.split())


def test_a_page_is_rendered_as_it_was(mipaudit, tmp_path):
    mipaudit("estimate", LEAKY, "--title", "One", "-o", "report.html")

    again = mipaudit("render", "report.html", "-f", "html")
    named = mipaudit("render", "report.html", "-f", "html", "--title", "Two")

    assert again.stdout == (tmp_path / "report.html").read_text("utf-8")
    assert "<h1>Two</h1>" in named.stdout
