"""Policy files that others wrote: which are refused, and what is said of those that hold."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import time

import pandas as pd
import pytest

from mipaudit.cli import app
from mipaudit.statements.provenance import waiver_day
from tests.places import ROOT

EASY = ("bounds", "--epsilon", "1")
SOMEBODY = 54_321


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Return the working folder, below one for the policy."""
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copy(ROOT / "sample_data" / "leaky.parquet", folder / "s.parquet")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(work, capfd):
    def run(*words):
        status = app.run(words)
        found = capfd.readouterr()
        return status, found.out, found.err

    return run


@pytest.fixture
def give(monkeypatch):
    """Let a file, a link or a folder seem to belong to another user."""
    owners = {}

    def seen(real):
        def stat(*given, **named):
            found = real(*given, **named)
            owner = owners.get((found.st_dev, found.st_ino), found.st_uid)
            return os.stat_result((*found[:4], owner, *found[5:]))

        return stat

    def give(path, owner=SOMEBODY):
        found = path.lstat()
        owners[found.st_dev, found.st_ino] = owner

    for name in ("stat", "lstat", "fstat"):
        monkeypatch.setattr(os, name, seen(getattr(os, name)))
    return give


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize(
    ("mode", "of_file", "of_folder", "refused"),
    [
        (0o1777, SOMEBODY, 0, True),
        (0o777, SOMEBODY, 0, True),
        (0o1777, SOMEBODY, SOMEBODY, False),  # the folder's owner could do anything
        (0o1777, 0, SOMEBODY, False),
        (0o1777, None, SOMEBODY, False),  # one's own
        (0o775, SOMEBODY, 0, False),  # of a group: its members work together
        (0o755, SOMEBODY, 0, False),
    ],
)
def test_a_file_in_a_folder_of_everybody_must_belong_to_somebody_known(
    run, work, give, above, mode, of_file, of_folder, refused
):
    folder = work.parent if above else work
    file = folder / "mipaudit.toml"
    file.write_text("max_advantage = 0.9\n")
    folder.chmod(mode)
    give(folder, of_folder)
    if of_file is not None:
        give(file, of_file)

    status, out, err = run("estimate", "s.parquet", "-q")

    assert status == (2 if refused else 0), err
    if refused:
        assert "--config FILE" in err
        assert "--no-config" in err
        assert out == ""
    else:
        foreign = of_file == SOMEBODY or (of_file == 0 and os.geteuid() != 0)
        said = {line.removeprefix("! ") for line in err.splitlines()}
        assert len(said) == (above or foreign), err
        assert ("of another user" in err) == foreign
    name = os.path.relpath(file)
    assert run("estimate", "s.parquet", "-q", "--no-config")[0] == 0
    named = run("estimate", "s.parquet", "-q", "--config", name)
    # A remark on what is not expected is not made of what was typed.
    assert (named[0], [line for line in named[2].splitlines() if line[0] != "!"]) == (0, [])


def test_a_link_of_another_user_to_a_file_of_ones_own_is_refused(run, work, give):
    (work.parent / "mine.toml").write_text("max_advantage = 0.9\n")
    link = work / "mipaudit.toml"
    link.symlink_to("../mine.toml")
    work.chmod(0o1777)
    assert run(*EASY)[0] == 0
    give(work, 0)
    give(link)

    assert run(*EASY)[0] == 2


def test_a_project_file_counts_only_with_the_table(run, work, give):
    work.chmod(0o1777)
    give(work, 0)
    file = work / "pyproject.toml"
    file.write_text(
        "[tool.other]\n" + "x = 1 # long\n" * 10_000 + "[tool.ruff.a.b.c.d.e.f.g.h.i]\n"
    )
    give(file)
    assert run(*EASY)[0] == 0
    file.write_text("[tool.mipaudit]\nprior = 0.4\n")
    assert run(*EASY)[0] == 2
    file.write_text("[tool.mipaudit]\n")
    assert run(*EASY)[0] == 2
    give(file, os.geteuid())
    assert "has no key" in run(*EASY)[2]


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 20_000 + " = 1",
        "a" + " . a" * 8 + " = 1",
        '"a"' + '."."' * 8 + " = 1",
        f"[{'.'.join('abcdefghi')}]\nx = 1",
        f"x = {'[' * 9}{']' * 9}",
        "x = " + "{a = " * 9 + "1" + "}" * 9,
        # What is in texts counts for nothing, and texts end where the parser ends them.
        "x = {a = '''b'''', " + "a." * 9_000 + "b = 1, c = ''}",
        'x = """\\"""" # "\n' + "a." * 9_000 + "b = 1",
        "prior = 0.1 #" + "x" * (1 << 16),
        "x = '" + "y" * (1 << 16) + "'",
        '"""x" \\"""' * 6_000,
    ],
)
def test_a_file_that_would_take_the_parser_long_is_not_parsed(run, work, text):
    (work / "mipaudit.toml").write_text(text)
    before, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    status, _, err = run(*EASY)

    assert status == 2
    assert "larger than 64 KiB, or nested in more than 8 levels" in err or '"""x"' in text
    assert time.process_time() - before < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 100_000  # KiB
    assert run(*EASY, "--config", "mipaudit.toml")[0] == 2


