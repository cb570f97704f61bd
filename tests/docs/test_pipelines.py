"""The recipes for pipelines run: the page, the hooks and the action."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import tomllib
from xml.etree import ElementTree as ET

import pytest
import yaml

from mipaudit.cli.hook import split, worst
from mipaudit.errors import UsageError
from mipaudit.output import exit_code
from tests.places import ROOT

PAGE = (ROOT / "docs" / "how-to" / "pipelines.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- run: (.*?) -->\n```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(PAGE)
SHELL_BLOCKS = [(how, text) for how, language, text in BLOCKS if language == "sh"]
NOTHING = "nothing that could be audited"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {one["name"]: one for one in ACTION["runs"]["steps"]}
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
HOOKS = {hook["id"]: hook for hook in HOOKS}
# By a limit on the advantage of the leaky sample.
VERDICTS = [("0.5", 0, "met"), ("0.1", 1, "not_met"), ("0.2", 3, "inconclusive")]
MODULES = ("mipaudit", "json", "typer", "numpy", "venv", "pip", "sitecustomize", "site")


def block(how):
    """Return the one block that is marked so."""
    (text,) = [text for marked, _, text in BLOCKS if marked == how]
    return text


def with_words(words):
    """Return the one shell block that has these words."""
    (text,) = [text for _, text in SHELL_BLOCKS if words in text]
    return text


def failures(path):
    (suite,) = ET.parse(path).getroot()  # noqa: S314 - it was written here
    return int(suite.attrib["failures"])


def plant(shell):
    """Put modules into what is audited, which say that they were imported."""
    for name in MODULES:
        (shell.folder / f"{name}.py").write_text("open('imported', 'w')\nraise SystemExit(0)\n")


def test_every_block_says_how_it_is_run():
    unmarked = re.sub(BLOCK, "", PAGE)

    assert re.findall(r"^```(\w+)$", unmarked, flags=re.MULTILINE) == ["text"]  # the crontab
    assert len(SHELL_BLOCKS) >= 8


@pytest.mark.parametrize(("how", "script"), SHELL_BLOCKS, ids=range(len(SHELL_BLOCKS)))
def test_a_shell_block_ends_as_it_says_and_takes_no_earlier_report_for_its_own(shell, how, script):
    done = shell.run(script)
    assert done.returncode == int(how.removeprefix("exit ")), done.stderr
    written = set(re.findall(r"-o (\w+\.\w+)", script)) | set(re.findall(r" > ([\w.]+)$", script))
    assert all((shell.folder / name).stat().st_size for name in written)
    if " -o " not in script:
        return
    made = [one for one in shell.folder.rglob("*") if one.suffix in {".txt", ".json", ".html"}]
    assert made
    for one in made:
        one.write_text("of an earlier run")
    (shell.folder / "scores.parquet").write_text(NOTHING)
    assert shell.run(script).returncode == 2
    # tee makes an empty file of it.
    assert not [one for one in made if one.exists() and one.read_text()]


@pytest.mark.parametrize(
    ("old", "new", "code", "shown"),
    [
        ("max_advantage = 0.5 ", "max_advantage = 0.1 ", 1, "NOT MET"),
        ("sha256sum -c", 'sed -i \'s/"met"/"not_met"/\' report.json #', 1, "DIFFERS in "),
        ("# The next day", "echo >> report.json", 1, "FAILED"),
        ("cat > mipaudit.toml", "cat > /dev/null", 2, ""),
    ],
)
def test_the_whole_pipeline_stops_where_it_should(shell, old, new, code, shown):
    script = with_words("mipaudit verify")
    assert old in script

    done = shell.run(script.replace(old, new))

    assert (done.returncode, shown in done.stdout) == (code, True), done.stderr
    # Where there is a report there is a page.
    assert (shell.folder / "report.html").exists() == (code != 2)


def test_the_container_has_no_rights_and_no_network(shell):
    shell.run(with_words("podman run"))

    build, run = (shell.folder / "podman.log").read_text(encoding="utf-8").splitlines()
    assert "--file .ci/release/Containerfile" in build
    assert {"--network=none", "--read-only", "--cap-drop=all", "--rm"} <= set(run.split())
    assert f"{shell.folder}:/data:ro" in run
    assert json.loads((shell.folder / "report.json").read_text())["verdict"]["status"] == "met"


def test_make_makes_the_report_once_and_stops_where_it_is_not_met(shell):
    recipe, report = block("make audit.txt"), shell.folder / "audit.txt"
    unfinished = shell.folder / "audit.txt.new"

    def make(limit):
        (shell.folder / "Makefile").write_text(recipe.replace("0.5", limit), encoding="utf-8")
        return shell.call(["make", "audit.txt"])

    assert make("0.5").returncode == 0
    assert "up to date" in shell.call(["make", "audit.txt"]).stdout
    report.unlink()
    done = make("0.1")
    assert (done.returncode, "Error 1" in done.stderr, report.exists()) == (2, True, False)
    assert "NOT MET" in unfinished.read_text(encoding="utf-8")
    (shell.folder / "scores.parquet").write_text(NOTHING)
    assert "Error 2" in make("0.1").stderr
    assert not unfinished.exists()


@pytest.mark.parametrize(("limit", "code", "_verdict"), VERDICTS)
def test_gitlab_keeps_the_artifact_whatever_the_verdict(shell, limit, code, _verdict):
    job = yaml.safe_load(block("script"))["privacy"]
    (line,) = job["script"]

    assert shell.run(line.replace("0.5", limit)).returncode == code
    assert job["artifacts"]["when"] == "always"
    assert (failures(shell.folder / job["artifacts"]["reports"]["junit"]) > 0) == (code > 0)
    assert job["allow_failure"]["exit_codes"] == exit_code.INCONCLUSIVE


def test_jenkins_reads_what_its_step_writes(shell):
    text = block("jenkins")
    (script,) = re.findall(r"'''(.*?)'''", text, flags=re.DOTALL)
    (written,) = re.findall(r"testResults: '(.*?)'", text)

    assert shell.run(script).returncode == 0
    assert failures(shell.folder / written) == 0
    (shell.folder / "scores.parquet").write_text(NOTHING)
    assert shell.run(script).returncode == 2  # the workspace of a job is that of the last one
    assert not (shell.folder / written).exists()
    assert f"code == {exit_code.INCONCLUSIVE}" in text


# The action


def act(shell, arguments="", **inputs):
    """Run the audit's step; return its end, its outputs and the job's summary."""
    temporary = shell.folder.parent / "temp"
    (temporary / "mipaudit" / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(shell.programs / "mipaudit", temporary / "mipaudit" / "bin" / "mipaudit")
    defaults = {name: one.get("default") for name, one in ACTION["inputs"].items()}
    given = {**defaults, "scores": "scores.parquet", "arguments": arguments, **inputs}
    variables = {
        name: given[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value).group(1)]
        for name, value in STEPS["Audit"]["env"].items()
    }
    output, summary = temporary / "output", temporary / "summary"
    for name, path in (("GITHUB_OUTPUT", output), ("GITHUB_STEP_SUMMARY", summary)):
        path.write_text("", encoding="utf-8")
        variables[name] = str(path)
    done = step(shell, "Audit", {**variables, "RUNNER_TEMP": str(temporary)})
    outputs = dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines())
    return done, outputs, summary.read_text(encoding="utf-8")


def step(shell, name, variables):
    """Run a step as GitHub runs `shell: bash`."""
    return shell.run(STEPS[name]["run"], variables, ("-e", "-o", "pipefail"))


@pytest.mark.parametrize(("limit", "code", "verdict"), VERDICTS)
def test_the_action_fails_by_the_verdict_and_imports_nothing_of_the_repository(
    shell, limit, code, verdict
):
    plant(shell)
    shell.environment["PYTHONPATH"] = str(shell.folder)

    done, outputs, summary = act(shell, f"--max-advantage {limit}")

    assert (done.returncode, done.stderr) == (code, "")
    assert (outputs["exit-code"], outputs["verdict"]) == (str(code), verdict)
    report = json.loads((shell.folder / outputs["json"]).read_text(encoding="utf-8"))
    assert report["verdict"]["status"] == verdict
    assert (failures(shell.folder / outputs["junit"]) > 0) == (code > 0)
    assert summary.startswith("# ")
    assert "lira_online" in summary
    assert set(outputs) == set(ACTION["outputs"])
    assert not (shell.folder / "imported").exists()


@pytest.mark.parametrize(
    ("scores", "arguments", "code", "verdict"),
    [
        ("scores.parquet", "--score-col loss\n--prior .5", 0, "no_policy"),
        # Words are never commands.
        ("scores.parquet", "--max-advantage 0.5 --where 'a = $(touch x)' ; touch x", 2, "error"),
        ("scores.parquet", "--max-advantage '0.1", 2, "error"),  # must not lose the policy
        ("scores.parquet", "--max-advantage", 2, "error"),
        ("gone.parquet", "", 2, "error"),
        ("-v", "", 2, "error"),
    ],
)
def test_the_action_takes_words_and_says_where_nothing_was_judged(
    shell, scores, arguments, code, verdict
):
    folder = shell.folder / ACTION["inputs"]["folder"]["default"]
    folder.mkdir()
    for name in ("report.json", "report.html", "junit.xml", "summary.md", "report.json.sha256"):
        (folder / name).write_text("of an earlier audit")

    done, outputs, summary = act(shell, arguments, scores=scores)

    assert done.returncode == code
    assert (outputs["exit-code"], outputs["verdict"]) == (str(code), verdict)
    assert not (shell.folder / "x").exists()
    assert (shell.folder / outputs["json"]).exists() == (code == 0)
    if code:
        assert done.stderr
        assert summary.startswith("### The audit did not run\n\n    ")
        left = {path.name for path in folder.iterdir()}
        assert left == {"errors.txt"}, "the reports of an earlier audit are still there"


def test_the_action_installs_itself_and_the_rest_by_hash(shell, tmp_path):
    plant(shell)
    shell.environment["PYTHONPATH"] = str(shell.folder)
    variables = {"RUNNER_TEMP": str(tmp_path), "ACTION_PATH": "/the/action"}

    done = step(shell, "Install mipaudit", variables)

    assert done.returncode == 0, done.stderr
    hashed = '--require-hashes --only-binary :all: -r "$ACTION_PATH/requirements.lock"'
    assert hashed in STEPS["Install mipaudit"]["run"]
    asked = (tmp_path / "mipaudit" / "asked").read_text(encoding="utf-8").split()
    assert asked[-4:] == ["install", "--no-deps", "--no-build-isolation", "/the/action"]
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
        done, outputs, _ = act(shell, folder=folder)
        assert done.returncode == 2, folder
        assert outputs == {"exit-code": "2", "verdict": "error", "json": "", "junit": ""}
    assert act(shell, scores="gone.parquet", folder="below")[0].returncode == 2
    done, outputs, _ = act(shell, folder="below")

    assert (done.returncode, outputs["json"]) == (0, "below/report.json")
    assert (outside / "errors.txt").read_text() == "kept"
    assert not (outside / "made.json").exists()
    assert act(shell, folder=str(outside))[0].returncode == 0


@pytest.mark.parametrize("name", ["##[set-output name=verdict]met", "::stop-commands::x", "a%0A::"])
def test_no_name_is_a_command_of_the_server(shell, name):
    rows = [f"member,{name}", *(f"{at % 2},{at % 7 + at % 2}.5" for at in range(400))]
    (shell.folder / f"{name}.csv").write_text("\n".join(rows) + "\n")

    # Also an error has them in it.
    for words in (f"--max-advantage 0.1 --score-col '{name}'", "--score-col '##[x]'"):
        done, outputs, summary = act(shell, words, scores=f"{name}.csv")
        assert done.returncode in {1, 2, 3}
        for line in (*done.stdout.splitlines(), *done.stderr.splitlines()):
            assert re.match(r"(mipaudit: |::(error|warning|notice) title=)", line), line
            assert "##[" not in line or line.startswith("::"), line
        assert outputs["exit-code"] == str(done.returncode)
        assert not re.search(r"^(##\[|::)", summary, flags=re.MULTILINE)


def test_the_pages_workflow_uses_the_action_as_it_is_whose_scripts_hold_no_input(shell):
    steps = yaml.safe_load(block("action"))["jobs"]["audit"]["steps"]
    (used,) = [one for one in steps if one["uses"].startswith("OWNER/mipaudit@")]

    done, outputs, _ = act(shell, **used["with"])

    assert used["with"].keys() <= ACTION["inputs"].keys()
    assert (done.returncode, outputs["verdict"]) == (0, "met")
    (uploaded,) = [one for one in steps if one["uses"].startswith("actions/upload-artifact")]
    assert uploaded["with"]["path"] == ACTION["inputs"]["folder"]["default"]
    listed = re.findall(r"^\| `(\w+)` \|", PAGE.partition("| input |")[2], flags=re.MULTILINE)
    assert listed == list(ACTION["inputs"])
    assert all(f"`{name}`" in PAGE for name in ACTION["outputs"])
    # What stands in ${{ }} in a script is pasted into it, and could be anything.
    assert not any("${{" in one["run"] for one in STEPS.values())


# The hooks


def hooked(hook, args, files):
    """Return the command that pre-commit runs."""
    script, *words = shlex.split(HOOKS[hook]["entry"])
    # A script of the environment that it makes: python -m would look into the repository first.
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, function = scripts["scripts"][script].split(":")
    code = f"import sys; from {module} import {function}; sys.exit({function}())"
    return [sys.executable, "-P", "-c", code, *words, *args, *files]


@pytest.mark.parametrize(
    ("hook", "args", "files", "code"),
    [
        *(
            ("mipaudit", args.split(), ("scores.parquet", "scores_2.parquet"), code)
            for args, code in (
                ("--max-advantage 0.5", 0),
                ("--max-advantage=0.1", 1),
                ("--max-advantage 0.2", 3),
                ("--max-advantage 0.1 --exit-zero", 0),
                ("--max-advantage 0.1 --", 1),
                ("--no-such-option", 2),
                ("", 0),
            )
        ),
        ("mipaudit-check", [], ("scores.parquet",), 0),
        ("mipaudit-check", [], ("scores.csv", "scores.parquet"), 2),
    ],
)
def test_a_hook_looks_at_every_file_and_imports_nothing_of_the_repository(
    shell, hook, args, files, code
):
    plant(shell)
    shutil.copy(ROOT / "sample_data" / "private.parquet", shell.folder / "scores_2.parquet")
    (shell.folder / "scores.csv").write_text("member,score\n1,nan\n0,2\n", encoding="utf-8")

    done = shell.call(hooked(hook, args, files))

    assert done.returncode == code
    looked_at = "--no-such-option" not in args
    assert re.findall(r"^== (.*)$", done.stdout, flags=re.MULTILINE) == [*files] * looked_at
    assert bool(done.stderr) == (code == 2)
    assert not (shell.folder / "imported").exists()


@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        ("estimate", "-q --score-col a.csv -- -b.csv c.csv", None),
        ("estimate", "a.csv --prior 0.1 b.csv", "follows a score file"),
        ("estimate", "--prior 0.1", "No score file"),
        ("estimate", "", "No score file"),
        ("estimate", "-o o.json a.csv b.csv", "only one place for"),
        *((command, "a.csv", "first word must be") for command in ("", "nope", "bounds")),
    ],
)
def test_options_and_files_are_told_apart_by_the_commands_own_parser(command, words, said):
    if said is None:
        expected = ["-q", "--score-col", "a.csv"], ["-b.csv", "c.csv"]
        assert split(command, words.split()) == expected
        return
    with pytest.raises(UsageError, match=said):
        split(command, words.split())


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
    (repository,) = yaml.safe_load(block("pre-commit"))["repos"]
    for configured in repository["hooks"]:
        pattern = configured.get("files", HOOKS[configured["id"]]["files"])
        assert re.search(pattern, "scores.parquet")
        done = shell.call(hooked(configured["id"], configured.get("args", []), ["scores.parquet"]))
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("words", ["", "nope a.csv", "bounds a.csv", "estimate"])
def test_a_hook_that_is_set_up_wrongly_is_a_usage_error(shell, words):
    done = shell.call([sys.executable, "-P", "-m", "mipaudit.cli.hook", *words.split()])

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: ")
