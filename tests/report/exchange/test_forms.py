"""Forms that others define: valid by what they publish, inert, and bound to the report's file."""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from hashlib import sha256

import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from google.protobuf import json_format
from huggingface_hub import ModelCard
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from markdown_it import MarkdownIt

import mipaudit
from mipaudit.commands.render.forms import EXCHANGE, exchange_form, exchanged, stored_report
from mipaudit.errors import UsageError
from mipaudit.report.codec import from_json
from mipaudit.report.exchange.stored import File, figures
from mipaudit.report.walk import walk_of
from tests.places import REPORTS

FORMS = [one.name for one in EXCHANGE]
ALL = sorted(path.stem for path in REPORTS.glob("*.json"))
# What GitHub's runner takes: a title without a colon or a comma, and text without a line's end.
_COMMAND = re.compile(r"::(error|warning|notice) title=[^:,\r\n]+::[^\r\n]+")
RELEASED = (File("model.bin", "ab" * 32),)
TRICKS = (
    '<script>alert("x")</script>',
    "yes",
    "1e5",
    "---",
    "- a: &b *b !!python/object/apply:os.system ['true'] # {{7*7}}",
    '"}], "value": 0, "x": [{"',
    "\x1b[2J\u202e\x00\n---\r\n\u2028# h\n|a|\n|-|\n",
    "[l](https://example.org) ![i](x) `max_advantage` *b*",
    "..",
    "\U0001f600é",
    "x" * 5000,
)


def made(name, form):
    return of_bytes((REPORTS / f"{name}.json").read_bytes(), form)


def of_bytes(data, form):
    stored = stored_report(data)._replace(subjects=RELEASED)
    return exchanged(exchange_form(form), stored, (), stored.report)


def judges(name):
    report = json.loads((REPORTS / f"{name}.json").read_text())
    verdict = (report.get("verdict") or {}).get("status", "no_policy")
    return verdict != "no_policy" or bool(report.get("claim") or report.get("claims"))


def head_of(card):
    return yaml.safe_load(card.split("---\n")[1])


def require_valid(form, text):
    """Validate a form by what its makers publish; of metrics, what MLflow's checks ask for."""
    match form:
        case "in-toto":
            Statement.copy_from_pb(json_format.Parse(text, statement_pb2.Statement())).validate()
            predicate = json.loads(text)["predicate"]
            found = json_format.ParseDict(predicate, test_result_pb2.TestResult())
            assert found.result in {"PASSED", "WARNED", "FAILED"}
            assert all(one.digest["sha256"] for one in found.configuration)
        case "cyclonedx":
            assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
        case "model-card":
            card = ModelCard(text)
            metrics = [m for r in head_of(text)["model-index"][0]["results"] for m in r["metrics"]]
            assert len(card.data.eval_results or ()) == len(metrics)
            assert all(isinstance(one["value"], float) for one in metrics)
        case "metrics":
            for name, number in json.loads(text).items():
                assert re.fullmatch(r"[/\w.\- ]*", name, re.ASCII), name
                assert posixpath.normpath(name) == name
                assert not name.startswith(("..", "/"))
                assert len(name) <= 250
                assert type(number) in {int, float}
        case "github":
            commands = [_COMMAND.fullmatch(line) for line in text.splitlines()]
            assert all(commands), text
            assert max(Counter(one[1] for one in commands).values()) <= 10
        case "gitlab":
            issues = json.loads(text)
            assert all(one["severity"] in {"critical", "minor"} for one in issues)
            assert all(one["description"] and one["check_name"] for one in issues)
            assert all(one["location"]["lines"]["begin"] == 1 for one in issues)
            prints = [one["fingerprint"] for one in issues]
            assert len({*prints}) == len(prints)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ALL)
def test_every_report_in_every_form_is_valid_or_refused(name, form):
    if form == "in-toto" and not judges(name):
        with pytest.raises(UsageError, match="has no verdict") as raised:
            made(name, form)
        assert raised.value.code == "no_verdict"
        return
    require_valid(form, made(name, form))


def undigested(text, *files):
    """Return a form without the digests of reports, which say more than what it shows of them."""
    for data in files:
        text = text.replace(sha256(data).hexdigest(), "DIGEST")
    return re.sub("urn:uuid:[0-9a-f-]+", "urn:uuid:OF-DIGEST", text)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_as_it_was(form, snapshot):
    for name in ("rejudged",) if form == "in-toto" else ("rejudged", "bounds"):
        data = (REPORTS / f"{name}.json").read_bytes()
        assert undigested(of_bytes(data, form), data) == snapshot(name=f"{name}, {form}")


def tokens_of(markdown):
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return [one for token in tokens for one in (token, *(token.children or ()))]


def active(markdown):
    """Return the kinds of its parts that do something, of those that no text may bring."""
    kinds = {"html_block", "html_inline", "link_open", "image", "code_inline"}
    return kinds & {one.type for one in tokens_of(markdown)}


def tricked(text):
    """Return a report in which every name and sentence of the data or of a person is a trick."""
    report = json.loads((REPORTS / "three_scores.json").read_text())
    names = dict(
        zip(report["design"]["score_columns"], (text, f"{text}.", f".{text}"), strict=True)
    )
    report["design"]["score_columns"] = [*names.values()]
    for row in [*report["estimates"], *report["policy"], *report["claims"]]:
        row["score"] = names.get(row["score"], row["score"])
    for row in report["policy"]:
        row["reason"] = {"code": "of_named", "values": {"score": text, "reason": row["reason"]}}
    report["limitations"].append({"code": "verify_as_stated", "values": {"declared": text}})
    ties = {"where": text, "column": text, "rows": 5, "others": 4}
    report["findings"].append({"code": "ties", "values": ties})
    made = report["provenance"]
    made["inputs"][0] |= {"name": text, "sha256": text}
    made["declared"] = {"title": text, "release": text, "author": text}
    made["mipaudit"] = text
    return json.dumps(report).encode()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", TRICKS, ids=range(len(TRICKS)))