def test_points_and_brackets_in_texts_and_comments_are_no_levels(run, work):
    deep = "[[[[[[[[[[ a.b.c.d.e.f.g.h.i.j"
    (work / "mipaudit.toml").write_text(
        f"# {deep} ' \"\ntitle = \"{deep} \\\" '\" # {deep}\nauthor = '{deep} #'\n"
        f'controller = """\n{deep} "\\" \'"""\ndata_name = \'\'\'{deep} " \'\'\'\'\n'
        "[bounds]\nmu = 0.5\nprior = 0.25\n"
    )
    status, _, err = run("bounds", "-f", "json")
    assert status == 0, err


PLANTED = """
score_col = "loss"
nan = "drop"
confidence = 0.9
on_inconclusive = "pass"
max_advantage = 0.05
seed = 0
[[waiver]]
quantity = "advantage"
reason = "known"
person = "A. Person"
expires = 2999-12-31
"""
SAID = (
    *("../mipaudit.toml", "audits only 'loss'; 2 score columns are left out", "nan = drop"),
    *("confidence = 0.9", "on_inconclusive = pass", "seed = 0", "1 waiver"),
)
VARIABLES = {
    "SCORE_COL": "loss",
    "NAN": "drop",
    "CONFIDENCE": "0.9",
    "WHERE": "site = a",
    "ON_INCONCLUSIVE": "pass",
    "PRIOR": "0.4",
    "MAX_ADVANTAGE": "0.9",
}
FORMS = {
    "line": ("-q",),
    "brief": (),
    "full": ("--full",),
    **{form: ("-f", form, "-q") for form in ("json", "html", "markdown", "junit")},
}


def plain(text):
    return " ".join(text.replace("&#39;", "'").split())


@pytest.mark.parametrize("form", FORMS)
def test_every_surface_says_what_a_file_chose(run, work, form):
    (work.parent / "mipaudit.toml").write_text(PLANTED)

    status, out, err = run("estimate", "s.parquet", *FORMS[form])

    assert status == 0, err
    assert "The policy file is ../mipaudit.toml.\n" in err
    said = SAID[:2] if form == "json" else SAID
    # A line for a log is the answer alone: what steered the run stands on standard error.
    shown = plain(err if form == "line" else out)
    assert [words for words in said if words not in shown] == []
    assert waiver_day().year < 2999


@pytest.mark.parametrize("form", [form for form in FORMS if form != "json"])
def test_every_surface_says_what_variables_chose(run, work, monkeypatch, form):
    for name, value in VARIABLES.items():
        monkeypatch.setenv(f"MIPAUDIT_{name}", value)
    pd.read_parquet("s.parquet").assign(site="a").to_parquet("s.parquet")
    (work / "mipaudit.toml").write_text("seed = 0\n")

    status, out, err = run("estimate", "s.parquet", *FORMS[form])

    assert status == 0, err
    shown = plain(err if form == "line" else out)
    assert "MIPAUDIT_SCORE_COL audits only 'loss'; 2 score columns are left out." in shown
    said = re.search(r"The environment chooses: ([^:]*)\.( |<)", shown)[1]
    chosen = {"nan = drop", "confidence = 0.9", "where = site = a", "on_inconclusive = pass"}
    assert chosen == set(said.split(". ")[0].split("; "))
    assert "The policy file mipaudit.toml chooses: seed = 0." in shown


def test_it_is_said_of_a_stored_report_and_on_a_server(run, work):
    (work.parent / "mipaudit.toml").write_text(PLANTED)
    run("estimate", "s.parquet", "-q", "-o", "r.json")
    (work.parent / "mipaudit.toml").unlink()
    for how in (
        *(("-q",), ("-f", "github"), ("-f", "markdown"), ("-f", "cyclonedx")),
        ("-f", "in-toto", "--subject", "s.parquet"),
    ):
        shown = run("render", "r.json", *how)[2 if "-q" in how else 1]
        assert "2 score columns are left out" in shown
        assert "../mipaudit.toml" in shown
    assert run("verify", "r.json", "--input", "s.parquet", "-q")[0] == 0


