"""``mipaudit verify`` of a statement: the released files, the report, and its scores."""

from __future__ import annotations

import json
import os
import re
import shutil

import pytest

from mipaudit.commands.render.forms import hashed
from tests.places import ROOT

SCORES = ("--members", "members.csv", "--holdout", "holdout.csv")
MODEL = ("--subject", "model.bin")


@pytest.fixture
def folder(mipaudit, tmp_path):
    """A folder with scores, a judged report, a model, and the statement of them."""
    for name in ("members.csv", "holdout.csv"):
        shutil.copy(ROOT / "sample_data" / name, tmp_path / name)
    (tmp_path / "model.bin").write_bytes(b"a model")
    for words in (
        ("estimate", *SCORES, "--max-advantage", "0.9", "-o", "report.json"),
        ("render", "report.json", *MODEL, "-o", "model.intoto.json"),
    ):
        done = mipaudit(*words)
        assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.fixture
def verify(mipaudit, folder):
    """Verify the statement; return the exit code, its parts by name, and what is said."""

    def run(*words):
        done = mipaudit("verify", "model.intoto.json", *words, "-f", "json")
        found = json.loads(done.stdout) if done.stdout else {"parts": []}
        parts = {part["part"]: part["status"] for part in found["parts"]}
        return done.returncode, parts, done.stderr

    return run


def test_what_is_beside_it_is_checked_and_with_the_scores_the_report_is_computed_again(verify):
    agree = dict.fromkeys(("subject model.bin", "report", "contents"), "agrees")
    assert verify()[:2] == (0, {**agree, "scores": "noted"})
    status, parts, _ = verify(*SCORES)
    assert status == 0
    assert parts["estimates"] == parts["verdict"] == parts["inputs"] == "agrees"


UNREAD = "mipaudit did not read model.bin: only the signer states that the scores"


@pytest.mark.parametrize("words", [(), SCORES])
def test_that_the_subject_was_not_read_is_said_and_stated(mipaudit, folder, words):
    done = mipaudit("verify", "model.intoto.json", *words)
    assert UNREAD in " ".join(done.stdout.split())
    (subject,) = json.loads((folder / "model.intoto.json").read_text())["subject"]
    assert UNREAD in subject["annotations"]["mipaudit"]


@pytest.mark.parametrize(("limit", "result"), [("0.9", "PASSED"), ("0.01", "FAILED")])
@pytest.mark.usefixtures("folder")
def test_the_line_alone_says_the_result(mipaudit, limit, result):
    mipaudit("estimate", *SCORES, "--max-advantage", limit, "-o", "report.json")
    mipaudit("render", "report.json", *MODEL, "-o", "model.intoto.json")
    done = mipaudit("verify", "model.intoto.json", "-q")
    assert (done.returncode, done.stdout) == (
        0,
        f"The statement AGREES with the files given: it says {result}.\n",
    )
    # Beside it the gate: the exit code of render is that of the verdict.
    assert mipaudit("render", "report.json", "-q").returncode == int(result == "FAILED")


ANNEX = ("--for", "edpb-28-2024")
OTHERS = [(ANNEX, "annex.html"), (ANNEX, "annex.md"), (ANNEX, "annex.json")]
OTHERS += [(("-f", "model-card"), "card.md"), ((), "model.cdx.json")]
OTHERS += [(("-f", "metrics"), "metrics.json"), (("-f", "gitlab"), "quality.json")]


@pytest.mark.usefixtures("folder")
def test_another_form_is_made_again_and_not_verified(mipaudit):
    for words, name in OTHERS:
        assert mipaudit("render", "report.json", *words, "-o", name).returncode == 0
        done = mipaudit("verify", name)
        assert (done.returncode, done.stdout) == (2, "")
        said = "make it again from its report and compare"
        assert said in " ".join(done.stderr.split())


def replaced(old, new, name="model.intoto.json", times=None):
    """Return an edit of a file in the folder, of which the old text stands there that often."""

    def edit(folder):
        text = (folder / name).read_text()
        assert times in {None, text.count(old)}
        (folder / name).write_text(text.replace(old, new))

    return edit


def waiting(folder):
    (folder / "model.bin").unlink()
    os.mkfifo(folder / "model.bin")


