"""What users see, as files: help texts, worked commands in every form, the public functions.

Walls may be moved behind it; what stands here changes only on purpose. To write the files anew:
``FROZEN=write python -m pytest tests/frozen``; the difference is then part of the commit.
"""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path

import pytest

import mipaudit
from mipaudit.cli import app
from mipaudit.cli.program import COMMANDS
from tests.figures import with_digits_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LEAKY = "sample_data/leaky.parquet"
PRIVATE = "sample_data/private.parquet"
PAIR = "--members sample_data/members.csv --holdout sample_data/holdout.csv"
ADULT = [f"sample_data/adult_{one}.csv" for one in ("members", "holdout", "synthetic")]
TABLES = "--members {} --holdout {} --synthetic {}".format(*ADULT)
# What is done before a run: two sites make cuts and count by those of both.
SUMMARIES = [
    f"summarize {file} --site {name} --score-col loss --seed 7 {how} -o {name}.{kind}"
    for how, kind in (("--cuts-only", "cuts"), ("--cuts a.cuts --cuts b.cuts", "summary"))
    for name, file in (("a", PRIVATE), ("b", LEAKY))
]
# What the machine, the day and the libraries decide.
_PASSING = ("mipaudit", "python", "platform", "created", "packages", "versions", "libraries")
RUNS = {
    "estimate": f"estimate {LEAKY}",
    "estimate-policy": f"estimate {PRIVATE} --max-advantage 0.1 --strict --seed 7",
    "estimate-claim": f"estimate {PRIVATE} --claimed-epsilon 1 --delta 1e-5",
    "estimate-pair": f"estimate {PAIR} --metric ppv --max-tpr-at-fpr 0.02@0.001",
    "estimate-joint": f"estimate {LEAKY} --score-col lira_online --joint",
    "estimate-mace": f"estimate {LEAKY} --score-col loss --method mace --discrete",
    "estimate-kde": f"estimate {LEAKY} --score-col loss --method kde",
    "estimate-sites": "estimate a.summary b.summary --max-advantage 0.2",
    "estimate-site-missing": "estimate a.summary --max-advantage 0.2",
    "estimate-site-left-out": "estimate a.summary --max-advantage 0.2 --without-site b",
    "summarize-plan": "summarize --plan 2 --min-cell 10",
    "records": f"records {LEAKY} --score-col lira_online",
    "check": f"check {LEAKY}",
    "attack": f"attack {LEAKY} --score-col loss --loss-bound 5 --seed 3",
    "attack-policy": f"attack {PAIR} --max-advantage 0.2",
    "compare": f"compare {LEAKY} --score-col lira_online --score-col loss",
    "attribute": (
        "attribute tests/frozen/guesses.csv --attribute-col diagnosis --guess-col guessed"
    ),
    "compare-reports": (
        "compare old=tests/reports/no_policy.json new=tests/reports/three_scores.json"
    ),
    "query": f"query nn share kth:5 {TABLES} -o scores.csv",
    "epsilon-one-model": f"epsilon {PRIVATE} --design one-model",
    "epsilon-counts": (
        "epsilon --design independent-runs --tp 480 --fn 20 --fp 40 --tn 460 --claimed-epsilon 1"
    ),
    "epsilon-canaries": ("epsilon --design one-run --canaries 1000 --guesses 200 --correct 180"),
    "shift": f"shift {ADULT[0]} {ADULT[1]}",
    "bounds-epsilon": "bounds --epsilon 1 --delta 1e-5",
    "bounds-target": "bounds --advantage 0.1",
    "bounds-attack": "bounds --tp 60 --fn 40 --fp 30 --tn 70",
    "noise": "noise --eta 0.1 --k 2",
    "noise-splits": "noise --eta 0.1 --from sample_data/splits.csv",
    "simulate-list": "simulate --list",
    "schema": "schema",
    "no-such-column": f"estimate {LEAKY} --score-col lss",
    "prior-out-of-range": f"estimate {LEAKY} --prior 1.5",
    "no-such-option": f"estimate {LEAKY} --max-advantge 0.1",
    "no-such-command": f"estimat {LEAKY}",
    "help-exit-codes": "help exit-codes",
}
TABLE_ALONE = (
    *("estimate-sites", "estimate-site-missing", "simulate-list"),
    *("no-such-column", "prior-out-of-range", "no-such-option", "no-such-command"),
)
FORMS = {
    "estimate": ("json", "table", "csv", "junit"),
    "estimate-policy": ("json", "table", "junit"),
    "estimate-site-left-out": ("table", "junit"),
    **dict.fromkeys(TABLE_ALONE, ("table",)),
    **dict.fromkeys(("summarize-plan", "schema", "help-exit-codes"), ()),
}
CASES = [
    (f"{line} -f {form}" if form else line, f"{name}.{form or 'txt'}")
    for name, line in RUNS.items()
    for form in FORMS.get(name, ("json", "table")) or ("",)
]


