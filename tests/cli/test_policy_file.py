"""The policy file, the environment, and what goes before what."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256

import pytest

from mipaudit.cli.settings import keys_of
from mipaudit.options.commands import CONFIGURED

EASY = ("bounds", "--epsilon", "1")
LIMIT = '[[limit]]\nquantity = "auc"\nmax = 0.6\n'
WAIVER = (
    '[[waiver]]\nquantity = "auc"\nreason = "known"\nperson = "A. Person"\nexpires = 2999-12-31\n'
)


@pytest.fixture
def write(tmp_path):
    def written(text, name="mipaudit.toml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return written


@pytest.fixture
def scores(tmp_path):
    rows = ["member,loss"]
    rows += [f"1,{i * 37 % 1000 + 300}.5" for i in range(600)]
    rows += [f"0,{i * 37 % 1000}.5" for i in range(600)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(rows) + "\n")
    return path.name


TEXT = "'scores' in 'mipaudit.toml' must be a text"


def setting(done, name):
    assert done.returncode in {0, 1, 3}, done.stderr
    found = json.loads(done.stdout)["provenance"]["settings"]
    return next(((s["value"], s["source"], s["where"]) for s in found if s["name"] == name), None)


HERE = ("file", "mipaudit.toml")
THERE = ("file", "pyproject.toml")
OTHER = ("file", "o.toml")
LOW = {HERE[1]: "prior = 0.1"}
VARIABLE = ("environment", "MIPAUDIT_PRIOR")
POLICY = "[tool.mipaudit]\nprior = 0.2\n"
SPACED = "[tool" + " " * 20 + "." + " " * 20 + "mipaudit]\nprior = 0.2\n"


@pytest.mark.parametrize(
    ("files", "words", "env", "expected"),
    [
        ({}, "", {}, (0.5, "default", None)),
        (LOW, "", {}, (0.1, *HERE)),
        (LOW, "", {"PRIOR": "0.2"}, (0.2, *VARIABLE)),
        (LOW, "--prior 0.3", {"PRIOR": "0.2"}, (0.3, "command line", None)),
        (LOW, "", {"PRIOR": ""}, (0.1, *HERE)),
        ({}, "", {"PRIOR": "0.2"}, (0.2, *VARIABLE)),
        # The table of a command goes before the top.
        ({HERE[1]: "prior = 0.1\n[bounds]\nprior = 0.2\n[noise]\neta = 0.1"}, "", {}, (0.2, *HERE)),
        # The table of a project file, however it is written.
        ({THERE[1]: POLICY}, "", {}, (0.2, *THERE)),
        ({THERE[1]: SPACED}, "", {}, (0.2, *THERE)),
        ({THERE[1]: '[tool."mipaudit"]\nprior = 0.2'}, "", {}, (0.2, *THERE)),
        ({THERE[1]: "[tool]\nmipaudit = {prior = 0.2}"}, "", {}, (0.2, *THERE)),
        ({THERE[1]: "tool.mipaudit.prior = 0.2"}, "", {}, (0.2, *THERE)),
        ({THERE[1]: POLICY.replace("tool", '"t\\u006fol"')}, "", {}, (0.2, *THERE)),
        ({THERE[1]: POLICY.replace("mipaudit", '"mip\\u0061udit"')}, "", {}, (0.2, *THERE)),
        # One about something else is not even read.
        ({THERE[1]: "[tool.other]\nthis is not TOML"}, "", {}, (0.5, "default", None)),
        # The nearest folder up to the repository.
        ({"../mipaudit.toml": "prior = 0.1"}, "", {}, (0.1, "file", "../mipaudit.toml")),
        ({"../mipaudit.toml": "prior = 0.1", ".git/x": ""}, "", {}, (0.5, "default", None)),
        # Named and forgone.
        (
            {**LOW, "o.toml": POLICY},
            "--config o.toml",
            {},
            (0.2, *OTHER),
        ),
        (
            {**LOW, "o.toml": POLICY},
            "",
            {"CONFIG": "o.toml"},
            (0.2, *OTHER),
        ),
        (LOW, "--no-config", {}, (0.5, "default", None)),
        ({"o.toml": POLICY}, "--no-config", {"CONFIG": "o.toml"}, (0.5, "default", None)),
    ],
)
def test_where_a_value_is_from(environment, tmp_path, files, words, env, expected):
    folder = tmp_path / "inner"
    for name, text in {"x": "", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "mipaudit", *EASY, *words.split(), "-f", "json"],
        env={**environment, **{f"MIPAUDIT_{name}": value for name, value in env.items()}},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert setting(done, "prior") == expected
    if expected[1] == "file":
        digest = sha256((folder / expected[2]).read_bytes()).hexdigest()
        assert setting(done, "config") == (expected[2], "file", f"sha256 {digest}")
    if expected[1] == "default":
        assert setting(done, "config") is None


@pytest.mark.parametrize(
    ("text", "env", "name", "expected"),
    [
        ('metric = ["ppv", "f1"]', {}, "metric", (["ppv", "f1"], *HERE)),
        ('score_col = "loss"', {}, "score_columns", (["loss"], *HERE)),
        ("strict = true", {}, "strict", (True, *HERE)),
        ("min-recall = 0.2", {}, "min_recall", (0.2, *HERE)),  # as with an underscore
        (
            "prior = 0.5",
            {"MIPAUDIT_METRIC": "ppv f1"},
            "metric",
            (["ppv", "f1"], "environment", "MIPAUDIT_METRIC"),
        ),
    ],
)
def test_lists_flags_and_dashes(mipaudit, write, scores, text, env, name, expected):
    write(f"{text}\n")
    assert setting(mipaudit("estimate", scores, "-f", "json", env=env), name) == expected


@pytest.mark.parametrize(
    ("name", "data", "words", "said"),
    [
        ("mipaudit.toml", b"\xff\xfe", "", "is not TOML"),
        ("folder/x", b"", "--config folder", "cannot be read"),
        ("x", b"", "--config none.toml", "There is no file"),
        (
            "mipaudit.toml",
            b"prior = 0.1",
            "--config mipaudit.toml --no-config",
            "cannot go together",
        ),
        (
            "mipaudit.toml",
            b"prior = 0.1",
            "--no-config --config mipaudit.toml",
            "cannot go together",
        ),
        ("p.toml", b"prior = 0.1\n" + POLICY.encode(), "--config p.toml", "at its top and under"),
        # A project file that nearly holds a policy is not passed over.
        ("pyproject.toml", POLICY.encode("utf-16"), "", "pyproject.toml"),
        ("pyproject.toml", POLICY.encode("utf-16-be"), "", "pyproject.toml"),
        ("pyproject.toml", POLICY.encode("utf-32"), "", "pyproject.toml"),
        ("pyproject.toml", b"\xef\xbb\xbf" + POLICY.encode(), "", "pyproject.toml"),
        ("pyproject.toml", POLICY.replace("mipaudit", "mip-audit").encode(), "", "pyproject.toml"),
        ("pyproject.toml", POLICY.replace("mipaudit", "MIPAudit").encode(), "", "pyproject.toml"),
        ("pyproject.toml", POLICY.replace("mipaudit", "mip_audit").encode(), "", "pyproject.toml"),
    ],
)
def test_a_file_that_is_no_policy_is_refused(mipaudit, tmp_path, name, data, words, said):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(data)
    done = mipaudit(*EASY, *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_two_files_in_one_folder_are_an_error(mipaudit, write):
    write("prior = 0.1\n")
    write(POLICY, "pyproject.toml")
    done = mipaudit(*EASY)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Both" in done.stderr


@pytest.mark.parametrize("value", ["a", "7"])
def test_a_bad_variable_is_named(mipaudit, value):
    done = mipaudit(*EASY, env={"MIPAUDIT_PRIOR": value})
    assert done.returncode == 2
    assert "It is set by the environment variable MIPAUDIT_PRIOR." in done.stderr


@pytest.mark.parametrize("words", ["bounds --help", "schema", "--version"])
def test_help_schema_and_version_need_no_sound_file(mipaudit, write, words):
    write("nonsense = \n")
    assert mipaudit(*words.split()).returncode == 0


@pytest.mark.parametrize(
    ("today", "waiver", "status", "said", "junit"),
    [
        ("1767225600", "", 1, "NOT MET: ", 'failures="1"'),  # 2026-01-01
        ("1767225600", WAIVER, 0, "WAIVED, with 1 waiver: ", "<skipped message="),
        ("32503680000", WAIVER, 1, "expired after 2999-12-31", 'failures="1"'),  # 3000-01-01
    ],
)
def test_limits_and_waivers_of_a_file(mipaudit, write, scores, today, waiver, status, said, junit):
    write(LIMIT + waiver)
    for form in ("table", "markdown", "html", "junit", "csv", "json"):
        done = mipaudit("estimate", scores, "-f", form, env={"SOURCE_DATE_EPOCH": today})
        assert done.returncode == status, done.stderr
        assert form != "table" or said in done.stdout
        assert form != "junit" or junit in done.stdout
        assert form in {"csv", "table"} or not waiver or "A. Person" in done.stdout


def test_a_bad_limit_names_its_file(mipaudit, write, scores):
    write(LIMIT + '[[limit]]\nquantity = "auk"\nmax = 1\n')
    done = mipaudit("estimate", scores)
    assert done.returncode == 2
    assert "Limit 2" in done.stderr
    assert "It is set by the file mipaudit.toml." in done.stderr


def test_what_is_declared_is_of_every_report(mipaudit, write):
    write(
        "data_subjects = 7\n[bounds]\ntitle = 'T'\n"
        "[declare]\nrelease = 'v1'\ntitle = 'D'\nsubjects = 1200\n"
    )

    done = mipaudit(*EASY, "--controller", "C", "-f", "json")

    found = json.loads(done.stdout)["provenance"]["declared"]
    assert {name: value for name, value in found.items() if value is not None} == {
        "title": "T",  # the command's own
        "release": "v1",
        "subjects": 1200,
        "controller": "C",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prioor = 0.1", "Did you mean 'prior'?"),
        ("max_advantge = 0.1", "Did you mean 'max_advantage'?"),
        ("[bonds]\nprior = 0.1", "Did you mean 'bounds'?"),
        ("[bounds]\npriro = 0.1", "Did you mean 'prior'?"),
        ("[estimate]\nmax_risk = 0.1", "under 'estimate'"),
        ("[[limits]]\nmax = 0.1", "Did you mean 'limit'?"),
        ("[declares]\nrelease = 'v1'", "Did you mean 'declare'?"),
        ("[declare]\nsubject = 7", "Did you mean 'subjects'?"),
        ("[declare]\nsubjects = '7'", "'declare.subjects' in 'mipaudit.toml' must be a whole"),
        ("[declare]\nsubjects = 0", "--data-subjects must be from 1 to 10,000,000,000"),
        ("[declare]\ncontroller = 7", "'declare.controller' in 'mipaudit.toml' must be a text"),
        (f"[declare]\ncontroller = '{'c' * 201}'", "--controller must be of 1 to 200 characters"),
        ("[declare]\nseen_by = 'nobody'", "--seen-by"),
        ("prior = true", "must be a number"),
        ("prior = '0.1'", "must be a number"),
        ("", "has no key of mipaudit"),
        ("# max_advantage = 0.1\n", "has no key of mipaudit"),
        ("[estimate]\n[[limit]]\n".replace("[[limit]]", "[records]"), "has no key of mipaudit"),
        ("seed = 1.5", "must be a whole number, or the text 'fresh'"),
        ("seed = true", "must be a whole number, or the text 'fresh'"),
        ("seed = 'new'", "must be a whole number, or the text 'fresh'"),
        ("strict = 1", "must be true or false"),
        ("metric = [1]", "must be a text"),
        ("prior = 0.1\n[limit]\nmax = 0.1", "must be tables"),
        ("recall-floor = 0.1\nrecall_floor = 0.2", "set twice"),
        ("prior = \nseed = 1", "is not TOML (line 1, column 9)"),
        ("config = 'a'", "unknown"),
        ("max_advantage = {}", "unknown"),
        ("[estimat]", "Did you mean 'estimate'?"),
        (f"prior = 1{'0' * 400}", "must be a number"),
        (f"seed = 1{'0' * 5000}", "is not TOML"),
        ("[[limit]]\nquantty = 1", "Did you mean 'quantity'?"),
        ("[[waiver]]\nperson = 'A'", "lacks the key 'quantity'"),
        ("prior = 7", "It is set by the file mipaudit.toml."),
        *((f"scores = {value}", TEXT) for value in ("3", '""', "[1]", "true")),
        ("adjacency = 'near'", "It is set by the file mipaudit.toml."),
    ],
)
def test_what_is_wrong_in_a_file_is_said(mipaudit, write, text, said):
    write(text)
    done = mipaudit(*EASY)
    assert done.returncode == 2
    assert said in done.stderr
    assert "mipaudit.toml" in done.stderr or "twice" in done.stderr or "[[" in text
    assert done.stdout == ""


def test_which_file_is_used_is_no_key_of_one():
    for command in CONFIGURED:
        assert {"config", "no_config", "help"}.isdisjoint(keys_of(command))


@pytest.mark.parametrize(("choice", "status"), [(None, 3), ("review", 3), ("fail", 1), ("pass", 0)])
def test_what_an_open_answer_counts_as(mipaudit, write, scores, choice, status):
    chosen = "" if choice is None else f'on_inconclusive = "{choice}"\n'
    write(f"{chosen}against = 'any'\nmax_advantage = 0.9\n")
    done = mipaudit("estimate", scores, "-f", "json")
    assert done.returncode == status
    assert json.loads(done.stdout)["verdict"]["status"] == "inconclusive"
    assert mipaudit("estimate", scores, "--exit-zero").returncode == 0


@pytest.mark.parametrize("name", ["mipaudit.toml", "pyproject.toml"])
def test_what_stands_where_a_policy_should_is_not_passed_over(mipaudit, tmp_path, name):
    place = tmp_path / name
    place.symlink_to("gone.toml")
    assert "cannot be read" in mipaudit(*EASY).stderr
    place.unlink()
    os.mkfifo(place)
    done = mipaudit(*EASY)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("MIPAUDIT_MAX_ADVANTGE", "MIPAUDIT_MAX_ADVANTAGE"),
        ("MIPAUDIT_MAXADVANTAGE", "MIPAUDIT_MAX_ADVANTAGE"),
        ("mipaudit_max_advantage", "MIPAUDIT_MAX_ADVANTAGE"),
        ("MIPAUDIT_CONFIGS", "MIPAUDIT_CONFIG"),
        ("MIPAUDIT_SOMETHING", None),
    ],
)
def test_a_variable_that_nobody_knows_is_an_error(mipaudit, name, near):
    done = mipaudit(*EASY, env={name: "0.05"})
    assert (done.returncode, done.stdout) == (2, "")
    assert f"The environment variable {name} is unknown." in done.stderr
    assert near is None or f"Did you mean {near}?" in done.stderr
    assert mipaudit(*EASY, env={name: ""}).returncode == 0  # an empty one is none
    assert mipaudit("help", "environment", env={name: "0.05"}).returncode == 0


def test_variables_of_other_commands_and_of_completion_are_known(mipaudit):
    for name in ("MIPAUDIT_BY", "MIPAUDIT_TAU", "_MIPAUDIT_OTHER"):
        done = mipaudit(*EASY, env={name: "0.05"})
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("text", "variable", "named"),
    [
        ("max_advantage = 0.05\n", None, "'max_advantage' in mipaudit.toml"),
        ("", "MIPAUDIT_MAX_ADVANTAGE", "MIPAUDIT_MAX_ADVANTAGE"),
        (LIMIT, None, None),  # a finding of the report
    ],
)
def test_a_limit_that_the_command_does_not_judge_is_told(
    mipaudit, write, scores, text, variable, named
):
    if text:
        write(text)
    env = {} if variable is None else {variable: "0.05"}
    done = mipaudit("records", scores, env=env)
    assert done.returncode == 0
    said = "" if named is None else f"Not judged by mipaudit records: {named}.\n"
    assert done.stderr == said
    assert ("policy not judged here" in " ".join(done.stdout.split())) == (named is None)
    assert mipaudit("records", scores, "--quiet", env=env).stderr == ""
    epsilon = mipaudit("epsilon", scores, "--design", "one-run", env=env)
    assert ("[[limit]] in mipaudit.toml" in epsilon.stderr) == (text == LIMIT)
    assert mipaudit("check", scores, env=env).stderr == ""


@pytest.mark.parametrize(("variable", "class_"), [("", "any"), ("thresholds", "thresholds")])
def test_the_attackers_of_a_file_are_those_of_its_limits_on_groups(
    mipaudit, write, scores, variable, class_
):
    rows = (line.split(",") for line in (write("").parent / scores).read_text().splitlines()[1:])
    marked = [f"{member},{loss},{at % 2}" for at, (member, loss) in enumerate(rows)]
    write("member,loss,site\n" + "\n".join(marked) + "\n", "grouped.csv")
    write('against = "any"\n[[limit]]\nquantity = "advantage"\ngroup = "*"\nmax = 0.9\n')
    words = ("records", "grouped.csv", "--score-col", "loss", "--by", "site", "-f", "json")
    done = mipaudit(*words, env={"MIPAUDIT_AGAINST": variable})
    assert {one["against"] for one in json.loads(done.stdout)["policy"]} == {class_}
    assert done.returncode == (3 if class_ == "any" else 0)  # no upper limit for any attacker
    (write("").parent / "report.json").write_text(done.stdout)
    assert mipaudit("verify", "report.json", "--input", "grouped.csv").returncode == 0


def test_a_word_of_another_command_stops_no_command(mipaudit, write, scores):
    """At the top it is for whoever knows it; in a command's own table it is a mistake."""
    config = str(write('method = "mace"\n'))
    asked = ("epsilon", scores, "--design", "independent-runs", "--config", config, "-f", "json")

    alone = mipaudit(*asked)

    assert alone.returncode == 0
    settings = {one["name"]: one for one in json.loads(alone.stdout)["provenance"]["settings"]}
    assert settings["method"]["source"] == "default"
    for text in ('method = "nothing"\n', '[epsilon]\nmethod = "mace"\n'):
        write(text)
        done = mipaudit(*asked)
        assert done.returncode == 2
        assert "method" in done.stderr
