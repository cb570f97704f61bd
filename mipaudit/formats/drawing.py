"""A drawing as one SVG element for a page, the same for equal reports.

Drawing with matplotlib: whether it is there, in a style of our own, and quietly.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Final

from mipaudit.errors import MissingExtraError
from mipaudit.formats.document import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches. Narrower ones can still be read on a phone.
_WIDE: Final = 5.0


def require_plotting() -> None:
    """Check that pictures can be drawn.

    Raises:
        MissingExtraError: ``plotting_missing``: matplotlib is not installed.
    """
    with quiet_plotting():
        try:
            import matplotlib.figure  # noqa: F401 - whether it is there is the question
        except ImportError:
            raise MissingExtraError(
                "plotting_missing",
                "Plots are drawn by matplotlib, which is not installed.",
                hint='Try: pip install "mipaudit[plot]"',
            ) from None


@contextmanager
def own_style() -> Iterator[None]:
    """Draw in the style that the picture was laid out for, not in the user's own."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"font.size": 9.0, "svg.hashsalt": "mipaudit"})
        yield


@contextmanager
def quiet_plotting() -> Iterator[None]:
    """Keep matplotlib's remarks about its caches off the screen."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def plotting() -> bool:
    """Tell whether pictures can be drawn: the plotting library is an extra."""
    try:
        require_plotting()
    except MissingExtraError:
        return False
    return True


def drawn(
    draw: Callable[[Figure], None], *, name: str, size: tuple[float, float], alt: str, caption: str
) -> Picture:
    """Return a picture.

    Args:
        draw: draws on an empty figure.
        name: tells the picture from the others of a page: short, letters and digits.
        size: width and height in inches.
        alt: the same in words.
        caption: stands below it.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    text = StringIO()
    with own_style():
        # Text stays text: smaller, searchable, and in the reader's own font.
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": name})
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = _element(text.getvalue(), name)
    if size[0] < _WIDE:
        svg = svg.replace("<svg", '<svg class="narrow"', 1)  # it may shrink to a phone's width
    return Picture(svg=svg, alt=alt, caption=caption)


def _element(svg: str, name: str) -> str:
    """Return the ``svg`` element alone, with ids that no other picture of a page has."""
    start = svg.index("<svg")
    found = re.sub(r"<metadata>.*?</metadata>", "", svg[start:], flags=re.DOTALL)
    for pattern in (r'\bid="', r'href="#', r"url\(#"):
        found = re.sub(f"({pattern})", rf"\g<1>{name}-", found)
    return re.sub(r"\n\s*", "\n", found).strip()
