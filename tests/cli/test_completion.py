"""What the tab key offers, in every shell."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pandas as pd
import pytest

from mipaudit.cli.program import COMMANDS

SHELLS = ("bash", "zsh", "fish")
LINES = [
    ("mipaudit est", {"estimate"}),
    ("mipaudit estimate", {"estimate"}),
    (
        "mipaudit estimate --max",
        {"--max-advantage", "--max-copies", "--max-eta", "--max-tpr-at-fpr", "--max-metric"},
    ),
    ("mipaudit estimate scores.csv --max-a", {"--max-advantage"}),
    ("mipaudit noise --m", {"--moment", "--mechanism"}),
    ("mipaudit bounds -f j", {"json", "junit"}),
    ("mipaudit help exit", {"exit-codes"}),
    ("mipaudit help est", {"estimate"}),
]


def question(shell, line):
    """Return the variables that a shell's script sets before it asks."""
    asked = {"_MIPAUDIT_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        # Joined by the script's IFS, a line feed.
        return asked | {"COMP_WORDS": "\n".join(line.split()), "COMP_CWORD": f"{line.count(' ')}"}
    return asked | {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}


def offered(shell, answer):
    """Return the completions in an answer."""
    lines = answer.splitlines()
    if shell == "bash":
        return set(lines)
    if shell == "fish":
        return {line.partition("\t")[0] for line in lines}
    words = answer.strip().removeprefix("_arguments '*: :((").removesuffix("))'").splitlines()
    return {word.split('"')[1] for word in words}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("line", "expected"), LINES)
def test_names_and_options_are_completed(mipaudit, shell, line, expected):
    done = mipaudit(env=question(shell, line))

    assert done.returncode == 0
    assert done.stderr == ""
    assert offered(shell, done.stdout) == expected


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mipaudit simulate lapl", {"laplace-"}),
        ("mipaudit query de", {"density"}),
        ("mipaudit query nn s", {"share"}),
        ("mipaudit estimate s.csv --score-col l", {"loss", "lira"}),
        ("mipaudit estimate s.csv --score-col loss,l", {"loss,loss", "loss,lira"}),
        ("mipaudit estimate s.csv --member-col ", {"member", "loss", "lira", "group"}),
        ("mipaudit estimate --members s.parquet --score-col lo", {"loss"}),
        ("mipaudit records s.csv --by g", {"group"}),
        ("mipaudit shift s.csv s.csv --ignore gr", {"group"}),
        ("mipaudit compare s.csv --key-col m", {"member"}),
        ("mipaudit estimate broken.parquet --score-col l", set()),
        ("mipaudit estimate none.csv --score-col l", set()),
    ],
)
def test_values_are_completed(mipaudit, tmp_path, shell, line, expected):
    frame = pd.DataFrame({"member": [0, 1], "loss": 0.5, "lira": 1.5, "group": ["a", "b"]})
    frame.to_csv(tmp_path / "s.csv", index=False)
    frame.to_parquet(tmp_path / "s.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1" + bytes(40))

    asked = question(shell, line)
    if shell == "bash" and line.endswith(" "):
        asked["COMP_WORDS"] += "\n"
    done = mipaudit(env=asked)

    assert done.returncode == 0
    assert done.stderr == ""
    found = set() if done.stdout.strip() == "_files" else offered(shell, done.stdout)
    assert {one for one in found if one} == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_has_one_line(mipaudit, shell):
    commands = mipaudit(env=question(shell, "mipaudit "))
    options = mipaudit(env=question(shell, "mipaudit estimate -"))

    assert offered(shell, commands.stdout) == set(COMMANDS)
    assert {"-f", "--format", "--max-metric", "--help"} <= offered(shell, options.stdout)
    assert all(name.startswith("-") for name in offered(shell, options.stdout))


def test_files_are_left_to_the_shell(mipaudit):
    zsh = mipaudit(env=question("zsh", "mipaudit estimate "))
    bash = mipaudit(env=question("bash", "mipaudit estimate sc"))
    fish = question("fish", "mipaudit estimate sc") | {"_TYPER_COMPLETE_FISH_ACTION": "is-args"}

    assert zsh.stdout.strip() == "_files"
    assert bash.stdout.strip() == ""
    assert mipaudit(env=fish).returncode == 1


@pytest.mark.parametrize("line", ["mipaudit no-such-command --x", 'mipaudit estimate "a', "x"])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_strange_line_is_no_failure(mipaudit, shell, line):
    done = mipaudit(env=question(shell, line))

    assert done.returncode == 0
    assert done.stderr == ""


def test_bash_completes_by_the_script_that_it_is_given(environment, tmp_path):
    bash = shutil.which("bash")
    program = tmp_path / "mipaudit"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m mipaudit "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    typed = f"""
        eval "$(_MIPAUDIT_COMPLETE=source_bash {program})"
        complete -p mipaudit
        COMP_WORDS=(mipaudit estimate --max-t) COMP_CWORD=2
        _mipaudit_completion {program}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """

    done = subprocess.run(
        [bash, "--norc", "-c", typed], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines() == [
        "complete -o default -F _mipaudit_completion mipaudit",
        "--max-tpr-at-fpr",
    ]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_names_the_program(mipaudit, shell):
    done = mipaudit(env={"_MIPAUDIT_COMPLETE": f"source_{shell}"})

    assert done.returncode == 0
    assert f"_MIPAUDIT_COMPLETE=complete_{shell}" in done.stdout
    assert "mipaudit" in done.stdout.split()


def test_completion_is_offered_and_can_be_installed(mipaudit, tmp_path):
    text = mipaudit("--help").stdout

    assert "--install-completion" in text
    assert "--show-completion" in text
    # With the shell known rather than found among the parents of this test.
    known = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = mipaudit("--install-completion", "bash", env=known)
    assert done.returncode == 0
    assert "_mipaudit_completion" in (tmp_path / ".bash_completions" / "mipaudit.sh").read_text()
    assert ".bash_completions/mipaudit.sh" in (tmp_path / ".bashrc").read_text()


def test_ordinary_runs_do_not_read_the_completions_variables(mipaudit):
    done = mipaudit("--version", env={"COMP_WORDS": "mipaudit est", "COMP_CWORD": "1"})

    assert done.stdout.startswith("mipaudit ")
