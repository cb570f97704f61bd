"""``mipaudit verify`` of a statement: the released files, the report, and its scores."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from mipaudit.commands.render.forms import hashed
from tests.places import ROOT


@pytest.fixture
def folder(mipaudit, tmp_path):
    """A folder with scores, a judged report, a model, and the statement of them."""
    shutil.copy(ROOT / "sample_data" / "members.csv", tmp_path / "members.csv")
    shutil.copy(ROOT / "sample_data" / "holdout.csv", tmp_path / "holdout.csv")
    (tmp_path / "model.bin").write_bytes(b"a model")
    audit = mipaudit("estimate", *SCORES, "--max-advantage", "0.9", "-o", "report.json")
    assert audit.returncode == 0, audit.stderr
    made = mipaudit("render", "report.json", "--subject", "model.bin", "-o", "model.intoto.json")
    assert made.returncode == 0, made.stderr
    return tmp_path


SCORES = ("--members", "members.csv", "--holdout", "holdout.csv")


@pytest.fixture
def verify(mipaudit, folder):
    """Verify the statement; return the exit code, its parts by name, and what is said."""

    def run(*words):
        done = mipaudit("verify", "model.intoto.json", *words, "-f", "json")
        found = json.loads(done.stdout) if done.stdout else {"parts": []}
        parts = {part["part"]: part["status"] for part in found["parts"]}
        return done.returncode, parts, done.stderr

    return run


def test_what_is_beside_it_is_checked(verify):
    status, parts, _ = verify()

    assert status == 0
    assert parts == {
        "subject model.bin": "agrees",
        "report": "agrees",
        "contents": "agrees",
        "scores": "noted",
    }


def test_with_the_scores_the_report_is_computed_again(verify):
    status, parts, _ = verify(*SCORES)

    assert status == 0
    assert parts["estimates"] == parts["verdict"] == parts["inputs"] == "agrees"


UNREAD = "mipaudit did not read model.bin: that the scores were made with it is the word of whoever"


@pytest.mark.parametrize("words", [(), SCORES])
def test_that_the_subject_was_not_read_is_said_and_stated(mipaudit, folder, words):
    done = mipaudit("verify", "model.intoto.json", *words)
    assert UNREAD in " ".join(done.stdout.split())
    (subject,) = json.loads((folder / "model.intoto.json").read_text())["subject"]
    assert UNREAD in subject["annotations"]["mipaudit"]


@pytest.mark.parametrize(("limit", "result"), [("0.9", "PASSED"), ("0.01", "FAILED")])
def test_the_line_alone_says_the_result(mipaudit, folder, limit, result):
    mipaudit("estimate", *SCORES, "--max-advantage", limit, "-o", "report.json")
    mipaudit("render", "report.json", "--subject", "model.bin", "-o", "model.intoto.json")
    done = mipaudit("verify", "model.intoto.json", "-q")
    assert (done.returncode, done.stdout) == (0, f"The statement AGREES: it says {result}.\n")
    # Beside it the gate: the exit code of render is that of the verdict.
    assert mipaudit("render", "report.json", "-q").returncode == int(result == "FAILED")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--for", "edpb-28-2024"), "annex.html"),
        (("--for", "edpb-28-2024"), "annex.md"),
        (("--for", "edpb-28-2024"), "annex.json"),
        (("-f", "model-card"), "card.md"),
        ((), "model.cdx.json"),
        (("-f", "metrics"), "metrics.json"),
        (("-f", "gitlab"), "quality.json"),
    ],
)
def test_another_form_is_made_again_and_not_verified(mipaudit, folder, words, name):
    assert mipaudit("render", "report.json", *words, "-o", name).returncode == 0
    done = mipaudit("verify", name)
    said = " ".join(done.stderr.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "make it again from the report whose sha256 it names, with the same command" in said


def test_other_scores_differ(verify, folder):
    rows = (folder / "members.csv").read_text().splitlines()
    (folder / "members.csv").write_text("\n".join(rows[:-1]) + "\n")
    status, parts, _ = verify(*SCORES)
    assert (status, parts["inputs"], parts["report"]) == (1, "differs", "agrees")


def test_a_changed_model_differs(verify, folder):
    (folder / "model.bin").write_bytes(b"another model")
    status, parts, _ = verify()
    assert (status, parts["subject model.bin"], parts["contents"]) == (1, "differs", "agrees")


def test_a_changed_report_differs_and_nothing_follows_from_it(verify, folder):
    with (folder / "report.json").open("a") as file:
        file.write("\n")
    status, parts, _ = verify(*SCORES)
    assert (status, parts) == (1, {"subject model.bin": "agrees", "report": "differs"})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"result": "PASSED"', '"result": "WARNED"'),
        ('"failedTests": []', '"failedTests": ["another"]'),
        ('"says": "MET: ', '"says": "NOT MET: '),
        ("mipaudit did not read model.bin", "mipaudit read model.bin"),
        ('"confidence": 0.95', '"confidence": 0.99'),
        ('"passedTests": [', '"url": "https://example.org", "passedTests": ['),
    ],
)
def test_an_edited_statement_differs(verify, folder, old, new):
    path = folder / "model.intoto.json"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    status, parts, _ = verify()
    assert (status, parts["contents"]) == (1, "differs")


def test_a_released_file_may_be_elsewhere_under_any_name(verify, folder):
    (folder / "there").mkdir()
    (folder / "model.bin").rename(folder / "there" / "v1.bin")
    assert verify()[0] == 2
    status, parts, _ = verify("--subject", "there/v1.bin")
    assert (status, parts["subject model.bin"]) == (0, "agrees")
    (folder / "there" / "v1.bin").write_bytes(b"another model")
    assert "is not beside it" in verify("--subject", "there/v1.bin")[2]


def test_a_file_that_the_statement_does_not_speak_of_differs(verify, folder):
    (folder / "other.bin").write_bytes(b"another")
    status, parts, _ = verify("--subject", "other.bin")
    assert (status, parts["subject other.bin"]) == (1, "differs")


@pytest.mark.parametrize("name", ["report.json", "model.bin"])
def test_what_is_missing_is_named_and_where_to_put_it(verify, folder, name):
    (folder / name).unlink()
    status, _, text = verify()
    assert status == 2
    assert f"{name}, which the statement names, is not beside it" in text


@pytest.mark.parametrize("name", ["../model.bin", "/etc/hostname", "", ".", "..", "a\\u0000b"])
def test_a_name_leads_to_no_other_folder(verify, folder, name):
    path = folder / "model.intoto.json"
    path.write_text(path.read_text().replace("model.bin", name))
    status, parts, text = verify()
    assert (status, parts) == (2, {})
    assert "is not beside it" in text or "is no file" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("test-result/v0.1", "test-result/v0.2"),
        ('"subject": [', '"subject": [], "was": ['),
        ('"configuration": [', '"configuration": [], "was": ['),
        ('"sha256"', '"sha1"'),
    ],
)
def test_a_statement_of_others_is_refused(verify, folder, old, new):
    path = folder / "model.intoto.json"
    path.write_text(path.read_text().replace(old, new))
    status, _, text = verify()
    assert status == 2
    assert "not one that mipaudit render writes" in text


def test_subjects_belong_to_statements(mipaudit, folder):
    done = mipaudit("verify", "report.json", "--subject", "model.bin")
    assert done.returncode == 2
    assert "Leave --subject out." in done.stderr


def test_a_page_and_the_report_in_it_have_digests_of_their_own(mipaudit, folder):
    mipaudit("render", "report.json", "-o", "report.html")
    page, report = (hashed(folder / name).sha256 for name in ("report.html", "report.json"))
    done = mipaudit("verify", "report.html", *SCORES, "--full")
    said = " ".join(done.stdout.split())
    assert f"sha256 of this page: {page}" in said
    assert f"sha256 of its report, as .json: {report}" in said
    assert "sha256 of the report" not in said


def test_a_page_is_a_report_too(mipaudit, folder):
    mipaudit("render", "report.json", "-o", "report.html")
    words = ("--subject", "model.bin", "-o", "page.intoto.json")
    assert mipaudit("render", "report.html", *words).returncode == 0
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


def test_a_name_that_stands_twice_in_a_statement_is_refused(verify, folder):
    path = folder / "model.intoto.json"
    path.write_text(path.read_text().replace('"result"', '"result": "PASSED", "result"', 1))
    status, _, text = verify()
    assert status == 2
    assert "two members of one name" in text


def test_half_a_character_in_a_statement_is_an_error_of_the_statement(verify, folder):
    path = folder / "model.intoto.json"
    path.write_text(path.read_text().replace('"configuration": [', '"configuration": ["\\ud800",'))
    status, _, text = verify()
    assert (status, "no command writes" in text) == (2, True)


def test_what_waits_to_be_written_to_is_no_file_beside_a_statement(verify, folder):
    (folder / "model.bin").unlink()
    os.mkfifo(folder / "model.bin")
    status, _, text = verify()
    assert status == 2
    assert "is not beside it" in text
