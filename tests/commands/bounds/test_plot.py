"""The picture of ``bounds``: what stands on its axes, and that drawing leaves no trace."""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
import warnings
from dataclasses import replace

import pytest

import mipaudit
from mipaudit.commands.bounds.plot import bounds_figure, draw_bounds, own_style
from tests.places import ROOT

SIGNATURES = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-1.", "svg": b"<?xml"}
CERTAIN = (1e-17, 1e-6, 1 - 1e-11)
SUBSTITUTION = {"adjacency": "substitution"}
DRAW = """
import sys
import mipaudit
from mipaudit.commands.bounds.plot import draw_bounds
report = mipaudit.bounds(epsilon=1, delta=1e-5, curves=True)
for form in ("png", "pdf", "svg"):
    sys.stdout.buffer.write(draw_bounds(report, form))
assert "matplotlib.pyplot" not in sys.modules
"""


@pytest.fixture(scope="module")
def pure():
    return mipaudit.bounds(epsilon=1.0, adjacency="substitution", curves=True)


def panels(report):
    return bounds_figure(report).axes


def lines(axes):
    """Return the lines of a panel by their label."""
    return {line.get_label(): line for line in axes.get_lines()}


def guarantee_line(axes):
    """Return the label and the points of what stands for the guarantee."""
    label = next(name for name in lines(axes) if name.startswith("this guarantee"))
    return label, lines(axes)[label]


@pytest.mark.parametrize("form", SIGNATURES)
def test_equal_reports_give_equal_files_of_their_kind_that_name_no_time(pure, form, capfd):
    level = logging.getLogger("matplotlib").level
    again = mipaudit.bounds(epsilon=1.0, adjacency="substitution", curves=True)
    other = mipaudit.bounds(epsilon=1.5, curves=True)
    certain = [mipaudit.bounds(epsilon=1.0, prior=p, curves=True) for p in CERTAIN]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture = draw_bounds(pure, form)
        others = [draw_bounds(one, form) for one in certain if form == "png"]
    assert logging.getLogger("matplotlib").level == level
    assert capfd.readouterr() == ("", "")
    assert all(one.startswith(SIGNATURES[form]) for one in (picture, *others))
    assert len(picture) > 10_000
    assert picture == draw_bounds(again, form) != draw_bounds(other, form)
    for word in (b"CreationDate", b"<dc:date>", b"tEXtSoftware"):
        assert word not in picture
    if form == "png":
        size = int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])
        assert size == (1650, 690)


def test_the_settings_of_the_user_change_nothing(pure):
    import matplotlib as mpl

    plain = draw_bounds(pure, "png")
    with mpl.rc_context({"lines.linewidth": 9.0, "font.size": 30.0, "axes.facecolor": "red"}):
        assert draw_bounds(pure, "png") == plain
        assert mpl.rcParams["font.size"] == 30.0


def test_no_screen_and_no_home_are_needed(tmp_path):
    # A file where a folder should be: nobody can write there, root neither.
    blocked = tmp_path / "blocked"
    blocked.touch()
    unwanted = {"DISPLAY", "WAYLAND_DISPLAY", "MPLCONFIGDIR", "MPLBACKEND"}
    environment = {key: value for key, value in os.environ.items() if key not in unwanted} | {
        "PYTHONPATH": str(ROOT),
        **dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(blocked / "home")),
    }

    words = [sys.executable, "-W", "error", "-c", DRAW]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert all(signature in done.stdout for signature in SIGNATURES.values())
    assert [path.name for path in tmp_path.iterdir()] == ["blocked"]


def test_only_a_guarantee_with_curves_is_drawn(pure):
    for report in (replace(pure, curves=None), mipaudit.bounds(tpr=0.9, fpr=0.01)):
        with pytest.raises(ValueError, match="Only a report on a guarantee"):
            draw_bounds(report, "png")


def test_every_published_bound_stands_against_epsilon(pure):
    drawn = lines(panels(pure)[0])

    at = list(drawn["Yeom"].get_xdata()).index(0.5)
    assert drawn["Yeom"].get_ydata()[at] == pytest.approx(math.expm1(0.5))
    assert drawn["Erlingsson"].get_ydata()[at] == pytest.approx(1 - math.exp(-0.5))
    # At prior 1/2 the three are one curve: tanh(epsilon / 2).
    exact = drawn["MACE, Izzo, Humphries (exact)"]
    assert exact.get_ydata()[at] == pytest.approx(math.tanh(0.25))
    assert exact.get_linewidth() > drawn["Yeom"].get_linewidth()


def test_at_another_prior_only_its_bounds_are_drawn_above_the_trivial_attacker():
    axes = panels(mipaudit.bounds(epsilon=1.0, prior=0.1, curves=True))[0]

    names = [name for name in lines(axes) if not name.startswith("this guarantee")]
    assert names == ["MACE", "Humphries (exact)"]
    assert axes.get_ylim() == pytest.approx((0.8, 1.0), abs=0.01)
    assert axes.get_ylabel() == "advantage at prior 0.1, at most"


def used(report):
    """Return the reading that is drawn: where nobody said which, the harsher."""
    (*_, last) = (report.attacker, *report.other_readings)
    return last if report.guarantee.adjacency_assumed else report.attacker


