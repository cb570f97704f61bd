"""The policy file, the environment, and what goes before what."""

from __future__ import annotations

import json
import os
import shutil
from hashlib import sha256

import pytest

from mipaudit.cli.settings import keys_of
from mipaudit.options.commands import CONFIGURED
from tests.places import ROOT
from tests.within import run_within

EASY = ("bounds", "--epsilon", "1")
OWN, PROJECT = "mipaudit.toml", "pyproject.toml"
LIMIT = '[[limit]]\nquantity = "auc"\nmax = 0.6\n'
WAIVER = (
    '[[waiver]]\nquantity = "auc"\nreason = "known"\nperson = "A. Person"\nexpires = 2999-12-31\n'
)
GROUP = '[[limit]]\nquantity = "advantage"\nmax = 0.9\ngroup = "*"\n'
MAX = "max_advantage = 0.9\n"
PRIVATE = 'scores = "private.parquet"\n'
POLICY = "[tool.mipaudit]\nprior = 0.2\n"


@pytest.fixture
def write(tmp_path):
    def written(text, name=OWN):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


@pytest.fixture
def scores(write):
    rows = [f"1,{i * 37 % 1000 + 300}.5,{i % 2}" for i in range(600)]
    rows += [f"0,{i * 37 % 1000}.5,{i % 2}" for i in range(600)]
    write("\n".join([f"{row.rpartition(',')[0]}" for row in ["member,loss,", *rows]]), "scores.csv")
    write("\n".join(["member,loss,site", *rows]), "grouped.csv")
    return "scores.csv"


@pytest.fixture
def samples(tmp_path, write):
    for name in ("private.parquet", "leaky.parquet"):
        shutil.copy(ROOT / "sample_data" / name, tmp_path)
    write("loss\n" + "0.5\n0.25\n" * 30, "members.csv")
    write("loss\n" + "0.5\n0.125\n" * 30, "holdout.csv")
    return tmp_path


def provenance(done):
    assert done.returncode in {0, 1, 3}, done.stderr
    return json.loads(done.stdout)["provenance"]


def setting(done, name):
    found = provenance(done)["settings"]
    return next(((s["value"], s["source"], s["where"]) for s in found if s["name"] == name), None)


LOW = {OWN: "prior = 0.1"}
UNSET = (0.5, "default", None)
OF_PROJECT = (0.2, "file", PROJECT)


@pytest.mark.parametrize(
    ("files", "words", "env", "expected"),
    [
        ({}, "", {}, UNSET),
        (LOW, "", {}, (0.1, "file", OWN)),
        (LOW, "", {"PRIOR": "0.2"}, (0.2, "environment", "MIPAUDIT_PRIOR")),
        (LOW, "--prior 0.3", {"PRIOR": "0.2"}, (0.3, "command line", None)),
        (LOW, "", {"PRIOR": ""}, (0.1, "file", OWN)),
        ({}, "", {"PRIOR": "0.2"}, (0.2, "environment", "MIPAUDIT_PRIOR")),
        # The table of a command goes before the top.
        (
            {OWN: "prior = 0.1\n[bounds]\nprior = 0.2\n[noise]\neta = 0.1"},
            "",
            {},
            (0.2, "file", OWN),
        ),
        # The table of a project file, however it is written.
        *(
            ({PROJECT: text}, "", {}, OF_PROJECT)
            for text in (
                POLICY,
                POLICY.replace("tool.", "tool" + " " * 20 + "." + " " * 20),
                POLICY.replace("tool", '"t\\u006fol"'),
                POLICY.replace("mipaudit", '"mip\\u0061udit"'),
                '[tool."mipaudit"]\nprior = 0.2',
                "[tool]\nmipaudit = {prior = 0.2}",
                "tool.mipaudit.prior = 0.2",
            )
        ),
        # One about something else is not even read.
        ({PROJECT: "[tool.other]\nthis is not TOML"}, "", {}, UNSET),
        # The nearest folder up to the repository.
        ({"../mipaudit.toml": "prior = 0.1"}, "", {}, (0.1, "file", "../mipaudit.toml")),
        ({"../mipaudit.toml": "prior = 0.1", ".git/x": ""}, "", {}, UNSET),
        # Named and forgone.
        ({**LOW, "o.toml": POLICY}, "--config o.toml", {}, (0.2, "file", "o.toml")),
        ({**LOW, "o.toml": POLICY}, "", {"CONFIG": "o.toml"}, (0.2, "file", "o.toml")),
        (LOW, "--no-config", {}, UNSET),
        ({"o.toml": POLICY}, "--no-config", {"CONFIG": "o.toml"}, UNSET),
    ],
)
def test_where_a_value_is_from(environment, tmp_path, write, files, words, env, expected):
    for name, text in {"x": "", **files}.items():
        write(text, f"inner/{name}")
    folder = tmp_path / "inner"
    given = {f"MIPAUDIT_{name}": value for name, value in env.items()}
    words = [*EASY, *words.split(), "-f", "json"]
    done = run_within(words, environment={**environment, **given}, folder=folder)
    assert setting(done, "prior") == expected
    if expected[1] == "file":
        digest = sha256((folder / expected[2]).read_bytes()).hexdigest()
        assert setting(done, "config") == (expected[2], "file", f"sha256 {digest}")
    if expected[1] == "default":
        assert setting(done, "config") is None


