"""Pictures: the same again, names that are no markup and no formula, limits that never fall."""

import re
from xml.etree.ElementTree import fromstring

import pytest

from mipaudit.commands.estimate.pictures import roc_picture
from mipaudit.evidence.scores.curves import RocPoint, ScoreCurves
from mipaudit.formats.drawing import BLACK, BLUE, ORANGE, Interval, Mark, intervals
from mipaudit.formats.promised import Promise, promised

HOSTILE = '$x^2$ <script>alert("x")</script> \u202e&'


def drawn(rows, **more):
    return intervals(rows, name="n", what="advantage", caption="C.", **more)


def test_a_name_is_text_whatever_it_is():
    picture = drawn([Interval(HOSTILE, 0.1, 0.2, 0.3)])

    texts = [one.text for one in fromstring(picture.svg).iter() if one.tag.endswith("text")]  # noqa: S314 - ours
    assert any(text and text.startswith("$x^2$ <script>") for text in texts)
    assert "\u202e" not in picture.svg


def test_equal_rows_are_drawn_equally():
    rows = [Interval("a", None, None, 0.3), Interval("b", 0.1, 0.2, None)]

    assert drawn(rows) == drawn(rows)


def test_limits_and_policy_have_colours_and_words_of_their_own():
    picture = drawn([Interval("a", 0.11119, 0.2, 0.31111)], marks=[Mark(0.25, "policy 0.25")])

    assert all(color.lower() in picture.svg.lower() for color in (BLACK, BLUE, ORANGE))
    assert "a: at least 0.1111, at most 0.3112." in picture.alt
    assert "The policy allows 0.25." in picture.alt


def test_many_rows_are_cut_and_said_to_be():
    picture = drawn([Interval(f"row {at}", 0.1, 0.2, 0.3) for at in range(100)])

    assert "row 23" in picture.alt
    assert "row 24" not in picture.alt
    assert "and 76 more, in the tables" in picture.alt


def test_what_a_promise_allows_is_said_outward():
    picture = promised([("kept", Promise(1.0, 0.0))], (), caption="C.")

    (said,) = re.findall(r"at FPR 10% at most ([0-9.]+)%", picture.alt)
    assert 27.18 <= float(said) <= 27.3


def test_at_most_never_falls_in_the_picture(monkeypatch):
    points = [(0.001, 0.4), (0.01, 0.3), (0.1, 0.6)]
    curves = ScoreCurves(
        score="s",
        side="high",
        roc=tuple(RocPoint(fpr=f, tpr=f, lower=None, upper=u) for f, u in points),
        bins=(),
    )
    seen = []

    def draw(draw, **_):
        class Axes:
            xaxis = yaxis = None

            def __getattr__(self, name):
                return lambda *args, **more: seen.append((name, args, more))

        axes = Axes()
        axes.xaxis = axes.yaxis = Axes()
        draw(axes)

    monkeypatch.setattr("mipaudit.commands.estimate.pictures.drawn", draw)
    roc_picture(curves, 1)

    (highs,) = [args[1] for name, args, more in seen if more.get("label") == "at most"]
    assert highs == (0.4, 0.4, 0.6)


@pytest.mark.parametrize("value", [None, 0.2])
def test_no_limit_is_said(value):
    assert "a: no limit." in drawn([Interval("a", None, value, None)]).alt