@pytest.fixture
def said(monkeypatch, capsysbinary, tmp_path):
    """Run the program within this process; return what it says and its exit code."""
    for folder in ("sample_data", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)  # where `query` writes its scores
    for name in [name for name in os.environ if name.startswith("MIPAUDIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("MIPAUDIT_FULL", "true")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(line):
        if ".summary" in line:
            for one in SUMMARIES:
                assert app.run(one.split()) == 0
            capsysbinary.readouterr()
        status = app.run(line.split())
        found = capsysbinary.readouterr()
        return found.out.decode() + found.err.decode() + f"exit {status}\n"

    return run


def hold(name, text):
    """Compare a text with its file, or write it if asked to."""
    path = HERE / "files" / name
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    if os.environ.get("FROZEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        # Digits that only another processor adds up are no difference.
        path.write_text(kept := with_digits_of(kept, text), encoding="utf-8")
    assert with_digits_of(kept, text) == kept


def without_the_machine(text):
    """Leave out of a JSON report what another machine would write otherwise."""
    if not text.startswith('{\n  "schema"'):
        return text
    report, end = json.JSONDecoder().raw_decode(text)
    for key in _PASSING:
        report["provenance"].pop(key, None)
    return json.dumps(report, indent=1) + text[end:]


@pytest.mark.parametrize(("line", "name"), CASES, ids=[name for _, name in CASES])
def test_a_command_says_what_it_said(said, line, name):
    hold(name, without_the_machine(said(line)))


@pytest.mark.parametrize(
    "name",
    # A list is for reading whole.
    [name for name in RUNS if "table" in FORMS.get(name, ("table",)) and name != "simulate-list"],
)
def test_a_terminal_shows_the_answer_in_a_screenful(said, monkeypatch, name):
    monkeypatch.delenv("MIPAUDIT_FULL")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("mipaudit.output.presentation.window_height", lambda **_: 23)
    text = said(RUNS[name])
    lines = text.splitlines()[:-1]  # the exit code is not of the terminal
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    hold(f"terminal/{name}.txt", text)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_says_what_it_said(said, command):
    hold(f"help/{command.replace(' ', '-') or 'mipaudit'}.txt", said(f"{command} --help"))


def test_the_public_functions_are_what_they_were():
    names = sorted(set(mipaudit.__all__) - {"__version__"})
    lines = [f"{name}{signature_of(getattr(mipaudit, name))}" for name in names]
    hold("public.txt", "\n".join(lines) + "\n")


def signature_of(thing):
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return ""
    return str(inspect.signature(thing))


@pytest.mark.parametrize(
    ("kept", "text", "same"),
    [
        ("0.172090489631,898", "0.17209048963100002,898", True),
        ('"value": 1.0', '"value": 0.9999999999999999', True),
        ("0,-1e-17", "0,3.2e-16", True),
        ("0.1720904896", "0.1720904900", False),
        ("1e-10", "2e-10", False),
        ("2000000000 records", "2000000001 records", False),
        ("0.5 of a 0.5", "0.5 of b 0.5", False),
        ("0.5 0.25", "0.5", False),
        ("sha256 1e5", "sha256 1e5f", False),
        ("mipaudit 1.2.3", "mipaudit 1.2.30", False),
    ],
)
def test_last_digits_alone_are_no_difference(kept, text, same):
    assert (with_digits_of(kept, text) == kept) is same


def test_a_line_more_leaves_the_digits_of_the_others():
    found = with_digits_of("a 0.1\nb 0.2\n", "new 7\na 0.10000000000000001\nb 0.3\n")

    assert found == "new 7\na 0.1\nb 0.3\n"