@pytest.mark.parametrize(
    ("text", "env", "name", "value"),
    [
        ('metric = ["ppv", "f1"]', {}, "metric", ["ppv", "f1"]),
        ('score_col = "loss"', {}, "score_columns", ["loss"]),
        ("strict = true", {}, "strict", True),
        ("min-recall = 0.2", {}, "min_recall", 0.2),  # as with an underscore
        ("prior = 0.5", {"MIPAUDIT_METRIC": "ppv f1"}, "metric", ["ppv", "f1"]),
    ],
)
def test_lists_flags_and_dashes(mipaudit, write, scores, text, env, name, value):
    write(f"{text}\n")
    where = ("environment", "MIPAUDIT_METRIC") if env else ("file", OWN)
    assert setting(mipaudit("estimate", scores, "-f", "json", env=env), name) == (value, *where)


@pytest.mark.parametrize(
    ("files", "words", "said"),
    [
        ({OWN: b"\xff\xfe"}, "", "is not TOML"),
        ({"folder/x": ""}, "--config folder", "cannot be read"),
        ({}, "--config none.toml", "There is no file"),
        (LOW, "--config mipaudit.toml --no-config", "cannot go together"),
        (LOW, "--no-config --config mipaudit.toml", "cannot go together"),
        ({"p.toml": f"prior = 0.1\n{POLICY}"}, "--config p.toml", "at its top and under"),
        ({**LOW, PROJECT: POLICY}, "", "Both"),
        # A project file that nearly holds a policy is not passed over.
        *(
            ({PROJECT: data}, "", PROJECT)
            for data in (
                *map(POLICY.encode, ("utf-16", "utf-16-be", "utf-32", "utf-8-sig")),
                *(POLICY.replace("mipaudit", x) for x in ("mip-audit", "MIPAudit", "mip_audit")),
            )
        ),
        *(
            ({OWN: text}, "", said)
            for text, said in (
                ("prioor = 0.1", "Did you mean 'prior'?"),
                ("max_advantge = 0.1", "Did you mean 'max_advantage'?"),
                ("[bonds]\nprior = 0.1", "Did you mean 'bounds'?"),
                ("[bounds]\npriro = 0.1", "Did you mean 'prior'?"),
                ("[estimate]\nmax_risk = 0.1", "under 'estimate'"),
                ("[[limits]]\nmax = 0.1", "Did you mean 'limit'?"),
                ("[declares]\nrelease = 'v1'", "Did you mean 'declare'?"),
                ("[declare]\nsubject = 7", "Did you mean 'subjects'?"),
                ("[declare]\nsubjects = '7'", "'declare.subjects' in 'mipaudit.toml' must be a w"),
                ("[declare]\nsubjects = 0", "--data-subjects must be from 1 to 10,000,000,000"),
                ("[declare]\ncontroller = 7", "'declare.controller' in 'mipaudit.toml' must be a"),
                (f"[declare]\ncontroller = '{'c' * 201}'", "--controller must be 1 to 200 char"),
                ("[declare]\nseen_by = 'nobody'", "--seen-by"),
                ("prior = true", "must be a number"),
                ("prior = '0.1'", "must be a number"),
                ("", "has no key of mipaudit"),
                ("# max_advantage = 0.1\n", "has no key of mipaudit"),
                ("[estimate]\n[records]\n", "has no key of mipaudit"),
                *(
                    (f"seed = {seed}", "must be a whole number, or the text 'fresh'")
                    for seed in ("1.5", "true", "'new'")
                ),
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
                *(
                    (f"scores = {value}", "'scores' in 'mipaudit.toml' must be a text")
                    for value in ("3", '""', "[1]", "true")
                ),
                ("adjacency = 'near'", "It is set by the file mipaudit.toml."),
            )
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_said(mipaudit, write, files, words, said):
    for name, text in files.items():
        write(text, name)
    done = mipaudit(*EASY, *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    named = OWN in done.stderr or "twice" in done.stderr or "[[" in str(files.get(OWN))
    assert OWN not in files or words or named


@pytest.mark.parametrize("typed", ["a", "7"])
def test_a_value_that_was_typed_is_not_blamed_on_the_file(mipaudit, write, typed):
    write("prior = 0.1")
    done = mipaudit(*EASY, "--prior", typed)
    assert done.returncode == 2
    assert "--prior" in done.stderr
    assert "It is set by" not in done.stderr


@pytest.mark.parametrize("name", [OWN, PROJECT])
def test_what_stands_where_a_policy_should_is_not_passed_over(mipaudit, tmp_path, name):
    place = tmp_path / name
    place.symlink_to("gone.toml")
    assert "cannot be read" in mipaudit(*EASY).stderr
    place.unlink()
    os.mkfifo(place)
    done = mipaudit(*EASY)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MIPAUDIT_PRIOR", "a", "It is set by the environment variable MIPAUDIT_PRIOR."),
        ("MIPAUDIT_PRIOR", "7", "It is set by the environment variable MIPAUDIT_PRIOR."),
        ("MIPAUDIT_MAX_ADVANTGE", "0.05", "Did you mean MIPAUDIT_MAX_ADVANTAGE?"),
        ("MIPAUDIT_MAXADVANTAGE", "0.05", "Did you mean MIPAUDIT_MAX_ADVANTAGE?"),
        ("mipaudit_max_advantage", "0.05", "Did you mean MIPAUDIT_MAX_ADVANTAGE?"),
        ("MIPAUDIT_CONFIGS", "x", "Did you mean MIPAUDIT_CONFIG?"),
        ("MIPAUDIT_SOMETHING", "x", "The environment variable MIPAUDIT_SOMETHING is unknown."),
        # Of other commands, and of completion.
        *((name, "0.05", None) for name in ("MIPAUDIT_BY", "MIPAUDIT_TAU", "_MIPAUDIT_OTHER")),
    ],
)
def test_a_bad_variable_and_one_that_nobody_knows_are_errors(mipaudit, name, value, said):
    done = mipaudit(*EASY, env={name: value})
    if said is None:
        assert (done.returncode, done.stderr) == (0, "")
        return
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert name in done.stderr
    assert mipaudit(*EASY, env={name: ""}).returncode == 0  # an empty one is none
    assert mipaudit("help", "environment", env={name: value}).returncode == 0


@pytest.mark.parametrize("words", ["bounds --help", "schema", "--version"])
def test_help_schema_and_version_need_no_sound_file(mipaudit, write, words):
    write("nonsense = \n")
    assert mipaudit(*words.split()).returncode == 0


@pytest.mark.parametrize(
    ("today", "waiver", "status", "said", "junit"),
    [
        ("1767225600", "", 1, "NOT MET: ", 'failures="1"'),  # 2026-01-01
        ("1767225600", WAIVER, 0, "WAIVED, with 1 limit accepted by waiver: ", "<skipped message="),
        ("32503680000", WAIVER, 1, "expired after 2999-12-31", 'failures="1"'),  # 3000-01-01
    ],
)
def test_limits_and_waivers_of_a_file(mipaudit, write, scores, today, waiver, status, said, junit):
    write(LIMIT + waiver)
    for form in ("table", "markdown", "html", "junit", "csv", "json"):
        done = mipaudit("estimate", scores, "-f", form, env={"SOURCE_DATE_EPOCH": today})
        assert done.returncode == status, done.stderr
        assert {"table": said, "junit": junit}.get(form, "") in done.stdout
        assert form in {"csv", "table"} or not waiver or "A. Person" in done.stdout


def test_a_bad_limit_names_its_file(mipaudit, write, scores):
    write(LIMIT + '[[limit]]\nquantity = "auk"\nmax = 1\n')
    done = mipaudit("estimate", scores)
    assert done.returncode == 2
    assert "Limit 2" in done.stderr
    assert "It is set by the file mipaudit.toml." in done.stderr


def test_what_is_declared_is_of_every_report(mipaudit, write):
    write(
        "data_subjects = 7\n[bounds]\ntitle = 'T'\n"  # the command's own
        "[declare]\nrelease = 'v1'\ntitle = 'D'\nsubjects = 1200\n"
    )
    found = provenance(mipaudit(*EASY, "--controller", "C", "-f", "json"))["declared"]
    expected = {"title": "T", "release": "v1", "subjects": 1200, "controller": "C"}
    assert {name: value for name, value in found.items() if value is not None} == expected


def test_which_file_is_used_is_no_key_of_one():
    for command in CONFIGURED:
        assert {"config", "no_config", "help"}.isdisjoint(keys_of(command))


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
    env = {variable: "0.05"} if variable else {}
    done = mipaudit("records", scores, env=env)
    assert done.returncode == 0
    assert done.stderr == ("" if named is None else f"mipaudit records does not judge {named}.\n")
    assert ("not judged here" in " ".join(done.stdout.split())) == (named is None)
    assert mipaudit("records", scores, "--quiet", env=env).stderr == ""
    epsilon = mipaudit("epsilon", scores, "--design", "one-run", env=env)
    assert ("[[limit]] in mipaudit.toml" in epsilon.stderr) == (text == LIMIT)
    assert mipaudit("check", scores, env=env).stderr == ""


@pytest.mark.parametrize(("variable", "class_"), [("", "any"), ("thresholds", "thresholds")])
def test_the_attackers_of_a_file_are_those_of_its_limits_on_groups(
    mipaudit, write, scores, variable, class_
):
    write(f'against = "any"\n{GROUP}')
    words = ("records", "grouped.csv", "--score-col", "loss", "--by", "site", "-f", "json")
    done = mipaudit(*words, env={"MIPAUDIT_AGAINST": variable})
    assert {one["against"] for one in json.loads(done.stdout)["policy"]} == {class_}
    assert done.returncode == (3 if class_ == "any" else 0)  # no upper limit for any attacker
    write(done.stdout, "report.json")
    assert mipaudit("verify", "report.json", "--input", "grouped.csv").returncode == 0


def test_the_scores_may_stand_in_the_file(mipaudit, samples, write):
    def inputs(*words, **how):
        return [one["name"] for one in provenance(mipaudit(*words, "-f", "json", **how))["inputs"]]

    write(PRIVATE + MAX)
    assert inputs("estimate") == ["private.parquet"]
    assert mipaudit("estimate").stdout.startswith("MET: ")
    # What is typed goes before.
    assert inputs("check", "leaky.parquet") == ["leaky.parquet"]
    apart = ("--members", "members.csv", "--holdout", "holdout.csv")
    assert inputs("check", *apart) == ["members.csv", "holdout.csv"]
    # They are found from the folder of the file.
    write('scores = ["../private.parquet"]\n', "policies/p.toml")
    assert inputs("check", "--config", "policies/p.toml") == ["policies/../private.parquet"]
    # Without a word only a file that is found names them: a pipeline may have lost its words.
    (samples / OWN).rename(samples / "p.toml")
    env = {"MIPAUDIT_CONFIG": "p.toml"}
    assert mipaudit("check", env=env).returncode == 2
    assert mipaudit("check", "-q", env=env).returncode == 0


def test_another_commands_scores_are_not_those(mipaudit, samples, write):
    write(PRIVATE)
    logits = str(ROOT / "sample_data" / "model.npz")
    for words in (
        EASY,
        ("query", "losses", "--logits", logits, "-o", "s.csv"),
        ("epsilon", "--canaries", "100", "--guesses", "50", "--correct", "40"),
    ):
        done = mipaudit(*words)
        assert done.returncode == 0, done.stderr
    # Without words there is nothing to do, but for who takes scores.
    assert mipaudit("epsilon").stderr.startswith("Usage: ")


DUTY = "require_policy = true\n"
ASKED = "--require-policy"


@pytest.mark.parametrize(
    ("words", "file", "status"),
    [
        (f"estimate private.parquet {ASKED}", "prior = 0.5", 2),
        ("estimate private.parquet", DUTY, 2),
        ("estimate private.parquet", f"[estimate]\n{DUTY}", 2),
        ("records private.parquet", f"[estimate]\n{DUTY}", 0),
        (f"estimate private.parquet {ASKED}", MAX, 0),
        (f"estimate private.parquet {ASKED}", "max_copies = 0\n", 3),
        (f"estimate private.parquet {ASKED}", GROUP, 2),
        (f"records private.parquet {ASKED}", MAX, 2),
        (f"records private.parquet {ASKED}", "max_risk = 0.9\n", 0),
        (f"compare leaky.parquet {ASKED}", MAX, 2),
        (f"attack private.parquet {ASKED}", MAX, 0),
        ("check private.parquet", DUTY, 0),
        ("estimate private.parquet", None, 2),
        # What is too much is refused, too.
        ("records", 'scores = ["private.parquet", "leaky.parquet"]\n', 2),
    ],
)
def test_a_policy_may_be_required(mipaudit, samples, write, words, file, status):
    write(file or "prior = 0.5\n")
    done = mipaudit(*words.split(), env={} if file else {"MIPAUDIT_REQUIRE_POLICY": "true"})
    assert done.returncode == status, done.stderr
    if status == 2:
        too_many = "takes only one score file"
        assert (too_many if words == "records" else f"{ASKED} asks for one") in done.stderr
        assert file or "MIPAUDIT_REQUIRE_POLICY" in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    "text", ['score_col = "loss"', "prior = 0.3", "discrete = true", 'unit_col = "who"']
)
def test_settings_for_all_commands_do_not_keep_reports_from_being_compared(
    mipaudit, samples, write, text
):
    for name in ("a.json", "b.json"):
        mipaudit("estimate", "private.parquet", "-o", name)
    write(text)
    assert mipaudit("compare", "a.json", "b.json").returncode == 0
    typed = mipaudit("compare", "a.json", "b.json", "--score-col", "loss", "--no-config")
    assert typed.returncode == 2


@pytest.mark.parametrize(
    ("text", "words", "refusal"),
    [
        ("delta = 1e-5", "estimate private.parquet", "can only be used with"),
        ('blind_against = "thresholds"', "estimate private.parquet", "can only be used with"),
        ('unit_rows = "mean"', "estimate private.parquet", "can only be used with"),
        ('small_groups = "refuse"', "records private.parquet", "can only be used with"),
        ("categories = 3", "bounds --epsilon 1", "can only be used with"),
        ('method = "mace"', "epsilon private.parquet --design independent-runs", "method"),
    ],
)
def test_what_goes_with_another_command_is_no_mistake_but_in_its_own_table(
    mipaudit, samples, write, text, words, refusal
):
    key, words = text.partition(" ")[0], words.split()
    write(text)
    assert setting(mipaudit(*words, "-f", "json"), key)[1] == "default"
    for wrong in (f"[{words[0]}]\n{text}\n", *['method = "nothing"\n'] * (key == "method")):
        write(wrong)
        meant = mipaudit(*words)
        assert (meant.returncode, refusal in meant.stderr) == (2, True)


def test_it_counts_where_it_means_something(mipaudit, samples, write):
    write("delta = 1e-5\n")
    done = mipaudit("estimate", "private.parquet", "--claimed-epsilon", "3", "-f", "json")
    assert setting(done, "delta") == (1e-5, "file", OWN)
