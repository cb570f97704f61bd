"""Annexes: points are bound to fields that exist, and what nothing shows is said as loudly."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import get_args, get_type_hints

import pytest

from mipaudit.commands.render.forms import ANNEX, exchanged, stored_report
from mipaudit.errors import UsageError
from mipaudit.report.exchange.annex import Status
from mipaudit.report.exchange.annex_points import SOURCES
from mipaudit.statements.kinds import KINDS, kind_of, report_type
from tests.places import REPORTS
from tests.report.exchange.test_forms import TRICKS, active, tricked, undigested

NAMES = [one.name for one in SOURCES]
BOUND = [(one.name, show) for one in SOURCES for point in one.points for show in point.shows]
FILES = {"table": "", "markdown": "a.md", "html": "a.html", "json": "a.json"}
# A report of each kind that is asked for.
EACH = ("shift", "query", "records", "attribute", "epsilon", "bounds")


def stored(name, **declared):
    report = json.loads((REPORTS / f"{name}.json").read_text())
    report["provenance"]["declared"] = declared or None
    return json.dumps(report).encode()


def annexed(of, one, others, layout):
    asked = (of, tuple(map(stored_report, others)), layout)
    return exchanged(ANNEX, one, asked, one.report)


def annex(main, *others, of="edpb-28-2024", layout="json"):
    found = annexed(of, stored_report(main), others, layout)
    return json.loads(found) if layout == "json" else found


def statuses(found):
    return {one["about"]: one["status"] for one in found["points"]}


def field_type(hint, path):
    """Return the type of a field within records, None where there is none."""
    for name in path.split("."):
        records = [one for one in (hint, *get_args(hint)) if hasattr(one, "__dataclass_fields__")]
        hints = get_type_hints(records[0]) if records else {}
        if name not in hints:
            return None
        hint = hints[name]
    return hint


@pytest.mark.parametrize(("name", "show"), BOUND)
def test_every_field_that_a_point_names_is_one_of_such_reports(name, show):
    kind = kind_of(show.command)

    assert any(show.command in one.commands for one in KINDS), name
    assert field_type(report_type(kind), show.field) is not None
    assert not show.quantity or show.field in kind.figures


@pytest.mark.parametrize("name", NAMES)
def test_every_field_that_a_point_names_can_say_something(name):
    asked = {show.command for of, show in BOUND if of == name}
    main = stored("rejudged", seen_by="public")
    found = annex(main, *(stored(one) for one in EACH if one in asked), of=name)

    empty = [line for one in found["points"] for line in one["lacking"] if "NOT " in line]
    assert empty == []
    for point in found["points"]:
        assert bool(point["shows"]) == bool(point["shown"]), point["about"]
        assert point["shows"] or point["unsaid"], "why not"


@pytest.mark.parametrize("name", NAMES)
def test_an_annex_as_it_was(name, snapshot):
    files = stored("rejudged"), stored("bounds" if name == "nist-sp-800-226" else "shift")
    assert undigested(annex(*files, of=name, layout="markdown"), *files) == snapshot


@pytest.mark.parametrize("layout", FILES)
def test_what_is_not_tested_is_said_as_loudly_as_what_is(layout):
    points = annex(stored("one_score"))["points"]
    found = annex(stored("one_score"), layout=layout)
    text = found if layout != "json" else json.dumps(found)

    for status in get_args(Status):
        said = sum(one["status"] == status for one in points)
        # At a glance, and at the head of its point.
        shown = len(re.findall(rf">{status}<|\*\*{status}\*\*|: {status}(?=\s*[\n<])", text))
        assert layout in {"json", "table"} or shown >= said
    assert "NOT TESTED" in text
    assert "NOT EVALUABLE" in text
    assert "not legal advice" in text
    assert statuses(annex(stored("one_score")))["Structured tests against exfiltration."] == (
        "NOT EVALUABLE"
    )


def edited(name, n_members=None, n_holdout=None, read=None, **declared):
    """Return a report with other sizes, or another name of what it read."""
    report = json.loads(stored(name, **declared))
    if n_members is not None:
        report["design"] |= {"n_members": n_members, "n_holdout": n_holdout}
    if read is not None:
        report["provenance"]["inputs"][0]["name"] = read
    return json.dumps(report).encode()


V1 = {"release": "v1"}
GUESSED = "Structured tests against attribute inference."
MEMBERS = "Structured tests against membership inference."
SCOPE = "Scope, frequency, quantity and quality of the tests"
SAME = "of the same release, as declared"
OTHER_SIZES = (
    "OTHER RECORDS: it is about 300 members and 300 holdout records, and report.json about 898 "
    "members and 899 holdout records"
)
READ = "scores.csv"
OTHER_FILE = "OTHER RECORDS: it read another scores.csv than report.json did"
REPORTED, IN_PART, OF_OTHERS = "REPORTED", "REPORTED IN PART", "REPORTED OF OTHER FILES"


# A report, another, how they belong together, the point and its status.
TOGETHER = [
    (stored("one_score", **V1), stored("attribute", **V1), SAME, GUESSED, REPORTED),
    (stored("one_score", **V1), stored("attribute"), "OTHER FILES", GUESSED, OF_OTHERS),
    (stored("rejudged"), stored("shift"), "OTHER FILES", SCOPE, IN_PART),
    (stored("rejudged"), stored("records"), "read the same file", MEMBERS, REPORTED),
    (stored("rejudged", **V1), stored("shift", **V1), SAME, SCOPE, REPORTED),
    # A declared name beats neither the counts nor the contents of a file.
    (edited("rejudged", 898, 899, **V1), stored("shift", **V1), OTHER_SIZES, SCOPE, IN_PART),
    (stored("shift", **V1), edited("rejudged", 1, 2, **V1), "OTHER", MEMBERS, OF_OTHERS),
    (stored("rejudged", **V1), edited("shift", read=READ, **V1), OTHER_FILE, SCOPE, IN_PART),
]


@pytest.mark.parametrize(("main", "other", "relation", "about", "status"), TOGETHER)
def test_a_report_fills_a_point_if_it_is_of_the_same(main, other, relation, about, status):
    found = annex(main, other)
    point = next(one for one in found["points"] if one["about"].startswith(about))

    assert found["reports"][1]["is"].startswith(relation)
    assert point["status"] == status
    which = " ".join(relation.partition(":")[0].split()[:2])
    said = [*point["lacking"], *point["shown"]]
    assert any(which in line for line in said) == relation.startswith("OTHER")
    if about == GUESSED:
        (line,) = point["shown"]
        said = (
            "attribute_advantage (those who made these guesses, 95% confidence): at least 0.0040, "
        )
        assert line.startswith(said)
        assert line.partition(" [")[0].endswith("at most 0.3099")
        assert statuses(annex(main))[about] == "NOT TESTED"


WAIVER = {"quantity": "advantage", "person": "A. Person"}
WAIVER |= {"reason": "Of a pilot.", "expires": "2999-12-31"}


@pytest.mark.parametrize("layout", FILES)
def test_every_layout_says_the_verdict_first_and_leaves_nothing_out(tmp_path, layout):
    (tmp_path / "model.bin").write_bytes(b"a model")
    report, other = json.loads(stored("one_score")), stored("shift")
    codes = ("missing_tells", "one_cell")
    report["findings"] = [{"code": code, "values": {}} for code in codes]
    main = json.dumps(report).encode()
    one = stored_report(main, [tmp_path / "model.bin"])
    found = annexed("edpb-28-2024", one, (other,), layout)
    text = " ".join(found.split())

    # The file that is released, as unread; reports by their digests; what can make it untrue.
    assert sha256(b"a model").hexdigest() in text
    assert "only the signer states that the scores were made with it" in text
    assert [text.count(sha256(data).hexdigest()) for data in (main, other)] == [1, 1]
    assert text.count("report.json: Scores are missing more often for members") == 1
    assert "All records fall into one score range" not in text
    if layout == "json":
        verdict = json.loads(found)["verdict"]
        assert verdict["says"].startswith("Verdict of report.json: NOT MET: ")
        assert [one["status"] for one in verdict["judged"]].count("NOT MET") >= 1
        return
    body = text.partition("</head>")[2] if layout == "html" else text
    said, legal = body.index("Verdict of report.json: NOT MET: "), body.index("not legal advice")
    assert body.index("Annex: ") < said < legal
    assert body.index("NOT MET", said + 40) < legal  # limit by limit
    # A place to sign stands after all else.
    end = text.partition("Read by")[2]
    assert end.count("signature") >= 1
    assert "para. 134" not in end
    assert layout != "html" or '<table class="signed shown">' in text
    assert "No released file was named" in annex(main, layout="table")


def test_the_verdict_says_what_is_waived_assumed_or_not_limited():
    found = annex(stored("no_policy"))["verdict"]
    assert found["says"].startswith("report.json has no verdict: no limit was set. ")
    assert [one["status"] for one in found["judged"]] == ["not judged"]

    report = json.loads(stored("rejudged"))
    report["policy"][0]["waived"] = WAIVER
    report["verdict"] |= {"status": "waived", "waived": 1, "assuming": "all is well"}
    found = annex(json.dumps(report).encode())["verdict"]
    assert ", assuming that all is well, with 1 limit accepted by waiver" in found["says"]
    assert "Of a pilot." in found["judged"][0]["why"]

    verdicts = annex(stored("rejudged"), stored("shift"))["verdict"]["beside"]
    assert len(verdicts) == len(annex(stored("rejudged"))["verdict"]["beside"]) + 1
    said = "OTHER FILES, mipaudit shift. Verdict of report.json: INCONCLUSIVE"
    assert verdicts[-1].startswith(said)


def test_two_numbers_of_one_quantity_are_explained_as_on_the_page():
    report = json.loads(stored("one_score"))
    report["policy"][0]["lower"] -= 0.01
    unlike = annex(json.dumps(report).encode())["verdict"]["beside"]
    assert any(
        text.startswith("The verdict's 'at least' and 'at most' can differ a little")
        for text in unlike
    )


def test_a_figure_without_any_number_is_no_report():
    report = json.loads(stored("attribute", release="v1"))
    for row in report["figures"]:
        row["lower"] = row["value"] = row["upper"] = None
    about = "Structured tests against attribute inference."
    found = annex(stored("one_score", release="v1"), json.dumps(report).encode())
    assert statuses(found)[about] == "NOT EVALUABLE"


def test_no_figure_is_left_out():
    report = json.loads(stored("three_scores"))
    rows = [one for one in report["estimates"] if one["quantity"] == "advantage"]
    assert len({one["score"] for one in rows}) > 1
    about = "How likely it is that such data are obtained by queries"
    found = annex(stored("three_scores"))["points"]
    (point,) = (one for one in found if one["about"].startswith(about))
    valid = [one for one in rows if one["validity"] != "not-an-interval"]
    assert len(valid) > 6
    assert len(point["shown"]) + len(point["lacking"]) == len(valid)


@pytest.mark.parametrize(("source", "said"), [("default", True), ("command line", False)])
def test_a_prior_that_nobody_stated_is_called_the_default(source, said):
    report = json.loads(stored("one_score", subjects=12_000))
    (prior,) = (one for one in report["provenance"]["settings"] if one["name"] == "prior")
    prior["source"] = source
    text = " ".join(annex(json.dumps(report).encode(), layout="table").split())

    assert "of the 12,000 declared" in text
    assert ("the default: nobody declared how many were in the training data" in text) is said


def test_what_is_declared_is_not_called_reported():
    about = "The threat model and the risk assessments that measures rest on."
    assert statuses(annex(stored("one_score", seen_by="public")))[about] == "DECLARED, NOT CHECKED"
    assert statuses(annex(stored("one_score", release="v1")))[about] == "NOT EVALUABLE"


APART = {
    "No point asks about check": [("one_score", "check"), ("check",)],
    "There are two reports of shift": [("one_score", "shift", "shift")],
    "There are two reports of estimate": [("one_score", "three_scores")],
}


def test_reports_that_do_not_go_together_are_refused():
    for said, cases in APART.items():
        for names in cases:
            with pytest.raises(UsageError, match=said):
                annex(*map(stored, names))
    with pytest.raises(UsageError, match="of another release"):
        annex(stored("one_score", release="a"), stored("shift", release="b"))


@pytest.mark.parametrize("layout", FILES)
@pytest.mark.parametrize("text", TRICKS, ids=range(len(TRICKS)))
def test_tricks_are_shown_and_do_nothing(layout, text):
    found = annex(tricked(text), layout=layout)
    shown = found if layout != "json" else json.dumps(found)

    assert all(char.isprintable() or char == "\n" for char in shown)
    if layout == "html":
        assert "<script" not in shown
        assert "https://example.org" not in re.findall(r'(?:href|src)="([^"]*)"', shown)
    if layout == "markdown":
        assert not active(shown)


def test_the_command_writes_it_by_the_ending_and_exits_as_the_report_does(mipaudit, tmp_path):
    (tmp_path / "report.json").write_bytes(stored("one_score"))
    words = ("render", "report.json", "--for", "owasp-aisvs-1.0")

    shown = mipaudit(*words, "-f", "annex", "--data-subjects", "700")
    page = mipaudit(*words, "-o", "annex.html")

    assert shown.returncode == page.returncode == 1  # the report's own verdict
    assert shown.stdout.startswith("Annex: OWASP AISVS 1.0")
    assert "of the 700 declared" in " ".join(shown.stdout.split())
    assert (tmp_path / "annex.html").read_text().startswith("<!DOCTYPE html>")


OF = ("--for", "edpb-28-2024")
AMISS = [
    (("-f", "annex"), "--for does not say which guideline"),
    (("-f", "html", *OF), "--for asks for an annex"),
    ((*OF, "-o", "annex.csv"), "the ending of --output says csv"),
    ((*OF, "-o", "a.intoto.json"), "says in-toto"),
    (("--with", "report.json"), "--with can only be used with --for"),
    ((*OF, "--with", "none.json"), "none.json"),
    ((*OF, "--with", "report.json"), "There are two reports of estimate"),
    ((*OF, "--max-advantage", ".1"), "has another verdict"),
]


@pytest.mark.parametrize(("words", "said"), AMISS)
def test_what_is_asked_amiss_is_one_error_and_writes_nothing(mipaudit, tmp_path, words, said):
    (tmp_path / "report.json").write_bytes(stored("one_score"))

    done = mipaudit("render", "report.json", *words)

    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_an_epsilon_that_certifies_nothing_is_shown_as_nothing():
    epsilon = json.loads((REPORTS / "epsilon.json").read_text())

    def told(what):
        found = annex(stored("bounds"), json.dumps(epsilon).encode(), of="nist-sp-800-226")
        return [text for point in found["points"] for text in point[what] if "statements" in text]

    assert any("at least" in text for text in told("shown"))
    for one in epsilon["statements"]:
        one |= {"validity": "if-exchangeable"}
    assert not any("at least" in text for text in told("shown"))
    assert any("since it proves nothing" in text for text in told("lacking"))
