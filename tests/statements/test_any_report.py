"""What every report does in Python: shows itself, and gives itself away in other forms."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re

import pytest

import mipaudit
from mipaudit import OutputError, UsageError, from_json
from mipaudit.report.codec import report_csv
from mipaudit.report.forms import report_as
from mipaudit.statements.kinds import KINDS, kind_of, named
from tests.places import TESTS

SAVED = sorted((TESTS / "reports").glob("*.json"))


@pytest.fixture(params=SAVED, ids=lambda path: path.stem)
def report(request):
    return from_json(request.param.read_bytes())


def test_every_kind_is_a_report_of_python():
    for kind in KINDS:
        found = named(kind.report)
        assert not hasattr(found, "__dict__") or "__slots__" in vars(found), kind.schema
        assert callable(found.show)
        assert "__repr__" not in vars(found), kind.schema


def test_the_prompt_shows_the_answer_in_five_lines(report):
    lines = repr(report).splitlines()
    assert 2 <= len(lines) <= 5
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"mipaudit {report.command}")
    assert "`" not in repr(report)
    assert "--" not in repr(report).replace("simulate --list", "")


def test_a_report_travels_and_is_a_dictionary_and_a_frame(report):
    assert pickle.loads(pickle.dumps(report)) == report == dataclasses.replace(report)  # noqa: S301 - our own
    assert report.to_dict() == json.loads(mipaudit.to_json(report))
    frame = report.to_pandas()
    assert len(frame.columns)
    assert frame.columns.is_unique
    rows = report_csv(report).count("\n") - 1
    tables = kind_of(report.command).tables
    assert len(frame) == rows if len(tables) == 1 else 0 < len(frame) <= rows


def test_a_frame_has_numbers_and_no_texts_of_numbers(sample):
    report = sample("three_scores")
    frame = report.to_pandas()
    assert frame["lower"].dtype == float
    assert frame.loc[0, "lower"] == report.estimates[0].lower
    unlimited = [one.attackers for one in report.estimates if one.upper is None]
    assert frame.loc[frame["upper"].isna(), "attackers"].tolist() == unlimited


@pytest.mark.parametrize("ending", ["html", "json", "csv", "md", "xml"])
def test_the_ending_says_the_form(tmp_path, ending):
    report = mipaudit.bounds(epsilon=1.0)
    report.save(tmp_path / f"r.{ending}")
    form = {"md": "markdown", "xml": "junit"}.get(ending, ending)
    written = (tmp_path / f"r.{ending}").read_bytes().decode()
    assert written == mipaudit.render_report(report, format=form)
    assert [path.name for path in tmp_path.iterdir()] == [f"r.{ending}"]


def test_a_form_that_there_is_not_is_refused_in_the_callers_words(tmp_path):
    report = mipaudit.bounds(epsilon=1.0)
    with pytest.raises(UsageError, match=r"^path= must be of another form than PDF"):
        report.save(str(tmp_path / "r.pdf"))
    with pytest.raises(UsageError, match=r"^path= takes a file name that ends in \.html") as told:
        report.save(tmp_path / "r.docx")
    assert told.value.hint is None
    with pytest.raises(OutputError, match="another file for path="):
        report.save(tmp_path / "none" / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_a_screenful_is_printed_and_all_of_it_on_demand(report, capsys):
    report.show()
    brief = capsys.readouterr()
    report.show(full=True)
    full = capsys.readouterr()
    assert not brief.err
    assert "`" not in brief.out
    assert '.save("report.html").' in " ".join(brief.out.split())
    assert len(brief.out.splitlines()) <= 180
    # The short ones say of where there is more, and little else beside.
    assert len(full.out) > len(brief.out) - 100


def test_options_are_named_as_they_are_typed(capsys):
    mipaudit.bounds(epsilon=1.0).show()
    assert "(--adjacency)" in capsys.readouterr().out
    assert "--adjacency" in report_as(mipaudit.bounds(epsilon=1.0), "markdown")


def test_a_notebook_shows_every_kind(report):
    shown = report._repr_html_()
    assert shown.startswith('<div class="mipaudit">')
    assert shown.count("<div") == shown.count("</div")
    assert 'class="verdict' in shown or "<table" in shown
    assert "<script" not in shown
    # Drawings of several cells would share their names.
    assert "<svg" not in shown


def test_a_notebook_has_the_pictures_of_the_answer(sample):
    shown = sample("one_score")._repr_html_()
    assert shown.partition("<details")[0].count('src="data:image/svg+xml;base64,') == 1
    assert shown.index("verdict") < shown.index("<img") < shown.index("<details")


def test_the_picture_of_the_answer_is_drawn_and_written(sample, tmp_path):
    picture = sample("one_score").plot()
    assert picture._repr_svg_() == picture.svg
    assert picture.svg.startswith("<svg")
    assert len(repr(picture)) <= 100
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text("utf-8") == f"{picture.svg}\n"
    with pytest.raises(UsageError, match=r"path= must end in \.svg"):
        picture.save(tmp_path / "a.png")
    with pytest.raises(OutputError):
        picture.save(tmp_path / "none" / "a.svg")


# Nothing to draw; of a query it was saved before queries said how records spread.
WITHOUT = {"check", "doctor", "noise", "query", "simulate", "verify", "summarize"}


def test_what_has_pictures_has_a_plot_and_says_it_in_words(report):
    if report.command.split()[0] in WITHOUT:
        with pytest.raises(UsageError, match=r"has no picture\. .*to_pandas"):
            report.plot()
        return
    picture = report.plot()
    assert picture.svg.startswith("<svg")
    assert re.search(r"[0-9]", picture.alt)
    assert picture.inline in report_as(report, "html")


def test_names_of_columns_do_not_steer_a_terminal_at_the_prompt(hostile, capsys):
    hostile.show()
    shown = repr(hostile) + capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
