"""The documentation is true: what it shows runs, and what it names exists."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

from mipaudit.cli.help import SHELVES
from mipaudit.cli.program import COMMANDS
from mipaudit.output import exit_code
from mipaudit.report.messages.input import FOUND_IN_INPUT, FOUND_IN_SCORES
from mipaudit.report.messages.noise import FOUND_IN_RUNS
from mipaudit.report.messages.records import FOUND_IN_RECORDS
from mipaudit.report.messages.reports import FOUND_IN_REPORTS
from mipaudit.statements.kinds import KINDS, report_type

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
README = ROOT / "README.md"
METHODS = ROOT / "docs" / "explanation" / "methods.md"
READING = ROOT / "docs" / "explanation" / "limits.md"
VALIDATION = ROOT / "docs" / "reference" / "validation.md"
JSON = ROOT / "docs" / "reference" / "json-report.md"
PIPELINES = ROOT / "docs" / "how-to" / "pipelines.md"
SAMPLES = ROOT / "sample_data" / "README.md"
BOUNDS = ROOT / "docs" / "reference" / "guarantees.md"
MIP_NOISE = ROOT / "docs" / "explanation" / "mip-noise.md"
EPSILON = ROOT / "docs" / "how-to" / "epsilon-audits.md"
COMPARE = ROOT / "docs" / "how-to" / "compare-releases.md"
RECORDS = ROOT / "docs" / "how-to" / "exposed-records.md"
MEASURES = ROOT / "docs" / "explanation" / "other-measures.md"
SCALE = ROOT / "docs" / "how-to" / "scale.md"
QUERY = ROOT / "docs" / "how-to" / "synthetic-data.md"
SHIFT = ROOT / "docs" / "how-to" / "members-and-holdout.md"
TRUST = ROOT / "docs" / "how-to" / "trust.md"
ATTACK = ROOT / "docs" / "explanation" / "named-attacks.md"
MODEL_QUERIES = ROOT / "docs" / "how-to" / "model-outputs.md"
# What sentences of findings have within.
PARTS = {
    *("beside_label", "by_cuts", "metric_leaks", "untold", "text_column", "empty_column"),
    *("unreadable_column", "named_like_id", "other_kind"),
}
FINDINGS = (
    *(FOUND_IN_INPUT, FOUND_IN_SCORES, FOUND_IN_RUNS),
    *(FOUND_IN_RECORDS, FOUND_IN_REPORTS),
)
FINDING_PAGES = (
    *(JSON, MIP_NOISE, EPSILON, COMPARE, RECORDS, MEASURES, SCALE),
    *(QUERY, ATTACK, MODEL_QUERIES, SHIFT),
)
# These name the options of other programs; what they show is run elsewhere.
FOREIGN = {"forms.md", "install.md", "pipelines.md"}
WRITTEN = (
    README,
    SAMPLES,
    ROOT / "CHANGELOG.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name not in FOREIGN),
)
WORD = re.compile(r"`([a-z_0-9-]+)`")


def load_quoted_output():
    spec = importlib.util.spec_from_file_location("quoted_output", HERE / "quoted_output.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclass looks for it
    spec.loader.exec_module(module)
    return module


quoted_output = load_quoted_output()
run = quoted_output.run


def text_of(path):
    return path.read_text(encoding="utf-8")


def code_blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(path), flags=re.MULTILINE | re.DOTALL)


def examples():
    """Yield (page, command, exit code) of every `mipaudit` line in a console block."""
    for path in (README, READING, VALIDATION, SAMPLES):
        for line in "".join(code_blocks(path, "console")).splitlines():
            command, _, remark = line.partition("#")
            # Validation takes long, and has tests of its own.
            if command.startswith("mipaudit ") and "mipaudit validate" not in command:
                code = re.match(r" exit (\d+)", remark)
                yield path.name, command.strip(), int(code.group(1)) if code else 0


def table(path, *header):
    """Return the body rows of the tables with this header, as lists of cells."""
    _, *tables = text_of(path).split(f"\n| {' | '.join(header)} |\n|")
    assert tables, f"{path.name} has no such table"
    rows = []
    for after in tables:
        body = takewhile(lambda line: line.startswith("|"), after.splitlines()[1:])
        rows += [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in body]
    return rows


@cache
def full_report():
    """Return a report in which every list has an entry."""
    done = run(
        "mipaudit estimate sample_data/private.parquet --max-advantage 0.05 --claimed-epsilon 1 "
        "--method mace -f json"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def schema():
    done = run("mipaudit schema")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("page", "command", "code"), list(examples()))
def test_example_runs_and_ends_as_stated(page, command, code):
    done = run(command)
    assert done.returncode == code, f"{page}: {done.stderr}"
    assert bool(done.stdout) == (code != 2)
    assert bool(done.stderr) == (code == 2)


def test_the_readme_is_short():
    assert len(text_of(README).splitlines()) <= 120


def test_the_docs_can_be_overlooked():
    pages = [*(ROOT / "docs").rglob("*.md")]
    index = ROOT / "docs" / "README.md"
    linked = {
        (index.parent / target).resolve()
        for target in re.findall(r"\]\(([^)#]+\.md)", text_of(index))
    }

    assert len(pages) <= 31
    assert {path.parent.name for path in pages} == {"docs", *SHELVES}
    assert linked >= {*pages} - {index}
    assert len(text_of(index).splitlines()) <= 60


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_each_python_that_is_named_may_install_it(version):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"Programming Language :: Python :: {version}" in project["classifiers"]
    assert version in text_of(README)


def test_a_page_that_is_read_says_at_once_what_it_is_for_and_is_short():
    """Methods are looked up, as what stands on the shelf for that."""
    pages = [path for shelf in SHELVES for path in sorted((ROOT / "docs" / shelf).glob("*.md"))]
    read = [path for path in pages if path.parent.name != "reference" and path != METHODS]
    for path in read:
        words = text_of(path).split()
        assert len(words) <= 1850, path.name
    tasks = [text_of(path) for path in read if path.parent.name == "how-to"]
    assert [page.splitlines()[0] for page in tasks if not re.match(r"# .*\n\nHow to ", page)] == []


def test_examples_show_every_exit_code_of_a_verdict():
    assert {0, 1, 2, 3} <= {code for page, _, code in examples() if page == "README.md"}


@pytest.mark.parametrize("path", quoted_output.PAGES, ids=lambda path: path.name)
def test_quoted_output_is_the_real_output(path):
    found = quoted_output.quotations(text_of(path))
    assert len(found) == text_of(path).count("<!-- output of:") >= 1
    for quotation in found:
        assert quotation.text == quotation.current(), "refresh: python tests/docs/quoted_output.py"


def test_refreshing_mends_a_stale_quotation_and_nothing_else():
    page = text_of(README)
    stale = page.replace("898 members", "899 members", 1)
    assert stale != page
    assert quoted_output.refreshed(stale) == quoted_output.refreshed(page) == page


def test_exit_code_tables_are_the_programs():
    codes = {value for name, value in vars(exit_code).items() if name.isupper() and name[0] != "_"}
    listed = [code for row in table(README, "code", "says") for code in row[0].split(", ")]
    assert {int(code) for code in listed} == codes
    pipelines = table(PIPELINES, "code", "meaning", "a pipeline should")
    assert {int(row[0]) for row in pipelines} == codes
    verdicts = table(READING, "verdict", "says", "exit code")
    stated = {row[0].strip("`"): int(row[2]) for row in verdicts}
    real = {name: exit_code.verdict_status(name) for name in stated}
    assert stated == real
    assert len(stated) == 4


# The page for contributors adds an option that there is not, and that of changes names what went.
@pytest.mark.parametrize(
    "path",
    [path for path in WRITTEN if path.name not in {"contributing.md", "changes.md"}],
    ids=lambda path: path.name,
)
def test_every_option_named_exists(path):
    help_texts = [run(f"mipaudit {command} --help").stdout for command in COMMANDS]
    known = set(re.findall(r"--[a-z][a-z-]+", " ".join([*help_texts, run("mipaudit -h").stdout])))
    assert "--max-advantage" in known
    shown = re.sub(r"<!--.*?-->", "", text_of(path))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", shown)) <= known


def test_json_keys_are_those_of_a_report():
    report = full_report()
    stated = {row[0].strip("`"): set(WORD.findall(row[1])) for row in table(JSON, "key", "holds")}
    assert stated.keys() == report.keys()
    for key, words in stated.items():
        entry = report[key]
        if key == "mace_cells":
            assert words == {"estimates"}
            words = stated["estimates"]  # noqa: PLW2901 - rows of the same type
        if isinstance(entry, list):
            assert entry, key
            entry = entry[0]
        if isinstance(entry, dict):
            assert words == entry.keys(), key


def test_json_keys_are_those_of_the_schema():
    kinds = schema()["$defs"]
    stated = {row[0].strip("`"): set(WORD.findall(row[1])) for row in table(JSON, "key", "holds")}
    assert stated.keys() == kinds["Report"]["properties"].keys()
    homes = {"design": "Design", "estimates": "Row", "claims": "Claim"}
    homes |= {"policy": "Check", "verdict": "Verdict", "findings": "Finding"}
    homes |= {"curves": "ScoreCurves", "provenance": "Provenance"}
    for key, kind in homes.items():
        assert stated[key] == kinds[kind]["properties"].keys(), key


def test_json_values_are_those_of_the_schema():
    kinds = schema()["$defs"]
    homes = {"estimates": "Row", "claims": "Claim", "policy": "Check"}
    homes["verdict"] = "Verdict"
    rows = table(JSON, "field", "one of")
    assert len(rows) == 6
    for field, values in rows:
        key, name = field.strip("`").split(".")
        assert set(WORD.findall(values)) == set(kinds[homes[key]]["properties"][name]["enum"])


def test_errors_follow_the_json_format():
    done = run("mipaudit estimate sample_data/leaky.parquet --max-advantage 1.5 -f json")
    named = set(re.findall(r"`error\.(\w+)`", text_of(JSON)))
    assert json.loads(done.stderr)["error"].keys() == named
    assert named == {"code", "message", "hint"}


def test_python_example_runs():
    (block,) = code_blocks(README, "python")
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout[:8]) == (0, "NOT MET:"), done.stderr


@pytest.mark.parametrize(
    "path",
    [path for path in (*WRITTEN, PIPELINES) if "](" in text_of(path)],
    ids=lambda path: path.name,
)
def test_links_lead_somewhere(path):
    targets = re.findall(r"\]\((?!https?:)([^)]+)\)", text_of(path))
    for target in targets:
        page, _, anchor = target.partition("#")
        other = path.parent / page if page else path
        assert other.exists(), target
        assert not anchor or anchor in headings(other), target


def headings(path):
    """Return the anchors that a page's headings get."""
    titles = re.findall(r"^#+ (.*)$", text_of(path), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


def test_findings_documented_are_the_programs():
    stated = {row[0].strip("`") for page in FINDING_PAGES for row in table(page, "finding", "says")}
    told = {key.partition(".")[0] for found in FINDINGS for key in found}
    assert stated == told - PARTS
    assert {finding["code"] for finding in full_report()["findings"]} <= stated


@pytest.mark.parametrize("kind", KINDS[1:], ids=lambda kind: kind.schema)
def test_the_page_has_every_kind_of_report_with_its_keys(kind):
    rows = {row[0].strip("`"): row for row in table(JSON, "schema", "of", "its own keys")}
    common = {"schema", "command", "findings", "limitations", "provenance"}

    assert kind.schema in rows
    stated = set(WORD.findall(rows[kind.schema][2]))
    assert stated >= {one.name for one in fields(report_type(kind))} - common
