"""Pictures: the same again, names that are no markup, one right edge, limits that never fall."""

import re
from types import SimpleNamespace
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from mipaudit.evidence.scores.curves import RocPoint, ScoreBin, ScoreCurves
from mipaudit.report.drawing import BLACK, BLUE, GREY, ORANGE, Scale
from mipaudit.report.layout import LIMITS, SHORT_SCORE, Table
from mipaudit.report.pictures import Bar, _bins, _roc, amounts, intervals, pictured
from tests.places import ROOT

HOSTILE = '$x^2$ <script>alert("x")</script> \u202e&'


def texts(picture, anchor):
    """Where texts are, and what they say, that begin, end or have their middle there."""
    found = (one for one in fromstring(picture.svg).iter() if one.tag.endswith("text"))  # noqa: S314 - ours
    return [(one.get("x"), one.text) for one in found if one.get("text-anchor") == anchor]


def arrows(picture):
    return len(re.findall(r'<path d="M-?1-5l', picture.svg))


def drawn(rows, **more):
    return intervals(rows, what="advantage", caption="C.", **more)


def test_a_name_is_text_whatever_it_is():
    picture = drawn([Bar(HOSTILE, 0.1, 0.2, 0.3)])

    assert "$x^2$ <sc…" in "".join(name for _, name in texts(picture, "start"))
    assert "<script" not in picture.svg
    assert "\u202e" not in picture.svg


def test_equal_rows_are_drawn_equally():
    rows = [Bar("a", None, None, 0.3), Bar("b", 0.1, 0.2, None)]

    assert drawn(rows) == drawn(rows)


ONE = [Bar("a", 0.11119, 0.2, 0.31111)]
OWN = [Bar("a", 0.1, 0.2, 0.3, 0.25), Bar("b", 0.1, 0.2, 0.3)]
# The rows, what else is drawn, what is said of that and what is not.
MANY = [Bar(f"row {at}", 0.1, 0.2, 0.3) for at in range(100)]
SAID = [
    (ONE, {"limit": 0.25}, "a: at least 0.1111, at most 0.3112. The limit is 0.25.", "Blind"),
    (ONE, {"start": 0.1}, "Blind guessing 0.1000.", "limit is"),
    (MANY, {}, "row 23: at", "row 24"),
    (MANY, {}, "and 76 more, in the", "row 99"),
    *(([Bar("a", None, value, None)], {}, "a: no limit.", "at most") for value in (None, 0.2)),
    (OWN, {}, "a: at least 0.1000, at most 0.3000, the limit 0.25; b: at l", "3000, the limit 0.3"),
]


@pytest.mark.parametrize(("rows", "more", "said", "unsaid"), SAID)
def test_limits_and_policy_have_colours_and_words_of_their_own(rows, more, said, unsaid):
    picture = drawn(rows, **more)

    assert said in picture.alt
    assert unsaid not in picture.alt
    assert picture.alt.count("the limit") == (rows is OWN)
    assert picture.svg.count(BLACK) == 1  # where the page has no ink of its own
    if "limit" in more:
        colors = ("currentColor", BLUE, ORANGE)
        assert all(color.lower() in picture.svg.lower() for color in colors)


def roc(points):
    """Draw points of (FPR, upper limit)."""
    found = tuple(RocPoint(fpr=f, tpr=None, lower=None, upper=u) for f, u in points)
    return _roc(ScoreCurves(score="s", side="high", roc=found, bins=()))


@pytest.mark.parametrize("seed", range(20))
def test_at_most_never_falls_in_the_picture(seed):
    fprs = [0.001, 0.01, 0.1, 0.3, 0.5]
    uppers = np.random.default_rng(seed).uniform(0.1, 1, 5)
    picture = roc(list(zip(fprs, uppers.tolist(), strict=True)))

    ends = re.findall(rf'y1="([^"]+)" y2="([^"]+)" stroke="{BLUE}"', picture.svg)
    # The picture is upside down.
    assert all(float(later) <= float(before) for before, later in ends)
    ups = [float(y) for y in re.findall(rf'y="([^"]+)"[^>]*><path [^>]*fill="{BLUE}"', picture.svg)]
    assert len(ends) == 8
    stated = [240 * -np.log10(upper) / 2 for upper in uppers]
    assert all(up <= y + 0.06 for up, y in zip(ups[:-1], stated, strict=True))


LONG = [f"loss_of_the_network_after_epoch_{at}_with_augmentation" for at in (119, 120)]
# Values, the start, and the axis.
AXES = [
    ((0.0394, 0.1), 0.0, (0, 0.1)),
    ((0.33, 0.146), 0.0, (0, 0.4)),
    ((-0.0129, 0.3396), 0.0, (-0.1, 0.4)),
    ((0.6, 0.6347), 0.6, (0.6, 0.64)),
    ((0.59, 0.61), 0.6, (0.59, 0.61)),
    ((1.0,), 0.0, (0, 1)),
    ((), 0.0, (0, 1)),
    ((1.0,), 1.0, (0, 1)),
    ((4.04,), 0.0, (0, 6)),
    ((1e-7,), 0.0, (0, 1e-7)),
    ((123456.0,), 0.0, (0, 150000)),
]


@pytest.mark.parametrize(("values", "start", "ends"), AXES)
def test_an_axis_is_as_wide_as_its_values_need(values, start, ends):
    scale = Scale.over(values, start)

    assert (scale.low, scale.high) == pytest.approx(ends)
    ticks = [at for at, _ in scale.ticks]
    assert (ticks[0], ticks[-1]) == (scale.low, scale.high)
    assert 2 <= len(ticks) <= 7
    assert sum(len(text) for _, text in scale.ticks) <= 30
    assert start > 0 or (0, "0") in scale.ticks


