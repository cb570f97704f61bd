"""Help, version, and the public names."""

from __future__ import annotations

import re

import pytest

import mipaudit as package


def test_version(mipaudit):
    done = mipaudit("--version")

    assert (done.returncode, done.stdout) == (0, f"mipaudit {package.__version__}\n")


@pytest.mark.parametrize("command", ["estimate", "check", "validate", "schema"])
def test_every_command_has_worked_examples(mipaudit, command):
    done = mipaudit(command, "--help")

    assert done.returncode == 0
    assert re.search(
        rf"^ +.*mipaudit {command}", done.stdout.split("Example")[1], flags=re.MULTILINE
    )


def test_help_lists_every_command_and_the_exit_codes(mipaudit):
    text = " ".join(mipaudit("--help").stdout.split())

    assert "Exit codes: 0 policy met or none given, 1 not met, 2 usage" in text
    assert all(f" {command} " in text for command in ("estimate", "check", "schema"))


def test_completion_is_offered(mipaudit):
    done = mipaudit(
        env={
            "_MIPAUDIT_COMPLETE": "complete_bash",
            "COMP_WORDS": "mipaudit est",
            "COMP_CWORD": "1",
        }
    )

    assert "estimate" in done.stdout


@pytest.mark.parametrize("name", [n for n in package.__all__ if n != "estimate"])
def test_every_public_name_can_be_had(name):
    assert getattr(package, name) is not None
    assert name in dir(package)


def test_other_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'estimat'"):
        _ = package.estimat
