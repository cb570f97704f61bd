"""``mipaudit help``: the topics are complete, and every command's help is there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import get_args

import pytest

import mipaudit as package
from mipaudit.cli.help import TOPICS, page_text, pages, print_page, topic_text
from mipaudit.cli.lookup import looked_up, meaning
from mipaudit.cli.program import COMMANDS
from mipaudit.options.shown import Format
from mipaudit.output import exit_code
from tests.places import ROOT

POLICED = ("estimate", "records", "attack", "attribute", "shift", "compare")
PACKAGE = Path(package.__file__).parent
WIDEST = 80
SCREEN = 24
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
    listed = mipaudit("help").stdout

    assert files == set(TOPICS)
    for topic, said in TOPICS.items():
        assert re.search(rf"^  {topic} +{said}$", listed, flags=re.MULTILINE)
        assert re.search(rf"^ +{topic} ", mipaudit("help", "--help").stdout, flags=re.MULTILINE)


def test_every_page_of_the_docs_is_listed_by_its_title(mipaudit):
    listed = mipaudit("help").stdout
    found = {path.stem: path for path in (ROOT / "docs").glob("*/*.md")}

    assert found == pages()
    assert not found.keys() & {*TOPICS, *COMMANDS}, "a word would mean two things"
    for name, path in found.items():
        title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        assert re.search(rf"^  {name} +{re.escape(title)}$", listed, flags=re.MULTILINE)


def test_a_page_is_plain_in_a_pipe_and_names_the_next_one_by_its_help(mipaudit, tmp_path):
    for path in pages().values():
        shown = page_text(path)
        assert shown.startswith("# ")
        assert "<!--" not in shown
        assert not re.search(r"\]\([^)\s]*\.(?:md|txt)", shown), "a wheel has no such file"
    assert mipaudit("help", "figures").stdout == page_text(pages()["figures"])
    page = tmp_path / "page.md"
    page.write_text(
        "# P\n\n[figures.md](../explanation/figures.md#a), [how](x/figures.md), [b](#c).\n"
        "[Losses](commands/query-losses.md#--logits) ([how](figures.md)).\n"
    )
    assert page_text(page) == (
        "# P\n\n`mipaudit help figures`, how (`mipaudit help figures`), b.\n"
        "Losses (`mipaudit help query losses`) (how: `mipaudit help figures`).\n"
    )


def test_a_page_is_drawn_where_there_is_a_terminal(monkeypatch, capsys, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\nSome **bold** words.\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    print_page(page)

    assert "Some bold words." in re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_its_help_unless_it_is_also_a_word(mipaudit, command):
    done = mipaudit("help", command)

    assert (done.returncode, done.stderr) == (0, "")
    if command in {"epsilon", "query"}:
        assert meaning(command)
        assert done.stdout.startswith("Words (mipaudit help glossary):\n")
        assert re.search(rf"^  {command}  ", done.stdout.partition("Commands")[2], re.MULTILINE)
        assert done.stdout.count("\n") <= SCREEN
    else:
        assert done.stdout == mipaudit(command, "--help").stdout


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


def test_words_of_the_commands_are_explained():
    for word in ("recall", "shadow model", "blind advantage", "near copy", "gap"):
        assert re.search(rf"^  (.*, )?{word}  ?", topic_text("glossary"), flags=re.MULTILINE)


def test_every_form_and_every_policy_option_is_explained(mipaudit):
    forms = re.findall(r"^  (\w+) ", topic_text("formats"), flags=re.MULTILINE)
    assert set(get_args(Format)) <= set(forms)

    help_texts = [mipaudit(command, "--help").stdout for command in POLICED]
    policy = {name for text in help_texts for name in re.findall(r"  (--max-[a-z-]+)", text)}
    assert {"--max-advantage", "--max-risk"} <= policy
    assert all(f"{name} " in topic_text("policy") for name in policy)


FOUND = {
    # Options, however they are typed, with the commands that have them.
    "--max-advantage": "[mipaudit estimate, attack, render]",
    "max-advantage": "--max-advantage X  Policy",
    "max_advantage": "--max-advantage X  Policy",
    "-o": "-o, --output FILE",
    "kde": "--method <prequential|mace|kde>",
    "alpha": "--confidence C",
    "--version": "--version",
    "install-completion": "--install-completion",
    # The glossary; one for many, and in any case.
    "tpr": "TPR, FPR  True-positive rate",
    "TPR": "TPR, FPR  True-positive rate",
    "advantage": "advantage            How well the best attacker",
    "advantages": "advantage            How well the best attacker",
    "canaries": "canary  A record made for an audit",
    "shadow models": "shadow model  A model that is trained like",
    "blind-advantage": "blind advantage  The advantage of an attacker",
    # Codes, and parts of a command's name.
    "lira": "Commands (mipaudit COMMAND --help): query lira  ",
    "waiver": "Words (mipaudit help glossary): waiver ",
    "exit code": "Words (mipaudit help glossary): exit code ",
    "loss": "query losses  Make scores",
    # The words of others.
    "anonymeter": "InferenceEvaluator(...).risk()  mipaudit attribute",
    "dcr": "query nn  The distance to the nearest synthetic record",
    "nndr": "query lnr:K  The distance to the nearest",
    "ims": "identical match share (IMS)  mipaudit query share:1e-6",
    "llm": "mipaudit reads no list of token",
    "min-k": "the mean of the lowest 20%",
    "perplexity": "the mean log-probability",
    "unlearning": "machine unlearning, forget set  mipaudit estimate",
    "safe room": "mipaudit summarize --min-cell",
    "singling out": "singling out: can records that identify",
    "linkability": "no; not answered: linking records within a release",
    "k-anonymity": "k-anonymity, l-diversity",
    "rmia": "mipaudit computes LiRA, not RMIA",
    "mia": "Commands (mipaudit COMMAND --help): estimate  ",
    "membership inference": "membership inference attack (MIA)",
    "dp": "Commands (mipaudit COMMAND --help): bounds  ",
    "federated": "mipaudit summarize at each site",
    "memorization": "mipaudit records: which records are exposed",
    "validation set": "holdout records, if neither training",
    "xgboost": "any model: write its outputs",
    "gdpr": "out of scope: no finding in law; nearest: ",
    "disclosure risk": "mipaudit estimate, on scores of what",
    "overfitting": "mipaudit attack on a loss shows the gap",
    "sample size": "how many records would settle",
    "compare models": "mipaudit estimate on a column for each",
    "differencing": "out of scope; nearest: mipaudit bounds",
    "wp29": "answered in part",
    "checkpoints": "then mipaudit compare",
    "tstr": "out of scope; nearest: mipaudit query",
    "multiple testing": "score columns of one run",
    "sign-off": "mipaudit render --for edpb-28-2024",
    "license": "Apache-2.0",
    "sarif": "mipaudit render -f github",
    "upgrade": "mipaudit help install",
    "embedding": "--score-col d1,d2",
    "cron": "mipaudit has no scheduler",
    "opacus": "mipaudit bounds --dp-sgd",
}


@pytest.mark.parametrize(("word", "said"), FOUND.items())
def test_a_word_is_looked_up_in_all_that_explains(mipaudit, word, said):
    done = mipaudit("help", *word.split(), env={"COLUMNS": "80"})

    assert (done.returncode, done.stderr) == (0, "")
    assert " ".join(said.split()) in " ".join(done.stdout.split())
    assert len(done.stdout.splitlines()) <= SCREEN
    assert re.findall(r"\S-$", done.stdout, re.MULTILINE) == []
    assert max(map(len, done.stdout.splitlines())) <= WIDEST


def test_what_is_called_so_comes_before_what_is_called_so_in_part(mipaudit):
    shown = mipaudit("help", "--advantage", env={"COLUMNS": "80"}).stdout

    assert shown.index("  --advantage X") < shown.index("  --max-advantage X")


def test_a_code_is_found_by_its_words(mipaudit):
    assert mipaudit("help", "above", "limit").stdout.startswith("above_limit\n  <quantity> is at")
    assert mipaudit("help", "same_scores").stdout == (
        "same_scores.alike\n  <reports> were made from the same files.\n"
        "same_scores.apart\n  <reports> were made from the same files with different verdicts: "
        "somebody may have audited again until the verdict was better.\n"
    )


def test_a_word_that_nothing_is_like_says_where_to_look(mipaudit):
    said = mipaudit("help", "zwieback").stderr

    assert "Did you mean" not in said
    assert "mipaudit help other-names" in said


def test_a_command_of_two_words_is_its_help(mipaudit):
    assert mipaudit("help", "query", "lira").stdout == mipaudit("query", "lira", "--help").stdout


def test_words_are_found_without_the_pages(monkeypatch):
    monkeypatch.setattr("mipaudit.cli.lookup.pages", dict)

    assert "a random part" in looked_up("shadow model")
    assert not looked_up("perplexity")
    assert not looked_up("--")
