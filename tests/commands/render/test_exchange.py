"""``mipaudit render`` in forms that others define: endings, subjects, refusals."""

from __future__ import annotations

import json

import pytest

from tests.places import REPORTS

REPORT = str(REPORTS / "one_score.json")


@pytest.fixture
def model(tmp_path):
    (tmp_path / "model.bin").write_bytes(b"a model")
    return ("--subject", "model.bin")


STATED = [("-o", "x.intoto.json"), ("-o", "X.INTOTO.JSON"), ("-f", "in-toto", "-o", "x.json")]


def test_the_ending_says_a_statement_or_a_bill_and_a_report_is_a_report(mipaudit, tmp_path, model):
    for words in (*STATED, ("-f", "in-toto")):
        done = mipaudit("render", REPORT, *model, *words)
        assert done.returncode == 1, done.stderr  # as its verdict is
        text = (tmp_path / words[-1]).read_text() if "-o" in words else done.stdout
        assert "_type" in json.loads(text)
    for name, key in (("x.cdx.json", "bomFormat"), ("x.json", "schema")):
        mipaudit("render", REPORT, "-o", name)
        assert key in json.loads((tmp_path / name).read_text())
        assert (tmp_path / f"{name}.sha256").exists()


OTHER_ENDINGS = [
    ("cyclonedx", "x.intoto.json", "in-toto"),
    ("metrics", "x.cdx.json", "cyclonedx"),
    ("model-card", "x.json", "json"),
    ("metrics", "x.csv", "csv"),
    ("json", "x.md", "markdown"),
]
CANNOT_BE = [
    *(
        (("-f", form, "-o", name), f"the ending of --output says {said}")
        for form, name, said in OTHER_ENDINGS
    ),
    (("-f", "in-toto"), "none is named"),
    (("-f", "metrics", "--subject", "model.bin"), "Add --format in-toto"),
    (("-f", "in-toto", "--subject", "missing"), "cannot be read: No such file"),
    (("-f", "in-toto", "--subject", "."), "is not a file"),
    (("-f", "cyclonedx", "--max-advantage", "0.5"), "has another verdict"),
    (("--subject", "model.bin", "-f", "in-toto", "-o", "model.bin"), "model.bin"),
]


@pytest.mark.parametrize(("words", "said"), CANNOT_BE)
@pytest.mark.usefixtures("model")
def test_what_cannot_be_is_one_error(mipaudit, tmp_path, words, said):
    done = mipaudit("render", REPORT, *words)
    assert (done.returncode, done.stdout, said in done.stderr) == (2, "", True)
    assert (tmp_path / "model.bin").read_bytes() == b"a model"
    assert len(list(tmp_path.iterdir())) == 1


def test_equal_reports_are_equal_bytes_at_any_time(mipaudit, model):
    for form in ("in-toto", "cyclonedx", "model-card", "metrics"):
        words = ("render", REPORT, *(model if form == "in-toto" else ()), "-f", form)
        later = {"SOURCE_DATE_EPOCH": "1000000000"}
        assert mipaudit(*words).stdout == mipaudit(*words, env=later).stdout


def test_the_time_of_a_bill_is_that_of_the_report(mipaudit, tmp_path):
    (tmp_path / "s.csv").write_text("member,score\n" + "".join(f"{i % 2},{i}\n" for i in range(99)))
    epoch = {"SOURCE_DATE_EPOCH": "1000000000"}
    report = mipaudit("estimate", "s.csv", "-f", "json", env=epoch).stdout
    bill = json.loads(mipaudit("render", "-", "-f", "cyclonedx", input=report).stdout)
    assert bill["metadata"]["timestamp"] == "2001-09-09T01:46:40Z"
    assert bill["metadata"]["component"]["externalReferences"][0]["url"] == "report.json"


def test_what_is_declared_now_names_the_model(mipaudit):
    done = mipaudit("render", REPORT, "-f", "cyclonedx", "--release-name", "forest 1.2")
    assert json.loads(done.stdout)["metadata"]["component"]["name"] == "forest 1.2"


def test_a_line_goes_beside_the_file(mipaudit):
    done = mipaudit("render", REPORT, "-f", "metrics", "-o", "metrics.json", "-q")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("NOT MET")
    assert len(done.stdout.splitlines()) == 1


def test_a_form_calls_a_report_by_no_other_release_than_it_states(mipaudit):
    first = mipaudit("render", REPORT, "-f", "json", "--release-name", "forest 1.2", "-o", "a.json")
    assert first.returncode == 1  # not met
    same = mipaudit("render", "a.json", "-f", "cyclonedx", "--release-name", "forest 1.2")
    assert same.returncode == 1
    for form in (("-f", "cyclonedx"), ("-f", "model-card"), ("--for", "nist-sp-800-226")):
        done = mipaudit("render", "a.json", *form, "--release-name", "forest 2.0")
        assert (done.returncode, done.stdout) == (2, "")
        assert "names another release than --release-name" in done.stderr