def test_tricks_are_shown_and_do_nothing(form, text):
    found = of_bytes(tricked(text), form)

    require_valid(form, found)
    assert all(char.isprintable() or char == "\n" for char in found)
    if form == "model-card":
        name = head_of(found)["model-index"][0]["name"]
        assert isinstance(name, str)
        assert name.startswith(text[:3] if text.isprintable() else "\\x1b")
        body = found.split("---\n", 2)[2]
        assert not active(body)
        assert sum(one.type == "heading_open" for one in tokens_of(body)) == 3


def test_scores_whose_names_only_look_alike_have_names_of_their_own():
    report = json.loads((REPORTS / "three_scores.json").read_text())
    first = report["design"]["score_columns"][0]
    rows = [row for row in report["estimates"] if row["score"] == first]
    names = ["a b", "a/b", "a_b", "A_B", "a  b", ""]
    report["estimates"] = [{**row, "score": name} for name in names for row in rows]
    report["design"]["score_columns"] = names
    report |= {"policy": [], "claims": [], "verdict": {"status": "no_policy", "reasons": []}}
    numbers = json.loads(of_bytes(json.dumps(report).encode(), "metrics"))
    found = {name.lower() for name in numbers if re.match(r"advantage/.*any(/2)?/at_least", name)}
    assert len(found) == len(names)
    assert {"advantage/a_b/any/at_least", "advantage/A_B/any/2/at_least"} <= numbers.keys()


def test_what_was_declared_stands_beside_what_was_measured():
    report = json.loads((REPORTS / "one_score.json").read_text())
    report["provenance"]["declared"] = {"release": "ward model", "subjects": 12000}
    data = json.dumps(report).encode()
    component = json.loads(of_bytes(data, "cyclonedx"))["metadata"]["component"]
    assert component["name"] == "ward model"
    said = {one["name"]: one["value"] for one in component["modelCard"]["properties"]}
    assert said["mipaudit:declared:people"] == "12,000"
    assert said["mipaudit:verdict"].startswith("NOT MET: ")
    assert "- **people**: 12,000\n" in of_bytes(data, "model-card")


def test_limits_are_those_of_the_report_rounded_outward():
    report = from_json((REPORTS / "eight_scores.json").read_bytes())
    limited = [row for row in report.estimates if row.validity != "not-an-interval"]
    found = figures(report)
    assert len(found) == len(limited) == 96
    for one, row in zip(found, limited, strict=True):
        assert one.lower == "none" if row.lower is None else float(one.lower) <= row.lower
        assert one.upper == row.unlimited if row.upper is None else float(one.upper) >= row.upper
        assert row.lower is None or row.lower - float(one.lower) < 1.001e-4


@pytest.mark.parametrize("form", FORMS)
def test_python_has_the_forms(form, tmp_path):
    (tmp_path / "model.bin").write_bytes(b"a model")
    path = REPORTS / "one_score.json"
    subject = {"subject": tmp_path / "model.bin"} if form == "in-toto" else {}

    stored = mipaudit.from_json(path.read_bytes())
    of_file, in_memory = (
        mipaudit.render_report(one, format=form, **subject) for one in (path, stored)
    )
    require_valid(form, of_file)
    named = form != "metrics"
    assert ("one_score.json" in of_file, "report.json" in in_memory) == (named, named)


def test_what_is_failed_or_open_is_annotated_and_nothing_else():
    cases = walk_of(from_json((REPORTS / "three_scores.json").read_bytes())).cases
    statuses = Counter(case.status for case in cases)

    def counted(failed, opened, most):
        found = {failed: min(most, statuses["failed"]), opened: min(most, statuses["open"])}
        return {name: number for name, number in found.items() if number}

    lines = made("three_scores", "github").splitlines()
    outcome, *others = (line.split(" ")[0] for line in lines)
    assert outcome in {"::error", "::warning"}
    assert Counter(others) == counted("::error", "::warning", 9)
    issues = json.loads(made("three_scores", "gitlab"))
    assert Counter(one["severity"] for one in issues) == counted("critical", "minor", 999)


def test_an_issue_is_known_again_by_what_it_is_about():
    report = json.loads((REPORTS / "three_scores.json").read_text())
    before = json.loads(of_bytes(json.dumps(report).encode(), "gitlab"))
    for check in report["policy"]:
        check["reason"] = {"code": "increase", "values": {}}
    after = json.loads(of_bytes(json.dumps(report).encode(), "gitlab"))
    assert [one["fingerprint"] for one in before] == [one["fingerprint"] for one in after]
    assert before != after


@pytest.mark.parametrize("form", FORMS)
def test_no_folder_of_this_machine_is_told(form):
    report = json.loads((REPORTS / "one_score.json").read_text())
    report["provenance"]["inputs"][0]["name"] = "/home/alice/secret/scores.csv"
    text = of_bytes(json.dumps(report).encode(), form)
    assert "alice" not in text
    assert form in {"metrics", "github", "gitlab"} or "scores.csv" in text
