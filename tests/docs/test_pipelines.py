"""The recipes for pipelines run: the page, the hooks and the action."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from mipaudit.cli.hook import split, worst
from mipaudit.errors import UsageError
from mipaudit.output import exit_code

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = (ROOT / "docs" / "how-to" / "pipelines.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- run: (.*?) -->\n```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(PAGE)
SHELL_BLOCKS = [(how, text) for how, language, text in BLOCKS if language == "sh"]
# As GitHub runs `shell: bash`.
GITHUB_BASH = ("-e", "-o", "pipefail")


def load(name):
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


plain_yaml = load("plain_yaml")
pipeline_shell = load("pipeline_shell")
ACTION = plain_yaml.read((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = {
    hook["id"]: hook
    for hook in plain_yaml.read((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}


@pytest.fixture
def shell(tmp_path, programs):
    return pipeline_shell.Shell(tmp_path, programs)


def block(how):
    """Return the one block that is marked so."""
    (text,) = [text for marked, _, text in BLOCKS if marked == how]
    return text


def failures(path):
    (suite,) = ET.parse(path).getroot()  # noqa: S314 - it was written here
    return int(suite.attrib["failures"])


# The page


def test_every_block_says_how_it_is_run():
    unmarked = re.sub(BLOCK, "", PAGE)
    assert re.findall(r"^```(\w+)$", unmarked, flags=re.MULTILINE) == ["text"]  # the crontab
    assert len(SHELL_BLOCKS) >= 8


@pytest.mark.parametrize(("how", "script"), SHELL_BLOCKS, ids=range(len(SHELL_BLOCKS)))
def test_a_shell_block_ends_as_it_says(shell, how, script):
    done = shell.run(script)

    assert done.returncode == int(how.removeprefix("exit ")), done.stderr
    written = set(re.findall(r"-o (\w+\.\w+)", script)) | set(re.findall(r" > ([\w.]+)$", script))
    assert all((shell.folder / name).stat().st_size for name in written)


@pytest.mark.parametrize("script", [text for _, text in SHELL_BLOCKS if " -o " in text])
def test_no_recipe_takes_an_earlier_report_for_its_own(shell, script):
    first = shell.run(script)
    written = [one for one in shell.folder.rglob("*") if one.suffix in {".txt", ".json", ".html"}]
    assert written, first.stderr
    for one in written:
        one.write_text("of an earlier run")
    (shell.folder / "scores.parquet").write_text("nothing that could be audited")

    assert shell.run(script).returncode == 2
    # tee makes an empty file of it.
    assert not [one for one in written if one.exists() and one.read_text()]


@pytest.mark.parametrize(
    ("old", "new", "code", "shown"),
    [
        ("# The next day", "", 0, "The report AGREES."),
        ("max_advantage = 0.5 ", "max_advantage = 0.1 ", 1, "NOT MET"),
        ("sha256sum -c", 'sed -i \'s/"met"/"not_met"/\' report.json #', 1, "DIFFERS in "),
        ("# The next day", "echo >> report.json", 1, "FAILED"),
        ("cat > mipaudit.toml", "cat > /dev/null", 2, ""),
    ],
)
def test_the_whole_pipeline_stops_where_it_should(shell, old, new, code, shown):
    (script,) = [text for _, text in SHELL_BLOCKS if "mipaudit verify" in text]
    assert old in script

    done = shell.run(script.replace(old, new))

    assert done.returncode == code, done.stderr
    assert shown in done.stdout
    # Where there is a report there is a page.
    assert (shell.folder / "report.html").exists() == (code != 2)


def test_the_container_has_no_rights_and_no_network(shell):
    (script,) = [text for _, text in SHELL_BLOCKS if "podman run" in text]
    shell.run(script)
    build, run = (shell.folder / "podman.log").read_text(encoding="utf-8").splitlines()

    assert "--file .ci/release/Containerfile" in build
    assert {"--network=none", "--read-only", "--cap-drop=all", "--rm"} <= set(run.split())
    assert f"{shell.folder}:/data:ro" in run
    assert json.loads((shell.folder / "report.json").read_text())["verdict"]["status"] == "met"


def test_make_makes_the_report_once_and_stops_where_it_is_not_met(shell):
    makefile = shell.folder / "Makefile"
    makefile.write_text(block("make audit.txt"), encoding="utf-8")

    assert shell.call(["make", "audit.txt"]).returncode == 0
    assert "up to date" in shell.call(["make", "audit.txt"]).stdout
    (shell.folder / "audit.txt").unlink()
    makefile.write_text(block("make audit.txt").replace("0.5", "0.1"), encoding="utf-8")
    done = shell.call(["make", "audit.txt"])
    assert done.returncode == 2
    assert "Error 1" in done.stderr
    assert not (shell.folder / "audit.txt").exists()
    assert "NOT MET" in (shell.folder / "audit.txt.new").read_text(encoding="utf-8")
    (shell.folder / "scores.parquet").write_text("nothing that could be audited")
    assert "Error 2" in shell.call(["make", "audit.txt"]).stderr
    assert not (shell.folder / "audit.txt.new").exists()


@pytest.mark.parametrize(("limit", "code"), [("0.5", 0), ("0.2", 3), ("0.1", 1)])
def test_gitlab_keeps_the_artifact_whatever_the_verdict(shell, limit, code):
    job = plain_yaml.read(block("script"))["privacy"]
    (line,) = job["script"]

    done = shell.run(line.replace("0.5", limit))

    assert done.returncode == code
    assert job["artifacts"]["when"] == "always"
    assert (failures(shell.folder / job["artifacts"]["reports"]["junit"]) > 0) == (code > 0)
    assert job["allow_failure"]["exit_codes"] == exit_code.INCONCLUSIVE


def test_jenkins_reads_what_its_step_writes(shell):
    text = block("jenkins")
    (script,) = re.findall(r"'''(.*?)'''", text, flags=re.DOTALL)

    assert shell.run(script).returncode == 0
    (written,) = re.findall(r"testResults: '(.*?)'", text)
    assert failures(shell.folder / written) == 0
    (shell.folder / "scores.parquet").write_text("nothing that could be audited")
    assert shell.run(script).returncode == 2  # the workspace of a job is that of the last one
    assert not (shell.folder / written).exists()
    assert f"code == {exit_code.INCONCLUSIVE}" in text
    assert text.count("{") == text.count("}")


# The action


def step(name):
    (found,) = [one for one in ACTION["runs"]["steps"] if one["name"] == name]
    return found


def act(shell, **inputs):
    """Run the audit's step; return its end, its outputs and the job's summary."""
    temporary = shell.folder.parent / "temp"
    (temporary / "mipaudit" / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(shell.programs / "mipaudit", temporary / "mipaudit" / "bin" / "mipaudit")
    defaults = {name: one.get("default") for name, one in ACTION["inputs"].items()}
    given = {**defaults, **inputs}
    variables = {
        name: given[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value).group(1)]
        for name, value in step("Audit")["env"].items()
    }
    files = {
        "GITHUB_OUTPUT": temporary / "output",
        "GITHUB_STEP_SUMMARY": temporary / "summary",
    }
    for path in files.values():
        path.write_text("", encoding="utf-8")
    variables |= {name: str(path) for name, path in files.items()}
    variables["RUNNER_TEMP"] = str(temporary)
    done = shell.run(step("Audit")["run"], variables=variables, options=GITHUB_BASH)
    lines = files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
    summary = files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
    return done, dict(line.split("=", 1) for line in lines), summary


@pytest.mark.parametrize(
    ("limit", "code", "verdict"),
    [("0.5", 0, "met"), ("0.1", 1, "not_met"), ("0.2", 3, "inconclusive")],
)
def test_the_action_fails_by_the_verdict(shell, limit, code, verdict):
    done, outputs, summary = act(
        shell, scores="scores.parquet", arguments=f"--max-advantage {limit}"
    )

    assert done.returncode == code
    assert (outputs["exit-code"], outputs["verdict"]) == (str(code), verdict)
    report = json.loads((shell.folder / outputs["json"]).read_text(encoding="utf-8"))
    assert report["verdict"]["status"] == verdict
    assert (failures(shell.folder / outputs["junit"]) > 0) == (code > 0)
    assert summary.startswith("# ")
    assert "lira_online" in summary
    assert set(outputs) == set(ACTION["outputs"])
    assert done.stderr == ""


def test_the_actions_arguments_are_words_and_never_commands(shell):
    hostile = "--max-advantage 0.5 --where 'score_col = $(touch stolen)' ; touch stolen"
    done, outputs, _ = act(shell, scores="scores.parquet", arguments=hostile)
    several, taken, _ = act(
        shell, scores="scores.parquet", arguments="--score-col loss\n--prior .5"
    )

    assert done.returncode == 2
    assert outputs["verdict"] == "error"
    assert not (shell.folder / "stolen").exists()
    assert (several.returncode, taken["verdict"]) == (0, "no_policy")


@pytest.mark.parametrize(
    ("scores", "arguments"),
    [
        ("scores.parquet", "--max-advantage '0.1"),  # an open quote must not lose the policy
        ("scores.parquet", "--max-advantage"),
        ("gone.parquet", ""),
        ("-v", ""),
    ],
)
def test_the_action_says_that_nothing_was_judged(shell, scores, arguments):
    act(shell, scores="scores.parquet", arguments="")  # its report must not be taken for this one's
    done, outputs, summary = act(shell, scores=scores, arguments=arguments)

    assert done.returncode == 2
    assert (outputs["exit-code"], outputs["verdict"]) == ("2", "error")
    assert not (shell.folder / outputs["json"]).exists()
    assert done.stderr
    assert summary.startswith("### The audit did not run\n\n    ")
    left = {path.name for path in (shell.folder / outputs["json"]).parent.iterdir()}
    assert left == {"errors.txt"}, "the reports of an earlier audit are still there"


def test_the_action_installs_itself_and_the_rest_by_hash(shell, tmp_path):
    variables = {"RUNNER_TEMP": str(tmp_path), "ACTION_PATH": "/the/action"}

    done = shell.run(step("Install mipaudit")["run"], variables=variables, options=GITHUB_BASH)

    assert done.returncode == 0, done.stderr
    script = step("Install mipaudit")["run"]
    assert '--require-hashes --only-binary :all: -r "$ACTION_PATH/requirements.lock"' in script
    asked = (tmp_path / "mipaudit" / "asked").read_text(encoding="utf-8").split()
    assert asked[-4:] == ["install", "--no-deps", "--no-build-isolation", "/the/action"]


def test_the_action_imports_nothing_from_the_repository(shell, tmp_path):
    plant(shell.folder)
    shell.environment["PYTHONPATH"] = str(shell.folder)

    done, outputs, _ = act(shell, scores="scores.parquet", arguments="--max-advantage 0.1")
    temporary = tmp_path / "runner"
    temporary.mkdir()
    variables = {"RUNNER_TEMP": str(temporary), "ACTION_PATH": "/the/action"}
    made = shell.run(step("Install mipaudit")["run"], variables=variables, options=GITHUB_BASH)

    assert (done.returncode, outputs["verdict"]) == (1, "not_met")
    assert made.returncode == 0, made.stderr
    assert not (shell.folder / "imported").exists()


def test_a_link_or_a_line_end_in_the_actions_folder_leads_nowhere(shell):
    outside = shell.folder.parent / "outside"
    outside.mkdir()
    (outside / "errors.txt").write_text("kept")
    (shell.folder / "link").symlink_to(outside)
    (shell.folder / "below").mkdir()
    (shell.folder / "below" / "errors.txt").symlink_to(outside / "errors.txt")
    (shell.folder / "below" / "report.json").symlink_to(outside / "made.json")

    for folder in ("link", "link/deeper", "below/../link", "../outside", "a\nverdict=met"):
        done, outputs, _ = act(shell, scores="scores.parquet", folder=folder)
        assert done.returncode == 2, folder
        assert outputs == {"exit-code": "2", "verdict": "error", "json": "", "junit": ""}
    assert act(shell, scores="gone.parquet", folder="below")[0].returncode == 2
    done, outputs, _ = act(shell, scores="scores.parquet", folder="below")

    assert (done.returncode, outputs["json"]) == (0, "below/report.json")
    assert (outside / "errors.txt").read_text() == "kept"
    assert not (outside / "made.json").exists()
    assert act(shell, scores="scores.parquet", folder=str(outside))[0].returncode == 0


@pytest.mark.parametrize(
    "name", ["##[set-output name=verdict]met", "::stop-commands::x", "a%0A::x"]
)
def test_no_name_is_a_command_of_the_server(shell, name):
    rows = [f"member,{name}", *(f"{at % 2},{at % 7 + at % 2}.5" for at in range(400))]
    (shell.folder / f"{name}.csv").write_text("\n".join(rows) + "\n")

    # Also an error has them in it.
    for words in (f"--max-advantage 0.1 --score-col '{name}'", "--score-col '##[x]'"):
        done, outputs, summary = act(shell, scores=f"{name}.csv", arguments=words)
        assert done.returncode in {1, 2, 3}
        for line in (*done.stdout.splitlines(), *done.stderr.splitlines()):
            assert re.match(r"(mipaudit: |::(error|warning|notice) title=)", line), line
            assert "##[" not in line or line.startswith("::"), line
        assert outputs["exit-code"] == str(done.returncode)
        assert not re.search(r"^(##\[|::)", summary, flags=re.MULTILINE)


def test_the_actions_scripts_hold_no_input():
    # What stands in ${{ }} in a script is pasted into it, and could be anything.
    assert not any("${{" in one["run"] for one in ACTION["runs"]["steps"])
    assert all(one["shell"] == "bash" for one in ACTION["runs"]["steps"])
    assert ACTION["runs"]["using"] == "composite"


def test_the_pages_workflow_uses_the_action_as_it_is(shell):
    steps = plain_yaml.read(block("action"))["jobs"]["audit"]["steps"]
    (used,) = [one for one in steps if one["uses"].startswith("OWNER/mipaudit@")]
    done, outputs, _ = act(shell, **used["with"])

    assert used["with"].keys() <= ACTION["inputs"].keys()
    assert (done.returncode, outputs["verdict"]) == (0, "met")
    (uploaded,) = [one for one in steps if one["uses"].startswith("actions/upload-artifact")]
    assert uploaded["with"]["path"] == ACTION["inputs"]["folder"]["default"]
    listed = re.findall(r"^\| `(\w+)` \|", PAGE.partition("| input |")[2], flags=re.MULTILINE)
    assert listed == list(ACTION["inputs"])
    assert all(f"`{name}`" in PAGE for name in ACTION["outputs"])


# The hooks


def hooked(hook, args, files):
    """Return the command that pre-commit runs."""
    script, *words = shlex.split(hook["entry"])
    # A script of the environment that it makes: python -m would look into the repository first.
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, function = scripts["scripts"][script].split(":")
    code = f"import sys; from {module} import {function}; sys.exit({function}())"
    return [sys.executable, "-P", "-c", code, *words, *args, *files]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--max-advantage", "0.5"], 0),
        (["--max-advantage=0.1"], 1),
        (["--max-advantage", "0.2"], 3),
        (["--max-advantage", "0.1", "--exit-zero"], 0),
        (["--max-advantage", "0.1", "--"], 1),
        (["--no-such-option"], 2),
        ([], 0),
    ],
)
def test_the_hook_audits_every_file_that_it_is_given(shell, args, code):
    shutil.copy(ROOT / "sample_data" / "private.parquet", shell.folder / "scores_2.parquet")
    files = ["scores.parquet", "scores_2.parquet"]

    done = shell.call(hooked(HOOKS["mipaudit"], args, files))

    assert done.returncode == code
    assert re.findall(r"^== (.*)$", done.stdout, flags=re.MULTILINE) == files * (code != 2)
    assert bool(done.stderr) == (code == 2)


def test_the_checking_hook_refuses_what_cannot_be_audited(shell):
    (shell.folder / "scores.csv").write_text("member,score\n1,nan\n0,2\n", encoding="utf-8")
    good = hooked(HOOKS["mipaudit-check"], [], ["scores.parquet"])
    bad = hooked(HOOKS["mipaudit-check"], [], ["scores.csv", "scores.parquet"])

    assert shell.call(good).returncode == 0
    done = shell.call(bad)
    assert done.returncode == 2
    assert done.stdout.count("== ") == 2


MODULES = ("mipaudit", "json", "typer", "numpy", "venv", "pip", "sitecustomize", "site")


def plant(folder):
    """Put modules into what is audited, which say that they were imported."""
    for name in MODULES:
        (folder / f"{name}.py").write_text("open('imported', 'w')\nraise SystemExit(0)\n")


def test_the_hook_imports_nothing_from_the_repository(shell):
    plant(shell.folder)

    done = shell.call(hooked(HOOKS["mipaudit"], ["--max-advantage", "0.1"], ["scores.parquet"]))

    assert done.returncode == 1, done.stderr
    assert not (shell.folder / "imported").exists()


def test_options_and_files_are_told_apart_by_the_commands_own_parser():
    options, files = split("estimate", ["-q", "--score-col", "a.csv", "--", "-b.csv", "c.csv"])

    assert (options, files) == (["-q", "--score-col", "a.csv"], ["-b.csv", "c.csv"])
    with pytest.raises(UsageError, match="behind"):
        split("estimate", ["a.csv", "--prior", "0.1", "b.csv"])
    with pytest.raises(UsageError, match="No score file"):
        split("estimate", ["--prior", "0.1"])


@pytest.mark.parametrize(
    ("codes", "expected"),
    [([0], 0), ([0, 3], 3), ([3, 1, 0], 1), ([1, 2], 2), ([2, 70, 1], 70), ([1, 130], 130)],
)
def test_the_worst_code_counts(codes, expected):
    assert worst(codes) == expected


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_a_hook_says_which_files_it_is_for(hook):
    pattern = re.compile(hook["files"])

    taken = ["scores.csv", "a/b/score-1.parquet", "scores_b.csv.gz", "scores.csv.zst"]
    left = ["README.md", "data.csv", "my_scores.csv", "scores.py", "scores/data.csv", "x.parquet"]
    assert all(pattern.search(name) for name in taken)
    assert not any(pattern.search(name) for name in left)
    # Each process would start threads of its own.
    assert (hook["language"], hook["require_serial"]) == ("python", True)


def test_the_pages_configuration_runs(shell):
    (repository,) = plain_yaml.read(block("pre-commit"))["repos"]

    for configured in repository["hooks"]:
        hook = HOOKS[configured["id"]]
        assert re.search(configured.get("files", hook["files"]), "scores.parquet")
        done = shell.call(hooked(hook, configured.get("args", []), ["scores.parquet"]))
        assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("pre-commit") is None, reason="pre-commit is not installed")
@pytest.mark.parametrize(("limit", "code"), [("0.5", 0), ("0.1", 1)])
def test_pre_commit_itself_runs_the_hook(shell, limit, code):
    hook = HOOKS["mipaudit"]
    entry = " ".join(hooked(hook, [], []))
    config = f"""
repos:
  - repo: local
    hooks:
      - id: mipaudit
        name: {hook["name"]}
        language: system
        entry: {entry}
        args: [--max-advantage, "{limit}"]
        files: {hook["files"]}
"""
    (shell.folder / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    cache = {"PRE_COMMIT_HOME": str(shell.folder.parent / "cache")}
    for command in (["git", "init", "-q"], ["git", "add", "."]):
        assert shell.call(command).returncode == 0

    done = shell.call(["pre-commit", "run", "--all-files"], cache)

    assert done.returncode == code, done.stdout
    assert ("exit code: 1" in done.stdout) == (code == 1)
    assert ("NOT MET" in done.stdout) == (code == 1)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nope", "a.csv"),
        ("--max-advantage", "0.1", "a.csv"),
        ("bounds", "a.csv"),
        ("estimate",),
        ("estimate", "-o", "o.json", "a.csv", "b.csv"),
    ],
)
def test_a_hook_that_is_set_up_wrongly_is_a_usage_error(tmp_path, words):
    done = subprocess.run(
        [sys.executable, "-m", "mipaudit.cli.hook", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: ")