@pytest.mark.parametrize(
    ("keywords", "epsilon", "text"),
    [
        ({"epsilon": 1.0, **SUBSTITUTION}, 1.0, "0.46212 (epsilon 1)"),
        ({"epsilon": 0.0}, 0.0, "0 (epsilon 0)"),
        ({**SUBSTITUTION, "epsilon": 8.0, "delta": 1e-5}, 8, "0.99933 (epsilon 8, delta 1e-5)"),
        ({"randomized_response": 0.75}, math.log(3), "0.5 (epsilon 1.1)"),
        # By add or remove, telling members from holdout takes two steps.
        ({"epsilon": 1.0, "adjacency": "add-remove"}, 2.0, "0.63213 (epsilon 2)"),
        ({"epsilon": 1.0}, 2.0, "0.63213 (epsilon 2)"),
        ({"scale": 1.0, "adjacency": "add-remove"}, 2.0, "0.63213 (epsilon 2)"),
    ],
)
def test_the_guarantee_is_marked_at_its_epsilon_and_advantage(keywords, epsilon, text):
    report = mipaudit.bounds(**keywords, curves=True)

    label, mark = guarantee_line(panels(report)[0])

    assert label == f"this guarantee: {text}"
    assert list(mark.get_xdata()) == pytest.approx([epsilon])
    assert list(mark.get_ydata()) == [used(report).advantage]
    assert mark.get_marker() == "D"


def test_two_gaussian_steps_are_marked_at_the_epsilon_of_one_twice_as_long():
    # Off the points of a curve, so within their distance; by substitution it is exact.
    twice = mipaudit.bounds(mu=1.0, adjacency="substitution", delta=1e-3, curves=True)
    steps = mipaudit.bounds(mu=0.5, adjacency="add-remove", delta=1e-3, curves=True)

    _, mark = guarantee_line(panels(steps)[0])

    assert list(mark.get_xdata()) == pytest.approx([twice.guarantee.epsilon], rel=1e-3)
    assert list(mark.get_ydata()) == pytest.approx([twice.attacker.advantage])


@pytest.mark.parametrize("keywords", [{"epsilon": 50.0}, {"mu": 1.0, "delta": 0.0}])
def test_without_an_epsilon_on_the_axis_the_advantage_is_a_line(keywords):
    report = mipaudit.bounds(**keywords, curves=True)

    label, line = guarantee_line(panels(report)[0])

    assert label.endswith("(epsilon not on this axis)")
    assert set(line.get_ydata()) == {used(report).advantage}


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.9, 4.1, 9.0])
def test_the_axis_reaches_beyond_the_guarantee(epsilon):
    low, high = panels(mipaudit.bounds(epsilon=epsilon, curves=True))[0].get_xlim()

    assert low == 0
    assert max(6.0, epsilon) <= high <= 10.0


def test_the_roc_is_the_curve_of_the_report_on_logarithmic_axes(pure):
    axes = panels(pure)[1]
    drawn = lines(axes)
    roc, chance = drawn["the most that any attacker can reach"], drawn["chance"]

    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlim(), axes.get_ylim()) == ((1e-4, 1.0), (1e-4, 1.0))
    assert tuple(roc.get_xdata()) == pure.curves.fpr[1:]
    assert tuple(roc.get_ydata()) == pure.curves.tpr[1:]
    assert list(chance.get_xdata()) == list(chance.get_ydata())
    assert "(%, log scale)" in axes.get_xlabel()
    assert "(%, log scale)" in axes.get_ylabel()


def test_the_points_are_marked_with_their_tpr(pure):
    axes = panels(pure)[1]

    marks = {line.get_xdata()[0]: line for line in axes.get_lines() if line.get_marker() == "o"}
    assert {x: line.get_ydata()[0] for x, line in marks.items()} == {
        float(fpr): tpr for fpr, tpr in pure.attacker.tpr_at_fpr.items()
    }
    assert sorted(marks) == [0.001, 0.01, 0.1]
    texts = {text.get_text() for text in axes.texts}
    assert {"TPR 0.272%", "TPR 2.72%", "TPR 27.2%"} <= texts


@pytest.mark.parametrize(("epsilon", "in_the_panel"), [(0.0, True), (1.0, True), (8.0, False)])
def test_the_region_of_no_attacker_is_named_where_there_is_room(epsilon, in_the_panel):
    axes = panels(mipaudit.bounds(epsilon=epsilon, curves=True))[1]

    shade = axes.collections[0]
    assert shade.get_paths()[0].vertices[:, 1].max() == 1
    assert ("no attacker" in {text.get_text() for text in axes.texts}) is in_the_panel
    named = {text.get_text() for text in axes.get_legend().get_texts()}
    assert ("no attacker" in named) is not in_the_panel


@pytest.mark.parametrize(
    "keywords",
    [
        {"epsilon": 1.0, "delta": 1e-5},
        {"epsilon": 8.0, "delta": 0.00012345678},
        {"mu": 1.0, "adjacency": "add-remove"},
        {"mu": 1.0, "prior": 0.1},
        {"epsilon": 0.5, "prior": 0.97},
        {"epsilon": 50.0},
    ],
)
def test_nothing_is_cut_off_and_the_panels_keep_apart(keywords):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with own_style():
        figure = bounds_figure(mipaudit.bounds(**keywords, curves=True))
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        left, right = (axes.get_tightbbox(canvas.get_renderer()) for axes in figure.axes)

    assert min(left.x0, left.y0, right.y0) >= 0
    assert right.x1 <= figure.bbox.x1
    assert left.x1 <= right.x0
    assert max(left.y1, right.y1) <= figure._suptitle.get_window_extent().y0
