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


def setting(done, name):
    assert done.returncode in {0, 1, 3}, done.stderr
    found = json.loads(done.stdout)["provenance"]["settings"]
    return next(((s["value"], s["source"], s["where"]) for s in found if s["name"] == name), None)


@pytest.mark.parametrize(
    ("file", "variable", "line", "expected"),
    [
        (None, None, None, (0.5, "default", None)),
        ("0.1", None, None, (0.1, "file", "mipaudit.toml")),
        ("0.1", "0.2", None, (0.2, "environment", "MIPAUDIT_PRIOR")),
        ("0.1", "0.2", "0.3", (0.3, "command line", None)),
        ("0.1", "", None, (0.1, "file", "mipaudit.toml")),
        (None, "0.2", None, (0.2, "environment", "MIPAUDIT_PRIOR")),
    ],
)
def test_precedence(mipaudit, write, file, variable, line, expected):
    if file is not None:
        write(f"prior = {file}\n")
    env = {} if variable is None else {"MIPAUDIT_PRIOR": variable}
    typed = () if line is None else ("--prior", line)
    done = mipaudit(*EASY, *typed, "-f", "json", env=env)
    assert setting(done, "prior") == expected


def test_the_table_of_a_command_goes_before_the_top(mipaudit, write):
    write("prior = 0.1\n[bounds]\nprior = 0.2\n[noise]\neta = 0.1\n")
    assert setting(mipaudit(*EASY, "-f", "json"), "prior")[0] == 0.2


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


def test_dashes_and_underscores_are_the_same(mipaudit, write):
    write("recall-floor = 0.2\n")
    assert setting(mipaudit(*EASY, "-f", "json"), "recall_floor")[0] == 0.2


def test_lists_and_flags(mipaudit, write, scores):
    write('metric = ["ppv", "f1"]\nscore_col = "loss"\nstrict = true\n')
    done = mipaudit("estimate", scores, "-f", "json")
    assert setting(done, "metric")[:2] == (["ppv", "f1"], "file")
    assert setting(done, "score_columns")[:2] == (["loss"], "file")
    assert setting(done, "strict")[:2] == (True, "file")


def test_lists_in_the_environment_are_parted_by_blanks(mipaudit, scores):
    done = mipaudit("estimate", scores, "-f", "json", env={"MIPAUDIT_METRIC": "ppv f1"})
    assert setting(done, "metric") == (["ppv", "f1"], "environment", "MIPAUDIT_METRIC")


@pytest.mark.parametrize("place", ["tool.mipaudit", "tool . mipaudit", 'tool."mipaudit"'])
def test_a_project_file_has_a_table(mipaudit, write, place):
    path = write(f"[{place}]\nprior = 0.1\n", "pyproject.toml")
    done = mipaudit(*EASY, "-f", "json")
    assert setting(done, "prior") == (0.1, "file", "pyproject.toml")
    digest = sha256(path.read_bytes()).hexdigest()
    assert setting(done, "config") == ("pyproject.toml", "file", f"sha256 {digest}")


@pytest.mark.parametrize("text", ["[tool]\nmipaudit = {prior = 0.1}", "tool.mipaudit.prior = 0.1"])
def test_other_ways_to_write_the_table(mipaudit, write, text):
    write(text, "pyproject.toml")
    assert setting(mipaudit(*EASY, "-f", "json"), "prior")[0] == 0.1


def test_a_project_file_about_something_else_is_not_even_read(mipaudit, write):
    write("[tool.other]\nthis is not TOML, and mipaudit does not mind\n", "pyproject.toml")
    assert mipaudit(*EASY).returncode == 0


