"""The commands that ``summarize --plan`` prints, run as they are printed."""

from __future__ import annotations

import shlex
import shutil

import numpy as np
import pandas as pd
import pytest

from tests.within import run_within

SITES = 5


def rounds(text):
    """Return [(site or None, words of the command)] of each round, as a shell reads them."""
    found, site = [], None
    for line in text.replace("\\\n", " ").splitlines():
        if line[:4] in {"# 1.", "# 2.", "# 3."}:
            found.append([])
            site = None
        elif line.startswith("# At "):
            site = line.removeprefix("# At ").rstrip(":")
        elif line and not line.startswith("#"):
            program, *words = shlex.split(line)
            assert program == "mipaudit"
            found[-1].append((site, words))
    return found


def write_scores(folder, name, seed, rows):
    generator = np.random.default_rng(seed)
    member = generator.random(rows) < 0.5
    table = pd.DataFrame({"member": member, "loss": generator.normal(size=rows) + member})
    folder.mkdir()
    table.to_parquet(folder / name, index=False)
    return table


@pytest.mark.parametrize(
    ("given", "name", "rows"),
    [
        ((), "scores.parquet", 900),
        (("the scores.parquet", "--min-cell", "2", "--prior", "0.3"), "the scores.parquet", 40_000),
    ],
)
def test_the_printed_commands_audit_all_sites(mipaudit, environment, tmp_path, given, name, rows):
    def at_site(site, words):
        return run_within(words, environment=environment, folder=tmp_path / site)

    done = mipaudit("summarize", *given, "--plan", str(SITES))
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for at in range(1, SITES + 1):
        write_scores(tmp_path / f"site-{at}", name, at, rows)
    (tmp_path / "centre").mkdir()
    first, second, last = rounds(done.stdout)
    assert len(first) == len(second) == SITES
    for site, words in first:
        assert at_site(site, words).returncode == 0
    for site, _ in first:
        for other, _ in first:
            if other != site:
                shutil.copy(tmp_path / site / f"{site}.cuts", tmp_path / other)
    for site, words in second:
        made = at_site(site, words)
        assert made.returncode == 0, made.stderr
        shutil.copy(tmp_path / site / f"{site}.summary", tmp_path / "centre")
    ((_, words),) = last
    report = at_site("centre", words)
    assert report.returncode == 0, report.stderr
    assert "5 summary files (site-1, site-2, site-3 and 2 more)" in " ".join(report.stdout.split())


def said(mipaudit, *given):
    done = mipaudit("summarize", "--plan", *given)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.replace("#", "").split())


def test_the_plan_goes_into_a_file_and_says_how_many_rows(mipaudit, tmp_path):
    assert said(mipaudit, "2", "--min-cell", "10", "-o", "plan.sh") == ""
    text = " ".join((tmp_path / "plan.sh").read_text().replace("#", "").split())
    assert "17,500 members and 17,500 holdout" in text
    assert text.count("--min-cell 10") == 2


def test_the_plan_says_what_is_agreed_on_first_and_what_if_a_site_drops_out(mipaudit):
    text = said(mipaudit, "3")
    first = text.index("1. Each site")
    assert text.index("agree on the limit") < text.index("the score columns") < first
    assert text.index("name them in all commands with --score-col") < first
    assert "--score-col NAME" not in text
    assert text.index("If a site drops out, no limit is met") > text.index("2. With the .cuts")
    assert "--without-site NAME" in text
    named = said(mipaudit, "3", "--score-col", "loss")
    assert "name them in all commands" not in named
    assert named.count("--score-col loss") == 6


def test_help_says_the_same_of_cuts_in_every_place(mipaudit):
    text = " ".join(mipaudit("summarize", "--help").stdout.split())
    assert "no counts" not in text
    assert "Then each site counts with the cuts files of all sites" in text


def test_what_was_written_and_the_number_of_rows_that_is_enough_are_said(mipaudit, tmp_path):
    write_scores(tmp_path / "a", "scores.parquet", 0, 60_000)

    def told(*words):
        return mipaudit("summarize", "a/scores.parquet", *words).stderr

    counts = ("-o", "a.summary")
    assert told(*counts).startswith("Counts of 1 score of ")
    assert told(*counts).endswith(" Written to a.summary.\n")
    assert "Written" not in told(*counts, "-q")
    cuts = ("--site", "a", "--cuts-only", "-o", "a.cuts")
    assert "17,500 members and 17,500 holdout" in told(*cuts, "--min-cell", "10")
    assert "enough" not in told(*cuts)
    assert told(*cuts, "--min-cell", "10", "-q") == ""
