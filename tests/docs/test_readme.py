"""The documentation is true: what it shows runs, and what it names exists."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from functools import cache
from itertools import takewhile

import pytest

from mipaudit.cli.help import SHELVES
from mipaudit.cli.program import COMMANDS
from mipaudit.output import exit_code
from mipaudit.report.messages.input import FOUND_IN_INPUT, FOUND_IN_SCORES
from mipaudit.report.messages.noise import FOUND_IN_RUNS
from mipaudit.report.messages.records import FOUND_IN_RECORDS
from mipaudit.report.messages.reports import FOUND_IN_REPORTS
from mipaudit.statements.kinds import KINDS, report_type
from tests.browser import NO_BROWSER
from tests.docs import quoted_output, report_picture
from tests.docs.quoted_output import run
from tests.places import ROOT

README, DOCS = ROOT / "README.md", ROOT / "docs"
METHODS, READING = (DOCS / "explanation" / f"{name}.md" for name in ("methods", "figures"))
VALIDATION, JSON = (DOCS / "reference" / f"{name}.md" for name in ("validation", "json-report"))
PIPELINES, SAMPLES = DOCS / "how-to" / "pipelines.md", ROOT / "sample_data" / "README.md"
# What sentences of findings have within.
PARTS = {
    *("beside_label", "by_cuts", "metric_leaks", "untold", "text_column", "empty_column"),
    *("unreadable_column", "named_like_id", "other_kind"),
}
FINDINGS = (
    *(FOUND_IN_INPUT, FOUND_IN_SCORES, FOUND_IN_RUNS),
    *(FOUND_IN_RECORDS, FOUND_IN_REPORTS),
)
# These name the options of other programs; what they show is run elsewhere.
FOREIGN = {"forms.md", "install.md", "pipelines.md"}
# Pages of commands are made from the program.
PAGES = sorted(one for one in DOCS.rglob("*.md") if one.parent.name != "commands")
COMMAND_PAGES = sorted((DOCS / "reference" / "commands").glob("*.md"))
WRITTEN = [
    *(README, SAMPLES, ROOT / "CHANGELOG.md"),
    *(path for path in PAGES + COMMAND_PAGES if path.name not in FOREIGN),
]
WORD = re.compile(r"`([a-z_0-9-]+)`")


def name_of(path):
    return path.name


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


def tables(path, *header):
    """Return the body rows of the tables with this header, as lists of cells."""
    _, *parts = text_of(path).split(f"\n| {' | '.join(header)} |\n|")
    rows = []
    for after in parts:
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
    return json.loads(done.stdout)


@cache
def kinds_of_schema():
    return json.loads(run("mipaudit schema").stdout)["$defs"]


@pytest.mark.parametrize(("page", "command", "code"), list(examples()))
def test_example_runs_and_ends_as_stated(page, command, code):
    done = run(command)

    assert done.returncode == code, f"{page}: {done.stderr}"
    assert (bool(done.stdout), bool(done.stderr)) == (code != 2, code == 2)


def test_the_readme_shows_every_verdict_and_names_every_python():
    assert len(text_of(README).splitlines()) <= 120
    assert {0, 1, 2, 3} <= {code for page, _, code in examples() if page == "README.md"}
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    for version in ("3.11", "3.12", "3.13", "3.14"):
        assert f"Programming Language :: Python :: {version}" in project["classifiers"]
        assert version in text_of(README)


def test_who_brings_a_file_of_another_kind_is_sent_to_the_page_on_files():
    *_, last = run("mipaudit estimate sample_data/means.csv").stderr.splitlines()
    command = last.removeprefix("For a file of another kind: ")

    assert command.startswith("mipaudit help ")
    assert run(command).stdout.startswith("# Which file have you?")


def test_what_the_readme_names_is_there_and_its_picture_is_small():
    named = set(re.findall(r"\]\(([^)#:]+)", text_of(README)))
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text_of(README))

    assert [one for one in named if not (ROOT / one).exists()] == []
    assert (ROOT / picture).stat().st_size < 60_000


@NO_BROWSER
def test_the_picture_is_taken_of_the_page(tmp_path):
    asked = report_picture.PAGES[DOCS / "report.png"]
    report_picture.take(tmp_path / "report.png", asked)

    assert (tmp_path / "report.png").stat().st_size > 10_000


def test_the_docs_can_be_overlooked():
    index = text_of(DOCS / "README.md")
    linked = {(DOCS / target).resolve() for target in re.findall(r"\]\(([^)#]+\.md)", index)}

    made = {"commands", "python", "performance", "reproductions"}
    assert len([page for page in PAGES if page.stem not in made]) <= 32
    assert {path.parent.name for path in PAGES} == {"docs", *SHELVES}
    assert linked >= {*PAGES} - {DOCS / "README.md"}
    assert len(index.splitlines()) <= 105
    for title, target in re.findall(r"^- \[(.*?)\]\(([^)#]+\.md)\)", index, flags=re.MULTILINE):
        assert text_of(DOCS / target).partition("\n")[0] == f"# {title}"
    for page, text in ((README, text_of(README)), (DOCS / "README.md", index)):
        first = re.search(r"\]\(([^)#]+\.md)", text)[1]
        assert (page.parent / first).stem == "which-file"


def test_a_page_that_is_read_says_at_once_what_it_is_for_and_is_short():
    """Methods are looked up, as what stands on the shelf for that."""
    looked_up = {*(DOCS / "reference").iterdir(), METHODS, DOCS / "README.md"}
    read = {path: text_of(path) for path in PAGES if path not in looked_up}

    assert {
        path.name: len(text.split()) for path, text in read.items() if len(text.split()) > 1850
    } == {}
    tasks = [text for path, text in read.items() if path.parent.name == "how-to"]
    assert [page.splitlines()[0] for page in tasks if not re.match(r"# .*\n\nHow to ", page)] == []


@pytest.mark.parametrize("path", quoted_output.PAGES, ids=name_of)
def test_quoted_output_is_the_real_output(path):
    page = text_of(path)

    assert len(quoted_output.quotations(page)) == page.count("<!-- output of:") >= 1
    assert page == quoted_output.refreshed(page), "refresh: python tests/docs/quoted_output.py"


def test_refreshing_mends_a_stale_quotation_and_nothing_else():
    page = text_of(README)
    stale = page.replace("898 members", "899 members", 1)

    assert stale != page
    assert quoted_output.refreshed(stale) == quoted_output.refreshed(page) == page


def test_exit_code_tables_are_the_programs():
    codes = {value for name, value in vars(exit_code).items() if name.isupper() and name[0] != "_"}
    pipelines = tables(PIPELINES, "code", "meaning", "a pipeline should")
    verdicts = {
        row[0].strip("`"): int(row[2]) for row in tables(READING, "verdict", "says", "exit code")
    }

    assert {int(row[0]) for row in pipelines} == codes
    assert verdicts == {name: exit_code.verdict_status(name) for name in verdicts}
    assert len(verdicts) == 4


# The page for contributors adds an option that there is not, and that of changes names what went.
@pytest.mark.parametrize(
    "path",
    [path for path in WRITTEN if path.name not in {"contributing.md", "changes.md"}],
    ids=name_of,
)
def test_every_option_named_exists(path):
    help_texts = [run(f"mipaudit {command} --help").stdout for command in ("", *COMMANDS)]
    known = set(re.findall(r"--[a-z][a-z-]+", " ".join(help_texts)))
    shown = re.sub(r"<!--.*?-->", "", text_of(path))

    assert "--max-advantage" in known
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", shown)) <= known


def stated_keys():
    return {row[0].strip("`"): set(WORD.findall(row[1])) for row in tables(JSON, "key", "holds")}


def test_json_keys_are_those_of_a_report_and_of_the_schema():
    report, stated, kinds = full_report(), stated_keys(), kinds_of_schema()
    homes = {"design": "Design", "estimates": "Row", "claims": "Claim", "policy": "Check"}
    homes |= {"verdict": "Verdict", "findings": "Finding", "curves": "ScoreCurves"}
    homes |= {"provenance": "Provenance"}

    assert stated.keys() == report.keys() == kinds["Report"]["properties"].keys()
    assert stated.pop("mace_cells") == {"estimates"}
    for key, words in stated.items():
        assert report[key] or not isinstance(report[key], list), key
        entry = report[key][0] if isinstance(report[key], list) else report[key]
        assert not isinstance(entry, dict) or words == entry.keys(), key
    for key, kind in homes.items():
        assert stated[key] == kinds[kind]["properties"].keys(), key


def test_json_values_are_those_of_the_schema():
    homes = {"estimates": "Row", "claims": "Claim", "policy": "Check", "verdict": "Verdict"}
    rows = tables(JSON, "field", "one of")

    assert len(rows) == 6
    for field, values in rows:
        key, name = field.strip("`").split(".")
        one = kinds_of_schema()[homes[key]]["properties"][name]
        assert set(WORD.findall(values)) == set(one["enum"])


def test_errors_follow_the_json_format():
    done = run("mipaudit estimate sample_data/leaky.parquet --max-advantage 1.5 -f json")
    named = set(re.findall(r"`error\.(\w+)`", text_of(JSON)))

    assert json.loads(done.stderr)["error"].keys() == named == {"code", "message", "hint"}


def test_python_example_runs():
    (block,) = code_blocks(README, "python")
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout[:8]) == (0, "NOT MET:"), done.stderr


@pytest.mark.parametrize(
    "path", [path for path in (*WRITTEN, PIPELINES) if "](" in text_of(path)], ids=name_of
)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text_of(path)):
        page, _, anchor = target.partition("#")
        other = path.parent / page if page else path
        assert other.exists(), target
        assert not anchor or anchor in headings(other), target


def headings(path):
    """Return the anchors that a page's headings get."""
    titles = re.findall(r"^#+ (.*)$", text_of(path), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


def test_findings_documented_are_the_programs():
    stated = {row[0].strip("`") for page in PAGES for row in tables(page, "finding", "says")}
    told = {key.partition(".")[0] for found in FINDINGS for key in found}

    assert stated == told - PARTS
    assert {finding["code"] for finding in full_report()["findings"]} <= stated


@pytest.mark.parametrize("kind", KINDS[1:], ids=lambda kind: kind.schema)
def test_the_page_has_every_kind_of_report_with_its_keys(kind):
    rows = {row[0].strip("`"): row for row in tables(JSON, "schema", "of", "its own keys")}
    common = {"schema", "command", "findings", "limitations", "provenance"}

    stated = set(WORD.findall(rows[kind.schema][2]))
    assert stated >= {one.name for one in fields(report_type(kind))} - common