@pytest.mark.parametrize("command", ["estimate", "records", "compare", "attack", "check"])
def test_every_command_says_which_scores_a_file_audits(run, work, command):
    names = ["loss", "lira_online"] if command == "compare" else ["loss"]
    (work / "mipaudit.toml").write_text(f"score_col = {names}\n")

    status, out, err = run(command, "s.parquet", "-q")

    assert (status, "left out" in out) == (0, False)
    rest = "1 score column is" if command == "compare" else "2 score columns are"
    assert "mipaudit.toml audits only 'l" in err
    assert f"'; {rest} left out." in err
    typed = [word for name in names for word in ("--score-col", name)]
    assert "left out" not in run(command, "s.parquet", "-q", *typed)[2]


def test_what_is_usual_or_typed_needs_no_words(run, work):
    usual = 'confidence = 0.99\non_inconclusive = "review"\nnan = "error"\nmax_advantage = 0.9\n'
    (work / "mipaudit.toml").write_text(usual)
    assert "policy file" not in "".join(run("estimate", "s.parquet", "-q")[1:])


@pytest.mark.parametrize(
    "line",
    [
        *('where = "loss = 1"', 'blind = "b.json"', 'members = "m.csv"', 'holdout = "h.csv"'),
        *('scores = "s.parquet"', '[shift]\nid_col = "x"\n[estimate]\nwhere = "a = 1"'),
    ],
)
def test_a_file_above_does_not_choose_the_input(run, work, line):
    file = work.parent / "mipaudit.toml"
    file.write_text(f"{line}\n")
    for words in (("estimate", "s.parquet"), EASY):
        status, out, err = run(*words)
        assert (status, out) == (2, "")
        assert "above the working folder" in err
    # Named, it is whoever names it that chooses.
    assert "above the working folder" not in run(*EASY, "--config", "../mipaudit.toml")[2]


def test_the_input_that_a_file_beside_it_chooses_is_said(run, work):
    (work / "mipaudit.toml").write_text('scores = "s.parquet"\nwhere = "member = 1"\n')
    status, *_ = run("check", "-q")
    assert status in {0, 2}
    (work / "mipaudit.toml").write_text('scores = "s.parquet"\n')
    status, _out, err = run("estimate", "-q")
    assert status == 0, err
    assert "The policy file mipaudit.toml chooses: scores = s.parquet." in err
    assert "chooses" not in run("estimate", "s.parquet", "-q")[2]
    run("estimate", "-q", "-o", "r.json")
    assert run("verify", "r.json", "--input", "s.parquet", "-q", "--no-sha256")[0] == 0
    forged = json.loads((work / "r.json").read_text())
    (data,) = [one for one in forged["provenance"]["settings"] if one["name"] == "data"]
    data["source"] = "command line"
    (work / "r.json").write_text(json.dumps(forged))
    assert run("verify", "r.json", "--input", "s.parquet", "-q", "--no-sha256")[0] == 1


@pytest.mark.parametrize(
    ("variable", "words", "status", "said"),
    [
        ("EXIT_ZERO=true", (), 0, "MIPAUDIT_EXIT_ZERO is set"),
        ("EXIT_ZERO=false", (), 1, ""),
        ("EXIT_ZERO=true", ("--exit-zero",), 0, ""),
        ("NO_CONFIG=1", (), 0, "MIPAUDIT_NO_CONFIG is set"),
        ("NO_CONFIG=false", (), 1, ""),
        ("MAX_ADVANTAGE=0.9", (), 0, "MIPAUDIT_MAX_ADVANTAGE overrides"),
        ("MAX_ADVANTAGE=0.9", ("--max-advantage", "0.05"), 1, ""),
        ("MAX_ETA=0.4", (), 1, ""),
        ("AGAINST=thresholds", (), 1, "MIPAUDIT_AGAINST is set"),
        ("JOBS=2", (), 1, ""),
        ("REQUIRE_POLICY=false", (), 1, "MIPAUDIT_REQUIRE_POLICY overrides"),
        ("CONFIG=other.toml", (), 0, "MIPAUDIT_CONFIG is set"),
        ("ON_INCONCLUSIVE=pass", (), 1, "MIPAUDIT_ON_INCONCLUSIVE is set"),
    ],
)
def test_a_variable_that_excuses_is_told_also_with_quiet(
    run, work, monkeypatch, variable, words, status, said
):
    (work / "mipaudit.toml").write_text("max_advantage = 0.05\njobs = 1\nrequire_policy = true\n")
    (work / "other.toml").write_text("prior = 0.5\n")
    name, _, value = variable.partition("=")
    monkeypatch.setenv(f"MIPAUDIT_{name}", value)

    found, _, err = run("estimate", "s.parquet", "-q", *words)

    assert found == status, err
    # What the answer rests on stands there with a mark.
    lines = [line for line in err.splitlines() if not line.startswith("! ")]
    assert err == "" or said, err
    assert len(lines) == bool(said)
    assert "".join(lines).startswith(said)