def test_above_a_limit_there_is_room():
    picture = drawn([Bar("a", 0.1, 0.2, None)], limit=0.3)
    assert "on an axis from 0 to 0.4." in picture.alt


def test_names_stand_beside_the_axis_and_differ():
    table = Table("T", "lines", (SHORT_SCORE, *LIMITS), picture="intervals")
    rows = [SimpleNamespace(score=one, lower=0.1, value=0.2, upper=0.3) for one in LONG]
    (picture,) = pictured(table, rows, {})

    names = [name for at, name in texts(picture, "start") if at == "-158"]
    assert len(set(names)) == 2
    assert all(len(name) <= 18 for name in names)
    assert all(name in picture.alt for name in LONG)
    assert picture.caption == "T."


def test_wide_letters_are_pressed_into_the_gutter():
    rows = [Bar("W" * 18, 0.1, 0.2, 0.3), Bar("i" * 18, 0.1, 0.2, 0.3)]
    assert drawn(rows).svg.count('textLength="150"') == 1


def test_every_picture_has_the_same_right_edge():
    bins = (ScoreBin(members=9, holdout=1), ScoreBin(members=1, holdout=9))
    spread = _bins(ScoreCurves(score="s", side="high", roc=(), bins=bins))
    figures = amounts([Bar("a", None, 1.0, None)], what="noise", caption="C.")
    found = [drawn(ONE), figures, spread, roc([(0.01, 0.5), (0.1, 0.9)])]

    edges = {
        tuple(map(int, re.findall(r'<svg x="(\d+)" y="\d+" width="(\d+)"', one.svg)[0]))
        for one in found
    }
    assert len(edges) == 2
    assert {sum(edge) for edge in edges} == {622}
    assert all(
        re.match(r'<div class="drawn" style="padding: \d+px 18px 0 ', one.inline) for one in found
    )


# A row, the axis' other figures, and how many ends are open.
OPEN = [
    (Bar("a", 0.1, 0.2, None), (), 1),
    (Bar("a", 0.1, 0.2, 0.3), (), 0),
    (Bar("a", None, 0.2, 0.3), (), 0),  # nothing is below 0
    (Bar("a", None, 0.2, 0.3), (Bar("b", -0.1, 0.1, 0.2),), 1),
    (Bar("a", None, None, None), (), 1),
]


@pytest.mark.parametrize(("row", "others", "ends"), OPEN)
def test_an_end_without_a_limit_is_drawn_and_said(row, others, ends):
    picture = drawn([row, *others])

    assert arrows(picture) == ends
    assert ("has no limit on that side." in picture.caption) == (ends > 0)


# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0, on linear RGB.
SEEN = {"protanopia": [(0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216)]}
SEEN["protanopia"] += [(-0.003882, -0.048116, 1.051998)]
SEEN["deuteranopia"] = [(0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413)]
SEEN["deuteranopia"] += [(-0.011820, 0.042940, 0.968881)]


def linear(color):
    parts = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    weights = (0.2126, 0.7152, 0.0722)
    low, high = sorted(float(linear(color) @ weights) for color in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    """CIELAB of linear RGB, white D65."""
    to_xyz = [(0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750)]
    to_xyz = np.array([*to_xyz, (0.0193339, 0.1191920, 0.9503041)])
    ratio = to_xyz @ np.clip(rgb, 0, 1) / to_xyz.sum(axis=1)
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_colour_blind_tell_colours_apart_and_all_see_them_on_paper_and_in_the_dark():
    for eyes in SEEN.values():
        seen = (lab(np.array(eyes) @ linear(color)) for color in (BLUE, ORANGE))
        assert float(np.linalg.norm(np.subtract(*seen))) > 20  # 2.3 is just seen
    for color in (BLUE, ORANGE, GREY):
        assert min(contrast(color, paper) for paper in ("#ffffff", "#16161a")) >= 3


def test_blue_is_brighter_in_the_dark():
    page = (ROOT / "mipaudit" / "report" / "page.html.j2").read_text(encoding="utf-8")
    ((stroke, fill),) = re.findall(
        rf'\[stroke="{BLUE}"\] {{ stroke: (#\w+); }} .*\[fill="{BLUE}"\] {{ fill: (#\w+); }}', page
    )

    assert stroke == fill
    assert contrast(stroke, "#16161a") > 2 * contrast(BLUE, "#16161a")
    for eyes in SEEN.values():
        seen = (lab(np.array(eyes) @ linear(color)) for color in (stroke, ORANGE))
        assert float(np.linalg.norm(np.subtract(*seen))) > 20


def test_many_times_the_least_is_cut_and_said():
    values = {"a": 1.0, "b": 2.0, "c": 1e6}
    rows = [Bar(n, None, x, None, text=f"{x:g}", chosen=n == "b") for n, x in values.items()]
    picture = amounts(rows, what="noise", caption="C.")

    assert picture.alt == "Noise. a: 1; b: 2, chosen; c: 1e+06."
    assert picture.caption.endswith("A bar that ends in an arrow is longer than the axis.")
    assert arrows(picture) == 1


def test_where_the_classes_differ_most_is_said():
    bins = (ScoreBin(members=9, holdout=1), ScoreBin(members=1, holdout=9))
    picture = _bins(ScoreCurves(score="s", side="high", roc=(), bins=bins))

    assert "in 2 bins of 's', from low to high. Where they differ most: 90% of" in picture.alt
