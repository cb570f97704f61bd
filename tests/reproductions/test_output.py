"""The pictures of reproductions can be read."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest

from mipaudit.reproductions.output import draw_reproduction
from mipaudit.reproductions.report import Curve, Outcome, Panel, ReproducedFigure

pytest.importorskip("matplotlib")


def figure_of(curves, title="a title", *, log_x=False):
    panel = Panel(title="panel", x="x", y="y", curves=curves, log_x=log_x)
    return ReproducedFigure(
        id="izzo-fig1",
        title=title,
        source="a paper",
        shows="",
        claim="",
        seed=0,
        quick=False,
        outcome=Outcome(panels=(panel,), claims=(), checks=()),
    )


def pixels(figure):
    from PIL import Image

    with Image.open(BytesIO(draw_reproduction(figure, "png"))) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def test_six_curves_keep_six_colours():
    from matplotlib import colormaps

    x = (0.0, 1.0)
    curves = tuple(Curve(label=f"curve {n}", x=x, y=(float(n), n + 0.5)) for n in range(6))
    drawn = pixels(figure_of(curves)).reshape(-1, 3)
    for wanted in np.array(colormaps["tab10"].colors[:6]) * 255:
        assert np.abs(drawn - wanted).max(axis=1).min() < 8


@pytest.mark.parametrize("words", [3, 12, 40])
def test_a_long_title_is_not_cut_off(words):
    curve = Curve(label="c", x=(0.0, 1.0), y=(0.0, 1.0))
    drawn = pixels(figure_of((curve,), title="membership " * words))
    top = drawn[:25]
    assert (top[:, :3] > 250).all()
    assert (top[:, -3:] > 250).all()


def test_a_short_logarithmic_axis_has_plain_numbers():
    curve = Curve(label="c", x=(1.2, 4.0), y=(0.0, 1.0))
    text = draw_reproduction(figure_of((curve,), log_x=True), "svg").decode()
    assert "<!-- 2 -->" in text
    assert "times" not in text