EDITED = {
    '"result": "PASSED"': '"result": "WARNED"',
    '"failedTests": []': '"failedTests": ["another"]',
    '"says": "MET: ': '"says": "NOT MET: ',
    "mipaudit did not read model.bin": "mipaudit read model.bin",
    '"confidence": 0.95': '"confidence": 0.99',
    '"passedTests": [': '"url": "https://example.org", "passedTests": [',
}
LAST = (ROOT / "sample_data" / "members.csv").read_text().splitlines()[-1]
SUBJECT = "subject model.bin"
# What is edited, what is given, and the parts that agree or not; of None there is none.
DIFFERS = [
    (replaced(LAST, "", "members.csv"), SCORES, {"inputs": "differs", "report": "agrees"}),
    (replaced("a model", "b", "model.bin"), (), {SUBJECT: "differs", "contents": "agrees"}),
    # Nothing follows from a report that was changed.
    (
        replaced("\n}", "\n}\n", "report.json"),
        SCORES,
        {SUBJECT: "agrees", "report": "differs", "contents": None, "inputs": None},
    ),
    (
        lambda folder: (folder / "other.bin").write_bytes(b"another"),
        ("--subject", "other.bin"),
        {"subject other.bin": "differs"},
    ),
    *((replaced(*pair, times=1), (), {"contents": "differs"}) for pair in EDITED.items()),
]


@pytest.mark.parametrize(("edit", "words", "expected"), DIFFERS)
def test_what_was_changed_differs(verify, folder, edit, words, expected):
    edit(folder)
    status, parts, _ = verify(*words)
    assert (status, {name: parts.get(name) for name in expected}) == (1, expected)


BESIDE = "{}, which the statement names, is not beside it"
ELSEWHERE = ("../model.bin", "/etc/hostname", "", ".", "..", "a\\u0000b")
SCHEMA = {
    "test-result/v0.1": "test-result/v0.2",
    '"subject": [': '"subject": [], "was": [',
    '"configuration": [': '"configuration": [], "was": [',
    '"sha256"': '"sha1"',
}
REFUSED = [
    *(
        (lambda folder, name=name: (folder / name).unlink(), BESIDE.format(name))
        for name in ("report.json", "model.bin")
    ),
    # A name leads to no other folder, and what waits to be written to is no file.
    *((replaced("model.bin", name), "is not beside it|is no file") for name in ELSEWHERE),
    (waiting, "is not beside it"),
    *((replaced(*pair), "not one from mipaudit render") for pair in SCHEMA.items()),
    (replaced('"result"', '"result": "PASSED", "result"'), "the same key twice"),
    (replaced('"configuration": [', '"configuration": ["\\ud800",'), "no command writes"),
]


@pytest.mark.parametrize(("edit", "said"), REFUSED)
def test_what_is_missing_or_no_such_statement_is_refused(verify, folder, edit, said):
    edit(folder)
    status, parts, text = verify()
    assert (status, parts) == (2, {})
    assert re.search(said, text)


def test_a_released_file_may_be_elsewhere_under_any_name(verify, folder):
    (folder / "there").mkdir()
    (folder / "model.bin").rename(folder / "there" / "v1.bin")
    assert verify()[0] == 2
    status, parts, _ = verify("--subject", "there/v1.bin")
    assert (status, parts[SUBJECT]) == (0, "agrees")
    (folder / "there" / "v1.bin").write_bytes(b"another model")
    assert "is not beside it" in verify("--subject", "there/v1.bin")[2]


@pytest.mark.usefixtures("folder")
def test_subjects_belong_to_statements(mipaudit):
    done = mipaudit("verify", "report.json", *MODEL)
    assert (done.returncode, "Leave --subject out." in done.stderr) == (2, True)


def test_a_page_is_a_report_too_and_both_have_digests_of_their_own(mipaudit, folder):
    mipaudit("render", "report.json", "-o", "report.html")
    page, report = (hashed(folder / name).sha256 for name in ("report.html", "report.json"))
    said = " ".join(mipaudit("verify", "report.html", *SCORES, "--full").stdout.split())
    assert f"sha256 of this page: {page}" in said
    assert f"sha256 of its report, as .json: {report}" in said
    assert "sha256 of the report" not in said
    assert mipaudit("render", "report.html", *MODEL, "-o", "page.intoto.json").returncode == 0
    assert mipaudit("verify", "page.intoto.json", *SCORES).returncode == 0


def test_digests_that_changed_places_differ_also_where_the_files_are_given(mipaudit, folder):
    for name in ("a.bin", "b.bin"):
        (folder / name).write_bytes(name.encode())
    both = ("--subject", "a.bin", "--subject", "b.bin")
    mipaudit("render", "report.json", *both, "-o", "two.intoto.json", "-q")
    path = folder / "two.intoto.json"
    stated = json.loads(path.read_text())
    assert mipaudit("verify", path.name, *both, "-q").returncode == 0
    one, two = stated["subject"]
    one["digest"], two["digest"] = two["digest"], one["digest"]
    path.write_text(json.dumps(stated))
    done = mipaudit("verify", path.name, *both, "-q")
    assert (done.returncode, "a.bin" in done.stdout) == (1, True)
