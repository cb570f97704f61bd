"""Pictures: the same again, names that are no markup and no formula, limits that never fall."""

from itertools import pairwise
from unittest.mock import MagicMock
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from mipaudit.evidence.scores.curves import RocPoint, ScoreBin, ScoreCurves
from mipaudit.report.pictures import BLACK, BLUE, GREY, ORANGE, Bar, _bins, _roc, amounts, intervals

HOSTILE = '$x^2$ <script>alert("x")</script> \u202e&'


def drawn(rows, **more):
    return intervals(rows, name="n", what="advantage", caption="C.", **more)


def test_a_name_is_text_whatever_it_is():
    picture = drawn([Bar(HOSTILE, 0.1, 0.2, 0.3)])

    texts = [one.text for one in fromstring(picture.svg).iter() if one.tag.endswith("text")]  # noqa: S314 - ours
    assert any(text and text.startswith("$x^2$ <script>") for text in texts)
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


@pytest.mark.parametrize("seed", range(20))
def test_at_most_never_falls_in_the_picture(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    fprs = [0.001, 0.01, 0.1, 0.3, 0.5]
    points = list(zip(fprs, rng.uniform(0.1, 1, 5).tolist(), strict=True))
    curves = ScoreCurves(
        score="s",
        side="high",
        roc=tuple(RocPoint(fpr=f, tpr=f, lower=None, upper=u) for f, u in points),
        bins=(),
    )
    axes = MagicMock()
    monkeypatch.setattr("mipaudit.report.pictures.drawn", lambda draw, **_: draw(axes))
    _roc(curves, "n")

    lines = [one for one in axes.plot.call_args_list if one.kwargs.get("label") == "at most"]
    (highs,) = [one.args[1] for one in lines]
    assert all(before <= after for before, after in pairwise(highs))
    assert all(high >= stated for high, (_, stated) in zip(highs, points, strict=True))


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


def test_many_times_the_least_is_cut_and_said():
    values = {"a": 1.0, "b": 2.0, "c": 1e6}
    rows = [Bar(n, None, x, None, text=f"{x:g}", chosen=n == "b") for n, x in values.items()]
    picture = amounts(rows, name="n", what="noise", caption="C.")

    assert picture.alt == "Noise. a: 1; b: 2, chosen; c: 1e+06."
    assert "c: 1e+06 →" in picture.svg
    assert "b: 2 →" not in picture.svg


def test_where_the_classes_differ_most_is_said():
    bins = (ScoreBin(members=9, holdout=1), ScoreBin(members=1, holdout=9))
    picture = _bins(ScoreCurves(score="s", side="high", roc=(), bins=bins), "n")

    assert "in 2 bins of 's', from low to high. Where they differ most: 90% of" in picture.alt
