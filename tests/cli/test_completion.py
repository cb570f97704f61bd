"""What the tab key offers, in every shell."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pandas as pd
import pytest

from mipaudit.cli.program import COMMANDS
from tests.within import run_within

SHELLS = ("bash", "zsh", "fish")


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


@pytest.fixture(scope="module")
def columns(tmp_path_factory):
    """A folder with files that have columns, and one that has none."""
    folder = tmp_path_factory.mktemp("columns")
    frame = pd.DataFrame({"member": [0, 1], "loss": 0.5, "lira": 1.5, "group": ["a", "b"]})
    frame.to_csv(folder / "s.csv", index=False)
    frame.to_parquet(folder / "s.parquet")
    (folder / "broken.parquet").write_bytes(b"PAR1" + bytes(40))
    return folder


LIMITS = "--max-advantage --max-copies --max-eta --max-tpr-at-fpr --max-metric"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", {*COMMANDS}),
        ("est", {"estimate"}),
        ("estimate", {"estimate"}),
        ("estimate --max", {*LIMITS.split()}),
        ("estimate scores.csv --max-a", {"--max-advantage"}),
        ("noise --m", {"--moment", "--mechanism"}),
        ("bounds -f j", {"json", "junit"}),
        ("help exit", {"exit-codes"}),
        ("help est", {"estimate"}),
        ("simulate lapl", {"laplace-"}),
        ("query de", {"density"}),
        ("query nn s", {"share"}),
        ("estimate s.csv --score-col l", {"loss", "lira"}),
        ("estimate s.csv --score-col loss,l", {"loss,loss", "loss,lira"}),
        ("estimate s.csv --member-col ", {"member", "loss", "lira", "group"}),
        ("estimate --members s.parquet --score-col lo", {"loss"}),
        ("records s.csv --by g", {"group"}),
        ("shift s.csv s.csv --ignore gr", {"group"}),
        ("compare s.csv --key-col m", {"member"}),
        ("estimate broken.parquet --score-col l", set()),
        ("estimate none.csv --score-col l", set()),
        # What is strange is no failure.
        *((line, None) for line in ("no-such-command --x", 'estimate "a', "x")),
    ],
)
def test_commands_options_and_values_are_completed(environment, columns, shell, line, expected):
    asked = question(shell, f"mipaudit {line}")
    if shell == "bash" and line.endswith(" "):
        asked["COMP_WORDS"] += "\n"
    done = run_within((), environment={**environment, **asked}, folder=columns)

    assert (done.returncode, done.stderr) == (0, "")
    found = set() if done.stdout.strip() == "_files" else offered(shell, done.stdout)
    assert expected is None or found - {""} == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_has_one_line(mipaudit, shell):
    found = offered(shell, mipaudit(env=question(shell, "mipaudit estimate -")).stdout)

    assert {"-f", "--format", "--max-metric", "--help"} <= found
    assert all(name.startswith("-") for name in found)


def test_files_are_left_to_the_shell(mipaudit):
    zsh = mipaudit(env=question("zsh", "mipaudit estimate "))
    bash = mipaudit(env=question("bash", "mipaudit estimate sc"))
    fish = question("fish", "mipaudit estimate sc") | {"_TYPER_COMPLETE_FISH_ACTION": "is-args"}

    assert zsh.stdout.strip() == "_files"
    assert bash.stdout.strip() == ""
    assert mipaudit(env=fish).returncode == 1


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


def test_completion_can_be_installed_and_ordinary_runs_do_not_read_its_variables(
    mipaudit, tmp_path
):
    # With the shell known rather than found among the parents of this test.
    known = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = mipaudit("--install-completion", "bash", env=known)

    assert done.returncode == 0
    assert "_mipaudit_completion" in (tmp_path / ".bash_completions" / "mipaudit.sh").read_text()
    assert ".bash_completions/mipaudit.sh" in (tmp_path / ".bashrc").read_text()
    done = mipaudit("--version", env={"COMP_WORDS": "mipaudit est", "COMP_CWORD": "1"})
    assert done.stdout.startswith("mipaudit ")