def test_the_nearest_folder_up_to_the_repository(environment, write, tmp_path):
    write("prior = 0.1\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    done = inside(inner, environment)
    assert setting(done, "prior") == (0.1, "file", "../../mipaudit.toml")
    (tmp_path / "a" / ".git").mkdir()
    done = inside(inner, environment)
    assert setting(done, "prior")[1] == "default"
    assert setting(done, "config") is None


def inside(folder, environment):
    """Run ``bounds`` with another working directory."""
    return subprocess.run(
        [sys.executable, "-m", "mipaudit", *EASY, "-f", "json"],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_named_and_forgone(mipaudit, write):
    write("prior = 0.1\n")
    write("prior = 0.2\n", "other.toml")
    named = mipaudit(*EASY, "--config", "other.toml", "-f", "json")
    assert setting(named, "prior") == (0.2, "file", "other.toml")
    by_name = mipaudit(*EASY, "-f", "json", env={"MIPAUDIT_CONFIG": "other.toml"})
    assert setting(by_name, "prior")[2] == "other.toml"
    assert setting(mipaudit(*EASY, "--no-config", "-f", "json"), "prior")[1] == "default"
    over = mipaudit(*EASY, "--no-config", "-f", "json", env={"MIPAUDIT_CONFIG": "other.toml"})
    assert setting(over, "prior")[1] == "default"


@pytest.mark.parametrize("words", [("--config", "mipaudit.toml", "--no-config")])
def test_both_at_once_are_an_error(mipaudit, write, words):
    write("prior = 0.1\n")
    for order in (words, (words[2], *words[:2])):
        done = mipaudit(*EASY, *order)
        assert done.returncode == 2
        assert "cannot go together" in done.stderr


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


def test_bytes_that_are_no_text_and_a_folder(mipaudit, tmp_path):
    (tmp_path / "mipaudit.toml").write_bytes(b"\xff\xfe")
    assert "is not TOML" in mipaudit(*EASY).stderr
    (tmp_path / "folder").mkdir()
    assert "cannot be read" in mipaudit(*EASY, "--config", "folder").stderr
    assert "There is no file" in mipaudit(*EASY, "--config", "none.toml").stderr


def test_two_files_in_one_folder_are_an_error(mipaudit, write):
    write("prior = 0.1\n")
    write("[tool.mipaudit]\nprior = 0.2\n", "pyproject.toml")
    done = mipaudit(*EASY)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Both" in done.stderr


@pytest.mark.parametrize(("value", "code"), [("a", 2), ("7", 2)])
def test_a_bad_variable_is_named(mipaudit, value, code):
    done = mipaudit(*EASY, env={"MIPAUDIT_PRIOR": value})
    assert done.returncode == code
    assert "It is set by the environment variable MIPAUDIT_PRIOR." in done.stderr


def test_help_schema_and_version_need_no_sound_file(mipaudit, write):
    write("nonsense = \n")
    for words in (("bounds", "--help"), ("schema",), ("--version",)):
        assert mipaudit(*words).returncode == 0


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


@pytest.mark.parametrize(
    ("today", "waiver", "status", "said"),
    [
        ("1767225600", "", 1, "NOT MET: "),  # 2026-01-01
        ("1767225600", WAIVER, 0, "WAIVED, with 1 waiver: "),
        ("32503680000", WAIVER, 1, "expired after 2999-12-31"),  # 3000-01-01
    ],
)
def test_limits_and_waivers_of_a_file(mipaudit, write, scores, today, waiver, status, said):
    write(LIMIT + waiver)
    done = mipaudit("estimate", scores, env={"SOURCE_DATE_EPOCH": today})
    assert done.returncode == status, done.stderr
    assert said in done.stdout
    for form in ("markdown", "html", "junit", "csv", "json"):
        shown = mipaudit("estimate", scores, "-f", form, env={"SOURCE_DATE_EPOCH": today})
        assert shown.returncode == status
        assert form == "csv" or not waiver or "A. Person" in shown.stdout


def test_junit_skips_what_is_waived_and_fails_what_is_expired(mipaudit, write, scores):
    write(LIMIT + WAIVER)
    early = mipaudit("estimate", scores, "-f", "junit", env={"SOURCE_DATE_EPOCH": "1767225600"})
    assert 'failures="0"' in early.stdout
    assert "<skipped message=" in early.stdout
    late = mipaudit("estimate", scores, "-f", "junit", env={"SOURCE_DATE_EPOCH": "32503680000"})
    assert 'failures="1"' in late.stdout


def test_a_bad_limit_names_its_file(mipaudit, write, scores):
    write(LIMIT + '[[limit]]\nquantity = "auk"\nmax = 1\n')
    done = mipaudit("estimate", scores)
    assert done.returncode == 2
    assert "Limit 2" in done.stderr
    assert "It is set by the file mipaudit.toml." in done.stderr


def test_nothing_is_loaded_for_a_file_that_is_not_there(environment, tmp_path):
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\n"
        "sys.argv = ['mipaudit', 'bounds', '--epsilon', '1']\n"
        "from mipaudit.cli.app import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "tomllib" not in done.stderr.split()


def test_settings_in_two_places_of_one_file_are_an_error(mipaudit, tmp_path):
    text = "max_advantage = 0.05\n[tool.mipaudit]\nprior = 0.5\n"
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    done = mipaudit("estimate", "scores.csv", "--config", "policy.toml")
    assert done.returncode == 2
    assert "at its top and under" in done.stderr


POLICY = "[tool.mipaudit]\nprior = 0.2\n"


@pytest.mark.parametrize(
    "data",
    [
        POLICY.encode("utf-16"),
        POLICY.encode("utf-16-be"),
        POLICY.encode("utf-32"),
        b"\xef\xbb\xbf[tool]\nmipaudit = { prior = 0.2 }\n",
        POLICY.replace("mipaudit", "mip-audit").encode(),
        POLICY.replace("mipaudit", "MIPAudit").encode(),
        POLICY.replace("mipaudit", "mip_audit").encode(),
    ],
)
def test_a_project_file_that_nearly_holds_a_policy_is_not_passed_over(mipaudit, tmp_path, data):
    (tmp_path / "pyproject.toml").write_bytes(data)
    done = mipaudit(*EASY)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pyproject.toml" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        POLICY.replace("tool.mipaudit", "tool" + " " * 20 + "." + " " * 20 + "mipaudit"),
        POLICY.replace("tool", '"t\\u006fol"'),
        POLICY.replace("mipaudit", '"mip\\u0061udit"'),
    ],
)
def test_unusual_ways_to_write_the_table(mipaudit, write, text):
    write(text, "pyproject.toml")
    assert setting(mipaudit(*EASY, "-f", "json"), "prior")[0] == 0.2


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
