"""``mipaudit help``: the topics are complete, and every command's help is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import mipaudit as package
from mipaudit.cli.program import COMMANDS
from mipaudit.cli.topics import TOPICS, topic_text
from mipaudit.options.groups.shown import Format
from mipaudit.output import exit_code
from tests.places import ROOT

POLICED = ("estimate", "records", "attack", "attribute", "shift", "compare")
PACKAGE = Path(package.__file__).parent
WIDEST = 80
# Names of variables as they stand in the code: read, or set for a library.
READ = re.compile(r"""environ(?:\.\w+\(\s*|\[)["'](\w+)["']|getenv\(\s*["'](\w+)["']""")
QUOTED = re.compile(r"""["'](_?MIPAUDIT_\w*|\w+_\w+_ARGS)["']""")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_printed_as_plain_text(mipaudit, topic):
    done = mipaudit("help", topic)

    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout == topic_text(topic)
    assert done.stdout.isascii()
    assert done.stdout.endswith(".\n") or topic == "exit-codes"
    assert max(map(len, done.stdout.splitlines())) <= WIDEST
    assert done.stdout.splitlines()[0].lower().replace(" ", "-") == topic


def test_every_text_is_a_topic_and_every_topic_is_listed(mipaudit):
    files = {path.stem for path in (PACKAGE / "cli" / "topics").glob("*.txt")}
    listed = " ".join(mipaudit("--help").stdout.split())

    assert files == set(TOPICS)
    assert f"mipaudit help TOPIC {', '.join(TOPICS)}" in listed
    for topic in TOPICS:
        assert re.search(rf"^ +{topic} ", mipaudit("help", "--help").stdout, flags=re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_its_help(mipaudit, command):
    done = mipaudit("help", command)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == mipaudit(command, "--help").stdout


def test_nothing_asked_lists_everything(mipaudit):
    assert mipaudit("help").stdout == mipaudit("--help").stdout


@pytest.mark.parametrize(
    ("typed", "guess"),
    [("glosary", "glossary"), ("estimat", "estimate"), ("xyzzy", "exit-codes, policy")],
)
def test_an_unknown_topic_is_a_usage_error(mipaudit, typed, guess):
    done = mipaudit("help", typed)

    assert done.returncode == exit_code.USAGE
    assert done.stdout == ""
    assert guess in done.stderr
    assert typed not in done.stderr.replace(guess, "")


def test_every_exit_code_is_explained():
    codes = {value for value in vars(exit_code).values() if isinstance(value, int)}
    listed = re.findall(r"^ {2,4}(\d+)  ", topic_text("exit-codes"), flags=re.MULTILINE)

    assert {int(code) for code in listed} == codes
    assert len(listed) == len(codes)


def test_every_environment_variable_is_explained():
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    found = {name for text in sources for pair in READ.findall(text) for name in pair if name}
    found |= {name for text in sources for name in QUOTED.findall(text)}
    listed = re.findall(r"^  (_?[A-Z][A-Z_]+)", topic_text("environment"), flags=re.MULTILINE)

    assert {"COLUMNS", "NO_COLOR", "SOURCE_DATE_EPOCH", "_MIPAUDIT_COMPLETE"} <= found
    assert found <= set(listed)


def test_the_page_of_words_is_the_glossary():
    table = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \|", table, flags=re.MULTILINE)
    words = {word for row in rows[1:] for word in row.split(", ")}
    terms = re.findall(r"^  (\S.*?)  ", topic_text("glossary"), flags=re.MULTILINE)

    assert {"member", "eta", "policy"} <= words
    assert words == {word for term in terms for word in term.split(", ")}


@pytest.mark.parametrize("word", ["recall", "shadow model", "blind advantage", "near copy", "gap"])
def test_words_of_the_new_commands_are_explained(word):
    assert re.search(rf"^  (.*, )?{word}  ?", topic_text("glossary"), flags=re.MULTILINE)


def test_every_form_and_every_policy_option_is_explained(mipaudit):
    forms = re.findall(r"^  (\w+) ", topic_text("formats"), flags=re.MULTILINE)
    assert set(get_args(Format)) <= set(forms)

    help_texts = [mipaudit(command, "--help").stdout for command in POLICED]
    policy = {name for text in help_texts for name in re.findall(r"  (--max-[a-z-]+)", text)}
    assert {"--max-advantage", "--max-risk"} <= policy
    assert all(f"{name} " in topic_text("policy") for name in policy)
