"""``mipaudit reproduce``: its files, its words, its exit codes."""

from __future__ import annotations

import csv
import io

import pytest

from mipaudit.cli import program
from mipaudit.errors import MipauditError
from mipaudit.reproductions.report import Check, Claim, Curve, Outcome, Panel, ReproducedFigure
from mipaudit.reproductions.run import list_reproductions


def figure_with(found):
    """Return a figure whose only check passes for 0.5."""
    return ReproducedFigure(
        id="izzo-fig1",
        title="a title",
        source="a paper",
        shows="What it shows.",
        claim="That it is so.",
        seed=0,
        quick=False,
        outcome=Outcome(
            panels=(
                Panel(
                    title="one | two",
                    x="x",
                    y="y",
                    curves=(Curve(label="c", x=(0.0,), y=(float("inf"),), style="bars"),),
                    groups=("group",),
                ),
            ),
            claims=(Claim(says="that | this", found="this", agrees="no"),),
            checks=(Check(name="a number", found=found, low=0.4, high=0.6, why="by hand"),),
        ),
    )


@pytest.mark.parametrize("arguments", [[], ["--list"]])
def test_the_list_has_every_figure(mipaudit, arguments):
    done = mipaudit("reproduce", *arguments)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        row[0] for row in list_reproductions()
    ]


def test_a_figure_is_written_whole(mipaudit, tmp_path):
    done = mipaudit("reproduce", "humphries-fig1", "lecture-thm2", "--quick", "-o", "out/here")
    assert done.returncode == 0, done.stderr
    assert "humphries-fig1: all 3 checks hold." in done.stderr
    names = {path.name for path in (tmp_path / "out/here").iterdir()}
    assert names == {
        f"{name}.{end}"
        for name in ("humphries-fig1", "lecture-thm2")
        for end in ("csv", "md", "png")
    }
    page = (tmp_path / "out/here/humphries-fig1.md").read_text()
    assert "![Bounds on the membership advantage](humphries-fig1.png)" in page
    assert "| the paper says | here | borne out |" in page
    data = (tmp_path / "out/here/humphries-fig1.csv").read_text()
    rows = list(csv.DictReader(data.splitlines()))
    assert {row["curve"] for row in rows} >= {"Humphries et al. (8)"}
    assert all(float(row["y"]) <= 1 for row in rows)


def test_the_same_seed_gives_the_same_files(mipaudit, tmp_path):
    for folder in ("a", "b"):
        mipaudit("reproduce", "lecture-thm2", "--quick", "--picture", "svg", "-o", folder)
    for end in ("csv", "md", "svg"):
        first, again = (tmp_path / folder / f"lecture-thm2.{end}" for folder in ("a", "b"))
        assert first.read_bytes() == again.read_bytes()


def test_without_a_folder_the_comparison_is_printed(mipaudit, tmp_path):
    done = mipaudit("reproduce", "izzo-fig1", "--quick")
    assert done.returncode == 0
    assert done.stdout.startswith("# `izzo-fig1`")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_figure_is_an_error_before_any_work(mipaudit, tmp_path):
    done = mipaudit("reproduce", "izzo-fig1", "izo-fig2", "-o", "out")
    assert done.returncode == 2
    assert "Did you mean izzo-fig2?" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "option"), [("humphries-fig3", "--adult"), ("humphries-fig4", "--compas")]
)
def test_a_figure_on_a_file_says_which(mipaudit, name, option):
    done = mipaudit("reproduce", name, "--quick")
    assert done.returncode == 2
    assert option in done.stderr
    assert "http" not in done.stderr


def test_a_file_that_is_not_there(mipaudit):
    done = mipaudit("reproduce", "humphries-fig2", "--adult", "nothing.csv")
    assert done.returncode == 2
    assert "There is no file 'nothing.csv', which --adult names." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_a_file(mipaudit, tmp_path):
    (tmp_path / "out").write_text("kept")
    done = mipaudit("reproduce", "izzo-fig1", "--quick", "-o", "out")
    assert done.returncode == 2
    assert (tmp_path / "out").read_text() == "kept"


@pytest.mark.parametrize(("found", "status"), [(0.5, 0), (0.7, 1)])
def test_the_exit_code_is_that_of_the_checks(monkeypatch, capsys, found, status):
    monkeypatch.setattr(
        "mipaudit.reproductions.command.answer_reproduce", lambda *_, **__: figure_with(found)
    )
    assert program.run(["reproduce", "izzo-fig1"]) == status
    said = capsys.readouterr()
    assert ("**FAILS**" in said.out) == bool(status)
    assert ("did not come out" in said.err) == bool(status)


def test_the_csv_names_groups_and_leaves_infinity_out():
    from mipaudit.reproductions.output import reproduction_csv, reproduction_line

    rows = list(csv.DictReader(io.StringIO(reproduction_csv(figure_with(0.5)))))
    assert rows == [
        {"panel": "one | two", "curve": "c", "x": "group", "y": "", "low": "", "high": ""}
    ]
    assert reproduction_line(figure_with(0.7)) == "izzo-fig1: FAILED: a number."


def test_quiet_with_a_folder_prints_nothing(mipaudit, tmp_path):
    done = mipaudit("reproduce", "izzo-fig1", "-q", "-o", "out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out/izzo-fig1.md").exists()


def test_a_wrong_file_is_an_error_before_any_work(mipaudit, tmp_path):
    (tmp_path / "bad.csv").write_text("a,secret\n1,value\n")
    done = mipaudit("reproduce", "izzo-fig1", "humphries-fig2", "--adult", "bad.csv", "-o", "out")
    assert done.returncode == 2
    assert "lacks columns" in done.stderr
    assert "secret" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_place_that_is_taken_is_an_error_before_any_work(mipaudit, tmp_path):
    (tmp_path / "out" / "lecture-thm2.csv").mkdir(parents=True)
    done = mipaudit("reproduce", "izzo-fig1", "lecture-thm2", "--quick", "-o", "out")
    assert done.returncode == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["lecture-thm2.csv"]


@pytest.mark.parametrize("finished", [0, 1])
def test_control_c_says_what_is_finished(monkeypatch, finished):
    left = [figure_with(0.5)] * finished

    def stopped(*_, **__):
        if not left:
            raise KeyboardInterrupt
        return left.pop()

    monkeypatch.setattr("mipaudit.reproductions.command.answer_reproduce", stopped)
    with pytest.raises(MipauditError if finished else KeyboardInterrupt) as caught:
        program.run(["reproduce", "izzo-fig1", "humphries-fig1"])
    if finished:
        assert caught.value.exit_code == 130
        assert "finished before, 1, are whole" in caught.value.message
